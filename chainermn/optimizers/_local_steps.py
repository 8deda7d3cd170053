"""The optimizer by which each rank goes its own way, and that averages parameters now and then."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer._core.models import saving
from chainer._core.settings.half import FLOAT_KINDS, is_half
from chainer.variable import Parameter
from chainermn import _arrays, means
from chainermn.optimizers._multi_node import MultiNodeOptimizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chainer.link import Link
    from chainer.serializer import AbstractSerializer


class LocalStepsOptimizer(MultiNodeOptimizer):
    """Optimizer that updates by the gradients of each rank alone, and averages parameters.

    Args:
        actual_optimizer: Optimizer, to which other attributes and methods are forwarded.
        communicator: Communicator.
        local_steps: Number of updates from one mean of the parameters to the next.
        average_states: Whether the states of update rules are averaged, too.

    Raises:
        ValueError: If ``local_steps`` is no positive integer.

    """

    local_steps: int
    _averages_states: bool
    _n_updates: int  # those that a loss scale left out count, which may be others on each rank
    _carriers: list[Parameter]

    def __init__(
        self,
        actual_optimizer: Any,
        communicator: Any,
        local_steps: int,
        average_states: bool,
    ) -> None:
        super().__init__(actual_optimizer, communicator, True, None)
        vars(self).update(
            local_steps=_checked(local_steps),
            _averages_states=average_states,
            _n_updates=0,
            _carriers=[],
        )

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, _checked(value) if name == 'local_steps' else value)

    @property
    def has_equal_params(self) -> bool:
        """``False``: parameters differ from one mean to the next, and states may always."""
        return False

    @property
    def _position(self) -> int:
        return self._n_updates

    def setup(self, link: Link) -> Any:
        """Sets the link to optimize, and restarts the counters."""
        self._n_updates = 0
        return super().setup(link)

    def _mean_grad(self) -> None:
        """Does nothing: this rank updates by its own gradients."""

    def _update_params(self) -> None:
        super()._update_params()
        self._n_updates += 1
        if self._n_updates % self.local_steps == 0:
            self.average_params()

    def average_params(self) -> None:
        """Replaces the parameters by their means over the ranks now; collective.

        Call it before parameters are evaluated or saved between two means, and after a training.
        The next mean comes when it would have come without the call.

        Raises:
            RuntimeError: If :meth:`setup` has not been called.

        """
        if self.actual_optimizer.target is None:
            raise RuntimeError('call `setup` method before `average_params` method')
        if self.communicator.size > 1:
            with self.communicator.calls.watching('average_params'):
                self._average_params()

    def _average_params(self) -> None:
        # One object may have several names, and is averaged once.
        params = {id(p): (n, p) for n, p in means.initialized_params(self.target)}.values()
        masters = {n: _master_of(p) for n, p in params if _has_master(p)}
        arrays = [masters[n] if n in masters else p.array for n, p in params]
        if self._averages_states:
            arrays += self._common_states(params)
        self._average(arrays)
        for name, param in params:
            if name in masters:
                with backend.using_device(param.device):
                    rounded = masters[name].astype(param.dtype)
                    _arrays.plain(param.array)[...] = _arrays.plain(rounded)

    def _common_states(self, params: Iterable[tuple[str, Parameter]]) -> list[Any]:
        """States that all ranks have; collective."""
        # A rank has none of a parameter before it updates it: its loss scale may have been too
        # large so far.
        states = {
            (name, key): value
            for name, param in params
            if param.update_rule is not None
            for key, value in sorted((param.update_rule.state or {}).items())
            if _arrays.is_array(value) and value.dtype.kind in FLOAT_KINDS
        }
        everywhere = set.intersection(*map(set, self.communicator.allgather_obj([*states])))
        return [value for key, value in states.items() if key in everywhere]

    def _average(self, arrays: Sequence[Any]) -> None:
        """Replaces arrays by their means; collective."""
        # The reducer keeps the memory for parameters that come again, so these must.
        if [_kind_of(p.array) for p in self._carriers] != [_kind_of(a) for a in arrays]:
            self._carriers = [Parameter(_arrays.stopped(array)) for array in arrays]
        for carrier, array in zip(self._carriers, arrays):
            carrier.array = _arrays.stopped(array)
            carrier.grad = _arrays.stopped(array)
        # The name shows debug mode a rank with another number of local steps.
        call = f'average_params after update {self._n_updates}'
        self.communicator.reducer.average(self._carriers, call, keeps_dtypes=True)
        for carrier in self._carriers:
            carrier.cleargrad()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the state of the optimizer, and the number of updates."""
        saving.remember(serializer, self)
        super().serialize(serializer)
        try:
            self._n_updates = serializer('local_updates', self._n_updates)
        except KeyError:  # written by an optimizer that averages gradients
            self._n_updates = self.actual_optimizer.t


def _checked(local_steps: Any) -> int:
    is_integer = isinstance(local_steps, numbers.Integral) and not isinstance(local_steps, bool)
    if not is_integer or local_steps < 1:
        raise ValueError(f'local_steps must be a positive integer, not {local_steps!r}')
    return int(local_steps)


def _has_master(param: Parameter) -> bool:
    """Tells whether a float32 copy of a parameter is updated, and copied to the parameter."""
    return is_half(param.dtype) and getattr(param.update_rule, '_use_fp32_update', False)


def _master_of(param: Parameter) -> Any:
    """The float32 copy, or a new one where no update has made it: other ranks may have theirs."""
    master = getattr(param.update_rule, '_fp32_param', None)
    if master is not None and param.device.is_array_supported(master.array):
        return master.array
    with backend.using_device(param.device):
        return param.array.astype(numpy.float32)


def _kind_of(array: Any) -> tuple[Any, ...]:
    return array.shape, str(array.dtype), str(backend.get_device_from_array(array))
