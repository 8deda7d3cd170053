"""What watches numbers, and chooses the range of them that integers shall cover."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    import numpy.typing

#: The least and the largest number.
Range = tuple[float, float]


class Observer:
    """Base of what chooses a range for numbers that it sees.

    Subclasses define :meth:`update` and :meth:`range`.

    .. admonition:: Example

        >>> from chainer.quantization import Observer, calibrate
        >>> class UpTo(Observer):
        ...     def update(self, x):
        ...         self.mean = float(abs(x).mean())
        ...     def range(self):
        ...         return -4 * self.mean, 4 * self.mean
        >>> calibrate(L.Linear(2, 1), [np.ones((1, 2), np.float32)], UpTo)['/'].inputs
        {0: (-4.0, 4.0)}

    """

    def update(self, x: numpy.typing.NDArray[Any]) -> None:
        """Takes note of an array with at least one element.

        Args:
            x (numpy.ndarray): Finite numbers of any shape.

        """
        raise NotImplementedError

    def range(self) -> Range:
        """Returns the least and the largest number that integers shall hold."""
        raise NotImplementedError


class MinMax(Observer):
    """Range from the least to the largest of all numbers.

    .. admonition:: Example

        >>> from chainer.quantization import MinMax
        >>> observer = MinMax()
        >>> for x in [[0, 1, 2], [-1, 0, 1]]:
        ...     observer.update(np.array(x, np.float32))
        >>> observer.range()
        (-1.0, 2.0)

    """

    def __init__(self) -> None:
        self._low = numpy.inf
        self._high = -numpy.inf

    def update(self, x: numpy.typing.NDArray[Any]) -> None:
        self._low = min(self._low, float(x.min()))
        self._high = max(self._high, float(x.max()))

    def range(self) -> Range:
        return self._low, self._high


class MovingAverageMinMax(Observer):
    """Range from the mean of the least to the mean of the largest numbers of arrays.

    The means are exponential moving averages, :math:`m_t = d m_{t-1} + (1 - d) x_t`, which start
    with the first array. One outlier counts little.

    Args:
        decay (float): :math:`d`, from zero to less than one.

    Raises:
        ValueError: ``decay`` is not there.

    .. admonition:: Example

        >>> from chainer.quantization import MovingAverageMinMax
        >>> observer = MovingAverageMinMax(decay=0.75)
        >>> for x in [[0, 4], [-4, 8]]:
        ...     observer.update(np.array(x, np.float32))
        >>> observer.range()
        (-1.0, 5.0)

    """

    def __init__(self, decay: float = 0.9) -> None:
        if not 0 <= decay < 1:
            raise ValueError(f'decay must be from zero to less than one, but is {decay}')
        self.decay = decay
        self._range: Range | None = None

    def update(self, x: numpy.typing.NDArray[Any]) -> None:
        new = float(x.min()), float(x.max())
        low, high = self._range or new
        d = self.decay
        self._range = d * low + (1 - d) * new[0], d * high + (1 - d) * new[1]

    def range(self) -> Range:
        return self._range or (numpy.inf, -numpy.inf)


class _Histogram(Observer):
    """Base of what chooses a range by a histogram of all numbers.

    It has bins from ``-limit`` to ``limit``. The limit doubles when it must, and pairs of bins
    become one, so that no number is lost.
    """

    def __init__(self, bins: int = 4096) -> None:
        if bins < 1024 or bins % 4:
            raise ValueError(f'bins must be a multiple of four from 1024 on, but is {bins}')
        self.bins = bins
        self.limit: float = 0.0
        self.counts: numpy.typing.NDArray[Any] = numpy.zeros(bins, numpy.int64)
        self._extremes = MinMax()

    def update(self, x: numpy.typing.NDArray[Any]) -> None:
        self._extremes.update(x)
        x = x.astype(numpy.float64).ravel()
        largest = float(numpy.abs(x).max())
        if self.limit == 0 and largest > 0:
            zeros, self.counts = self.counts.sum(), self.counts * 0
            self.counts[self.bins // 2] = zeros
            self.limit = largest
        while self.limit < largest:
            self._double()
        limits = (-self.limit, self.limit) if self.limit else (-1.0, 1.0)
        self.counts += numpy.histogram(x, self.bins, limits)[0]

    def _double(self):
        quarter = self.bins // 4
        inner = self.counts.reshape(-1, 2).sum(1)
        self.counts = numpy.pad(inner, quarter)
        self.limit *= 2

    def _within(self, low, high):
        """A range cut to that of the numbers."""
        least, most = self._extremes.range()
        return max(low, least), min(high, most)


class Percentile(_Histogram):
    """Range of the given percentage of all numbers, which leaves out as many on both sides.

    It counts numbers in bins; the range is right to the width of one.

    Args:
        percent (float): More than zero, at most 100.
        bins (int): Number of bins.

    Raises:
        ValueError: ``percent`` or ``bins`` is not allowed.

    .. admonition:: Example

        >>> from chainer.quantization import Percentile
        >>> observer = Percentile(98)
        >>> observer.update(np.arange(-500, 501))
        >>> low, high = observer.range()
        >>> round(low), round(high)
        (-490, 490)

    """

    def __init__(self, percent: float = 99.99, bins: int = 4096) -> None:
        if not 0 < percent <= 100:
            raise ValueError(f'percent must be more than 0 and at most 100, but is {percent}')
        super().__init__(bins)
        self.percent = percent

    def range(self) -> Range:
        left_out = (1 - self.percent / 100) / 2 * self.counts.sum()
        edges = numpy.linspace(-self.limit, self.limit, self.bins + 1)
        below = numpy.cumsum(self.counts)
        above = numpy.cumsum(self.counts[::-1])
        first = int(numpy.searchsorted(below, left_out, 'right'))
        last = self.bins - int(numpy.searchsorted(above, left_out, 'right'))
        return self._within(float(edges[min(first, self.bins)]), float(edges[max(last, 0)]))


class Entropy(_Histogram):
    """Range with which the distribution of the integers is nearest to that of the numbers.

    Of ranges that end at the same magnitude on both sides, it takes the one with the least
    Kullback-Leibler divergence of the histogram, with what is outside at its ends, from that of
    numbers of which as many differ as there are integers. See S. Migacz, *8-bit Inference with
    TensorRT* (2017).

    Args:
        levels (int): Number of integers.
        bins (int): Number of bins.

    Raises:
        ValueError: ``levels`` or ``bins`` is not allowed.

    .. admonition:: Example

        >>> from chainer.quantization import Entropy
        >>> observer = Entropy()
        >>> x = np.random.RandomState(0).normal(size=10000)
        >>> x[0] = 100  # an outlier
        >>> observer.update(x)
        >>> low, high = observer.range()
        >>> 3 < high < 10
        True

    """

    candidates = 128

    def __init__(self, levels: int = 256, bins: int = 4096) -> None:
        super().__init__(bins)
        if not 2 <= levels <= bins // 2:
            raise ValueError(f'levels must be from 2 to {bins // 2}, but is {levels}')
        self.levels = levels

    def range(self) -> Range:
        half = self.bins // 2
        low, high = self._extremes.range()
        least = self.levels if low >= 0 or high <= 0 else self.levels // 2
        sizes = numpy.unique(numpy.linspace(least, half, self.candidates).round().astype(int))
        loss = [self._divergence(half, size, low < 0, high > 0) for size in sizes]
        limit = self.limit * float(sizes[numpy.argmin(loss)]) / half
        return self._within(-limit, limit)

    def _divergence(self, half, size, negative, positive):
        counts = self.counts
        inside = slice(half - size * negative, half + size * positive)
        p = counts[inside].astype(numpy.float64)
        if not p.size:
            return 0.0
        q = _merged(p, self.levels)
        p[0] += counts[: inside.start].sum()
        p[-1] += counts[inside.stop :].sum()
        p, q = p / p.sum(), q / max(q.sum(), 1)
        used = p > 0
        return float((p[used] * numpy.log(p[used] / numpy.maximum(q[used], 1e-12))).sum())


def _merged(counts, levels):
    """Counts of numbers of which ``levels`` differ: each level's count over its bins in use."""
    level = numpy.arange(len(counts)) * levels // len(counts)
    used = counts > 0
    total = numpy.bincount(level, counts, levels)
    number = numpy.bincount(level, used, levels)
    return numpy.where(used, (total / numpy.maximum(number, 1))[level], 0)
