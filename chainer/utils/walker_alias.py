"""Sampling from discrete distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import backend, device_resident
from chainer.backends import cuda

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chainer.device_resident import DeviceResidentsVisitor
    from chainer.types import NdArray, ShapeSpec, Xp


class WalkerAlias(device_resident.DeviceResident):
    """Sampler of integers by the alias method of Walker: each sample takes constant time.

    A table has one column per value. A threshold divides a column between the value and one other
    value.

    Args:
        probs (iterable of float): Weights of the values 0, 1, ...; their sum can be any number.

    Raises:
        ValueError: If ``probs`` is not a vector, a weight is negative or not finite, or all are
            zero.

    See: `Walker, An Efficient Method for Generating Discrete Random Variables with General
    Distributions (1977) <https://doi.org/10.1145/355744.355749>`_

    .. admonition:: Example

        >>> from chainer.utils import WalkerAlias
        >>> samples = WalkerAlias([1, 0, 3]).sample((1000,))
        >>> samples.shape, sorted(set(samples.tolist()))
        ((1000,), [0, 2])
        >>> bool(600 < (samples == 2).sum() < 900)
        True

    """

    threshold: NdArray
    values: NdArray

    def __init__(self, probs: Iterable[float]) -> None:
        super().__init__()
        weights = numpy.asarray(probs, numpy.float32)
        if weights.ndim != 1:
            raise ValueError(f'probs must be a vector, but has shape {weights.shape}')
        total = weights.sum()
        if weights.size and not ((weights >= 0).all() and 0 < total < numpy.inf):
            raise ValueError('probs must be nonnegative, finite and not all zero')
        # Columns are in order of weight, which determines the samples that a seed gives.
        order = numpy.argsort(weights, kind='stable')
        heights = (weights / total)[order].astype(numpy.float64) * len(weights)
        self.threshold, self.values = _fill_columns(order, heights)

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        super().device_resident_accept(visitor)
        self.threshold = visitor.visit_array(self.threshold)
        self.values = visitor.visit_array(self.values)

    @property
    def use_gpu(self) -> bool:
        """Whether the table is on a CuPy device."""
        return isinstance(self.threshold, cuda.ndarray)

    def sample(self, shape: ShapeSpec) -> NdArray:
        """Draws samples.

        Args:
            shape (tuple of int): Shape of the result.

        Returns:
            int32 array on the device of the sampler.

        """
        return self.sample_xp(self.device.xp, shape)

    def sample_gpu(self, shape: ShapeSpec) -> NdArray:
        """Draws samples with CuPy; see :meth:`sample`.

        Args:
            shape (tuple of int): Shape of the result.

        Returns:
            CuPy array of type int32.

        """
        return self.sample_xp(cuda.cupy, shape)

    def sample_xp(self, xp: Xp, shape: ShapeSpec) -> NdArray:
        """Draws samples with an array module; see :meth:`sample`.

        Args:
            xp (module): Module of the result, e.g. :mod:`numpy`.
            shape (tuple of int): Shape of the result.

        Returns:
            Array of type int32.

        """
        threshold, values = backend.from_chx((self.threshold, self.values))
        device = backend.get_device_from_array(threshold)
        with device.create_context():
            position = device.xp.random.uniform(0, len(threshold), shape)
            column = device.xp.asarray(position).astype(numpy.int32)
            # Rounding could put a sample past the last column.
            column = column.clip(0, len(threshold) - 1)
            other = threshold[column] < position - column
            samples = values[2 * column + other]
        return backend.to_chx(samples) if xp.__name__ == 'chainerx' else samples


def _fill_columns(order, heights):
    """Divides values of different heights among columns of height one, two values in each.

    A value that exceeds its own column fills up the columns before it.

    Returns:
        Where the first value of each column ends, and both values of all columns.

    """
    threshold = numpy.ones(len(order), numpy.float32)
    values = numpy.zeros(2 * len(order), numpy.int32)
    values[::2] = order
    filled = 0
    for column, (value, height) in enumerate(zip(order, heights)):
        while height > 1 and filled < column:
            values[2 * filled + 1] = value
            height -= 1 - float(threshold[filled])
            filled += 1
        threshold[column] = height
    # The rest is full but for rounding.
    threshold[filled:] = 1
    return threshold, values
