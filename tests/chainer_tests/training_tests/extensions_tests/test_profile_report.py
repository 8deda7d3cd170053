import json

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.training import extensions


def run(out, n_iterations, **kwargs):
    model = L.Classifier(chainer.Sequential(L.Linear(4), F.relu, L.Linear(2)))
    optimizer = chainer.optimizers.SGD().setup(model)
    data = chainer.datasets.TupleDataset(np.ones((20, 3), 'f'), np.zeros(20, 'i'))
    iterator = chainer.iterators.SerialIterator(data, 5)
    updater = chainer.training.StandardUpdater(iterator, optimizer)
    trainer = chainer.training.Trainer(updater, (n_iterations, 'iteration'), out=str(out))
    trainer.extend(extensions.LogReport(trigger=(2, 'iteration')))
    trainer.extend(extensions.ProfileReport(**kwargs))
    trainer.run()


@pytest.mark.parametrize(
    'start, count, n_iterations, expected',
    [(0, 3, 6, 3), (2, 3, 6, 3), (2, 10, 6, 4), (4, 1, 6, 1), (0, 6, 6, 6)],
)
def test_iterations(tmp_path, capsys, start, count, n_iterations, expected):
    run(tmp_path, n_iterations, start=start, count=count)
    events = json.loads((tmp_path / 'trace.json').read_text())['traceEvents']
    names = [event['name'] for event in events]
    assert names.count('StandardUpdater.update_core') == expected
    assert names.count('SerialIterator.next') == expected
    assert names.count('LogReport') == expected
    assert names.count('converter') == expected
    assert names.count('update of parameters') == expected
    output = capsys.readouterr().out
    (line,) = [line for line in output.splitlines() if line.startswith('converter ')]
    assert line.split()[1:3] == ['updater', str(expected)]


def test_too_short_training(tmp_path, capsys):
    run(tmp_path, 3, start=3)  # its iterations would begin now
    run(tmp_path, 2, start=3)
    assert 'LinearFunction' not in capsys.readouterr().out
    with chainer.profiler.profile():  # none is left running
        pass


def test_without_file(tmp_path, capsys):
    run(tmp_path, 3, filename=None, start=1, memory=True)
    assert not (tmp_path / 'trace.json').exists()
    assert 'Peak of Python and NumPy' in capsys.readouterr().out


@pytest.mark.parametrize('kwargs, name', [({'start': -1}, 'start'), ({'count': 0}, 'count')])
def test_wrong_arguments(kwargs, name):
    with pytest.raises(ValueError, match=name):
        extensions.ProfileReport(**kwargs)
