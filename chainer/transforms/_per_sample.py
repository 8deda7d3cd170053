"""Gradients of each sample of a minibatch."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from chainer import backend
from chainer.function import force_backprop_mode
from chainer.function_node import grad
from chainer.functions.array.expand_dims import expand_dims
from chainer.transforms._mapping import SampleMapping
from chainer.transforms._vmap import number_of_samples
from chainer.variable import Variable, as_variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from chainer.link import Link
    from chainer.types import NdArray, VariableLike
    from chainer.variable import Parameter


def per_sample_grad(
    link: Link, *args: VariableLike, lossfun: Callable[..., Variable] | None = None
) -> dict[str, NdArray]:
    """Gradients of the parameters of a link for each sample of a minibatch.

    .. math:: g_i = \\frac{\\partial}{\\partial \\theta} \\ell(\\theta; x_i, t_i)

    The loss is computed once for all samples by the rules of :func:`chainer.vmap`. Programs need
    such gradients to clip them (differentially private training), for their variance, and for
    Fisher information.

    Args:
        link (~chainer.Link): Link with initialized parameters. It keeps its gradients.
        args (:class:`~chainer.Variable` or array): Minibatch, with samples along the first axis.
        lossfun (callable): Function that returns the loss of a minibatch, which gets ``args``
            (default: ``link``). It is called with a minibatch of one sample, and has to compute by
            functions of variables.

    Returns:
        dict: For each parameter that requires a gradient, by its name of
        :meth:`~chainer.Link.namedparams`, an array of shape ``(N, *shape)`` for the N samples. It
        holds zeros if the loss does not depend on the parameter.

    Raises:
        ValueError: If a parameter has no array as yet, an argument no axis, lengths differ, or
            the loss has axes.
        TypeError: If the loss is no variable, or ``lossfun`` reads elements of arrays.

    .. admonition:: Example

        >>> model = L.Classifier(L.Linear(4, 2))
        >>> x, t = np.ones((3, 4), np.float32), np.array([0, 1, 0])
        >>> grads = chainer.per_sample_grad(model, x, t)
        >>> grads['/predictor/W'].shape
        (3, 2, 4)
        >>> model.cleargrads()
        >>> model(x, t).backward()  # the loss of a minibatch is the mean
        >>> np.allclose(grads['/predictor/W'].mean(axis=0), model.predictor.W.grad)
        True

    """
    mapping = SampleMapping(number_of_samples(args, [0] * len(args)))
    params = dict(_parameters(link))
    # Links may share a parameter, which then has several names.
    copies = {id(p): _copies(p, mapping.size) for p in params.values()}
    samples = [mapping.wrap(expand_dims(as_variable(x), 1)) for x in args]
    try:
        with (
            force_backprop_mode(),
            _replaced(link, {key: mapping.wrap(copy) for key, copy in copies.items()}),
        ):
            loss = (link if lossfun is None else lossfun)(*samples)
            if not isinstance(loss, Variable):
                raise TypeError(f'the loss must be a variable, not {type(loss)}')
            if loss.shape != ():
                raise ValueError(f'the loss must have the shape (), not {loss.shape}')
            grads = grad([mapping.all_samples(loss)], list(copies.values()))
    finally:
        mapping.is_open = False
    arrays = {
        key: _zeros(copy) if gx is None else gx.array
        for (key, copy), gx in zip(copies.items(), grads)
    }
    return {name: arrays[id(param)] for name, param in params.items()}


def _parameters(link: Link) -> Iterator[tuple[str, Parameter]]:
    for name, param in link.namedparams():
        if not param.requires_grad:
            continue
        if not param.is_initialized:
            raise ValueError(f'parameter {name} has no array as yet: call the link once before')
        yield name, param


def _copies(param: Parameter, size: int) -> Variable:
    """The same array for each sample, without a copy in memory."""
    array = param.array
    with backend.using_device(param.device):
        return Variable(param.xp.broadcast_to(array, (size, *array.shape)))


def _zeros(copies: Variable) -> NdArray:
    with backend.using_device(copies.device):
        return copies.xp.zeros(copies.shape, copies.dtype)


@contextlib.contextmanager
def _replaced(link: Link, values: dict[int, Variable]) -> Iterator[None]:
    """Lets links have other variables in the place of their parameters."""
    places = [
        (attributes, name, attributes[name])
        for attributes in map(vars, link.links())
        for name in list(attributes)
        if id(attributes[name]) in values
    ]
    try:
        for attributes, name, param in places:
            attributes[name] = values[id(param)]
        yield
    finally:
        for attributes, name, param in places:
            attributes[name] = param
