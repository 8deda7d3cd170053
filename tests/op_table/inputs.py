"""Arrays that operations are tested and timed with."""
import math

import numpy as np


class In:
    """An input array: its shape, and the range its elements are drawn from.

    ``dtype`` fixes the dtype of inputs that do not take part in the choice of dtypes, such as
    indices; ``values`` are the elements themselves. ``distinct`` makes all elements differ.
    Floating point elements keep away from the points in ``avoid``. ``matrix`` makes the last two
    axes matrices: ``'regular'`` ones, or symmetric and positive ``'definite'`` ones.
    """

    def __init__(self, *shape, low=-2, high=2, dtype=None, distinct=False, avoid=(), values=None,
                 matrix=None):
        self.shape = shape
        self.low, self.high = low, high
        self.dtype = dtype
        self.distinct = distinct
        self.avoid = avoid
        self.values = values
        self.matrix = matrix

    def make(self, dtype, rng, shape=None):
        dtype = np.dtype(self.dtype or dtype)
        shape = self.shape if shape is None else shape
        if self.values is not None:
            return np.array(self.values, dtype)
        size = math.prod(shape)
        if self.distinct and dtype.kind not in 'iu':
            x = rng.permutation(np.linspace(self.low, self.high, size))
        elif dtype.kind in 'iu':
            low = max(math.ceil(self.low), 0 if dtype.kind == 'u' else -100)
            x = rng.permutation(size) + low if self.distinct else rng.integers(low, max(math.floor(self.high), low), size, endpoint=True)
        elif dtype.kind == 'b':
            x = rng.integers(0, 2, size)
        else:
            x = rng.uniform(self.low, self.high, size)
        if dtype.kind == 'f':
            for point in self.avoid:
                x = np.where(abs(x - point) < 0.1, point + 0.2, x)
        x = np.asarray(x).reshape(shape)
        if self.matrix is not None:
            x = x + 2 * np.eye(*shape[-2:])
            if self.matrix == 'definite':
                x = x @ x.swapaxes(-1, -2) + np.diag(np.arange(shape[-1]))
        return x.astype(dtype)


