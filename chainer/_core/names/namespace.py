"""Functions that the core calls by name.

Gradient rules and methods of variables call functions, which build on the core. The core cannot
import them, so :mod:`chainer.functions` registers them when it is loaded. This is the only
dependency that points upward.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy


class Operand(Protocol):
    """What formulas compute with: a variable, or an array of any module."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def dtype(self) -> numpy.dtype[Any]: ...
    @property
    def T(self) -> Any: ...

    def reshape(self, *args: Any, **kwargs: Any) -> Any: ...
    def transpose(self, *args: Any, **kwargs: Any) -> Any: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __neg__(self) -> Any: ...
    def __abs__(self) -> Any: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __radd__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rsub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __rtruediv__(self, other: Any, /) -> Any: ...
    def __pow__(self, other: Any, /) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...


#: What a gradient rule gets of all inputs or outputs: operands, or ``None`` where there is none.
Operands = Sequence[Any]


class Namespace(Protocol):
    """Functions that gradient rules call: of variables, or of arrays with the same names."""

    def __getattr__(self, name: str) -> Any: ...
    def apply(self, func: Any, inputs: Sequence[Any], /) -> Sequence[Any]: ...


class Functions:
    """Namespace of :mod:`chainer.functions`, for recorded gradient rules."""

    def __getattr__(self, name: str) -> Any:
        # The package imports a function at its first use.
        return vars(self)['__getattr__'](name)

    @staticmethod
    def apply(func: Any, inputs: Operands) -> tuple[Any, ...]:
        """Applies a function node, as ``Arrays`` of ``autograd/array_namespace.py`` does."""
        return func.apply(inputs)


class Operators:
    """Functions behind the operators of variables, by the names of :mod:`operator`."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...


F = Functions()
operators = Operators()
