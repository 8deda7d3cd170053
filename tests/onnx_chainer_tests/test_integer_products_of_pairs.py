"""Products between pairs of QuantizeLinear and DequantizeLinear, which the runner does in integers."""

import numpy as np
import pytest

import chainerx
from chainer import quantization

onnx = pytest.importorskip('onnx')
from onnx import helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

pytestmark = pytest.mark.chainerx

INNER = 600


def _node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs, [output], **attributes)


def _model(nodes, arrays, shape, opset=21):
    graph = helper.make_graph(
        nodes,
        'pairs',
        [helper.make_tensor_value_info('x', onnx.TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info('y', onnx.TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in arrays.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)])
    model.ir_version = 10
    return model


def _run(model, x):
    return chainerx.to_numpy(chainerx.onnx.load(model.SerializeToString())(x))


def _parts(columns=7, transposed=False, kind='uint8', zeros='none', per_column=True):
    random = np.random.RandomState(0)
    shape = (columns, INNER) if transposed else (INNER, columns)
    length = (columns,) if per_column else ()
    arrays = {
        'x_scale': np.array(0.02, np.float32),
        'x_zero': np.array(131 if kind == 'uint8' else -3, kind),
        'w': random.randint(-127, 128, shape).astype(np.int8),
        'w_scale': random.uniform(0.01, 0.1, length).astype(np.float32).reshape(length),
    }
    if zeros == 'one':
        arrays['w_zero'] = np.full(length, -7, np.int8)
    elif zeros == 'each':
        arrays['w_zero'] = random.randint(-9, 9, length).astype(np.int8).reshape(length)
    axis = {'axis': 0 if transposed else -1} if per_column else {}
    nodes = [
        _node('QuantizeLinear', ['x', 'x_scale', 'x_zero'], 'q'),
        _node('DequantizeLinear', ['q', 'x_scale', 'x_zero'], 'dx'),
        _node(
            'DequantizeLinear', ['w', 'w_scale', *sorted({'w_zero'} & set(arrays))], 'dw', **axis
        ),
    ]
    return nodes, arrays


def _numbers_of(arrays, x, transposed):
    """The numbers that the integers mean, of float64, and the product of the integers."""
    low, high = np.iinfo(arrays['x_zero'].dtype).min, np.iinfo(arrays['x_zero'].dtype).max
    zero = int(arrays['x_zero'])
    q = np.clip(np.rint(x / arrays['x_scale']) + zero, low, high).astype(np.int64) - zero
    w = arrays['w'].T if transposed else arrays['w']
    w = w.astype(np.int64) - arrays.get('w_zero', np.zeros((), np.int8)).astype(np.int64)
    return (q @ w) * (arrays['x_scale'].astype(np.float64) * arrays['w_scale'])


def _x(*shape):
    return np.random.RandomState(1).uniform(-3, 3, shape).astype(np.float32)


CASES = [
    # Operator, its attributes, parts, shape of the input
    ('MatMul', {}, {}, (3, INNER)),
    ('MatMul', {}, {'kind': 'int8'}, (3, INNER)),
    ('MatMul', {}, {'per_column': False, 'zeros': 'one'}, (3, INNER)),
    ('MatMul', {}, {'zeros': 'each', 'columns': 64}, (2, 5, INNER)),
    ('MatMul', {}, {'columns': 1}, (INNER,)),
    ('Gemm', {'transB': 1}, {'transposed': True}, (4, INNER)),
    ('Gemm', {'transB': 1}, {'transposed': True, 'zeros': 'each', 'kind': 'int8'}, (1, INNER)),
    ('Gemm', {}, {'zeros': 'one'}, (33, INNER)),
]


@pytest.mark.parametrize('relu', [False, True])
@pytest.mark.parametrize(
    ('op', 'attributes', 'parts', 'shape'), CASES, ids=[str(i) for i in range(len(CASES))]
)
def test_sums_are_exact(op, attributes, parts, shape, relu):
    """Sums of floats would lose more than the last bit of numbers that cancel each other."""
    nodes, arrays = _parts(**parts)
    nodes.append(_node(op, ['dx', 'dw'], 'z' if relu else 'y', **attributes))
    if relu:
        nodes.append(_node('Relu', ['z'], 'y'))
    x = _x(*shape)
    model = _model(nodes, arrays, shape)
    assert len(chainerx.onnx.load(model.SerializeToString()).steps) == 2
    y = _run(model, x)
    expected = _numbers_of(arrays, x, parts.get('transposed', False))
    expected = np.maximum(expected, 0) if relu else expected
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, expected, rtol=4e-7)


@pytest.mark.parametrize('relu', [False, True])
@pytest.mark.parametrize('form', ['Gemm', 'Gemm of a row', 'Add'])
def test_bias(form, relu):
    nodes, arrays = _parts()
    bias = np.random.RandomState(2).normal(size=7).astype(np.float32)
    arrays['b'] = bias[None] if form == 'Gemm of a row' else bias
    out = 'z' if relu else 'y'
    if form == 'Add':
        nodes += [_node('MatMul', ['dx', 'dw'], 'm'), _node('Add', ['m', 'b'], out)]
    else:
        nodes.append(_node('Gemm', ['dx', 'dw', 'b'], out))
    if relu:
        nodes.append(_node('Relu', ['z'], 'y'))
    x = _x(3, INNER)
    product = _numbers_of(arrays, x, False)
    y = _run(_model(nodes, arrays, x.shape), x)
    expected = np.maximum(product + bias, 0) if relu else product + bias
    error = np.finfo(np.float32).eps * (abs(product) + abs(bias))
    assert (abs(y - expected) <= 2 * error).all()


