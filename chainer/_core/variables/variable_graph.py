"""The place of a variable in the graph, and the backward pass that starts from it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import chainerx
from chainer._core.autograd import backprop
from chainer._core.autograd.variable_node import VariableNode
from chainer._core.autograd.variable_state import VariableState
from chainer._core.devices.array_context import using_device_of
from chainer._core.variables import chainerx_backward
from chainerx import _internal

if TYPE_CHECKING:
    from chainer._core.autograd.base_function import BaseFunction, Creator


class VariableGraph(VariableState):
    """Node of a variable, which ChainerX keeps with its arrays.

    Methods only; :class:`VariableState` and its bases declare the fields.
    """

    @property
    def node(self) -> VariableNode:
        """:class:`~chainer.variable.VariableNode` of this variable."""
        node = self._node
        if node is None:
            if self._has_chainerx_array:
                raise RuntimeError('A variable of ChainerX does not provide a node.')
            node = self._node = VariableNode(self, self._name)
        return node

    @property
    def creator(self) -> Creator | None:
        """Function that made this variable, or ``None`` for a leaf.

        Old-style functions give their :class:`~chainer.Function`, others their
        :class:`~chainer.FunctionNode`.
        """
        self._refuse_chainerx('creator')
        return None if self._node is None else self._node.creator

    @creator.setter
    def creator(self, func: Creator | None) -> None:
        self._refuse_chainerx('creator')
        self.node.creator = func

    @property
    def creator_node(self) -> BaseFunction | None:
        """:class:`~chainer.FunctionNode` that made this variable, or ``None`` for a leaf."""
        self._refuse_chainerx('creator_node')
        return None if self._node is None else self._node.creator_node

    @creator_node.setter
    def creator_node(self, func: BaseFunction | None) -> None:
        self._refuse_chainerx('creator_node')
        self.node.creator_node = func

    def set_creator(self, gen_func: Creator) -> None:
        """Notifies the variable that ``gen_func`` (:class:`~chainer.Function`) made it."""
        self.creator = gen_func

    def set_creator_node(self, fnode: BaseFunction) -> None:
        """Notifies the variable that ``fnode`` (:class:`~chainer.FunctionNode`) made it."""
        self.creator_node = fnode

    def _refuse_chainerx(self, what: str) -> None:
        if isinstance(self._array, chainerx.ndarray):
            raise RuntimeError(
                f'A variable of ChainerX does not provide {what}: '
                'its graph is recorded by ChainerX.'
            )

    @property
    def rank(self) -> int:
        """Length of the longest path from a leaf to this variable in the graph."""
        self._refuse_chainerx('rank')
        return 0 if self._node is None else self._node.rank

    @property
    def label(self) -> str:
        """Short text that represents the variable."""
        self._refuse_chainerx('label')
        return VariableNode(self, self._name).label

    def backward(
        self,
        retain_grad: bool = False,
        enable_double_backprop: bool = False,
        loss_scale: float | None = None,
    ) -> None:
        """Runs backpropagation from this variable to every leaf that requires a gradient.

        If the variable has one element and no gradient, its gradient starts at one; on ChainerX
        with more elements, too. Gradients of leaves are accumulated.

        Args:
            retain_grad (bool): Whether this variable and intermediate ones keep their gradients,
                which are cleared by default.
            enable_double_backprop (bool): Whether to record the backward pass, too,
                to differentiate gradients.
            loss_scale (float or None): Factor of the initial gradient, for float16 training. On
                ChainerX it is divided out of the results, elsewhere by the optimizer.

        Raises:
            ValueError: If the variable has several elements and no gradient was set.

        .. admonition:: Example

            >>> x = chainer.Variable(np.array([1, 2], np.float32))
            >>> y = x * x * x
            >>> y.grad = np.array([1, 10], np.float32)
            >>> y.backward()
            >>> x.grad
            array([  3., 120.], dtype=float32)

        """
        array = self._array
        is_one = array.size == 1
        if is_one and array.ndim and self.grad is None:
            _warn_of_one_element()
        if isinstance(array, chainerx.ndarray):
            chainerx_backward.run([array], retain_grad, enable_double_backprop, loss_scale)
            return
        has_grad = self._grad is not None or self._fresh_grad
        node = self._node
        is_leaf = node is None or node.creator_node is None
        if is_leaf and (has_grad or not is_one):
            return
        if not has_grad and not is_one:
            raise ValueError(
                f'backward() of a variable of shape {self.shape} needs a gradient: set '
                'variable.grad first, or reduce the variable to a scalar (chainer.functions.sum)'
            )
        if not has_grad or loss_scale is not None:
            with using_device_of(array):
                self._set_grad(backprop.scaled_root(array, self._grad, loss_scale))
        if not is_leaf:
            grad = self.grad_var if enable_double_backprop else self._grad
            backprop.BackwardPass(retain_grad, enable_double_backprop, loss_scale).run(
                [(node, grad)]
            )

    def unchain(self) -> None:
        """Cuts the edge to the function that made this variable."""
        if self._has_chainerx_array:
            self._array = self.array
            self._requires_grad = False
        elif self._node is not None:
            self._node.unchain()

    def unchain_backward(self) -> None:
        """Cuts every edge from this variable back to the leaves (truncated backprop)."""
        if self._has_chainerx_array:
            _internal.unchain_backward(self._array)
        elif self._node is not None:
            backprop.unchain_backward(self._node)

    def retain_data(self) -> None:
        """Lets the node of this variable keep the array."""
        self.node._data = self._array


def _warn_of_one_element() -> None:
    warnings.warn(
        'Treating a variable with only one element as a scalar in Variable.backward is '
        'deprecated: a scalar variable has no dimensions. Apply '
        'chainer.functions.squeeze to it.',
        DeprecationWarning,
        stacklevel=3,
    )
