"""CuPy, imported on first use. The public names are in ``cuda``."""

import glob
import importlib
import importlib.util
import os
import sys
import warnings

from chainer._core.settings import environment as _environment
from chainer.backends import _cupy_absent

# Names from CuPy, or from `_cupy_absent` if CuPy is not usable.
LAZY_NAMES = frozenset(
    (
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
    )
)
_OLDEST_CUPY = 13
_DEVICE_FILES = '/dev/nvidia[0-9]*'

# Attribute access through the module object triggers the import of CuPy.
_this = sys.modules[__name__]


def __getattr__(name):
    if name not in LAZY_NAMES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    _load()
    return globals()[name]


def _load():
    error = None
    try:
        if importlib.util.find_spec('cupy') is None:
            raise ImportError("No module named 'cupy'")
        if 'CHAINER_SEED' in os.environ:
            # CuPy reads its seed from another variable.
            os.environ.setdefault('CUPY_SEED', os.environ['CHAINER_SEED'])
        module = importlib.import_module('cupy')
        if not _finds_gpu(module):
            raise RuntimeError('CuPy finds no CUDA device')
    except Exception as e:
        error = e
    names = globals()
    names.update(cudnn=None, libcudnn=None, _cudnn_version=-1)
    if error is not None:
        _cupy_absent.error = error
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
            names.update(_cudnn_version=names['libcudnn'].getVersion())
        except Exception:
            # CuPy 14 has no bindings, and those of CuPy 13 fail without cuDNN.
            names.update(cudnn=None, libcudnn=None, _cudnn_version=-1)


def _finds_gpu(module):
    # A process that asks CUDA for its devices starts it, and its forks cannot use CUDA any more:
    # the workers of MultiprocessParallelUpdater.
    if os.environ.get('CUDA_VISIBLE_DEVICES', '0') not in ('', '-1') and glob.glob(_DEVICE_FILES):
        return True
    return module.cuda.is_available()


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
        _cupy_absent.fail()
