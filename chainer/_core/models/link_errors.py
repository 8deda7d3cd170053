"""Errors and warnings that say what is wrong with a link."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.autograd.base_variable import BaseVariable
from chainer._core.names import hints
from chainer._core.settings.half import FLOAT_KINDS
from chainer._core.variables.parameter import Parameter
from chainer.device_resident import DeviceResident

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chainer._core.models.types import LinkTree
    from chainer.utils.type_check import InvalidType


def explain(
    error: InvalidType | TypeError, link: LinkTree, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Adds to the message of an error which link refuses the arguments, and why.

    Every link that an error passes calls it. The path is that in the outermost one.
    """
    if isinstance(error, TypeError):
        hints.explain_keyword(error)
        return
    cause = getattr(error, '_cause', None)
    if cause is None:
        values = [*args, *kwargs.values()]
        reason = _explain_dtype(error, link, values) + _explain_axes(error, link, values)
        cause = link, str(error), reason
        error._cause = cause  # type: ignore[attr-defined]
        where = f'in the link {type(link).__name__}'
    else:
        failed = cause[0]
        path = next((path for path, child in link.namedlinks(True) if child is failed), None)
        if path is None:
            return
        where = f'in the link {path} ({type(failed).__name__}) of {type(link).__name__}'
    error.args = (f'{cause[1]}\n\nIt happened {where}{cause[2]}',)


def _explain_axes(error: InvalidType, link: LinkTree, values: list[Any]) -> str:
    if error.expect == 'x.shape[1] == W.shape[1]':
        return _explain_flattening(getattr(link, 'in_size', None), values)
    expect = re.fullmatch(r'x\.ndim == (\d+)', error.expect)
    if expect is None or error.actual != f'{int(expect[1]) - 1} != {expect[1]}':
        return ''
    return ' The first axis is that of the batch; x[None] is a batch of one example.'


def _explain_flattening(in_size: int | None, values: list[Any]) -> str:
    for value in values:
        shape: tuple[int, ...] = getattr(value, 'shape', ())
        if len(shape) > 2 and shape[-1] == in_size:
            return (
                f' It flattens all axes of an input of shape {shape} but the first; '
                f'n_batch_axes={len(shape) - 1} applies it to the last axis alone.'
            )
    return ''


def _explain_dtype(error: InvalidType, link: LinkTree, values: list[Any]) -> str:
    # A hook may have a variable in the place of a parameter.
    arrays = [param.array for param in link.params()]
    dtypes = {
        array.dtype for array in arrays if array is not None and array.dtype.kind in FLOAT_KINDS
    }
    if len(dtypes) != 1:
        return '.'
    (expected,) = dtypes
    for value in values:
        actual: Any = getattr(value, 'dtype', None)
        if not isinstance(value, (BaseVariable, numpy.ndarray)) or actual == expected:
            continue
        names = f'{expected} {actual} {error.expect} {error.actual}'.split()
        is_cause = names.count(str(expected)) > 1 and names.count(str(actual)) > 1
        if is_cause or (actual.kind in 'iu' and "kind == 'f'" in error.expect):
            convert = (
                f'F.cast(x, {str(expected)!r})'
                if isinstance(value, BaseVariable)
                else f'x.astype({str(expected)!r})'
            )
            return f': its parameters are {expected}, but its input x is {actual}. Use {convert}.'
    return '.'


class NotInitialized:
    """Attribute that ``Link.__init__`` sets, in an instance for which it was not called."""

    __slots__ = ('_name',)

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, obj: Any, cls: type) -> Any:
        if obj is None:
            raise AttributeError(f'type object {cls.__name__!r} has no attribute {self._name!r}')
        raise AttributeError(not_initialized(cls))


def not_initialized(cls: type) -> str:
    """Returns the message for links without ``super().__init__()``."""
    return (
        f'Link.__init__() has not been called. {cls.__name__}.__init__ must call '
        'super().__init__() first.'
    )


def warn_of_ignored_links(root: LinkTree, stacklevel: int) -> None:
    """Warns of links that the tree of ``root`` does not contain by mistake.

    Links outside of the tree may be meant, such as a teacher that is not to be trained. Those in a
    list that is set in an ``init_scope()`` are a mistake, and so are all if the tree is empty.
    """
    params = list(root.params())
    known = {id(x) for x in [*root.links(), *params]}
    is_empty = not params
    for path, link in root.namedlinks():
        for name, value in vars(link).items():
            if name not in link._containers and not is_empty:
                continue
            ignored = [x for x in links_in(value) if id(x) not in known and _has_params(x)]
            if ignored:
                _warn(type(root), f'{path.rstrip("/")}/{name}', value, ignored[0], stacklevel + 1)


def warn_of_class(cls: type, what: str) -> None:
    """Warns if a class of links stands where a link is meant.

    Args:
        cls (type): Class.
        what (str): What it is given as.

    """
    if issubclass(cls, DeviceResident):
        warnings.warn(
            f'{what} is the class {cls.__name__}, not a link: call it, as in {cls.__name__}(...)',
            stacklevel=4,
        )


def links_in(value: Any) -> Iterator[Any]:
    """Yields the links and parameters that a value is or has in itself."""
    if isinstance(value, (list, tuple, dict)):
        values = value.values() if isinstance(value, dict) else value
        yield from (x for x in values if isinstance(x, (DeviceResident, Parameter)))
    elif isinstance(value, (DeviceResident, Parameter)):
        yield value


def _has_params(value: Any) -> bool:
    if isinstance(value, Parameter):
        return True
    params = getattr(value, 'params', None)  # other residents of devices have none
    return params is not None and next(iter(params()), None) is not None


def _warn(cls: type, path: str, value: Any, ignored: Any, stacklevel: int) -> None:
    kind = 'parameter' if isinstance(ignored, Parameter) else 'link'
    if value is ignored:
        what = f'a {kind}'
        advice = 'Assign it inside a block `with self.init_scope():`.'
    else:
        what = f'a {type(value).__name__} of {kind}s'
        advice = (
            'Assign each inside a block `with self.init_scope():`.'
            if kind == 'parameter'
            else 'Use chainer.ChainList or chainer.Sequential in its place.'
        )
    warnings.warn(
        f'{path} of {cls.__name__} is {what} that is not registered: its parameters are neither '
        f'trained nor saved nor moved to devices. {advice}',
        stacklevel=stacklevel + 1,
    )
