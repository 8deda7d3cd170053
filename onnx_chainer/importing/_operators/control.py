"""Branches, loops, sequences, which are lists, and optional values, which may be ``None``."""

from __future__ import annotations

import itertools

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import VALUES, operator, operators
from .arrays import part, parts


@operator('If', takes=VALUES, scalars=(0,))
def if_(condition, *, then_branch, else_branch):
    return tuple((then_branch if condition else else_branch)())


def stack(values, axis=0):
    """Values of one shape as an array with one more axis; arrays of the host meet the others."""
    values = list(values)
    if not values:
        return np.zeros((0,), np.float32)
    there = next((each for each in values if not v.is_on_host(each)), None)
    if there is not None:
        device = v.backend.get_device_from_array(v.array_of(there))
        values = [v.send(each, device) for each in values]
    return F.stack(values, axis=axis)


def _columns(rows, count):
    """What iterations give as a list for each of ``count`` outputs."""
    return list(map(list, zip(*rows))) if rows else [[] for _ in range(count)]


@operator('Loop', takes=VALUES, scalars=(0, 1))
def loop(node, most=None, on=True, *carried, body):
    count = len(carried)
    rows = []
    for i in itertools.count() if most is None else range(int(most)):
        if not on:
            break
        go_on, *ys = body(np.array(i, np.int64), np.array(bool(on)), *carried)
        on = v.scalar(go_on)
        carried = ys[:count]
        rows.append(ys[count:])
    return *carried, *map(stack, _columns(rows, len(node.outputs) - count))


@operator('Scan', takes=VALUES)
def scan(node, *values, body, num_scan_inputs, directions, **options):
    if node.opset >= 9:
        return _scan(values, body, num_scan_inputs, **options)
    # Opset 8 has lengths first, and a batch in front of all others.
    lengths, *each_batch = values
    if lengths is not None:
        raise ValueError('sequence_lens of opset 8 is not supported')
    rows = [
        _scan([x[i] for x in each_batch], body, num_scan_inputs, scan_input_directions=directions)
        for i in range(each_batch[0].shape[0])
    ]
    return tuple(map(stack, zip(*rows)))


def _scan(
    values, body, count, scan_input_axes=None, scan_input_directions=None,
    scan_output_axes=None, scan_output_directions=None,
):  # fmt: skip
    states = list(values[: len(values) - count])
    inputs = values[len(values) - count :]
    axes = scan_input_axes or [0] * count
    lengths = {x.shape[axis] for x, axis in zip(inputs, axes)}
    if len(lengths) != 1:
        raise ValueError(f'the inputs have different lengths {sorted(lengths)}')
    (length,) = lengths
    backwards = scan_input_directions or [0] * count
    rows = []
    for t in range(length):
        now = (length - 1 - t if each else t for each in backwards)
        ys = body(*states, *map(part, inputs, axes, now))
        states = ys[: len(states)]
        rows.append(ys[len(states) :])
    columns = _columns(rows, 0)
    axes = scan_output_axes or [0] * len(columns)
    backwards = scan_output_directions or [0] * len(columns)
    sides = (each[::-1] if back else each for each, back in zip(columns, backwards))
    return *states, *map(stack, sides, axes)


# -- sequences and optional values


def _position(position, length, last):
    """An index in a sequence; ``last`` is the largest that is allowed, and the default."""
    i = last if position is None else position
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
        'ConcatFromSequence': lambda sequence, *, axis, new_axis: (
            stack(sequence, axis) if new_axis else F.concat(sequence, axis=axis)
        ),
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


@operator('SplitToSequence', takes=VALUES)
def split_to_sequence(x, sizes, *, axis, keepdims):
    length = x.shape[axis]
    if sizes is None and not keepdims:
        return ([part(x, axis, i) for i in range(length)],)
    if sizes is None or sizes.ndim == 0:
        each = 1 if sizes is None else v.scalar(sizes)
        if each <= 0:
            raise ValueError(f'the parts have the size {each}')
        sizes = [min(each, length - i) for i in range(0, length, each)]
    return (parts(x, axis, v.ints(sizes)),)


@operator('OptionalGetElement', takes=VALUES)
def optional_get_element(value):
    if value is None:
        raise ValueError('the optional value is empty')
    return (value,)
