"""Convolutions of 8-bit integers, and quantized operators, beside NumPy and ONNX Runtime."""

import itertools

import numpy as np
import pytest

onnx = pytest.importorskip('onnx')
pytest.importorskip('onnxruntime')
from onnx import TensorProto, helper  # noqa: E402
from onnx_chainer_tests import helpers_of_runtime  # noqa: E402
from onnx_chainer_tests.test_integers import model_of, numbers, ours, runtime  # noqa: E402

import chainerx  # noqa: E402

pytestmark = [
    pytest.mark.chainerx,
    pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built'),
]

ENGINES = 'runner', 'importer'
# Shapes of images and filters, and attributes
CASES = [
    ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    ((2, 3, 7, 6), (5, 3, 1, 1), {}),
    ((2, 3, 7, 6), (5, 3, 3, 2), {}),
    ((1, 4, 9, 11), (6, 4, 3, 3), {'pads': [1, 1, 1, 1]}),
    ((1, 4, 9, 11), (6, 4, 3, 3), {'pads': [0, 2, 1, 0], 'strides': [2, 3]}),
    ((1, 4, 9, 11), (6, 2, 3, 3), {'group': 2, 'dilations': [2, 1]}),
    ((2, 6, 8, 8), (6, 1, 3, 3), {'group': 6, 'pads': [1, 1, 1, 1]}),
    ((1, 3, 8, 8), (4, 3, 3, 3), {'auto_pad': 'SAME_UPPER', 'strides': [2, 2]}),
    ((1, 3, 8, 8), (4, 3, 1, 1), {'strides': [2, 2]}),
    ((1, 16, 30, 130), (2, 16, 5, 5), {'pads': [2, 2, 2, 2]}),  # in several parts
    ((2, 3, 17), (5, 3, 4), {'pads': [1, 2]}),
    ((1, 2, 4, 5, 6), (3, 2, 2, 3, 2), {'pads': [1, 0, 1, 0, 1, 0]}),
]


def expected_convolution(x, w, attributes):
    """Convolution of integers, window by window."""
    count = x.ndim - 2
    strides = attributes.get('strides', [1] * count)
    dilations = attributes.get('dilations', [1] * count)
    pads = attributes.get('pads', [0] * (2 * count))
    if 'auto_pad' in attributes:  # of stride 2 and window 3
        pads = [0] * count + [1] * count
    groups = attributes.get('group', 1)
    both = zip(pads[:count], pads[count:], strict=True)
    x = np.pad(x.astype('q'), [(0, 0), (0, 0), *both])
    spans = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilations, strict=True)]
    axes = tuple(range(2, 2 + count))
    windows = np.lib.stride_tricks.sliding_window_view(x, spans, axes)
    windows = windows[(slice(None),) * 2 + tuple(slice(None, None, s) for s in strides)]
    windows = windows[(..., *(slice(None, None, d) for d in dilations))]
    ys = []
    for part, kernels in zip(np.split(windows, groups, 1), np.split(w, groups), strict=True):
        left = [1, *range(2 + count, 2 + 2 * count)]
        ys.append(np.tensordot(part, kernels.astype('q'), (left, list(range(1, 2 + count)))))
    return np.concatenate([np.moveaxis(y, -1, 1) for y in ys], 1).astype('i')


def convolution(x, w, x_zero, w_zero, attributes):
    """A file with ConvInteger, and its inputs."""
    arrays = {'w': w, 'x_zero': x_zero, 'w_zero': w_zero}
    names = [name if a is not None else '' for name, a in arrays.items()]
    constants = {name: a for name, a in arrays.items() if a is not None}
    node = helper.make_node('ConvInteger', ['x', *names], ['y'], **attributes)
    return model_of([node], {'x': x}, {'y': TensorProto.INT32}, constants)


