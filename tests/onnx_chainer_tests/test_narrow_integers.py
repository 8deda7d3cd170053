"""Integers of four and two bits, which the runner reads for DequantizeLinear."""

import itertools

import numpy as np
import pytest

import chainerx

onnx = pytest.importorskip('onnx')
from onnx import TensorProto, helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

pytestmark = [
    pytest.mark.chainerx,
    pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built'),
]

KINDS = ['INT4', 'UINT4', *(name for name in ('INT2', 'UINT2') if hasattr(TensorProto, name))]
LIMITS = {'INT4': (-8, 7), 'UINT4': (0, 15), 'INT2': (-2, 1), 'UINT2': (0, 3)}
OPSET = {'INT4': 21, 'UINT4': 21, 'INT2': 25, 'UINT2': 25}


def numbers(kind, *shape):
    low, high = LIMITS[kind]
    return np.random.RandomState(0).randint(low, high + 1, shape)


def packed(kind, values, name, raw=True):
    """A tensor of the integers, the first of which is in the lowest bits of a byte."""
    bits = int(kind[-1])
    count = 8 // bits
    flat = values.ravel() & ((1 << bits) - 1)
    flat = np.pad(flat, (0, -len(flat) % count)).reshape(-1, count)
    data = (flat << (np.arange(count) * bits)).sum(1).astype(np.uint8)
    tensor = TensorProto(name=name, dims=values.shape, data_type=getattr(TensorProto, kind))
    if raw:
        tensor.raw_data = data.tobytes()
    else:
        tensor.int32_data.extend(data.tolist())
    return tensor


def model_of(nodes, initializers, x_shape, opset=21):
    graph = helper.make_graph(
        nodes,
        'narrow',
        [helper.make_tensor_value_info('x', TensorProto.FLOAT, x_shape)],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)],
        initializers,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=10)


def run(model, x):
    return chainerx.to_numpy(chainerx.onnx.load(model.SerializeToString())(x))


def tensor(array, name):
    return onnx.numpy_helper.from_array(array, name)


# The axis of scales and their shape, and the length of blocks, of a weight of 5 rows and 7 columns
SCALES = [(1, (), 0), (0, (5,), 0), (-1, (7,), 0), (0, (2, 7), 3), (1, (5, 4), 2)]


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize(('axis', 'shape', 'block'), SCALES)
def test_products(kind, axis, shape, block):
    """They are those of the numbers that the integers mean, with and without zero points."""
    w = numbers(kind, 5, 7)
    scale = np.random.RandomState(1).uniform(0.1, 1, shape).astype('f')
    x = np.random.RandomState(2).normal(size=(3, 5)).astype('f')
    for has_zero, raw in itertools.product([False, True], repeat=2):
        zero = numbers(kind, *shape)
        names = ['w', 'scale', 'zero'][: 2 + has_zero]
        more = {'block_size': block} if block else {}
        nodes = [
            helper.make_node('DequantizeLinear', names, ['dw'], axis=axis, **more),
            helper.make_node('MatMul', ['x', 'dw'], ['y']),
        ]
        arrays = [
            packed(kind, w, 'w', raw),
            tensor(scale, 'scale'),
            packed(kind, zero, 'zero', raw),
        ]
        y = run(model_of(nodes, arrays[: 2 + has_zero], x.shape, OPSET[kind]), x)

        def along(a, axis=axis, shape=shape, block=block):
            a = np.asarray(a, 'd')
            if block:
                return np.repeat(a, block, axis)[:5, :7]
            return np.expand_dims(a, [i for i in (0, 1) if i != axis % 2]) if shape else a

        expected = x @ ((w - (along(zero) if has_zero else 0)) * along(scale))
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize('size', [0, 1, 2, 3, 8, 9])
@pytest.mark.parametrize('kind', KINDS)
def test_every_length(kind, size):
    w = numbers(kind, size)
    nodes = [
        helper.make_node('DequantizeLinear', ['w', 'scale'], ['dw']),
        helper.make_node('Add', ['x', 'dw'], ['y']),
    ]
    arrays = [packed(kind, w, 'w'), tensor(np.array(0.5, 'f'), 'scale')]
    model = model_of(nodes, arrays, (size,), OPSET[kind])
    x = np.zeros(size, 'f')
    np.testing.assert_array_equal(run(model, x), w * 0.5)
    if kind in ('INT4', 'UINT4') and size:
        expected = ReferenceEvaluator(model).run(None, {'x': x})[0]
        np.testing.assert_array_equal(run(model, x), expected)


