"""Arrays that :func:`chainer.vmap` maps over: functions see one sample, and all are computed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from chainer._core.devices.array_kinds import KINDS, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chainer._core.autograd.base_function import BaseFunction


_REFUSAL = (
    'elements of an array that chainer.vmap maps over cannot be read or changed inside of the '
    'mapped function: use chainer.functions and operators of variables'
)


class Mapping(Protocol):
    """A call of a function that is mapped."""

    #: Larger in calls inside of others.
    depth: int

    def wrap(self, variable: Any) -> Any:
        """Variable that stands for one sample of a variable."""

    def apply(self, func: BaseFunction, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """Applies a function to variables, of which some hold batched arrays."""

    def grad(self, outputs: Sequence[Any], inputs: Sequence[Any], **options: Any) -> list[Any]:
        """Gradients of variables, of which some hold batched arrays."""


class BatchedArray:
    """Stands for the array of one sample in a variable; ``variable`` has those of all.

    Args:
        variable (~chainer.Variable): Samples along the first axis, with their graph.
        mapping: Call that maps over this axis.

    """

    __array_ufunc__ = None

    def __init__(self, variable: Any, mapping: Mapping) -> None:
        self.variable = variable
        self.mapping = mapping
        self.shape: tuple[int, ...] = variable.shape[1:]
        self.ndim = len(self.shape)
        self.size = math.prod(self.shape)
        self.dtype = variable.dtype

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError('len() of a sample without axes')
        return self.shape[0]

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(_REFUSAL)

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f'{name}: {_REFUSAL}')

    __array__ = __bool__ = __int__ = __float__ = __iter__ = __getitem__ = __setitem__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _refuse
    __rtruediv__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse


def _unwrapped(array: BatchedArray) -> Any:
    return array.variable.raw_array


KINDS[BatchedArray] = Kind(
    array_class=lambda: BatchedArray,
    is_available=lambda: False,
    xp_of=lambda array: KINDS[type(_unwrapped(array))].xp_of(_unwrapped(array)),
    device_of=lambda array: KINDS[type(_unwrapped(array))].device_of(_unwrapped(array)),
    to_numpy=BatchedArray._refuse,
    assign=BatchedArray._refuse,
    lift=lambda function, array: array.mapping.wrap(function(array.variable)),
)


def mapping_of(arrays: Iterable[Any]) -> Mapping | None:
    """The innermost call that maps over one of the arrays."""
    found: Mapping | None = None
    for array in arrays:
        if type(array) is BatchedArray and (found is None or array.mapping.depth > found.depth):
            found = array.mapping
    return found
