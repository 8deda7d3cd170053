"""What happens to a job over TCP when it loses a rank: it ends, goes on, or gets another one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from chainermn._tcp.rendezvous import Rendezvous

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainermn._hosts import Hosts

#: The variable that tells ranks what happens if one is lost.
VARIABLE = 'CHAINERMN_ON_LOSS'


class Plan(NamedTuple):
    """What is to happen.

    Attributes:
        n: Number of ranks at the start.
        on_loss: ``'end'``; ``'shrink'``: the others go on; or ``'replace'``: with another process.
        min_n: With fewer ranks, the job ends.
        n_new: How many processes may take the place of others.
        rejoin_after: Seconds after which a process joins those that go on; ``None`` for never.
        hosts: Where the ranks run.

    """

    n: int
    on_loss: str
    min_n: int
    n_new: int
    rejoin_after: float | None
    hosts: Hosts


class Losses:
    """The ranks of a job that are left.

    Args:
        plan: What is to happen.
        addresses: Addresses of this host.

    Attributes:
        plan: What is to happen.
        meeting: Where the ranks meet.

    """

    def __init__(self, plan: Plan, addresses: Sequence[str]) -> None:
        self.plan = plan
        self._n_new = 0
        self._starts: dict[int, float] = {}  # when new processes start, by numbers
        self.meeting: Rendezvous = Rendezvous(range(plan.n), addresses)

    def end(self, number: int) -> None:
        """Takes the news that a rank has ended well."""
        self.meeting.forget(number)
        self._starts.clear()  # the program has ended

    def lose(self, number: int) -> str | None:
        """Takes the news that a rank is lost.

        Returns:
            What the others do; ``None`` if the job must end.

        """
        plan, meeting = self.plan, self.meeting
        if plan.on_loss == 'end':
            return None
        if number in meeting.invited and plan.on_loss == 'shrink':
            meeting.lose(number, is_replaced=False)
            return self._start_later(number)
        if number not in meeting.expected:
            return 'it was to join the others, which have ended'
        if plan.on_loss == 'replace' and self._n_new < plan.n_new:
            meeting.lose(number, is_replaced=True)
            self._n_new += 1
            self._starts[number] = time.monotonic()
            return f'replacement {self._n_new} of {plan.n_new} takes its place'
        if plan.on_loss == 'replace' or len(meeting.expected) - 1 < plan.min_n:
            return None
        meeting.lose(number, is_replaced=False)
        return self._start_later(number)

    def _start_later(self, number: int) -> str:
        """Lets the others go on until another process of this number joins them."""
        plan = self.plan
        text = f'{len(self.meeting.expected)} ranks go on'
        if plan.rejoin_after is None or self._n_new == plan.n_new:
            return text
        self._n_new += 1
        self._starts[number] = time.monotonic() + plan.rejoin_after
        joins = f'new process {self._n_new} of {plan.n_new} joins in {plan.rejoin_after:g} s'
        return f'{text}, {joins}'

    def next_starts(self) -> list[int]:
        """Returns the numbers of the processes that start now."""
        now = time.monotonic()
        numbers = [number for number, start in self._starts.items() if start <= now]
        for number in numbers:
            del self._starts[number]
            self.meeting.invite(number)
        return numbers
