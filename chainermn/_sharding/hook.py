"""The hook that gathers the parameters of a link while it is called."""

from __future__ import annotations

import contextlib
import weakref
from typing import TYPE_CHECKING, Any

from chainer import configuration, link_hook
from chainer._core.engines import plan_data
from chainer._core.models.link_registry import params_of
from chainer.variable import Parameter, Variable
from chainermn import _arrays
from chainermn._sharding import parts
from chainermn._sharding.functions import Enter, Leave, Whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from chainer.link import Link

NAME = 'ParameterSharding'


class ParameterSharding(link_hook.LinkHook):
    """Hook of a link whose parameters are parts between its calls.

    Args:
        whole (bool): Whether the parameters of the links inside are gathered, too, except those of
            links that have a hook of their own.

    """

    name = NAME
    _calls_kernels_only = False

    def __init__(self, whole: bool) -> None:
        self.whole = whole

    def _surround(
        self, link: Link, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        places = [place for place in places_of(link, self.whole) if parts.part_of(place[2])]
        if not places:  # gathered, for example by a call of the link around this one
            return call(*args, **kwargs)
        params = list({id(param): param for _, _, param in places}.values())
        label = ', '.join(sorted({name for _, name, _ in places}))
        whole = Whole(label, params)
        inputs = [x for x in leaves((args, kwargs)) if isinstance(x, Variable) and x.requires_grad]
        outputs = Enter(whole).apply((*params, *inputs))
        given = {id(p): _parameter(p, y) for p, y in zip(params, outputs)}
        replaced = {id(x): y for x, y in zip(inputs, outputs[len(params) :])}
        args, kwargs = replace((args, kwargs), replaced)
        del outputs, replaced
        with _standing_in(places, given):
            result = call(*args, **kwargs)
        return _leave(whole, result) if whole.memory.can_release else result


plan_data.refused[ParameterSharding] = 'which sends messages, and no plan repeats those'


def _leave(whole: Whole, result: Any) -> Any:
    """Releases the parameters after a call that returns ``result``; returns what replaces it."""
    if not configuration.config.enable_backprop:
        return result  # no graph keeps the memory
    found = leaves(result)
    outputs = [y for y in found if isinstance(y, Variable) and y.requires_grad]
    replaced = dict(zip(map(id, outputs), Leave(whole).apply(outputs) if outputs else ()))
    for y in found:
        array = y.array if isinstance(y, Variable) else y
        copy = whole.keep(array)
        if id(y) not in replaced and copy is not array:
            replaced[id(y)] = Variable(copy, requires_grad=False) if array is not y else copy
    whole.leave()
    return replace(result, replaced)


def add(link: Link, whole: bool) -> None:
    """Adds hooks where parameters are not gathered yet.

    Args:
        link: Link.
        whole: Whether the link gathers all of its parameters itself, or each link inside its own.

    """
    if whole and NAME not in link.local_link_hooks:
        link.add_hook(ParameterSharding(True))
    _add_inside(link, False)


def _add_inside(link: Link, is_covered: bool) -> None:
    hook: Any = link.local_link_hooks.get(NAME)
    if hook is not None:
        is_covered = hook.whole
    elif params_of(link) and not is_covered:
        link.add_hook(ParameterSharding(False))
    for child in link.children():
        _add_inside(child, is_covered)


def places_of(link: Link, whole: bool) -> list[tuple[Link, str, Parameter]]:
    """Returns links with the names of their parameters, and these."""
    places = [(link, name, param) for name, param in params_of(link).items()]
    if whole:
        for child in link.children():
            if NAME not in child.local_link_hooks:
                places += places_of(child, True)
    return places


@contextlib.contextmanager
def _standing_in(
    places: list[tuple[Link, str, Parameter]], given: dict[int, Any]
) -> Iterator[None]:
    """Context in which links have other parameters."""
    for link, name, param in places:
        vars(link)[name] = given[id(param)]
    try:
        yield
    finally:
        for link, name, param in places:
            vars(link)[name] = param


def _parameter(param: Parameter, y: Variable) -> Parameter:
    """Makes a parameter of a variable that a function has computed."""
    result = Parameter(name=param.name)
    result.initializer = param.initializer
    result.update_rule = param.update_rule
    result._array = y.raw_array
    result._requires_grad = y.requires_grad
    result._node = y._node
    if y._node is not None:
        y._node._variable = weakref.ref(result)
    return result


def leaves(value: Any) -> list[Any]:
    """Returns the variables and arrays in tuples, lists and dictionaries, each once."""
    found: dict[int, Any] = {}

    def visit(value: Any) -> None:
        if isinstance(value, (tuple, list)):
            for item in value:
                visit(item)
        elif isinstance(value, dict):
            for item in value.values():
                visit(item)
        elif isinstance(value, Variable) or _arrays.is_array(value):
            found[id(value)] = value

    visit(value)
    return list(found.values())


def replace(value: Any, replaced: dict[int, Any]) -> Any:
    """Returns a copy of tuples, lists and dictionaries with other variables in it."""
    if isinstance(value, tuple):
        items = [replace(item, replaced) for item in value]
        return type(value)(*items) if hasattr(value, '_fields') else type(value)(items)
    if isinstance(value, list):
        return [replace(item, replaced) for item in value]
    if isinstance(value, dict):
        return {key: replace(item, replaced) for key, item in value.items()}
    return replaced.get(id(value), value)
