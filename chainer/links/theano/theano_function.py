from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, link
from chainer.backends import cuda
from chainer.functions._base import Operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.variable import Variable


class TheanoFunction(link.Link):
    """A link that computes outputs and gradients with Theano.

    The constructor compiles the Theano functions. The link has no parameters. Shapes
    and dtypes are those that Theano gives its variables.

    Args:
        inputs (tuple of theano.tensor.TensorVariable): Input variables.
        outputs (tuple of theano.tensor.TensorVariable): Output variables,
            computed from the input variables.

    Raises:
        RuntimeError: Theano is not installed.

    .. admonition:: Example

        >>> import theano.tensor as T  # doctest: +SKIP
        >>> x, y = T.fvector(), T.fvector()  # doctest: +SKIP
        >>> func = L.TheanoFunction(inputs=[x, y], outputs=[x + y])  # doctest: +SKIP
        >>> func(np.ones(2, 'f'), np.ones(2, 'f'))  # doctest: +SKIP
        variable([2., 2.])

    """

    def __init__(self, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        theano = _import_theano()
        super().__init__()
        inputs = _to_variables(theano, 'inputs', inputs)
        outputs = _to_variables(theano, 'outputs', outputs)
        grads = tuple([y.type(f'g_{i}') for i, y in enumerate(outputs)])
        gxs = theano.tensor.grad(
            cost=None,
            known_grads=dict(zip(outputs, grads)),
            wrt=list(inputs),
            disconnected_inputs='ignore',
        )
        self.forward_func: Any = theano.function(list(inputs), list(outputs))
        self.backward_func: Any = theano.function(
            [*inputs, *grads], list(gxs), on_unused_input='ignore'
        )

    def forward(self, *args: VariableLike) -> Variable | tuple[Variable, ...]:
        """Computes the outputs.

        Args:
            args (~chainer.Variable or :ref:`ndarray`): Inputs.

        Returns:
            ~chainer.Variable or tuple of them: Outputs.

        """
        func = _TheanoFunctionNode(self.forward_func, self.backward_func)
        outputs = func.apply(args)
        return outputs if len(outputs) > 1 else outputs[0]


def _import_theano():
    try:
        # Importing Theano is slow, so import it on first use.
        import theano
    except ImportError as e:
        raise RuntimeError(
            f'TheanoFunction needs Theano, which cannot be imported: install Theano ({e})'
        ) from e
    return theano


def _to_variables(theano, name, variables):
    if isinstance(variables, theano.tensor.TensorVariable):
        variables = (variables,)
    variables = tuple(variables)
    for v in variables:
        if not isinstance(v, theano.tensor.TensorVariable):
            raise TypeError(f'{name} must be TensorVariables of Theano, but {type(v)} was given')
    return variables


class _TheanoFunctionNode(Operation):
    def __init__(self, forward_func: Any, backward_func: Any) -> None:
        self.forward_func = forward_func
        self.backward_func = backward_func

    @property
    def label(self) -> str:
        return 'TheanoFunction'

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs(tuple(range(len(inputs))))
        return _call(self.forward_func, inputs, inputs)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        gxs = m.apply(_TheanoGrad(self.backward_func, len(xs)), (*xs, *gys))
        return [gxs[i] for i in targets]


class _TheanoGrad(Operation):
    def __init__(self, func: Any, n_inputs: int) -> None:
        self.func = func
        self.n_inputs = n_inputs

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return _call(self.func, inputs, inputs[: self.n_inputs])

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        raise RuntimeError('TheanoFunction does not support double backpropagation')


def _call(func, inputs, like):
    """Calls a Theano function, which runs on the CPU, with arrays of any device."""
    outputs = func(*[cuda.to_cpu(x) for x in inputs])
    device = backend.get_device_from_array(like[0])
    outputs = [numpy.asarray(y) for y in outputs]
    return tuple([device.send(y) for y in outputs])
