"""Linear algebra: factorizations by LAPACK, with gradients of any order.

All functions take matrices, or stacks of them in the last two dimensions.
"""

from chainerx import _core
from chainerx._core import _linalg
from chainerx._linalg import (
    cross as cross,
    diagonal as diagonal,
    matrix_norm as matrix_norm,
    matrix_power as matrix_power,
    matrix_rank as matrix_rank,
    svdvals as svdvals,
    trace as trace,
    vector_norm as vector_norm,
)

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

matmul = _core.matmul
matrix_transpose = _core.matrix_transpose
outer = _core.outer
tensordot = _core.tensordot
vecdot = _core.vecdot


def _is_lapack_available():
    """Returns whether the routines of this module can be used; LAPACK is part of the core."""
    return True
