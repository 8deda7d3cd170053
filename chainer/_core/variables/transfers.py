"""Moving variables between devices, and copying and adding across devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer import backend
from chainer._core.autograd.variable_state import VariableState
from chainer.backends import _cpu, _gpu_device, intel64

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer._core.devices.types import CudaDeviceSpec, DeviceSpec

_chx_ndarray = chainerx.ndarray


class VariableTransfers(VariableState):
    """Transfers of the array and the gradient of a variable.

    Methods only; :class:`VariableState` and its bases declare the fields.
    """

    def to_cpu(self) -> None:
        """Moves the array and the gradient to NumPy."""
        self.to_device(_cpu.CpuDevice())

    def to_gpu(self, device: CudaDeviceSpec | None = None) -> None:
        """Moves the array and the gradient to a CUDA device (the current one by default)."""
        self.to_device(_gpu_device.get_device_or_current(device))

    def to_intel64(self) -> None:
        """Moves the array and the gradient to iDeep arrays if available."""
        intel64.check_ideep_available()
        self.to_device(intel64.Intel64Device())

    def to_chx(self) -> None:
        """Moves the array and the gradient to ChainerX without copying."""
        if self._array is not None and not self._has_chainerx_array:
            self._move(backend.to_chx)

    def from_chx(self) -> None:
        """Moves the array and the gradient from ChainerX to NumPy or CuPy without copying."""
        if self._has_chainerx_array:
            self._move(backend.from_chx)

    def to_device(self, device: DeviceSpec) -> None:
        """Moves the array and the gradient to ``device`` (see :func:`chainer.get_device`)."""
        device = backend.get_device(device)
        if self._array is not None and not (self.device == device):
            self._move(device.send)

    def _move(self, send: Callable[[Any], Any]) -> None:
        grad = self._get_known_grad()
        is_fresh = self._fresh_grad and grad is None
        was_chainerx = self._has_chainerx_array
        array = send(self.array)
        new_grad = None if grad is None else send(grad)
        is_chainerx = isinstance(array, _chx_ndarray)
        if (
            is_chainerx
            and not was_chainerx
            and self._node is not None
            and self._node.creator_node is not None
        ):
            raise RuntimeError(
                'A variable with a creator cannot be moved to ChainerX: '
                'its graph is recorded outside ChainerX.'
            )
        self._grad = self._grad_var = None
        self._part_from_copies()
        self._set_own_array(array)
        if new_grad is not None:
            self._set_grad(new_grad)
        self._fresh_grad = is_fresh

    def copydata(self, var: VariableTransfers) -> None:
        """Copies the array of ``var`` into this variable's array, across devices if needed.

        If only one of the two has an array, the other, a parameter, is first initialized to its
        shape. If neither has one, nothing happens.

        Args:
            var (Variable): Variable to copy from, of the same shape.

        Raises:
            RuntimeError: If ``var`` has no array and is not a parameter.

        """
        src, dst = var.array, self.array
        if src is None:
            if dst is None:
                return
            var._initialize(dst.shape)
            src = var.array
        elif dst is None:
            self._initialize_like(src)
            dst = self.array
        backend.copyto(dst, src)

    def _initialize(self, shape: Any) -> None:
        raise RuntimeError('Data array is None: cannot copy from a variable without array')

    def _initialize_like(self, src: Any) -> None:
        with backend.using_device(backend.get_device_from_array(src)):
            self._set_array(src.copy())

    def addgrad(self, var: VariableTransfers) -> None:
        """Adds the gradient of ``var`` to this variable's gradient, across devices if needed.

        Args:
            var (Variable): Variable of the same shape. If it has no gradient, nothing happens.
        """
        given = var._grad if var.raw_array is None else var._get_known_grad()
        if given is None:
            return
        if self._array is None:
            self._initialize_like(given)
        device = self.device
        src = device.send(given)
        dst = self._get_known_grad()
        with backend.using_device(device):
            if dst is None:
                self.grad = src.copy() if src is given else src
            elif isinstance(dst, _chx_ndarray):
                self.grad = dst + src
            else:
                self._set_grad(dst + src)
