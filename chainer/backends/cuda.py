"""CUDA through CuPy, which is optional.

The module is usable without CuPy: :data:`available` is then ``False``, and functions that need
CUDA raise an error that says why. CuPy is imported on first use, not with Chainer.

Attributes:
    available (bool): Whether CuPy is installed and sees a CUDA device.
    cudnn_enabled (bool): Whether functions of CuPy arrays can use cuDNN: CuPy has bindings (CuPy 14
        has none), or ``chainer.config.use_native_kernels`` is ``'always'`` and the CUDA backend of
        ChainerX finds cuDNN 9.
    cupy: The :mod:`cupy` module, or a placeholder that raises an error on use.

"""

from __future__ import annotations

import importlib.util
import itertools
import os
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy

import chainerx
from chainer import configuration
from chainer._core.devices import device as _backend
from chainer.backends import _cudnn, _cupy, _transfer
from chainer.backends._cuda_kernels import (  # noqa: F401
    clear_memo as clear_memo,
    elementwise as elementwise,
    fuse as fuse,
    memoize as memoize,
    raw as raw,
    reduce as reduce,
)
from chainer.backends._cupy import check_cuda_available as check_cuda_available

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from chainer._core.devices.types import CudaDeviceSpec
    from chainer._core.settings.types import CupyArray, DTypeSpec, Xp
    from chainer.backends._cupy_absent import Device

    # Found by `__getattr__`
    available: bool
    cudnn_enabled: bool
    cupy: Any
    cudnn: Any
    libcudnn: Any

# Attribute access through the module object triggers the import of CuPy, as for users.
_this = sys.modules[__name__]
_integer_types = (int, numpy.integer)


def __getattr__(name: str) -> Any:
    if name == 'cudnn_enabled':
        return max(_this._cudnn_version, _cudnn.find_version_for_cupy()) >= 0
    if name not in _cupy.LAZY_NAMES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    _load_cupy()
    return globals()[name]


def _load_cupy():
    globals().update({name: getattr(_cupy, name) for name in _cupy.LAZY_NAMES})


def __dir__() -> list[str]:
    return sorted({*globals(), *_cupy.LAZY_NAMES, 'cudnn_enabled'})


# -- devices ------------------------------------------------------------------


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


class GpuDevice(_backend.Device):
    """Device of CuPy.

    Args:
        device: :class:`cupy.cuda.Device`.

    Attributes:
        device: The underlying :class:`cupy.cuda.Device`.

    Raises:
        RuntimeError: If CUDA is not available.
        TypeError: If ``device`` has another type.

    .. admonition:: Example

        >>> device = chainer.get_device('@cupy:0')  # doctest: +SKIP
        >>> device, device.xp.__name__  # doctest: +SKIP
        (<GpuDevice (cupy):0>, 'cupy')

    """

    def __init__(self, device: Device) -> None:
        check_cuda_available()
        if not isinstance(device, _this.Device):
            raise TypeError(f'device must be a cupy.cuda.Device, not {type(device)}')
        self.device = device

    @property
    def xp(self) -> Xp:
        return _this.cupy

    @property
    def supported_array_types(self) -> tuple[type, ...]:
        return (_this.ndarray,)

    @staticmethod
    def from_device_id(device_id: int) -> GpuDevice:
        """Returns the device of a CUDA device id.

        Args:
            device_id (int): Id of a CUDA device.

        Returns:
            ~chainer.backend.GpuDevice: Device.

        Raises:
            ValueError: If the id is not a nonnegative integer.
            RuntimeError: If CUDA is not available.

        """
        if not isinstance(device_id, _integer_types) or device_id < 0:
            raise ValueError(f'Invalid CUDA device ID: {device_id!r}')
        check_cuda_available()
        return GpuDevice(_this.Device(int(device_id)))

    @staticmethod
    def from_array(array: object) -> GpuDevice | None:
        """Returns the device of ``array``, or ``None`` if it is not a CuPy array."""
        if isinstance(array, _this.ndarray) and array.device is not None:
            return GpuDevice(array.device)
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GpuDevice) and other.device == self.device

    def __hash__(self) -> int:
        return hash((GpuDevice, self.device.id))

    def __repr__(self) -> str:
        return f'<{type(self).__name__} (cupy):{self.device.id}>'

    @property
    def name(self) -> str:
        return f'@cupy:{self.device.id}'

    def create_context(self) -> AbstractContextManager[Any]:
        # A device object restores the previous device once per entry, so contexts get their own.
        return _this.Device(self.device.id)

    def use(self) -> None:
        self.device.use()

    def is_array_supported(self, array: object) -> bool:
        return isinstance(array, _this.ndarray) and self.device == array.device

    def send_array(self, array: Any) -> Any:
        return _transfer.to_gpu(array, self.device)


