"""Calls of a model that leave it as it was."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chainer._core.models.types import LinkTree


@contextlib.contextmanager
def unchanged(model: LinkTree) -> Iterator[None]:
    """Puts back what calls change: attributes of links, parameters without a shape, random numbers.

    States of recurrent links are attributes. Arrays that are written in place keep what they have;
    links of Chainer do so in training only.
    """
    links = list(model.links())
    params = [p for p in model.params() if not p.is_initialized]
    saved: list[tuple[Any, dict[str, Any]]] = [(x, dict(vars(x))) for x in (*links, *params)]
    random_state = numpy.random.get_state()
    try:
        yield
    finally:
        for value, attributes in saved:
            vars(value).clear()
            vars(value).update(attributes)
        numpy.random.set_state(random_state)
