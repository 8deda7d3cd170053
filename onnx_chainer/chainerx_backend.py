"""The interface by which ONNX drives a framework, for the C++ runner :mod:`chainerx.onnx`.

It has the functions of :mod:`onnx_chainer.backend`. A device is ``'CPU'``, ``'CUDA'`` or
``'CUDA:1'``, or one of ChainerX such as ``'native:0'``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import ModelProto
from onnx.backend.base import BackendRep

import chainerx
from onnx_chainer._backend_base import NodeBackend

if TYPE_CHECKING:
    from collections.abc import Callable


def _device(name: str) -> Any:
    kind, _, number = name.partition(':')
    kind = {'CPU': 'native', 'CUDA': 'cuda'}.get(kind, kind)
    return chainerx.get_device(f'{kind}:{number or 0}')


class ChainerXBackendRep(BackendRep):
    """A model that is ready to run.

    Attributes:
        model: The model of :func:`chainerx.onnx.load`.
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
        if isinstance(inputs, dict):
            inputs = [inputs[name] for name in self.model.input_names]
        return tuple(chainerx.to_numpy(y) for y in self.model.run(inputs))


class ChainerXBackend(NodeBackend):
    """ONNX models in the C++ runner."""

    @classmethod
    def prepare(cls, model: ModelProto, device: str = 'CPU', **kwargs: Any) -> ChainerXBackendRep:
        """Loads a model onto a device."""
        runner = chainerx.onnx.load(model.SerializeToString(), _device(device))
        return ChainerXBackendRep(runner)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether this machine has the device."""
        try:
            _device(device)
        except Exception:
            return False
        return True


is_compatible: Callable[..., bool] = ChainerXBackend.is_compatible
prepare: Callable[..., ChainerXBackendRep] = ChainerXBackend.prepare
run_model: Callable[..., tuple[Any, ...]] = ChainerXBackend.run_model
run_node: Callable[..., tuple[Any, ...]] = ChainerXBackend.run_node
supports_device: Callable[..., bool] = ChainerXBackend.supports_device
