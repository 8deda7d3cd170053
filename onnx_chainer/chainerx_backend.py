"""The interface by which ONNX drives a framework, for the C++ runner :mod:`chainerx.onnx`.

It has the functions of :mod:`onnx_chainer.backend`. A device is ``'CPU'``, ``'CUDA'`` or
``'CUDA:1'``, or one of ChainerX such as ``'native:0'``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx import ModelProto

import chainerx
from onnx_chainer._backend_base import ModelRep, NodeBackend

if TYPE_CHECKING:
    from collections.abc import Callable


def _device(name: str) -> Any:
    kind, _, number = name.partition(':')
    kind = {'CPU': 'native', 'CUDA': 'cuda'}.get(kind, kind)
    return chainerx.get_device(f'{kind}:{number or 0}')


class ChainerXBackendRep(ModelRep):
    """A model that is ready to run.

    Attributes:
        model: The model of :func:`chainerx.onnx.load`.
    """

    def _compute(self, inputs: dict[str, Any]) -> tuple[Any, ...]:
        # The runner tells how many it wants.
        given = [inputs[name] for name in self.model.input_names if name in inputs]
        return tuple(_numpy(y) for y in self.model.run(given))


def _numpy(y: Any) -> Any:
    """Arrays of ChainerX as NumPy's, also in lists."""
    if isinstance(y, list):
        return [_numpy(each) for each in y]
    return chainerx.to_numpy(y) if isinstance(y, chainerx.ndarray) else y


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
