"""By default, a step of training on CuPy arrays runs on ChainerX's CUDA kernels, shown by a count of kernels."""

import collections
from pathlib import Path

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer._core.engines.kernels import KernelTape

pytestmark = [pytest.mark.chainerx, pytest.mark.gpu]
# On CuPy they are one operation, or none but another view of an array.
OPERATIONS = {'Add', 'BroadcastTo', 'MatMul', 'MulConstant', 'Reshape', 'Transpose', 'Where'}
BENCHMARKS = Path(__file__).resolve().parents[2] / 'benchmarks'


class _KernelCount(chainer.FunctionHook):
    """Counts the functions that run on kernels, and the others, by name."""

    name = 'KernelCount'

    def __init__(self):
        self.kernels, self.others = collections.Counter(), collections.Counter()

    def forward_postprocess(self, function, in_data):
        served = isinstance(function._tape, KernelTape)
        (self.kernels if served else self.others)[type(function).__name__] += 1


def _resnet18():
    from workloads.resnet import ResNet18

    return ResNet18('resnet18', size=8, batch=2)


def _language_model():
    from workloads.gpt import GPT

    return GPT('gpt', layers=2, units=16, heads=2, vocabulary=20, steps=8, batch=2)


def _step(workload, device):
    """The loss of a step, and its functions."""
    model, x, t = workload.chainer_parts(device)
    optimizer = chainer.optimizers.SGD(0.01).setup(model)
    with _KernelCount() as count:
        loss = F.softmax_cross_entropy(model(x), t)
    model.cleargrads()
    loss.backward()
    optimizer.update()
    return float(loss.array), count


@pytest.mark.parametrize(
    'make, counts',
    [
        (_resnet18, {'Convolution2DFunction': 20, 'BatchNormalization': 20, 'ReLU': 17}),
        (_language_model, {'LinearFunction': 13, 'LayerNormalization': 5, 'GELU': 2}),
    ],
)
def test_runs_on_kernels(make, counts, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    workload = make()
    loss, count = _step(workload, '@cupy:0')
    assert {name: count.kernels[name] for name in counts} == counts
    assert count.others.keys() <= OPERATIONS
    with chainer.using_config('use_native_kernels', 'never'):
        expected, count = _step(workload, '@cupy:0')
    assert not count.kernels
    np.testing.assert_allclose(loss, expected, 1e-3)
