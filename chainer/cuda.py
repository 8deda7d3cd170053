"""Alias of :mod:`chainer.backends.cuda`."""

from typing import Any

from chainer.backends import cuda as _cuda
from chainer.backends.cuda import (  # noqa: F401
    DummyDevice as DummyDevice,
    DummyDeviceType as DummyDeviceType,
    GpuDevice as GpuDevice,
    check_cuda_available as check_cuda_available,
    clear_memo as clear_memo,
    copy as copy,
    elementwise as elementwise,
    fuse as fuse,
    get_array_module as get_array_module,
    get_cudnn_dropout_states as get_cudnn_dropout_states,
    get_cudnn_dropout_states_core as get_cudnn_dropout_states_core,
    get_device as get_device,
    get_device_from_array as get_device_from_array,
    get_device_from_id as get_device_from_id,
    get_max_workspace_size as get_max_workspace_size,
    memoize as memoize,
    raw as raw,
    reduce as reduce,
    set_max_workspace_size as set_max_workspace_size,
    should_use_cudnn as should_use_cudnn,
    should_use_cudnn_tensor_core as should_use_cudnn_tensor_core,
    to_cpu as to_cpu,
    to_gpu as to_gpu,
)


def __getattr__(name: str) -> Any:
    # Look up the names that depend on CuPy on use.
    return getattr(_cuda, name)


def __dir__() -> list[str]:
    return dir(_cuda)
