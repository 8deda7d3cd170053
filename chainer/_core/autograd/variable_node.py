"""Nodes of the computational graph, which stand for variables."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from chainer._core.autograd.base_variable import from_array

if TYPE_CHECKING:
    import numpy

    from chainer._core.autograd.base_function import BaseFunction, Creator
    from chainer._core.autograd.variable_state import VariableState
    from chainer._core.settings.types import NdArray


class VariableNode:
    """Node in the backward computational graph representing a variable.

    The graph refers to nodes rather than to :class:`~chainer.Variable` objects. An
    array that no backward pass needs is therefore freed as soon as the user drops
    the variable. A node holds the array only after :meth:`retain_data`.

    Args:
        variable: The variable of this node.
        name (str or None): Name shown in graph dumps.

    Attributes:
        dtype: Data type of the variable's array.
        shape: Shape of the variable's array.

    .. admonition:: Example

        >>> x = chainer.Variable(np.ones((2, 3), np.float32), name='x')
        >>> y = F.exp(x)
        >>> node = y.creator_node.inputs[0]
        >>> node is x.node, node.label, node.name
        (True, '(2, 3), float32', 'x')
        >>> y.rank, y.node.creator.label
        (1, 'exp')

    """

    __module__ = 'chainer.variable'
    __slots__ = (
        '_creator_node',
        '_data',
        '_name',
        '_rank',
        '_variable',
        'requires_grad',
        'dtype',
        'shape',
        '_layout',
        '__dict__',  # for attributes that users set
        '__weakref__',
    )

    requires_grad: bool
    # `None` for parameters that wait for their first input, which no function has as inputs.
    dtype: numpy.dtype[Any]
    shape: tuple[int, ...]

    def __init__(self, variable: VariableState, name: str | None, **kwargs: Any) -> None:
        if kwargs:
            raise TypeError(
                'VariableNode() got unexpected keyword arguments: ' + ', '.join(sorted(kwargs))
            )
        self._creator_node: BaseFunction | Any = None
        self._data: Any = None
        self._name = name
        self._rank = 0
        self._variable = weakref.ref(variable)
        self.requires_grad = variable._requires_grad
        array = variable._array
        if array is None:
            unknown: Any = None
            self.dtype = self.shape = unknown
        else:
            self.dtype = array.dtype
            self.shape = array.shape
        self._layout = variable._layout

    @property
    def creator(self) -> Creator | None:
        """Function that made this variable.

        It is a :class:`~chainer.FunctionNode`, or the :class:`~chainer.Function` of old-style
        functions.
        """
        node = self._creator_node
        return None if node is None else node._public_function()

    @creator.setter
    def creator(self, func: Creator | None) -> None:
        self.creator_node = func

    @property
    def creator_node(self) -> BaseFunction | None:
        """:class:`~chainer.FunctionNode` that made this variable, or ``None``."""
        return self._creator_node

    @creator_node.setter
    def creator_node(self, func: Creator | None) -> None:
        if func is not None:
            func = getattr(func, 'node', func)
            self._rank = func.rank + 1
        self._creator_node = func

    @property
    def data(self) -> NdArray | None:
        """Array of the variable: ``None`` if it is not retained and the variable is gone."""
        if self._data is None:
            var = self._variable()
            return None if var is None else var.raw_array
        return self._data

    @data.setter
    def data(self, array: NdArray | None) -> None:
        self._data = array
        if array is not None:
            self.dtype = array.dtype
            self.shape = array.shape

    @property
    def grad(self) -> NdArray | None:
        """Gradient array of the variable, or ``None`` when the variable is gone."""
        var = self._variable()
        return None if var is None else var.grad

    @property
    def grad_var(self) -> VariableState | None:
        """Gradient variable of the variable, or ``None`` when the variable is gone."""
        var = self._variable()
        return None if var is None else var.grad_var

    @property
    def name(self) -> str | None:
        """Name of the variable, or ``None``."""
        return self._name

    @property
    def label(self) -> str:
        """Short text that represents the variable node.

        Raises:
            TypeError: If the variable has no array.

        """
        if self.shape is None:
            raise TypeError('a variable without an array has no label')
        if self.shape == ():
            return str(self.dtype)
        return f'({", ".join(map(str, self.shape))}), {self.dtype}'

    @property
    def rank(self) -> int:
        """Length of the longest path from a leaf to this node in the graph."""
        return self._rank

    def get_variable(self) -> VariableState:
        """Returns the variable of this node, making a new one if it is gone."""
        var = self._variable()
        if var is None:
            var = from_array(self._data, self.requires_grad)
            var._name = self._name
            var._layout = self._layout
            var._node = self
            self._variable = weakref.ref(var)
        return var

    def get_variable_or_none(self) -> VariableState | None:
        """Returns the variable of this node, or ``None`` if it is gone."""
        return self._variable()

    def retain_data(self) -> None:
        """Keeps the array of the variable in this node.

        Raises:
            RuntimeError: If the variable is already gone.

        """
        var = self._variable()
        if var is None:
            raise RuntimeError(
                'cannot retain variable data: the variable has been already released'
            )
        self._data = var.raw_array

    def set_creator(self, creator: Creator) -> None:
        """Sets the :class:`~chainer.Function` that made this node."""
        self.creator = creator

    def set_creator_node(self, creator_node: BaseFunction) -> None:
        """Sets the :class:`~chainer.FunctionNode` that made this node."""
        self.creator_node = creator_node

    def unchain(self) -> None:
        """Cuts the edge to the function that made this node."""
        self.creator_node = None
