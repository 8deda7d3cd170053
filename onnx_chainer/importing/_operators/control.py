"""Branches and loops, as Python."""

from __future__ import annotations

import itertools

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import VALUES, operator
from .arrays import part


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
    rows, backwards = [], scan_input_directions or [0] * count
    for t in range(length):
        parts = [
            part(x, axis, length - 1 - t if backwards[i] else t)
            for i, (x, axis) in enumerate(zip(inputs, axes))
        ]
        ys = body(*states, *parts)
        states = ys[: len(states)]
        rows.append(ys[len(states) :])
    stacked = []
    for i, each in enumerate(_columns(rows, 0)):
        if scan_output_directions and scan_output_directions[i]:
            each = each[::-1]
        stacked.append(stack(each, scan_output_axes[i] if scan_output_axes else 0))
    return *states, *stacked
