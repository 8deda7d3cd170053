"""Reversal of rows."""

from __future__ import annotations

from chainer.functions import _base
from chainer.functions.array.flip import _Reversal
from chainer.utils import type_check


class FlipUD(_Reversal):
    """Reverses the order of rows."""

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('a',))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim >= 1)

    def forward_chainerx(self, inputs):
        return _base.call_chainerx('flipud', inputs[0])


def flipud(a):
    """Reverses an array in the up-down direction, along its first axis.

    Args:
        a (:class:`~chainer.Variable` or array): Input of at least one axis.

    Returns:
        ~chainer.Variable: View of ``a``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``a`` has no axes or is not floating point.

    .. admonition:: Example

        >>> F.flipud(np.arange(4, dtype=np.float32).reshape(2, 2)).array
        array([[2., 3.],
               [0., 1.]], dtype=float32)

    """
    return FlipUD().apply((a,))[0]
