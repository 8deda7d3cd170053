"""Descriptions of plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainer.compilation._plans import Plans
    from chainer.compilation._recorded import Recorded


def summarize(plans: Plans) -> str:
    """Describes plans, the one used last first, and what they keep together."""
    recorded = plans.in_order
    parts = [*map(_summarize, recorded)]
    # Sums of what the plans have in common would count it once for each.
    if len(recorded) > 1:
        own = sum([plan.plan.own_bytes for plan in recorded])
        parts.append(
            f'{len(recorded)} plans share {plans.scratch.bytes} bytes and take {own} themselves'
        )
    return '\n\n'.join(parts)


def _summarize(recorded: Recorded) -> str:
    """Describes a plan: its kernels, its memory, and what runs eagerly between them."""
    plan = recorded.plan
    parts = 1 + sum(effect.interruptions for effect in recorded.effects)
    reasons = [f'\neager: {effect.reason}' for effect in recorded.effects if effect.reason]
    return (
        f'{plan.call_count} kernels in {parts} parts, ran {recorded.runs} times\n'
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
