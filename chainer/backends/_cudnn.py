"""The cuDNN that ChainerX's CUDA backend loads: whether it is there, and how it computes.

``cuda`` has the public functions, which also know the bindings of CuPy.
"""

from __future__ import annotations

import chainerx
from chainer import configuration
from chainer.backends import _cupy

USE_LEVELS = {
    '==always': {'always': True, 'auto': False, 'never': False},
    '>=auto': {'always': True, 'auto': True, 'never': False},
}

#: Bytes that an algorithm may take for itself.
max_workspace_size = 8 * 1024 * 1024


def find_version() -> int:
    """Version of the library; -1 without the CUDA backend or without the library."""
    if not chainerx.is_available():
        return -1
    try:
        chainerx.get_backend('cuda')
        return chainerx._core._get_dnn_version() or -1
    except chainerx.ChainerxError:
        return -1


def find_version_for_cupy() -> int:
    """The same for functions of CuPy arrays, which run on ChainerX's kernels if asked to."""
    is_asked = configuration.config.use_native_kernels == 'always'
    return find_version() if is_asked and _cupy.available else -1


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
    chainerx._core._set_dnn_settings(_get_settings)
