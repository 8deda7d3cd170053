"""Whether cuDNN is used, and its settings. The public names are in ``cuda``."""

from __future__ import annotations

import itertools
import os
import threading
from typing import TYPE_CHECKING, Any

import numpy

from chainer import configuration
from chainer.backends import _cuda_kernels, cuda

if TYPE_CHECKING:
    from chainer.types import DTypeSpec

_USE_CUDNN_LEVELS = {
    '==always': {'always': True, 'auto': False, 'never': False},
    '>=auto': {'always': True, 'auto': True, 'never': False},
}
_max_workspace_size = 8 * 1024 * 1024


def should_use_cudnn(level: str, lowest_version: int = 0) -> bool:
    """Tells whether cuDNN is to be used, by ``chainer.config.use_cudnn``.

    Args:
        level (str): ``'==always'`` or ``'>=auto'``: which settings ask for it.
        lowest_version (int): Version of cuDNN that is needed.

    Returns:
        bool: ``False`` always where cuDNN is not enabled.

    Raises:
        ValueError: If the level or the configuration is not understood.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> with chainer.using_config('use_cudnn', 'never'):
        ...     cuda.should_use_cudnn('>=auto')
        False

    """
    if level not in _USE_CUDNN_LEVELS:
        raise ValueError(
            f'invalid cuDNN use level: {level!r} (must be either of "==always" or ">=auto")'
        )
    flags = _USE_CUDNN_LEVELS[level]
    use_cudnn = configuration.config.use_cudnn
    if use_cudnn not in flags:
        raise ValueError(
            f'invalid use_cudnn configuration: {use_cudnn!r} '
            '(must be either of "always", "auto", or "never")'
        )
    return flags[use_cudnn] and cuda._cudnn_version >= max(lowest_version, 0)


def should_use_cudnn_tensor_core(dtype: DTypeSpec) -> bool:
    """Tells whether Tensor Cores are to be used, by ``chainer.config.use_cudnn_tensor_core``.

    Args:
        dtype: Dtype of the computation; ``'auto'`` means Tensor Cores for float16.

    Returns:
        bool: ``False`` always where cuDNN is not enabled.

    Raises:
        ValueError: If the configuration is not understood.

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
    if not cuda.cudnn_enabled or setting == 'never':
        return False
    return setting == 'always' or numpy.dtype(dtype) == numpy.float16


def get_max_workspace_size() -> int:
    """Gets the largest workspace of cuDNN, in bytes.

    Returns:
        int: Bytes.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> cuda.get_max_workspace_size()
        8388608

    """
    return _max_workspace_size


def set_max_workspace_size(size: int) -> None:
    """Sets the largest workspace of cuDNN.

    Args:
        size (int): Bytes.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> size = cuda.get_max_workspace_size()
        >>> cuda.set_max_workspace_size(16 * 1024 * 1024)
        >>> cuda.get_max_workspace_size()
        16777216
        >>> cuda.set_max_workspace_size(size)

    """
    global _max_workspace_size
    _max_workspace_size = int(size)
    if cuda.cudnn_enabled:
        cuda.cudnn.set_max_workspace_size(_max_workspace_size)


@_cuda_kernels.memoize(for_each_device=True)
def get_cudnn_dropout_states_core(thread_id: int) -> Any:
    """Makes the dropout states of a thread on the current device.

    They are made once for each thread and device. :func:`get_cudnn_dropout_states` is what to
    call.

    Args:
        thread_id (int): Identifier of the thread.

    Returns:
        cupy.cudnn.DropoutStates: States, seeded by ``CHAINER_SEED`` where that is set.

    .. admonition:: Example

        >>> import threading
        >>> from chainer.backends import cuda
        >>> states = cuda.get_cudnn_dropout_states_core(threading.get_ident())  # doctest: +SKIP

    """
    states_id = next(_dropout_states_count)
    seed = os.getenv('CHAINER_SEED')
    seed = int(seed) + states_id if seed is not None else int(numpy.random.randint(1 << 31))
    return cuda.cudnn.DropoutStates(None, seed)


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
    if not cuda.cudnn_enabled:
        raise RuntimeError('cuDNN is not enabled: CuPy has no cuDNN bindings here.')
    return cuda.get_cudnn_dropout_states_core(threading.get_ident())
