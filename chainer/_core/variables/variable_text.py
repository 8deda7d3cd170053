"""Texts that describe variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer._core.reports import html_table

if TYPE_CHECKING:
    from chainer._core.autograd.variable_state import VariableState


def _cpu_array(var: VariableState) -> Any:
    return backend.CpuDevice().send(var.array)


def _text(var: VariableState, separator: str) -> str:
    array = var.raw_array
    prefix = 'variable' if var.name is None else f'variable {var.name}'
    if array is None:
        body = 'None'
    elif array.size > 0 or array.shape == (0,):
        body = numpy.array2string(_cpu_array(var), separator=separator, prefix=prefix + '(')
    else:
        body = f'[], shape={array.shape}'
    return f'{prefix}({body})'


def variable_repr(var: VariableState) -> str:
    """Returns the text of a variable with its array, as ``repr`` shows it.

    Args:
        var (~chainer.Variable): Variable.

    .. admonition:: Example

        >>> from chainer.variable import variable_repr
        >>> variable_repr(chainer.Variable(np.array([1, 2], np.float32), name='x'))
        'variable x([1., 2.])'

    """
    return _text(var, ', ')


def variable_str(var: VariableState) -> str:
    """Returns the text of a variable with its array, as ``str`` shows it.

    Args:
        var (~chainer.Variable): Variable.

    .. admonition:: Example

        >>> from chainer.variable import variable_str
        >>> variable_str(chainer.Variable(np.array([1, 2], np.float32), name='x'))
        'variable x([1. 2.])'

    """
    return _text(var, ' ')


def variable_html(var: VariableState) -> str:
    """Returns what notebooks show of a variable: a line that unfolds to the array."""
    array = var.raw_array
    title = type(var).__name__.lower() + ('' if var.name is None else f' {var.name}')
    if array is None:
        return html_table.unfolding(f'{title} of a shape that the first input sets', 'None')
    title += f': {tuple(array.shape)} {array.dtype} on {var.device}'
    return html_table.unfolding(title, numpy.array2string(_cpu_array(var), separator=', '))


def _statistics(array: Any) -> str:
    return f'mean={float(array.mean()):.8f}, std={float(array.std()):.8f}'


def debug_text(var: VariableState) -> str:
    """Returns the text of :meth:`chainer.Variable.debug_print`."""
    if var.raw_array is None:
        names = 'device', 'backend', 'shape', 'dtype', 'statistics', 'grad'
        return '\n'.join([var.summary(), *[f'- {name}: None' for name in names]])
    array = _cpu_array(var)
    grad = var.grad
    if grad is None:
        grad_text = 'None'
    elif not grad.size:
        grad_text = '[]'
    else:
        grad = backend.CpuDevice().send(grad)
        grad_text = '0' if not grad.any() else _statistics(grad)
    stats = _statistics(array) if array.size else 'no elements'
    return '\n'.join(
        [
            var.summary(),
            f'- device: {"CPU" if isinstance(var.array, numpy.ndarray) else var.device}',
            f'- backend: {type(var.array)}',
            f'- shape: {var.shape}',
            f'- dtype: {var.dtype}',
            f'- statistics: {stats}',
            f'- grad: {grad_text}',
        ]
    )
