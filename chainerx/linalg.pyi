# Written by chainerx_cc/tools/make_stubs.py from the compiled core; not to be edited.
# ruff: noqa
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, SupportsFloat, overload

import numpy
from numpy.typing import ArrayLike, DTypeLike

_Number = SupportsFloat | complex
_Operand = ndarray | _Number
_Ints = int | Sequence[int]
_DeviceLike = Device | str | None

from chainerx._core import Device, ndarray
from chainerx._linalg import cross as cross
from chainerx._linalg import diagonal as diagonal
from chainerx._linalg import matrix_norm as matrix_norm
from chainerx._linalg import matrix_power as matrix_power
from chainerx._linalg import matrix_rank as matrix_rank
from chainerx._linalg import svdvals as svdvals
from chainerx._linalg import trace as trace
from chainerx._linalg import vector_norm as vector_norm

def cholesky(a: ndarray) -> ndarray:
    r"""Cholesky factorizations :math:`a = l l^\mathrm{H}` of symmetric or Hermitian positive definite matrices."""

def det(a: ndarray) -> ndarray:
    """Determinants of square matrices."""

def eigh(a: ndarray, UPLO: Literal['L', 'U', 'l', 'u'] = 'L') -> tuple[ndarray, ndarray]:
    """Eigenvalues and eigenvectors of symmetric or Hermitian matrices."""

def eigvalsh(a: ndarray, UPLO: Literal['L', 'U', 'l', 'u'] = 'L') -> ndarray:
    """Eigenvalues of symmetric or Hermitian matrices; see :func:`eigh`."""

def inv(a: ndarray) -> ndarray:
    """Inverses of square matrices."""

def norm(x: ndarray, ord: float | str | None = None, axis: _Ints | None = None, keepdims: bool = False) -> ndarray:
    """Norms of vectors or matrices."""

def pinv(a: ndarray, rcond: float = 1e-15) -> ndarray:
    """Moore-Penrose pseudo-inverses of matrices."""

def qr(a: ndarray, mode: Literal['reduced', 'complete', 'r', 'raw'] = 'reduced') -> ndarray | tuple[ndarray, ndarray]:
    """QR factorizations of matrices, :math:`a = q r`. The diagonal of :math:`r` is real."""

def slogdet(a: ndarray) -> tuple[ndarray, ndarray]:
    """Signs and logarithms of the absolute values of determinants. The sign of a complex number :math:`z` is
    :math:`z / |z|`."""

def solve(a: ndarray, b: ndarray) -> ndarray:
    """Solves the linear equations :math:`a x = b`."""

def svd(a: ndarray, full_matrices: bool = True, compute_uv: bool = True) -> ndarray | tuple[ndarray, ndarray, ndarray]:
    r"""Singular value decompositions, :math:`a = u \, \mathrm{diag}(s) \, v^\mathrm{H}`."""

def matmul(a: ndarray, b: ndarray, out: ndarray | None = None) -> ndarray:
    """Matrix product :math:`a b` of the last two axes; also the operator ``@``."""

def matrix_transpose(x: ndarray) -> ndarray:
    """Transposed matrices, a view with the last two axes interchanged; also the property ``mT`` of arrays."""

def outer(a: ndarray, b: ndarray, out: ndarray | None = None) -> ndarray:
    """Matrix of the products :math:`y_{ij} = a_i b_j` of the elements of two flattened arrays."""

def tensordot(a: ndarray, b: ndarray, axes: int | Sequence[_Ints] = 2) -> ndarray:
    """Sum product over several axes of two arrays."""

def vecdot(x1: ndarray, x2: ndarray, axis: int = -1) -> ndarray:
    r"""Sum products :math:`\sum_i \overline{x_{1,i}} x_{2,i}` of the vectors along an axis."""
