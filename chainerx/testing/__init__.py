"""Tools for tests of code that works on ChainerX arrays, and on NumPy arrays alike."""

from chainerx.testing.array import (  # noqa: F401
    assert_allclose,
    assert_allclose_ex,
    assert_array_equal,
    assert_array_equal_ex,
)
from chainerx.testing.dtypes import (  # noqa: F401
    all_dtypes,
    float_dtypes,
    integral_dtypes,
    nonfloat_dtypes,
    numeric_dtypes,
    parametrize_dtype_specifier,
    signed_dtypes,
    signed_integral_dtypes,
    unsigned_dtypes,
)
from chainerx.testing.helper import ignore, numpy_chainerx_allclose, numpy_chainerx_array_equal  # noqa: F401
