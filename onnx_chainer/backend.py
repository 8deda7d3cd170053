"""The interface by which ONNX drives a framework, such as its conformance suite does.

``prepare`` and ``run_model`` run models, ``run_node`` a node, and ``supports_device`` says whether
a device is there. A device is ``'CPU'``, ``'CUDA'`` or ``'CUDA:1'``, or any that
:func:`chainer.get_device` knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx import ModelProto

import chainer
from chainer.backends import cuda
from onnx_chainer._backend_base import ModelRep, NodeBackend
from onnx_chainer.importing import ImportedChain, load
from onnx_chainer.importing._values import on_host

if TYPE_CHECKING:
    from collections.abc import Callable


def _device(name: str) -> Any:
    kind, _, number = name.partition(':')
    if kind == 'CPU':
        name = '@numpy'
    elif kind == 'CUDA':
        name = f'@cupy:{number or 0}'
    return chainer.get_device(name)


class ChainerBackendRep(ModelRep):
    """A model that is ready to run.

    Attributes:
        model: The link.
    """

    model: ImportedChain

    def _compute(self, inputs: dict[str, Any]) -> tuple[Any, ...]:
        with chainer.no_backprop_mode():
            return tuple(on_host(y) for y in self.model.run(inputs))


class ChainerBackend(NodeBackend):
    """ONNX models in Chainer."""

    @classmethod
    def prepare(cls, model: ModelProto, device: str = 'CPU', **kwargs: Any) -> ChainerBackendRep:
        """Loads a model, and sends it to a device."""
        chain = load(model)
        chain.to_device(_device(device))
        return ChainerBackendRep(chain)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether this machine has the device."""
        kind, _, number = device.partition(':')
        if kind == 'CUDA':
            return cuda.available and int(number or 0) < cuda.cupy.cuda.runtime.getDeviceCount()
        try:
            _device(device)
        except Exception:
            return False
        return True


is_compatible: Callable[..., bool] = ChainerBackend.is_compatible
prepare: Callable[..., ChainerBackendRep] = ChainerBackend.prepare
run_model: Callable[..., tuple[Any, ...]] = ChainerBackend.run_model
run_node: Callable[..., tuple[Any, ...]] = ChainerBackend.run_node
supports_device: Callable[..., bool] = ChainerBackend.supports_device
