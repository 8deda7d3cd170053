"""Where random numbers come from: NumPy's global generator, or ChainerX's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainerx import _core, _internal

if TYPE_CHECKING:
    from collections.abc import Callable

#: Whether numbers come from ChainerX's own generator.
is_seeded = False


def draw(make: Callable[[], _core.ndarray]) -> _core.ndarray:
    """Returns an array of numbers of NumPy's generator.

    Chainer replaces this function, since plans of ``chainer.compile`` draw the numbers again: they
    must depend on nothing but ``make``, which refers to no array that may change.
    """
    return make()


def seed(seed: int | None = None) -> None:
    """Seeds ChainerX's own generator, and makes the functions of this module use it.

    Args:
        seed (int or None): Number from zero up to :math:`2^{63} - 1`. With ``None`` the functions
            of this module draw from NumPy's global generator again.

    Raises:
        ValueError: If ``seed`` is out of range.

    .. admonition:: Example

        >>> chainerx.random.seed(0)
        >>> x = chainerx.random.uniform(size=3)
        >>> chainerx.random.seed(0)
        >>> bool((chainerx.random.uniform(size=3) == x).all())
        True
        >>> chainerx.random.seed()

    """
    global is_seeded
    if seed is not None:
        if not 0 <= seed < 2**63:
            raise ValueError(f'seed must be from 0 up to 2**63 - 1, got {seed}')
        _internal.random_seed(seed)
    is_seeded = seed is not None
