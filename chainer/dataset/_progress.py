"""Progress through a dataset, as iterators and updaters tell it."""

from __future__ import annotations


class Progress:
    """What triggers and extensions read; iterators for loops without a trainer need none of it.

    Only type checkers see this base: subclasses define what they have.
    """

    @property
    def epoch(self) -> int:
        """Number of complete epochs."""
        raise NotImplementedError

    @property
    def epoch_detail(self) -> float:
        """Number of epochs with its fraction."""
        raise NotImplementedError

    @property
    def previous_epoch_detail(self) -> float | None:
        """The same before the last batch, or ``None`` if there was none."""
        raise NotImplementedError

    @property
    def is_new_epoch(self) -> bool:
        """Whether the last batch completed an epoch."""
        raise NotImplementedError
