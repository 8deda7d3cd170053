"""Random generator states in snapshots, for resuming bit-identically."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy

from chainer import serializer as serializer_module

if TYPE_CHECKING:
    from collections.abc import Callable


def serialize_random_state(serializer: Any, random_state: Any) -> None:
    """Reads or writes the state of a ``numpy.random.RandomState`` (or ``numpy.random``).

    Snapshots without the entry leave the state unchanged.
    """
    if isinstance(serializer, serializer_module.Serializer):
        _, keys, position, has_gauss, gauss = random_state.get_state()
        serializer('keys', keys)
        serializer('position', position)
        serializer('has_gauss', has_gauss)
        serializer('gauss', gauss)
        return
    try:
        state = (
            'MT19937',
            numpy.array(serializer('keys', None), numpy.uint32),
            int(serializer('position', 0)),
            int(bool(serializer('has_gauss', 0))),
            float(serializer('gauss', 0.0)),
        )
    except (KeyError, TypeError):
        return
    if state[1].shape == (624,):
        if not 0 <= state[2] <= 624:  # NumPy reads beyond the keys without a check
            raise ValueError(f'a random state has the position {state[2]}, beyond its 624 keys')
        _undo(serializer, random_state.set_state, random_state.get_state())
        random_state.set_state(state)


def serialize_global_states(serializer: Any) -> None:
    """Reads or writes the states of ``numpy.random`` and ``random``."""
    serialize_random_state(serializer['numpy'], numpy.random)
    serializer = serializer['python']
    if isinstance(serializer, serializer_module.Serializer):
        version, state, gauss = random.getstate()
        serializer('version', version)
        serializer('state', numpy.array(state, numpy.uint32))
        serializer('gauss', gauss)
        return
    try:
        version = int(serializer('version', 0))
        state = numpy.array(serializer('state', None), numpy.uint32)
        gauss = serializer('gauss', None)
    except (KeyError, TypeError):
        return
    if state.shape == (625,):
        _undo(serializer, random.setstate, random.getstate())
        random.setstate((version, tuple(state.tolist()), None if gauss is None else float(gauss)))


def _undo(serializer: Any, setter: Callable[[Any], object], state: Any) -> None:
    journal = getattr(serializer, '_journal', None)
    if journal is not None:
        journal.append(lambda: setter(state))
