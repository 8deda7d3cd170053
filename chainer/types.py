"""Types for annotations."""

from __future__ import annotations

import numbers
import typing as tp

import numpy

if tp.TYPE_CHECKING:
    from types import ModuleType

    import chainerx
    from chainer import backend
    from chainer.backends import cuda

Shape = tuple[int, ...]
ShapeSpec = int | tp.Sequence[int]
DTypeSpec = tp.Any
NdArray = tp.Union['numpy.ndarray', 'cuda.ndarray', 'chainerx.ndarray']
Xp = tp.Any
ScalarValue = numpy.generic | bytes | str | memoryview | numbers.Number
CudaDeviceSpec = tp.Union['cuda.Device', int, numpy.integer]
DeviceSpec = tp.Union[
    'backend.Device',
    'chainerx.Device',
    'cuda.Device',
    str,
    tuple[str, int],
    'ModuleType',
    tuple['ModuleType', int],
]


class AbstractInitializer(tp.Protocol):
    """Protocol of initializers: callables that fill an array in place.

    .. admonition:: Example

        >>> from chainer.types import AbstractInitializer
        >>> def fill(initializer: AbstractInitializer, array):
        ...     initializer(array)
        ...     return array
        >>> fill(chainer.initializers.One(), np.zeros(2))
        array([1., 1.])

    """

    dtype: DTypeSpec | None = None

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, array: NdArray) -> None:
        pass


InitializerSpec = tp.Union[AbstractInitializer, ScalarValue, 'numpy.ndarray']
