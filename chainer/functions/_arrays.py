"""What several functions do with arrays of any device."""

from __future__ import annotations

import functools

import numpy

import chainerx
from chainer import backend, utils
from chainer._core.devices.array_kinds import KINDS
from chainer._core.engines import plan_data
from chainer._core.names.namespace import F
from chainer._core.settings.debug import is_debug
from chainer.backends import cuda
from chainer.variable import as_array, as_variable


def in_dtype(y, dtype):
    """Converts a result that may be a NumPy scalar to an array of ``dtype``."""
    if type(y) is numpy.ndarray and y.dtype == dtype:
        return y
    return utils.force_array(y, dtype)


def select(mask, positive, negative, dtype):
    """Equals ``numpy.where`` of two scalars, which is several times slower for varying masks."""
    xp = cuda.get_array_module(mask)
    if xp is numpy:
        return numpy.array([negative, positive], dtype).take(mask.view(numpy.int8))
    return xp.where(mask, dtype.type(positive), dtype.type(negative))


def apply_without_gradient(name, x):
    """Applies the array routine ``name`` to a variable or array without recording."""
    x = as_array(x)
    kind = KINDS[type(x)]
    if kind.lift is not None:
        return kind.lift(functools.partial(apply_without_gradient, name), x)
    xp = kind.xp_of(x)
    if xp is chainerx and not hasattr(chainerx, name):
        device = backend.ChainerxDevice(x.device)
        y = device.send(getattr(device.fallback_device.xp, name)(backend.from_chx(x)))
    else:
        with cuda.get_device_from_array(x):
            y = getattr(xp, name)(x)
    return as_variable(in_dtype(y, x.dtype) if xp is not chainerx else y)


def positive_part(xp, x):
    """Elementwise maximum of ``x`` and zero, with gradient zero at zero."""
    return chainerx.relu(x) if xp is chainerx else xp.maximum(x, 0)


def norm_of_squared(xp, squared):
    """Square root with gradient zero at zero, also on ChainerX."""
    if xp is not chainerx:
        return xp.sqrt(squared)
    zero = squared == 0
    return xp.sqrt(xp.where(zero, 1, squared)) * (~zero).astype(squared.dtype)


def sent_like(x, array):
    """Sends a NumPy array to the device of the array ``x``."""
    return backend.get_device_from_array(x).send(array)


def draw_like(x, sample):
    """Array ``sample(xp)`` on the device of ``x``; NumPy or CuPy draws for ChainerX.

    ``sample`` should not refer to arrays: a plan of :func:`chainer.compile` keeps it.
    """
    device = source = backend.get_device_from_array(x)
    if isinstance(device, backend.ChainerxDevice):
        has_cupy = device.device.backend.name != 'cuda' or cuda.available
        source = device.fallback_device if has_cupy else backend.CpuDevice()

    def draw():
        with backend.using_device(source):
            return device.send(source.xp.asarray(sample(source.xp)))

    return plan_data.draw(draw) if source is not device else draw()


def special(xp):
    """Module of special functions of an array module: SciPy's or CuPy's.

    Raises:
        ImportError: If SciPy is needed and not installed.

    """
    if xp is numpy:
        try:
            import scipy.special
        except ImportError as e:
            raise ImportError(
                'SciPy is not available. Forward computation of this function on '
                'the CPU needs it: pip install scipy'
            ) from e
        return scipy.special
    import cupyx.scipy.special

    return cupyx.scipy.special


def broadcast_along(x, y, axis):
    """Broadcasts ``y``, whose axes are those of ``x`` from ``axis`` on, to the shape of ``x``."""
    x_shape, y_shape = x.shape, y.shape
    stop = axis + len(y_shape)
    if is_debug():
        assert x_shape[axis:stop] == y_shape, (
            f'x.shape[{axis}:{stop}] == y.shape is expected, got {x_shape[axis:stop]} != {y_shape}'
        )
    y = F.reshape(y, (1,) * axis + y_shape + (1,) * (len(x_shape) - stop))
    return F.broadcast_to(y, x_shape)