def _get_device_or_current(device: CudaDeviceSpec | None) -> Device:
    """Resolves the ``device`` argument of ``to_gpu``: an id, a CUDA device, or ``None``."""
    check_cuda_available()
    if device is None:
        return _this.Device()
    if isinstance(device, _this.Device):
        return device
    if isinstance(device, _integer_types) and device >= 0:
        return _this.Device(int(device))
    raise ValueError(
        'Invalid CUDA device specifier: it must be a nonnegative integer or a cupy.cuda.Device, '
        f'not {device!r}'
    )


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
    check_cuda_available()
    return _this.Device(int(device_id))


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
        if type(array) is numpy.ndarray:
            continue
        if _is_variable(array):
            array = array._array
        if isinstance(array, _this.ndarray) and array.device is not None:
            return array.device
    return DummyDevice


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
        if isinstance(arg, _integer_types) and not isinstance(arg, bool):
            check_cuda_available()
            return _this.Device(int(arg))
        if _is_variable(arg):
            arg = arg._array
        if isinstance(arg, _this.ndarray):
            if arg.device is not None:
                return arg.device
        elif _this.available and isinstance(arg, _this.Device):
            return arg
    return DummyDevice


# -- arrays -------------------------------------------------------------------


def _is_variable(obj: object) -> TypeGuard[Any]:
    # `chainer.variable` imports this module.
    variable = sys.modules.get('chainer.variable')
    return variable is not None and isinstance(obj, variable.Variable)


def get_array_module(*args: Any) -> Xp:
    """Gets the array module of the arguments.

    Args:
        args: Arrays, variables or scalars.

    Returns:
        ``chainerx`` if there is a ChainerX array, else ``cupy`` if there is a CuPy array, else
        ``numpy``.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> cuda.get_array_module(np.zeros(2), 1) is np
        True
        >>> def softplus(x):  # for arrays of any module
        ...     xp = cuda.get_array_module(x)
        ...     return xp.maximum(x, 0) + xp.log1p(xp.exp(-abs(x)))
        >>> float(softplus(np.array([0.]))[0].round(3))
        0.693

    """
    others = []
    for arg in args:
        if type(arg) is numpy.ndarray:
            continue
        if _is_variable(arg):
            arg = arg._array
        if isinstance(arg, chainerx.ndarray):
            return chainerx
        others.append(arg)
    # CuPy arrays exist only after an import of CuPy.
    if others and 'cupy' in sys.modules and _this.available:
        return _this.cupy.get_array_module(*others)
    return numpy


def _warn_stream(name):
    warnings.warn(
        f'The stream option of chainer.backends.cuda.{name} is deprecated: use the stream as a '
        'context manager instead.',
        DeprecationWarning,
        stacklevel=3,
    )


