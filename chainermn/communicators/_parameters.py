"""Broadcast of parameters from rank 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainermn import _arrays, _messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.variable import Parameter


def specs_of(params: Sequence[tuple[str, Parameter]]) -> list[Any]:
    """Describes named parameters to other ranks."""
    return [(name, _arrays.spec_of(param.array)[:2]) for name, param in params]


def check_same(own_rank: int, all_specs: Sequence[Any]) -> None:
    """Raises an error unless all ranks have the same names, shapes and dtypes of parameters.

    Args:
        own_rank: This rank.
        all_specs: What :func:`specs_of` returns on each rank.

    Raises:
        ValueError: If a parameter is missing on a rank, or has another shape or dtype there.

    """
    own = all_specs[own_rank]
    for rank, other in enumerate(all_specs):
        if own == other:
            continue
        mine, theirs = dict(own), dict(other)
        for name in sorted({*mine, *theirs}):
            if mine.get(name) != theirs.get(name):
                raise ValueError(
                    f'bcast_data: parameter {name} is {_describe(mine.get(name))} on rank '
                    f'{own_rank}, but {_describe(theirs.get(name))} on rank {rank}'
                )


def _describe(spec: Any) -> str:
    return 'missing or not initialized' if spec is None else f'of shape {spec[0]} and {spec[1]}'


def broadcast(mpi_comm: Any, params: Sequence[tuple[str, Parameter]]) -> None:
    """Gives all ranks the arrays of rank 0."""
    is_root = mpi_comm.rank == 0
    for _, param in params:
        host = _arrays.to_host(param.array)
        if not is_root and not host.flags.writeable:
            host = host.copy()
        for part in _messages.parts(host):
            mpi_comm.Bcast(part, 0)
        array = _arrays.plain(param.array)
        if not is_root and array is not host:
            array[...] = _arrays.like(host, array)
