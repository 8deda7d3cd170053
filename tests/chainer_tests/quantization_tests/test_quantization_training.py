"""Quantization-aware training: rounded weights and inputs, and the model that comes of it."""

import copy

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import quantization, serializers
from chainer.quantization import LinkRanges

DEVICES = ['@numpy', pytest.param('native:0', marks=pytest.mark.chainerx)]


class _Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(1, 4, 3)
            self.rnn = L.NStepGRU(1, 16, 3, 0.0)
            self.out = L.Linear(3, 2)

    def forward(self, x):
        h = F.relu(self.conv(x))
        _, ys = self.rnn(None, list(h.reshape(len(x), 4, 16)))
        return self.out(F.stack([y[-1] for y in ys]))


_X = numpy.random.RandomState(0).uniform(-1, 1, (8, 1, 6, 6)).astype(numpy.float32)


def _prepared(device='@numpy', **options):
    numpy.random.seed(0)
    net = _Net()
    ranges = quantization.calibrate(net, [_X])
    if options.get('bits') == 4:
        ranges = None
    net.to_device(device)
    return net, quantization.prepare(net, ranges, **options)


def _evaluated(model):
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        return chainer.backend.CpuDevice().send(model(model.device.send(_X)).array)


OPTIONS = [
    {},
    {'learn': True},
    {'activation_dtype': 'int8', 'per_channel': False},
    {'bits': 4, 'block_size': 5},
    {'weights': False},
]


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('options', OPTIONS, ids=lambda o: ' '.join(o))
def test_training_and_conversion(options, device):
    """The converted model computes to the bit what training saw."""
    net, model = _prepared(device, **options)
    before = {path: param.array.copy() for path, param in net.namedparams()}
    optimizer = chainer.optimizers.Adam(0.05).setup(model)
    x, target = model.device.send(_X), model.device.send(_X[:, 0, 0, :2])
    losses = []
    for _ in range(30):
        loss = F.mean_squared_error(model(x), target)
        model.cleargrads()
        loss.backward()
        assert all(param.grad is not None for param in model.params())
        optimizer.update()
        losses.append(float(loss.array))
    assert losses[-1] < losses[0] / 3
    for path, param in net.namedparams():  # the first model stays
        numpy.testing.assert_array_equal(
            chainer.backend.CpuDevice().send(param.array),
            chainer.backend.CpuDevice().send(before[path]),
        )
    converted = quantization.convert(model)
    numpy.testing.assert_array_equal(_evaluated(converted), _evaluated(model))
    if options.get('weights', True):
        assert isinstance(model.out.W, chainer.Parameter)
        assert not isinstance(converted.rnn.ws[0][0], chainer.Parameter)
        assert {param.ndim for param in converted.params()} == {1}
    assert not any('scale' in path for path, _ in converted.namedparams())


@pytest.mark.parametrize('options', OPTIONS[1:4], ids=lambda o: ' '.join(o))
def test_before_training_it_is_the_quantized_model(options):
    net, model = _prepared(**options)
    options = {k: v for k, v in options.items() if k != 'learn'}
    ranges = None if 'bits' in options else quantization.calibrate(net, [_X])
    quantized = quantization.quantize(net, ranges, **options)
    numpy.testing.assert_array_equal(_evaluated(model), _evaluated(quantized))


def test_gradients_pass_through_weights():
    """A weight gets the gradient of what it is rounded to."""
    link = L.Linear(3, 2)
    x = _X[0, 0, :, :3]
    model = quantization.prepare(link)
    F.sum(model(x) ** 2).backward()
    W = quantization.quantize(link).W.array
    y = x @ W.T
    numpy.testing.assert_allclose(model.W.grad, 2 * y.T @ x, rtol=1e-5)


def test_observed_ranges():
    model = quantization.prepare(L.Linear(1, 1), {'/': LinkRanges({0: (-1, 1)})}, decay=0.75)
    x = numpy.array([[-5], [3]], numpy.float32)
    model(x)
    numpy.testing.assert_allclose(model.input_0_range, [-2, 1.5])
    with chainer.using_config('train', False):
        model(10 * x)
    numpy.testing.assert_allclose(model.input_0_range, [-2, 1.5])
    model(x[:0])
    numpy.testing.assert_allclose(model.input_0_range, [-2, 1.5])
    converted = quantization.convert(model)
    numpy.testing.assert_allclose(converted.input_0_scale, 3.5 / 255, rtol=1e-6)
    assert converted.input_0_zero_point == round(2 / (3.5 / 255))


def test_learned_scales():
    """Learning finds the range of numbers that matter."""
    ranges = {'/': LinkRanges({0: (-10, 10)})}
    link = L.Linear(1, 1, initialW=1)
    model = quantization.prepare(link, ranges, weights=False, activation_dtype='int8', learn=True)
    model.W.update_rule = model.b.update_rule = None
    optimizer = chainer.optimizers.Adam(0.002).setup(model)
    x = numpy.random.RandomState(0).uniform(-1, 1, (1000, 1)).astype(numpy.float32)
    first = float(model.input_0_scale.array)
    for _ in range(60):
        optimizer.update(lambda: F.mean_squared_error(model(x), x))
    assert float(model.input_0_scale.array) < first / 2


def test_scale_of_the_gradient_of_a_learned_scale():
    model = quantization.prepare(
        L.Linear(2, 1, initialW=1), {'/': LinkRanges({0: (0, 255)})}, weights=False, learn=True
    )
    x = numpy.array([[0.25, 300]], numpy.float32)
    F.sum(model(x)).backward()
    expected = ((0 - 0.25) + 255) / numpy.sqrt(2 * 255)
    numpy.testing.assert_allclose(model.input_0_scale.grad, expected, rtol=1e-5)


@pytest.mark.parametrize('learn', [True, False])
def test_files_and_copies(learn, tmp_path):
    _, model = _prepared(learn=learn)
    model(2 * _X)
    _, other = _prepared(learn=learn)
    for param in other.params():
        param.array[...] = 0.5
    serializers.save_npz(tmp_path / 'model.npz', model)
    serializers.load_npz(tmp_path / 'model.npz', other)
    for again in other, copy.deepcopy(model), model.copy():
        numpy.testing.assert_array_equal(_evaluated(again), _evaluated(model))


def test_prepared_links():
    _, model = _prepared()
    assert type(model.conv).__name__ == 'FakeQuantizedConvolution2D'
    assert isinstance(model.conv, L.Convolution2D)
    assert {path for path, _ in model.namedparams()} == {p for p, _ in _Net().namedparams()}


def test_wrong_arguments():
    with pytest.raises(ValueError, match='decay must be .*, but is 1'):
        quantization.prepare(L.Linear(1, 1), decay=1)
    with pytest.raises(ValueError, match='bits must be 4 or 8'):
        quantization.prepare(L.Linear(1, 1), bits=2)
    with pytest.raises(ValueError, match='no link that prepare has made'):
        quantization.convert(L.Linear(1, 1))
