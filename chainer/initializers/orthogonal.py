from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer.backends import cuda
from chainer.initializers._random import RandomInitializer
from chainer.utils import argument

if TYPE_CHECKING:
    from chainer._core.settings.types import DTypeSpec, NdArray

_MODES = {
    'auto': lambda out_dim, in_dim: True,
    'embedding': lambda out_dim, in_dim: out_dim >= in_dim,
    'projection': lambda out_dim, in_dim: out_dim <= in_dim,
    'basis': lambda out_dim, in_dim: out_dim == in_dim,
}


class Orthogonal(RandomInitializer):
    """Initializes an array with a random orthogonal system.

    It treats the array as a matrix with the first axis as rows. The rows or
    columns, whichever are fewer, become orthogonal vectors of length
    ``scale``. See A. M. Saxe et al., Exact solutions to the nonlinear dynamics
    of learning in deep linear neural networks, ICLR 2014.

    Args:
        scale (float): Length of the vectors.
        dtype: Required data type of arrays (else ``AssertionError``). If ``None``, any.
        mode (str): Required shape of the matrix: ``'embedding'`` (at least as
            many rows as columns), ``'projection'`` (at most), ``'basis'``
            (square) or ``'auto'`` (any).
        rng (xp.random.RandomState): Random number generator. If ``None``, the
            global one.

    Raises:
        ValueError: The mode is unknown, the array is empty, or its shape does
            not fit the mode.

    .. admonition:: Example

        >>> W = np.empty((2, 5), np.float32)
        >>> chainer.initializers.Orthogonal(scale=2)(W)
        >>> bool(np.allclose(W @ W.T, [[4, 0], [0, 4]], atol=1e-5))
        True

    """

    def __init__(
        self, scale: float = 1.1, dtype: DTypeSpec = None, mode: str = 'auto', **kwargs: Any
    ) -> None:
        (rng,) = argument.parse_kwargs(kwargs, ('rng', None))
        if mode not in _MODES:
            raise ValueError(f'mode must be one of {sorted(_MODES)}, but {mode!r} was given')
        super().__init__(dtype, rng)
        self.scale = scale
        self.mode = mode

    def __call__(self, array: NdArray) -> None:
        self._check_dtype(array)
        shape = array.shape
        if 0 in shape:
            raise ValueError(f'Array to be initialized must be non-empty, but its shape is {shape}')
        on_gpu = backend.get_array_module(array) is cuda.cupy
        xp = cuda.cupy if on_gpu else numpy
        rng = self.rng or xp.random
        if not shape:
            array.fill(self.scale if rng.randint(2) else -self.scale)
            return
        out_dim, in_dim = shape[0], math.prod(shape[1:])
        if not _MODES[self.mode](out_dim, in_dim):
            raise ValueError(
                f'Cannot make an orthogonal {self.mode} of shape {shape}, which is a map from '
                f'{in_dim} to {out_dim} dimensions'
            )
        transpose = in_dim > out_dim
        a = xp.asarray(rng.normal(size=(out_dim, in_dim)))
        q, r = xp.linalg.qr(a.T if transpose else a)
        # Correcting the signs makes the distribution uniform.
        q *= xp.copysign(self.scale, xp.diag(r))
        value = (q.T if transpose else q).reshape(shape).astype(array.dtype)
        backend.copyto(array, value)
