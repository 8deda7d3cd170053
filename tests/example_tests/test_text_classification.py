import io
import sys

import pytest

OPTIONS = ('--dataset', 'toy', '-u', 12, '-b', 16)


@pytest.mark.parametrize('model', ['rnn', 'cnn', 'bow'])
def test_train(run_example, read_log, device, model):
    run_example(
        'text_classification/train_text_classifier.py',
        *OPTIONS,
        '-e',
        8,
        '--test',
        '--model',
        model,
        '--dropout',
        0.1,
        '-d',
        device,
    )
    log = read_log()
    assert log[-1]['main/loss'] < log[0]['main/loss']


def test_learns_and_runs(run_example, read_log, monkeypatch):
    run_example(
        'text_classification/train_text_classifier.py',
        *OPTIONS,
        '-e',
        8,
        '-u',
        30,
        '--model',
        'cnn',
    )
    assert read_log()[-1]['validation/main/accuracy'] > 0.9
    monkeypatch.setattr(sys, 'stdin', io.StringIO('the film is great\nthe film is dull\n'))
    out = run_example(
        'text_classification/run_text_classifier.py', '--model-setup', 'result/args.json'
    )
    assert [line.split('\t')[0] for line in out.splitlines()] == ['1', '0']


def test_file_of_characters_and_resume(run_example, read_log, tmp_path):
    (tmp_path / 'texts').write_text('0 aaab ab\n1 bab bbb\n2 ccc\n' * 10)
    options = '--dataset', 'texts', '-u', 6, '-b', 8, '--char-based'
    out = run_example('text_classification/train_text_classifier.py', *options, '-e', 1)
    assert '# class: 3' in out and '# vocab: 6' in out  # a, b, c, space, end, unknown
    run_example(
        'text_classification/train_text_classifier.py',
        *options,
        '-e',
        2,
        '-r',
        'result/snapshot_iter_4',
    )
    assert [entry['epoch'] for entry in read_log()] == [1, 2]