def to_gpu(array: Any, device: CudaDeviceSpec | None = None, stream: Any = None) -> Any:
    """Copies arrays to a GPU, unless they are already there.

    Args:
        array: Array of any module, NumPy scalar, ``None``, or lists, tuples and dictionaries of
            them.
        device: CUDA device or its id; the current device by default.
        stream: CUDA stream of the copies (deprecated).

    Returns:
        CuPy arrays in the same structure.

    Raises:
        RuntimeError: If CUDA is not available.
        TypeError: If ``array`` is not an array.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> x = cuda.to_gpu(np.zeros(3, np.float32))  # doctest: +SKIP
        >>> type(x), x.device  # doctest: +SKIP
        (<class 'cupy.ndarray'>, <CUDA Device 0>)

    """
    if stream is not None:
        _warn_stream('to_gpu')
    check_cuda_available()
    device = _get_device_or_current(device)
    return _backend.convert_arrays(array, lambda x: _transfer.to_gpu(x, device, stream))


def to_cpu(array: Any, stream: Any = None) -> Any:
    """Copies arrays to the host, unless they are already there.

    Args:
        array: Array of any module, NumPy scalar, ``None``, or lists, tuples and dictionaries of
            them.
        stream: CUDA stream of the copies (deprecated).

    Returns:
        NumPy arrays in the same structure. NumPy arrays are not copied; those of
        ``native`` ChainerX arrays share the memory.

    Raises:
        TypeError: If ``array`` is not an array.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> x = np.zeros(2)
        >>> cuda.to_cpu(x) is x
        True
        >>> cuda.to_cpu([np.float32(1), None])
        [array(1., dtype=float32), None]

    """
    if stream is None:
        return _backend.convert_arrays(array, _transfer.to_cpu)
    _warn_stream('to_cpu')
    with stream:
        return _backend.convert_arrays(array, _transfer.to_cpu)


def copy(
    array: CupyArray,
    out: CupyArray | None = None,
    out_device: CudaDeviceSpec | None = None,
    stream: Any = None,
) -> CupyArray:
    """Copies a CuPy array, also between GPUs.

    Args:
        array (cupy.ndarray): Source.
        out (cupy.ndarray): Destination; a new array by default.
        out_device: CUDA device, or its id, of the new array; the device of ``array`` by default.
        stream (cupy.cuda.Stream): Stream of the copy.

    Returns:
        cupy.ndarray: ``out``, or the new array.

    Raises:
        RuntimeError: If CUDA is not available.
        TypeError: If ``array`` is not a CuPy array.
        ValueError: If ``out`` and ``out_device`` are both given.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> y = cuda.copy(x, out_device=1)  # doctest: +SKIP
        >>> y.device  # doctest: +SKIP
        <CUDA Device 1>

    """
    check_cuda_available()
    if not isinstance(array, _this.ndarray):
        raise TypeError(f'array must be a cupy.ndarray, not {type(array)}')
    if out is None:
        device = array.device if out_device is None else _get_device_or_current(out_device)
        with device:
            out = _this.cupy.empty_like(array)
    elif out_device is not None:
        raise ValueError('out and out_device cannot be given together')
    with out.device:
        if stream is None:
            _this.cupy.copyto(out, array)
        else:
            with stream:
                _this.cupy.copyto(out, array)
    return out


# -- cuDNN --------------------------------------------------------------------


def should_use_cudnn(level: str, lowest_version: int = 0) -> bool:
    """Tells whether functions of CuPy arrays use cuDNN, by ``chainer.config.use_cudnn``.

    Args:
        level (str): ``'==always'`` or ``'>=auto'``: which settings ask for it.
        lowest_version (int): Required version of cuDNN.

    Returns:
        bool: Always ``False`` if cuDNN is not enabled.

    Raises:
        ValueError: If the level or the configuration is invalid.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> with chainer.using_config('use_cudnn', 'never'):
        ...     cuda.should_use_cudnn('>=auto')
        False

    """
    if level not in _cudnn.USE_LEVELS:
        raise ValueError(
            f'invalid cuDNN use level: {level!r} (must be either of "==always" or ">=auto")'
        )
    if not _cudnn.is_wanted(level):
        return False
    least = max(lowest_version, 0)
    return _this._cudnn_version >= least or _cudnn.find_version_for_cupy() >= least


