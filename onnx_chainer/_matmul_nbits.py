"""Products with weights of four bits as ``MatMulNBits``, which ONNX Runtime adds to ONNX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chainer.quantization import _packing

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

_DOMAIN = 'com.microsoft'
_LEAST_BLOCK = 16


class _Weight(NamedTuple):
    """A weight (outputs, inputs) of the graph, and what makes it numbers."""

    node: NodeProto
    q: np.ndarray[Any, Any]
    block: int


def rewrite(onnx_model: ModelProto) -> None:
    """Replaces ``Gemm`` by ``MatMulNBits`` where its weight has four bits with scales for blocks.

    Blocks must have 16, 32, 64, ... inputs, and nothing else may use the weight.
    """
    from onnx import helper, numpy_helper

    graph = onnx_model.graph
    weights = _weights(graph)
    changed = False
    for node in graph.node:
        weight = weights.get(node.input[1]) if node.op_type == 'Gemm' else None
        if weight is None:
            continue
        name, scale = weight.node.input[:2]
        columns, inner = weight.q.shape
        sizes = {'K': inner, 'N': columns, 'bits': 4, 'block_size': weight.block}
        bias = node.input[2:]
        inputs = [node.input[0], name, scale, *(['', '', *bias] if bias else [])]
        new = helper.make_node(
            'MatMulNBits', inputs, node.output, node.name, domain=_DOMAIN, **sizes
        )
        node.CopyFrom(new)
        graph.node.remove(weight.node)
        (tensor,) = (t for t in graph.initializer if t.name == name)
        tensor.CopyFrom(numpy_helper.from_array(_packed(weight.q, weight.block), name))
        changed = True
    if changed and all(each.domain != _DOMAIN for each in onnx_model.opset_import):
        onnx_model.opset_import.append(helper.make_opsetid(_DOMAIN, 1))


def _weights(graph: GraphProto) -> dict[str, _Weight]:
    """Weights that can be those of ``MatMulNBits``, by the names of their numbers."""
    from onnx import TensorProto, numpy_helper

    names = [name for node in graph.node for name in node.input]
    names += [value.name for value in graph.output]
    tensors = {t.name: t for t in graph.initializer if t.data_type == TensorProto.INT4}
    found = {}
    for node in graph.node:
        if node.op_type != 'DequantizeLinear' or node.input[0] not in tensors:
            continue
        attributes = {a.name: a.i for a in node.attribute}
        block = attributes.get('block_size', 0)
        is_power = block >= _LEAST_BLOCK and block & (block - 1) == 0
        once = names.count(node.input[0]) == names.count(node.output[0]) == 1
        if is_power and once and attributes.get('axis') == 1 and len(node.input) == 2:
            q = numpy_helper.to_array(tensors[node.input[0]]).astype(np.int8)
            found[node.output[0]] = _Weight(node, q, block)
    return found


def _packed(q, block):
    """Integers with eight added, in the blocks of ``MatMulNBits``."""
    columns, inner = q.shape
    padded = np.pad(q, ((0, 0), (0, -inner % block)))
    return _packing.pack(padded + 8).reshape(columns, -1, block // 2)
