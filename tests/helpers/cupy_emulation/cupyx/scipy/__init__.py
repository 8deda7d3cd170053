"""SciPy's names for CuPy's arrays."""

from cupyx.scipy import special as special
