"""SciPy's names for CuPy's arrays."""
