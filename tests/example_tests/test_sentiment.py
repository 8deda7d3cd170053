import importlib.util
import os
import re

import chainer

TREES = os.path.join(
    os.path.dirname(__file__), os.pardir, os.pardir, 'examples', 'sentiment', 'trees.py'
)


def test_train(run_example, tmp_path, device):
    out = run_example(
        'sentiment/train_sentiment.py', '--test', '-e', 3, '-u', 8, '-d', device, '-p', 3
    )
    losses = [float(value) for value in re.findall('loss: (.*)', out)]
    assert losses[2] < losses[0]
    assert len(re.findall('Root accuracy', out)) == 3
    assert (tmp_path / 'result' / 'sentiment.model').exists()


def test_minibatch(run_example, read_log, device):
    run_example('sentiment/train_recursive_minibatch.py', '--test', '-e', 10, '-u', 8, '-d', device)
    log = read_log()
    assert log[-1]['main/accuracy'] > log[0]['main/accuracy']
    assert 'validation/main/root_accuracy' in log[-1]


def test_same_loss(run_example, monkeypatch):
    # With one batch of all trees, both scripts start from the same loss.
    options = '--test', '-e', 1, '-b', 100, '-u', 8
    monkeypatch.setattr(chainer.initializers.Normal, '__call__', _fill)
    monkeypatch.setattr(chainer.initializers.LeCunNormal, '__call__', _fill)
    out = run_example('sentiment/train_sentiment.py', *options)
    loss = re.search('loss: (.*)', out).group(1)
    out = run_example('sentiment/train_recursive_minibatch.py', *options)
    assert f'{float(out.splitlines()[-1].split()[1]):.4f}' == loss


def _fill(self, array):
    array[...] = (
        chainer.backend.get_array_module(array).arange(array.size).reshape(array.shape) % 7 * 0.1
    )


def test_parse():
    spec = importlib.util.spec_from_file_location('trees', TREES)
    trees = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(trees)
    tree = trees.parse('(3 (2 so) (4 (2 (1 not)(2 very)) (4 good)))')
    assert tree == (3, (2, 'so'), (4, (2, (1, 'not'), (2, 'very')), (4, 'good')))
    assert list(trees.words_of(tree)) == ['so', 'not', 'very', 'good']
