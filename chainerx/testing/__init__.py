"""Tools for tests of code that works on ChainerX arrays, and on NumPy arrays alike."""

from chainerx.testing.array import assert_allclose as assert_allclose
from chainerx.testing.array import assert_allclose_ex as assert_allclose_ex
from chainerx.testing.array import assert_array_equal as assert_array_equal
from chainerx.testing.array import assert_array_equal_ex as assert_array_equal_ex
from chainerx.testing.dtypes import all_dtypes as all_dtypes
from chainerx.testing.dtypes import float_dtypes as float_dtypes
from chainerx.testing.dtypes import integral_dtypes as integral_dtypes
from chainerx.testing.dtypes import nonfloat_dtypes as nonfloat_dtypes
from chainerx.testing.dtypes import numeric_dtypes as numeric_dtypes
from chainerx.testing.dtypes import parametrize_dtype_specifier as parametrize_dtype_specifier
from chainerx.testing.dtypes import signed_dtypes as signed_dtypes
from chainerx.testing.dtypes import signed_integral_dtypes as signed_integral_dtypes
from chainerx.testing.dtypes import unsigned_dtypes as unsigned_dtypes
from chainerx.testing.helper import ignore as ignore
from chainerx.testing.helper import numpy_chainerx_allclose as numpy_chainerx_allclose
from chainerx.testing.helper import numpy_chainerx_array_equal as numpy_chainerx_array_equal
