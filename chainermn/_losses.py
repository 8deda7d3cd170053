"""What happens to a job over TCP when it loses a rank: it ends, goes on, or gets another one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from chainermn._tcp import starter
from chainermn._tcp.rendezvous import Rendezvous

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Plan(NamedTuple):
    """What is to happen.

    Attributes:
        n: Number of ranks at the start.
        on_loss: ``'end'``; ``'shrink'``: the others go on; or ``'replace'``: with another process.
        min_n: With fewer ranks, the job ends.
        n_replacements: How many processes may take the place of others.
        command: Command of a rank.

    """

    n: int
    on_loss: str
    min_n: int
    n_replacements: int
    command: list[str]

    def start_command(self, numbers: Iterable[int]) -> list[str]:
        """Returns the command that starts ranks on this host."""
        text = ','.join(map(str, numbers))
        return [sys.executable, '-IS', starter.__file__, text, *self.command]


class Losses:
    """The ranks of a job that are left.

    Args:
        plan: What is to happen.
        addresses: Addresses of this host.

    Attributes:
        meeting: Where the ranks meet.

    """

    def __init__(self, plan: Plan, addresses: Sequence[str]) -> None:
        self._plan = plan
        self._left = {*range(plan.n)}
        self._n_replaced = 0
        self.meeting: Rendezvous = Rendezvous(self._left, addresses)

    def end(self, number: int) -> None:
        """Takes the news that a rank has ended well."""
        self._left.discard(number)
        self.meeting.forget(number)

    def lose(self, number: int) -> str | None:
        """Takes the news that a rank is lost.

        Returns:
            What the others do; ``None`` if the job must end.

        """
        plan = self._plan
        if plan.on_loss == 'end' or number not in self._left:
            return None
        if plan.on_loss == 'replace' and self._n_replaced < plan.n_replacements:
            self._n_replaced += 1
            self.meeting.lose(number, is_replaced=True)
            return f'replacement {self._n_replaced} of {plan.n_replacements} takes its place'
        if plan.on_loss == 'replace' or len(self._left) - 1 < plan.min_n:
            return None
        self._left.discard(number)
        self.meeting.lose(number, is_replaced=False)
        return f'{len(self._left)} ranks go on'

    @property
    def replaces(self) -> bool:
        """Whether a lost rank is followed by another process."""
        return self._plan.on_loss == 'replace'

    def start_command(self, number: int) -> list[str]:
        """Returns the command that starts the process that takes the place of a rank."""
        return self._plan.start_command([number])
