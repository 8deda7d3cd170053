"""Where ONNX Runtime's products of bytes are exact."""

import functools

import numpy as np


@functools.cache
def saturates():
    """Tells whether ONNX Runtime adds products of ``uint8`` and ``int8`` in 16 bits here.

    It does so on x86 processors without VNNI: two products of numbers beyond 7 bits saturate.
    """
    import onnxruntime
    from onnx import TensorProto, helper

    a, b = np.full((1, 2), 255, 'uint8'), np.full((2, 1), 127, 'int8')
    graph = helper.make_graph(
        [helper.make_node('MatMulInteger', ['a', 'b'], ['y'])],
        'products',
        [
            helper.make_tensor_value_info('a', TensorProto.UINT8, a.shape),
            helper.make_tensor_value_info('b', TensorProto.INT8, b.shape),
        ],
        [helper.make_tensor_value_info('y', TensorProto.INT32, (1, 1))],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, {'a': a, 'b': b})[0].item() != 2 * 255 * 127


def is_exact(x, w):
    """Tells whether ONNX Runtime multiplies these arrays exactly."""
    return x.dtype == w.dtype or not saturates()  # convolutions exchange the operands


def in_range(w):
    """Weights that ONNX Runtime multiplies exactly: those given, or half of them."""
    return w >> 1 if w.dtype == 'int8' and saturates() else w
