"""Stand-in for CuPy's extensions; see :mod:`cupy`."""

import numpy
from cupy._array import call as _call, in_range as _in_range, ndarray as _ndarray

from cupyx import scipy as scipy


def rsqrt(x, /, out=None, *, casting='same_kind', dtype=None):
    import cupy

    return cupy.true_divide(1, cupy.sqrt(x), out=out)


def _scatter(routine):
    def scatter(a, slices, value):
        if not isinstance(a, _ndarray):
            raise TypeError(f'Unsupported type {type(a)}')
        _call(routine.at, (a, _in_range(a.shape, slices), value), {})

    return scatter


scatter_add = _scatter(numpy.add)
scatter_max = _scatter(numpy.maximum)
scatter_min = _scatter(numpy.minimum)


def empty_pinned(shape, dtype=float, order='C'):
    return numpy.empty(shape, dtype, order)


def zeros_pinned(shape, dtype=float, order='C'):
    return numpy.zeros(shape, dtype, order)


def get_runtime_info(*, full=True):
    import cupy

    return f'CuPy Version          : {cupy.__version__} (stand-in)'
