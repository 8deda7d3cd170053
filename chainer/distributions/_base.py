"""Code shared by the distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import backend, functions as F
from chainer._core.dtype import get_dtype
from chainer.backend import using_device
from chainer.distribution import Distribution
from chainer.variable import Variable, as_variable

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


def _as_variable(x, default_dtype, device):
    """Converts an array, a variable or a number to a variable; numbers get a dtype."""
    if isinstance(x, numpy.generic):
        x = numpy.asarray(x)
    elif not hasattr(x, 'dtype'):
        x = numpy.asarray(x, default_dtype())
    else:
        return as_variable(x)
    return as_variable(x if device is None else device.send(x))


def as_parameters(*values):
    """Converts arrays, variables and numbers to variables broadcast to one shape."""
    values = [_as_variable(v, lambda: get_dtype(map_mixed16=numpy.float32), None) for v in values]
    if any(v.shape != values[0].shape for v in values):
        values = F.broadcast(*values)
    return tuple(values)


def as_point(x, like):
    """Converts a point (array, variable or number) to a variable in a parameter's dtype."""
    x = _as_variable(x, lambda: like.dtype, like.device)
    return x if x.dtype == like.dtype else F.cast(x, like.dtype)


def draw(method, shape, like, *args):
    """Draws random numbers on the device of a variable.

    Args:
        method (str): Name of the routine of ``numpy.random``.
        shape (tuple of ints): Shape of the result.
        like (~chainer.Variable): Variable with the device and dtype of the result.
        args (~chainer.Variable): Parameters of the routine.

    Returns:
        Array.
    """
    device = like.device
    # ChainerX cannot draw most distributions itself: its NumPy or CuPy counterpart does.
    generator = getattr(device, 'fallback_device', device)
    with using_device(generator):
        args = [generator.send(a.array) for a in args]
        samples = getattr(generator.xp.random, method)(*args, size=shape)
        samples = generator.xp.asarray(samples, dtype=like.dtype)
    return device.send(samples)


def full_like(x, value):
    """Returns an array like a variable's, filled with a number."""
    array = x.array
    return backend.get_array_module(array).full_like(array, value)


def within(valid, function, x, inside, outside=-numpy.inf):
    """Evaluates a function where it is defined.

    Outside the domain, the function gets a harmless point, which avoids warnings and NaN
    gradients.

    Args:
        valid (array of bool): Whether ``x`` is in the domain.
        function (callable): Function of a variable.
        x (~chainer.Variable): Points, of the shape of ``valid``.
        inside (float or ~chainer.Variable): Point in the domain.
        outside (float): Value outside the domain.

    Returns:
        ~chainer.Variable: Values.
    """
    if bool(valid.all()):
        return function(x)
    if isinstance(inside, Variable):
        inside = F.broadcast_to(inside, x.shape)
    else:
        inside = full_like(x, inside)
    y = function(F.where(valid, x, inside))
    return F.where(valid, y, full_like(y, outside))


class Parameter:
    """Documented attribute that the constructor sets to a variable."""

    if TYPE_CHECKING:

        def __set__(self, obj: object, value: Variable) -> None: ...

    def __init__(self, doc: str) -> None:
        self.__doc__ = f'~chainer.Variable: {doc}'

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, obj: object, cls: type) -> Variable:
        # Instance attributes come first, so this is reached only without one.
        if obj is None:
            return self
        raise AttributeError(f'{cls.__name__}.{self._name} is not set')


class Parametric(Distribution):
    """Distribution of scalars with parameters as attributes of a common shape."""

    _param_names = ()
    _support = 'real'

    @property
    def params(self) -> dict[str, Variable]:
        return {name: getattr(self, name) for name in self._param_names}

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return getattr(self, self._param_names[0]).shape

    @property
    def event_shape(self) -> tuple[int, ...]:
        return ()

    @property
    def support(self) -> str:
        return self._support


class LocationScale(Parametric):
    """Distribution of :math:`loc + scale \\cdot \\epsilon` for a standard :math:`\\epsilon`."""

    _param_names = ('loc', 'scale')

    # Routine of numpy.random that draws epsilon.
    _standard = None

    loc: Parameter = Parameter('Location.')
    scale: Parameter = Parameter('Scale.')

    def __init__(
        self, loc: VariableLike | float | None, scale: VariableLike | float | None
    ) -> None:
        self.loc, self.scale = as_parameters(loc, scale)

    def _standardize(self, x):
        return (as_point(x, self.loc) - self.loc) / self.scale

    def sample_n(self, n: int) -> Variable:
        eps = draw(self._standard, (n,) + self.batch_shape, self.loc)
        return self.loc + self.scale * eps


class OverClasses(Distribution):
    """Distribution over classes, the last axis of the parameter ``p``."""

    @property
    def params(self) -> dict[str, Variable]:
        return {'p': self.p}

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.p.shape[:-1]

    def _sample_indices(self, n):
        """Draws class indices by inverting the cumulative distribution."""
        p = self.p.array
        u = draw('uniform', (n,) + self.batch_shape + (1,), self.p)
        generator = self.p.device
        generator = getattr(generator, 'fallback_device', generator)
        xp = generator.xp
        with using_device(generator):
            cdf = xp.cumsum(generator.send(p), axis=-1)
            # Scaling by the last element keeps rounding errors from adding a class.
            return (cdf <= generator.send(u) * cdf[..., -1:]).sum(axis=-1).astype(numpy.int32)
