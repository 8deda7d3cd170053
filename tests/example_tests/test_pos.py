import sys

import pytest


def test_train_and_resume(run_example, read_log, device):
    run_example('pos/train_pos.py', '--test', '-e', 3, '-b', 20, '-d', device)
    log = read_log()
    assert log[-1]['validation/main/loss'] < log[0]['validation/main/loss']
    run_example(
        'pos/train_pos.py',
        '--test',
        '-e',
        4,
        '-b',
        20,
        '-d',
        device,
        '-r',
        'result/snapshot_iter_{}'.format(log[-1]['iteration']),
    )
    assert len(read_log()) == 4


def test_without_nltk(run_example, monkeypatch):
    monkeypatch.setitem(sys.modules, 'nltk', None)
    with pytest.raises(SystemExit, match='pip install nltk'):
        run_example('pos/train_pos.py')
