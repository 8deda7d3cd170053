import re

import pytest

FILES = [
    'toy/' + name
    for name in ('train_source.txt', 'train_target.txt', 'source_vocab.txt', 'target_vocab.txt')
]
VALIDATION = (
    '--validation-source',
    'toy/validation_source.txt',
    '--validation-target',
    'toy/validation_target.txt',
)


@pytest.mark.parametrize('options', [(), ('--use-dataset-api', '-l', 2)])
def test_train(run_example, read_log, tmp_path, device, options):
    run_example('seq2seq/make_toy_data.py', '-n', 200, '-l', 3)
    out = run_example(
        'seq2seq/seq2seq.py',
        *FILES,
        *VALIDATION,
        '-u',
        16,
        '-l',
        1,
        '-b',
        20,
        '-e',
        2,
        '-d',
        device,
        '--save',
        'model.npz',
        '--log-interval',
        10,
        '--validation-interval',
        10,
        '--snapshot-interval',
        20,
        *options,
    )
    assert '# of training pairs: 200' in out and '# result :' in out
    log = read_log()
    assert log[1]['main/perp'] < log[0]['main/perp']
    assert 0 <= log[-1]['validation/main/bleu'] <= 1
    assert (tmp_path / 'model.npz').exists() and (tmp_path / 'result/snapshot_iter_20').exists()


@pytest.mark.slow
def test_learns(run_example, read_log):
    run_example('seq2seq/make_toy_data.py', '-n', 1000, '-l', 3)
    run_example(
        'seq2seq/seq2seq.py',
        *FILES,
        *VALIDATION,
        '-u',
        64,
        '-l',
        1,
        '-b',
        50,
        '-e',
        20,
        '--log-interval',
        100,
        '--validation-interval',
        100,
    )
    log = read_log()
    assert log[-1]['validation/main/bleu'] > 0.8
    assert log[-1]['main/perp'] < 2 < log[0]['main/perp']


def test_preprocess(run_example, tmp_path):
    (tmp_path / 'text').write_text("It isn't so, is it?\nIt is so.\n")
    run_example(
        'seq2seq/wmt_preprocess.py', 'text', 'words', '--vocab-file', 'vocab', '--vocab-size', 3
    )
    assert (tmp_path / 'words').read_text() == "It isn't so , is it ?\nIt is so .\n"
    assert set((tmp_path / 'vocab').read_text().split()) == {'It', 'so', 'is'}


def test_different_lengths(run_example):
    run_example('seq2seq/make_toy_data.py', '-n', 20)
    files = [FILES[0], 'toy/validation_target.txt', *FILES[2:]]
    with pytest.raises(SystemExit) as error:
        run_example('seq2seq/seq2seq.py', *files)
    assert re.search('has 20 lines, but .* has 1', str(error.value))
