"""Pictures of plans."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chainer.compilation._recorded import Recorded

_ROW = 14  # height
_TOP = 54
#: Where the columns begin, and the widths of the last two.
_NAMES, _TIMES, _MEMORY = 8, 400, 560
_TIMES_WIDTH, _MEMORY_WIDTH = 100, 400
_MAX_NAME = 56
_COLORS = 7
_ARRAY = re.compile(r'\w+\([^)]*\)')


class Drawing(str):
    """A picture in SVG, which notebooks show.

    It is a text: ``Path('plan.svg').write_text(drawing)`` writes a file that browsers show.
    """

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


class _Kernel(NamedTuple):
    seconds: float
    name: str
    arrays: str


def draw(recorded: Recorded, name: str) -> Drawing:
    """Returns a picture of a plan: a row for each kernel, with its time and the memory it needs."""
    plan = recorded.plan
    kernels = [_Kernel(float(s), n, a) for s, n, a in map(_split, plan.describe().splitlines())]
    height = _TOP + _ROW * (len(kernels) + 2)
    width = _MEMORY + _MEMORY_WIDTH + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="monospace" font-size="10">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        _text(_NAMES, 16, f'{name}: {len(kernels)} kernels, ran {recorded.runs} times', 12),
        _text(_NAMES, 36, 'kernel, and what it computes'),
        _text(_TIMES, 36, _title_of_times(kernels, recorded.runs)),
        _text(
            _MEMORY, 36, f'memory: {_bytes(plan.scratch_bytes)}, '
            f'{_bytes(plan.unshared_scratch_bytes)} without sharing',
        ),
        *_rows(kernels, recorded.runs),
        *_blocks(plan),
        '</svg>',
    ]  # fmt: skip
    return Drawing('\n'.join(parts))


def _split(line: str) -> tuple[str, str, str]:
    seconds, _, rest = line.partition(' ')
    name, _, arrays = rest.partition(' ')
    return seconds, name, arrays


def _rows(kernels: list[_Kernel], runs: int) -> Iterator[str]:
    longest = max((kernel.seconds for kernel in kernels), default=0)
    for i, kernel in enumerate(kernels):
        y = _TOP + i * _ROW
        label = ' '.join([str(i), kernel.name, *_ARRAY.findall(kernel.arrays)[-1:]])  # the result
        short = label if len(label) <= _MAX_NAME else f'{label[: _MAX_NAME - 3]}...'
        yield f'<g><title>{html.escape(f"{kernel.name} {kernel.arrays}")}</title>'
        yield _text(_NAMES, y + _ROW - 4, short)
        if kernel.seconds:
            length = _TIMES_WIDTH * kernel.seconds / longest
            yield _rect(_TIMES, y + 2, length, _ROW - 4, '#5b8fd6')
            microseconds = f'{kernel.seconds / max(runs, 1) * 1e6:.1f}'
            yield _text(_TIMES + length + 4, y + _ROW - 4, microseconds)
        yield '</g>'


def _title_of_times(kernels: list[_Kernel], runs: int) -> str:
    total = sum(kernel.seconds for kernel in kernels)
    return f'us of {total / max(runs, 1) * 1e6:.1f}' if total else 'time: measure=True'


def _blocks(plan: Any) -> Iterator[str]:
    scale = _MEMORY_WIDTH / max(plan.scratch_bytes, 1)
    for i, (first, last, offset, size) in enumerate(plan.blocks):
        color = f'hsl({360 * (i % _COLORS) // _COLORS},55%,70%)'
        rect = _rect(
            _MEMORY + offset * scale, _TOP + first * _ROW + 1,
            max(size * scale, 0.5), (last - first + 1) * _ROW - 2, color,
        )  # fmt: skip
        text = f'{_bytes(size)}, from kernel {first} to kernel {last}'
        yield f'<g><title>{text}</title>{rect}</g>'


def _rect(x: float, y: float, width: float, height: float, color: str) -> str:
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="{color}"/>'
    )


def _text(x: float, y: float, text: str, size: int = 10) -> str:
    return f'<text x="{x:.2f}" y="{y:.2f}" font-size="{size}">{html.escape(text)}</text>'


def _bytes(count: int) -> str:
    if count < 1 << 10:
        return f'{count} bytes'
    return f'{count / (1 << 10):.1f} KiB' if count < 1 << 20 else f'{count / (1 << 20):.1f} MiB'
