"""MatMulNBits of ONNX Runtime, in both loaders, beside NumPy and ONNX Runtime."""

import numpy as np
import pytest

onnx = pytest.importorskip('onnx')
onnxruntime = pytest.importorskip('onnxruntime')
from onnx import helper, numpy_helper  # noqa: E402

import chainer  # noqa: E402
import chainerx  # noqa: E402
import onnx_chainer  # noqa: E402

needs_chainerx = pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built')
pytestmark = pytest.mark.chainerx


def packed(integers, bits):
    """Integers of 2, 4 or 8 bits in bytes along the last axis, the first in the lowest bits."""
    per_byte = 8 // bits
    missing = -integers.shape[-1] % per_byte
    integers = np.pad(integers, [(0, 0)] * (integers.ndim - 1) + [(0, missing)])
    parts = integers.reshape(*integers.shape[:-1], -1, per_byte).astype(np.uint8)
    return np.bitwise_or.reduce(parts << np.arange(0, 8, bits, dtype=np.uint8), axis=-1)


class Weights:
    """A matrix (N, K) and the inputs of a node that are it."""

    def __init__(self, K, N, bits=4, block=32, dtype='f', zeros=False, bias=False, flat=False):
        random = np.random.RandomState(K + N)
        blocks = -(-K // block)
        q = random.randint(0, 2**bits, (N, blocks * block))
        scales = random.uniform(0.01, 0.02, (N, blocks)).astype(dtype)
        zero = (
            random.randint(0, 2**bits, (N, blocks))
            if zeros
            else np.full((N, blocks), 2 ** (bits - 1))
        )
        numbers = (q - np.repeat(zero, block, 1)) * np.repeat(scales.astype('d'), block, 1)
        self.matrix = numbers[:, :K]
        self.bias = random.normal(size=N).astype(dtype) if bias else None
        zero_points = packed(zero, bits) if zeros else None
        if zeros == 'float':
            zero_points = zero.astype(dtype)
        if flat:
            scales = scales.ravel()
            zero_points = None if zero_points is None else zero_points.ravel()
        B = packed(q, bits).reshape(N, blocks, block * bits // 8)
        self.inputs = [B, scales, zero_points, None, self.bias]
        self.attributes = {'K': K, 'N': N, 'bits': bits, 'block_size': block}

    def product(self, x):
        y = x.astype('d') @ self.matrix.T
        return y if self.bias is None else y + self.bias

    def model(self, x, fed=False, relu=False, **attributes):
        return model_of(x, self.inputs, {**self.attributes, **attributes}, fed, relu)


def model_of(x, weights, attributes, fed=False, relu=False):
    """A file with a node. ``fed``: whether the weights are inputs, too."""
    inputs = [x, *weights]
    while inputs[-1] is None:
        inputs.pop()
    names = ['' if each is None else f'i{i}' for i, each in enumerate(inputs)]
    nodes = [
        helper.make_node(
            'MatMulNBits', names, ['h'], 'culprit', domain='com.microsoft', **attributes
        )
    ]
    nodes.append(helper.make_node('Relu' if relu else 'Identity', ['h'], ['y']))
    arrays = [(name, each) for name, each in zip(names, inputs) if name]
    constants = [] if fed else [numpy_helper.from_array(each, n) for n, each in arrays[1:]]
    infos = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(each.dtype), [None] * each.ndim
        )
        for name, each in (arrays if fed else arrays[:1])
    ]
    y = helper.make_tensor_value_info('y', helper.np_dtype_to_tensor_dtype(x.dtype), None)
    graph = helper.make_graph(nodes, 'graph', infos, [y], constants)
    opsets = [helper.make_opsetid('', 21), helper.make_opsetid('com.microsoft', 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def rows(*shape, dtype='f'):
    return np.random.RandomState(7).normal(size=shape).astype(dtype)


def run(loader, model, *xs):
    (y,) = loader.load(model)(*xs)
    return y


SHAPES = [(64, 48), (100, 17), (16, 33), (1000, 65)]


@pytest.mark.parametrize('bits', [2, 4, 8])
@pytest.mark.parametrize('block', [16, 32, 256])
@pytest.mark.parametrize('zeros', [False, True, 'float'])
def test_products(loader, bits, block, zeros):
    for i, (K, N) in enumerate(SHAPES):
        weights = Weights(K, N, bits, block, zeros=zeros, bias=i % 2 == 1, flat=i % 3 == 1)
        for shape in [(1, K), (2, 3, K)] + [(33, K), (K,), (0, K)] * (i == 0):
            x = rows(*shape)
            y = run(loader, weights.model(x), x)
            assert y.dtype == x.dtype and y.shape == (*shape[:-1], N)
            np.testing.assert_allclose(y, weights.product(x), rtol=1e-5, atol=2e-4)


@pytest.mark.parametrize('bits', [4, 8])
@pytest.mark.parametrize('zeros', [False, True])
@pytest.mark.parametrize('level', [0, 1, 4])
def test_onnxruntime(loader, bits, zeros, level):
    weights = Weights(256, 96, bits, 32, zeros=zeros)
    for n in 1, 5:
        x = rows(n, 256)
        model = weights.model(x, accuracy_level=level)
        (expected,) = onnxruntime.InferenceSession(model).run(None, {'i0': x})
        y = run(loader, model, x)
        # Of 8 bits, with which level 4 may compute, some rounding differs.
        atol = 0.02 * abs(expected).max() if level == 4 else 2e-4
        np.testing.assert_allclose(y, expected, atol=atol, rtol=1e-5)


@pytest.mark.parametrize('dtype', ['f', 'e'])
@pytest.mark.parametrize('relu', [False, True])
def test_weights_that_are_fed(loader, dtype, relu):
    weights = Weights(96, 20, zeros=True, bias=True, dtype=dtype)
    x = rows(4, 96, dtype=dtype)
    expected = weights.product(x)
    if relu:
        expected = np.maximum(expected, 0)
    arrays = [each for each in weights.inputs if each is not None]
    tolerance = 1e-4 if dtype == 'f' else 1e-2
    for fed in True, False:
        y = run(loader, weights.model(x, fed, relu), x, *(arrays if fed else ()))
        assert y.dtype == x.dtype
        np.testing.assert_allclose(y, expected, rtol=tolerance, atol=tolerance)


def test_gradient():
    """The importer gives the gradient of the operand that is not quantized."""
    weights = Weights(64, 10)
    x = chainer.Variable(rows(3, 64))
    y = onnx_chainer.load(onnx.load_from_string(weights.model(x.array)))(x)
    y.grad = np.ones_like(y.array)
    y.backward()
    np.testing.assert_allclose(x.grad, np.tile(weights.matrix.sum(0), (3, 1)), rtol=1e-4)


@needs_chainerx
def test_bias_and_relu_are_parts():
    """A sum with a constant and a Relu behind a product become a step with it."""
    weights = Weights(64, 24)
    x, b = rows(5, 64), rows(24)
    model = onnx.load_from_string(weights.model(x))
    graph = model.graph
    del graph.node[1]
    graph.node.append(helper.make_node('Add', ['h', 'b'], ['s']))
    graph.node.append(helper.make_node('Relu', ['s'], ['y']))
    graph.initializer.append(numpy_helper.from_array(b, 'b'))
    runner = chainerx._core._load_onnx_bytes(model.SerializeToString())
    assert len(runner.steps) == 1
    y = chainerx.to_numpy(runner(x))
    np.testing.assert_allclose(y, np.maximum(weights.product(x) + b, 0), atol=2e-4)


def _wrong():
    """Arguments of models that no loader takes: inputs by number, and attributes."""
    good = Weights(64, 8, zeros=True, bias=True)
    B, scales, zeros, _, bias = good.inputs
    for attributes in (
        *({'block_size': size} for size in (0, -32, 1, 8, 24, 33, 64, 2**40)),
        *({'bits': bits} for bits in (0, 1, 3, 5, 16, -4, 2**40)),
        *({'K': K} for K in (0, -1, 65, 2**40)),
        *({'N': N} for N in (0, -8, 9, 2**40)),
        {'K': 2**31 - 1, 'N': 2**31 - 1},
        {'weight_prepacked': 1},
        {'accuracy_level': 5},
        {'accuracy_level': -1},
        {'other': 1},
    ):
        yield {}, attributes
    for inputs in (
        {0: B[:, :1]},
        {0: B[:, :, :1]},
        {0: B[:7]},
        {0: B[0]},
        {0: B.astype('b')},
        {0: B.astype('f')},
        {0: np.zeros((0, 2, 16), 'B')},
        {1: scales[:, :1]},
        {1: scales[:7]},
        {1: scales.ravel()[:15]},
        {1: scales.astype('i')},
        {2: zeros[:7]},
        {2: zeros.ravel()[:3]},
        {2: np.zeros((8, 2), 'B')},
        {2: np.zeros((8, 3), 'f')},
        {2: zeros.astype('i')},
        {3: np.arange(64, dtype='i')},
        {4: bias[:7]},
        {4: bias.reshape(2, 4)},
    ):
        yield inputs, {}


def test_wrong_nodes(loader):
    good = Weights(64, 8, zeros=True, bias=True)
    x = rows(2, 64)
    for fed in False, True:
        for inputs, attributes in _wrong():
            weights = [inputs.get(i, each) for i, each in enumerate(good.inputs)]
            model = model_of(x, weights, {**good.attributes, **attributes}, fed)
            arrays = [each for each in weights if each is not None] if fed else []
            with pytest.raises(loader.error, match='culprit'):
                loader.load(model)(x, *arrays)
                pytest.fail(f'{loader.name} takes {list(inputs)} and {attributes}')
        for wrong in rows(2, 63), rows(2, 65), rows(2, 64).astype('i'), np.array(1, 'f'):
            with pytest.raises(loader.error, match='culprit'):
                arrays = [each for each in good.inputs if each is not None] if fed else []
                loader.load(good.model(wrong, fed))(wrong, *arrays)


@pytest.mark.parametrize('name', ['K', 'N', 'block_size'])
def test_attributes_that_are_missing(loader, name):
    weights = Weights(64, 8)
    del weights.attributes[name]
    x = rows(2, 64)
    with pytest.raises(loader.error, match=f"attribute '{name}' is missing"):
        loader.load(weights.model(x))(x)
