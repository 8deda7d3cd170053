"""Pictures of computational graphs as SVG, without other programs."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CHARACTER, _LINE = 7, 26  # pixels
_GAP = 24


def _ranks(n: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Returns the length of the longest path to each node."""
    tails: list[list[int]] = [[] for _ in range(n)]
    missing = [0] * n
    for head, tail in edges:
        tails[head].append(tail)
        missing[tail] += 1
    ranks = [0] * n
    ready = [i for i in range(n) if not missing[i]]
    for node in ready:
        for tail in tails[node]:
            ranks[tail] = max(ranks[tail], ranks[node] + 1)
            missing[tail] -= 1
            if not missing[tail]:
                ready.append(tail)
    # Inputs stand next to what uses them.
    for node in reversed(ready):
        if tails[node]:
            ranks[node] = max(ranks[node], min(ranks[t] for t in tails[node]) - 1)
    return ranks


def _order(ranks: list[int], edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Returns the nodes of each rank, each near the middle of its neighbours."""
    layers: list[list[int]] = [[] for _ in range(max(ranks, default=-1) + 1)]
    for node, rank in enumerate(ranks):
        layers[rank].append(node)
    neighbours: dict[int, list[int]] = {node: [] for node in range(len(ranks))}
    for head, tail in edges:
        neighbours[head].append(tail)
        neighbours[tail].append(head)
    for sweep in range(4):
        place = {node: i / len(layer) for layer in layers for i, node in enumerate(layer)}
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            means = {
                node: sum(place[x] for x in neighbours[node]) / len(neighbours[node])
                if neighbours[node]
                else place[node]
                for node in layer
            }
            layer.sort(key=means.__getitem__)
            place.update({node: i / len(layer) for i, node in enumerate(layer)})
    return layers


def draw(
    nodes: Sequence[tuple[str, bool, Mapping[str, str]]],
    edges: Sequence[tuple[int, int]],
    rankdir: str = 'TB',
) -> str:
    """Draws a graph.

    Args:
        nodes: For each node its label, whether it is a variable, and attributes, of which
            ``fillcolor`` counts.
        edges: Pairs of indexes of nodes.
        rankdir: Direction of the edges: ``'TB'``, ``'BT'``, ``'LR'`` or ``'RL'``.

    Returns:
        SVG document.

    """
    layers = _order(_ranks(len(nodes), edges), edges)
    across = rankdir in ('LR', 'RL')
    widths = [max(_CHARACTER * len(label) + 20, 40) for label, _, _ in nodes]
    spans = [
        sum(_LINE if across else widths[i] for i in layer) + _GAP * (len(layer) - 1)
        for layer in layers
    ]
    breadth = max(spans, default=0) + 2 * _GAP
    centers: dict[int, tuple[float, float]] = {}
    depth = float(_GAP)
    for layer, span in zip(layers, spans):
        size = max(widths[i] for i in layer) if across else _LINE
        start = (breadth - span) / 2
        for i in layer:
            extent = _LINE if across else widths[i]
            centers[i] = (start + extent / 2, depth + size / 2)
            start += extent + _GAP
        depth += size + _GAP
    if rankdir in ('BT', 'RL'):
        centers = {i: (x, depth - y) for i, (x, y) in centers.items()}
    if across:
        centers = {i: (y, x) for i, (x, y) in centers.items()}
    width, height = (depth, breadth) if across else (breadth, depth)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="12">',
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#808080"/></marker></defs>',
    ]
    for head, tail in edges:
        (x1, y1), (x2, y2) = centers[head], centers[tail]
        sign = -1 if rankdir in ('BT', 'RL') else 1
        if across:
            x1, x2 = x1 + sign * widths[head] / 2, x2 - sign * widths[tail] / 2
            middle = f'{(x1 + x2) / 2:.1f} {y1:.1f} {(x1 + x2) / 2:.1f} {y2:.1f}'
        else:
            y1, y2 = y1 + sign * _LINE / 2, y2 - sign * _LINE / 2
            middle = f'{x1:.1f} {(y1 + y2) / 2:.1f} {x2:.1f} {(y1 + y2) / 2:.1f}'
        parts.append(
            f'<path d="M{x1:.1f} {y1:.1f}C{middle} {x2:.1f} {y2:.1f}" fill="none" '
            'stroke="#808080" marker-end="url(#arrow)"/>'
        )
    for i, (label, is_variable, attributes) in enumerate(nodes):
        x, y = centers[i]
        fill = html.escape(attributes.get('fillcolor', '#FFFFFF'))
        parts.append(
            f'<rect x="{x - widths[i] / 2:.1f}" y="{y - _LINE / 2:.1f}" width="{widths[i]}" '
            f'height="{_LINE}" rx="{_LINE // 2 if is_variable else 3}" fill="{fill}" '
            f'stroke="#606060"/><text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" '
            f'fill="#000000">{html.escape(label)}</text>'
        )
    return '\n'.join([*parts, '</svg>'])
