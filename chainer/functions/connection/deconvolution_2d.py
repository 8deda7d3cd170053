"""Two-dimensional deconvolution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.functions.connection._convolution_2d import Deconvolution2DFunction
from chainer.functions.connection.convolution_2d import _MESSAGES
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


def deconvolution_2d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    outsize: Sequence[int | None] | None = None,
    **kwargs: Any,
) -> Variable:
    """Two-dimensional deconvolution: the transpose of :func:`convolution_2d`.

    It spreads every pixel of the input over a patch of the output, as the gradient of a
    convolution does:

    .. math::

        y_{c,\\, i s_h + u d_h - p_h,\\, j s_w + v d_w - p_w} \\mathrel{+}=
            W_{o, c, u, v} \\, x_{o, i, j}

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c_I, h, w)``.
        W (:class:`~chainer.Variable` or array): Floating point weight of shape
            ``(c_I, c_O / groups, kh, kw)``.
        b (:class:`~chainer.Variable` or array): Bias of shape ``(c_O,)``, of the dtype of
            ``x`` (optional).
        stride (int or pair of int): Stride :math:`s`, in the output.
        pad (int or pair of int): Width :math:`p` of the border cut from the output.
        outsize (None or pair of int): Size of the output. A convolution of this size
            must produce the size of ``x``. The default is the smallest, also for an axis
            where the pair has ``None``.
        dilate (int or pair of int): Distance :math:`d` of the pixels under the kernel.
        groups (int): Number of groups.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c_O, h_O, w_O)``, where ``h_O`` is by default
        ``sh * (h - 1) + (kh - 1) * dh + 1 - 2 * ph``; its dtype is that of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.
        RuntimeError: If the output would be empty.
        TypeError: If the numbers of channels are not multiples of ``groups``.
        ValueError: If the obsolete arguments ``deterministic`` or ``requires_x_grad`` are
            given.

    .. seealso:: :class:`~chainer.links.Deconvolution2D`

    .. admonition:: Example

        >>> x = np.array([[[[1, 2]]]], np.float32)
        >>> W = np.ones((1, 1, 2, 2), np.float32)
        >>> F.deconvolution_2d(x, W).array[0, 0]
        array([[1., 3., 2.],
               [1., 3., 2.]], dtype=float32)
        >>> F.deconvolution_2d(x, W, stride=2).array[0, 0]
        array([[1., 1., 2., 2.],
               [1., 1., 2., 2.]], dtype=float32)

    """
    dilate, groups = argument.parse_kwargs(kwargs, ('dilate', 1), ('groups', 1), **_MESSAGES)
    func = Deconvolution2DFunction(stride, pad, outsize, dilate=dilate, groups=groups)
    return func.apply((x, W) if b is None else (x, W, b))[0]
