"""Samples of values, and their statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer._core.names.set_module import set_module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.serializer import AbstractSerializer
    from chainer.types import DTypeSpec, NdArray, Xp


@set_module('chainer.training.extensions.variable_statistics_plot')
class Reservoir:
    """Uniform random sample of fixed size of a sequence of arrays.

    Args:
        size (int): Number of arrays to keep.
        data_shape (tuple of ints): Shape of an array.
        dtype: Type of the arrays.

    .. admonition:: Example

        >>> from chainer.training.extensions.variable_statistics_plot import Reservoir
        >>> sample = Reservoir(3, ())
        >>> for x in range(100):
        ...     sample.add(x)
        >>> indices, values = sample.get_data()
        >>> len(values), bool((indices == values).all())
        (3, True)

    """

    data: Any
    idxs: Any
    counter: int

    def __init__(
        self, size: int, data_shape: tuple[int, ...], dtype: DTypeSpec = numpy.float32
    ) -> None:
        self.size = size
        self.data = numpy.zeros((size,) + tuple(data_shape), dtype)
        self.idxs = numpy.zeros(size, numpy.int32)
        self.counter = 0

    def add(self, x: numpy.ndarray, idx: int | None = None) -> None:
        """Adds an array; if the reservoir is full, it may replace a random one.

        Args:
            x (numpy.ndarray): Array.
            idx (int): Position of the array in the sequence.

        """
        position = self.counter
        if position >= self.size:
            # The n-th array is kept with the probability size / n.
            position = numpy.random.randint(self.counter + 1)
        if position < self.size:
            self.data[position] = x
            self.idxs[position] = self.counter if idx is None else idx
        self.counter += 1

    def get_data(self) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Returns the positions and the arrays, in the order of the positions."""
        n = min(self.size, self.counter)
        order = numpy.argsort(self.idxs[:n])
        return self.idxs[:n][order], self.data[:n][order]

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the sample."""
        data = serializer('data', self.data.copy())
        idxs = serializer('idxs', self.idxs.copy())
        self.counter = serializer('counter', self.counter)
        self.data, self.idxs = data, idxs


@set_module('chainer.training.extensions.variable_statistics_plot')
class Statistician:
    """Function that computes mean, standard deviation and percentiles of an array.

    Args:
        collect_mean (bool): If true, computes the mean.
        collect_std (bool): If true, computes the standard deviation.
        percentile_sigmas (float or tuple of floats): Percentiles (0 to 100) to compute.

    .. admonition:: Example

        >>> from chainer.training.extensions.variable_statistics_plot import Statistician
        >>> statistician = Statistician(True, False, percentile_sigmas=(0, 50))
        >>> stats = statistician(np.array([1., 2., 6.]))
        >>> float(stats['mean']), stats['percentile']
        (3.0, array([1., 2.]))

    """

    def __init__(
        self, collect_mean: bool, collect_std: bool, percentile_sigmas: float | Sequence[float]
    ) -> None:
        self.collect_mean = collect_mean
        self.collect_std = collect_std
        self.percentile_sigmas = percentile_sigmas

    def __call__(
        self, x: NdArray, axis: int = 0, dtype: DTypeSpec = None, xp: Xp | None = None
    ) -> dict[str, Any]:
        """Computes the statistics.

        Args:
            x: Array.
            axis (int): Axis of the statistics.
            dtype: Type to compute in, the type of ``x`` by default.
            xp: Array module, the module of ``x`` by default.

        Returns:
            dict: Arrays with the keys ``'mean'``, ``'std'`` and ``'percentile'``.

        """
        if xp is None:
            xp = backend.get_array_module(x)
        if dtype is not None:
            x = x.astype(dtype, copy=False)
        return self.collect(x, axis)

    def collect(self, x: NdArray, axis: int) -> dict[str, Any]:
        """Computes the statistics along an axis."""
        xp = backend.get_array_module(x)
        out = {}
        if self.collect_mean:
            out['mean'] = x.mean(axis=axis)
        if self.collect_std:
            out['std'] = x.std(axis=axis)
        if self.percentile_sigmas is not None and numpy.size(self.percentile_sigmas) > 0:
            percentiles = xp.asarray(numpy.atleast_1d(self.percentile_sigmas))
            out['percentile'] = xp.percentile(x, percentiles, axis=axis).astype(x.dtype, copy=False)
        return out
