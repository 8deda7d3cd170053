"""Type checks of stacked recurrent networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.utils.type_check import TypeInfoTuple, Variable


def check_states_and_inputs(
    states: TypeInfoTuple, x_type: Variable, n_cells: int, lengths: Sequence[int]
) -> None:
    """Checks the initial states, and the inputs of all time steps one after the other."""
    type_check.expect_arguments((*states, x_type), (*('hx', 'cx')[: len(states)], 'x'))
    h_type = states[0]
    type_check.expect(
        h_type.dtype.kind == 'f',
        h_type.ndim == 3,
        h_type.shape[0] == n_cells,
        x_type.dtype == h_type.dtype,
        x_type.ndim == 2,
        x_type.shape[0] == sum(lengths),
    )
    for c_type in states[1:]:
        type_check.expect(c_type.dtype == h_type.dtype, c_type.shape == h_type.shape)
    _check_lengths(h_type.shape[1], lengths)


def _check_lengths(batch, lengths):
    for t, length in enumerate(lengths):
        n = type_check.make_variable(length, f'lengths[{t}]')
        type_check.expect(n <= batch)
        batch = n


def check_weights(
    cell: int, ws: TypeInfoTuple, bs: TypeInfoTuple, x_size: Variable, size: Variable
) -> None:
    """Checks weights and biases of a cell: one half is for the input, the other for the state."""
    for j, (w_type, b_type) in enumerate(zip(ws, bs)):
        type_check.expect_arguments((w_type, b_type), (f'ws[{cell}][{j}]', f'bs[{cell}][{j}]'))
        type_check.expect(
            w_type.dtype.kind == 'f',
            w_type.ndim == 2,
            w_type.shape[0] == size,
            w_type.shape[1] == (x_size if j < len(ws) // 2 else size),
            b_type.dtype.kind == 'f',
            b_type.ndim == 1,
            b_type.shape[0] == size,
        )
