"""Ranges of what links get and give."""

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import quantization
from chainer.quantization import LinkRanges


class _Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(5, 3)
            self.lstm = L.LSTM(3, 4)
            self.norm = L.BatchNormalization(4)
            self.out = L.Linear(4, 2)
            self.unused = L.Linear(4, 2)

    def forward(self, ids, scale=1):
        for i in ids.T:
            h = self.lstm(self.embed(i))
        return self.out(x=self.norm(h) * scale)


_IDS = numpy.array([[0, 1, 2], [3, 4, 0]], numpy.int32)


def test_ranges_of_arguments_and_results():
    net = _Net()
    ranges = quantization.calibrate(net, [_IDS, _IDS[:, :2]])
    assert set(ranges) == {'/embed', '/lstm/upward', '/lstm/lateral', '/out'}
    W = net.embed.W.array
    limits = float(W.min()), float(W.max())
    assert ranges['/embed'] == LinkRanges({}, {0: limits})
    assert ranges['/lstm/upward'].inputs == {0: limits}
    seen = []
    for ids in (_IDS, _IDS[:, :2]):
        net.lstm.reset_state()
        with chainer.using_config('train', False):
            seen.append(net(ids).array)
    net.lstm.reset_state()
    # The state stays from one batch to the next one
    assert list(ranges['/out'].inputs) == ['x']
    low, high = ranges['/out'].outputs[0]
    assert low <= seen[0].min() <= seen[0].max() <= high


def test_closed_form():
    W = numpy.array([[1, -2]], numpy.float32)
    model = chainer.Sequential(L.Linear(2, 1, initialW=W), F.relu, L.Linear(1, 1, True, 3))
    batches = [numpy.array(x, numpy.float32) for x in ([[1, 0], [0, 1]], [[5, 1]])]
    assert quantization.calibrate(model, batches) == {
        '/0': LinkRanges({0: (0, 5)}, {0: (-2, 3)}),
        '/1': LinkRanges({0: (0, 3)}, {0: (0, 9)}),
    }


def test_the_model_stays_as_it_is():
    net = _Net()
    net(_IDS)  # with a state
    before = {path: param.array.copy() for path, param in net.namedparams()}
    h, mean = net.lstm.h, net.norm.avg_mean.copy()
    quantization.calibrate(net, [_IDS])
    assert net.lstm.h is h
    numpy.testing.assert_array_equal(net.norm.avg_mean, mean)
    for path, param in net.namedparams():
        numpy.testing.assert_array_equal(param.array, before[path])
    assert not chainer._get_link_hooks()


@pytest.mark.parametrize('batch', [_IDS, (_IDS, 2), {'ids': _IDS, 'scale': 2}], ids=type)
def test_forms_of_batches(batch):
    scale = 1 if batch is _IDS else 2
    net = _Net()
    expected = quantization.calibrate(net, [(_IDS, scale)])
    assert quantization.calibrate(net, iter([batch])) == expected


def test_observers_and_selection():
    x = numpy.linspace(-1, 1, 1001, dtype=numpy.float32)[:, None]
    model = chainer.Sequential(L.Linear(1, 1), L.Linear(1, 1))
    ranges = quantization.calibrate(
        model,
        [x],
        observer=lambda: quantization.Percentile(90),
        select=lambda path, link: path == '/0' and isinstance(link, L.Linear),
    )
    assert list(ranges) == ['/0']
    numpy.testing.assert_allclose(ranges['/0'].inputs[0], (-0.9, 0.9), atol=0.01)


def test_no_batch():
    with pytest.raises(ValueError, match='batches must have at least one batch'):
        quantization.calibrate(L.Linear(1, 1), [])


@pytest.mark.parametrize('value', [numpy.nan, numpy.inf])
def test_numbers_that_have_no_range(value):
    x = numpy.full((1, 1), value, numpy.float32)
    with pytest.raises(ValueError, match='must be finite, but those at / are not'):
        quantization.calibrate(L.Linear(1, 1), [x])
    assert not chainer._get_link_hooks()


def test_empty_batches_have_no_range():
    ranges = quantization.calibrate(L.Linear(1, 1), [numpy.zeros((0, 1), numpy.float32)])
    assert ranges == {'/': LinkRanges()}


@pytest.mark.chainerx
def test_chainerx():
    model = chainer.Sequential(L.Linear(2, 3), F.relu, L.Linear(3, 1))
    x = numpy.array([[1, -2], [0.5, 3]], numpy.float32)
    expected = quantization.calibrate(model, [x])
    model.to_device('native:0')
    ranges = quantization.calibrate(model, [model.device.send(x)])
    for path in expected:
        assert ranges[path].inputs[0] == pytest.approx(expected[path].inputs[0])
