"""Copies of arrays between the host and GPUs. The public names are in ``cuda``."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

from chainer._core.devices.device import convert_arrays
from chainer._core.names.set_module import set_module
from chainer.backends import _cupy, _transfer
from chainer.backends._gpu_device import get_device_or_current

if TYPE_CHECKING:
    from chainer._core.devices.types import CudaDeviceSpec
    from chainer._core.settings.types import CupyArray


def _warn_stream(name: str) -> None:
    warnings.warn(
        f'The stream option of chainer.backends.cuda.{name} is deprecated: use the stream as a '
        'context manager instead.',
        DeprecationWarning,
        stacklevel=3,
    )


@set_module('chainer.backends.cuda')
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
    _cupy.check_cuda_available()
    device = get_device_or_current(device)
    return convert_arrays(array, lambda x: _transfer.to_gpu(x, device, stream))


@set_module('chainer.backends.cuda')
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
        return convert_arrays(array, _transfer.to_cpu)
    _warn_stream('to_cpu')
    with stream:
        return convert_arrays(array, _transfer.to_cpu)


@set_module('chainer.backends.cuda')
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
    _cupy.check_cuda_available()
    if not isinstance(array, _cupy.public.ndarray):
        raise TypeError(f'array must be a cupy.ndarray, not {type(array)}')
    if out is None:
        device = array.device if out_device is None else get_device_or_current(out_device)
        with device:
            out = _cupy.public.cupy.empty_like(array)
    elif out_device is not None:
        raise ValueError('out and out_device cannot be given together')
    with out.device, contextlib.nullcontext() if stream is None else stream:
        _cupy.public.cupy.copyto(out, array)
    return out
