import numpy

from chainer import backend, function_node, link
from chainer.backends import cuda


class TheanoFunction(link.Link):
    """A link that computes outputs and gradients with Theano.

    The constructor compiles the Theano functions. The link has no parameters.

    Args:
        inputs (tuple of theano.tensor.TensorVariable): Input variables.
        outputs (tuple of theano.tensor.TensorVariable): Output variables,
            computed from the input variables.

    Raises:
        ImportError: Theano is not installed.

    .. admonition:: Example

        >>> import theano.tensor as T  # doctest: +SKIP
        >>> x, y = T.fvector(), T.fvector()  # doctest: +SKIP
        >>> func = L.TheanoFunction(inputs=[x, y], outputs=[x + y])  # doctest: +SKIP
        >>> func(np.ones(2, 'f'), np.ones(2, 'f'))  # doctest: +SKIP
        variable([2., 2.])

    """

    def __init__(self, inputs, outputs):
        try:
            # Importing Theano is slow, so import it on first use.
            import theano
        except ImportError as e:
            raise ImportError(
                f'TheanoFunction needs Theano, which cannot be imported: install Theano ({e})'
            ) from e
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
        self.forward_func = theano.function(list(inputs), list(outputs))
        self.backward_func = theano.function([*inputs, *grads], list(gxs), on_unused_input='ignore')

    def forward(self, *args):
        """Computes the outputs.

        Args:
            args (~chainer.Variable or :ref:`ndarray`): Inputs.

        Returns:
            ~chainer.Variable or tuple of them: Outputs.

        """
        func = _TheanoFunctionNode(self.forward_func, self.backward_func)
        outputs = func.apply(args)
        return outputs if len(outputs) > 1 else outputs[0]


def _to_variables(theano, name, variables):
    if isinstance(variables, theano.tensor.TensorVariable):
        variables = (variables,)
    variables = tuple(variables)
    for v in variables:
        if not isinstance(v, theano.tensor.TensorVariable):
            raise TypeError(f'{name} must be TensorVariables of Theano, but {type(v)} was given')
    return variables


class _TheanoFunctionNode(function_node.FunctionNode):
    def __init__(self, forward_func, backward_func):
        self.forward_func = forward_func
        self.backward_func = backward_func

    @property
    def label(self):
        return 'TheanoFunction'

    def forward(self, inputs):
        self.retain_inputs(tuple(range(len(inputs))))
        return _call(self.forward_func, inputs, inputs)

    def backward(self, target_input_indexes, grad_outputs):
        inputs = self.get_retained_inputs()
        gxs = _TheanoGrad(self.backward_func, len(inputs)).apply((*inputs, *grad_outputs))
        return tuple([gxs[i] for i in target_input_indexes])


class _TheanoGrad(function_node.FunctionNode):
    def __init__(self, func, n_inputs):
        self.func = func
        self.n_inputs = n_inputs

    def forward(self, inputs):
        return _call(self.func, inputs, inputs[: self.n_inputs])

    def backward(self, target_input_indexes, grad_outputs):
        raise RuntimeError('TheanoFunction does not support double backpropagation')


def _call(func, inputs, like):
    """Calls a Theano function, which runs on the CPU, with arrays of any device."""
    outputs = func(*[cuda.to_cpu(x) for x in inputs])
    device = backend.get_device_from_array(like[0])
    outputs = [numpy.asarray(y) for y in outputs]
    return tuple([device.send(y) for y in outputs])
