"""Versions of Chainer's environment."""

from __future__ import annotations

import platform
import sys
from typing import TYPE_CHECKING, TextIO

import numpy

import chainerx
from chainer import _version
from chainer._core.names.set_module import set_module
from chainer.backends import _cudnn, _cupy_absent, _ideep, cuda, intel64
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Iterator


def _get_lines() -> Iterator[str]:
    yield f'Platform: {platform.platform()} (Python {platform.python_version()})'
    yield f'Chainer: {_version.__version__}'
    yield f'ChainerX: {_describe_chainerx()}'
    yield f'NumPy: {numpy.__version__}'
    if cuda.available:
        yield 'CuPy:'
        for line in str(_get_cupy_info()).splitlines():
            yield f'  {line}'
        yield f'  cuDNN bindings        : {"enabled" if cuda.cudnn else "not enabled"}'
    else:
        yield f'CuPy: Not Available ({_get_reason(_cupy_absent.error)})'
    if intel64.is_ideep_available():
        yield f'iDeep: {intel64.ideep.__version__}'
    else:
        yield f'iDeep: Not Available ({_get_reason(_ideep.error)})'


def _describe_chainerx() -> str:
    if not chainerx.is_available():
        return f'Not Available ({_get_chainerx_reason()})'
    version = getattr(chainerx, '__version__', 'Available')
    core_type, reason, _ = _internal.get_blas_core()
    parts = *_get_chainerx_backends(), f'OpenBLAS for {core_type}, {reason}'
    return f'{version} ({"; ".join(parts)})'


def _get_reason(error: object) -> str:
    return f'{type(error).__name__}: {error}'.replace('\n', ' ')


def _get_chainerx_reason() -> str:
    try:
        chainerx.get_default_device()
    except Exception as e:
        return _get_reason(e)
    return 'it is not built'


def _get_chainerx_backends() -> Iterator[str]:
    context = chainerx.get_default_context()
    for name in ('native', 'cuda'):
        try:
            count = context.get_backend(name).get_device_count()
        except Exception as e:
            # Most builds have no CUDA, which the long error only repeats.
            yield f'no {name}' if 'unknown backend' in str(e) else f'no {name}: {_get_reason(e)}'
        else:
            yield f'{name}: {count} device(s)'
            if name == 'cuda':
                version = _cudnn.find_version()
                yield f'cuDNN {version}' if version >= 0 else 'no cuDNN'


def _get_cupy_info() -> object:
    import cupyx

    return cupyx.get_runtime_info()


@set_module('chainer')
def print_runtime_info(out: TextIO | None = None) -> None:
    """Prints the versions of Chainer's environment, and why optional parts are not available.

    Args:
        out: Text file; standard output by default.

    .. admonition:: Example

        >>> import io
        >>> out = io.StringIO()
        >>> chainer.print_runtime_info(out)
        >>> [line.split(':')[0] for line in out.getvalue().splitlines()[:3]]
        ['Platform', 'Chainer', 'ChainerX']

    """
    if out is None:
        out = sys.stdout
    print('\n'.join(_get_lines()), file=out)
    if hasattr(out, 'flush'):
        out.flush()
