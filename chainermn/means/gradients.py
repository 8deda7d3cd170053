"""Which gradients of a model are averaged."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from chainer._core.autograd import variable_gradient

if TYPE_CHECKING:
    from chainer.link import Link
    from chainer.variable import Parameter


def initialized_params(model: Link) -> list[tuple[str, Parameter]]:
    """Returns initialized parameters with their names, in the same order on all ranks."""
    # The order in which links are registered may differ between ranks; names do not.
    pairs = [pair for pair in model.namedparams() if pair[1].array is not None]
    return sorted(pairs, key=operator.itemgetter(0))


def fill_missing_grad(param: Parameter) -> None:
    """Sets the gradient to zeros if it is missing and the parameter requires one."""
    if variable_gradient.lacks_grad(param):
        variable_gradient.fill_grad(param)


def params_with_grad(model: Link, zero_fill: bool) -> list[Parameter]:
    """Returns the parameters whose gradients are averaged, in the same order on all ranks.

    Args:
        model (chainer.Link): Model.
        zero_fill (bool): Whether to set missing gradients to zeros first.

    """
    params = []
    for _, param in initialized_params(model):
        # A gradient that nothing has computed reads as NaN, which is not to be averaged.
        variable_gradient.settle(param)
        if zero_fill:
            fill_missing_grad(param)
        if param.grad is not None:
            params.append(param)
    return params
