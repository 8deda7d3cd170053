"""Inverse square roots of symmetric matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.backends import cuda
from chainer.functions._base import Operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray


def _transposed(xp, a):
    return xp.swapaxes(a, -2, -1)


class _Sylvester(Operation):
    """Solution X of R X + X R = C, for symmetric positive definite R and symmetric C."""

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        r, c = inputs
        xp = cuda.get_array_module(r)
        d, e = xp.linalg.eigh(r)
        et = _transposed(xp, e)
        return (e @ (et @ c @ e / (d[..., :, None] + d[..., None, :])) @ et,)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (r,), (x,) = xs, ys
        gc = _sylvester(m, r, gys[0])
        return [gc if i else -(m.matmul(gc, x) + m.matmul(x, gc)) for i in targets]


def _sylvester(m, r, c):
    # Everything of interest is symmetric; gradients that come in need not be.
    c = (c + _transposed(m, c)) * 0.5
    return m.apply(_Sylvester(), (r, c))[0]


class _InverseSqrt(Operation):
    """Inverse square root P of a symmetric positive definite matrix."""

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_outputs((0,))
        (s,) = inputs
        xp = cuda.get_array_module(s)
        d, e = xp.linalg.eigh(s)
        return (e / xp.sqrt(d)[..., None, :] @ _transposed(xp, e),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return (_inverse_sqrt_gradient(m, ys[0], gys[0]),)


def _inverse_sqrt_gradient(m, p, gp):
    # The differential of P P = S^-1 is dP P + P dP = -S^-1 dS S^-1.
    inverse = m.matmul(p, p)
    return -m.matmul(m.matmul(inverse, _sylvester(m, p, gp)), inverse)
