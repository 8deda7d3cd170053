"""MultiprocessParallelUpdater on GPUs. CUDA does not survive a fork, so each run is a process."""

import inspect
import json
import subprocess
import sys

import numpy
import pytest

import chainer
import chainerx
from chainer import links as L
from tests.helpers.devices import IS_CUDA

_PROGRAM = """
import json, multiprocessing, sys
import numpy
import chainer
from chainer import links as L
from chainer.backends import _cupy, cuda
from chainer.training import updaters

{functions}
_cupy._DEVICE_FILES = '/dev/null'  # a GPU is there: no need to start CUDA to see it


def main(start_method, devices):
    if start_method == 'forkserver':
        multiprocessing.set_start_method('forkserver')
    n = len(devices)
    data = make_data()
    model = make_model()
    optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)
    parts = [data[i::n] for i in range(n)]
    iterators = [chainer.iterators.SerialIterator(part, 3, shuffle=False) for part in parts]
    updater = updaters.MultiprocessParallelUpdater(iterators, optimizer, devices=devices)
    for _ in range(4):
        updater.update()
    assert model.device.name == devices[0]
    assert optimizer.t == 4
    updater.finalize()
    print(json.dumps([cuda.to_cpu(p.array).tolist() for p in model.params()]))


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
"""


def make_data():
    rng = numpy.random.RandomState(0)
    x = rng.uniform(-1, 1, (24, 4)).astype('f')
    return [(a, numpy.int32(a.sum() > 0)) for a in x]


def make_model():
    numpy.random.seed(1)
    return L.Classifier(chainer.Sequential(L.Linear(4, 3), L.Linear(3, 2)))


def _chainerx_lacks(n):
    return not IS_CUDA or chainerx.get_backend('cuda').get_device_count() < n


@pytest.mark.parametrize(
    'start_method, module, n',
    [
        pytest.param('fork', '@cupy', 1, marks=pytest.mark.gpu),
        pytest.param('fork', '@cupy', 4, marks=pytest.mark.multi_gpu(4)),
        pytest.param('forkserver', '@cupy', 2, marks=pytest.mark.multi_gpu(2)),
        pytest.param(
            'default',
            'cuda',
            3,
            marks=pytest.mark.skipif(_chainerx_lacks(3), reason='needs 3 GPUs of ChainerX'),
        ),
    ],
)
def test_sums_gradients(start_method, module, n, tmp_path):
    program = tmp_path / 'program.py'
    functions = '\n\n'.join(inspect.getsource(f) for f in (make_data, make_model))
    program.write_text(_PROGRAM.replace('{functions}', functions))
    devices = [f'{module}:{i}' for i in range(n)]
    done = subprocess.run(
        [sys.executable, program, start_method, *devices],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

    data, model = make_data(), make_model()
    optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)
    size = len(data) // n
    for t in range(4):
        model.cleargrads()
        for part in (data[i::n] for i in range(n)):
            batch = [part[(3 * t + k) % size] for k in range(3)]
            model(*chainer.dataset.concat_examples(batch)).backward()
        optimizer.update()
    for param, value in zip(model.params(), json.loads(done.stdout)):
        numpy.testing.assert_allclose(value, param.array, 1e-5, 1e-6)
