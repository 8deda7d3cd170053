"""Calls of stacked recurrent networks: checks of arguments, and sequences as one array."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from chainer._core.names.namespace import F
from chainer.configuration import config

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.functions.rnn._n_step import BaseNStepRNN
    from chainer.types import VariableLike

old_arguments = {
    'train': 'train argument is not supported anymore. Use chainer.using_config',
    'use_cudnn': 'use_cudnn argument is not supported anymore. Use chainer.using_config',
}


def apply_network(
    cls: type[BaseNStepRNN],
    n_layers: int,
    dropout_ratio: float,
    states: Sequence[VariableLike | None],
    ws: Sequence[Sequence[VariableLike]],
    bs: Sequence[Sequence[VariableLike]],
    xs: Sequence[VariableLike],
) -> tuple[Any, ...]:
    """Applies a stacked network; returns the final states and the tuple of outputs."""
    _check_counts(cls, n_layers, ws, bs)
    if not xs:
        raise IndexError('xs must have at least one time step')
    lengths = [x.shape[0] for x in xs]
    flat = [a for w, b in zip(ws, bs) for a in (*w, *b)]
    func = cls(n_layers, dropout_ratio if config.train else 0.0, lengths)
    x = F.concat(xs, axis=0) if len(xs) > 1 else xs[0]
    *states, y = func.apply((*states, x, *flat))
    if config.train and not dropout_ratio:
        func.skip_masks(states[0].array)
    stops = list(itertools.accumulate(lengths[:-1]))
    return (*states, F.split_axis(y, stops, 0, force_tuple=True))


def _check_counts(cls, n_layers, ws, bs):
    n_cells = n_layers * cls.directions
    for name, values in (('ws', ws), ('bs', bs)):
        if len(values) != n_cells:
            raise IndexError(
                f'{name} must have {n_cells} lists, one for each layer and '
                f'direction, got {len(values)}'
            )
        for i, value in enumerate(values):
            if len(value) != cls.n_weights:
                raise ValueError(f'{name}[{i}] must have {cls.n_weights} arrays, got {len(value)}')
