"""Tables of the links of a model, with what they compute for an input."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from chainer import backend, configuration
from chainer._core.devices.array_types import get_array_types
from chainer._core.models import flops as counting, link_registry
from chainer._core.models.unchanged import unchanged
from chainer._core.names.set_module import set_module
from chainer._core.reports import html_table
from chainer._core.reports.text_table import lines_of
from chainer._core.settings.dtype import get_dtype
from chainer.function import no_backprop_mode
from chainer.function_hook import FunctionHook
from chainer.link import Link
from chainer.link_hook import LinkHook

if TYPE_CHECKING:
    from collections.abc import Iterator


class LinkSummary(NamedTuple):
    """Row of a :class:`ModelSummary`."""

    #: Path of the link, such as ``'/l1'``.
    path: str
    #: Name of its class.
    kind: str
    #: Shape of its output; ``None`` if it was not called or has several outputs.
    output: tuple[int, ...] | None
    #: Number of elements of its own parameters, without those of its children.
    n_params: int
    #: Number of operations of the matrix products and convolutions in it, not in its children.
    flops: int
    #: Bytes of its own parameters, without those of its children.
    param_bytes: int
    #: Bytes of the arrays that its calls return, without those that its children return.
    output_bytes: int


class _Links(LinkHook):
    name = 'ModelSummary'

    def __init__(self) -> None:
        self.outputs: dict[int, Any] = {}
        self.n_bytes: dict[int, int] = {}
        self._seen: dict[int, Any] = {}  # arrays by id, which is theirs as long as they are here
        self.order: dict[int, int] = {}
        self.stack: list[Any] = []

    def forward_preprocess(self, args: Any) -> None:
        self.stack.append(args.link)
        self.order.setdefault(id(args.link), len(self.order))

    def forward_postprocess(self, args: Any) -> None:
        self.stack.pop()
        self.note(args.link, args.out)

    def note(self, link: Any, out: Any) -> None:
        """Notes what a call of a link has returned."""
        self.outputs[id(link)] = getattr(out, 'shape', None)
        for array in _arrays_of(out):
            if id(array) not in self._seen:
                self._seen[id(array)] = array
                self.n_bytes[id(link)] = self.n_bytes.get(id(link), 0) + array.nbytes


def _arrays_of(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _arrays_of(item)
    elif isinstance(value, dict):
        yield from _arrays_of(list(value.values()))
    else:
        array = getattr(value, 'raw_array', value)
        if isinstance(array, get_array_types()):
            yield array


class _Functions(FunctionHook):
    name = 'ModelSummary'

    def __init__(self, stack: list[Any]) -> None:
        self.flops: dict[int, int] = {}
        self._stack = stack

    def forward_postprocess(self, function: Any, in_data: Any) -> None:
        link = id(self._stack[-1]) if self._stack else 0
        self.flops[link] = self.flops.get(link, 0) + counting.count(function, in_data)


class ModelSummary:
    """Table of the links of a model; :func:`chainer.summary` makes one.

    ``print`` shows it as text, and notebooks as a table.

    Attributes:
        rows (list): :class:`LinkSummary` for each link.
        n_params (int): Number of elements of all parameters.
        flops (int): Number of operations of one call.
        param_bytes (int): Bytes of all parameters.
        output_bytes (int): Bytes of the arrays that links return in one call.

    """

    def __init__(self, rows: list[LinkSummary]) -> None:
        self.rows = rows
        self.n_params: int = sum(row.n_params for row in rows)
        self.flops: int = sum(row.flops for row in rows)
        self.param_bytes: int = sum(row.param_bytes for row in rows)
        self.output_bytes: int = sum(row.output_bytes for row in rows)

    def _cells(self) -> list[tuple[str, ...]]:
        cells: list[tuple[str, ...]] = [('Link', 'Output', 'Parameters', 'FLOPs', 'Bytes')]
        for row in self.rows:
            depth = 0 if row.path == '/' else row.path.count('/')
            name = f'{row.path.rsplit("/", 1)[1]}: ' if depth else ''
            output = '' if row.output is None else str(tuple(row.output))
            cells.append(('  ' * depth + name + row.kind, output, *_numbers(row)))
        return [*cells, ('Total', '', *_numbers(self))]

    def __str__(self) -> str:
        lines = lines_of(self._cells())
        line = '-' * len(lines[0])
        return '\n'.join([lines[0], line, *lines[1:-1], line, lines[-1]])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        return html_table.table(head, rows)


def _numbers(row: LinkSummary | ModelSummary) -> list[str]:
    n_bytes = row.param_bytes + row.output_bytes
    return [f'{number:,}' for number in (row.n_params, row.flops, n_bytes)]


@set_module('chainer')
def summary(model: Link, *args: Any, **kwargs: Any) -> ModelSummary:
    """Calls a model and lists its links, the shapes of their outputs and their sizes.

    FLOPs are twice the numbers of multiplications in matrix products, convolutions, attention and
    recurrent networks, also those of functions that a link calls. Other functions compute little
    beside them. Bytes are those of the parameters of a link and of the arrays that it returns, each
    of which counts once. The call is one in test mode without a graph. It leaves the model as it
    was: recurrent links have their states, parameters wait for their shapes, and
    :mod:`numpy.random` goes on as if there had been no call.

    Args:
        model (~chainer.Link): Model.
        args: Arguments of the model, such as a batch of one input. A tuple of ints is the shape of
            an array of zeros of the dtype ``chainer.config.dtype`` on the device of the model.
        kwargs: Keyword arguments of the model.

    Returns:
        Table, which ``print`` and notebooks show. Programs read ``n_params``, ``flops`` and
        ``rows``, which have the ``path``, ``kind``, ``output``, ``n_params``, ``flops``,
        ``param_bytes`` and ``output_bytes`` of each link.

    Raises:
        TypeError: If ``model`` is not a link.

    .. admonition:: Example

        >>> model = chainer.Sequential(L.Linear(None, 100), F.relu, L.Linear(10))
        >>> print(chainer.summary(model, (1, 784)))
        Link         Output    Parameters    FLOPs    Bytes
        ---------------------------------------------------
        Sequential   (1, 10)            0        0        0
          0: Linear  (1, 100)      78,500  156,800  314,400
          1: Linear  (1, 10)        1,010    2,000    4,080
        ---------------------------------------------------
        Total                      79,510  158,800  318,480

    """
    if not isinstance(model, Link):
        raise TypeError(f'model must be a link, but {type(model)} was given')
    args = tuple([_make_input(model, arg) for arg in args])
    links = _Links()
    functions = _Functions(links.stack)
    test_mode = configuration.using_config('train', False)
    with unchanged(model), test_mode, no_backprop_mode():
        with links, functions:
            links.stack.append(model)  # for a model whose class has its own `__call__`
            y = model(*args, **kwargs)
        if id(model) not in links.outputs:
            links.note(model, y)
        return ModelSummary(list(_rows(model, links, functions.flops)))


def _rows(model: Link, links: _Links, flops: dict[int, int]) -> Iterator[LinkSummary]:
    seen: set[int] = set()

    def visit(path: str, link: Link) -> Iterator[LinkSummary]:
        params = link_registry.params_of(link).values()
        new = {id(p): p for p in params if p.is_initialized and id(p) not in seen}
        first = 0 if id(link) in seen else 1  # a shared link counts at its first place
        yield LinkSummary(
            path=path or '/',
            kind=type(link).__name__,
            output=links.outputs.get(id(link)),
            n_params=sum(p.size for p in new.values()),
            flops=first * flops.get(id(link), 0),
            param_bytes=sum(p.array.nbytes for p in new.values()),
            output_bytes=first * links.n_bytes.get(id(link), 0),
        )
        seen.update(new, [id(link)])
        children = list(link_registry.children_of(link).items())
        # In the order of the calls; what is not called comes last.
        children.sort(key=lambda pair: links.order.get(id(pair[1]), len(links.order)))
        for name, child in children:
            yield from visit(f'{path}/{name}', child)

    return visit('', model)


def _make_input(model: Link, arg: Any) -> Any:
    if isinstance(arg, tuple) and all(isinstance(n, numbers.Integral) for n in arg):
        with backend.using_device(model.device):
            return model.device.xp.zeros(arg, get_dtype(map_mixed16=numpy.float16))
    return arg
