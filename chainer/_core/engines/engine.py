"""What all engines have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.autograd.base_function import BaseFunction


class Engine(Protocol):
    """Runs functions on one kind of arrays.

    An engine is a function. It gives ``func`` what the graph needs: the tape and the indexes of the
    inputs and outputs to retain. Arrays of ChainerX keep them in their own graph.
    """

    def __call__(
        self, func: BaseFunction, in_vars: Sequence[Any], in_data: tuple[Any, ...], /
    ) -> Sequence[Any] | None:
        """Runs ``func``.

        Args:
            func: Function.
            in_vars: Inputs, as variables where the engine records on NumPy or CuPy arrays.
            in_data: Arrays of the inputs.

        Returns:
            Arrays of the outputs; ``None`` if the engine does not serve these inputs.

        """
