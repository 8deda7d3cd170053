"""What recordings and plans know of effects, whatever their kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from chainer.compilation._contents import Contents
    from chainer.compilation._effects.draft import Draft
    from chainer.compilation._scope import Scope


#: Changes the program's objects, given the results of the plan.
Change: TypeAlias = 'Callable[[list[Any]], None]'


class Effect:
    """Something that a call does beyond computing arrays.

    It states how a plan guards it, repeats it and undoes it. A kind defines the methods that it
    needs, and runs call only these, in the order of the recording.

    Attributes:
        interruptions (int): How often a run leaves the kernels of the plan for the effect.
        reason (str): Why it does.
        draws (bool): Whether NumPy may draw random numbers in :meth:`run`.
        changes_before (list of Change): What the call changes before :meth:`run`.

    """

    interruptions = 0
    reason = ''
    draws = False
    changes_before: Sequence[Change] = ()

    def guard(self, scope: Scope) -> None:
        """Lets a plan run only while the effect is the same; called before it is recorded."""

    def find_inputs(self, arrays: list[Any]) -> bool:
        """Adds the arrays that the effect reads; returns ``False`` if it is another one now."""
        return True

    def take(self, arrays: list[Any]) -> Any:
        """Makes one further input of an array among the arguments of a call."""

    def draw(self) -> Any:
        """Makes one further input of a run that is sure to take place."""

    def prepare(self, plan: Any) -> None:
        """Gives the kernels what they read of the program, before the first segment runs."""

    def run(self, plan: Any, segment: int) -> int:
        """Acts where a segment of the plan has ended; returns the next segment to run."""
        return segment

    def save(self) -> Callable[[], None]:
        """Returns a function that restores what the effect changes."""
        return lambda: None

    def describe(self, contents: Contents) -> None:
        """Adds to a file what runs in C++ need for the effect.

        Raises:
            ValueError: If it needs Python.

        """
        raise ValueError(f'a file cannot have {type(self).__name__}')

    def results(self) -> Iterable[tuple[str, Any]]:
        """Returns the arrays that the effect changes, with a description of each."""
        return ()


class Observer:
    """Notes the effects of one kind while a call is recorded, and makes them a part of the plan."""

    def start(self) -> None:
        """Notes the state before the call."""

    def stop(self) -> None:
        """Ends the observation; called after the call even if it raises."""

    def note(self) -> None:
        """Notes what has happened, before an effect of any kind runs on its own."""

    def renew(self) -> None:
        """Takes the state after that effect for a start: its changes are its own affair."""

    def find_change(self) -> str | None:
        """Tells what Python of the program would not find in a run as it is now."""
        return None

    def check(self) -> None:
        """Raises if something has happened that no plan can repeat, or only another recording."""

    def finish(self, draft: Draft) -> None:
        """Adds to the plan what it needs for the effects."""


def methods_of(objects: Iterable[Any], name: str, base: type = Effect) -> list[Any]:
    """Returns a method of those objects that define it, so that a run does not call the others."""
    # A call of a method that does nothing costs a percent of a run of a small plan.
    inherited = getattr(base, name)
    return [getattr(x, name) for x in objects if getattr(type(x), name) is not inherited]
