import re

import pytest

FILES = 'toy/train.txt', 'toy/test.txt'


@pytest.mark.parametrize('sentence_repr', ['bow', 'pe'])
def test_train(run_example, read_log, device, sentence_repr):
    run_example('memnn/make_toy_data.py', '-n', 60)
    run_example(
        'memnn/train_memnn.py',
        *FILES,
        '-e',
        4,
        '-b',
        20,
        '-d',
        device,
        '--max-memory',
        8,
        '--hop',
        2,
        '--sentence-repr',
        sentence_repr,
    )
    log = read_log()
    assert log[-1]['main/loss'] < log[0]['main/loss']
    out = run_example('memnn/test_memnn.py', 'result/model', 'toy/test.txt', '-d', device)
    accuracy = float(re.search('accuracy: (.*)', out).group(1))
    assert accuracy == pytest.approx(log[-1]['validation/main/accuracy'], abs=0.06)
    assert re.search(r'where is \w+\? \w+ \(correct: \w+\)', out)


def test_learns(run_example, read_log):
    run_example('memnn/make_toy_data.py', '-n', 300)
    run_example('memnn/train_memnn.py', *FILES, '-e', 30, '-b', 50, '--max-memory', 8)
    assert read_log()[-1]['validation/main/accuracy'] > 0.6