def test_data_in_another_file(tmp_path):
    w = numbers('INT4', 5, 7)
    weight = packed('INT4', w, 'w')
    (tmp_path / 'data').write_bytes(b'xyz' + weight.raw_data)
    weight.ClearField('raw_data')
    weight.data_location = TensorProto.EXTERNAL
    for key, value in {'location': 'data', 'offset': '3', 'length': '18'}.items():
        weight.external_data.add(key=key, value=value)
    nodes = [
        helper.make_node('DequantizeLinear', ['w', 'scale'], ['dw']),
        helper.make_node('MatMul', ['x', 'dw'], ['y']),
    ]
    model = model_of(nodes, [weight, tensor(np.array(0.5, 'f'), 'scale')], (2, 5))
    (tmp_path / 'model.onnx').write_bytes(model.SerializeToString())
    y = chainerx.onnx.load(tmp_path / 'model.onnx')(np.ones((2, 5), 'f'))
    np.testing.assert_allclose(chainerx.to_numpy(y), np.tile(w.sum(0) * 0.5, (2, 1)))


@pytest.mark.parametrize('use', ['MatMul', 'Identity', 'scale', 'output', 'body'])
def test_other_uses_are_refused(use):
    """They would see integers of another type."""
    weight = packed('INT4', numbers('INT4', 5, 7), 'w')
    nodes = {
        'MatMul': [helper.make_node('MatMul', ['x', 'w'], ['y'])],
        'Identity': [helper.make_node('Identity', ['w'], ['y'])],
        'scale': [helper.make_node('DequantizeLinear', ['w', 'w'], ['y'])],
        'output': [helper.make_node('Identity', ['x'], ['y'])],
        'body': [
            helper.make_node('Cast', ['x'], ['b'], to=TensorProto.BOOL),
            helper.make_node(
                'If',
                ['b'],
                ['y'],
                **{
                    branch: helper.make_graph(
                        [helper.make_node('Cast', ['w'], ['o'], to=TensorProto.FLOAT)],
                        branch,
                        [],
                        [helper.make_tensor_value_info('o', TensorProto.FLOAT, None)],
                    )
                    for branch in ('then_branch', 'else_branch')
                },
            ),
        ],
    }[use]
    model = model_of(nodes, [weight], ())
    if use == 'output':
        model.graph.output.append(helper.make_tensor_value_info('w', TensorProto.FLOAT, None))
    with pytest.raises(chainerx.ModelError, match='narrower than a byte'):
        chainerx.onnx.load(model.SerializeToString())


@pytest.mark.parametrize('damage', ['short', 'long', 'huge', 'negative', 'none'])
def test_wrong_sizes_are_refused(damage):
    weight = packed('INT4', numbers('INT4', 5, 7), 'w')
    if damage in ('short', 'long'):
        weight.raw_data = weight.raw_data[:-1] if damage == 'short' else weight.raw_data + b'0'
    elif damage == 'none':
        weight.ClearField('raw_data')
    else:
        weight.dims[0] = 2**62 if damage == 'huge' else -5
    nodes = [helper.make_node('DequantizeLinear', ['w', 'scale'], ['y'])]
    model = model_of(nodes, [weight, tensor(np.array(0.5, 'f'), 'scale')], ())
    with pytest.raises(chainerx.ModelError, match="tensor 'w'"):
        chainerx.onnx.load(model.SerializeToString())
