"""Small models, as protobufs."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def info(name, shape=None, dtype=np.float32):
    """The description of an input or output."""
    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
    )


def any_output(name):
    return helper.make_empty_tensor_value_info(name)


def model_of(nodes, inputs, outputs, weights=(), opset=18, domains=(), functions=(), name='graph'):
    """A model; ``outputs`` are names, ``weights`` a dictionary of arrays."""
    graph = helper.make_graph(
        nodes,
        name,
        inputs,
        [any_output(each) if isinstance(each, str) else each for each in outputs],
        [numpy_helper.from_array(np.asarray(w), n) for n, w in dict(weights).items()],
    )
    imports = [helper.make_opsetid('', opset), *(helper.make_opsetid(d, v) for d, v in domains)]
    return helper.make_model(graph, opset_imports=imports, functions=functions, ir_version=8)


def node_model(op, inputs, attributes=None, opset=18, outputs=1, domain=''):
    """A model of one node, with an input for each array; ``None`` is a missing input."""
    names = ['' if x is None else f'x{i}' for i, x in enumerate(inputs)]
    outs = [f'y{i}' for i in range(outputs)]
    node = helper.make_node(op, names, outs, domain=domain, **(attributes or {}))
    infos = [info(n, x.shape, x.dtype) for n, x in zip(names, inputs) if x is not None]
    return model_of([node], infos, outs, opset=opset, domains=[(domain, 1)] if domain else [])


__all__ = ['TensorProto', 'any_output', 'helper', 'info', 'model_of', 'node_model', 'numpy_helper']
