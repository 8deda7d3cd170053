"""Division of arrays between ranks: which elements of which array are in which file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from chainermn import _arrays
from chainermn._mpi import mpi
from chainermn._sharding import parts
from chainermn.means.buckets import bounds_of, cut
from chainermn.optimizers import (
    MultiNodeOptimizer,
    ParameterShardingOptimizer,
    ShardedOptimizer,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


#: Beginning of the owners of parameters that are divided.
PARAMETER = 'parameter '


class Piece(NamedTuple):
    """Elements ``[first, last)`` of a flat array.

    Args:
        name: Name of the array.
        first: First element.
        last: Element after the last one.
        shape: Shape of the whole array.
        owner: For the state of a sharded optimizer, its name and the number of the parameter. If
            parameters are divided, too, the name of one of them, after :data:`PARAMETER` if this is
            the parameter itself.

    """

    name: str
    first: int
    last: int
    shape: tuple[int, ...]
    owner: tuple[str, int] | None = None


def part_of(sizes: Sequence[int], rank: int, n_ranks: int) -> list[tuple[int, int, int]]:
    """Returns what a rank has of arrays, one after the other: number, first and last element."""
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + size)
    bounds = bounds_of(starts[-1], n_ranks)
    return cut(starts, bounds[rank], bounds[rank + 1])


class Roles(NamedTuple):
    """What the optimizers say about arrays, by their keys."""

    #: Arrays that are equal on all ranks.
    shared: set[Any]
    #: Pieces of the state of sharded optimizers: owner, first and last element.
    sharded: dict[Any, tuple[tuple[str, int], int, int]]
    #: Sizes of what is divided together: the parameters of an optimizer, or one parameter.
    divisions: dict[str, list[int]]


def key_of(array: Any) -> Any:
    """Returns what tells an array from others: ChainerX makes new objects of the same array."""
    return _arrays.address(array), tuple(array.shape), str(array.dtype)


def find_roles(optimizers: dict[str, Any], comm: Any) -> Roles:
    """Asks the optimizers which arrays are equal on all ranks, and which are divided."""
    roles = Roles(set(), {}, {})
    for name, optimizer in optimizers.items():
        if isinstance(optimizer, MultiNodeOptimizer) and optimizer.has_equal_params:
            if _same_ranks(optimizer.communicator, comm):
                add = _add_parts if isinstance(optimizer, ParameterShardingOptimizer) else _add
                add(roles, name, optimizer, comm)
    return roles


def _same_ranks(one: Any, other: Any) -> bool:
    result = mpi().Comm.Compare(one.mpi_comm, other.mpi_comm)
    return result in (mpi().IDENT, mpi().CONGRUENT)


def _add(roles: Roles, name: str, optimizer: Any, comm: Any) -> None:
    params = [p for _, p in sorted(optimizer.target.namedparams()) if p.array is not None]
    arrays = [param.array for param in params]
    if isinstance(optimizer, ShardedOptimizer):
        sizes = roles.divisions[name] = [array.size for array in arrays]
        for number, first, last in part_of(sizes, comm.rank, comm.size):
            for array in _state_of(params[number]):
                if tuple(array.shape) == (last - first,):
                    roles.sharded[key_of(array)] = (name, number), first, last
    else:
        arrays += [array for param in params for array in _state_of(param)]
    roles.shared.update([key_of(array) for array in arrays if array.size])


def _add_parts(roles: Roles, name: str, optimizer: Any, comm: Any) -> None:
    for path, param in sorted(optimizer.target.namedparams()):
        part = parts.part_of(param)
        if part is None:  # whole for now
            continue
        own = part.own
        for kind, arrays in (PARAMETER, [param.array]), ('', _state_of(param)):
            owner = f'{kind}{name}{path}'
            roles.divisions[owner] = [part.size]
            for array in arrays:
                if array.size and tuple(array.shape) == (own.stop - own.start,):
                    roles.sharded[key_of(array)] = (owner, 0), own.start, own.stop


def _state_of(param: Any) -> list[Any]:
    rule = param.update_rule
    if rule is None:
        return []
    values = [*(rule.state or {}).values()]
    master = getattr(rule, '_fp32_param', None)
    if master is not None:
        values.append(master.array)
    return [value for value in values if hasattr(value, 'dtype') and value.size]
