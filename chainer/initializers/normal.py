from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chainer import initializer
from chainer.initializers._random import RandomInitializer
from chainer.utils import argument

if TYPE_CHECKING:
    from chainer._core.settings.types import DTypeSpec, NdArray


class Normal(RandomInitializer):
    """Initializes an array with a normal distribution of mean zero.

    Args:
        scale (float): Standard deviation.
        dtype: Required data type of arrays (else ``AssertionError``). If ``None``, any.
        rng (xp.random.RandomState): Random number generator. If ``None``, the
            global one.

    Raises:
        TypeError: If ``dtype`` is no dtype.
        ValueError: At the call, if ``scale`` is negative.
        AssertionError: At the call, if the array has another dtype than ``dtype``.

    .. admonition:: Example

        >>> x = np.empty((200, 100), np.float32)
        >>> chainer.initializers.Normal(scale=0.1, rng=np.random.RandomState(0))(x)
        >>> round(float(x.std()), 3)
        0.099

    """

    def __init__(self, scale: float = 0.05, dtype: DTypeSpec = None, **kwargs: Any) -> None:
        (rng,) = argument.parse_kwargs(kwargs, ('rng', None))
        super().__init__(dtype, rng)
        self.scale = scale

    def _deviation(self, shape):
        return self.scale

    def __call__(self, array: NdArray) -> None:
        self._fill(array, 'normal', 0.0, self._deviation(array.shape))


class _ScaledNormal(Normal):
    """Normal distribution whose deviation follows from the fans."""

    def __init__(self, scale: float = 1.0, dtype: DTypeSpec = None, **kwargs: Any) -> None:
        super().__init__(scale, dtype, **kwargs)

    def _variance(self, fan_in, fan_out):
        raise NotImplementedError

    def _deviation(self, shape):
        return self.scale * math.sqrt(self._variance(*initializer.get_fans(shape)))


class LeCunNormal(_ScaledNormal):
    r"""Normal distribution with :math:`\sigma = scale \sqrt{1 / fan_{in}}`.

    The default for weights. See Y. LeCun et al., Efficient BackProp, 1998.

    Args:
        scale (float): Factor of the standard deviation.
        dtype: Required data type of arrays (else ``AssertionError``). If ``None``, any.
        rng (xp.random.RandomState): Random number generator. If ``None``, the
            global one.

    Raises:
        TypeError: If ``dtype`` is no dtype.
        ValueError: At the call, if the array has fewer than two axes, or ``scale`` is negative.
        AssertionError: At the call, if the array has another dtype than ``dtype``.

    .. admonition:: Example

        >>> x = np.empty((200, 100), np.float32)
        >>> chainer.initializers.LeCunNormal(rng=np.random.RandomState(0))(x)
        >>> round(float(x.std()), 3)  # 0.1 = sqrt(1 / 100)
        0.099

    """

    def _variance(self, fan_in, fan_out):
        return 1.0 / fan_in


class GlorotNormal(_ScaledNormal):
    r"""Normal distribution with :math:`\sigma = scale \sqrt{2 / (fan_{in} + fan_{out})}`.

    See X. Glorot and Y. Bengio, Understanding the difficulty of training deep
    feedforward neural networks, AISTATS 2010.

    Args:
        scale (float): Factor of the standard deviation.
        dtype: Required data type of arrays (else ``AssertionError``). If ``None``, any.
        rng (xp.random.RandomState): Random number generator. If ``None``, the
            global one.

    Raises:
        TypeError: If ``dtype`` is no dtype.
        ValueError: At the call, if the array has fewer than two axes, or ``scale`` is negative.
        AssertionError: At the call, if the array has another dtype than ``dtype``.

    .. admonition:: Example

        >>> x = np.empty((200, 100), np.float32)
        >>> chainer.initializers.GlorotNormal(rng=np.random.RandomState(0))(x)
        >>> round(float(x.std()), 3)  # 0.082 = sqrt(2 / 300)
        0.081

    """

    def _variance(self, fan_in, fan_out):
        return 2.0 / (fan_in + fan_out)


class HeNormal(_ScaledNormal):
    r"""Normal distribution with :math:`\sigma = scale \sqrt{2 / fan}`.

    See K. He et al., Delving Deep into Rectifiers, ICCV 2015.

    Args:
        scale (float): Factor of the standard deviation.
        dtype: Required data type of arrays (else ``AssertionError``). If ``None``, any.
        fan_option ({'fan_in', 'fan_out'}): :math:`fan` to use.
        rng (xp.random.RandomState): Random number generator. If ``None``, the
            global one.

    Raises:
        ValueError: At the call, if ``fan_option`` is invalid.

    .. admonition:: Example

        >>> x = np.empty((200, 100), np.float32)
        >>> chainer.initializers.HeNormal(rng=np.random.RandomState(0))(x)
        >>> round(float(x.std()), 3)  # 0.141 = sqrt(2 / 100)
        0.14

    """

    def __init__(
        self, scale: float = 1.0, dtype: DTypeSpec = None, fan_option: str = 'fan_in', **kwargs: Any
    ) -> None:
        super().__init__(scale, dtype, **kwargs)
        self.fan_option = fan_option

    def _variance(self, fan_in, fan_out):
        if self.fan_option == 'fan_in':
            return 2.0 / fan_in
        if self.fan_option == 'fan_out':
            return 2.0 / fan_out
        raise ValueError(
            f'fan_option should be either "fan_in" or "fan_out", but is {self.fan_option!r}'
        )
