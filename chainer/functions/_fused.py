"""Base of functions that compute many steps at once on arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainer
from chainer import backend
from chainer.function_node import FunctionNode
from chainer.functions.math.identity import Identity

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._fallback import _FallbackType
    from chainer.variable import Variable


class FusedFunction(FunctionNode):
    """Function whose forward and gradient are written by hand on arrays, for speed.

    Subclasses give ``forward``, which retains what it needs, and two views of the gradient:

    * ``gradients(targets, xs, ys, gys)``: gradients of the target inputs on plain arrays, from
      the retained inputs and outputs.
    * ``compose(*xs)``: tuple of the outputs as a composition of other functions, on variables.
      Inputs that are not retained come as zeros: their values must not matter for gradients.
      A backward that is itself recorded takes its gradients from this composition, so
      gradients of every order follow from it. It is also what runs on ChainerX.

    """

    def compose(self, *xs: Any) -> Any:
        raise NotImplementedError

    def gradients(self, targets: Sequence[int], xs: Any, ys: Any, gys: Any) -> Any:
        raise NotImplementedError

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | _FallbackType:
        # Constants that it makes have to be where the inputs are.
        with chainer.using_device(backend.ChainerxDevice(inputs[0].device)):
            ys = self.compose(*[chainer.as_variable(x) for x in inputs])
        return tuple([y._array for y in ys])

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        xs, ys = self._retained_arrays()
        return tuple(self.gradients(target_input_indexes, xs, ys, grad_outputs))

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> Variable | tuple[Variable | None, ...] | None:
        xs = self.get_retained_inputs()
        if not chainer.config.enable_backprop:
            ys = [y.array for y in self.get_retained_outputs()]
            gxs = self.gradients(
                target_input_indexes,
                [x.array for x in xs],
                ys,
                tuple([None if gy is None else gy.array for gy in grad_outputs]),
            )
            return tuple(
                [None if gx is None else chainer.Variable(gx, requires_grad=False) for gx in gxs]
            )
        inputs = [None] * len(self.inputs)
        for i, x in zip(self._input_indexes_to_retain, xs):
            inputs[i] = x
        xp = xs[0].xp
        for i, node in enumerate(self.inputs):
            if inputs[i] is None:
                inputs[i] = xp.zeros(node.shape, node.dtype)
        # Behind the identity no input depends on another one: derivatives are partial.
        inputs = Identity().apply(inputs)
        pairs = [(y, gy) for y, gy in zip(self.compose(*inputs), grad_outputs) if gy is not None]
        return tuple(
            chainer.grad(
                [y for y, _ in pairs],
                [inputs[i] for i in target_input_indexes],
                [gy for _, gy in pairs],
                enable_double_backprop=True,
            )
        )
