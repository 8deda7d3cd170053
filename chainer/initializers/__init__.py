"""Initializers of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.devices.array_types import get_array_types
from chainer._core.names import hints as _hints
from chainer._core.settings.dtype import get_dtype
from chainer.backend import get_device, using_device
from chainer.initializers.constant import Constant, Identity, NaN, One, Zero
from chainer.initializers.normal import GlorotNormal, HeNormal, LeCunNormal, Normal
from chainer.initializers.orthogonal import Orthogonal
from chainer.initializers.sampling import DownsamplingConvFilter, UpsamplingDeconvFilter
from chainer.initializers.uniform import GlorotUniform, HeUniform, LeCunUniform, Uniform

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer._core.devices.types import DeviceSpec
    from chainer._core.settings.types import DTypeSpec, InitializerSpec, NdArray, Xp

__all__ = [
    'Constant',
    'DownsamplingConvFilter',
    'GlorotNormal',
    'GlorotUniform',
    'HeNormal',
    'HeUniform',
    'Identity',
    'LeCunNormal',
    'LeCunUniform',
    'NaN',
    'Normal',
    'One',
    'Orthogonal',
    'Uniform',
    'UpsamplingDeconvFilter',
    'Zero',
    'generate_array',
    'get_initializer',
]


def generate_array(
    initializer: InitializerSpec,
    shape: int | Sequence[int],
    xp: Xp,
    dtype: DTypeSpec = None,
    device: DeviceSpec | None = None,
) -> NdArray:
    """Makes an array and fills it with an initializer.

    Args:
        initializer: Callable that fills an array, possibly with a ``dtype``
            attribute.
        shape (int or tuple of ints): Shape of the array.
        xp (module): :mod:`numpy`, :mod:`cupy` or :mod:`chainerx`.
        dtype: Data type. If ``None``, the initializer's, or else
            ``chainer.config.dtype``.
        device: Device specifier. If ``None``, the current device of ``xp``.

    Returns:
        :ref:`ndarray`: The initialized array.

    Raises:
        ValueError: ``dtype`` differs from the initializer's, or ``device``
            from ``xp``.

    .. admonition:: Example

        >>> from chainer import initializers
        >>> initializers.generate_array(initializers.One(), (2, 3), np)
        array([[1., 1., 1.],
               [1., 1., 1.]], dtype=float32)
        >>> initializers.generate_array(initializers.Zero(np.float16), 2, np).dtype.name
        'float16'

    """
    fill: Any = initializer  # an initializer argument that is no callable fails below
    own_dtype = getattr(initializer, 'dtype', None)
    if dtype is None:
        dtype = own_dtype
    elif own_dtype is not None and numpy.dtype(dtype) != numpy.dtype(own_dtype):
        raise ValueError(f'dtype mismatch: {dtype} != {own_dtype}')
    dtype = get_dtype(dtype)

    device = get_device(xp if device is None else device)
    if device.xp is not xp:
        raise ValueError(f'xp ({xp.__name__}) and device ({device}) are inconsistent')
    with using_device(device):
        array = xp.empty(shape, dtype=dtype)
        fill(array)
    return array


def get_initializer(initializer: Any) -> Callable[[Any], Any]:
    """Converts an initializer argument to an initializer.

    Args:
        initializer (callable, array, scalar or ``None``): Argument of a link. A scalar or an array
            stands for :class:`Constant`, ``None`` for :class:`LeCunNormal`.

    Returns:
        callable: Initializer, which fills an array.

    Raises:
        TypeError: If the argument is none of these.

    .. admonition:: Example

        >>> chainer.initializers.get_initializer(3).fill_value
        3

    """
    if initializer is None:
        return LeCunNormal()
    _check_is_initializer_like(initializer)
    return initializer if callable(initializer) else Constant(initializer)


_get_initializer = get_initializer  # the name in Chainer 7


def _check_is_initializer_like(initializer):
    """Raises :class:`TypeError` for what is no initializer argument."""
    if not (
        initializer is None
        or callable(initializer)
        or numpy.isscalar(initializer)
        or isinstance(initializer, get_array_types())
    ):
        raise TypeError(
            f'an initializer must be a callable, an array or a scalar, but '
            f'{type(initializer)} was given'
        )


def __getattr__(name: str) -> object:
    raise _hints.of_module(__name__, name)
