"""Code shared by the distributions."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, overload

import numpy

from chainer import backend, functions as F
from chainer._core.engines import plan_data
from chainer._core.settings.dtype import get_dtype
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


def as_parameters(**values):
    """Converts arrays, variables and numbers to variables of broadcastable shapes."""
    params = {
        name: _as_variable(v, lambda: get_dtype(map_mixed16=numpy.float32), None)
        for name, v in values.items()
    }
    try:
        numpy.broadcast_shapes(*(p.shape for p in params.values()))
    except ValueError:
        shapes = ', '.join(f'{name} {p.shape}' for name, p in params.items())
        raise ValueError(f'the parameters must have broadcastable shapes: {shapes}') from None
    return tuple(params.values())


def as_point(x: VariableLike | float, like: Variable) -> Variable:
    """Converts a point (array, variable or number) to a variable in a parameter's dtype."""
    point: Variable = _as_variable(x, lambda: like.dtype, like.device)
    return point if point.dtype == like.dtype else F.cast(point, like.dtype)


@contextlib.contextmanager
def generator_of(device):
    """Gives the device that draws random numbers for another."""
    # ChainerX cannot draw most distributions itself: its NumPy or CuPy counterpart does.
    generator = getattr(device, 'fallback_device', device)
    with using_device(generator):
        yield generator


def draw(method, shape, like, *args, dtype=None):
    """Draws random numbers on the device of a variable.

    Args:
        method (str): Name of the routine of ``numpy.random``.
        shape (tuple of ints): Shape of the result.
        like (~chainer.Variable): Variable with the device of the result.
        args (~chainer.Variable or int): Parameters of the routine.
        dtype: Dtype of the result, by default that of ``like``.

    Returns:
        Array.
    """
    device, dtype = like.device, dtype or like.dtype

    def make():
        with generator_of(device) as generator:
            sent = [generator.send(a.array) if isinstance(a, Variable) else a for a in args]
            samples = getattr(generator.xp.random, method)(*sent, size=shape)
            samples = generator.xp.asarray(samples, dtype=dtype)
        return device.send(samples)

    # Plans resample what depends on no arrays.
    is_plan_data = isinstance(device, backend.ChainerxDevice) and not any(
        isinstance(a, Variable) for a in args
    )
    return plan_data.draw(make) if is_plan_data else make()


def full_like(x, value):
    """Returns an array like a variable's, filled with a number."""
    array = x.array
    return backend.get_array_module(array).full_like(array, value)


def within(valid, function, x, inside, outside=-numpy.inf):
    """Evaluates a function where it is defined.

    Outside the domain, the function gets a harmless point, which avoids warnings and NaN
    gradients.

    Args:
        valid (array of bool): Whether ``x`` is in the domain, of a shape that ``x`` broadcasts
            to.
        function (callable): Function of a variable.
        x (~chainer.Variable): Points.
        inside (float or ~chainer.Variable): Point in the domain.
        outside (float): Value outside the domain.

    Returns:
        ~chainer.Variable: Values.
    """
    if bool(valid.all()):
        return function(x)
    x = F.broadcast_to(x, valid.shape)
    if isinstance(inside, Variable):
        inside = F.broadcast_to(inside, x.shape)
    else:
        inside = full_like(x, inside)
    y = function(F.where(valid, x, inside))
    valid = backend.get_array_module(y.array).broadcast_to(valid, y.shape)
    return F.where(valid, y, full_like(y, outside))


class Parameter:
    """Documented attribute that the constructor sets to a variable."""

    if TYPE_CHECKING:

        def __set__(self, obj: object, value: Variable) -> None: ...

    def __init__(self, doc: str) -> None:
        self.__doc__ = f'~chainer.Variable: {doc}'

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, obj: None, cls: type) -> Parameter: ...
    @overload
    def __get__(self, obj: object, cls: type) -> Variable: ...
    def __get__(self, obj: object, cls: type) -> Variable | Parameter:
        # Instance attributes come first, so this is reached only without one.
        if obj is None:
            return self
        raise AttributeError(f'{cls.__name__}.{self._name} is not set')


class Parametric(Distribution):
    """Distribution of scalars with parameters as attributes of broadcastable shapes."""

    _param_names: tuple[str, ...] = ()
    _support = 'real'

    @property
    def params(self) -> dict[str, Variable]:
        return {name: getattr(self, name) for name in self._param_names}

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return numpy.broadcast_shapes(*(getattr(self, name).shape for name in self._param_names))

    @property
    def event_shape(self) -> tuple[int, ...]:
        return ()

    @property
    def support(self) -> str:
        return self._support


class LocationScale(Parametric):
    """Distribution of :math:`loc + scale \\cdot \\epsilon` for a standard :math:`\\epsilon`."""

    _param_names = ('loc', 'scale')

    _standard: str  # routine of numpy.random that draws epsilon

    loc: Parameter = Parameter('Location.')
    scale: Parameter = Parameter('Scale.')

    def __init__(
        self, loc: VariableLike | float | None, scale: VariableLike | float | None
    ) -> None:
        self.loc, self.scale = as_parameters(loc=loc, scale=scale)

    def _standardize(self, x):
        return (as_point(x, self.loc) - self.loc) / self.scale

    def sample_n(self, n: int) -> Variable:
        eps = draw(self._standard, (n,) + self.batch_shape, self.loc)
        return self.loc + self.scale * eps


class OverClasses(Distribution):
    """Distribution over classes, the last axis of the parameter ``p``."""

    if TYPE_CHECKING:

        @property
        def p(self) -> Variable: ...

    @property
    def params(self) -> dict[str, Variable]:
        return {'p': self.p}

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.p.shape[:-1]

    def _sample_indices(self, n):
        """Draws class indices, the same as ``choice(classes, n, p=p)`` for each of the batch."""
        with generator_of(self.p.device) as generator:
            xp = generator.xp
            p = generator.send(self.p.array)
            p = p.reshape(-1, p.shape[-1])
            tolerance = math.sqrt(numpy.finfo(p.dtype).eps)
            p = p.astype(numpy.float64)
            if (p < 0).any() or (abs(p.sum(axis=-1) - 1) > tolerance).any():
                raise ValueError('p must be non-negative and sum to 1 along the last axis')
            u = xp.random.random_sample((len(p), n, 1))
            cdf = xp.cumsum(p, axis=-1)[:, None]
            # Scaling by the last element keeps rounding errors from adding a class.
            indices = (cdf / cdf[..., -1:] <= u).sum(axis=-1)
            return indices.T.reshape((n,) + self.batch_shape)
