"""How often to record."""

from __future__ import annotations

#: In runs of a plan. A recording takes 20 eager calls of a small model, a run saves half of one.
COST_OF_RECORDING = 50
#: Enough to see whether calls settle on other plans than the ones that had to go for them.
MORE_RECORDINGS = 16
#: Of what runs gain, one fourth may go into recordings after these. The rest is sure.
SHARE_FOR_MORE = 4
#: So that calls which no plan serves cost at most 2 % more, with the recordings that look again.
MAX_PAUSE = 4096
#: Plans in a row that no call used. The first ones often are of no use: gradients and states of
#: optimizers come into being, each of which ends the plan before.
_MAX_UNUSED = 4
#: Calls of so many forms are recorded at once, as few come again before all have come. Of more, it
#: is not sure that they come again at all: sentences of all lengths would be recorded in vain.
FORMS_AT_ONCE = 256
_MAX_SEEN = 4096  # forms; then calls do without for a while
_GAIN_OF_RUN = 4  # in searches for a plan
_MAX_IN_VAIN = 64  # searches; then calls do without for a while


class Budget:
    """Weighs what recordings cost against what runs of plans have gained.

    Recordings are free as long as there is room for their plans, the first ones at once, others
    when a call comes again. Those for which other plans have to go must earn their cost.

    Attributes:
        sleep (int): Number of further calls that do not even look for a plan.
        wait (int): Number of further calls without a plan that do not record.
        has_given_up (bool): Whether the free recordings were not enough.

    """

    def __init__(self) -> None:
        self.sleep = self.wait = 0
        self.has_given_up = False
        self._credit = COST_OF_RECORDING * MORE_RECORDINGS
        self._seen: set[int] = set()
        self._pause = self._unused = self._in_vain = 0

    def count_run(self) -> None:
        """Counts a run of a plan."""
        self._credit += 1
        if self._unused:
            self._unused = self.wait = 0
        # Searches are cheap beside what a run gains: a plan in every fifth call keeps them going.
        if self._in_vain > 0:
            self._in_vain -= _GAIN_OF_RUN

    def count_plan(self, takes_place: bool, has_new_shapes: bool) -> bool:
        """Counts a recording; returns whether none of the last ones was of use.

        Args:
            takes_place: Whether another plan had to go for it.
            has_new_shapes: Whether nothing but shapes tells its call from others.

        """
        if takes_place:
            self._credit -= COST_OF_RECORDING * (SHARE_FOR_MORE if self.has_given_up else 1)
        # A plan ran since the last recording, so pauses start short again.
        if self._unused == 0:
            self._pause = 0
        # Shapes come again, in the next epoch if not before. Other things that change at each call,
        # such as a number of steps, need not.
        if has_new_shapes:
            return False
        self._unused += 1
        return self._unused > _MAX_UNUSED

    def pause(self, has_plans: bool) -> None:
        """Lets calls do without recordings, for twice as long as the last time."""
        # A graph break may go when the program changes, so no pause is for ever. As pauses double,
        # recordings in vain never take more than a small share of all calls.
        self._pause = min(MAX_PAUSE, 2 * self._pause + 1)
        if has_plans:
            self.wait = self._pause
        else:
            self.sleep = self._pause  # there is nothing to search for

    def is_paused(self) -> bool:
        """Tells whether a call must do without; counts it."""
        if self.wait <= 0:
            return False
        self.wait -= 1
        self._count_search(self.wait)
        return True

    def is_spent(self) -> bool:
        """Tells whether recordings cost more than plans have gained; counts a call without one."""
        if self._credit >= 0:
            return False
        self._count_search(MAX_PAUSE)
        return True

    def is_first(self, form: int, recordings: int) -> bool:
        """Tells whether a recording should wait until a call of a form comes again.

        Args:
            form: Hash of the form.
            recordings: Number of those so far.

        """
        if recordings < FORMS_AT_ONCE or form in self._seen:
            return False
        if len(self._seen) < _MAX_SEEN:
            self._seen.add(form)
        else:
            self._count_search(MAX_PAUSE)
        return True

    def has_seen_too_many(self) -> bool:
        """Tells whether calls of hardly any form come again."""
        return len(self._seen) >= _MAX_SEEN

    def _count_search(self, pause: int) -> None:
        """Counts a search that found no plan; if hardly any finds one, calls do not even search."""
        self._in_vain += 1
        if self._in_vain >= _MAX_IN_VAIN:
            self._in_vain, self.sleep, self.wait = 0, pause, 0
