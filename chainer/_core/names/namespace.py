"""Functions that the core calls by name.

Gradient rules and methods of variables call functions, which build on the core. The core cannot
import them, so :mod:`chainer.functions` registers them when it is loaded. This is the only
dependency that points upward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.variables.variable import Variable
    from chainer.function_node import FunctionNode
    from chainer.types import VariableLike


class Functions:
    """Namespace of :mod:`chainer.functions`, for recorded gradient rules."""

    def __getattr__(self, name: str) -> Any:
        # The package imports a function at its first use.
        return vars(self)['__getattr__'](name)

    @staticmethod
    def apply(func: FunctionNode, inputs: Sequence[VariableLike | None]) -> tuple[Variable, ...]:
        """Applies a function node, as ``Arrays`` of ``autograd/array_namespace.py`` does."""
        return func.apply(inputs)


class Operators:
    """Functions behind the operators of variables, by the names of :mod:`operator`."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...


F = Functions()
operators = Operators()
