"""Base of functions that give views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.engines.kernels import CHECKED_BY_CHAINERX
from chainer.functions._base import Operation
from chainer.utils import type_check

if TYPE_CHECKING:
    from chainer.utils.type_check import TypeInfoTuple


class View(Operation):
    """Function of one array whose outputs are views of it.

    Outputs of kernels share no memory with NumPy arrays, so kernels do not serve them.
    """

    _kernels = CHECKED_BY_CHAINERX

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
