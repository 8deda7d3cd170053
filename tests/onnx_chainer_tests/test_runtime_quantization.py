"""Operators on bytes that ONNX Runtime adds to those of ONNX, in both loaders."""

import numpy as np
import pytest

onnx = pytest.importorskip('onnx')
onnxruntime = pytest.importorskip('onnxruntime')
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx_chainer_tests import helpers_of_runtime  # noqa: E402
from onnx_chainer_tests.test_integers import numbers, runtime  # noqa: E402

pytestmark = pytest.mark.chainerx

FLOAT = np.float32
SHAPE = (2, 4, 6, 5)


def scale(value):
    return np.array(value, FLOAT)


def zero(dtype, value=None):
    value = {'uint8': 120, 'int8': -5}[dtype] if value is None else value
    return np.array(value, dtype)


def model_of(op, inputs, fed, attributes):
    """A file with a node; ``inputs`` are arrays, or None, of which the first ones are fed."""
    names = ['' if x is None else f'i{n}' for n, x in enumerate(inputs)]
    node = helper.make_node(op, names, ['y'], domain='com.microsoft', **attributes)
    infos = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(x.dtype), [None] * x.ndim
        )
        for name, x in zip(names, inputs, strict=True)
        if name in fed
    ]
    constants = [
        numpy_helper.from_array(x, name)
        for name, x in zip(names, inputs, strict=True)
        if name and name not in fed
    ]
    y = helper.make_empty_tensor_value_info('y')
    graph = helper.make_graph([node], 'runtime', infos, [y], constants)
    opsets = [helper.make_opsetid('', 17), helper.make_opsetid('com.microsoft', 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def run(loader, model, *xs):
    (y,) = loader.load(model)(*xs)
    return y


def both(loader, op, inputs, fed, **attributes):
    """What a loader and ONNX Runtime give."""
    model = model_of(op, inputs, fed, attributes)
    feeds = {name: inputs[int(name[1:])] for name in fed}
    return run(loader, model, *feeds.values()), runtime(model, feeds)


def check(loader, op, inputs, fed, tolerance=1, **attributes):
    y, expected = both(loader, op, inputs, fed, **attributes)
    assert expected is not None
    (expected,) = expected
    assert y.dtype == expected.dtype and y.shape == expected.shape
    if y.dtype == FLOAT:
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)
        return
    # Halves may be rounded to either side after scales in another order.
    difference = abs(y.astype('i') - expected)
    assert difference.max(initial=0) <= tolerance
    assert (difference > 0).mean() < 0.1
    assert len(np.unique(y)) > 8


def pair(dtype, seed, unit, shape=SHAPE, with_zero=True):
    return [numbers(shape, dtype, seed), scale(unit), zero(dtype) if with_zero else None]


@pytest.mark.parametrize('dtype', ['uint8', 'int8'])
@pytest.mark.parametrize('op', ['QLinearAdd', 'QLinearMul'])
@pytest.mark.parametrize('other', [SHAPE, (1, 4, 1, 1), (5,)])
def test_elementwise(loader, op, other, dtype):
    inputs = [*pair(dtype, 0, 0.02), *pair(dtype, 1, 0.03, other), scale(0.05), zero(dtype)]
    check(loader, op, inputs, ['i0', 'i3'])
    check(loader, op, inputs, ['i0'])


@pytest.mark.parametrize('dtype', ['uint8', 'int8'])
@pytest.mark.parametrize('op', ['QLinearAdd', 'QLinearMul'])
def test_missing_zero_points_are_zero(loader, op, dtype):
    """ONNX Runtime's inference of types fails on them."""
    zeros = [zero(dtype, 0)] * 3
    parts = [*pair(dtype, 0, 0.02)[:2], *pair(dtype, 1, 0.03)[:2], scale(0.05)]
    with_zeros = [*parts[:2], zeros[0], *parts[2:4], zeros[1], parts[4], zeros[2]]
    ys = []
    for inputs in with_zeros, [*parts[:2], None, *parts[2:4], None, parts[4]]:
        model = model_of(op, inputs, ['i0', 'i3'], {})
        ys.append(run(loader, model, inputs[0], inputs[3]))
    assert ys[0].dtype == dtype
    np.testing.assert_array_equal(*ys)


@pytest.mark.parametrize('dtype', ['uint8', 'int8'])
def test_concatenation(loader, dtype):
    inputs = [scale(0.04), zero(dtype)]
    for seed, width in enumerate((3, 1, 4)):
        inputs += pair(dtype, seed, 0.02 + 0.01 * seed, (2, width, 5))
    check(loader, 'QLinearConcat', inputs, ['i2', 'i5', 'i8'], axis=1)


@pytest.mark.parametrize('dtype', ['uint8', 'int8'])
@pytest.mark.parametrize('channels_last', [0, 1])
def test_global_average(loader, dtype, channels_last):
    inputs = [*pair(dtype, 0, 0.02, (3, 7, 9, 9)), scale(0.004), zero(dtype)]
    check(loader, 'QLinearGlobalAveragePool', inputs, ['i0'], channels_last=channels_last)


@pytest.mark.parametrize('dtype', ['uint8', 'int8'])
@pytest.mark.parametrize(
    'attributes',
    [
        {'kernel_shape': [3, 3]},
        {'kernel_shape': [3, 2], 'strides': [2, 1], 'pads': [1, 0, 1, 1]},
        {'kernel_shape': [3, 3], 'pads': [1, 1, 1, 1], 'count_include_pad': 1},
    ],
)
def test_average(loader, dtype, attributes):
    inputs = [*pair(dtype, 0, 0.02), scale(0.01), zero(dtype)]
    check(loader, 'QLinearAveragePool', inputs, ['i0'], **attributes)


@pytest.mark.parametrize('dtype', ['uint8', 'int8'])
@pytest.mark.parametrize('op', ['QLinearSigmoid', 'QLinearLeakyRelu'])
def test_activations(loader, op, dtype):
    inputs = [*pair(dtype, 0, 0.04), scale(0.02), zero(dtype, 3)]
    attributes = {'alpha': 0.2} if op == 'QLinearLeakyRelu' else {}
    check(loader, op, inputs, ['i0'], **attributes)


@pytest.mark.parametrize('dtype', ['uint8', 'int8'])
@pytest.mark.parametrize(('opset', 'axis'), [(13, -1), (13, 1), (12, 1), (12, 3)])
def test_softmax(loader, dtype, opset, axis):
    inputs = [*pair(dtype, 0, 0.02), scale(1 / 256), zero(dtype, 0 if dtype == 'uint8' else -128)]
    y, expected = both(loader, 'QLinearSoftmax', inputs, ['i0'], axis=axis, opset=opset)
    assert y.dtype == dtype and abs(y.astype('i') - expected[0]).max() <= 1


@pytest.mark.parametrize('dtype', ['uint8', 'int8'])
def test_where(loader, dtype):
    condition = np.random.RandomState(3).rand(*SHAPE) < 0.5
    inputs = [condition, *pair(dtype, 0, 0.02), *pair(dtype, 1, 0.03), scale(0.04), zero(dtype)]
    check(loader, 'QLinearWhere', inputs, ['i0', 'i1', 'i4'])


@pytest.mark.parametrize('dtype', ['uint8', 'int8'])
@pytest.mark.parametrize('transposed', [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize('columns', [(), (6,)])
@pytest.mark.parametrize('result', ['bytes', 'float'])
@pytest.mark.parametrize('fed', [['i0'], ['i0', 'i3']])
def test_gemm(loader, dtype, transposed, columns, result, fed):
    random = np.random.RandomState(4)
    a = numbers((9, 5) if transposed[0] else (5, 9), dtype)
    b = helpers_of_runtime.in_range(numbers((6, 9) if transposed[1] else (9, 6), 'int8', 1))
    b_scale = random.uniform(0.01, 0.02, columns).astype(FLOAT)
    c = random.randint(-2000, 2000, 6).astype('i')
    inputs = [a, scale(0.02), zero(dtype), b, np.asarray(b_scale), np.zeros(columns, 'b'), c]
    if result == 'bytes':
        inputs += [scale(0.3), zero(dtype)]
    transA, transB = transposed
    check(loader, 'QGemm', inputs, fed, transA=transA, transB=transB, alpha=0.5)


@pytest.mark.parametrize(
    ('op', 'inputs', 'attributes'),
    [
        ('QLinearAdd', [*pair('uint8', 0, 1), *pair('uint8', 0, 1, (7,)), scale(1)], {}),
        ('QLinearAdd', [*pair('uint8', 0, 1), *pair('uint8', 0, 1), np.ones(2, 'f')], {}),
        (
            'QLinearAdd',
            [*pair('uint8', 0, 1)[:2], zero('int8'), *pair('uint8', 0, 1), scale(1)],
            {},
        ),
        ('QLinearConcat', [scale(1), zero('int8'), *pair('int8', 0, 1)[:2]], {'axis': 0}),
        ('QLinearConcat', [scale(1), zero('int8'), *pair('int8', 0, 1)], {'axis': 9}),
        ('QLinearSigmoid', [numbers((3,), 'uint8'), np.ones(3, 'f'), None, scale(1)], {}),
        ('QLinearSoftmax', [*pair('int8', 0, 1), scale(1), zero('int8')], {'axis': 4, 'opset': 13}),
        ('QLinearAveragePool', [*pair('int8', 0, 1), scale(1)], {'kernel_shape': [9, 9]}),
        (
            'QLinearAveragePool',
            [*pair('int8', 0, 1), scale(1)],
            {'kernel_shape': [2, 2], 'auto_pad': 'SAME_UPPER'},
        ),
        (
            'QLinearAveragePool',
            [*pair('int8', 0, 1), scale(1)],
            {'kernel_shape': [2, 2], 'channels_last': 1},
        ),
        ('QGemm', [*pair('int8', 0, 1, (2, 3)), *pair('int8', 0, 1, (4, 3))], {}),
        ('QGemm', [*pair('int8', 0, 1, (2, 3)), *pair('int8', 0, 1, (3,))], {}),
        ('QGemm', [*pair('int8', 0, 1, (2, 3)), *pair('int8', 0, 1, (3, 4)), np.ones(3, 'i')], {}),
    ],
)
def test_wrong_nodes(loader, op, inputs, attributes):
    for fed in (['i0'], []):
        model = model_of(op, inputs, fed, attributes)
        with pytest.raises(loader.error, match=op):
            loader.load(model)(*[inputs[int(name[1:])] for name in fed])


def network():
    """Branches of convolutions that meet in operators of every kind that is quantized."""
    random = np.random.RandomState(0)
    arrays = {
        'w1': random.normal(size=(8, 3, 3, 3), scale=0.3),
        'b1': random.normal(size=8),
        'w2': random.normal(size=(8, 1, 3, 3), scale=0.3),
        'w3': random.normal(size=(16, 6), scale=0.3),
        'b3': random.normal(size=6),
        'm': random.normal(size=(6, 6)),
    }
    nodes = [
        helper.make_node('Conv', ['x', 'w1', 'b1'], ['h1'], pads=[1, 1, 1, 1]),
        helper.make_node('Relu', ['h1'], ['h2']),
        helper.make_node('MaxPool', ['h2'], ['h3'], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node('Conv', ['h3', 'w2'], ['h4'], group=8, pads=[1, 1, 1, 1]),
        helper.make_node('Add', ['h3', 'h4'], ['h5']),
        helper.make_node('Sigmoid', ['h5'], ['h6']),
        helper.make_node('Mul', ['h5', 'h6'], ['h7']),
        helper.make_node('AveragePool', ['h7'], ['h8'], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node('Concat', ['h7', 'h8'], ['h9'], axis=1),
        helper.make_node('GlobalAveragePool', ['h9'], ['h10']),
        helper.make_node('Flatten', ['h10'], ['h11']),
        helper.make_node('Gemm', ['h11', 'w3', 'b3'], ['h12']),
        helper.make_node('LeakyRelu', ['h12'], ['h13'], alpha=0.1),
        helper.make_node('MatMul', ['h13', 'm'], ['h14']),
        helper.make_node('Softmax', ['h14'], ['y']),
    ]
    graph = helper.make_graph(
        nodes,
        'network',
        [helper.make_tensor_value_info('x', TensorProto.FLOAT, [2, 3, 12, 12])],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, [2, 6])],
        [numpy_helper.from_array(a.astype(FLOAT), name) for name, a in arrays.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)


@pytest.mark.parametrize('per_channel', [False, True])
@pytest.mark.parametrize('form', ['QOperator', 'QDQ'])
def test_networks_of_quantize_static(loader, form, per_channel, tmp_path):
    """What ONNX Runtime's quantizer writes runs, and gives what ONNX Runtime gives."""
    quantization = pytest.importorskip('onnxruntime.quantization')
    x = np.random.RandomState(1).normal(size=(2, 3, 12, 12)).astype(FLOAT)

    class Reader(quantization.CalibrationDataReader):
        feeds = iter([{'x': x}])

        def get_next(self):
            return next(self.feeds, None)

    paths = [str(tmp_path / name) for name in ('model.onnx', 'small.onnx')]
    onnx.save(network(), paths[0])
    quantization.quantize_static(
        *paths,
        Reader(),
        quant_format=quantization.QuantFormat[form],
        per_channel=per_channel,
        reduce_range=helpers_of_runtime.saturates(),
    )
    ops = {node.op_type for node in onnx.load(paths[1]).graph.node}
    if form == 'QOperator':
        assert {'QLinearAdd', 'QLinearMul', 'QLinearConcat', 'QLinearSigmoid', 'QGemm'} <= ops
    y = run(loader, paths[1], x)
    (expected,) = onnxruntime.InferenceSession(paths[1]).run(None, {'x': x})
    np.testing.assert_allclose(y, expected, atol=0.02)
    exact = run(loader, paths[0], x)
    np.testing.assert_allclose(y, exact, atol=0.15)
