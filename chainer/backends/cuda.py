"""CUDA through CuPy, which is optional.

The module is usable without CuPy: :data:`available` is ``False`` then, and what needs CUDA raises
an error that says why. CuPy is imported when something of it is first asked for, not when Chainer
is imported.

Attributes:
    available (bool): Whether CuPy is installed and sees a CUDA device.
    cudnn_enabled (bool): Whether CuPy has its cuDNN bindings (CuPy 14 has none).
    cupy: The :mod:`cupy` module, or a placeholder that raises an error on use.

"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import _backend, _environment
from chainer.backends._cuda_kernels import (  # noqa: F401
    clear_memo as clear_memo,
    elementwise as elementwise,
    fuse as fuse,
    memoize as memoize,
    raw as raw,
    reduce as reduce,
)
from chainer.backends._cudnn import (  # noqa: F401
    get_cudnn_dropout_states as get_cudnn_dropout_states,
    get_cudnn_dropout_states_core as get_cudnn_dropout_states_core,
    get_max_workspace_size as get_max_workspace_size,
    set_max_workspace_size as set_max_workspace_size,
    should_use_cudnn as should_use_cudnn,
    should_use_cudnn_tensor_core as should_use_cudnn_tensor_core,
)

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from chainer.backends._cupy_absent import Device
    from chainer.types import CudaDeviceSpec, CupyArray, VariableLike, Xp

    # What `_load_cupy` sets
    available: bool
    cudnn_enabled: bool
    cupy: Any
    cudnn: Any
    libcudnn: Any

# Names that come from CuPy, or from `_cupy_absent` where it is not usable.
_LAZY_NAMES = frozenset(
    (
        'available',
        'cudnn_enabled',
        'cupy',
        'cudnn',
        'libcudnn',
        'ndarray',
        'Device',
        'Event',
        'Stream',
        '_resolution_error',
        '_cudnn_version',
    )
)
_OLDEST_CUPY = 13

# Attribute access through the module object triggers the import of CuPy, as for users.
_this = sys.modules[__name__]
_integer_types = (int, numpy.integer)


def __getattr__(name: str) -> Any:
    if name not in _LAZY_NAMES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    _load_cupy()
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY_NAMES})


def _load_cupy():
    from chainer.backends import _cupy_absent

    error = None
    try:
        if importlib.util.find_spec('cupy') is None:
            raise ImportError("No module named 'cupy'")
        if 'CHAINER_SEED' in os.environ:
            # CuPy reads its seed from its own variable.
            os.environ.setdefault('CUPY_SEED', os.environ['CHAINER_SEED'])
        module = importlib.import_module('cupy')
        if not module.cuda.is_available():
            raise RuntimeError('CuPy finds no CUDA device')
    except Exception as e:
        error = e
    names = globals()
    names.update(cudnn=None, libcudnn=None, cudnn_enabled=False, _cudnn_version=-1)
    if error is not None:
        names.update(
            available=False,
            _resolution_error=error,
            cupy=_cupy_absent.CupyPlaceholder(),
            ndarray=_cupy_absent.ndarray,
            Device=_cupy_absent.Device,
            Event=_cupy_absent.Event,
            Stream=_cupy_absent.Stream,
        )
        return
    names.update(
        available=True,
        _resolution_error=None,
        cupy=module,
        ndarray=module.ndarray,
        Device=module.cuda.Device,
        Event=module.cuda.Event,
        Stream=module.cuda.Stream,
    )
    _check_cupy_version(module)
    if _environment.get_flag('CHAINER_CUDNN', True):
        try:
            names.update(
                cudnn=importlib.import_module('cupy.cudnn'),
                libcudnn=importlib.import_module('cupy_backends.cuda.libs.cudnn'),
            )
            names.update(cudnn_enabled=True, _cudnn_version=_this.libcudnn.getVersion())
        except Exception:
            # CuPy 14 has no bindings, and those of CuPy 13 fail without cuDNN.
            names.update(cudnn=None, libcudnn=None, cudnn_enabled=False, _cudnn_version=-1)


def _check_cupy_version(module):
    major = module.__version__.split('.')[0]
    if (
        major.isdigit()
        and int(major) < _OLDEST_CUPY
        and _environment.get_flag('CHAINER_WARN_VERSION_MISMATCH', True)
    ):
        warnings.warn(
            f'CuPy ({module.__version__}) is older than the oldest version that this version of '
            f'Chainer supports ({_OLDEST_CUPY}.0).'
        )


def check_cuda_available() -> None:
    """Raises an error that says why, if CUDA is not available.

    Raises:
        RuntimeError: If CUDA is not available.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> def send(array):
        ...     cuda.check_cuda_available()
        ...     return cuda.to_gpu(array)

    """
    if not _this.available:
        raise RuntimeError(
            'CUDA environment is not correctly set up: install a CuPy that fits your CUDA, such '
            f'as cupy-cuda12x.\nReason: {_this._resolution_error}'
        )


# -- devices ------------------------------------------------------------------


class DummyDeviceType:
    """Device that does nothing, for arrays that are not on a GPU.

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
        TypeError: If ``device`` is something else.

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
        return _array_to_gpu(array, self.device)


