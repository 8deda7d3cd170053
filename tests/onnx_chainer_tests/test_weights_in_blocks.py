"""Weights that `DequantizeLinear` gives: the C++ runner keeps them as they are for a product."""

import subprocess
import sys

import numpy as np
import pytest

onnx = pytest.importorskip('onnx')
import ml_dtypes  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import chainerx  # noqa: E402

pytestmark = [
    pytest.mark.chainerx,
    pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built'),
]

DTYPES = {
    'int4': (ml_dtypes.int4, -8, 8),
    'uint4': (ml_dtypes.uint4, 0, 16),
    'int8': (np.int8, -128, 128),
    'uint8': (np.uint8, 0, 256),
}


class Product:
    """A product with a weight (K, N), or (N, K) if it is transposed."""

    def __init__(self, dtype, block=0, transposed=False, zeros=True, K=70, N=21, scales='axis'):
        random = np.random.RandomState(K)
        kind, low, high = DTYPES[dtype]
        columns = 0 if transposed else 1
        shape = (N, K) if transposed else (K, N)
        if block:
            axis, parameters = 1 - columns, (N, -(-K // block))
            parameters = parameters if transposed else parameters[::-1]
        else:
            axis, parameters = columns, () if scales == 'one' else (N,)
        self.q = random.randint(low, high, shape).astype(kind)
        self.scale = random.uniform(0.01, 0.02, parameters).astype('f')
        self.zero = random.randint(low, high, parameters).astype(kind) if zeros else None
        if zeros:
            self.zero = np.asarray(self.zero, kind)
        self.attributes = {'axis': axis}
        if block:
            self.attributes['block_size'] = block
        self.bias = random.normal(size=N).astype('f')
        self.transposed = transposed
        self.K = K

    def model(self, form, more=(), outputs=('y',)):
        """A file; ``form`` is the operator of the product."""
        names = ['q', 's', 'z'][: 2 + (self.zero is not None)]
        nodes = [helper.make_node('DequantizeLinear', names, ['w'], **self.attributes)]
        if form == 'Gemm':
            nodes.append(
                helper.make_node('Gemm', ['x', 'w', 'b'], ['y'], transB=int(self.transposed))
            )
        else:
            if self.transposed:
                nodes.append(helper.make_node('Transpose', ['w'], ['t']))
            nodes.append(helper.make_node('MatMul', ['x', 't' if self.transposed else 'w'], ['h']))
            nodes.append(helper.make_node('Add', ['h', 'b'], ['y']))
        nodes += more
        arrays = {'q': self.q, 's': np.asarray(self.scale), 'z': self.zero, 'b': self.bias}
        graph = helper.make_graph(
            nodes,
            'graph',
            [helper.make_tensor_value_info('x', 1, ['n', self.K])],
            [helper.make_empty_tensor_value_info(name) for name in outputs],
            [numpy_helper.from_array(a, name) for name, a in arrays.items() if a is not None],
        )
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid('', 21)], ir_version=10
        ).SerializeToString()


def _check(model, n_steps):
    runner = chainerx.onnx.load(model)
    for n in 1, 3, 40:
        x = np.random.RandomState(n).normal(size=(n, 70)).astype('f')
        ys = runner.run([x])
        for y, expected in zip(ys, ReferenceEvaluator(model).run(None, {'x': x})):
            np.testing.assert_allclose(chainerx.to_numpy(y), expected, rtol=1e-4, atol=2e-3)
    assert len(runner.steps) == n_steps, runner.steps


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('form', ['MatMul', 'Gemm'])
@pytest.mark.parametrize('transposed', [False, True])
@pytest.mark.parametrize('zeros', [False, True])
def test_products(dtype, form, transposed, zeros):
    for block in 0, 16, 35, 32:
        _check(Product(dtype, block, transposed, zeros).model(form), 1)
    _check(Product(dtype, 0, transposed, zeros, scales='one').model(form), 1)


def test_short_blocks():
    _check(Product('int4', 5).model('MatMul'), 1)


RELU = helper.make_node('Relu', ['w'], ['r'])
TWICE = helper.make_node('MatMul', ['x', 'w'], ['r'])


@pytest.mark.parametrize('more', [RELU, TWICE], ids=['elsewhere', 'twice'])
def test_weights_with_other_uses(more):
    """They are computed when the model is loaded."""
    model = Product('int4', 16).model('MatMul', [more], ['y', 'r'])
    _check(model, 1 if more is RELU else 2)


@pytest.mark.parametrize('axis', [0, 1])
def test_scales_of_the_inner_axis(axis):
    """Those that the kernel does not know are computed when the model is loaded, too."""
    product = Product('int8', K=70, N=70)
    product.attributes['axis'] = axis
    _check(product.model('MatMul'), 1)


MEMORY = """
import sys
import numpy as np
import chainerx, chainerx.onnx

def resident():
    with open('/proc/self/status') as file:
        return next(int(line.split()[1]) for line in file if line.startswith('VmRSS')) / 1024

chainerx.onnx.load(sys.argv[2])(np.ones((1, 70), 'f'))
before = resident()
model = chainerx.onnx.load(sys.argv[1])
model(np.ones((1, 2048), 'f'))
print(resident() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith('linux'), reason='reads /proc')
@pytest.mark.parametrize('dtype', ['int4', 'int8'])
def test_memory(dtype, tmp_path):
    """A loaded model takes about the memory of its file."""
    paths = [tmp_path / name for name in ('large.onnx', 'small.onnx')]
    paths[0].write_bytes(Product(dtype, 32, True, False, K=2048, N=8192).model('Gemm'))
    paths[1].write_bytes(Product(dtype, 32, True, False).model('Gemm'))
    command = [sys.executable, '-c', MEMORY, *map(str, paths)]
    used = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert used < 1.15 * paths[0].stat().st_size / 2**20 + 4
