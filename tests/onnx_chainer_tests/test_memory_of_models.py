"""A loaded model takes about the memory of its weights, in the C++ runner."""

import os
import subprocess
import sys

import numpy as np
import pytest

import chainerx

onnx = pytest.importorskip('onnx')
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

pytestmark = [
    pytest.mark.chainerx,
    pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built'),
    pytest.mark.skipif(not os.path.exists('/proc/self/status'), reason='needs /proc'),
]

SIZE, COUNT = 2048, 8

PROGRAM = """
import sys
import numpy as np
import chainerx.onnx

def kibibytes(name):
    with open('/proc/self/status') as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name))

names = 'VmRSS', 'VmHWM'
before = list(map(kibibytes, names))
model = chainerx.onnx.load(sys.argv[1])
model(np.zeros((1, 2048), 'f'))
print(*(kibibytes(name) - was for name, was in zip(names, before)))
"""


@pytest.mark.parametrize(
    'op_type,is_external', [('MatMul', False), ('Gemm', True), ('Conv', False)]
)
def test_memory(op_type, is_external, tmp_path):
    """The most and the last are within a small part of the weights, packed or not."""
    nodes, weights, last = [], [], 'x'
    shape = (SIZE, SIZE)
    if op_type == 'Conv':
        nodes = [helper.make_node('Unsqueeze', ['x', 'axis'], ['image'])]
        weights = [numpy_helper.from_array(np.array([2]), 'axis')]
        shape, last = (SIZE, SIZE, 1), 'image'
    for i in range(COUNT):
        weights.append(numpy_helper.from_array(np.zeros(shape, 'f'), f'w{i}'))
        nodes.append(helper.make_node(op_type, [last, f'w{i}'], [f'y{i}']))
        last = f'y{i}'
    graph = helper.make_graph(
        nodes,
        'large',
        [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, SIZE])],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, None)],
        weights,
    )
    opset = helper.make_opsetid('', 17)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=8)
    path = tmp_path / 'm.onnx'
    onnx.save(model, path, save_as_external_data=is_external, location='weights')
    variables = {**os.environ, 'CHAINERX_NUM_THREADS': '1'}
    output = subprocess.check_output([sys.executable, '-c', PROGRAM, str(path)], env=variables)
    after, most = (int(word) / (COUNT * SIZE**2 * 4 / 1024) for word in output.split())
    assert after < 1.2
    assert most < 1.5
