"""Stand-in for CuPy in tests: its names and rules, on the host's memory.

Put the folder of this package on ``sys.path`` to have it for ``cupy``. It computes with NumPy, but
its arrays are no arrays for NumPy, carry a device, and mix with those of no other device. It has
only names that CuPy has (``api.txt``), so code that runs on it finds the same ones there.
"""

import functools
import types

import numpy

from cupy import _dlpack, cuda as cuda
from cupy._api import MAJOR as _MAJOR
from cupy._array import _add_operators, ndarray as ndarray, wrap as _wrap
from cupy._functions import lazily as _lazily, module as _module, ufunc as ufunc
from cupy._kernels import (
    ElementwiseKernel as ElementwiseKernel,
    RawKernel as RawKernel,
    RawModule as RawModule,
    ReductionKernel as ReductionKernel,
)

__version__ = {13: '13.6.0', 14: '14.2.0'}[_MAJOR]
__getattr__, __dir__ = _lazily('cupy', globals(), numpy)


# -- to and from the device --


def array(obj, dtype=None, copy=True, order='K', subok=False, ndmin=0, *, blocking=False):
    if isinstance(obj, ndarray):
        here = obj._mem.device_id == cuda.runtime.getDevice()
        if not copy and here and dtype in (None, obj.dtype) and obj.ndim >= ndmin:
            return obj
        obj = obj._a
    else:
        obj = _unwrapped(obj)
    with numpy.errstate(all='ignore'):
        return _wrap(numpy.array(obj, dtype=dtype, order=order, ndmin=ndmin))


def _unwrapped(obj):
    """Lists of CuPy's arrays as lists of NumPy's."""
    if isinstance(obj, (list, tuple)):
        return [_unwrapped(x) for x in obj]
    return obj._a if isinstance(obj, ndarray) else obj


def asarray(a, dtype=None, order=None, *, copy=None, blocking=False):
    return array(a, dtype, copy=bool(copy), order=order or 'K')


def asanyarray(a, dtype=None, order=None, *, copy=None, blocking=False):
    return asarray(a, dtype, order, copy=copy)


def ascontiguousarray(a, dtype=None):
    if isinstance(a, ndarray) and a.flags.c_contiguous and dtype in (None, a.dtype) and a.ndim:
        return a
    return array(a, dtype, order='C', ndmin=1)


def asnumpy(a, stream=None, order='C', out=None, *, blocking=True):
    return a.get(stream, order, out) if isinstance(a, ndarray) else numpy.asarray(a, order=order)


def copyto(dst, src, casting='same_kind', where=None):
    if not isinstance(src, ndarray) and isinstance(src, numpy.ndarray):
        raise TypeError(f'Unsupported type {type(src)}')
    src, where = [x._a if isinstance(x, ndarray) else x for x in (src, where)]
    numpy.copyto(dst._a, src, casting, True if where is None else where)


def from_dlpack(array, *, device=None, copy=None):
    kind, index = array.__dlpack_device__()
    if kind != 2:
        raise TypeError('CPU arrays cannot be directly imported to CuPy.')
    if isinstance(array, ndarray):
        return array.view()
    with cuda.Device(index):
        stream = cuda.get_current_stream().ptr or 1
        return _wrap(_dlpack.take(array, index, stream, copy))


def get_array_module(*args):
    import sys

    return sys.modules[__name__] if any(isinstance(x, ndarray) for x in args) else numpy


def take(a, indices, axis=None, out=None):
    return a.take(indices, axis, out)


class _Grid:
    """``mgrid`` and ``ogrid``, whose arrays are on the device."""

    def __init__(self, host):
        self._host = host

    def __getitem__(self, key):
        result = self._host[key]
        return [_wrap(x) for x in result] if isinstance(result, (tuple, list)) else _wrap(result)


mgrid, ogrid = _Grid(numpy.mgrid), _Grid(numpy.ogrid)


# -- the rest that is not NumPy's --


def get_default_memory_pool():
    return cuda._memory.default_pool


def get_default_pinned_memory_pool():
    return cuda._memory.default_pinned_pool


def is_available():
    return cuda.is_available()


_memos = []


def memoize(for_each_device=False):
    def decorator(f):
        memo = {}
        _memos.append(memo)

        @functools.wraps(f)
        def remember(*args, **kwargs):
            device = cuda.runtime.getDevice() if for_each_device else -1
            key = device, args, frozenset(kwargs.items())
            if key not in memo:
                memo[key] = f(*args, **kwargs)
            return memo[key]

        return remember

    return decorator


def clear_memo():
    for memo in _memos:
        memo.clear()


def fuse(*args, **kwargs):
    """Runs the function as it is: fusing changes no result."""

    def wrapper(f, kernel_name=None):
        name = kernel_name or f.__name__

        @functools.wraps(f)
        def fused(*args):
            if not name.isidentifier():
                raise ValueError(f'Invalid kernel name: "{name}"')
            if any(isinstance(x, numpy.ndarray) for x in args) and any(
                isinstance(x, ndarray) for x in args
            ):
                raise TypeError('Fusing mixes numpy.ndarray and cupy.ndarray')
            return f(*args)

        return fused

    if len(args) == 1 and not kwargs and callable(args[0]):
        return wrapper(args[0])
    return lambda f: wrapper(f, *args, **kwargs)


_add_operators()
fft, linalg = _module('cupy.fft', numpy.fft), _module('cupy.linalg', numpy.linalg)
lib = types.ModuleType('cupy.lib')
lib.stride_tricks = _module('cupy.lib.stride_tricks', numpy.lib.stride_tricks)
from cupy import random as random  # noqa: E402
