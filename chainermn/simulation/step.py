"""What one rank computes in a step."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from chainermn.simulation.checks import check_count, check_number

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class Step:
    """Times of a step of one rank, and the sizes of its gradients.

    Args:
        forward (float): Seconds of the forward pass.
        backward (float): Seconds of the backward pass.
        update (float): Seconds of the update of the parameters.
        gradients (sequence of int): Bytes of each gradient, in the order in which backward
            completes them: those of the last layer come first.
        ready (sequence of float): Seconds from the begin of backward after which each gradient is
            complete. By default, backward takes time in proportion to the bytes.

    Raises:
        TypeError: If a time is no number, or a size no integer.
        ValueError: If one is negative or not finite, or ``ready`` has another length than
            ``gradients``, decreases, or goes beyond ``backward``.

    .. admonition:: Example

        >>> step = chainermn.simulation.Step(0.02, 0.04, 0.01, gradients=[1000, 3000])
        >>> round(step.compute, 6)
        0.07
        >>> step.ready
        (0.01, 0.04)

    """

    forward: float
    backward: float
    update: float
    gradients: Sequence[int]
    ready: Sequence[float] | None = None

    def __post_init__(self) -> None:
        for name in 'forward', 'backward', 'update':
            check_number(name, getattr(self, name))
        for i, n_bytes in enumerate(self.gradients):
            check_count(f'gradients[{i}]', n_bytes, least=0)
        ready = self._in_proportion() if self.ready is None else self.ready
        object.__setattr__(self, 'gradients', tuple(self.gradients))
        object.__setattr__(self, 'ready', tuple(ready))
        self._check_ready(ready)

    def _in_proportion(self) -> list[float]:
        total = sum(self.gradients)
        done = 0.0
        ready = []
        for n_bytes in self.gradients:
            done += n_bytes
            ready.append(self.backward * (done / total) if total else self.backward)
        return ready

    def _check_ready(self, ready: Sequence[float]) -> None:
        if len(ready) != len(self.gradients):
            raise ValueError(
                f'ready must have a time for each of {len(self.gradients)} gradients, '
                f'not {len(ready)}'
            )
        before = 0.0
        for i, seconds in enumerate(ready):
            check_number(f'ready[{i}]', seconds)
            if not before <= seconds <= self.backward:
                raise ValueError(
                    f'ready[{i}] must be from {before:g} to {self.backward:g}, the seconds of '
                    f'the gradient before and of backward, not {seconds!r}'
                )
            before = seconds

    @property
    def compute(self) -> float:
        """Seconds of a step without communication."""
        return self.forward + self.backward + self.update
