"""One step of backpropagation, by the names of Chainer 7."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import configuration
from chainer._core.autograd.gradients import find_nan
from chainer.function_node import FunctionNode

if TYPE_CHECKING:
    from chainer.variable import Variable, VariableNode


def _reduce(grad_list: list[Variable]) -> Variable | None:
    """Sums a list of gradients, which then holds the sum alone; ``None`` if it is empty."""
    if not grad_list:
        return None
    grad_list[:] = [sum(grad_list[1:], grad_list[0])]
    return grad_list[0]


def backprop_step(
    func: FunctionNode,
    target_input_indexes: tuple[int, ...],
    grad_outputs: tuple[Variable | None, ...],
    grad_inputs: dict[VariableNode, list[Variable]],
    is_debug: bool,
) -> None:
    """Adds the gradients of a function to lists of gradients.

    Args:
        func (~chainer.FunctionNode): Function of the graph.
        target_input_indexes (tuple of int): Inputs that need a gradient.
        grad_outputs (tuple of Variables): Gradients of the outputs.
        grad_inputs (dict): List of the gradients so far of the node of each target. It then holds
            their sum, unless ``chainer.config.lazy_grad_sum`` leaves the sum to the caller.
        is_debug (bool): Whether NaN in a gradient raises :class:`RuntimeError`.

    """
    nodes = [func.inputs[i] for i in target_input_indexes]
    if type(func).backward_accumulate is FunctionNode.backward_accumulate:
        gxs = func.backward_accumulate(target_input_indexes, grad_outputs, (None,) * len(nodes))
    else:
        # The function adds itself. A node that is an input twice has its sum at the first one.
        sums = {node: _reduce(grad_inputs[node]) for node in nodes}
        sums_of_inputs = tuple([sums.pop(node, None) for node in nodes])
        gxs = func.backward_accumulate(target_input_indexes, grad_outputs, sums_of_inputs)
        for node in nodes:
            grad_inputs[node].clear()
    if is_debug and find_nan([gx.array for gx in gxs if gx is not None]):
        raise RuntimeError(f'NaN is detected on backward computation of {func.label}')
    for node, gx in zip(nodes, gxs):
        if gx is not None:
            grad_inputs[node].append(gx)
            if not configuration.config.lazy_grad_sum:
                _reduce(grad_inputs[node])
