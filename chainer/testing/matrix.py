from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer.utils import argument

if TYPE_CHECKING:
    from chainer.types import DTypeSpec


def generate_matrix(
    shape: tuple[int, ...], dtype: DTypeSpec = float, **kwargs: Any
) -> numpy.ndarray:
    r"""generate_matrix(shape, dtype=float, *, singular_values)

    Draws a random matrix (or a stack of them) with given singular values.

    The matrix is :math:`U \operatorname{diag}(s) V^H` with random orthonormal :math:`U` and
    :math:`V`, so a test can request a well-conditioned matrix.

    Args:
        shape (tuple of ints): Shape with at least two axes; the last two are the matrices.
        dtype: Float or complex dtype of the matrix.
        singular_values (float or array): Singular values, which broadcast to
            ``shape[:-2] + (min(shape[-2:]),)``. Not negative.

    Returns:
        numpy.ndarray: Array of the given shape and dtype.

    Raises:
        TypeError: If ``singular_values`` is not given.
        ValueError: If the shape has fewer than two axes, the dtype is neither float nor complex,
            or a singular value is negative or does not fit the shape.

    .. admonition:: Example

        >>> from chainer import testing
        >>> x = testing.generate_matrix((4, 2, 3), np.float32, singular_values=[5, 1])
        >>> x.shape, bool(np.allclose(np.linalg.svd(x)[1], [5, 1], atol=1e-5))
        ((4, 2, 3), True)

    """
    (singular_values,) = argument.parse_kwargs(kwargs, ('singular_values', None))
    dtype = numpy.dtype(dtype)
    if dtype.kind not in 'fc':
        raise ValueError(f'dtype must be float or complex: {dtype}')
    if len(shape) < 2:
        raise ValueError(f'shape {shape} is invalid for matrices: too few axes')
    values = _check_values(singular_values)
    a = numpy.random.standard_normal(shape)
    if dtype.kind == 'c':
        a = a + 1j * numpy.random.standard_normal(shape)
    u, s, vh = numpy.linalg.svd(a, full_matrices=False)
    s = _singular_values(values, s.shape)
    return numpy.matmul(u * s[..., None, :], vh).astype(dtype)


def _singular_values(values, shape):
    try:
        return numpy.broadcast_to(values, shape)
    except ValueError:
        raise ValueError(
            f'singular_values of shape {values.shape} do not broadcast to {shape}'
        ) from None


def _check_values(singular_values):
    if singular_values is None:
        raise TypeError('singular_values is not given')
    values = numpy.asarray(singular_values)
    if (values < 0).any():
        raise ValueError(f'negative singular value is given: {values}')
    return values
