"""Products with packed weights, and the links that use them."""

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import gradient_check, quantization
from chainer.utils import type_check

DTYPES = ['int2', 'uint2', 'int4', 'uint4', 'int8', 'uint8']


class _Weight:
    """Arguments of the function, and the numbers that they mean."""

    def __init__(self, n, k, block, dtype='int4', has_zero=False, flat=False):
        random = numpy.random.RandomState(0)
        bits = int(dtype.lstrip('uint'))
        row = -(-k * bits // 8)
        packed = random.randint(0, 256, (n, row)).astype(numpy.uint8)
        shifts = numpy.arange(0, 8, bits)
        q = (packed.astype(int)[..., None] >> shifts & 2**bits - 1).reshape(n, -1)[:, :k]
        middle = 2 ** (bits - 1)
        is_signed = dtype[0] == 'i'
        q = numpy.where(is_signed & (q >= middle), q - 2 * middle, q)
        blocks = -(-k // block)
        scale = random.uniform(0.1, 1, (n, blocks)).astype('f')
        zero = random.randint(0, middle, (n, blocks)).astype('f')
        repeated = [numpy.repeat(a, block, 1)[:, :k] for a in (zero, scale)]
        less = repeated[0] if has_zero else (0 if is_signed else middle)
        self.numbers = (q - less) * repeated[1].astype('d')
        W = packed.view(numpy.int8) if dtype == 'int8' else packed
        self.args = [each.ravel() if flat else each for each in (W, scale, zero)]
        if not has_zero:
            self.args.pop()
        self.options = {'dtype': dtype, 'block_size': block}

    def __call__(self, x, b=None):
        return quantization.quantized_linear(x, *self.args, b=b, **self.options)


def _random(*shape, dtype='f'):
    return numpy.random.RandomState(1).normal(size=shape).astype(dtype)


@pytest.fixture(params=['auto', 'never'])
def kernels(request):
    with chainer.using_config('use_native_kernels', request.param):
        yield request.param


@pytest.mark.parametrize('has_zero', [False, True])
@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('char', 'efd')
def test_values(kernels, dtype, has_zero, char):
    for n, k, block, flat in [(4, 9, 4, False), (5, 64, 32, True), (1, 3, 50, False)]:
        weight = _Weight(n, k, block, dtype, has_zero, flat)
        tolerance = {'e': 3e-3, 'f': 2e-6, 'd': 1e-12}[char] * abs(weight.numbers).max() * k
        for x in _random(k, dtype=char), _random(3, 2, k, dtype=char), _random(0, k, dtype=char):
            b = _random(n, dtype=char)
            expected = x.astype('d') @ weight.numbers.T + b
            y = weight(x, b)
            assert y.dtype == x.dtype
            numpy.testing.assert_allclose(y.array, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize('has_zero', [False, True])
def test_gradients(kernels, has_zero):
    weight = _Weight(4, 9, 4, has_zero=has_zero)
    x, b, gy = _random(2, 3, 9, dtype='d'), _random(4, dtype='d'), _random(2, 3, 4, dtype='d')
    gradient_check.check_backward(weight, (x, b), gy, dtype='d', atol=1e-5, rtol=1e-5)
    gradient_check.check_double_backward(
        lambda x, b: weight(x * x, b), (x, b), gy, (x, b), dtype='d', atol=1e-4, rtol=1e-4
    )


@pytest.mark.parametrize(
    ('change', 'error'),
    [
        ({'dtype': 'int3'}, ValueError),
        ({'block_size': 0}, ValueError),
        ({'x': _random(2, 8)}, type_check.InvalidType),
        ({'x': numpy.zeros((2, 9), int)}, type_check.InvalidType),
        ({'x': _random(2, 0)}, type_check.InvalidType),
        ({'x': numpy.array(1, 'f')}, type_check.InvalidType),
        ({'W': numpy.zeros((4, 4), numpy.uint8)}, type_check.InvalidType),
        ({'W': numpy.zeros((4, 7), numpy.uint8)}, type_check.InvalidType),
        ({'W': numpy.zeros(21, numpy.uint8)}, type_check.InvalidType),
        ({'W': numpy.zeros((4, 5), numpy.int8)}, type_check.InvalidType),
        ({'dtype': 'int8'}, type_check.InvalidType),
        ({'scale': numpy.ones((4, 3), int)}, type_check.InvalidType),
        ({'scale': _random(4, 2)}, type_check.InvalidType),
        ({'zero_point': _random(4)}, type_check.InvalidType),
        ({'b': _random(3)}, type_check.InvalidType),
        ({'b': _random(4, dtype='d')}, type_check.InvalidType),
    ],
    ids=str,
)
def test_errors(change, error):
    W, scale = _Weight(4, 9, 4).args
    args = {'x': _random(2, 9), 'W': W, 'scale': scale, 'dtype': 'int4', 'block_size': 4}
    with pytest.raises(error):
        quantization.quantized_linear(**{**args, **change})


class _Names(chainer.FunctionHook):
    name = 'names'

    def __init__(self):
        self.names = []

    def forward_preprocess(self, function, in_data):
        self.names.append(function.label)


def _names(link, *args):
    with _Names() as hook:
        y = link(*args)
    return y, hook.names


@pytest.mark.parametrize('dtype', [numpy.float16, numpy.float32])
@pytest.mark.parametrize('options', [{'bits': 8}, {'bits': 4, 'block_size': 4}], ids=str)
@pytest.mark.parametrize('nobias', [False, True])
def test_linear_layers_multiply_with_packed_weights(options, nobias, dtype):
    with chainer.using_config('dtype', dtype):
        link = L.Linear(10, 3, nobias=nobias)
    quantized = quantization.quantize(link, **options)
    for x, axes in (_random(2, 10), 1), (_random(2, 5, 2), 1), (_random(2, 3, 10), 2):
        x = x.astype(dtype)
        y, names = _names(quantized, x, axes)
        assert 'QuantizedLinear' in names and 'LinearFunction' not in names
        expected = F.linear(x, quantized.W, link.b, axes).array
        tolerance = 1e-2 if dtype == numpy.float16 else 1e-5
        numpy.testing.assert_allclose(y.array, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ('link', 'options'),
    [
        (L.Linear(9, 3), {'bits': 4}),  # rows end within a byte
        (L.Linear(8, 3), {'per_channel': False}),
        (L.Linear(8, 3), {'ranges': {'/': quantization.LinkRanges({0: (-1, 1)})}}),
        (
            L.Linear(8, 3),
            {'weights': False, 'ranges': {'/': quantization.LinkRanges({0: (-1, 1)})}},
        ),
    ],
    ids=str,
)
def test_other_linear_layers_use_numbers(link, options):
    y, names = _names(quantization.quantize(link, **options), _random(2, link.in_size))
    assert 'LinearFunction' in names and y.shape == (2, 3)


def test_gradient_of_inputs_of_links():
    """Layers before a quantized one, such as adapters, train."""
    link = L.Linear(8, 3)
    quantized = quantization.quantize(link, bits=4, block_size=4)
    x = chainer.Variable(_random(2, 8))
    F.sum(quantized(x)).backward()
    expected = numpy.tile(quantized.W.array.sum(0), (2, 1))
    numpy.testing.assert_allclose(x.grad, expected, rtol=1e-5)
    numpy.testing.assert_array_equal(quantized.b.grad, [2, 2, 2])
