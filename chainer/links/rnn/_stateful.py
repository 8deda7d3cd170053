"""States of recurrent links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import link, variable
from chainer.backend import using_device

if TYPE_CHECKING:
    from chainer.device_resident import DeviceResidentsVisitor


class StatefulChain(link.Chain):
    """Chain that keeps variables as state between calls.

    A subclass lists the attributes of the state in ``_state_names``.
    """

    _state_names: tuple[str, ...] = ()

    def reset_state(self) -> None:
        """Clears the state: the next call starts from zeros."""
        for name in self._state_names:
            setattr(self, name, None)

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        super().device_resident_accept(visitor)
        for name in self._state_names:
            state = getattr(self, name)
            if state is not None:
                visitor.visit_variable(state)

    def _set_state(self, *states):
        for name, state in zip(self._state_names, states):
            assert isinstance(state, variable.Variable), (
                f'{name} must be a Variable, but {type(state)} was given'
            )
        for name, state in zip(self._state_names, states):
            state.to_device(self.device)
            setattr(self, name, state)


def zero_state(link, x, size):
    """Returns a zero state for a batch of inputs."""
    with using_device(link.device):
        return variable.Variable(link.xp.zeros((x.shape[0], size), dtype=x.dtype))
