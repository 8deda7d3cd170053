"""The Python array API standard, version 2024.12, on ChainerX's arrays.

:meth:`~chainerx.ndarray.__array_namespace__` of arrays returns this namespace, for libraries that
are written for the standard. Most functions are those of :mod:`chainerx`; others differ in default
dtypes, names of arguments and named results, where :mod:`chainerx` keeps what programs of Chainer 7
expect. Gradients flow through all functions that have them.

There is no extension ``fft``.
"""

from typing import Any as _Any, TypeAlias as _TypeAlias

from numpy import dtype as _dtype, e as e, inf as inf, nan as nan, newaxis as newaxis, pi as pi

from chainerx._aliases import (
    abs as abs,
    acos as acos,
    acosh as acosh,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    bitwise_invert as bitwise_invert,
    concat as concat,
    max as max,
    min as min,
    permute_dims as permute_dims,
    pow as pow,
)
from chainerx._core import (
    add as add,
    all as all,
    any as any,
    argsort as argsort,
    bitwise_and as bitwise_and,
    bitwise_or as bitwise_or,
    bitwise_xor as bitwise_xor,
    broadcast_to as broadcast_to,
    conj as conj,
    copysign as copysign,
    cos as cos,
    cosh as cosh,
    diff as diff,
    divide as divide,
    empty_like as empty_like,
    equal as equal,
    exp as exp,
    expand_dims as expand_dims,
    expm1 as expm1,
    flip as flip,
    from_dlpack as from_dlpack,
    full_like as full_like,
    greater as greater,
    greater_equal as greater_equal,
    hypot as hypot,
    imag as imag,
    isfinite as isfinite,
    isinf as isinf,
    isnan as isnan,
    less as less,
    less_equal as less_equal,
    log as log,
    log1p as log1p,
    log2 as log2,
    log10 as log10,
    logaddexp as logaddexp,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    maximum as maximum,
    mean as mean,
    minimum as minimum,
    moveaxis as moveaxis,
    multiply as multiply,
    negative as negative,
    nextafter as nextafter,
    nonzero as nonzero,
    not_equal as not_equal,
    ones_like as ones_like,
    real as real,
    reciprocal as reciprocal,
    remainder as remainder,
    repeat as repeat,
    roll as roll,
    round as round,
    searchsorted as searchsorted,
    sign as sign,
    signbit as signbit,
    sin as sin,
    sinh as sinh,
    sort as sort,
    sqrt as sqrt,
    square as square,
    squeeze as squeeze,
    stack as stack,
    std as std,
    subtract as subtract,
    take as take,
    take_along_axis as take_along_axis,
    tan as tan,
    tanh as tanh,
    tensordot as tensordot,
    tile as tile,
    tril as tril,
    triu as triu,
    var as var,
    vecdot as vecdot,
    where as where,
    zeros_like as zeros_like,
)
from chainerx._dtypes import (
    DTYPES as _DTYPES,
    astype as astype,
    can_cast as can_cast,
    finfo as finfo,
    iinfo as iinfo,
    isdtype as isdtype,
    result_type as result_type,
)
from chainerx._routines import (
    broadcast_arrays as broadcast_arrays,
    meshgrid as meshgrid,
)
from chainerx._standard import (
    cumulative_prod as cumulative_prod,
    cumulative_sum as cumulative_sum,
    isin as isin,
    positive as positive,
    unique_all as unique_all,
    unique_counts as unique_counts,
    unique_inverse as unique_inverse,
    unique_values as unique_values,
    unstack as unstack,
)
from chainerx.array_api import fft as fft, linalg as linalg
from chainerx.array_api._creation import (
    arange as arange,
    asarray as asarray,
    empty as empty,
    eye as eye,
    full as full,
    linspace as linspace,
    ones as ones,
    zeros as zeros,
)
from chainerx.array_api._functions import (
    bitwise_left_shift as bitwise_left_shift,
    bitwise_right_shift as bitwise_right_shift,
    ceil as ceil,
    clip as clip,
    floor as floor,
    floor_divide as floor_divide,
    prod as prod,
    reshape as reshape,
    sum as sum,
    trunc as trunc,
)
from chainerx.array_api._info import __array_namespace_info__ as __array_namespace_info__
from chainerx.array_api._searching import (
    argmax as argmax,
    argmin as argmin,
    count_nonzero as count_nonzero,
)

__array_api_version__ = '2024.12'

_Dtype: _TypeAlias = _dtype[_Any]

bool: _Dtype = _DTYPES['bool']
int8: _Dtype = _DTYPES['int8']
int16: _Dtype = _DTYPES['int16']
int32: _Dtype = _DTYPES['int32']
int64: _Dtype = _DTYPES['int64']
uint8: _Dtype = _DTYPES['uint8']
uint16: _Dtype = _DTYPES['uint16']
uint32: _Dtype = _DTYPES['uint32']
uint64: _Dtype = _DTYPES['uint64']
float16: _Dtype = _DTYPES['float16']
float32: _Dtype = _DTYPES['float32']
float64: _Dtype = _DTYPES['float64']
complex64: _Dtype = _DTYPES['complex64']
complex128: _Dtype = _DTYPES['complex128']
