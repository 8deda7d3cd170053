"""Base classes of functions, one per kind of function.

One gradient rule serves two callers. In double backprop, which records the backward pass, it gets
variables and ``m`` is :mod:`chainer.functions`. Otherwise it gets plain arrays and ``m`` is their
array module, which avoids intermediate variables. A rule therefore uses only operators and
routines of ``m`` that both modules have under the same name
(``exp``, ``cos``, ``sqrt``, ``where``, ``maximum``...).
"""

from __future__ import annotations

import numbers

import numpy

import chainer
import chainerx
from chainer import backend, utils
from chainer._fallback import Fallback
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.utils import type_check


def _as_array(y, dtype):
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


def call_chainerx(name, *args, **kwargs):
    """Outputs of a ChainerX routine with one output, or ``Fallback`` if ChainerX lacks it."""
    routine = getattr(chainerx, name, None)
    return Fallback if routine is None else (routine(*args, **kwargs),)


class CallableFunction(FunctionNode):
    """Function whose objects are callable with inputs, like old-style functions."""

    def __call__(self, *inputs):
        outputs = self.apply(inputs)
        return outputs[0] if len(outputs) == 1 else outputs


class _Routine(FunctionNode):
    """Function that may have a ChainerX routine."""

    #: Name of the ChainerX routine (default: the name of the class in lower case).
    chainerx_routine = None
    _chainerx_function = None
    _checked_natively = True

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if chainerx.is_available():
            name = cls.chainerx_routine or cls.__name__.lower()
            cls._chainerx_function = staticmethod(getattr(chainerx, name, None))

    def forward_chainerx(self, inputs):
        routine = self._chainerx_function
        return Fallback if routine is None else (routine(*inputs),)


class UnaryFunction(_Routine):
    """Elementwise function of one floating point array.

    Subclasses define ``compute(xp, x)`` and ``gradient(m, x, y, gy)``. :attr:`retains` names
    the arguments that the gradient uses: ``'x'``, ``'y'``, ``'xy'`` or ``''``; the others are
    ``None``.
    """

    is_elementwise = True
    retains = 'x'

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')

    def forward(self, inputs):
        (x,) = inputs
        if 'x' in self.retains:
            self.retain_inputs((0,))
        if 'y' in self.retains:
            self.retain_outputs((0,))
        return (_as_array(self.compute(cuda.get_array_module(x), x), x.dtype),)

    def backward(self, target_input_indexes, grad_outputs):
        x = self.get_retained_inputs()[0] if 'x' in self.retains else None
        y = self.get_retained_outputs()[0] if 'y' in self.retains else None
        return (self.gradient(chainer.functions, x, y, grad_outputs[0]),)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        inputs, outputs = self._retained_arrays()
        (gy,) = grad_outputs
        x = inputs[0] if inputs else None
        y = outputs[0] if outputs else None
        gx = self.gradient(cuda.get_array_module(gy), x, y, gy)
        return (_as_array(gx, gy.dtype),)

    def compute(self, xp, x):
        raise NotImplementedError

    def gradient(self, m, x, y, gy):
        raise NotImplementedError


class BinaryFunction(_Routine):
    """Elementwise function of two floating point arrays, with broadcasting.

    Subclasses define ``compute(xp, x0, x1)`` and ``gradient(m, i, x0, x1, y, gy)``, the
    gradient for input ``i`` in the shape of the output; this class sums it over the broadcast
    axes of the input. ``retains`` is a subset of ``'xy'``.
    """

    is_elementwise = True
    retains = 'x'
    arguments = ('lhs', 'rhs')

    def check_type_forward(self, in_types):
        type_check._argname(in_types, self.arguments)
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].dtype == in_types[1].dtype)
        type_check.expect_broadcast_shapes(in_types[0].shape, in_types[1].shape)

    def forward(self, inputs):
        x0, x1 = inputs
        if 'x' in self.retains:
            self.retain_inputs((0, 1))
        if 'y' in self.retains:
            self.retain_outputs((0,))
        y = self.compute(cuda.get_array_module(x0), x0, x1)
        return ((y if type(y) is numpy.ndarray else utils.force_array(y)),)

    def _gradients(self, m, sum_to, targets, x0, x1, y, gy):
        gradients = []
        for i in targets:
            gx = self.gradient(m, i, x0, x1, y, gy)
            shape = self.inputs[i].shape
            gradients.append(gx if gx is None or gx.shape == shape else sum_to(gx, shape))
        return tuple(gradients)

    def backward(self, target_input_indexes, grad_outputs):
        x0, x1 = self.get_retained_inputs() if 'x' in self.retains else (None, None)
        y = self.get_retained_outputs()[0] if 'y' in self.retains else None
        F = chainer.functions
        return self._gradients(F, F.sum_to, target_input_indexes, x0, x1, y, grad_outputs[0])

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        inputs, outputs = self._retained_arrays()
        x0, x1 = inputs or (None, None)
        y = outputs[0] if outputs else None
        (gy,) = grad_outputs
        gradients = self._gradients(
            cuda.get_array_module(gy), utils.sum_to, target_input_indexes, x0, x1, y, gy
        )
        return tuple([None if g is None else _as_array(g, gy.dtype) for g in gradients])

    def compute(self, xp, x0, x1):
        raise NotImplementedError

    def gradient(self, m, i, x0, x1, y, gy):
        raise NotImplementedError


