"""Base of the initializers that draw random numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, initializer
from chainer.backends import cuda

if TYPE_CHECKING:
    from chainer._core.settings.types import DTypeSpec

_BLOCK = 1 << 16  # numbers to draw at once; they fit into the caches


class RandomInitializer(initializer.Initializer):
    """Initializer that draws from a random number generator.

    Uses ``rng`` if given, else the global generator of the array's module: CuPy's
    for CuPy arrays, otherwise NumPy's.
    """

    def __init__(self, dtype: DTypeSpec = None, rng: Any = None) -> None:
        super().__init__(dtype)
        self.rng = rng

    def _fill(self, array, method, *args):
        """Fills ``array`` with ``rng.method(*args, size=array.shape)``."""
        self._check_dtype(array)
        rng = self.rng
        if rng is None and backend.get_array_module(array) is cuda.cupy:
            # cuRAND has no float16.
            dtype = numpy.promote_types(array.dtype, numpy.float32)
            array[...] = getattr(cuda.cupy.random, method)(*args, size=array.shape, dtype=dtype)
            return
        draw = getattr(rng or numpy.random, method)
        if array.size > _BLOCK and isinstance(array, numpy.ndarray) and array.flags.c_contiguous:
            # The same numbers, without double precision copies of large arrays
            flat = array.reshape(-1)
            for start in range(0, array.size, _BLOCK):
                block = flat[start : start + _BLOCK]
                block[...] = draw(*args, size=block.shape)
            return
        sample = draw(*args, size=array.shape)
        backend.copyto(array, numpy.asarray(sample).astype(array.dtype, copy=False))
