"""CUDA devices, also where there is none. The public names are in ``cuda``."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.devices import array_kinds
from chainer._core.names.set_module import set_module
from chainer.backends import _cupy
from chainer.backends._gpu_device import INTEGER_TYPES

if TYPE_CHECKING:
    from chainer.backends._cupy_absent import Device


@set_module('chainer.backends.cuda')
class DummyDeviceType:
    """Device without effect, for arrays that are not on a GPU.

    ``int(DummyDevice)`` and its ``id`` are -1.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> cuda.DummyDevice, int(cuda.DummyDevice)
        (<CPU (dummy CUDA device)>, -1)
        >>> with cuda.DummyDevice:  # does nothing
        ...     x = np.zeros(2)

    """

    id = -1

    def __init__(self) -> None:
        pass

    def __int__(self) -> int:
        return -1

    def __enter__(self) -> DummyDeviceType:
        return self

    def __exit__(self, *args: object) -> None:
        pass

    def use(self) -> None:
        """Does nothing."""

    def synchronize(self) -> None:
        """Does nothing."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DummyDeviceType)

    def __hash__(self) -> int:
        return hash(DummyDeviceType)

    def __repr__(self) -> str:
        return '<CPU (dummy CUDA device)>'


DummyDevice: DummyDeviceType = DummyDeviceType()


@set_module('chainer.backends.cuda')
def get_device_from_id(device_id: int | None) -> Device | DummyDeviceType:
    """Gets the CUDA device of an id.

    Args:
        device_id (int): Id. ``None`` and negative ids, which mean the CPU in scripts, give
            ``DummyDevice``.

    Returns:
        CUDA device, usable in a ``with`` statement.

    Raises:
        RuntimeError: If the id is zero or more and CUDA is not available.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> cuda.get_device_from_id(-1)
        <CPU (dummy CUDA device)>

    """
    if device_id is None or device_id < 0:
        return DummyDevice
    _cupy.check_cuda_available()
    return _cupy.public.Device(int(device_id))


@set_module('chainer.backends.cuda')
def get_device_from_array(*arrays: object) -> Device | DummyDeviceType:
    """Gets the CUDA device of the first CuPy array among the arguments.

    Args:
        arrays: Arrays or variables.

    Returns:
        CUDA device; ``DummyDevice`` if there is no CuPy array.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> cuda.get_device_from_array(np.zeros(2))
        <CPU (dummy CUDA device)>

    """
    for array in arrays:
        if type(array) is not numpy.ndarray:
            array = array_kinds.array_of(array)
            if isinstance(array, _cupy.public.ndarray) and array.device is not None:
                return array.device
    return DummyDevice


@set_module('chainer.backends.cuda')
def get_device(*args: Any) -> Device | DummyDeviceType:
    """Gets the CUDA device of an id, a device or an array.

    .. deprecated:: v1.15
        Use :func:`get_device_from_id` or :func:`get_device_from_array`, or for all kinds of
        devices :func:`chainer.get_device`.

    Args:
        args: Ids, CUDA devices, arrays or variables. The first one with a device counts.

    Returns:
        CUDA device; ``DummyDevice`` if there is none.

    .. admonition:: Example

        >>> import warnings
        >>> from chainer.backends import cuda
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter('ignore', DeprecationWarning)
        ...     cuda.get_device(np.zeros(2))
        <CPU (dummy CUDA device)>

    """
    warnings.warn(
        'chainer.backends.cuda.get_device is deprecated. Please use get_device_from_id or '
        'get_device_from_array instead, or chainer.get_device.',
        DeprecationWarning,
        stacklevel=2,
    )
    for arg in args:
        if isinstance(arg, INTEGER_TYPES) and not isinstance(arg, bool):
            _cupy.check_cuda_available()
            return _cupy.public.Device(int(arg))
        arg = array_kinds.array_of(arg)
        if isinstance(arg, _cupy.public.ndarray):
            if arg.device is not None:
                return arg.device
        elif _cupy.public.available and isinstance(arg, _cupy.public.Device):
            return arg
    return DummyDevice
