"""Hooks that run around the computation of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.autograd import thread_hooks
from chainer._core.reports import representation

if TYPE_CHECKING:
    from typing_extensions import Self

    from chainer._core.settings.types import NdArray
    from chainer.function_node import FunctionNode


def get_function_hooks() -> dict[str, FunctionHook]:
    """Returns the dictionary of the current thread's hooks by name, in order of activation.

    .. admonition:: Example

        >>> with chainer.function_hooks.TimerHook():
        ...     list(chainer.get_function_hooks())
        ['TimerHook']
        >>> len(chainer.get_function_hooks())
        0

    """
    return thread_hooks.get_hooks()


class FunctionHook:
    """Base class of hooks of functions.

    A hook is active for every function in a ``with`` statement, or for one function if
    :meth:`chainer.FunctionNode.add_hook` adds it. Subclasses override the callbacks they need.

    Callbacks get the function, the tuple of its input arrays and, in backward, the tuple of the
    gradients of its outputs (``None`` for outputs without a gradient).

    Attributes:
        name (str): Name of the hook; only one hook of a name can be active at a time.

    .. admonition:: Example

        >>> import numpy as np
        >>> import chainer
        >>> class Labels(chainer.FunctionHook):
        ...     name = 'Labels'
        ...     def forward_preprocess(self, function, in_data):
        ...         print(function.label)
        >>> x = chainer.Variable(np.ones(3, np.float32))
        >>> with Labels():
        ...     y = x * x
        _ * _

    """

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    name = 'FunctionHook'

    def __enter__(self) -> Self:
        """Activates the hook for the current thread.

        Raises:
            KeyError: If a hook of the same name is active.

        """
        hooks = get_function_hooks()
        if self.name in hooks:
            raise KeyError(f'hook {self.name} already exists')
        hooks[self.name] = self
        self.added(None)
        return self

    def __exit__(self, *_: object) -> None:
        hooks = get_function_hooks()
        hooks[self.name].deleted(None)
        del hooks[self.name]

    def added(self, function: FunctionNode | None) -> None:
        """Called when the hook is registered.

        Args:
            function: Function of the hook, or ``None`` for all functions of the thread.

        """

    def deleted(self, function: FunctionNode | None) -> None:
        """Called when the hook is unregistered.

        Args:
            function: Function of the hook, or ``None`` for all functions of the thread.

        """

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[NdArray, ...]) -> None:
        """Called before the forward computation.

        Args:
            function (~chainer.FunctionNode): Function.
            in_data (tuple of arrays): Inputs.

        """

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[NdArray, ...]) -> None:
        """Called after the forward computation.

        Args:
            function (~chainer.FunctionNode): Function.
            in_data (tuple of arrays): Inputs.

        """

    def backward_preprocess(
        self, function: FunctionNode, in_data: tuple[NdArray, ...], out_grad: tuple[NdArray, ...]
    ) -> None:
        """Called before the backward computation.

        Args:
            function (~chainer.FunctionNode): Function.
            in_data (tuple of arrays): Inputs.
            out_grad (tuple of arrays): Gradients with respect to the outputs.

        """

    def backward_postprocess(
        self, function: FunctionNode, in_data: tuple[NdArray, ...], out_grad: tuple[NdArray, ...]
    ) -> None:
        """Called after the backward computation.

        Args:
            function (~chainer.FunctionNode): Function.
            in_data (tuple of arrays): Inputs.
            out_grad (tuple of arrays): Gradients with respect to the outputs.

        """
