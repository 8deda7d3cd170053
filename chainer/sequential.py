"""A chain of layers, called one after another."""

from __future__ import annotations

import contextlib
import copy
import inspect
from typing import TYPE_CHECKING, Any, overload

from chainer._core.models import link_errors
from chainer._core.models.chain import ChainList
from chainer._core.models.link import Link, check_copy_mode, indent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from typing_extensions import Self

    from chainer.variable import Variable


def _layer_name(layer):
    """Returns the name of a layer's type: its class, or the name of a function."""
    if isinstance(layer, Link):
        return type(layer).__name__
    return getattr(layer, '__name__', None) or type(layer).__name__


def _layer_text(layer):
    """Returns the text of a layer; of a lambda function its line of source where that is known."""
    if getattr(layer, '__name__', None) == '<lambda>':
        code = getattr(inspect.unwrap(layer), '__code__', None)
        # Python 3.13 takes the program of `python -c` for the source of any code from a string.
        if code is not None and code.co_filename != '<string>':
            with contextlib.suppress(OSError):
                return inspect.getsource(code).strip().rstrip(',')
    return str(layer)


def _check_layer(layer):
    if not callable(layer):
        raise ValueError(
            'All elements of a Sequential class should be callable, but given '
            f'{layer} is not callable.'
        )
    if isinstance(layer, type):
        link_errors.warn_of_class(layer, 'a layer of Sequential')


