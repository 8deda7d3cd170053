"""Sequences, which are lists, and optional values, which may be ``None``."""

from __future__ import annotations

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import VALUES, operator, operators
from .arrays import part, parts
from .control import stack


def _position(position, length, last):
    """An index in a sequence; ``last`` is the largest that is allowed."""
    i = length if position is None else position
    if not -length <= i <= last:
        raise IndexError(f'position {i} in a sequence of {length}')
    return i + length if i < 0 else i


@operator('SequenceAt', takes=VALUES, scalars=(1,))
def sequence_at(sequence, position):
    return sequence[_position(position, len(sequence), len(sequence) - 1)]


@operator('SequenceInsert', takes=VALUES, scalars=(2,))
def sequence_insert(sequence, value, position):
    i = _position(position, len(sequence), len(sequence))
    return ([*sequence[:i], value, *sequence[i:]],)


@operator('SequenceErase', takes=VALUES, scalars=(1,))
def sequence_erase(sequence, position):
    if position is None:
        return (sequence[:-1],)
    i = _position(position, len(sequence), len(sequence) - 1)
    return ([*sequence[:i], *sequence[i + 1 :]],)


@operator('SequenceConstruct', takes=VALUES)
def sequence_construct(*values):
    if any(isinstance(each, list) for each in values):
        raise ValueError('a sequence has arrays or strings, not sequences')
    return (list(values),)


operators(
    {
        'SequenceEmpty': lambda: ([],),
        'SequenceLength': lambda sequence: np.array(len(sequence), np.int64),
        'Optional': lambda value: (value,),
        'OptionalHasElement': lambda value: np.array(value is not None),
    },
    takes=VALUES,
)


@operator('SequenceMap', takes=VALUES)
def sequence_map(node, sequence, *others, body):
    rows = [
        body(x, *(each[i] if isinstance(each, list) else each for each in others))
        for i, x in enumerate(sequence)
    ]
    return tuple([row[i] for row in rows] for i in range(len(node.outputs)))


@operator('ConcatFromSequence', takes=VALUES)
def concat_from_sequence(sequence, *, axis, new_axis):
    return stack(sequence, axis) if new_axis else F.concat(sequence, axis=axis)


@operator('SplitToSequence', takes=VALUES)
def split_to_sequence(x, sizes, *, axis, keepdims):
    length = x.shape[axis]
    if sizes is None and not keepdims:
        return ([part(x, axis, i) for i in range(length)],)
    sizes = np.ones(length, np.int64) if sizes is None else v.on_host(sizes)
    if sizes.ndim == 0:
        each = int(sizes)
        if each <= 0:
            raise ValueError(f'the parts have the size {each}')
        sizes = [min(each, length - i) for i in range(0, length, each)]
    elif sum(sizes) != length or min(sizes) < 0:
        raise ValueError(f'the sizes {list(sizes)} do not add up to {length}')
    return (parts(x, axis, [int(n) for n in sizes]),)


@operator('OptionalGetElement', takes=VALUES)
def optional_get_element(value):
    if value is None:
        raise ValueError('the optional value is empty')
    return (value,)