@pytest.mark.parametrize('engine', ENGINES)
@pytest.mark.parametrize(('x_shape', 'w_shape', 'attributes'), CASES)
def test_convolutions_are_those_of_onnx_runtime(engine, x_shape, w_shape, attributes):
    for x_dtype, w_dtype in itertools.product(['uint8', 'int8'], repeat=2):
        x, w = numbers(x_shape, x_dtype), numbers(w_shape, w_dtype, 1)
        x_zero, w_zero = numbers((), x_dtype, 2), numbers((), w_dtype, 3)
        channels = numbers(w_shape[:1], w_dtype, 4)
        for zeros in (None, None), (x_zero, None), (x_zero, w_zero), (x_zero, channels):
            model = convolution(x, w, *zeros, attributes)
            y = ours(engine, model, {'x': x})[0]
            wide_x = x.astype('q') - (0 if zeros[0] is None else int(x_zero))
            wide_w = w.astype('q')
            if zeros[1] is not None:
                wide_w = wide_w - zeros[1].astype('q').reshape((-1,) + (1,) * (w.ndim - 1))
            np.testing.assert_array_equal(y, expected_convolution(wide_x, wide_w, attributes))
            assert y.dtype == np.int32
            if zeros[1] is channels or min(attributes.get('pads', [0])) < 0:
                continue  # ONNX Runtime has not that
            expected = runtime(model, {'x': x})
            if expected is not None and helpers_of_runtime.is_exact(x, w):
                np.testing.assert_array_equal(y, expected[0])


def test_convolutions_of_nothing():
    for x_shape, w_shape in [((0, 3, 5, 5), (4, 3, 3, 3)), ((2, 3, 5, 5), (0, 3, 3, 3))]:
        model = convolution(numbers(x_shape, 'uint8'), numbers(w_shape, 'int8'), None, None, {})
        y = ours('runner', model, {'x': numbers(x_shape, 'uint8')})[0]
        assert y.shape == (x_shape[0], w_shape[0], 3, 3)
    x, w = numbers((2, 0, 5, 5), 'uint8'), numbers((4, 0, 3, 3), 'int8')
    y = ours('runner', convolution(x, w, None, None, {}), {'x': x})[0]
    np.testing.assert_array_equal(y, np.zeros((2, 4, 3, 3), 'i'))


@pytest.mark.parametrize(
    ('x_shape', 'w_shape', 'attributes'),
    [
        ((1, 3, 5, 5), (4, 2, 3, 3), {}),
        ((1, 3, 5, 5), (4, 3, 3), {}),
        ((1, 3, 5, 5), (4, 3, 3, 3), {'group': 3}),
        ((1, 3, 5, 5), (4, 3, 3, 3), {'group': 0}),
        ((1, 3, 5, 5), (4, 3, 3, 3), {'group': 1 << 62}),
        ((1, 3, 5, 5), (4, 3, 6, 6), {}),
        ((1, 3, 5, 5), (4, 3, 0, 3), {}),
        ((1, 3, 5, 5), (4, 3, 3, 3), {'strides': [0, 1]}),
        ((1, 3, 5, 5), (4, 3, 3, 3), {'pads': [1 << 40, 0, 0, 0]}),
        ((1, 3, 5, 5), (4, 3, 3, 3), {'pads': [1 << 30, 1 << 30, 1 << 30, 1 << 30]}),
        ((1, 3, 5, 5), (4, 3, 3, 3), {'pads': [-3, 0, 0, 0]}),
        ((1,) * 11, (1,) * 11, {}),
    ],
)
def test_wrong_convolutions(x_shape, w_shape, attributes):
    x, w = numbers(x_shape, 'uint8'), numbers(w_shape, 'int8')
    with pytest.raises(chainerx.ChainerxError, match='ConvInteger'):
        ours('runner', convolution(x, w, None, None, attributes), {'x': x})


