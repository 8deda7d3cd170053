"""Connection of two graphs, so that one backward covers both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import backend
from chainer._core.engines.kernels import NO_KERNELS
from chainer.functions._base import Operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray
    from chainer.variable import Variable


class PseudoConnect(Operation):
    """Function of :func:`~chainermn.functions.pseudo_connect`."""

    _kernels = NO_KERNELS

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self._specs = [(x.shape, x.dtype) for x in inputs]
        # A view: an output must not be the same object as an input.
        return tuple([x.view() if hasattr(x, 'flags') else x for x in inputs[1:]])

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        example = next(g for g in gys if g is not None)
        xp = backend.get_array_module(getattr(example, 'array', example))
        return [xp.zeros(*self._specs[0]) if i == 0 else gys[i - 1] for i in targets]


def pseudo_connect(
    delegate_variable: Variable | None, *actual_variables: Any
) -> tuple[Variable, ...]:
    """Connects variables with one that :func:`~chainermn.functions.send` has returned.

    The values do not change. Backward from the results also reaches ``delegate_variable``, so that
    it receives the gradient of what was sent.

    Args:
        delegate_variable (~chainer.Variable): Variable of :func:`~chainermn.functions.send`;
            ``None`` connects nothing.
        actual_variables (~chainer.Variable): Variables, or one tuple of them.

    Returns:
        tuple of ~chainer.Variable: As many as there are variables.

    Raises:
        TypeError: If there is no actual variable.

    .. admonition:: Example

        >>> x = chainer.Variable(np.array(2, np.float32))
        >>> delegate = chainer.Variable(np.array(0, np.float32))
        >>> chainermn.functions.pseudo_connect(delegate, x * x)
        (variable(4.),)

    """
    if not actual_variables:
        raise TypeError('pseudo_connect needs at least one actual variable')
    if len(actual_variables) == 1 and isinstance(actual_variables[0], (tuple, list)):
        actual_variables = tuple(actual_variables[0])
    if delegate_variable is None:
        return actual_variables
    return PseudoConnect().apply((delegate_variable, *actual_variables))
