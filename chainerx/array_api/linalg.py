"""Linear algebra of the array API standard, with named results.

All functions take matrices, or stacks of them in the last two dimensions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from chainerx import _core, _internal, _linalg, _results
from chainerx._core import (
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    tensordot as tensordot,
    vecdot as vecdot,
)
from chainerx._dtypes import finfo as _finfo
from chainerx._linalg import (
    _tolerance,
    cross as cross,
    diagonal as diagonal,
    matrix_norm as matrix_norm,
    matrix_power as matrix_power,
    matrix_rank as matrix_rank,
    svdvals as svdvals,
    vector_norm as vector_norm,
)
from chainerx._standard import sum_dtype as _sum_dtype
from chainerx.linalg import det as det, eigvalsh as eigvalsh, inv as inv, solve as solve

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from chainerx._core import ndarray


def cholesky(x: ndarray, /, *, upper: bool = False) -> ndarray:
    """Cholesky factorizations of symmetric or Hermitian positive definite matrices.

    See :func:`chainerx.linalg.cholesky`, also for errors. Differentiable any number of times.

    Args:
        x (~chainerx.ndarray): Matrices of shape :math:`(..., m, m)`, real or complex.
        upper (bool): Whether to return the upper triangular factor :math:`u` with
            :math:`x = u^\\mathrm{H} u`, not the lower one.

    Returns:
        ~chainerx.ndarray: Triangular matrices.

    .. admonition:: Example

        >>> chainerx.array_api.linalg.cholesky(chainerx.array([[4., 2.], [2., 2.]]), upper=True)
        array([[2., 1.],
               [0., 1.]], shape=(2, 2), dtype=float64, device='native:0')

    """
    lower = _internal.linalg.cholesky(x)
    return _core.conj(matrix_transpose(lower)) if upper else lower


def eigh(x: ndarray, /) -> _results.EighResult:
    """Eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    See :func:`chainerx.linalg.eigh`.

    Args:
        x (~chainerx.ndarray): Matrices of shape :math:`(..., m, m)`, real or complex.

    Returns:
        tuple of ~chainerx.ndarray: ``eigenvalues`` in ascending order, and ``eigenvectors`` as
        columns.

    .. admonition:: Example

        >>> chainerx.array_api.linalg.eigh(chainerx.array([[2., 0.], [0., 1.]])).eigenvalues
        array([1., 2.], shape=(2,), dtype=float64, device='native:0')

    """
    return _results.EighResult(*_internal.linalg.eigh(x))


def outer(x1: ndarray, x2: ndarray, /) -> ndarray:
    """Outer product of vectors; see :func:`chainerx.outer`, which flattens other arrays.

    Differentiable any number of times.

    Args:
        x1, x2 (~chainerx.ndarray): Vectors of lengths :math:`m` and :math:`n`.

    Returns:
        ~chainerx.ndarray: Matrix of shape :math:`(m, n)`.

    Raises:
        ~chainerx.DimensionError: If one is not a vector.

    .. admonition:: Example

        >>> chainerx.array_api.linalg.outer(chainerx.array([1, 2]), chainerx.array([3, 4]))
        array([[3, 4],
               [6, 8]], shape=(2, 2), dtype=int64, device='native:0')

    """
    for name, x in (('x1', x1), ('x2', x2)):
        if x.ndim != 1:
            raise _core.DimensionError(
                f'outer: {name} must have one dimension, has shape {x.shape}'
            )
    return _core.outer(x1, x2)


def pinv(x: ndarray, /, *, rtol: float | ndarray | None = None) -> ndarray:
    """Moore-Penrose pseudo-inverses of matrices; see :func:`chainerx.linalg.pinv`.

    Args:
        x (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`, real or complex.
        rtol (float, ~chainerx.ndarray or None): Singular values up to this fraction of the largest
            count as zero; :math:`\\max(m, n) \\epsilon` unless given. An array has a value for each
            matrix.

    Returns:
        ~chainerx.ndarray: Pseudo-inverses, of shape :math:`(..., n, m)`.

    .. admonition:: Example

        >>> chainerx.array_api.linalg.pinv(chainerx.array([[2., 0.], [0., 0.]]))
        array([[0.5, 0. ],
               [0. , 0. ]], shape=(2, 2), dtype=float64, device='native:0')

    """
    if not isinstance(rtol, _core.ndarray):
        if rtol is None:
            rtol = max(x.shape[-2:]) * _finfo(x.dtype).eps
        return _internal.linalg.pinv(x, rtol)
    u, s, vh = _internal.linalg.svd(x, False)
    used = s > _tolerance(x, s, rtol)
    inverse = _core.where(used, 1 / _core.where(used, s, 1), 0)
    v, uh = (_core.conj(matrix_transpose(a)) for a in (vh, u))
    return matmul(v * _core.expand_dims(inverse, -2), uh)


def qr(x: ndarray, /, *, mode: Literal['reduced', 'complete'] = 'reduced') -> _results.QRResult:
    """QR factorizations of matrices, :math:`x = q r`; see :func:`chainerx.linalg.qr`.

    Args:
        x (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`, real or complex.
        mode (str): ``'reduced'`` or ``'complete'``: whether ``Q`` has only as many columns as are
            needed or is square.

    Returns:
        tuple of ~chainerx.ndarray: ``Q`` and ``R``.

    Raises:
        ValueError: If ``mode`` has no meaning.

    .. admonition:: Example

        >>> chainerx.array_api.linalg.qr(chainerx.ones((3, 2))).Q.shape
        (3, 2)

    """
    if mode not in ('reduced', 'complete'):
        raise _core.ValueError(f"qr: mode must be 'reduced' or 'complete', not {mode!r}")
    return _results.QRResult(*_internal.linalg.qr(x, mode))


def slogdet(x: ndarray, /) -> _results.SlogdetResult:
    """Signs and logarithms of absolute values of determinants.

    See :func:`chainerx.linalg.slogdet`.

    Args:
        x (~chainerx.ndarray): Matrices of shape :math:`(..., m, m)`, real or complex.

    Returns:
        tuple of ~chainerx.ndarray: ``sign`` and ``logabsdet``.

    .. admonition:: Example

        >>> chainerx.array_api.linalg.slogdet(chainerx.array([[0., 1.], [1., 0.]])).sign
        array(-1., shape=(), dtype=float64, device='native:0')

    """
    return _results.SlogdetResult(*_internal.linalg.slogdet(x))


def svd(x: ndarray, /, *, full_matrices: bool = True) -> _results.SVDResult:
    """Singular value decompositions; see :func:`chainerx.linalg.svd`.

    Args:
        x (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`, real or complex.
        full_matrices (bool): Whether ``U`` and ``Vh`` are square.

    Returns:
        tuple of ~chainerx.ndarray: ``U``, the singular values ``S`` in descending order, and
        ``Vh``.

    .. admonition:: Example

        >>> chainerx.array_api.linalg.svd(chainerx.array([[3., 0.], [0., 4.]])).S
        array([4., 3.], shape=(2,), dtype=float64, device='native:0')

    """
    return _results.SVDResult(*_internal.linalg.svd(x, full_matrices))


def trace(x: ndarray, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> ndarray:
    """Sums over the diagonals of matrices; see :func:`chainerx.linalg.trace`.

    Differentiable any number of times.

    Args:
        x (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`.
        offset (int): Distance from the main diagonal, positive above it.
        dtype: Dtype of the sums, by default that of :func:`chainerx.array_api.sum`.

    Returns:
        ~chainerx.ndarray: Sums, of shape :math:`(...)`.

    .. admonition:: Example

        >>> chainerx.array_api.linalg.trace(chainerx.array([[1, 2], [3, 4]], 'uint8'))
        array(5, shape=(), dtype=uint64, device='native:0')

    """
    return _linalg.trace(x, offset, dtype or _sum_dtype(x))
