"""Base of functions that fuse many steps on arrays."""

from __future__ import annotations

import chainer
from chainer import backend
from chainer.function_node import FunctionNode
from chainer.functions.math.identity import Identity


class FusedFunction(FunctionNode):
    """Function with hand-written forward and gradient on arrays, for speed.

    Subclasses define ``forward``, which retains arrays, and two forms of the gradient:

    * ``gradients(targets, xs, ys, gys)``: gradients of the target inputs on plain arrays, from
      the retained inputs and outputs.
    * ``compose(*xs)``: tuple of the outputs as a composition of other functions, on variables.
      Inputs that are not retained are zeros: gradients must not depend on their values.
      A recorded backward differentiates this composition, which gives gradients of every
      order. ChainerX also runs it.

    """

    def compose(self, *xs):
        raise NotImplementedError

    def gradients(self, targets, xs, ys, gys):
        raise NotImplementedError

    def forward_chainerx(self, inputs):
        # Its constants must be on the device of the inputs.
        with chainer.using_device(backend.ChainerxDevice(inputs[0].device)):
            ys = self.compose(*[chainer.as_variable(x) for x in inputs])
        return tuple([y._array for y in ys])

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        xs, ys = self._retained_arrays()
        return tuple(self.gradients(target_input_indexes, xs, ys, grad_outputs))

    def backward(self, target_input_indexes, grad_outputs):
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
        # The identity separates inputs that depend on each other: derivatives are partial.
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
