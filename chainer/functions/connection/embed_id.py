"""Rows of a matrix by number."""

from __future__ import annotations

import chainer
import chainerx
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.functions._scatter import add_rows
from chainer.utils import type_check


class EmbedIDFunction(FunctionNode):
    """Picks rows of a matrix, and zeros for an ignored number."""

    _checked_natively = True

    def __init__(self, ignore_label=None):
        self.ignore_label = ignore_label

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x', 'W'))
        x_type, w_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'i', x_type.ndim >= 1, w_type.dtype.kind == 'f', w_type.ndim == 2
        )

    def forward(self, inputs):
        x, W = inputs
        self.retain_inputs((0,))
        ignore_label = self.ignore_label
        if chainer.is_debug():
            valid = (0 <= x) & (x < len(W))
            if ignore_label is not None:
                valid |= x == ignore_label
            if not valid.all():
                raise ValueError(
                    'Each not ignored `x` value needs to satisfy '
                    f'`0 <= x < len(W)`, where len(W) is {len(W)}'
                )
        if ignore_label is None:
            return (W[x],)
        ignored = x == ignore_label
        y = W[cuda.get_array_module(x).where(ignored, 0, x)]
        y[ignored] = 0
        return (y,)

    def forward_chainerx(self, inputs):
        x, W = inputs
        # ChainerX counts out-of-range numbers from the end; debug mode must reject them.
        if chainer.is_debug() or x.ndim == 0:
            return chainer.Fallback
        return (chainerx.embed_id(x, W, self.ignore_label),)

    def _grad(self, x):
        return EmbedIDGrad(x, self.inputs[1].shape, self.ignore_label)

    def backward(self, target_input_indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        (gW,) = self._grad(x.array).apply(grad_outputs)
        return tuple([gW if i == 1 else None for i in target_input_indexes])

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        (x,), _ = self._retained_arrays()
        (gW,) = self._grad(x).forward(grad_outputs)
        return tuple([gW if i == 1 else None for i in target_input_indexes])


class EmbedIDGrad(FunctionNode):
    """Adds rows to a matrix of zeros."""

    def __init__(self, x, shape, ignore_label):
        self.x = x
        self.shape = shape
        self.ignore_label = ignore_label

    def forward(self, inputs):
        (gy,) = inputs
        x = self.x.ravel()
        rows = gy.reshape(len(x), self.shape[1])
        if self.ignore_label is not None:
            used = x != self.ignore_label
            x, rows = x[used], rows[used]
        gW = cuda.get_array_module(gy).zeros(self.shape, gy.dtype)
        add_rows(gW, x, rows)
        return (gW,)

    def backward(self, target_input_indexes, grad_outputs):
        return EmbedIDFunction(self.ignore_label).apply((self.x, grad_outputs[0]))

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        return EmbedIDFunction(self.ignore_label).forward((self.x, grad_outputs[0]))


def embed_id(x, W, ignore_label=None):
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
