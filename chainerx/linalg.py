"""Linear algebra: factorizations by LAPACK, with gradients of any order.

All functions take matrices, or stacks of them in the last two dimensions.
"""

from chainerx._core import _linalg

cholesky = _linalg.cholesky
det = _linalg.det
eigh = _linalg.eigh
eigvalsh = _linalg.eigvalsh
inv = _linalg.inv
norm = _linalg.norm
pinv = _linalg.pinv
qr = _linalg.qr
slogdet = _linalg.slogdet
solve = _linalg.solve
svd = _linalg.svd


def _is_lapack_available():
    """Returns whether the routines of this module can be used; LAPACK is part of the core."""
    return True
