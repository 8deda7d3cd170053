"""Quantized models under `chainer.compile`."""

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import quantization

pytestmark = pytest.mark.chainerx

_X = numpy.random.RandomState(0).normal(size=(16, 4)).astype(numpy.float32)


def _model():
    numpy.random.seed(0)
    model = chainer.Sequential(L.Linear(4, 8), F.relu, L.Linear(8, 2))
    return model, quantization.calibrate(model, [_X])


@pytest.mark.parametrize('bits', [8, 4])
def test_plans_compute_the_same(bits):
    model, ranges = _model()
    quantized = quantization.quantize(model, ranges if bits == 8 else None, bits=bits)
    quantized.to_device('native:0')
    compiled = chainer.compile(quantized)
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        for i in range(6):
            x = quantized.device.send(_X * (1 + i))
            y, expected = compiled(x), quantized(x)
            numpy.testing.assert_array_equal(*[chainer.cuda.to_cpu(v.array) for v in (y, expected)])
    assert compiled.replays > 0


@pytest.mark.parametrize('learn', [True, False])
def test_training_is_the_same(learn):
    """Plans repeat learned scales; ranges that follow the data keep the code of Python."""
    model, ranges = _model()
    models = [quantization.prepare(model, ranges, learn=learn) for _ in range(2)]
    steps = []
    for each in models:
        each.to_device('native:0')
        optimizer = chainer.optimizers.SGD(0.05).setup(each)

        def step(x, t, each=each, optimizer=optimizer):
            optimizer.update(lambda: F.mean_squared_error(each(x), t))

        steps.append(step)
    steps[0] = chainer.compile(steps[0])
    for i in range(8):
        x, t = (models[0].device.send(a) for a in (_X * numpy.float32(1 + 0.3 * i), _X[:, :2]))
        for step in steps:
            step(x, t)
    for param, other in zip(*[each.params() for each in models]):
        numpy.testing.assert_array_equal(*[chainer.cuda.to_cpu(p.array) for p in (param, other)])
    assert (steps[0].replays > 0) == learn
