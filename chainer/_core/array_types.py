"""Array classes of all backends."""

import numpy

import chainerx
from chainer.backends import cuda, intel64

_numpy_only = (numpy.ndarray,)
_known_array_types = None


def get_array_types():
    return _array_types()


def get_cpu_array_types():
    return (numpy.ndarray, intel64.mdarray) if intel64.is_ideep_available() else _numpy_only


def _array_types():
    global _known_array_types
    if _known_array_types is None:
        types_ = [*get_cpu_array_types()]
        if cuda.available:
            types_.append(cuda.ndarray)
        if chainerx.is_available():
            types_.append(chainerx.ndarray)
        _known_array_types = tuple(types_)
    return _known_array_types


def is_arrays_compatible(arrays):
    arrays = [a for a in arrays if a is not None]
    if not arrays:
        return True
    first = arrays[0]
    for types_ in ((chainerx.ndarray,), (cuda.ndarray,)):
        if isinstance(first, types_):
            return all(isinstance(a, types_) for a in arrays)
    cpu_types = get_cpu_array_types()
    return all(isinstance(a, cpu_types) for a in arrays)
