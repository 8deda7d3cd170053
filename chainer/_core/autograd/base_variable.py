"""The fields that all parts of a variable share, and the factory of variables."""

from __future__ import annotations

from typing import Any

_new_object = object.__new__


class BaseVariable:
    """Fields of a variable.

    Engines and backpropagation make variables without importing the public class: the subclass
    declared with ``public=True``.
    """

    # Defaults live in the class: a result of a function sets only `_array` and
    # `_requires_grad`, and gets a node when a graph refers to it.
    _array: Any = None
    _requires_grad: bool = True
    _node: Any = None
    _name: str | None = None
    _layout: str | None = None

    _public_class: Any = None

    def __init_subclass__(cls, public: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if public:
            BaseVariable._public_class = cls

    @staticmethod
    def _from_array(array: Any, requires_grad: bool) -> Any:
        """Makes a variable of a trusted array without checks."""
        self = _new_object(BaseVariable._public_class)
        self._array = array
        self._requires_grad = requires_grad
        return self
