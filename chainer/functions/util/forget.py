"""Recomputation of intermediate results in the backward pass."""

from __future__ import annotations

import numpy

import chainer
import chainerx
from chainer.function_node import FunctionNode
from chainer.variable import Variable


class Forget(FunctionNode):
    """Function that keeps only its inputs and computes everything else twice."""

    def __init__(self, func):
        self._func = func

    def _call(self, xs):
        outputs = self._func(*xs)
        if isinstance(outputs, Variable):
            return (outputs,)
        if isinstance(outputs, tuple):
            for y in outputs:
                if not isinstance(y, Variable):
                    raise RuntimeError(
                        'func of chainer.functions.forget must return variables, '
                        f'got a tuple with {type(y)}'
                    )
            return outputs
        raise RuntimeError(
            'func of chainer.functions.forget must return a variable or a tuple '
            f'of variables, got {type(outputs)}'
        )

    def forward(self, inputs):
        self.retain_inputs(range(len(inputs)))
        return self._results([Variable(x) for x in inputs])

    def _results(self, xs):
        with chainer.no_backprop_mode():
            return tuple([y.array for y in self._call(xs)])

    def forward_chainerx(self, inputs):
        outputs = self._results([chainer.as_variable(x.as_grad_stopped()) for x in inputs])
        return tuple(
            chainerx._core._function_node_forward(
                self, list(inputs), list(outputs), list(range(len(inputs))), []
            )
        )

    def _backward_chainerx(
        self, target_input_indexes, grad_outputs, retained_inputs, retained_outputs
    ):
        double = any(
            x.is_backprop_required() for x in (*retained_inputs, *grad_outputs) if x is not None
        )
        xs, gys = [
            tuple([None if a is None else chainer.as_variable(a.as_grad_stopped()) for a in arrays])
            for arrays in (retained_inputs, grad_outputs)
        ]
        self._chainerx_retained = xs, ()
        with chainer.using_config('enable_backprop', double):
            gxs = self.backward(target_input_indexes, gys)
        return tuple([None if gx is None else gx.array for gx in gxs])

    def backward(self, target_input_indexes, grad_outputs):
        if chainer.config.enable_backprop:
            raise RuntimeError('double backpropagation in functions.forget is not allowed.')
        # New variables collect the gradients of the inputs; gradients of parameters that func
        # uses accumulate in place.
        with chainer.force_backprop_mode():
            xs = [Variable(x.array) for x in self.get_retained_inputs()]
            with chainer.using_config('in_recomputing', True):
                outputs = self._call(xs)
            pairs = [
                (y, gy)
                for y, gy in zip(outputs, grad_outputs)
                if gy is not None and y.requires_grad
            ]
            chainer.backward([y for y, _ in pairs], [gy for _, gy in pairs])
        return tuple([xs[i].grad_var for i in target_input_indexes])


def forget(func, *xs):
    """Calls a function without keeping its intermediate results.

    The backward pass recomputes them, which saves memory and costs time.

    Args:
        func (callable): Function of variables that returns a variable or a tuple of them. It
            must return the same results again. (For example, batch normalization reads
            ``chainer.config.in_recomputing`` to update its statistics only once.)
        xs (:class:`~chainer.Variable` or array): Arguments of ``func``.

    Returns:
        ~chainer.Variable or tuple: Results of ``func``.

    Raises:
        TypeError: If ``func`` is not callable.
        RuntimeError: If ``func`` returns something else, or on double backprop.

    .. admonition:: Example

        >>> x = chainer.Variable(np.array([1, 2], np.float32))
        >>> y = F.forget(lambda x: F.exp(F.log(x)) * x, x)
        >>> F.sum(y).backward()
        >>> y.array.round(3), x.grad.round(3)
        (array([1., 4.], dtype=float32), array([2., 4.], dtype=float32))

    """
    if not callable(func):
        raise TypeError(f'func must be callable, got {type(func)}')
    xs = tuple([chainer.as_variable(x) for x in xs])
    if not any(x.requires_grad for x in xs):
        # Parameters inside func get gradients only if backpropagation reaches func.
        func, inner = (lambda *args: inner(*args[:-1])), func
        xs += (Variable(xs[0].xp.zeros((), 'f') if xs else numpy.zeros((), 'f')),)
    outputs = Forget(func).apply(xs)
    return outputs[0] if len(outputs) == 1 else outputs