class Sequential(ChainList):
    """A link that calls its layers one after another.

    Layers are links or any other callables. The chain has the parameters of all
    layers that are links. If a layer returns a tuple, the next one gets its
    elements as separate arguments.

    Args:
        layers (callables): Initial layers.

    Links have the numbers of Chainer 7 in the names of parameters and in files. These are not the
    numbers of the layers: functions have none, and a link often comes before links added earlier.
    In ``Sequential(a, b, c)``, ``a`` has the number 0, ``c`` 1 and ``b`` 2.

    Raises:
        ValueError: If a layer is not callable.

    .. admonition:: Example

        >>> model = chainer.Sequential(L.Linear(3, 4), F.relu, L.Linear(4, 2))
        >>> model(np.zeros((5, 3), np.float32)).shape
        (5, 2)
        >>> len(model), len(model[:2])
        (3, 2)
        >>> model.count_by_layer_type('Linear')
        2
        >>> print(model[2])
        Linear(in_size=4, out_size=2, nobias=False)

    """

    def __init__(self, *layers: Callable[..., Any]) -> None:
        super().__init__()
        self._layers: list[Callable[..., Any]] = []
        for layer in layers:
            self.append(layer)

    def forward(self, *x: Any) -> Variable:
        """Calls all layers.

        Args:
            x: Arguments of the first layer.

        Returns:
            The result of the last layer.

        """
        values: Any = x
        for layer in self._layers:
            values = layer(*values) if isinstance(values, tuple) else layer(values)
        return values

    def __str__(self) -> str:
        body = ''.join(
            indent(f'({index}): {_layer_text(layer)},') for index, layer in enumerate(self._layers)
        )
        return f'{type(self).__name__}({chr(10) + body if body else ""})'

    # -- the sequence of layers

    def _insert_child(self, i, link):
        """Inserts a link that becomes layer ``i`` into the list of links."""
        if i > 0:
            # Names in the files of Chainer 7 depend on this order.
            before = self._layers[:i]
            positions = [j for j, x in enumerate(before) if isinstance(x, Link)]
            i = positions[0] + 1 if positions else 1
        self._children.insert(i, link)
        self._number_children()

    def _delete_child(self, link):
        del self._children[[x is link for x in self._children].index(True)]
        self._number_children()

    def __len__(self) -> int:
        return len(self._layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._layers)

    def __contains__(self, item: object) -> bool:
        return item in self._layers

    @overload  # type: ignore[override]  # a slice of a ChainList is a list
    def __getitem__(self, i: int) -> Any: ...
    @overload
    def __getitem__(self, i: slice) -> Sequential: ...
    def __getitem__(self, i: int | slice) -> Any:
        """Returns a layer, or a new Sequential of the same layers for a slice."""
        if isinstance(i, slice):
            return Sequential(*self._layers[i])
        return self._layers[i]

    def __setitem__(self, i: int | slice, layer: Any) -> None:
        if isinstance(i, slice):
            layers = [*self._layers]
            layers[i] = layer
            for one in layers:
                _check_layer(one)
            self.clear()
            self.extend(layers)
        else:
            _check_layer(layer)
            position = range(len(self))[i]
            del self[position]
            self.insert(position, layer)

    def __delitem__(self, i: int | slice) -> None:
        deleted = self._layers[i] if isinstance(i, slice) else [self._layers[i]]
        del self._layers[i]
        for layer in deleted:
            if isinstance(layer, Link):
                self._delete_child(layer)

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                'add (+) operator supports only objects of Sequential class, but '
                f'{type(other)} is given.'
            )
        return Sequential(*self._layers, *other._layers)

    def append(self, layer: Callable[..., Any]) -> None:
        """Appends a layer.

        Args:
            layer (callable): The layer.

        """
        self.insert(len(self), layer)

    def insert(self, i: int, layer: Callable[..., Any]) -> None:
        """Inserts a layer before the position ``i``.

        Args:
            i (int): Position, from ``-len(self)`` to ``len(self)``.
            layer (callable): The layer.

        Raises:
            IndexError: If there is no such position.
            ValueError: If the layer is not callable.

        """
        _check_layer(layer)
        n = len(self)
        if not -n <= i <= n:
            raise IndexError(f'Index out of range: {i} is not between {-n} and {n}')
        i = i + n if i < 0 else i
        if isinstance(layer, Link):
            self._insert_child(i, layer)
        self._layers.insert(i, layer)

    def extend(self, sequential: Iterable[Any]) -> None:
        """Appends all layers of another sequence.

        Args:
            sequential (Sequential or iterable): The layers.

        """
        for layer in list(sequential):
            self.append(layer)

    def pop(self, i: int = -1) -> Callable[..., Any]:
        """Removes and returns a layer.

        Args:
            i (int): Position.

        Returns:
            callable: The layer.

        Raises:
            IndexError: If there is no layer at the position.

        """
        layer = self[i]
        del self[i]
        return layer

    def remove(self, layer: Callable[..., Any]) -> None:
        """Removes the first occurrence of a layer.

        Raises:
            ValueError: If there is no such layer.

        """
        if layer not in self:
            raise ValueError(f'There is no layer object that is same as {layer}')
        del self[self._layers.index(layer)]

    def remove_by_layer_type(self, type_name: str) -> None:
        """Removes all layers of a type.

        Args:
            type_name (str): Name of the class of links, such as ``'Linear'``,
                or of a function.

        Raises:
            ValueError: If there is no such layer.

        """
        if self.count_by_layer_type(type_name) == 0:
            raise ValueError(f'There is no layer that the type is {type_name}')
        for layer in [layer for layer in self._layers if _layer_name(layer) == type_name]:
            self.remove(layer)

    def clear(self) -> None:
        """Removes all layers."""
        del self[:]

    def index(
        self, layer: Callable[..., Any], start: int | None = None, end: int | None = None
    ) -> int:
        """Returns the position of a layer, as ``list.index``.

        Args:
            layer: The layer.
            start (int): First position to look at.
            end (int): Position to stop before.

        """
        return self._layers[:end].index(layer, 0 if start is None else start)

    def count(self, layer: Callable[..., Any]) -> int:
        """Returns how often a layer occurs."""
        return self._layers.count(layer)

    def count_by_layer_type(self, type_name: str) -> int:
        """Returns the number of layers of a type.

        Args:
            type_name (str): Name of the class of links, such as ``'Linear'``,
                or of a function.

        """
        return sum(_layer_name(layer) == type_name for layer in self._layers)

    def flatten(self) -> Sequential:
        """Returns a Sequential with nested ones replaced by their layers."""
        ret = Sequential()
        for layer in self._layers:
            ret.extend(layer.flatten() if isinstance(layer, Sequential) else [layer])
        return ret

    # -- copying

    def copy(self, mode: str = 'share') -> Sequential:
        check_copy_mode(mode)
        return Sequential(
            *[
                layer.copy(mode) if isinstance(layer, Link) else copy.copy(layer)
                for layer in self._layers
            ]
        )

    def copyparams(self, link: Link, copy_persistent: bool = True) -> None:
        """Copies the parameters of another Sequential into this one.

        Args:
            link (Sequential): Sequential of the same layers.
            copy_persistent (bool): Whether to copy persistent values, too.

        """
        if not isinstance(link, Sequential):
            raise ValueError(f'copyparams needs a Sequential, but {type(link)} was given')
        super().copyparams(link, copy_persistent)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Not by __reduce__, because lambdas can be copied but not pickled.
        ret = type(self).__new__(type(self))
        memo[id(self)] = ret
        ret.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return ret

    def __reduce__(self) -> str | tuple[Any, ...]:
        if any(_layer_name(layer) == '<lambda>' for layer in self._layers):
            raise ValueError(
                'This Sequential object has at least one lambda function as its component, and '
                'Pickle does not support lambda functions.'
            )
        return super().__reduce__()


Link._sequential_class = Sequential