@pytest.mark.parametrize('zero', ['x', 'w'])
def test_wrong_zero_points(zero):
    x, w = numbers((1, 3, 5, 5), 'uint8'), numbers((4, 3, 3, 3), 'int8')
    zeros = {'x': None, 'w': None, zero: numbers((3,), 'uint8' if zero == 'x' else 'int8')}
    with pytest.raises(chainerx.ChainerxError, match=f'{zero}_zero of shape'):
        ours('runner', convolution(x, w, zeros['x'], zeros['w'], {}), {'x': x})


def floats(*shape, low=0.01, high=0.02):
    return np.random.RandomState(sum(shape)).uniform(low, high, shape).astype('f')


def quantized_product(dtype, b_shape, columns):
    zero = numbers((), dtype, 2)
    constants = {
        'a_scale': floats(),
        'a_zero': zero,
        'b': helpers_of_runtime.in_range(numbers(b_shape, 'int8', 1)),
        'b_scale': floats(*columns),
        'b_zero': np.zeros(columns, 'int8'),
        'y_scale': floats(low=1, high=2),
        'y_zero': numbers((), dtype, 3),
    }
    return helper.make_node('QLinearMatMul', ['x', *constants], ['y']), constants


def quantized_convolution(dtype, channels, has_bias):
    constants = {
        'x_scale': floats(),
        'x_zero': numbers((), dtype, 2),
        'w': helpers_of_runtime.in_range(numbers((6, 4, 3, 3), 'int8', 1)),
        'w_scale': floats(*channels),
        'w_zero': np.zeros(channels, 'int8'),
        'y_scale': floats(low=1, high=2),
        'y_zero': numbers((), dtype, 3),
    }
    if has_bias:
        constants['bias'] = numbers((6,), 'int32', 5) // 100000
    return helper.make_node('QLinearConv', ['x', *constants], ['y'], pads=[1, 1, 1, 1]), constants


@pytest.mark.parametrize('engine', ENGINES)
@pytest.mark.parametrize('dtype', ['uint8', 'int8'])
@pytest.mark.parametrize(
    ('make', 'shape', 'arguments'),
    [
        (quantized_product, (5, 19), ((19, 33), ())),
        (quantized_product, (2, 5, 19), ((19, 33), (33,))),
        (quantized_product, (2, 5, 19), ((2, 19, 3), ())),
        (quantized_convolution, (2, 4, 9, 8), ((), False)),
        (quantized_convolution, (2, 4, 9, 8), ((6,), True)),
    ],
)
def test_quantized_operators(engine, make, shape, arguments, dtype):
    node, constants = make(dtype, *arguments)
    x = numbers(shape, dtype)
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    model = model_of([node], {'x': x}, {'y': kind}, constants)
    y = ours(engine, model, {'x': x})[0]
    expected = runtime(model, {'x': x})[0]
    assert y.dtype == expected.dtype
    assert len(np.unique(y)) > 8
    # Scales may be multiplied in another order, which moves halves to another integer.
    difference = abs(y.astype('i') - expected)
    assert difference.max() <= 1
    assert (difference > 0).mean() < 0.01


@pytest.mark.parametrize(('dtype', 'has_zero'), [('uint8', True), ('int8', True), ('uint8', False)])
def test_quantization_of_tensors(dtype, has_zero):
    x = np.concatenate([floats(1003, low=-40, high=40), np.arange(-600, 600, dtype='f') / 8])
    constants = {'scale': np.array(0.25, 'f')}
    if has_zero:
        constants['zero'] = numbers((), dtype, 3)
    names = [name if name in constants else '' for name in ('scale', 'zero')]
    nodes = [
        helper.make_node('QuantizeLinear', ['x', *names], ['q']),
        helper.make_node('DequantizeLinear', ['q', *names], ['y']),
    ]
    kinds = {'q': helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), 'y': TensorProto.FLOAT}
    model = model_of(nodes, {'x': x}, kinds, constants)
    for y, expected in zip(ours('runner', model, {'x': x}), runtime(model, {'x': x}), strict=True):
        np.testing.assert_array_equal(y, expected)
        assert y.dtype == expected.dtype
