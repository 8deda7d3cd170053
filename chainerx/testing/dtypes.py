"""Names of dtypes, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

signed_integral_dtypes: tuple[str, ...] = ('int8', 'int16', 'int32', 'int64')
unsigned_dtypes: tuple[str, ...] = ('uint8', 'uint16', 'uint32', 'uint64')
float_dtypes: tuple[str, ...] = ('float16', 'float32', 'float64')
integral_dtypes: tuple[str, ...] = unsigned_dtypes + signed_integral_dtypes
signed_dtypes: tuple[str, ...] = signed_integral_dtypes + float_dtypes
numeric_dtypes: tuple[str, ...] = signed_dtypes + unsigned_dtypes
nonfloat_dtypes: tuple[str, ...] = ('bool_',) + signed_integral_dtypes + unsigned_dtypes
all_dtypes: tuple[str, ...] = ('bool_',) + signed_integral_dtypes + unsigned_dtypes + float_dtypes


def parametrize_dtype_specifier(
    argname: str,
    dtypes: Sequence[str] | None = None,
    additional_args: tuple[Any, ...] | None = None,
) -> Callable[..., Any]:
    """Parametrizes a test over the ways in which a dtype can be given.

    Args:
        argname (str): Argument of the test that takes the dtype.
        dtypes (sequence of str): Names of the dtypes; all unless given.
        additional_args (tuple): More values of the argument, such as ``None``.

    Returns:
        Decorator of test functions. The argument is in turn the name, the :class:`numpy.dtype` and
        the scalar type of each dtype, and a Python type where one stands for it.

    .. admonition:: Example

        >>> @chainerx.testing.parametrize_dtype_specifier('dtype', ['float32'])
        ... def test_ones(dtype):
        ...     assert chainerx.ones(3, dtype).dtype == 'float32'

    """
    import pytest

    python_types = {'bool_': bool, 'int64': int, 'float64': float}
    values = []
    for name in all_dtypes if dtypes is None else dtypes:
        scalar_type = getattr(numpy, name)
        values += [numpy.dtype(scalar_type).name, numpy.dtype(scalar_type), scalar_type]
        if name in python_types:
            values.append(python_types[name])
    return pytest.mark.parametrize(argname, values + list(additional_args or ()))
