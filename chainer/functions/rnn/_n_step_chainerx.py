"""Stacked recurrent networks by ChainerX's routines, which know no dropout.

Functions here take a :class:`~chainer.functions.rnn._n_step.BaseNStepRNN`, its initial states, the
inputs of all time steps one after the other, and pairs of weights and biases of all cells.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy

import chainerx

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.functions.rnn._n_step import BaseNStepRNN


def run(
    func: BaseNStepRNN,
    states: Sequence[Any],
    x: Any,
    params: Sequence[Any],
    masks: Sequence[Any] | None,
    **options: Any,
) -> tuple[Any, ...]:
    """Returns the final states and the outputs.

    Args:
        func: Network.
        states: Initial states.
        x: Inputs.
        params: Weights and biases.
        masks: Dropout masks of the inputs of every layer but the first; ``None``: no dropout.
        options: Keyword arguments of the routine.

    """
    if masks is None:
        return _call(func, func.chainerx_routine, func.n_layers, states, x, params, options)
    # Dropout is between layers and differs between directions, so they run one by one.
    finals = []
    for layer in range(func.n_layers):
        ys = []
        for d in range(func.directions):
            cell = slice(layer * func.directions + d, layer * func.directions + d + 1)
            masked = x * masks[layer - 1][d] if layer else x
            args = [s[cell] for s in states], masked, params[cell], options
            *final, y = _run_direction(func, d, *args)
            ys.append(y)
            finals.append(final)
        x = chainerx.concatenate(ys, 1)
    return (*[chainerx.concatenate(parts, 0) for parts in zip(*finals)], x)


def _run_direction(func, reverse, states, x, params, options):
    """Runs one layer in one direction."""
    routine = func.chainerx_routine.replace('step_bi', 'step_')
    if not reverse:
        return _call(func, routine, 1, states, x, params, options)
    rows = chainerx.array(_reversed_rows(func.lengths), device=x.device)
    *final, y = _call(func, routine, 1, states, x.take(rows, 0), params, options)
    return (*final, y.take(rows, 0))


def _reversed_rows(lengths):
    """Rows of the time steps, one after the other, with each sequence reversed."""
    counts = numpy.array(lengths)
    starts = counts.cumsum() - counts
    ends = numpy.array([(counts > i).sum() for i in range(counts[0])])
    rows = [starts[ends[:n] - 1 - t] + numpy.arange(n) for t, n in enumerate(lengths)]
    return numpy.concatenate(rows)


def _call(func, routine, n_layers, states, x, params, options):
    *states, ys = getattr(chainerx, routine)(
        n_layers,
        *states,
        [list(ws) for ws, _ in params],
        [list(bs) for _, bs in params],
        chainerx.split(x, list(itertools.accumulate(func.lengths[:-1])), 0),
        **options,
    )
    return (*states, chainerx.concatenate(ys, 0))
