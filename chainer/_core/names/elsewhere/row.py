"""The rows of the tables."""

from __future__ import annotations

from typing import NamedTuple


class Name(NamedTuple):
    """A row of the table."""

    #: Where users look for the name: a module, or ``Link``, ``Optimizer`` or ``Variable``.
    owner: str
    #: What other libraries call it.
    theirs: str
    #: What to write here. ``F`` is :mod:`chainer.functions`, ``L`` :mod:`chainer.links`, ``np``
    #: NumPy; ``model``, ``optimizer`` and ``x`` are a link, an optimizer and a variable.
    ours: str
    #: What differs.
    remark: str = ''


def rows(owner: str, *entries: tuple[str, ...]) -> list[Name]:
    """Returns rows of the same owner."""
    return [Name(owner, *entry) for entry in entries]
