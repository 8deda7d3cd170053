"""Links as HTML, for notebooks: a tree with the shapes and numbers of parameters."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from chainer._core.models import link_registry

if TYPE_CHECKING:
    from chainer._core.models.types import LinkTree
    from chainer._core.variables.parameter import Parameter


def render(link: LinkTree) -> str:
    """Returns the tree of a link, which unfolds at a click."""
    return f'<div style="font-family: monospace">{_render(link, "", is_open=True)}</div>'


def _render(link: LinkTree, name: str, is_open: bool) -> str:
    params = link_registry.params_of(link).values()
    children = link_registry.children_of(link).items()
    size = sum(p.size for p in link.params(include_uninit=False))
    label = f'{html.escape(name)}: ' if name else ''
    specs = ', '.join(f'{key}={value}' for key, value in link.printable_specs)
    title = f'{label}<b>{type(link).__name__}</b>({html.escape(specs)})'
    count = f'<span style="color: #808080"> {size:,} parameters</span>'
    rows = [f'<li>{_describe(param)}</li>' for param in params]
    rows += [f'<li>{_render(child, name, len(children) <= 20)}</li>' for name, child in children]
    if not rows:
        return title
    body = f'<ul style="list-style: none; margin: 0; padding-left: 1.5em">{"".join(rows)}</ul>'
    state = ' open=""' if is_open else ''
    return f'<details{state}><summary>{title}{count}</summary>{body}</details>'


def _describe(param: Parameter) -> str:
    name = html.escape(str(param.name))
    if not param.is_initialized:
        return f'{name}: of a shape that the first input sets'
    return f'{name}: {param.shape} {param.dtype} on {html.escape(str(param.device))}'
