"""Models with integers for weights, against the formulas of ONNX in NumPy."""

import copy
import pickle

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import quantization, serializers


def _rounded(x, scale, zero, low, high):
    """ONNX's QuantizeLinear and DequantizeLinear."""
    q = numpy.clip(numpy.rint(x / scale) + zero, low, high)
    return ((q - zero) * scale).astype(x.dtype)


def _rounded_weight(W, bits, axes):
    most = 2 ** (bits - 1) - 1
    scale = abs(W).max(axis=axes, keepdims=True) / W.dtype.type(most)
    return _rounded(W, numpy.where(scale == 0, W.dtype.type(1), scale), 0, -most - 1, most)


def _random(*shape, dtype=numpy.float32):
    return numpy.random.RandomState(sum(shape)).normal(size=shape).astype(dtype)


#: Link, its inputs, and the axes of each weight that have one scale together.
LINKS = {
    'Linear': (lambda: L.Linear(6, 4), [_random(3, 6)], {'W': 1}),
    'Linear without bias': (lambda: L.Linear(6, 4, nobias=True), [_random(3, 6)], {'W': 1}),
    'Convolution2D': (lambda: L.Convolution2D(3, 4, 3), [_random(2, 3, 5, 5)], {'W': (1, 2, 3)}),
    'depthwise': (
        lambda: L.Convolution2D(4, 4, 3, groups=4),
        [_random(2, 4, 5, 5)],
        {'W': (1, 2, 3)},
    ),
    'ConvolutionND': (lambda: L.ConvolutionND(1, 3, 4, 3), [_random(2, 3, 5)], {'W': (1, 2)}),
    'Deconvolution2D': (
        lambda: L.Deconvolution2D(3, 4, 3),
        [_random(2, 3, 5, 5)],
        {'W': (0, 2, 3)},
    ),
    'EmbedID': (lambda: L.EmbedID(5, 6), [numpy.array([3, 0, 3], numpy.int32)], {'W': 1}),
    'Bilinear': (
        lambda: L.Bilinear(3, 4, 5),
        [_random(2, 3), _random(2, 4)],
        {'W': (0, 1), 'V1': 0, 'V2': 0},
    ),
}


def _link(name, dtype=numpy.float32):
    make, inputs, axes = LINKS[name]
    with chainer.using_config('dtype', dtype):
        link = make()
    for param in link.params():
        param.array = _random(*param.shape, dtype=dtype)
    inputs = [x.astype(dtype) if x.dtype.kind == 'f' else x for x in inputs]
    return link, inputs, axes


