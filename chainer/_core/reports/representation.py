"""Short texts of objects, for ``__repr__`` of base classes.

They read nothing but the attributes of an object, and lengths, so that debuggers may ask for them.
"""

from __future__ import annotations

import functools
import inspect
import numbers
import reprlib
from typing import Any

_MAX_ITEMS = 6
_MISSING = object()
_short = reprlib.Repr()
_short.maxstring = 60


def of_arguments(self: Any) -> str:
    """Returns the class of an object with the arguments of its constructor.

    Arguments are looked for among the attributes and the hyperparameters. Those with their default
    values are left out, but for the first one.
    """
    return _of_arguments(self)  # a method of this package, which plans trust; the wrapper is not


@reprlib.recursive_repr()
def _of_arguments(self: Any) -> str:
    found = dict(vars(self))
    if 'hyperparam' in found:
        found = {**found['hyperparam'].get_dict(), **found}
    texts = []
    cls: Any = type(self)
    for i, (name, default) in enumerate(_parameters(cls).items()):
        value = _find(found, name)
        is_shown = i == 0 and value is not None
        if value is not _MISSING and (is_shown or not _is_same(value, default)):
            texts.append(f'{name}={_text(value)}')
    return f'{cls.__name__.lstrip("_")}({", ".join(texts)})'


def of_length(self: Any) -> str:
    """Returns the class of an object with its length."""
    return f'<{_sized(self)}>'


@functools.lru_cache(maxsize=1000)
def _parameters(cls: type) -> dict[str, Any]:
    try:
        parameters = inspect.signature(cls.__init__).parameters.values()  # type: ignore[misc]
    except (TypeError, ValueError):
        return {}
    names = [p for p in list(parameters)[1:] if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return {p.name: p.default for p in names}


def _find(attributes: dict[str, Any], name: str) -> Any:
    for key in name, f'_{name}':
        if key in attributes:
            return attributes[key]
    several = attributes.get(f'_{name}s', _MISSING)  # those of updaters and evaluators
    return several['main'] if isinstance(several, dict) and [*several] == ['main'] else several


def _is_same(value: Any, default: Any) -> bool:
    simple = (bool, int, float, str, tuple)
    return value is default or (type(value) in simple and value == default)


def _text(value: Any) -> str:
    if value is None or isinstance(value, (numbers.Number, str, bytes)):
        return _short.repr(value)
    if type(value) in (tuple, list) and len(value) <= _MAX_ITEMS:
        texts = ', '.join(map(_text, value))
        if isinstance(value, list):
            return f'[{texts}]'
        return f'({texts},)' if len(value) == 1 else f'({texts})'
    shape = getattr(value, 'shape', None) if hasattr(type(value), 'shape') else None
    if shape is not None:
        return f'<{type(value).__name__} of shape {shape}>'
    own_repr: Any = type(value).__repr__
    if getattr(own_repr, '__module__', '').startswith('chainer.') and not _may_be_long(value):
        return repr(value)
    if isinstance(value, type) or inspect.isroutine(value):
        return value.__name__
    return f'<{_sized(value)}>'


def _may_be_long(value: Any) -> bool:
    return hasattr(type(value), 'xp')  # a link, with a line for each layer, or a variable


def _sized(value: Any) -> str:
    name = type(value).__name__
    if not hasattr(type(value), '__len__'):
        return name
    try:
        return f'{name} of length {len(value)}'
    except (AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError):
        return name