def should_use_cudnn_tensor_core(dtype: DTypeSpec) -> bool:
    """Tells whether to use Tensor Cores, by ``chainer.config.use_cudnn_tensor_core``.

    Args:
        dtype: Dtype of the computation; ``'auto'`` means Tensor Cores for float16.

    Returns:
        bool: Always ``False`` if cuDNN is not enabled.

    Raises:
        ValueError: If the configuration is invalid.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> with chainer.using_config('use_cudnn_tensor_core', 'never'):
        ...     cuda.should_use_cudnn_tensor_core(np.float16)
        False

    """
    setting = configuration.config.use_cudnn_tensor_core
    if setting not in ('always', 'auto', 'never'):
        raise ValueError(
            f'invalid use_cudnn_tensor_core configuration: {setting!r} '
            '(must be either of "always", "auto", or "never")'
        )
    if not _this.cudnn_enabled or setting == 'never':
        return False
    return setting == 'always' or numpy.dtype(dtype) == numpy.float16


def get_max_workspace_size() -> int:
    """Gets the largest workspace of cuDNN, in bytes.

    Returns:
        int: Bytes; 0 if there is no cuDNN, neither for CuPy nor for ChainerX.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> cuda.get_max_workspace_size()  # without cuDNN
        0

    """
    if _this.cudnn is not None:
        size: int = _this.cudnn.get_max_workspace_size()
        return size
    return _cudnn.max_workspace_size if _cudnn.find_version() >= 0 else 0


def set_max_workspace_size(size: int) -> None:
    """Sets the largest workspace of cuDNN, which convolutions may take for themselves.

    Args:
        size (int): Bytes.

    Raises:
        ValueError: If the size is negative.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> cuda.set_max_workspace_size(16 * 1024 * 1024)

    """
    if size < 0:
        raise ValueError(f'size must not be negative, but is {size}')
    _cudnn.max_workspace_size = int(size)
    if _this.cudnn is not None:
        _this.cudnn.set_max_workspace_size(int(size))


@memoize(for_each_device=True)
def get_cudnn_dropout_states_core(thread_id: int) -> Any:
    """Makes the dropout states of a thread on the current device.

    Makes them once for each thread and device. Call :func:`get_cudnn_dropout_states` instead.

    Args:
        thread_id (int): Identifier of the thread.

    Returns:
        cupy.cudnn.DropoutStates: States, seeded by ``CHAINER_SEED`` if set.

    .. admonition:: Example

        >>> import threading
        >>> from chainer.backends import cuda
        >>> states = cuda.get_cudnn_dropout_states_core(threading.get_ident())  # doctest: +SKIP

    """
    states_id = next(_dropout_states_count)
    given = os.getenv('CHAINER_SEED')
    seed = int(numpy.random.randint(1 << 31)) if given is None else int(given) + states_id
    return _this.cudnn.DropoutStates(None, seed)


_dropout_states_count = itertools.count()


def get_cudnn_dropout_states() -> Any:
    """Gets the cuDNN dropout states of the current thread and device.

    Returns:
        cupy.cudnn.DropoutStates: States, the same at each call.

    Raises:
        RuntimeError: If cuDNN is not enabled.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> states = cuda.get_cudnn_dropout_states()  # doctest: +SKIP
        >>> states is cuda.get_cudnn_dropout_states()  # doctest: +SKIP
        True

    """
    if _this.cudnn is None:
        raise RuntimeError('cuDNN is not enabled: CuPy has no cuDNN bindings here.')
    return get_cudnn_dropout_states_core(threading.get_ident())


if importlib.util.find_spec('cupy') is None:
    # Without CuPy there is no import to delay, and existing names are faster to look up.
    _load_cupy()
