"""Convolutions of the C++ runner, in groups and not, of which a limit behind them becomes a part."""

import numpy as np
import pytest

import chainerx

onnx = pytest.importorskip('onnx')
from onnx import helper, numpy_helper  # noqa: E402

pytestmark = [
    pytest.mark.chainerx,
    pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built'),
]

TOLERANCE = {'float16': 2e-2, 'float32': 1e-5, 'float64': 1e-12}
INFINITY = float('inf')

# What follows: limits (None: missing), opset, whether another array is added before, whether it becomes a part.
LIMITS = [
    ((0, 6), 13, False, True),
    ((0, 0.5), 13, True, True),
    ((0, 0.5), 6, False, True),
    ((0, None), 13, True, True),
    ((-0.0, INFINITY), 13, False, True),
    ((0, 0), 13, False, True),
    ((-0.5, 0.5), 13, False, False),
    ((0.25, 0.5), 10, True, False),
    ((None, 0.5), 13, False, False),
    ((None, None), 13, True, False),
    ((0, -0.25), 13, False, False),
    ((0, np.nan), 13, False, False),
]


def convolution(x, w, b, stride, pad):
    """The formula in float64."""
    size = len(x[0]) // w.shape[1]
    x = np.pad(x.astype('d'), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))
    windows = windows[:, :, ::stride, ::stride]
    windows = windows.reshape(len(x), size, w.shape[1], *windows.shape[2:])
    w = w.astype('d').reshape(size, -1, *w.shape[1:])
    y = np.einsum('ngcijkl,gockl->ngoij', windows, w)
    return y.reshape(len(x), -1, *y.shape[3:]) + b.astype('d')[:, None, None]


def limited_model(w, b, stride, pad, limits, opset, has_addend, is_constant=True):
    dtype = helper.np_dtype_to_tensor_dtype(w.dtype)
    groups = 4 if w.shape[1] < 4 else 1
    conv = helper.make_node(
        'Conv', ['x', 'w', 'b'], ['s'], group=groups, strides=[stride] * 2, pads=[pad] * 4
    )
    nodes, inputs, constants, last = [conv], {'x': 4, **({'z': 4} if has_addend else {})}, {}, 's'
    if has_addend:
        nodes.append(helper.make_node('Add', ['s', 'z'], ['t']))
        last = 't'
    if opset < 11:
        names = {k: float(v) for k, v in zip(('min', 'max'), limits) if v is not None}
        nodes.append(helper.make_node('Clip', [last], ['y'], **names))
    else:
        known = {k: np.array(v, w.dtype) for k, v in zip('lu', limits) if v is not None}
        (constants if is_constant else inputs).update(
            known if is_constant else dict.fromkeys(known, 0)
        )
        names = [name if name in known else '' for name in 'lu']
        nodes.append(helper.make_node('Clip', [last, *names], ['y']))
    graph = helper.make_graph(
        nodes,
        'limited',
        [helper.make_tensor_value_info(k, dtype, [None] * n) for k, n in inputs.items()],
        [helper.make_tensor_value_info('y', dtype, None)],
        [numpy_helper.from_array(a, k) for k, a in ({'w': w, 'b': b} | constants).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=8)


def check(dtype, w_shape, stride, pad, size, limits, opset, has_addend, steps, is_constant=True):
    random = np.random.RandomState(0)
    w, b = (random.normal(size=s, scale=0.3).astype(dtype) for s in (w_shape, w_shape[0]))
    x = random.normal(size=(2, 4, *size)).astype(dtype)
    y = convolution(x, w, b, stride, pad)
    z = random.normal(size=y.shape).astype(dtype)
    model = limited_model(w, b, stride, pad, limits, opset, has_addend, is_constant)
    runner = chainerx.onnx.load(model.SerializeToString())
    assert len(runner.steps) == steps, runner.steps
    feeds = [x, z] if has_addend else [x]
    if not is_constant:
        feeds += [np.array(v, dtype) for v in limits if v is not None]
    expected = y + z.astype('d') if has_addend else y
    if limits[0] is not None:
        expected = np.maximum(expected, limits[0])
    if limits[1] is not None:
        expected = np.minimum(expected, limits[1])
    actual = chainerx.to_numpy(runner(*feeds))
    assert actual.dtype == dtype
    np.testing.assert_allclose(actual, expected, atol=TOLERANCE[dtype], rtol=0)


@pytest.mark.parametrize('dtype', TOLERANCE)
@pytest.mark.parametrize('limits,opset,has_addend,joins', LIMITS)
def test_limits(dtype, limits, opset, has_addend, joins):
    for w_shape, stride, size in [
        ((6, 4, 3, 3), 1, (5, 7)),
        ((4, 1, 3, 3), 1, (7, 17)),
        ((4, 1, 3, 3), 2, (14, 9)),
        ((8, 1, 5, 5), 1, (6, 33)),
        ((16, 4, 1, 1), 1, (4, 9)),
    ]:
        pad = w_shape[-1] // 2
        check(dtype, w_shape, stride, pad, size, limits, opset, has_addend, 1 if joins else 2)


def test_limits_that_the_run_brings():
    check('float32', (4, 1, 3, 3), 1, 1, (7, 7), (0, 0.5), 13, False, 2, is_constant=False)


def test_nan_and_infinity():
    """As in Clip and Relu by themselves: NaN stays, infinities meet the limits."""
    w, b = np.ones((4, 1, 1, 1), 'f'), np.zeros(4, 'f')
    x = np.tile(np.array([np.nan, np.inf, -np.inf, -1, 7, -0.0], 'f'), (1, 4, 2, 1))
    for limits in (0, 6), (0, None):
        model = limited_model(w, b, 1, 0, limits, 13, False)
        y = chainerx.to_numpy(chainerx.onnx.load(model.SerializeToString())(x))
        np.testing.assert_array_equal(y, np.clip(x, *limits))