def parse_axis(axis):
    """Checks an ``axis`` argument of a reduction: ``None``, an int or a tuple of distinct ints.

    Returns:
        ``None`` or a tuple of ints.

    Raises:
        TypeError: If the type of ``axis`` is wrong.
        ValueError: If an axis appears twice.

    """
    if axis is None:
        return None
    if isinstance(axis, numbers.Integral) and not isinstance(axis, bool):
        return (int(axis),)
    if isinstance(axis, tuple) and all(isinstance(a, numbers.Integral) for a in axis):
        if len(set(axis)) != len(axis):
            raise ValueError(f'duplicate value in axis: {axis}')
        return tuple([int(a) for a in axis])
    raise TypeError(f'axis must be None, an int or a tuple of ints, not {axis!r}')


def parse_single_axis(axis):
    """Checks an ``axis`` argument that is ``None`` or one int.

    Raises:
        TypeError: If the type of ``axis`` is wrong.

    """
    if axis is not None and not isinstance(axis, numbers.Integral):
        raise TypeError(f'axis must be None or an int, not {axis!r}')
    return axis


def expect_axis(in_type, axis):
    """Type check that every axis of a parsed ``axis`` exists in the input."""
    for a in axis or ():
        if a >= 0:
            type_check.expect(a < in_type.ndim)
        else:
            type_check.expect(-a - 1 < in_type.ndim)


class ReductionFunction(_Routine):
    """Function that reduces axes of one floating point array.

    Args:
        axis (None, int or tuple of int): Axes to reduce (``None``: all).
        keepdims (bool): Whether to keep reduced axes with length one.

    """

    def __init__(self, axis=None, keepdims=False):
        self.axis = parse_axis(axis)
        self.keepdims = keepdims

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')
        expect_axis(in_types[0], self.axis)

    def forward_chainerx(self, inputs):
        routine = self._chainerx_function
        if routine is None:
            return Fallback
        return (routine(inputs[0], axis=self.axis, keepdims=self.keepdims),)

    def kept_shape(self, shape):
        """Shape of the output with reduced axes of length one."""
        if self.axis is None:
            return (1,) * len(shape)
        axes = {a % len(shape) for a in self.axis}
        return tuple([1 if i in axes else n for i, n in enumerate(shape)])


def apply_without_gradient(name, x):
    """Applies the array routine ``name`` to a variable or array without recording."""
    x = chainer.as_array(x)
    xp = backend.get_array_module(x)
    if xp is chainerx and not hasattr(chainerx, name):
        device = backend.ChainerxDevice(x.device)
        y = device.send(getattr(device.fallback_device.xp, name)(backend.from_chx(x)))
    else:
        y = getattr(xp, name)(x)
    return chainer.as_variable(_as_array(y, x.dtype) if xp is not chainerx else y)


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
    """Array ``sample(xp)`` on the device of ``x``; NumPy or CuPy draws for ChainerX."""
    device = backend.get_device_from_array(x)
    if not isinstance(device, backend.ChainerxDevice):
        return device.xp.asarray(sample(device.xp))
    with chainer.using_device(device.fallback_device):
        xp = device.fallback_device.xp
        return device.send(xp.asarray(sample(xp)))


def special(m):
    """Module of special functions for ``m``: SciPy's, CuPy's, or :mod:`chainer.functions`.

    Raises:
        ImportError: If SciPy is needed and not installed.

    """
    if m is chainer.functions:
        return m
    if m is numpy:
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
    if chainer.is_debug():
        assert x_shape[axis:stop] == y_shape, (
            f'x.shape[{axis}:{stop}] == y.shape is expected, got {x_shape[axis:stop]} != {y_shape}'
        )
    F = chainer.functions
    y = F.reshape(y, (1,) * axis + y_shape + (1,) * (len(x_shape) - stop))
    return F.broadcast_to(y, x_shape)


def check_reduce(reduce, allowed=('mean', 'no')):
    """Checks a ``reduce`` option.

    Raises:
        ValueError: If ``reduce`` is not one of ``allowed``.

    """
    if reduce not in allowed:
        *first, last = map(repr, allowed)
        raise ValueError(
            f"only {', '.join(first)} and {last} are valid for 'reduce', but {reduce!r} is given"
        )
