"""What the backends of ONNX's interface share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, defs, helper
from onnx.backend.base import Backend, BackendRep

from onnx_chainer.importing._tensors import elem_type_of


def _newest(domain: str) -> int:
    """The newest version of a domain; 1 of an unknown one."""
    if not domain:
        return defs.onnx_opset_version()
    versions = (each.since_version for each in defs.get_all_schemas() if each.domain == domain)
    return max(versions, default=1)


def model_of(node: NodeProto, arrays: Sequence[np.ndarray[Any, Any]], **kwargs: Any) -> ModelProto:
    """A model of one node and its inputs; ``opset_version`` chooses the version of its operator."""
    names = [name for name in node.input if name]
    graph = helper.make_graph(
        [node],
        'node',
        [
            helper.make_tensor_value_info(name, elem_type_of(x.dtype), x.shape)
            for name, x in zip(names, arrays)
        ],
        [helper.make_empty_tensor_value_info(name) for name in node.output if name],
    )
    versions = {'': defs.onnx_opset_version(), node.domain: _newest(node.domain)}
    if 'opset_version' in kwargs:
        versions[node.domain] = kwargs['opset_version']
    imports = [helper.make_opsetid(*each) for each in versions.items()]
    return helper.make_model(graph, opset_imports=imports)


class ModelRep(BackendRep):
    """A model that is ready to run.

    Attributes:
        model: What loads the file; ``input_names`` are those of its inputs.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Computes the outputs as NumPy arrays.

        Args:
            inputs: A sequence in the order of the file, a dictionary by name, or one array.
            kwargs: None are known.
        """
        if isinstance(inputs, np.ndarray):
            inputs = [inputs]
        if not isinstance(inputs, dict):
            names = self.model.input_names
            if len(inputs) > len(names):
                raise ValueError(f'the model takes {len(names)} inputs and gets {len(inputs)}')
            inputs = dict(zip(names, inputs))
        return self._compute(inputs)

    def _compute(self, inputs: dict[str, Any]) -> tuple[Any, ...]:
        raise NotImplementedError


class NodeBackend(Backend):
    """A backend that runs a node as a model."""

    @classmethod
    def prepare(cls, model: ModelProto, device: str = 'CPU', **kwargs: Any) -> BackendRep:
        """Loads a model onto a device."""
        raise NotImplementedError

    @classmethod
    def run_node(
        cls,
        node: NodeProto,
        inputs: Any,
        device: str = 'CPU',
        outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Runs one node; ``opset_version`` chooses the version of its operator."""
        arrays = [np.asarray(x) for x in inputs]
        return cls.prepare(model_of(node, arrays, **kwargs), device).run(arrays)
