"""Variables: arrays that take part in a computational graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import initializers  # noqa: F401  users reach it as `chainer.variable.initializers`
from chainer._core.autograd.variable_node import VariableNode
from chainer._core.devices import array_kinds as _array_kinds
from chainer._core.variables.parameter import Parameter, _recover_parameter  # noqa: F401
from chainer._core.variables.variable import (  # noqa: F401
    Variable,
    _create_variable,
    as_array,
    as_variable,
)
from chainer._core.variables.variable_text import variable_repr, variable_str

if TYPE_CHECKING:
    pass

__all__ = [
    'Parameter',
    'Variable',
    'VariableNode',
    'as_array',
    'as_variable',
    'variable_repr',
    'variable_str',
]

_array_kinds.set_variable_class(Variable)
