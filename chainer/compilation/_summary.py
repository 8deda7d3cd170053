"""Descriptions of plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.reports import html_table

if TYPE_CHECKING:
    from chainer.compilation._plans import Plans
    from chainer.compilation._recorded import Recorded


class Text(str):
    """A text that notebooks show as HTML."""

    __slots__ = ('_html',)
    _html: str

    def _repr_html_(self) -> str:
        return self._html


def with_html(text: str, html: str) -> Text:
    """Returns a text with what notebooks show."""
    shown = Text(text)
    shown._html = html
    return shown


def summarize(plans: Plans) -> Text:
    """Describes plans, the one used last first, and what they keep together."""
    recorded = plans.in_order
    parts = [*map(_summarize, recorded)]
    # Sums of what the plans have in common would count it once for each.
    if len(recorded) > 1:
        own = sum([plan.plan.own_bytes for plan in recorded])
        parts.append(
            f'{len(recorded)} plans share {plans.scratch.bytes} bytes and take {own} themselves'
        )
    return with_html('\n\n'.join(parts), _table(recorded))


def _table(recorded: list[Recorded]) -> str:
    head = 'plan', 'kernels', 'parts', 'runs', 'memory', 'without sharing', 'eager in it'
    rows = []
    for i, plan in enumerate(recorded):
        reasons = '; '.join([effect.reason for effect in plan.effects if effect.reason])
        numbers = (
            i, plan.plan.call_count, _count_parts(plan), plan.runs,
            plan.plan.scratch_bytes, plan.plan.unshared_scratch_bytes,
        )  # fmt: skip
        rows.append([*map(str, numbers), reasons])
    return html_table.table(head, rows) if rows else ''


def _count_parts(recorded: Recorded) -> int:
    return 1 + sum(effect.interruptions for effect in recorded.effects)


def _summarize(recorded: Recorded) -> str:
    """Describes a plan: its kernels, its memory, and what runs eagerly between them."""
    plan = recorded.plan
    reasons = [f'\neager: {effect.reason}' for effect in recorded.effects if effect.reason]
    graphs = f'CUDA graphs: {plan.recorded_count}, submitted {plan.submitted_count} times\n'
    return (
        f'{plan.call_count} kernels in {_count_parts(recorded)} parts, ran {recorded.runs} times\n'
        f'{graphs if plan.recorded_count else ""}'
        f'memory: {plan.scratch_bytes} bytes, {plan.unshared_scratch_bytes} without sharing\n'
        f'kernels: {_kernels_of(recorded)}' + ''.join(reasons)
    )


def _kernels_of(recorded: Recorded) -> str:
    """Names kinds of kernels with their counts and times, the slowest first."""
    counts: dict[str, int] = {}
    times: dict[str, float] = {}
    for line in recorded.plan.describe().splitlines():
        seconds, name, *_ = line.split()
        counts[name] = counts.get(name, 0) + 1
        times[name] = times.get(name, 0) + float(seconds)
    total = sum(times.values())
    kernels = []
    for name in sorted(counts, key=lambda name: -times[name]):
        text = f'{name} x {counts[name]}' if counts[name] > 1 else name
        if total:
            text += f' {times[name] / recorded.runs * 1e6:.1f} us ({times[name] / total:.0%})'
        kernels.append(text)
    return ', '.join(kernels)