def _get_device_or_current(device):
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
        device_id (int): Id. ``None`` and negative ids, which scripts use for the CPU, give
            ``DummyDevice``.

    Returns:
        CUDA device, usable in a ``with`` statement.

    Raises:
        RuntimeError: If CUDA is not available, for an id of zero or more.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> cuda.get_device_from_id(-1)
        <CPU (dummy CUDA device)>

    """
    if device_id is None or device_id < 0:
        return DummyDevice
    check_cuda_available()
    return _this.Device(int(device_id))


def get_device_from_array(*arrays: VariableLike) -> Device | DummyDeviceType:
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
        args: Ids, CUDA devices, arrays or variables. The first one that names a device counts.

    Returns:
        CUDA device; ``DummyDevice`` if none is named.

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


def _is_variable(obj):
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
    # There are no arrays of CuPy as long as nobody has imported it.
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
    """Copies arrays to a GPU, unless they are there.

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
    return _backend.convert_arrays(array, lambda x: _array_to_gpu(x, device, stream))


def _array_to_gpu(array, device, stream=None):
    if array is None:
        return None
    if isinstance(array, chainerx.ndarray):
        from chainer.backends import _chainerx

        array = _chainerx._array_from_chx(array)
    elif isinstance(array, (numpy.number, numpy.bool_)):
        array = numpy.asarray(array)
    if isinstance(array, _this.ndarray):
        if array.device == device:
            return array
        is_numpy = False
    elif isinstance(array, numpy.ndarray):
        is_numpy = True
    else:
        raise TypeError(
            'The array sent to gpu must be an array or a NumPy scalar.\n'
            f'Actual type: {type(array)}.'
        )
    with device:
        if stream is None or stream.ptr == 0:
            return _this.cupy.array(array)
        with stream:
            if is_numpy:
                result = _this.cupy.empty(array.shape, array.dtype)
                result.set(numpy.ascontiguousarray(array), stream)
            else:
                result = array.copy()
            return result


def to_cpu(array: Any, stream: Any = None) -> Any:
    """Copies arrays to the host, unless they are there.

    Args:
        array: Array of any module, NumPy scalar, ``None``, or lists, tuples and dictionaries of
            them.
        stream: CUDA stream of the copies (deprecated).

    Returns:
        NumPy arrays in the same structure. NumPy arrays are returned themselves; those of
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
    from chainer.backends import _cpu

    if stream is None:
        return _cpu._to_cpu(array)
    _warn_stream('to_cpu')
    with stream:
        return _cpu._to_cpu(array)


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


if importlib.util.find_spec('cupy') is None:
    # Nothing to delay, and names that are there are faster to look up.
    _load_cupy()
