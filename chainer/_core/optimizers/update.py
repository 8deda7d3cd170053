"""The update of all parameters of an optimizer, in groups as large as possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer._core.autograd.variable_gradient import clear_untouched, fill_missing_grad
from chainer._core.optimizers.elementwise import Group, is_plain
from chainer.backends import cuda

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chainer._core.optimizers.step import Buffers
    from chainer._core.variables.parameter import Parameter

_ndarray = numpy.ndarray
_chx_ndarray = chainerx.ndarray


def update_params(params: Iterable[Parameter], buffers: Buffers) -> None:
    """Updates parameters by their rules.

    For small arrays calls cost more than arithmetic. So parameters with rules of
    :mod:`chainer.optimizers` and equal hyperparameters update together, without
    the layers of methods for hooks and subclasses. ``buffers`` is kept from update to update.
    """
    groups, rest = divide(list(params))
    buffers.start()
    for group in groups:
        group.update(buffers)
    for param in rest:
        param.update()


def divide(params: list[Parameter]) -> tuple[list[Group], list[Parameter]]:
    """Divides parameters into groups that update together, and the rest.

    Fills missing gradients of initialized parameters with zeros.
    """
    # One loop without calls of helpers: it runs for each parameter at each update, which for small
    # models costs more than the arithmetic.
    groups: dict[Any, Group] = {}
    rest: list[Parameter] = []
    last = group = None
    # A parameter that is given twice is updated twice, and the second update starts from the result
    # of the first. A group counts and computes all of its updates as one.
    has_shared = len(set(map(id, params))) < len(params)
    for param in params:
        if param._fresh_grad:
            clear_untouched(param)
        rule = param.update_rule
        array = param._array
        if type(array) is _ndarray:
            grad, device = param._grad, None
        elif type(array) is _chx_ndarray and param._requires_grad:
            grad, device = array.grad, array.device
        elif type(array) is cuda.ndarray:
            grad, device = param._grad, array.device.id
        else:
            grad = None
        if grad is None:
            fill_missing_grad(param)
        if rule is None:
            continue
        # `Parameter.update` and the methods of the rule handle these cases.
        if (
            grad is None
            or not rule.enabled
            or rule._pre_update_hooks
            or rule._post_update_hooks
            or param._layout is not None
        ):
            rest.append(param)
            continue
        hyperparam: Any = rule.hyperparam
        if len(hyperparam.__dict__) == 1:  # all values inherited
            hyperparam = hyperparam._parent
        # All that a step depends on. Values of a rule's own keep it out of the groups of others,
        # since sets of hyperparameters are compared by identity.
        key = (
            type(rule),
            type(param),
            hyperparam,
            rule._own_values,
            rule.t,
            rule._use_fp32_update,
            array.dtype,
            device,
        )
        # Parameters in a row mostly have equal keys, and hashing one costs more than comparing.
        if key != last:
            last = key
            # mypy thinks that classes with `__hash__` are unhashable.
            plain = is_plain(type(rule), type(param))  # type: ignore[arg-type]
            group = groups.setdefault(key, Group()) if plain and not has_shared else None
        if group is None:
            rest.append(param)
            continue
        group.params.append(param)
        group.rules.append(rule)
        group.arrays.append(array)
        group.grads.append(grad)
    return list(groups.values()), rest