def _check_output(link, y, expected):
    """Linear layers multiply with packed weights: their sums are in another order."""
    if not isinstance(link, L.Linear):
        return numpy.testing.assert_array_equal(y.array, expected.array)
    tolerance = 1e-2 if y.dtype == numpy.float16 else 1e-5
    return numpy.testing.assert_allclose(y.array, expected.array, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize('dtype', [numpy.float16, numpy.float32, numpy.float64])
@pytest.mark.parametrize('name', LINKS)
@pytest.mark.parametrize('per_channel', [True, False])
def test_weights(name, per_channel, dtype):
    link, inputs, axes = _link(name, dtype)
    quantized = quantization.quantize(link, per_channel=per_channel)
    for weight, reduced in axes.items():
        W = getattr(link, weight).array
        q = getattr(quantized, f'{weight}_quantized')
        assert q.dtype == numpy.int8 and q.shape == W.shape
        expected = _rounded_weight(W, 8, reduced if per_channel else None)
        numpy.testing.assert_array_equal(getattr(quantized, weight).array, expected)
        getattr(link, weight).array[...] = expected
    _check_output(link, quantized(*inputs), link(*inputs))


@pytest.mark.parametrize('name', LINKS)
@pytest.mark.parametrize('block_size', [1, 2, 4, 100])
def test_four_bits(name, block_size):
    link, inputs, axes = _link(name)
    quantized = quantization.quantize(link, bits=4, block_size=block_size)
    for weight, reduced in axes.items():
        W = getattr(link, weight).array
        assert getattr(quantized, f'{weight}_quantized').nbytes == (W.size + 1) // 2
        if W.ndim > 2:
            expected = _rounded_weight(W, 4, reduced)
        else:
            cuts = range(block_size, W.shape[reduced], block_size)
            blocks = [_rounded_weight(b, 4, reduced) for b in numpy.split(W, cuts, reduced)]
            expected = numpy.concatenate(blocks, reduced)
        numpy.testing.assert_array_equal(getattr(quantized, weight).array, expected)
        getattr(link, weight).array[...] = expected
    _check_output(link, quantized(*inputs), link(*inputs))


@pytest.mark.parametrize('name', [name for name in LINKS if name != 'EmbedID'])
@pytest.mark.parametrize('kind', ['uint8', 'int8'])
@pytest.mark.parametrize('weights', [True, False])
def test_inputs(name, kind, weights):
    link, inputs, _ = _link(name)
    limits = -1.25, 2.0  # some numbers are outside
    ranges = {'/': quantization.LinkRanges(dict.fromkeys(range(len(inputs)), limits))}
    quantized = quantization.quantize(link, ranges, weights, activation_dtype=kind)
    if kind == 'uint8':
        scale = numpy.float32(3.25 / 255)
        form = scale, round(1.25 / (3.25 / 255)), 0, 255
    else:
        form = numpy.float32(2 / 127), 0, -128, 127
    assert quantized.input_0_zero_point.dtype == kind
    expected = [_rounded(x, *form) for x in inputs]
    if weights:
        link = quantization.quantize(link)
    _check_output(link, quantized(*inputs), link(*expected))


class _Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(1, 4, 3)
            self.norm = L.BatchNormalization(4)
            self.rnn = L.NStepBiLSTM(2, 16, 3, 0.1)
            self.lstm = L.LSTM(6, 5)
            self.heads = chainer.ChainList(L.Linear(5, 2), L.Linear(5, 3))

    def forward(self, x):
        h = F.relu(self.norm(self.conv(x)))
        _, _, ys = self.rnn(None, None, list(h.reshape(len(x), 4, -1)))
        self.lstm.reset_state()
        for y in zip(*ys):
            h = self.lstm(F.stack(y))
        return F.concat([head(h) for head in self.heads])


_X = _random(3, 1, 6, 6)


def _evaluated(model, x=_X):
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        return chainer.backend.CpuDevice().send(model(x).array)


def _quantized(bits, seed=0):
    numpy.random.seed(seed)
    net = _Net()
    if bits == 4:
        return net, quantization.quantize(net, bits=4)
    return net, quantization.quantize(net, quantization.calibrate(net, [_X]))


@pytest.mark.parametrize('bits', [8, 4])
def test_networks(bits):
    net, quantized = _quantized(bits)
    before = {path: param.array.copy() for path, param in net.namedparams()}
    y = _evaluated(net)
    difference = abs(_evaluated(quantized) - y).max() / abs(y).max()
    assert 0 < difference < (0.05 if bits == 8 else 0.5)
    for path, param in net.namedparams():
        numpy.testing.assert_array_equal(param.array, before[path])
    assert {param.ndim for param in quantized.params()} == {1}
    # The weights of a recurrent network are not its parameters any more, wherever they are.
    weights = [w for ws in quantized.rnn.ws for w in ws]
    assert not any(isinstance(w, chainer.Parameter) for w in weights)
    for w, old in zip(weights, [w for ws in net.rnn.ws for w in ws]):
        assert 0 < abs(w.array - old.array).max() < 0.2


@pytest.mark.parametrize('bits', [8, 4])
@pytest.mark.parametrize(
    'duplicate',
    [
        copy.copy,
        copy.deepcopy,
        lambda m: m.copy('share'),
        lambda m: m.copy('copy'),
        lambda m: pickle.loads(pickle.dumps(m)),
    ],
    ids=['copy', 'deepcopy', 'share', 'Link.copy', 'pickle'],
)
def test_copies(bits, duplicate):
    _, quantized = _quantized(bits)
    again = duplicate(quantized)
    assert type(again.conv) is type(quantized.conv)
    assert isinstance(again.conv, L.Convolution2D)
    numpy.testing.assert_array_equal(_evaluated(again), _evaluated(quantized))


@pytest.mark.parametrize('bits', [8, 4])
@pytest.mark.parametrize('kind', ['npz', 'safetensors'])
def test_files(bits, kind, tmp_path):
    if kind == 'safetensors':
        pytest.importorskip('safetensors')
    _, quantized = _quantized(bits)
    _, other = _quantized(bits, seed=1)
    path = tmp_path / f'model.{kind}'
    getattr(serializers, f'save_{kind}')(path, quantized)
    getattr(serializers, f'load_{kind}')(path, other)
    assert other.conv.W_quantized.dtype == (numpy.int8 if bits == 8 else numpy.uint8)
    numpy.testing.assert_array_equal(_evaluated(other), _evaluated(quantized))


@pytest.mark.chainerx
@pytest.mark.parametrize('bits', [8, 4])
def test_chainerx(bits):
    net, quantized = _quantized(bits)
    expected = _evaluated(quantized)
    quantized.to_device('native:0')
    y = _evaluated(quantized, quantized.device.send(_X))
    numpy.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
    # A model on ChainerX's device is quantized there, to the same integers.
    net.to_device('native:0')
    there = quantization.quantize(net, bits=bits)
    assert there.heads[0].W_scale.device == quantized.heads[0].b.device.device
    for model in there, quantized:
        model.to_device('@numpy')
    numpy.testing.assert_array_equal(there.conv.W_quantized, quantized.conv.W_quantized)
    numpy.testing.assert_array_equal(there.conv.W_scale, quantized.conv.W_scale)


def test_selection():
    net, _ = _quantized(8)
    quantized = quantization.quantize(net, select=lambda path, link: isinstance(link, L.Linear))
    paths = [path for path, link in quantized.namedlinks() if hasattr(link, 'W_quantized')]
    assert set(paths) == {'/heads/0', '/heads/1', '/lstm/upward', '/lstm/lateral'}
    recurrent = quantization.quantize(net, select=lambda path, link: path == '/rnn')
    assert recurrent.rnn[3].w0_quantized.dtype == numpy.int8
    assert isinstance(recurrent.conv.W, chainer.Parameter)


def test_weights_used_by_another_link():
    class Tied(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.embed = L.EmbedID(7, 3)

        def forward(self, ids):
            return F.linear(self.embed(ids), self.embed.W)

    model = Tied()
    quantized = quantization.quantize(model)
    ids = numpy.array([1, 6], numpy.int32)
    W = _rounded_weight(model.embed.W.array, 8, 1)
    numpy.testing.assert_allclose(quantized(ids).array, W[ids] @ W.T, rtol=1e-5)


def test_gradients_of_what_is_left():
    """The biases of a quantized link can be trained."""
    quantized = quantization.quantize(L.Linear(3, 2))
    F.sum(quantized(_random(4, 3))).backward()
    numpy.testing.assert_array_equal(quantized.b.grad, [4, 4])


def test_a_failed_call_leaves_the_link():
    link, inputs, _ = _link('Linear')
    quantized = quantization.quantize(link)
    with pytest.raises(chainer.utils.type_check.InvalidType):
        quantized(inputs[0][:, :2])
    assert 'W' not in vars(quantized)


def test_zeros():
    quantized = quantization.quantize(
        L.Linear(3, 2, initialW=0, initial_bias=1),
        {'/': quantization.LinkRanges({0: (0, 0)})},
    )
    numpy.testing.assert_array_equal(quantized(_random(1, 3)).array, [[1, 1]])


def test_attributes():
    quantized = quantization.quantize(L.Linear(3, 2))
    assert str(quantized) == 'QuantizedLinear(in_size=3, out_size=2, nobias=False)'
    with pytest.raises(AttributeError, match="'QuantizedLinear' object has no attribute 'V'"):
        quantized.V


_RANGES = {'/': quantization.LinkRanges({0: (0, 1)})}


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'bits': 7}, 'bits must be 4 or 8, but is 7'),
        ({'bits': 4, 'ranges': _RANGES}, '4 bits are for weights only'),
        ({'activations': True}, 'activations need ranges'),
        ({'weights': False}, 'weights and activations must not both be False'),
        ({'ranges': _RANGES, 'activation_dtype': 'int4'}, 'activation_dtype .*, but is .int4.'),
        ({'bits': 4, 'block_size': 0}, 'block_size must be positive, but is 0'),
        ({'ranges': {'/a': quantization.LinkRanges()}}, r"which lacks \['/a'\]"),
        ({'ranges': {'/': quantization.LinkRanges({0: (0, numpy.inf)})}}, 'range must be finite'),
        ({'select': lambda path, link: False}, 'no link with weights that select chooses'),
    ],
    ids=lambda value: value if isinstance(value, str) else '',
)
def test_wrong_arguments(options, message):
    link = L.Linear(3, 2)
    with pytest.raises(ValueError, match=message):
        quantization.quantize(link, **options)
    assert type(link) is L.Linear


def test_wrong_models():
    with pytest.raises(ValueError, match='W of Linear.* has no values yet'):
        quantization.quantize(L.Linear(2))
    link = L.Linear(3, 2).add_hook(chainer.link_hooks.WeightStandardization())
    with pytest.raises(ValueError, match='WeightStandardization replaces a weight'):
        quantization.quantize(link)
    with pytest.raises(ValueError, match='no link with weights'):
        quantization.quantize(L.BatchNormalization(3))
