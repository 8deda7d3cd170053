"""Arithmetic of convolution, its transpose and the gradient of its weight.

The three are one trilinear form of an image ``x``, a weight ``W`` and an output ``y``. One matrix
product per group contracts each of them from the other two: patches of ``x`` are columns of
a matrix, ``y`` and ``W`` are matrices in their memory layout. Batches are split into chunks so
that patches stay in the cache.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy

from chainer._core.settings.half import is_half
from chainer.backends import cuda
from chainer.utils import _patches
from chainer.utils.array import _cast

# Number of patch elements per chunk.
_HOST_CHUNK = 2**18
_GPU_CHUNK = 2**26
# Images with fewer outputs share a matrix product.
_WIDE = 256


class Plan:
    """Geometry and contractions of a convolution.

    Args:
        x_shape (tuple of int): Shape of the image, ``(n, c, *dims)``.
        w_shape (tuple of int): Shape of the weight, ``(o, c / groups, *ksize)``.
        outs (tuple of int): Spatial shape of the output.
        stride, pad, dilate (tuple of int): One per dimension.
        groups (int): Number of groups.
        on_host (bool): Whether the arrays are NumPy's.

    """

    def __init__(
        self,
        x_shape: tuple[int, ...],
        w_shape: tuple[int, ...],
        outs: tuple[int, ...],
        stride: tuple[int, ...],
        pad: tuple[int, ...],
        dilate: tuple[int, ...],
        groups: int,
        on_host: bool,
    ) -> None:
        n, c, *dims = x_shape
        o, _, *ksize = w_shape
        self.x_shape = x_shape
        self.w_shape = w_shape
        self.y_shape = (n, o, *outs)
        self.ksize = tuple(ksize)
        self.outs = outs
        self.stride = stride
        self.dilate = dilate
        self.groups = groups
        self.n_rows = w_shape[1] * math.prod(ksize)
        self.n_columns = math.prod(outs)

        self._divide(c, on_host)
        self.is_pointwise = (
            not self.merged
            and set(ksize) <= {1}
            and set(stride) <= {1}
            and not any(pad)
            and tuple(dims) == outs
        )
        after = [
            max((out - 1) * s + (k - 1) * d + 1 - dim - p, 0)
            for out, s, k, d, dim, p in zip(outs, stride, ksize, dilate, dims, pad)
        ]
        self.padded_dims = tuple([p + dim + a for p, dim, a in zip(pad, dims, after)])
        self.interior = tuple([slice(p, p + dim) for p, dim in zip(pad, dims)])

        axes = [_patches.get_taps(*row) for row in zip(ksize, stride, pad, dims, dilate, outs)]
        self.taps = [tuple(zip(*taps)) for taps in itertools.product(*axes)]

        self.transposed = self._transposed_plan(pad, groups, on_host)

    def _divide(self, c, on_host):
        """Chooses how many images go into a matrix product, and into a chunk."""
        n = self.x_shape[0]
        size = max(c * math.prod(self.ksize) * self.n_columns, 1)
        fitting = (_HOST_CHUNK if on_host else _GPU_CHUNK) // size
        self.merged = on_host and 0 < self.n_columns < _WIDE and n > 1
        if self.merged:
            fitting = max(fitting, -(-_WIDE // self.n_columns))
        self.chunk = max(1, min(n, fitting))
        width = self.n_columns * (self.chunk if self.merged else 1)
        # Rows at a distance of a power of two compete for the same cache lines.
        self.row_length = width + 16 if on_host and width % 256 == 0 else width

    def _transposed_plan(self, pad, groups, on_host):
        """Makes the plan of the transpose as a convolution, or ``None`` if that is slower.

        With unit strides, the transpose is also a convolution. It is faster unless it collects
        more channels or must flip a large weight for few columns.
        """
        (n, c, *dims), o = self.x_shape, self.w_shape[0]
        rest = tuple([(k - 1) * d - p for k, d, p in zip(self.ksize, self.dilate, pad)])
        if (
            o > min(2 * c, n * self.n_columns // 4)
            or not set(self.stride) <= {1}
            or self.is_pointwise
            or min(rest, default=0) < 0
        ):
            return None
        w_shape = c, o // groups, *self.ksize
        geometry = tuple(dims), self.stride, rest, self.dilate
        return functools.partial(get_plan, self.y_shape, w_shape, *geometry, groups, on_host)

    def _chunks(self):
        n = self.x_shape[0]
        return [slice(i, min(i + self.chunk, n)) for i in range(0, n, self.chunk)]

    def _empty_columns(self, xp, dtype):
        stack = 1 if self.merged else self.chunk
        return xp.empty((stack, self.groups, self.n_rows, self.row_length), dtype)

    def _trim(self, columns, r):
        """Matrices of ``r`` images."""
        if self.merged:
            return columns[..., : r * self.n_columns]
        return columns[:r, ..., : self.n_columns]

    def _as_patches(self, columns, r):
        """View of matrices as (stack, c, *ksize, merged, *outs)."""
        stack, merged = (1, r) if self.merged else (r, 1)
        return columns.reshape(stack, self.x_shape[1], *self.ksize, merged, *self.outs)

    def _collect(self, x, dtype):
        """Yields chunks and the matrices of their patches."""
        xp = cuda.get_array_module(x)
        if self.is_pointwise:
            shape = len(x), self.groups, self.n_rows, self.n_columns
            yield slice(None), x.astype(dtype, copy=False).reshape(shape)
            return
        c, *dims = self.x_shape[1:]
        columns = self._empty_columns(xp, dtype)
        needs_pad = self.padded_dims != tuple(dims)
        if needs_pad:
            source = xp.zeros((self.chunk, c, *self.padded_dims), dtype)
        else:
            x = xp.ascontiguousarray(x)
        for chunk in self._chunks():
            r = chunk.stop - chunk.start
            if needs_pad:
                source[(slice(r), slice(None), *self.interior)] = x[chunk]
            else:
                source = x[chunk]
            matrices = self._trim(columns, r)
            patches = self._as_patches(matrices, r)
            strides = self._patch_strides(*source.strides)
            patches[...] = _patches.as_strided(source, patches.shape, strides)
            yield chunk, matrices

    def _patch_strides(self, s_n, s_c, *steps):
        window = [s * d for s, d in zip(steps, self.dilate)]
        return (s_n, s_c, *window, s_n, *[s * t for s, t in zip(steps, self.stride)])

    def _output_matrices(self, y, chunk):
        y = y[chunk]
        r, o = y.shape[:2]
        if self.merged:
            y = y.reshape(r, o, -1).transpose(1, 0, 2)
            return y.reshape(1, self.groups, o // self.groups, r * self.n_columns)
        return y.reshape(r, self.groups, o // self.groups, self.n_columns)

    def _weight_matrices(self, W, dtype):
        o = self.w_shape[0]
        return W.astype(dtype, copy=False).reshape(self.groups, o // self.groups, self.n_rows)

    def convolve(self, x: Any, W: Any, b: Any = None) -> Any:
        """``y`` from ``x`` and ``W``, in the dtype of ``x``."""
        xp = cuda.get_array_module(x)
        dtype, o = _compute_dtype(x, W), self.w_shape[0]
        W = self._weight_matrices(W, dtype)
        y = xp.empty(self.y_shape, dtype)
        if b is not None:
            b = b.astype(dtype, copy=False).reshape(o, 1)
        for chunk, columns in self._collect(x, dtype):
            part = y[chunk].reshape(-1, o, self.n_columns)
            if self.merged:
                product = xp.matmul(W, columns).reshape(o, len(part), self.n_columns)
                part[...] = product.transpose(1, 0, 2)
            else:
                shape = len(part), self.groups, o // self.groups, self.n_columns
                xp.matmul(W, columns, out=part.reshape(shape))
            if b is not None:
                part += b
        return _cast(y, x.dtype)

    def _flip(self, W):
        """Filters of the transpose."""
        flipped = W.reshape(self.groups, self.w_shape[0] // self.groups, *W.shape[1:])
        flipped = flipped.swapaxes(1, 2)[(..., *[slice(None, None, -1)] * len(self.ksize))]
        # BLAS does not support rows with negative strides.
        return cuda.get_array_module(W).ascontiguousarray(flipped)

    def transpose(self, y: Any, W: Any) -> Any:
        """``x`` from ``y`` and ``W``, in the dtype of ``y``."""
        if self.transposed is not None:
            plan = self.transposed()
            return plan.convolve(y, self._flip(W).reshape(plan.w_shape))
        xp = cuda.get_array_module(y)
        dtype = _compute_dtype(y, W)
        W = self._weight_matrices(W, dtype).swapaxes(1, 2)
        cast = y.astype(dtype, copy=False)
        if self.is_pointwise:
            x = xp.matmul(W, self._output_matrices(cast, slice(None)))
            return _cast(x.reshape(self.x_shape), y.dtype)
        x = xp.zeros(self.x_shape, dtype)
        columns = self._empty_columns(xp, dtype)
        merged_axis = 2 + len(self.ksize)
        # One output channel per group needs no sum, and BLAS would be slow.
        product = xp.multiply if W.shape[2] == 1 else xp.matmul
        for chunk in self._chunks():
            r = chunk.stop - chunk.start
            matrices = self._trim(columns, r)
            product(W, self._output_matrices(cast, chunk), out=matrices)
            patches = xp.moveaxis(self._as_patches(matrices, r), merged_axis, 1)
            patches = patches.reshape(r, *patches.shape[2:])
            part = x[chunk]
            for index, outs, dims in self.taps:
                target = part[(..., *dims)]
                target += patches[(slice(None), slice(None), *index, *outs)]
        return _cast(x, y.dtype)

    def weight(self, x: Any, y: Any, w_dtype: Any) -> Any:
        """``W`` from ``x`` and ``y``."""
        xp = cuda.get_array_module(x)
        dtype = _compute_dtype(x, y)
        cast = y.astype(dtype, copy=False)
        o = self.w_shape[0]
        # Compute the transpose of W: products with many rows and few columns are faster.
        W = xp.zeros((self.groups, self.n_rows, o // self.groups), dtype)
        for chunk, columns in self._collect(x, dtype):
            product = xp.matmul(columns, self._output_matrices(cast, chunk).swapaxes(2, 3))
            W += product[0] if len(product) == 1 else product.sum(axis=0)
        W = xp.ascontiguousarray(W.swapaxes(1, 2))
        return _cast(W.reshape(self.w_shape), w_dtype)


get_plan = functools.lru_cache(maxsize=512)(Plan)


def _compute_dtype(x, W):
    """Common dtype, with float32 instead of float16, which has no fast products."""
    dtype = x.dtype if x.dtype == W.dtype else numpy.result_type(x.dtype, W.dtype)
    return numpy.dtype(numpy.float32) if is_half(dtype) else dtype
