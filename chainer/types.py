"""Types for annotations: arguments and results of functions, links and training.

A name that ends in ``Spec`` is the type of an argument in all its forms, such as an int or a tuple
for a shape.

.. admonition:: Example

    >>> from chainer.types import NdArray, VariableLike
    >>> def mean_squared_sum(x: VariableLike) -> chainer.Variable:
    ...     return F.mean(F.sum(F.square(x), axis=1))
    >>> def as_probability(score: NdArray) -> NdArray:
    ...     return F.softmax(score).array

"""

from __future__ import annotations

import typing as tp
from collections.abc import Callable

from chainer._core.devices.types import CudaDeviceSpec as CudaDeviceSpec, DeviceSpec as DeviceSpec
from chainer._core.settings.types import (
    AbstractInitializer as AbstractInitializer,
    AnyArray as AnyArray,
    Axis as Axis,
    CupyArray as CupyArray,
    Dataset as Dataset,
    DTypeSpec as DTypeSpec,
    InitializerSpec as InitializerSpec,
    NdArray as NdArray,
    ScalarValue as ScalarValue,
    Shape as Shape,
    ShapeSpec as ShapeSpec,
    Xp as Xp,
)
from chainer._core.variables.types import VariableLike as VariableLike

#: Trigger of an extension: a callable of the trainer, or a pair such as ``(1, 'epoch')``.
TriggerSpec = Callable[[tp.Any], bool] | tuple[float, str]
