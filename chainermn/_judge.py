"""What the launcher knows of the ranks: who waits for whom, and whether anybody can go on.

The guard of each rank reports the latest beat of the rank (:mod:`chainermn._watchdog`), and what
the system says about its process. A job ends only if nobody could go on:

- A rank is stopped, or neither gives a beat nor computes. Another one waits, or no other one gives
  a beat: a call of MPI may keep Python's lock, and the end of MPI waits for all.
- All ranks wait, and no calls match. If some do, a large message may be on its way, and this takes
  ten times as long.

A rank that does something else, or of which too little is known, may come back: then the others
wait, and a line tells of it from time to time.
"""

from __future__ import annotations

import collections
import time
from typing import TYPE_CHECKING, Any

from chainermn import _recorder, _supervisor

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

_MATCHING = 10  # times the limit: for calls that match
_N_NAMED = 8  # ranks of a line that are described one by one
_PAUSE = 2.0  # most seconds that count between two looks: this process may have been stopped
_N_CALLS = 64
_N_PRINTED = 16
_LETTERS = 200


class Judge:
    """Finds out from reports whether the ranks of a job wait for something that cannot come.

    Args:
        limit: Seconds after which waiting is too long; 0 for any number.
        clock: Tells the time in seconds.

    """

    def __init__(self, limit: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self._clock = clock
        self._ranks: dict[Hashable, Rank] = {}
        self._last_look = clock()
        self._next_line: float | None = None
        self._n_removed = 0
        #: The rank for which nobody waits any longer, where it is a single one.
        self.lost: Hashable | None = None

    def add(self, key: Hashable, name: str) -> None:
        """Adds a rank, of which nothing is known yet."""
        self._ranks[key] = Rank(name, self._clock())

    def hear(self, key: Hashable, report: Any) -> None:
        """Takes a report about a rank.

        Raises:
            ValueError, TypeError, KeyError: If it is none.

        """
        self._ranks[key].hear(report, self._clock())

    def end(self, key: Hashable) -> None:
        """Takes the news that a rank has ended."""
        self._ranks[key].end(self._clock())

    def remove(self, key: Hashable) -> None:
        """Forgets a rank, without which the others go on."""
        if self._ranks.pop(key, None) is not None:
            self._n_removed += 1
        self.lost = None
        for rank in self._ranks.values():
            rank.since = self._clock()  # what they waited for is over

    def look(self) -> tuple[str | None, str | None]:
        """Looks at all ranks.

        Returns:
            tuple: A line to print, if there is one, and why nobody can go on, if that is so.

        """
        now = self._clock()
        if now - self._last_look > _PAUSE:
            for rank in self._ranks.values():
                rank.shift(now - self._last_look - _PAUSE)
        self._last_look = now
        waiting = [rank for rank in self._ranks.values() if self._waits(rank, self.limit / 2)]
        reason = self._find_lost(waiting)
        if not waiting:
            self._next_line = None
            return None, reason
        reason = reason or self._find_deadlock()
        line = None
        if reason is None and now >= (self._next_line or now):
            self._next_line = now + self.limit
            line = self._describe_wait(waiting[0], waiting)
        return line, reason

    def table(self) -> list[str]:
        """Describes all ranks and their last calls."""
        lines = []
        for rank in sorted(self._ranks.values(), key=_order):
            lines.append(f'  {rank.name}: {rank.describe(self._clock(), self.limit)}')
            if rank.last:
                lines.append('    last calls: ' + '; '.join(rank.last[-_N_PRINTED:]))
        return lines

    def record(self, key: Hashable) -> list[str]:
        """Returns the last calls of a rank, the oldest first, and what it does now."""
        rank = self._ranks[key]
        return [rank.name, *rank.last, f'now {rank.describe(self._clock(), self.limit)}']

    def _waits(self, rank: Rank, seconds: float) -> bool:
        now = self._clock()
        return rank.state(now, self.limit) == 'waits' and now - rank.since >= seconds

    def _find_lost(self, waiting: list[Rank]) -> str | None:
        """Why a rank will not come back; ``None`` if there is none, or nobody waits for it."""
        now = self._clock()
        for key, rank in self._ranks.items():
            if rank.is_lost(now, self.limit) and self._is_missed(rank, waiting):
                self.lost = key
                return f'{rank.name}: {rank.describe(now, self.limit)}'
        return None

    def _is_missed(self, rank: Rank, waiting: list[Rank]) -> bool:
        """Tells whether another rank waits, or none of them shows that it goes on."""
        if [other for other in waiting if other is not rank]:
            return True
        now = self._clock()
        others = [r for r in self._ranks.values() if r is not rank and not r.is_stopped]
        return bool(others) and all([other.is_quiet(now, self.limit) for other in others])

    def _find_deadlock(self) -> str | None:
        """Why ranks that all wait do not go on; ``None`` if some rank may go on."""
        live = [rank for rank in self._ranks.values() if not rank.has_ended]
        # A rank that the launcher does not know may do anything.
        if len(self._ranks) + self._n_removed < max([rank.size for rank in live]):
            return None
        if not all([self._waits(rank, self.limit) and not rank.may_go_on for rank in live]):
            return None
        # A rank that ends has made its last call, for which others may have waited until then: what
        # is known of them may be older.
        now = self._clock()
        if any([rank.has_ended and now - rank.since < self.limit for rank in self._ranks.values()]):
            return None
        if not _has_match(live):
            return f'all ranks have waited {self.limit:g} seconds in calls that do not match'
        if all([self._waits(rank, _MATCHING * self.limit) for rank in live]):
            return f'no rank has made progress for {_MATCHING * self.limit:g} seconds'
        return None

    def _describe_wait(self, first: Rank, waiting: list[Rank]) -> str:
        """Who waits where, who is not there, and what those do."""
        now = self._clock()
        same = [rank for rank in waiting if rank.call == first.call and rank.line == first.line]
        ranks = _recorder.describe_ranks([rank.number for rank in same])
        head = f'rank {ranks} waits' if len(same) == 1 else f'ranks {ranks} wait'
        text = f'{head} {first.describe(now, self.limit)}'
        absent = self._absent(first)
        if not absent:
            return f'{text}; all ranks are there'
        texts = [f'{rank.name}: {rank.describe(now, self.limit)}' for rank in absent[:_N_NAMED]]
        if len(absent) > _N_NAMED:
            texts.append(f'and {len(absent) - _N_NAMED} more')
        return f'{text}; not there: {"; ".join(texts)}'

    def _absent(self, first: Rank) -> list[Rank]:
        """Ranks for which a rank may wait."""
        call = first.call
        assert call is not None
        others = sorted([rank for rank in self._ranks.values() if rank is not first], key=_order)
        if 'size' not in call:
            others = [rank for rank in others if call['peer'] in (None, rank.number)]
            return [rank for rank in others if not _match(first, rank)]
        members = [r for r in others if r.number < 0 or _contains(call['ranks'], r.number)]
        return [r for r in members if r.call is None or r.has_ended or r.call['key'] != call['key']]


class Rank:
    """What is known of a rank.

    Args:
        name: Its name.
        now: The time.

    Attributes:
        number: Number of the rank, -1 if it has made no communicator yet.
        size: Number of ranks.
        call: Call that it is in, or ``None``.
        line: Line of its program.
        since: Since when it has made no progress, such as the begin or the end of a call.
        last: Its last calls.
        may_go_on: Whether it computes within a call, or other threads of it may.

    """

    def __init__(self, name: str, now: float) -> None:
        self.name = name
        self.number = -1
        self.size = 0
        self.call: dict[str, Any] | None = None
        self.line = ''
        self.since = now
        self.last: list[str] = []
        self.may_go_on = False
        self.has_ended = False
        self._progress: list[int] = []
        self._heard: float | None = None  # when the last beat came
        self._ticks = -1
        self._computed = now  # when it has computed, or its state was unknown
        self._stopped: float | None = None

    def hear(self, report: Any, now: float) -> None:
        """Takes a report about it; raises an error if it is none."""
        state, ticks = _letters(report['state']), int(report['cpu'])
        if ticks != self._ticks or state in ('X', 't'):  # a debugger holds it in the state t
            self._ticks, self._computed = ticks, now
        if state != 'T':
            self._stopped = None
        elif self._stopped is None:
            self._stopped = now
        if report['beat'] is not None:
            self._hear_beat(report['beat'], now)

    def _hear_beat(self, beat: Any, now: float) -> None:
        self.number, self.size = int(beat['rank']), int(beat['size'])
        self._heard = now
        if 'last' in beat:
            self.last = [_letters(text) for text in beat['last'][:_N_CALLS]]
        if beat.get('ended'):
            self._note_end(now)
            return
        progress = [int(number) for number in beat['progress'][:3]]
        if progress != self._progress:
            self._progress, self.since = progress, now
        self.call = None if beat['call'] is None else _check_call(beat['call'])
        self.line = _letters(beat['line'])
        self.may_go_on = bool(beat['may_go_on'])

    def end(self, now: float) -> None:
        """Takes the news that its process has ended."""
        self._note_end(now)
        self._stopped = None

    def _note_end(self, now: float) -> None:
        if not self.has_ended:
            self.has_ended, self.since = True, now

    def shift(self, seconds: float) -> None:
        """Leaves out a time in which this process was stopped."""
        self.since += seconds
        self._computed += seconds
        if self._heard is not None:
            self._heard += seconds
        if self._stopped is not None:
            self._stopped += seconds

    def state(self, now: float, limit: float) -> str:
        """Tells what it does."""
        if self._stopped is not None:
            return 'stopped'
        if self.has_ended:
            return 'ended'
        if self._heard is None:
            return 'new'
        if now - self._heard > max(5 * _supervisor.interval(limit), limit / 4):
            return 'silent'
        return 'runs' if self.call is None else 'waits'

    @property
    def is_stopped(self) -> bool:
        """Whether the system has stopped it."""
        return self._stopped is not None

    def is_quiet(self, now: float, limit: float) -> bool:
        """Tells whether it has ended, or has given no beat for long."""
        heard = self.since if self._heard is None else self._heard
        return self.has_ended or now - heard >= limit

    def is_lost(self, now: float, limit: float) -> bool:
        """Tells whether it will not come back."""
        if self._stopped is not None:  # maybe in the end of MPI
            return now - self._stopped >= limit
        if self.has_ended:
            return False
        return self._heard is not None and now - max(self._heard, self._computed) >= limit

    def describe(self, now: float, limit: float) -> str:
        """Says what it does, and where."""
        state = self.state(now, limit)
        place = f', at {self.line}' if self.line else ''
        seconds = now - self.since
        if state == 'waits':
            assert self.call is not None
            return f'in {self.call["text"]}{place}, for {seconds:.3g} s'
        if state == 'stopped':
            return f'stopped for {now - (self._stopped or now):.3g} s{place}'
        if state == 'silent':
            return f'no sign of it for {now - (self._heard or now):.3g} s, last{place[1:]}'
        return {
            'ended': 'has ended its program',
            'new': 'has made no communicator yet',
            'runs': f'outside of calls{place}, for {seconds:.3g} s',
        }[state]


def _order(rank: Rank) -> tuple[int, str]:
    return rank.number, rank.name


def _has_match(ranks: Iterable[Rank]) -> bool:
    """Tells whether some ranks wait in calls that belong together, so that these may go on."""
    n_there: collections.Counter[str] = collections.Counter()
    messages = {}
    for rank in ranks:
        call = rank.call
        assert call is not None
        if 'size' not in call:
            messages[rank.number] = rank
            continue
        n_there[call['key']] += 1
        if n_there[call['key']] == call['size']:
            return True
    sends = [rank for rank in messages.values() if 'send' in rank.call['name']]  # type: ignore[index]
    return any([_match(rank, messages.get(rank.call['peer'])) for rank in sends])  # type: ignore[index]


def _match(a: Rank, b: Rank | None) -> bool:
    """Tells whether two ranks exchange a message."""
    if b is None or a.call is None or b.call is None or 'size' in a.call or 'size' in b.call:
        return False
    return (
        a.call['name'] == _recorder.PARTNERS.get(b.call['name'])
        and a.call['key'] == b.call['key']
        and a.call['peer'] in (None, b.number)
        and b.call['peer'] in (None, a.number)
        and (a.call['tag'] == b.call['tag'] or None in (a.call['tag'], b.call['tag']))
    )


def _check_call(call: Any) -> dict[str, Any]:
    checked = {name: _letters(call[name]) for name in ('text', 'name', 'key')}
    if 'size' in call:
        return checked | {'size': int(call['size']), 'ranks': _letters(call['ranks'])}
    return checked | {
        name: None if call[name] is None else int(call[name]) for name in ('peer', 'tag')
    }


def _letters(text: Any) -> str:
    """Text that can be printed: no line ends, no commands to a terminal."""
    if not isinstance(text, str):
        raise TypeError('this is no text')
    return ''.join([letter if letter.isprintable() else '?' for letter in text[:_LETTERS]])


def _contains(ranks: str, number: int) -> bool:
    """Tells whether a rank is one of ranks such as ``0-2,5``; true if they are not known."""
    for part in filter(None, ranks.split(',')):
        first, _, last = part.partition('-')
        if int(first) <= number <= int(last or first):
            return True
    return not ranks
