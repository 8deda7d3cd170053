"""Two-dimensional convolution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.functions.connection._convolution_2d import Convolution2DFunction
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable

_MESSAGES = {
    'deterministic': 'deterministic argument is not supported anymore. '
    "Use chainer.using_config('cudnn_deterministic', value) context where value "
    'is either `True` or `False`.',
    'requires_x_grad': 'requires_x_grad argument is not supported anymore. Just remove the '
    'argument: it is taken from the input.',
}


def convolution_2d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    cover_all: bool = False,
    **kwargs: Any,
) -> Variable:
    """Two-dimensional convolution (more precisely, cross-correlation).

    .. math::

        y_{o, i, j} = b_o + \\sum_{c, u, v} W_{o, c, u, v} \\,
            x_{c,\\, i s_h + u d_h - p_h,\\, j s_w + v d_w - p_w}

    with zeros around the image. With ``groups`` :math:`g > 1`, input and output channels are
    split into :math:`g` groups each, and every output group depends only on its input group.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c_I, h, w)``.
        W (:class:`~chainer.Variable` or array): Floating point weight of shape
            ``(c_O, c_I / groups, kh, kw)``.
        b (:class:`~chainer.Variable` or array): Bias of shape ``(c_O,)``, of the dtype of
            ``x`` (optional).
        stride (int or pair of int): Stride :math:`s`.
        pad (int or pair of int): Width :math:`p` of the padding on each side.
        cover_all (bool): Whether to enlarge the output so that every pixel of the
            input contributes.
        dilate (int or pair of int): Distance :math:`d` of the pixels under the kernel.
        groups (int): Number of groups.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c_O, h_O, w_O)``, where ``h_O`` is
        ``(h + 2 * ph - (kh - 1) * dh - 1) // sh + 1``, rounded up if ``cover_all``; its dtype is
        that of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.
        AssertionError: If the output would be empty.
        TypeError: If the numbers of channels are not multiples of ``groups``.
        ValueError: If the obsolete arguments ``deterministic`` or ``requires_x_grad`` are
            given.

    .. seealso:: :class:`~chainer.links.Convolution2D`

    .. admonition:: Example

        >>> x = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
        >>> F.convolution_2d(x, np.ones((1, 1, 2, 2), np.float32)).array[0, 0]
        array([[ 8., 12.],
               [20., 24.]], dtype=float32)
        >>> x, W = np.ones((10, 3, 31, 40), np.float32), np.ones((1, 3, 10, 10), np.float32)
        >>> F.convolution_2d(x, W, stride=5, pad=5).shape
        (10, 1, 7, 9)
        >>> F.convolution_2d(x, W, stride=5, pad=5, cover_all=True).shape
        (10, 1, 8, 9)

    """
    dilate, groups = argument.parse_kwargs(kwargs, ('dilate', 1), ('groups', 1), **_MESSAGES)
    func = Convolution2DFunction(stride, pad, cover_all, dilate=dilate, groups=groups)
    return func.apply((x, W) if b is None else (x, W, b))[0]
