"""Names that NumPy 1.20 to 2 have removed."""

from __future__ import annotations

import ast
import builtins
import functools
import math
import sys
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_BUILTINS = ('bool', 'complex', 'float', 'int', 'object', 'str')
_SCALARS = {
    'bool8': 'bool_',
    'bytes0': 'bytes_',
    'cfloat': 'complex128',
    'clongfloat': 'clongdouble',
    'complex_': 'complex128',
    'float_': 'float64',
    'int0': 'intp',
    'longcomplex': 'clongdouble',
    'longfloat': 'longdouble',
    'object0': 'object_',
    'singlecomplex': 'complex64',
    'str0': 'str_',
    'string_': 'bytes_',
    'uint0': 'uintp',
    'unicode_': 'str_',
    'void0': 'void',
}
_FUNCTIONS = {
    'alltrue': 'all',
    'cumproduct': 'cumprod',
    'mat': 'asmatrix',
    'product': 'prod',
    'round_': 'round',
    'row_stack': 'vstack',
    'sometrue': 'any',
    'trapz': 'trapezoid',
}
_EXCEPTIONS = (
    'AxisError',
    'ComplexWarning',
    'ModuleDeprecationWarning',
    'RankWarning',
    'TooHardError',
    'VisibleDeprecationWarning',
)
_CONSTANTS = {
    **dict.fromkeys(('Inf', 'Infinity', 'PINF', 'infty'), math.inf),
    **dict.fromkeys(('NAN', 'NaN'), math.nan),
    'NINF': -math.inf,
    'NZERO': -0.0,
    'PZERO': 0.0,
}
# Kinds of dtypes, in the order in which scalars win over arrays
_KINDS = 'buifcSUVOMm'


def names() -> dict[str, Any]:
    """Returns the values of names that this NumPy lacks."""
    # Not `getattr`, which may end here again.
    known = vars(numpy)
    exceptions = known.get('exceptions')
    found: dict[str, Any] = {name: getattr(builtins, name) for name in _BUILTINS}
    found |= {'long': int, 'unicode': str, 'math': math, 'safe_eval': ast.literal_eval}
    found |= {name: known[new] for name, new in _SCALARS.items()}
    found |= {name: known.get(new) for name, new in _FUNCTIONS.items()}
    found |= {name: getattr(exceptions, name, None) for name in _EXCEPTIONS}
    found |= _CONSTANTS
    found |= {function.__name__: function for function in _OWN}
    found['cast'] = _Cast()
    return {k: value for k, value in found.items() if k not in known and value is not None}


def install() -> None:
    """Gives NumPy these names, and lets it make ragged arrays."""
    vars(numpy).update(names())
    for name in 'array', 'asarray', 'asanyarray':
        function = getattr(numpy, name)
        if not hasattr(function, '_is_lenient'):
            setattr(numpy, name, _lenient(function))


def _lenient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a function make arrays of objects of sequences of unequal lengths."""

    @functools.wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except ValueError as error:
            has_dtype = len(args) > 1 or kwargs.get('dtype') is not None
            caller = sys._getframe(1).f_globals.get('__name__', '')
            # Chainer itself reports unequal lengths.
            if has_dtype or 'inhomogeneous' not in str(error) or caller.startswith('chainer.'):
                raise
        kwargs['dtype'] = object
        return function(*args, **kwargs)

    make._is_lenient = True  # type: ignore[attr-defined]
    return make


class _Cast:
    """Functions that convert to a dtype, by the dtype."""

    def __getitem__(self, dtype: Any) -> Callable[[Any], Any]:
        return lambda a: numpy.asarray(a).astype(dtype)


def alen(a: Any) -> int:
    """Length of the first axis; 1 for a scalar."""
    return len(numpy.atleast_1d(a))


def asfarray(a: Any, dtype: Any = numpy.float64) -> Any:
    """Converts to an array of floating point numbers."""
    is_inexact = numpy.issubdtype(dtype, numpy.inexact)
    return numpy.asarray(a, dtype if is_inexact else numpy.float64)


def asscalar(a: Any) -> Any:
    """Python's number of an array of one element."""
    return a.item()


def fastCopyAndTranspose(a: Any) -> Any:  # noqa: N802
    """Copy of the transpose."""
    return numpy.array(numpy.asarray(a).T)


def find_common_type(array_types: Iterable[Any], scalar_types: Iterable[Any]) -> Any:
    """Dtype of a result: that of scalars only counts if its kind is a higher one."""
    arrays, scalars = (
        numpy.result_type(*types) if (types := [*map(numpy.dtype, given)]) else None
        for given in (array_types, scalar_types)
    )
    if arrays is None or scalars is None:
        return scalars if arrays is None else arrays
    is_higher = _KINDS.index(scalars.kind) > _KINDS.index(arrays.kind)
    return numpy.promote_types(arrays, scalars) if is_higher else arrays


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """Whether each element of a flattened array is in another one."""
    return numpy.isin(numpy.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert)


def issubclass_(arg1: Any, arg2: Any) -> bool:
    """``issubclass``, with ``False`` for what is no class."""
    return isinstance(arg1, type) and issubclass(arg1, arg2)


def issubsctype(arg1: Any, arg2: Any) -> bool:
    """Whether a scalar type is a subtype of another one."""
    return numpy.issubdtype(arg1, arg2)


def msort(a: Any) -> Any:
    """Copy, sorted along the first axis."""
    return numpy.sort(a, axis=0)


def obj2sctype(rep: Any, default: Any = None) -> Any:
    """Scalar type of a dtype, or of an object."""
    try:
        return numpy.dtype(rep).type
    except TypeError:
        return default


_OWN = (
    alen,
    asfarray,
    asscalar,
    fastCopyAndTranspose,
    find_common_type,
    in1d,
    issubclass_,
    issubsctype,
    msort,
    obj2sctype,
)
