"""Calls of earlier versions of ChainerMN."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.link import Link


class DeprecatedCalls:
    """Other names of calls of communicators."""

    bcast_data: Callable[[Link], None]
    multi_node_mean_grad: Callable[[Link, bool], None]

    def broadcast_data(self, model: Link) -> None:
        """Calls :meth:`bcast_data`.

        .. deprecated:: v7.0

        """
        warnings.warn(
            'broadcast_data() is deprecated. Use bcast_data() instead.',
            DeprecationWarning,
            stacklevel=2,
        )
        self.bcast_data(model)

    def allreduce_grad(self, model: Link, zero_fill: bool = False) -> None:
        """Calls :meth:`multi_node_mean_grad`.

        .. deprecated:: v7.0

        """
        warnings.warn(
            'allreduce_grad() is deprecated. Use multi_node_mean_grad() instead.',
            DeprecationWarning,
            stacklevel=2,
        )
        self.multi_node_mean_grad(model, zero_fill)
