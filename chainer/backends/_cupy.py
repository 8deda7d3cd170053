"""CuPy, imported on first use. The public names are in ``cuda``."""

from __future__ import annotations

import functools
import glob
import importlib
import importlib.util
import os
import warnings
from typing import Any

from chainer._core.names.set_module import set_module
from chainer._core.settings import environment
from chainer.backends import _cupy_absent

#: What :func:`load` gives: names of CuPy, or those of `_cupy_absent` if CuPy is not usable.
NAMES = frozenset(
    {
        'available',
        'cupy',
        'cudnn',
        'libcudnn',
        'ndarray',
        'Device',
        'Event',
        'Stream',
        '_resolution_error',
        '_cudnn_version',
    }
)
_OLDEST_CUPY = 13
_DEVICE_FILES = '/dev/nvidia[0-9]*'

#: The module ``chainer.backends.cuda``, which sets it and has `NAMES` as attributes. Chainer reads
#: them there because programs, such as tests, replace them there.
public: Any = None


@functools.cache
def load() -> dict[str, Any]:
    """Imports CuPy; returns the objects by `NAMES`."""
    reason: Exception | None = None
    try:
        cupy = _import_cupy()
    except Exception as error:
        # Without the frames that it passed, whose variables would live as long as it does: those
        # of the code that makes the first parameter.
        error.__cause__ = error.__context__ = None
        _cupy_absent.error = reason = error.with_traceback(None)
        cupy, cuda, ndarray = _cupy_absent.CupyPlaceholder(), _cupy_absent, _cupy_absent.ndarray
    else:
        cuda, ndarray = cupy.cuda, cupy.ndarray
        _check_cupy_version(cupy)
    return {
        'available': reason is None,
        '_resolution_error': reason,
        'cupy': cupy,
        'ndarray': ndarray,
        **{name: getattr(cuda, name) for name in ('Device', 'Event', 'Stream')},
        **_import_cudnn(reason is None and environment.get_flag('CHAINER_CUDNN', True)),
    }


def _import_cupy() -> Any:
    if importlib.util.find_spec('cupy') is None:
        raise ImportError("No module named 'cupy'")
    if 'CHAINER_SEED' in os.environ:
        # CuPy reads its seed from another variable.
        os.environ.setdefault('CUPY_SEED', os.environ['CHAINER_SEED'])
    module = importlib.import_module('cupy')
    if not _finds_gpu(module):
        raise RuntimeError('CuPy finds no CUDA device')
    return module


def _finds_gpu(module: Any) -> bool:
    # A process that asks CUDA for its devices starts it, and its forks cannot use CUDA any more:
    # the workers of MultiprocessParallelUpdater.
    if os.environ.get('CUDA_VISIBLE_DEVICES', '0') not in ('', '-1') and glob.glob(_DEVICE_FILES):
        return True
    return bool(module.cuda.is_available())


def _check_cupy_version(module: Any) -> None:
    major = module.__version__.split('.')[0]
    if (
        major.isdigit()
        and int(major) < _OLDEST_CUPY
        and environment.get_flag('CHAINER_WARN_VERSION_MISMATCH', True)
    ):
        warnings.warn(
            f'CuPy ({module.__version__}) is older than the oldest version that this version of '
            f'Chainer supports ({_OLDEST_CUPY}.0).'
        )


def _import_cudnn(is_wanted: bool) -> dict[str, Any]:
    try:
        if is_wanted:
            libcudnn = importlib.import_module('cupy_backends.cuda.libs.cudnn')
            return {
                'cudnn': importlib.import_module('cupy.cudnn'),
                'libcudnn': libcudnn,
                '_cudnn_version': libcudnn.getVersion(),
            }
    except Exception:
        pass  # CuPy 14 has no bindings, and those of CuPy 13 fail without cuDNN.
    return {'cudnn': None, 'libcudnn': None, '_cudnn_version': -1}


def cudnn_version() -> int:
    """Version of the bindings of cuDNN; -1 without them."""
    version: int = public._cudnn_version
    return version


@set_module('chainer.backends.cuda')
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
    if not public.available:
        _cupy_absent.fail()
