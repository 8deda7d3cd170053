from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, distribution, functions as F
from chainer.distributions._base import Parameter, as_parameters, as_point, draw
from chainer.distributions.normal import _HALF_LOG_2PI
from chainer.functions._base import Operation
from chainer.utils import argument, cache, type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class TriangularInv(Operation):
    """Inverse of triangular matrices, the last two axes of the input.

    It treats the elements on the other side of the diagonal as zero.

    Args:
        lower (bool): Whether the matrices are lower (or upper) triangular.

    .. admonition:: Example

        >>> from chainer.distributions.multivariate_normal import TriangularInv
        >>> x = np.array([[2, 0], [1, 4]], np.float32)
        >>> y, = TriangularInv(lower=True).apply((x,))
        >>> bool(np.allclose(x @ y.array, np.identity(2)))
        True

    """

    def __init__(self, lower: bool) -> None:
        self._lower = lower

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        (x,) = in_types
        type_check.expect(x.dtype.kind == 'f', x.ndim >= 2)
        type_check.expect(x.shape[-2] == x.shape[-1])

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        self.retain_outputs((0,))
        xp = backend.get_array_module(x)
        triangle = xp.tril if self._lower else xp.triu
        # The linear algebra routines do not support float16.
        work = triangle(x).astype(numpy.promote_types(x.dtype, numpy.float32), copy=False)
        return (triangle(xp.linalg.inv(work)).astype(x.dtype, copy=False),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (inverse,) = ys
        gx = -m.matmul(m.matmul(inverse, gys[0], transa=True), inverse, transb=True)
        xp = backend.get_array_module(as_array(inverse))
        mask = xp.tri(gx.shape[-1], dtype=gx.dtype)
        return (gx * (mask if self._lower else mask.T),)


def _triangular_inv(x, lower=True):
    return TriangularInv(lower).apply((x,))[0]


def _quadratic(inverse, x):
    """Computes :math:`|L^{-1} x|^2` for vectors along the last axis."""
    shape = numpy.broadcast_shapes(inverse.shape[:-2], x.shape[:-1])
    d = x.shape[-1]
    inverse = F.broadcast_to(inverse, shape + (d, d))
    x = F.broadcast_to(x, shape + (d,))
    return F.sum(F.squeeze(F.matmul(inverse, F.expand_dims(x, -1)), -1) ** 2, axis=-1)


class MultivariateNormal(distribution.Distribution):
    r"""MultivariateNormal(loc, *, scale_tril=None, covariance=None)

    Normal distribution of vectors.

    .. math:: p(x; \mu, V) = \frac{1}{\sqrt{\det(2 \pi V)}}
        \exp\left(-\frac{1}{2} (x - \mu)^T V^{-1} (x - \mu)\right)

    Args:
        loc (array or ~chainer.Variable): Mean :math:`\mu` of shape ``(..., d)``.
        scale_tril (array or ~chainer.Variable): Lower triangular matrix :math:`L` of shape
            ``(..., d, d)`` with :math:`V = L L^T`.
        covariance (array or ~chainer.Variable): Covariance :math:`V`, instead of ``scale_tril``.

    Raises:
        ValueError: Unless exactly one of ``scale_tril`` and ``covariance`` is given.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> covariance = np.array([[4, 2], [2, 5]], np.float32)
        >>> d = D.MultivariateNormal(np.zeros(2, np.float32), covariance=covariance)
        >>> d.scale_tril
        variable([[2., 0.],
                  [1., 2.]])
        >>> d.sample(3).shape, d.batch_shape, d.event_shape
        ((3, 2), (), (2,))

    """

    loc: Parameter = Parameter('Mean :math:`\\mu`.')

    def __init__(self, loc: VariableLike | float, **kwargs: Any) -> None:
        scale_tril, covariance = argument.parse_kwargs(
            kwargs, ('scale_tril', None), ('covariance', None)
        )
        if (scale_tril is None) == (covariance is None):
            raise ValueError('Either `scale_tril` or `covariance` (not both) must have a value.')
        (self.loc,) = as_parameters(loc=loc)
        if scale_tril is not None:
            (self.scale_tril,) = as_parameters(scale_tril=scale_tril)
        else:
            (self._covariance,) = as_parameters(covariance=covariance)

    def __copy__(self) -> Self:
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    @cache.cached_property
    def scale_tril(self) -> Variable:
        """Lower triangular Cholesky factors of the covariance matrices."""
        covariance = self._covariance
        if covariance.ndim == 2:
            return F.cholesky(covariance)
        matrices = F.reshape(covariance, (-1,) + covariance.shape[-2:])
        factors = [F.cholesky(matrix) for matrix in F.separate(matrices)]
        return F.reshape(F.stack(factors), covariance.shape)

    @cache.cached_property
    def _covariance(self):
        return F.matmul(self.scale_tril, self.scale_tril, transb=True)

    @cache.cached_property
    def _inverse(self):
        return _triangular_inv(self.scale_tril)

    @property
    def _log_det(self):
        return F.sum(F.log(abs(F.diagonal(self.scale_tril, axis1=-2, axis2=-1))), axis=-1)

    @property
    def d(self) -> int:
        """int: Dimension :math:`d`."""
        return self.loc.shape[-1]

    @property
    def params(self) -> dict[str, Variable]:
        return {'loc': self.loc, 'scale_tril': self.scale_tril}

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.loc.shape[:-1]

    @property
    def event_shape(self) -> tuple[int, ...]:
        return self.loc.shape[-1:]

    @property
    def support(self) -> str:
        return 'real'

    @property
    def covariance(self) -> Variable:
        return self._covariance

    @cache.cached_property
    def mean(self) -> Variable:
        return self.loc

    @cache.cached_property
    def entropy(self) -> Variable:
        return self._log_det + self.d * (0.5 + _HALF_LOG_2PI)

    def log_prob(self, x: VariableLike | float) -> Variable:
        x = as_point(x, self.loc)
        return (
            -0.5 * _quadratic(self._inverse, x - self.loc) - self._log_det - self.d * _HALF_LOG_2PI
        )

    def sample_n(self, n: int) -> Variable:
        shape = (n,) + self.loc.shape + (1,)
        eps = draw('standard_normal', shape, self.loc)
        scale_tril = F.broadcast_to(self.scale_tril, shape[:-1] + (self.d,))
        return self.loc + F.squeeze(F.matmul(scale_tril, eps), -1)


@distribution.register_kl(MultivariateNormal, MultivariateNormal)
def _kl_multivariate_normal_multivariate_normal(dist1, dist2):
    trace = F.sum(F.matmul(dist2._inverse, dist1.scale_tril) ** 2, axis=(-2, -1))
    distance = _quadratic(dist2._inverse, dist2.loc - dist1.loc)
    return dist2._log_det - dist1._log_det + 0.5 * (trace + distance - dist1.d)
