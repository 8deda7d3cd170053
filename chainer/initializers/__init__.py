"""Initializers of parameters."""

import numpy

import chainer
from chainer.initializers.constant import Constant, Identity, NaN, One, Zero
from chainer.initializers.normal import GlorotNormal, HeNormal, LeCunNormal, Normal
from chainer.initializers.orthogonal import Orthogonal
from chainer.initializers.sampling import DownsamplingConvFilter, UpsamplingDeconvFilter
from chainer.initializers.uniform import GlorotUniform, HeUniform, LeCunUniform, Uniform

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
]


def generate_array(initializer, shape, xp, dtype=None, device=None):
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
    own_dtype = getattr(initializer, 'dtype', None)
    if dtype is None:
        dtype = own_dtype
    elif own_dtype is not None and numpy.dtype(dtype) != numpy.dtype(own_dtype):
        raise ValueError(f'dtype mismatch: {dtype} != {own_dtype}')
    dtype = chainer.get_dtype(dtype)

    device = chainer.get_device(xp if device is None else device)
    if device.xp is not xp:
        raise ValueError(f'xp ({xp.__name__}) and device ({device}) are inconsistent')
    with chainer.using_device(device):
        array = xp.empty(shape, dtype=dtype)
        initializer(array)
    return array


def _get_initializer(initializer):
    """Converts an initializer argument (callable, array, scalar or None) to an initializer."""
    if initializer is None:
        return LeCunNormal()
    if numpy.isscalar(initializer) or isinstance(initializer, chainer.get_array_types()):
        return Constant(initializer)
    if not callable(initializer):
        raise TypeError(
            f'an initializer must be a callable, an array or a scalar, but '
            f'{type(initializer)} was given'
        )
    return initializer
