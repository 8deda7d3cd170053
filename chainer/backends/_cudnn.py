"""cuDNN: whether functions use it, and how it computes. The public names are in ``cuda``.

ChainerX's CUDA backend loads the library by itself, and CuPy before version 14 has bindings of it.
"""

from __future__ import annotations

import itertools
import os
import threading
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import configuration
from chainer._core.names.set_module import set_module
from chainer.backends import _cupy
from chainer.backends._cuda_kernels import memoize
from chainerx import _internal

if TYPE_CHECKING:
    from chainer._core.settings.types import DTypeSpec

USE_LEVELS = {
    '==always': {'always': True, 'auto': False, 'never': False},
    '>=auto': {'always': True, 'auto': True, 'never': False},
}

#: Bytes that an algorithm may take for itself.
max_workspace_size = 256 * 1024 * 1024


def find_version() -> int:
    """Version of ChainerX's library; -1 without the CUDA backend or without the library."""
    if not chainerx.is_available():
        return -1
    try:
        chainerx.get_backend('cuda')
        return _internal.get_dnn_version() or -1
    except chainerx.ChainerxError:
        return -1


def find_version_for_cupy() -> int:
    """The same for functions of CuPy arrays, which run on ChainerX's kernels where it has them."""
    are_used = configuration.config.use_native_kernels != 'never'
    return find_version() if are_used and _cupy.public.available else -1


def is_enabled() -> bool:
    """Whether functions of CuPy arrays can use it: ``cuda.cudnn_enabled``."""
    return max(_cupy.cudnn_version(), find_version_for_cupy()) >= 0


def is_wanted(level: str) -> bool:
    """Whether the configuration asks for cuDNN at a level of `USE_LEVELS`."""
    flags = USE_LEVELS[level]
    use_cudnn = configuration.config.use_cudnn
    if use_cudnn not in flags:
        raise ValueError(
            f'invalid use_cudnn configuration: {use_cudnn!r} '
            '(must be either of "always", "auto", or "never")'
        )
    return flags[use_cudnn]


def _get_settings() -> tuple[object, ...]:
    config = configuration.config
    return (
        is_wanted('>=auto'),
        config.autotune,
        config.cudnn_deterministic,
        config.cudnn_fast_batch_normalization,
        max_workspace_size,
    )


if chainerx.is_available():
    _internal.set_dnn_settings(_get_settings)


@set_module('chainer.backends.cuda')
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
    if level not in USE_LEVELS:
        raise ValueError(
            f'invalid cuDNN use level: {level!r} (must be either of "==always" or ">=auto")'
        )
    if not is_wanted(level):
        return False
    least = max(lowest_version, 0)
    return _cupy.cudnn_version() >= least or find_version_for_cupy() >= least


@set_module('chainer.backends.cuda')
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
    if not _cupy.public.cudnn_enabled or setting == 'never':
        return False
    return setting == 'always' or numpy.dtype(dtype) == numpy.float16


@set_module('chainer.backends.cuda')
def get_max_workspace_size() -> int:
    """Gets the largest workspace of cuDNN, in bytes.

    Returns:
        int: Bytes; 0 if there is no cuDNN, neither for CuPy nor for ChainerX.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> cuda.get_max_workspace_size()  # without cuDNN
        0

    """
    if _cupy.public.cudnn is not None:
        size: int = _cupy.public.cudnn.get_max_workspace_size()
        return size
    return max_workspace_size if find_version() >= 0 else 0


@set_module('chainer.backends.cuda')
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
    global max_workspace_size
    if size < 0:
        raise ValueError(f'size must not be negative, but is {size}')
    max_workspace_size = int(size)
    if _cupy.public.cudnn is not None:
        _cupy.public.cudnn.set_max_workspace_size(int(size))


@memoize(for_each_device=True)
@set_module('chainer.backends.cuda')
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
    return _cupy.public.cudnn.DropoutStates(None, seed)


_dropout_states_count = itertools.count()


@set_module('chainer.backends.cuda')
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
    if _cupy.public.cudnn is None:
        raise RuntimeError('cuDNN is not enabled: CuPy has no cuDNN bindings here.')
    return get_cudnn_dropout_states_core(threading.get_ident())
