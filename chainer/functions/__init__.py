"""Differentiable functions of variables and arrays.

Inputs are variables, or arrays of NumPy, CuPy or ChainerX, on one device; outputs are variables on
that device. Unless their descriptions say otherwise, all functions follow these rules:

* Floating point inputs have the dtype float16, float32 or float64. All inputs of a call have the
  same dtype, which is also the dtype of the outputs.
* Functions do not change their inputs.
* Wrong shapes and dtypes raise :class:`~chainer.utils.type_check.InvalidType` at the call.
  ``chainer.config.type_check`` switches this check.
* Outputs are differentiable with respect to floating point inputs, any number of times.

In the examples ``np`` is NumPy and ``F`` is this package:

>>> import numpy as np
>>> import chainer.functions as F
>>> x = chainer.Variable(np.array([-1, 2], np.float32))
>>> y = F.relu(x)
>>> y.array
array([0., 2.], dtype=float32)
>>> F.sum(y).backward()
>>> x.grad
array([0., 1.], dtype=float32)

"""

from __future__ import annotations

from chainer._core.names import lazy as _lazy
from chainer._core.names.namespace import F as _F

# Variables need the functions behind their operators.
from chainer.functions.array import get_item as _get_item  # noqa: F401
from chainer.functions.math import basic_math as _basic_math  # noqa: F401

_exports = _lazy.exports_of_stub(__name__)
__all__ = list(_exports)
_lazy.attach(__name__, _exports)

# The namespace shares the names of this package, also those that are set later.
_F.__dict__ = globals()
