"""Tables of the links of a model, with what they compute for an input."""

from __future__ import annotations

import html
import numbers
from typing import Any, NamedTuple

import numpy

from chainer import backend, configuration
from chainer._core.models import flops
from chainer._core.names.set_module import set_module
from chainer._core.settings.dtype import get_dtype
from chainer.function import no_backprop_mode
from chainer.function_hook import FunctionHook
from chainer.link import Link
from chainer.link_hook import LinkHook


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


class _Links(LinkHook):
    name = 'ModelSummary'

    def __init__(self) -> None:
        self.outputs: dict[int, Any] = {}
        self.order: dict[int, int] = {}
        self.stack: list[Any] = []

    def forward_preprocess(self, args: Any) -> None:
        self.stack.append(args.link)
        self.order.setdefault(id(args.link), len(self.order))

    def forward_postprocess(self, args: Any) -> None:
        self.stack.pop()
        self.outputs[id(args.link)] = getattr(args.out, 'shape', None)


class _Functions(FunctionHook):
    name = 'ModelSummary'

    def __init__(self, stack: list[Any]) -> None:
        self.flops: dict[int, int] = {}
        self._stack = stack

    def forward_postprocess(self, function: Any, in_data: Any) -> None:
        link = id(self._stack[-1]) if self._stack else 0
        self.flops[link] = self.flops.get(link, 0) + flops.count(function, in_data)


class ModelSummary:
    """Table of the links of a model; :func:`chainer.model_summary` makes one.

    ``print`` shows it as text, and notebooks as a table.

    Attributes:
        rows (list): :class:`LinkSummary` for each link.
        n_params (int): Number of elements of all parameters.
        flops (int): Number of operations of one call.

    """

    def __init__(self, rows: list[LinkSummary]) -> None:
        self.rows = rows
        self.n_params: int = sum(row.n_params for row in rows)
        self.flops: int = sum(row.flops for row in rows)

    def _cells(self) -> list[tuple[str, str, str, str]]:
        cells = [('Link', 'Output', 'Parameters', 'FLOPs')]
        for row in self.rows:
            depth = 0 if row.path == '/' else row.path.count('/')
            name = f'{row.path.rsplit("/", 1)[1]}: ' if depth else ''
            output = '' if row.output is None else str(tuple(row.output))
            text = '  ' * depth + name + row.kind
            cells.append((text, output, f'{row.n_params:,}', f'{row.flops:,}'))
        cells.append(('Total', '', f'{self.n_params:,}', f'{self.flops:,}'))
        return cells

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(len(row[i]) for row in cells) for i in range(4)]
        lines = [
            f'{a:{widths[0]}}  {b:{widths[1]}}  {c:>{widths[2]}}  {d:>{widths[3]}}'.rstrip()
            for a, b, c, d in cells
        ]
        line = '-' * (sum(widths) + 6)
        return '\n'.join([lines[0], line, *lines[1:-1], line, lines[-1]])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        rows = [f'<tr>{"".join(f"<th>{text}</th>" for text in head)}</tr>']
        for name, *others in body:
            text = html.escape(name.lstrip())
            indent = (len(name) - len(name.lstrip())) * 0.6
            cells = f'<td style="text-align: left; padding-left: {indent + 0.5:.1f}em">{text}</td>'
            cells += ''.join(f'<td>{html.escape(cell)}</td>' for cell in others)
            rows.append(f'<tr>{cells}</tr>')
        return f'<table>{"".join(rows)}</table>'


@set_module('chainer')
def model_summary(model: Link, *args: Any, **kwargs: Any) -> ModelSummary:
    """Calls a model and lists its links, the shapes of their outputs and their sizes.

    FLOPs are twice the numbers of multiplications in matrix products, convolutions, attention and
    recurrent networks, also those of functions that a link calls. Other functions compute little
    beside them. The call is one in test mode without a graph. It initializes parameters whose shape
    depends on the input, and changes the state of recurrent links.

    Args:
        model (~chainer.Link): Model.
        args: Arguments of the model, such as a batch of one input. A tuple of ints is the shape of
            an array of zeros of the dtype ``chainer.config.dtype`` on the device of the model.
        kwargs: Keyword arguments of the model.

    Returns:
        Table, which ``print`` and notebooks show. Programs read ``n_params``, ``flops`` and
        ``rows``, which have the ``path``, ``kind``, ``output``, ``n_params`` and ``flops`` of each
        link.

    Raises:
        TypeError: If ``model`` is not a link.

    .. admonition:: Example

        >>> model = chainer.Sequential(L.Linear(None, 100), F.relu, L.Linear(10))
        >>> print(chainer.model_summary(model, (1, 784)))
        Link         Output    Parameters    FLOPs
        ------------------------------------------
        Sequential   (1, 10)            0        0
          0: Linear  (1, 100)      78,500  156,800
          1: Linear  (1, 10)        1,010    2,000
        ------------------------------------------
        Total                      79,510  158,800

    """
    if not isinstance(model, Link):
        raise TypeError(f'model must be a link, but {type(model)} was given')
    args = tuple([_make_input(model, arg) for arg in args])
    links = _Links()
    functions = _Functions(links.stack)
    with configuration.using_config('train', False), no_backprop_mode(), links, functions:
        links.stack.append(model)  # for a model whose class has its own `__call__`
        y = model(*args, **kwargs)
    links.outputs.setdefault(id(model), getattr(y, 'shape', None))
    rows = []
    seen: set[int] = set()

    def visit(path: str, link: Link) -> None:
        params = [vars(link)[name] for name in link._params]
        new = {id(p): p.size for p in params if p.is_initialized and id(p) not in seen}
        output = links.outputs.get(id(link))
        n_flops = 0 if id(link) in seen else functions.flops.get(id(link), 0)
        kind = type(link).__name__
        rows.append(LinkSummary(path or '/', kind, output, sum(new.values()), n_flops))
        seen.update(new, [id(link)])
        children: list[Any] = list(link._named_children())
        # In the order of the calls; what is not called comes last.
        children.sort(key=lambda pair: links.order.get(id(pair[1]), len(links.order)))
        for name, child in children:
            visit(f'{path}/{name}', child)

    visit('', model)
    return ModelSummary(rows)


def _make_input(model: Link, arg: Any) -> Any:
    if isinstance(arg, tuple) and all(isinstance(n, numbers.Integral) for n in arg):
        with backend.using_device(model.device):
            return model.device.xp.zeros(arg, get_dtype(map_mixed16=numpy.float16))
    return arg
