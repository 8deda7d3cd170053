"""Types for annotations: variables, and what serves as one."""

from __future__ import annotations

import typing as tp

from chainer._core.settings.types import NdArray

if tp.TYPE_CHECKING:
    from chainer._core.variables.variable import Variable

#: Variable, or an array that serves as a constant.
VariableLike = tp.Union['Variable', NdArray]
