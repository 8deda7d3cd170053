"""Bilinear function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chainer.functions._base import Operation
from chainer.utils import array, type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class BilinearFunction(Operation):
    """Bilinear form of each pair of rows, with optional linear terms and bias."""

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        n_in = type_check.eval(in_types.size())
        if n_in not in (3, 6):
            raise type_check.InvalidType('number of inputs == 3 or 6', f'{n_in}')
        e1_type, e2_type, w_type = in_types[:3]
        type_check.expect_arguments((e1_type, e2_type, w_type), ('e1', 'e2', 'W'))
        type_check.expect(
            e1_type.dtype.kind == 'f',
            e1_type.ndim >= 2,
            e2_type.dtype == e1_type.dtype,
            e2_type.ndim >= 2,
            e1_type.shape[0] == e2_type.shape[0],
            w_type.dtype == e1_type.dtype,
            w_type.ndim == 3,
            type_check.prod(e1_type.shape[1:]) == w_type.shape[0],
            type_check.prod(e2_type.shape[1:]) == w_type.shape[1],
        )
        if n_in == 6:
            self._check_linear_part(e1_type, w_type, *in_types[3:])

    def _check_linear_part(self, e1_type, w_type, v1_type, v2_type, b_type):
        type_check.expect_arguments((v1_type, v2_type, b_type), ('V1', 'V2', 'b'))
        n_out = w_type.shape[2]
        for i, v_type in enumerate((v1_type, v2_type)):
            type_check.expect(
                v_type.dtype == e1_type.dtype,
                v_type.ndim == 2,
                v_type.shape[0] == w_type.shape[i],
                v_type.shape[1] == n_out,
            )
        type_check.expect(b_type.dtype == e1_type.dtype, b_type.ndim == 1, b_type.shape[0] == n_out)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs(range(min(len(inputs), 5)))
        e1, e2 = array.as_mat(inputs[0]), array.as_mat(inputs[1])
        W = inputs[2]
        y = _pairs(e1, e2).dot(W.reshape(-1, W.shape[2]))
        if len(inputs) == 6:
            weights: Any = inputs[3:]
            V1, V2, b = weights
            y = y + e1.dot(V1) + e2.dot(V2) + b
        return (y,)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Any, targets: Sequence[int], inputs: Any, ys: Sequence[Any], gys: Sequence[Any]
    ) -> Sequence[Any]:
        (gy,) = gys
        shapes = [x.shape for x in inputs]
        n, (n1, n2, n_out) = len(gy), shapes[2]
        e1, e2 = [e.reshape(n, math.prod(e.shape[1:])) for e in inputs[:2]]
        W = inputs[2]
        if targets[0] < 2:
            # Gradient of the products of all pairs of elements.
            gp = m.matmul(gy, W.reshape(n1 * n2, n_out).transpose()).reshape(n, n1, n2)
        gxs = []
        for i in targets:
            if i == 0:
                gx = m.sum(gp * e2.reshape(n, 1, n2), axis=2)
            elif i == 1:
                gx = m.sum(gp * e1.reshape(n, n1, 1), axis=1)
            elif i == 2:
                gx = m.matmul(_pairs(e1, e2).transpose(), gy)
            elif i == 5:
                gx = m.sum(gy, axis=0)
            else:
                gx = m.matmul((e1 if i == 3 else e2).transpose(), gy)
            if i < 2 and len(inputs) > 3:
                gx = gx + m.matmul(gy, inputs[3 + i].transpose())
            gxs.append(gx.reshape(shapes[i]) if i < 3 else gx)
        return gxs


def _pairs(e1, e2):
    """Products of all pairs of elements of two rows."""
    (n, n1), n2 = e1.shape, e2.shape[1]
    return (e1.reshape(n, n1, 1) * e2.reshape(n, 1, n2)).reshape(n, n1 * n2)


def bilinear(
    e1: VariableLike,
    e2: VariableLike,
    W: VariableLike,
    V1: VariableLike | None = None,
    V2: VariableLike | None = None,
    b: VariableLike | None = None,
) -> Variable:
    """Bilinear function of two inputs.

    .. math::

        y_{il} = \\sum_{jk} e^1_{ij} e^2_{ik} W_{jkl}
            + \\sum_j e^1_{ij} V^1_{jl} + \\sum_k e^2_{ik} V^2_{kl} + b_l

    Args:
        e1 (:class:`~chainer.Variable` or array): First input, floating point of shape
            ``(n, J)``; flattens further axes. All inputs have one dtype.
        e2 (:class:`~chainer.Variable` or array): Second input, of shape ``(n, K)``; flattens
            further axes.
        W (:class:`~chainer.Variable` or array): Weight of shape ``(J, K, L)``.
        V1 (:class:`~chainer.Variable` or array): Weight of ``e1``, of shape ``(J, L)``.
        V2 (:class:`~chainer.Variable` or array): Weight of ``e2``, of shape ``(K, L)``.
        b (:class:`~chainer.Variable` or array): Bias of shape ``(L,)``. Pass all of ``V1``,
            ``V2`` and ``b`` or none.

    Returns:
        ~chainer.Variable: Output of shape ``(n, L)``, of the dtype of the inputs.

    Raises:
        ValueError: If only some of ``V1``, ``V2`` and ``b`` are given.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: R. Socher et al., Reasoning With Neural Tensor Networks for Knowledge Base Completion,
    NIPS 2013.

    .. seealso:: :class:`~chainer.links.Bilinear`

    .. admonition:: Example

        >>> e1, e2 = np.array([[1, 2]], np.float32), np.array([[3, 4]], np.float32)
        >>> W = np.zeros((2, 2, 1), np.float32)
        >>> W[0, 1] = 1
        >>> F.bilinear(e1, e2, W).array
        array([[4.]], dtype=float32)

    """
    extra = [v for v in (V1, V2, b) if v is not None]
    if len(extra) not in (0, 3):
        raise ValueError(
            'All coefficients and bias for bilinear() must be None, if at least '
            'one of them is None.'
        )
    return BilinearFunction().apply((e1, e2, W, *extra))[0]
