from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chainer import initializer
from chainer.initializers._random import RandomInitializer
from chainer.utils import argument

if TYPE_CHECKING:
    from chainer._core.settings.types import DTypeSpec, NdArray


class Uniform(RandomInitializer):
    """Initializes an array with a uniform distribution on [-scale, scale).

    Args:
        scale (float): Bound of the interval.
        dtype: Required data type of arrays (else ``AssertionError``). If ``None``, any.
        rng (xp.random.RandomState): Random number generator. If ``None``, the
            global one.

    Raises:
        TypeError: If ``dtype`` is no dtype.
        AssertionError: At the call, if the array has another dtype than ``dtype``.

    .. admonition:: Example

        >>> x = np.empty((200, 100), np.float32)
        >>> chainer.initializers.Uniform(scale=0.1, rng=np.random.RandomState(0))(x)
        >>> round(float(abs(x).max()), 3)
        0.1

    """

    def __init__(self, scale: float = 0.05, dtype: DTypeSpec = None, **kwargs: Any) -> None:
        (rng,) = argument.parse_kwargs(kwargs, ('rng', None))
        super().__init__(dtype, rng)
        self.scale = scale

    def _bound(self, shape):
        return self.scale

    def __call__(self, array: NdArray) -> None:
        bound = self._bound(array.shape)
        self._fill(array, 'uniform', -bound, bound)


class _ScaledUniform(Uniform):
    """Uniform distribution with a bound computed from the fans."""

    def __init__(self, scale: float = 1.0, dtype: DTypeSpec = None, **kwargs: Any) -> None:
        super().__init__(scale, dtype, **kwargs)

    def _squared_bound(self, fan_in, fan_out):
        raise NotImplementedError

    def _bound(self, shape):
        return self.scale * math.sqrt(self._squared_bound(*initializer.get_fans(shape)))


class LeCunUniform(_ScaledUniform):
    r"""Uniform distribution with the bound :math:`scale \sqrt{3 / fan_{in}}`.

    See Y. LeCun et al., Efficient BackProp, 1998.

    Args:
        scale (float): Factor of the bound.
        dtype: Required data type of arrays (else ``AssertionError``). If ``None``, any.
        rng (xp.random.RandomState): Random number generator. If ``None``, the
            global one.

    Raises:
        TypeError: If ``dtype`` is no dtype.
        ValueError: At the call, if the array has fewer than two axes.
        AssertionError: At the call, if the array has another dtype than ``dtype``.

    .. admonition:: Example

        >>> x = np.empty((200, 100), np.float32)
        >>> chainer.initializers.LeCunUniform(rng=np.random.RandomState(0))(x)
        >>> round(float(abs(x).max()), 3)  # 0.173 = sqrt(3 / 100)
        0.173

    """

    def _squared_bound(self, fan_in, fan_out):
        return 3.0 / fan_in


class GlorotUniform(_ScaledUniform):
    r"""Uniform distribution with the bound :math:`scale \sqrt{6 / (fan_{in} + fan_{out})}`.

    See X. Glorot and Y. Bengio, Understanding the difficulty of training deep
    feedforward neural networks, AISTATS 2010.

    Args:
        scale (float): Factor of the bound.
        dtype: Required data type of arrays (else ``AssertionError``). If ``None``, any.
        rng (xp.random.RandomState): Random number generator. If ``None``, the
            global one.

    Raises:
        TypeError: If ``dtype`` is no dtype.
        ValueError: At the call, if the array has fewer than two axes.
        AssertionError: At the call, if the array has another dtype than ``dtype``.

    .. admonition:: Example

        >>> x = np.empty((200, 100), np.float32)
        >>> chainer.initializers.GlorotUniform(rng=np.random.RandomState(0))(x)
        >>> round(float(abs(x).max()), 3)  # 0.141 = sqrt(6 / 300)
        0.141

    """

    def _squared_bound(self, fan_in, fan_out):
        return 6.0 / (fan_in + fan_out)


class HeUniform(_ScaledUniform):
    r"""Uniform distribution with the bound :math:`scale \sqrt{6 / fan_{in}}`.

    See K. He et al., Delving Deep into Rectifiers, ICCV 2015.

    Args:
        scale (float): Factor of the bound.
        dtype: Required data type of arrays (else ``AssertionError``). If ``None``, any.
        rng (xp.random.RandomState): Random number generator. If ``None``, the
            global one.

    Raises:
        TypeError: If ``dtype`` is no dtype.
        ValueError: At the call, if the array has fewer than two axes.
        AssertionError: At the call, if the array has another dtype than ``dtype``.

    .. admonition:: Example

        >>> x = np.empty((200, 100), np.float32)
        >>> chainer.initializers.HeUniform(rng=np.random.RandomState(0))(x)
        >>> round(float(abs(x).max()), 3)  # 0.245 = sqrt(6 / 100)
        0.245

    """

    def _squared_bound(self, fan_in, fan_out):
        return 6.0 / fan_in
