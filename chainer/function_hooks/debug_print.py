from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from chainer import backend, function, function_hook
from chainer.variable import Variable

if TYPE_CHECKING:
    from chainer.function_node import FunctionNode
    from chainer.types import NdArray


class PrintHook(function_hook.FunctionHook):
    """Hook that prints the inputs and gradients of functions before the computation.

    Args:
        sep: Unused; kept for compatibility.
        end (str): Text after each print.
        file: Text file to print to; standard output by default.
        flush (bool): Whether to flush the file after each print.

    .. admonition:: Example

        >>> x = chainer.Variable(np.array([1, 3], np.float32))
        >>> with chainer.function_hooks.PrintHook():
        ...     y = F.exp(x)
        function        exp
        input data
        <variable at 0x...>
        - device: CPU
        - backend: <class 'numpy.ndarray'>
        - shape: (2,)
        - dtype: float32
        - statistics: mean=2.00000000, std=1.00000000
        - grad: None

    """

    name = 'PrintHook'

    def __init__(
        self,
        sep: str | None = None,
        end: str = '\n',
        file: TextIO | None = None,
        flush: bool = True,
    ) -> None:
        self.sep = sep
        self.end = end
        self.file = file
        self.flush = flush

    def _print(self, text):
        print(text, end=self.end, file=self.file or sys.stdout)

    def _flush(self):
        file = self.file or sys.stdout
        if self.flush and hasattr(file, 'flush'):
            file.flush()

    def _process(self, function, in_data, out_grad=None):
        self._print(f'function\t{function.label}')
        self._print('input data')
        for array in in_data:
            self._print(_describe(array))
        if out_grad is not None:
            self._print('output gradient')
            for array in out_grad:
                self._print(_describe_grad(array))
        self._flush()

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[NdArray, ...]) -> None:
        self._process(function, in_data)

    def backward_preprocess(
        self,
        function: FunctionNode,
        in_data: tuple[NdArray, ...],
        out_grad: tuple[NdArray | None, ...],
    ) -> None:
        self._process(function, in_data, out_grad)


def _describe(array):
    if array is None:
        # The array has been released.
        return '(removed)'
    return Variable(array, requires_grad=False).debug_print()


def _describe_grad(array):
    if array is None:
        return Variable().debug_print()
    with function.force_backprop_mode():
        # With backprop off, variables on ChainerX cannot have a gradient.
        variable = Variable(backend.get_array_module(array).zeros_like(array))
    variable.grad = array
    return variable.debug_print()
