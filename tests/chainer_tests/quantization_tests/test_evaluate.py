"""Reports of what quantization costs."""

import math

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import quantization


def _model():
    return chainer.Sequential(L.Linear(6, 8), F.relu, L.Linear(8, 3))


def _batches(*sizes):
    random = numpy.random.RandomState(0)
    return [
        (random.normal(size=(n, 6)).astype(numpy.float32), random.randint(0, 3, n).astype('i'))
        for n in sizes
    ]


def test_closed_form():
    model, batches = _model(), _batches(3, 5)
    quantized = quantization.quantize(model)
    found = quantization.evaluate(model, quantized, batches, F.accuracy)
    x, t = (numpy.concatenate(arrays) for arrays in zip(*batches))
    for value, each in (found.before, model), (found.after, quantized):
        assert value == pytest.approx((each(x).array.argmax(axis=1) == t).mean())
    for path, depth in ('/0', 1), ('/1', 3):
        y, z = model[:depth](x).array, quantized[:depth](x).array
        ratio = (y.astype(float) ** 2).sum() / ((y.astype(float) - z) ** 2).sum()
        assert found.sqnr[path] == pytest.approx(10 * math.log10(ratio), rel=1e-4)


def test_more_bits_have_less_noise():
    model, batches = _model(), _batches(50)
    values = [
        quantization.evaluate(model, quantization.quantize(model, bits=bits), batches, F.accuracy)
        for bits in (4, 8)
    ]
    for path in '/0', '/1':
        # Four bits more are 24 decibels
        assert 18 < values[1].sqnr[path] - values[0].sqnr[path] < 30


def test_no_error():
    W = numpy.array([[127, -5]], numpy.float32)
    link = L.Linear(2, 1, initialW=W)
    batch = numpy.ones((2, 2), numpy.float32), numpy.zeros((2, 1), numpy.float32)
    quantized = quantization.quantize(link)
    found = quantization.evaluate(link, quantized, [batch], F.mean_squared_error)
    assert found == quantization.Evaluation(122**2, 122**2, {'/': math.inf})


def test_states_and_links_that_are_called_often():
    class Net(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.lstm = L.LSTM(6, 4)
                self.out = L.Linear(4, 3)

        def forward(self, x):
            self.lstm(x)
            return self.out(self.lstm(x))

    net = Net()
    quantized = quantization.quantize(net)
    found = quantization.evaluate(net, quantized, _batches(4, 4), F.accuracy)
    assert set(found.sqnr) == {'/lstm/upward', '/lstm/lateral', '/out'}
    assert all(20 < value < 80 for value in found.sqnr.values())
    assert net.lstm.h is None and quantized.lstm.h is None


def test_prepared_models():
    model, batches = _model(), _batches(4)
    ranges = quantization.calibrate(model, [batches[0][0]])
    prepared = quantization.prepare(model, ranges)
    found = quantization.evaluate(model, prepared, batches, F.accuracy)
    assert found == quantization.evaluate(
        model, quantization.convert(prepared), batches, F.accuracy
    )


def test_the_table():
    table = str(quantization.Evaluation(0.5, 0.25, {'/a': 3.14159, '/longer': math.inf}))
    assert table.splitlines() == [
        'metric: 0.5 before, 0.25 after (-0.25)',
        '/a       3.1 dB',
        '/longer  inf dB',
    ]


def test_wrong_arguments():
    model = _model()
    with pytest.raises(ValueError, match='has no quantized link'):
        quantization.evaluate(model, model, _batches(1), F.accuracy)
    with pytest.raises(ValueError, match='batches must have at least one example'):
        quantization.evaluate(model, quantization.quantize(model), [], F.accuracy)