def _other(change):
    """A model that has no such product, by a change of one that has it."""
    nodes, arrays = _parts(per_column=False, zeros='one')
    shape, attributes, inputs = (4, INNER), {}, ['dx', 'dw']
    if change == 'transA':
        shape, attributes = (INNER, 4), {'transA': 1}
    elif change == 'alpha':
        attributes = {'alpha': 0.5}
    elif change == 'matrix':
        arrays['c'] = _x(4, 7)
        inputs = [*inputs, 'c']
    elif change == 'beta':
        arrays['c'] = _x(7)
        inputs, attributes = [*inputs, 'c'], {'beta': 2.0}
    elif change == 'column of biases':
        arrays['c'] = _x(7, 1)
        inputs, shape = [*inputs, 'c'], (7, INNER)
    elif change == 'blocks':
        arrays['w_scale'] = np.abs(_x(6, 7)) + 0.1
        arrays['w_zero'] = np.zeros((6, 7), np.int8)
        nodes[2] = _node(
            'DequantizeLinear', ['w', 'w_scale', 'w_zero'], 'dw', axis=0, block_size=100
        )
    elif change == 'scales of rows':
        arrays['w_scale'] = np.abs(_x(INNER)) + 0.1
        arrays['w_zero'] = np.zeros(INNER, np.int8)
        nodes[2] = _node('DequantizeLinear', ['w', 'w_scale', 'w_zero'], 'dw', axis=0)
    elif change == 'scales of the input':
        arrays['x_scale'] = np.abs(_x(4)) + 0.1
        arrays['x_zero'] = np.zeros(4, np.uint8)
        for i, (op, value) in enumerate([('QuantizeLinear', 'x'), ('DequantizeLinear', 'q')]):
            nodes[i] = _node(op, [value, 'x_scale', 'x_zero'], nodes[i].output[0], axis=0)
    elif change == '16 bits':
        arrays['w'] = arrays['w'].astype(np.int16) * 100
        arrays['w_zero'] = arrays['w_zero'].astype(np.int16)
    elif change == 'no zero point':
        nodes[1] = _node('DequantizeLinear', ['q', 'x_scale'], 'dx')
    nodes.append(_node('Gemm', inputs, 'y', **attributes))
    return nodes, arrays, shape


@pytest.mark.parametrize(
    'change',
    [
        'transA',
        'alpha',
        'matrix',
        'beta',
        'column of biases',
        'blocks',
        'scales of rows',
        'scales of the input',
        '16 bits',
        'no zero point',
    ],
)
def test_other_products(change):
    nodes, arrays, shape = _other(change)
    model = _model(nodes, arrays, shape)
    x = _x(*shape)
    expected = ReferenceEvaluator(model).run(None, {'x': x})[0]
    np.testing.assert_allclose(_run(model, x), expected, rtol=1e-4, atol=2e-2)


def test_numbers_that_are_used_elsewhere():
    """The weight and the rounded input are outputs, too, and another product has them."""
    nodes, arrays = _parts(columns=INNER)
    nodes += [
        _node('MatMul', ['dx', 'dw'], 'a'),
        _node('Add', ['a', 'dx'], 'b'),
        _node('MatMul', ['b', 'dw'], 'y'),
    ]
    x = _x(2, INNER)
    model = _model(nodes, arrays, x.shape)
    expected = ReferenceEvaluator(model).run(None, {'x': x})[0]
    np.testing.assert_allclose(_run(model, x), expected, rtol=1e-4, atol=0.5)


def test_integers_of_another_dtype_than_their_zero_point():
    """A hostile file: the input is of the dtype of the graph, not of the zero point."""
    nodes, arrays = _parts()
    nodes[0] = _node('Identity', ['x'], 'q')
    nodes.append(_node('MatMul', ['dx', 'dw'], 'y'))
    graph = helper.make_graph(
        nodes,
        'pairs',
        [helper.make_tensor_value_info('x', onnx.TensorProto.INT32, (2, INNER))],
        [helper.make_tensor_value_info('y', onnx.TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in arrays.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 21)])
    run = chainerx.onnx.load(model.SerializeToString())
    with pytest.raises(chainerx.ChainerxError):
        run(np.ones((2, INNER), np.int32))


def test_quantization_of_this_package_agrees():
    """The rounding of the input is that of `chainer.quantization`."""
    nodes, arrays = _parts(per_column=False)
    nodes.append(_node('MatMul', ['dx', 'dw'], 'y'))
    x = _x(3, INNER)
    rounded = quantization.dequantize_linear(
        quantization.quantize_linear(x, arrays['x_scale'], arrays['x_zero']),
        arrays['x_scale'],
        arrays['x_zero'],
    ).array
    expected = rounded.astype(float) @ (arrays['w'] * arrays['w_scale'].astype(float))
    y = _run(_model(nodes, arrays, x.shape), x)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-3)
