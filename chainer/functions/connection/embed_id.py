"""Rows of a matrix by number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer._core.reports.fallback import Fallback
from chainer._core.settings.debug import is_debug
from chainer.backends import cuda
from chainer.functions._arguments import parse_int
from chainer.functions._base import Operation, kernels
from chainer.functions._scatter import add_rows
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def _check_labels(x, n, ignore_label):
    valid = (0 <= x) & (x < n)
    if ignore_label is not None:
        valid |= x == ignore_label
    if not valid.all():
        raise ValueError(
            f'Each not ignored `x` value needs to satisfy `0 <= x < len(W)`, where len(W) is {n}'
        )


class EmbedIDFunction(Operation):
    """Picks rows of a matrix, and zeros for an ignored number."""

    _kernels = kernels(check=True)

    def __init__(self, ignore_label: int | None = None) -> None:
        self.ignore_label: int | None = (
            None if ignore_label is None else parse_int(ignore_label, 'ignore_label')
        )

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 'W'))
        x_type, w_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'i', x_type.ndim >= 1, w_type.dtype.kind == 'f', w_type.ndim == 2
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, W = inputs
        self.retain_inputs((0,))
        ignore_label = self.ignore_label
        if is_debug():
            _check_labels(x, len(W), ignore_label)
        if ignore_label is None:
            rows: Any = x
            return (W[rows],)
        ignored = x == ignore_label
        y = W[cuda.get_array_module(x).where(ignored, 0, x)]
        y[ignored] = 0
        return (y,)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        x, W = inputs
        # ChainerX counts out-of-range numbers from the end; debug mode must refuse them.
        if is_debug():
            return Fallback('debug mode')
        if x.ndim == 0:
            return Fallback('a number')
        return (chainerx.embed_id(x, W, self.ignore_label),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        grad = EmbedIDGrad(as_array(xs[0]), self.inputs[1].shape, self.ignore_label)
        (gW,) = m.apply(grad, gys)
        return [gW if i == 1 else None for i in targets]


class EmbedIDGrad(Operation):
    """Adds rows to a matrix of zeros."""

    def __init__(self, x: NdArray, shape: tuple[int, ...], ignore_label: int | None) -> None:
        self.x = x
        self.shape = shape
        self.ignore_label = ignore_label

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (gy,) = inputs
        x = self.x.ravel()
        rows = gy.reshape(len(x), self.shape[1])
        if self.ignore_label is not None:
            used = x != self.ignore_label
            x, rows = x[used], rows[used]
        gW = cuda.get_array_module(gy).zeros(self.shape, gy.dtype)
        add_rows(gW, x, rows)
        return (gW,)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(EmbedIDFunction(self.ignore_label), (self.x, gys[0]))


def embed_id(x: VariableLike, W: VariableLike, ignore_label: int | None = None) -> Variable:
    """Embeds numbers: ``y[i] = W[x[i]]``.

    Args:
        x (:class:`~chainer.Variable` or array of int): Numbers of rows, of any shape with at
            least one axis.
        W (:class:`~chainer.Variable` or array): Embeddings, a floating point matrix of shape
            ``(V, D)``.
        ignore_label (int or None): Number with a row of zeros, which gets
            no gradient.

    Returns:
        ~chainer.Variable: Output of shape ``(*x.shape, D)``, of the dtype of ``W``.

    Raises:
        TypeError: If ``ignore_label`` is not an int.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.
        IndexError: If ``x`` has a number without a row in ``W``.
        ValueError: In debug mode, for such numbers and negative numbers.

    .. seealso:: :class:`~chainer.links.EmbedID`

    .. admonition:: Example

        >>> W = np.array([[0, 1], [2, 3], [4, 5]], np.float32)
        >>> F.embed_id(np.array([2, -1]), W, ignore_label=-1).array
        array([[4., 5.],
               [0., 0.]], dtype=float32)

    """
    return EmbedIDFunction(ignore_label).apply((x, W))[0]
