"""Choice between two arrays."""

from __future__ import annotations

import numbers

import chainer
import chainerx
from chainer import backend, utils, variable
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.functions import _base
from chainer.utils import type_check


class Where(FunctionNode):
    """Chooses elements of two arrays by a condition."""

    is_elementwise = True
    _checked_natively = True

    def __init__(self, condition):
        self.condition = condition

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x', 'y'))
        type_check.expect(in_types[0].dtype == in_types[1].dtype)
        condition = type_check.make_variable(self.condition.shape, 'condition.shape')
        type_check.expect_broadcast_shapes(condition, in_types[0].shape, in_types[1].shape)

    def forward_chainerx(self, inputs):
        condition = self.condition
        if not isinstance(condition, chainerx.ndarray):
            condition = chainerx.array(condition, device=inputs[0].device)
        return _base.call_chainerx('where', condition, *inputs)

    def forward(self, inputs):
        if isinstance(self.condition, chainerx.ndarray):
            self.condition = backend.from_chx(self.condition)
        return (cuda.get_array_module(*inputs).where(self.condition, *inputs),)

    def _masked(self, where, sum_to, zero, targets, gy):
        gxs = []
        for i in targets:
            gx = where(self.condition, *((gy, zero) if i == 0 else (zero, gy)))
            gxs.append(sum_to(gx, self.inputs[i].shape))
        return tuple(gxs)

    def backward(self, target_input_indexes, grad_outputs):
        return self._masked(
            where, chainer.functions.sum_to, 0, target_input_indexes, grad_outputs[0]
        )

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        (gy,) = grad_outputs
        xp = cuda.get_array_module(gy)
        return self._masked(xp.where, utils.sum_to, gy.dtype.type(0), target_input_indexes, gy)


def where(condition, x, y):
    """Chooses elements of two arrays by a condition.

    It broadcasts the three arguments to one shape.

    Args:
        condition (:class:`~chainer.Variable` or array): Booleans; where true, elements come
            from ``x``.
        x (:class:`~chainer.Variable`, array or number): Elements where ``condition`` is true,
            of any dtype.
        y (:class:`~chainer.Variable`, array or number): Elements where it is false, of the dtype
            of ``x``. A number takes the dtype of the other argument.

    Returns:
        ~chainer.Variable: Chosen elements, of the dtype of ``x`` and the common shape.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes cannot be broadcast or the dtypes of
            ``x`` and ``y`` differ.

    .. admonition:: Example

        >>> x = np.arange(3, dtype=np.float32)
        >>> F.where(np.array([True, False, True]), x, -x).array
        array([ 0., -1.,  2.], dtype=float32)

    """
    if isinstance(condition, variable.Variable):
        condition = condition.array
    x, y = _as_arrays(x, y)
    return Where(condition).apply((x, y))[0]


def _as_arrays(x, y):
    """Converts a number to the dtype and device of the other argument."""
    if isinstance(x, numbers.Number) and not isinstance(y, numbers.Number):
        x = _number(x, y)
    elif isinstance(y, numbers.Number) and not isinstance(x, numbers.Number):
        y = _number(y, x)
    return x, y


def _number(value, like):
    array = chainer.as_array(like)
    with chainer.using_device(backend.get_device_from_array(array)):
        return backend.get_array_module(array).full((), value, dtype=array.dtype)
