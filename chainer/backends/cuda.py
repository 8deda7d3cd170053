"""CUDA through CuPy, which is optional.

The module is usable without CuPy: :data:`available` is then ``False``, and functions that need
CUDA raise an error that says why. CuPy is imported on first use, not with Chainer.

Attributes:
    available (bool): Whether CuPy is installed and sees a CUDA device.
    cudnn_enabled (bool): Whether functions of CuPy arrays can use cuDNN: CuPy has bindings (CuPy 14
        has none), or the CUDA backend of ChainerX, whose kernels serve them unless
        ``chainer.config.use_native_kernels`` is ``'never'``, finds cuDNN 9.
    cupy: The :mod:`cupy` module, or a placeholder that raises an error on use.

"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from chainer._core.devices.array_kinds import get_array_module as get_array_module
from chainer.backends import _cudnn, _cupy
from chainer.backends._copies import copy as copy, to_cpu as to_cpu, to_gpu as to_gpu
from chainer.backends._cuda_devices import (
    DummyDevice as DummyDevice,
    DummyDeviceType as DummyDeviceType,
    get_device as get_device,
    get_device_from_array as get_device_from_array,
    get_device_from_id as get_device_from_id,
)
from chainer.backends._cuda_kernels import (
    clear_memo as clear_memo,
    elementwise as elementwise,
    fuse as fuse,
    memoize as memoize,
    raw as raw,
    reduce as reduce,
)
from chainer.backends._cudnn import (
    get_cudnn_dropout_states as get_cudnn_dropout_states,
    get_cudnn_dropout_states_core as get_cudnn_dropout_states_core,
    get_max_workspace_size as get_max_workspace_size,
    set_max_workspace_size as set_max_workspace_size,
    should_use_cudnn as should_use_cudnn,
    should_use_cudnn_tensor_core as should_use_cudnn_tensor_core,
)
from chainer.backends._cupy import check_cuda_available as check_cuda_available
from chainer.backends._gpu_device import GpuDevice as GpuDevice

if TYPE_CHECKING:
    from chainer.backends._cupy_absent import Device as Device

    # Found by `__getattr__`
    available: bool
    cudnn_enabled: bool
    cupy: Any
    cudnn: Any
    libcudnn: Any

_cupy.public = sys.modules[__name__]


def __getattr__(name: str) -> Any:
    if name == 'cudnn_enabled':
        return _cudnn.is_enabled()
    if name not in _cupy.NAMES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    # The next use finds the name without this function.
    return globals().setdefault(name, _cupy.load()[name])


def __dir__() -> list[str]:
    return sorted({*globals(), *_cupy.NAMES, 'cudnn_enabled'})
