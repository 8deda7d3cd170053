import io
import sys

import pytest

OPTIONS = ('--test', '-u', 10, '-b', 200)


@pytest.mark.parametrize('model', ['skipgram', 'cbow'])
@pytest.mark.parametrize('out_type', ['hsm', 'ns', 'original'])
def test_train(run_example, read_log, device, model, out_type):
    run_example(
        'word2vec/train_word2vec.py', *OPTIONS, '-e', 2, '-m', model, '-t', out_type, '-d', device
    )
    log = read_log()
    assert log[1]['main/loss'] < log[0]['main/loss']


def test_search(run_example, monkeypatch):
    run_example('word2vec/train_word2vec.py', *OPTIONS[:-1], 100, '-e', 15, '-w', 3)
    monkeypatch.setattr(sys, 'stdin', io.StringIO('cat\nunicorn\n'))
    out = run_example('word2vec/search.py', '-n', 3)
    lines = out.splitlines()
    assert lines[0] == 'query: cat' and len(lines) == 5
    # Words of the same topic, which all appear in sentences with "cat"
    assert {line.split(':')[0] for line in lines[1:4]} <= {'dog', 'horse', 'cow', 'sheep', 'goat'}
    assert lines[4] == '"unicorn" is not found'


def test_resume(run_example, read_log):
    run_example('word2vec/train_word2vec.py', *OPTIONS, '-e', 1)
    run_example('word2vec/train_word2vec.py', *OPTIONS, '-e', 2, '-r', 'result/snapshot_epoch_1')
    assert [entry['epoch'] for entry in read_log()] == [1, 2]
