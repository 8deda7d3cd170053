"""Convolution, its transpose and the gradient of its weight, in any number of dimensions.

The three are one trilinear form of an image ``x``, a weight ``W`` and an output ``y``, each
contracted from the other two by one matrix product per group: patches of ``x`` are columns of
a matrix, ``y`` and ``W`` are matrices as they lie in memory. Batches are cut into chunks whose
patches stay in the cache.
"""
from __future__ import annotations

import functools
import itertools
import math

import numpy

import chainer
import chainerx
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.utils import conv, conv_nd, type_check

# Elements of the patches made at once.
_HOST_CHUNK = 2 ** 18
_GPU_CHUNK = 2 ** 26
# Images with fewer outputs than this share a matrix product.
_WIDE = 256


class _Plan:
    """Geometry of a convolution, and the contractions it serves.

    Args:
        x_shape (tuple of int): Shape of the image, ``(n, c, *dims)``.
        w_shape (tuple of int): Shape of the weight, ``(o, c / groups, *ksize)``.
        outs (tuple of int): Spatial shape of the output.
        stride, pad, dilate (tuple of int): One for each dimension.
        groups (int): Number of groups.
        on_host (bool): Whether the arrays are NumPy's.

    """

    def __init__(self, x_shape, w_shape, outs, stride, pad, dilate, groups, on_host):
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
        self.n_columns = n_columns = math.prod(outs)

        # Images per matrix product, and per chunk.
        size = max(c * math.prod(ksize) * n_columns, 1)
        fitting = (_HOST_CHUNK if on_host else _GPU_CHUNK) // size
        self.merged = on_host and 0 < n_columns < _WIDE and n > 1
        if self.merged:
            fitting = max(fitting, -(-_WIDE // n_columns))
        self.chunk = max(1, min(n, fitting))
        width = n_columns * (self.chunk if self.merged else 1)
        # Rows at a distance of a power of two compete for the same lines of the cache.
        self.row_length = width + 16 if on_host and width % 256 == 0 else width

        self.is_pointwise = (
            not self.merged and set(ksize) <= {1} and set(stride) <= {1} and not any(pad)
            and tuple(dims) == outs)
        after = [max((out - 1) * s + (k - 1) * d + 1 - dim - p, 0)
                 for out, s, k, d, dim, p in zip(outs, stride, ksize, dilate, dims, pad)]
        self.padded_dims = tuple([p + dim + a for p, dim, a in zip(pad, dims, after)])
        self.interior = tuple([slice(p, p + dim) for p, dim in zip(pad, dims)])

        axes = [conv._get_taps(*row) for row in zip(ksize, stride, pad, dims, dilate, outs)]
        self.taps = [tuple(zip(*taps)) for taps in itertools.product(*axes)]

        # The transpose with unit strides is a convolution itself, and a faster one unless it
        # has many more channels to collect.
        self.transposed = None
        rest = tuple([(k - 1) * d - p for k, d, p in zip(ksize, dilate, pad)])
        if set(stride) <= {1} and o <= c and not self.is_pointwise and min(rest, default=0) >= 0:
            self.transposed = functools.partial(
                _get_plan, self.y_shape, (c, o // groups, *ksize), tuple(dims), stride, rest,
                dilate, groups, on_host)

    # A chunk of `r` images gives a stack of matrices, (r, groups, rows, n_columns), or if the
    # images are merged (1, groups, rows, r * n_columns).

    def _chunks(self):
        n = self.x_shape[0]
        return [slice(i, min(i + self.chunk, n)) for i in range(0, n, self.chunk)]

    def _empty_columns(self, xp, dtype):
        stack = 1 if self.merged else self.chunk
        return xp.empty((stack, self.groups, self.n_rows, self.row_length), dtype)

    def _trim(self, columns, r):
        """Matrices of ``r`` images."""
        if self.merged:
            return columns[..., :r * self.n_columns]
        return columns[:r, ..., :self.n_columns]

    def _as_patches(self, columns, r):
        """View of matrices as (stack, c, *ksize, merged, *outs)."""
        stack, merged = (1, r) if self.merged else (r, 1)
        return columns.reshape(stack, self.x_shape[1], *self.ksize, merged, *self.outs)

    def _collect(self, x, dtype):
        """Yields chunks and the matrices of their patches."""
        xp = cuda.get_array_module(x)
        if self.is_pointwise:
            yield slice(None), x.astype(dtype, copy=False).reshape(
                len(x), self.groups, self.n_rows, self.n_columns)
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
            s_n, s_c, *steps = source.strides
            patches[...] = conv._as_strided(source, patches.shape, (
                s_n, s_c, *[s * d for s, d in zip(steps, self.dilate)],
                s_n, *[s * t for s, t in zip(steps, self.stride)]))
            yield chunk, matrices

    def _output_matrices(self, y, chunk):
        y = y[chunk]
        r, o = y.shape[:2]
        if self.merged:
            y = y.reshape(r, o, -1).transpose(1, 0, 2)
            return y.reshape(1, self.groups, o // self.groups, r * self.n_columns)
        return y.reshape(r, self.groups, o // self.groups, self.n_columns)

    def _weight_matrices(self, W, dtype):
        o = self.w_shape[0]
        return W.astype(dtype, copy=False).reshape(
            self.groups, o // self.groups, self.n_rows)

    def convolve(self, x, W, b=None):
        """``y`` from ``x`` and ``W``, in the dtype of ``x``."""
        xp = cuda.get_array_module(x)
        dtype = _compute_dtype(x, W)
        W = self._weight_matrices(W, dtype)
        y = xp.empty(self.y_shape, dtype)
        o = self.w_shape[0]
        if b is not None:
            b = b.astype(dtype, copy=False).reshape(o, 1)
        for chunk, columns in self._collect(x, dtype):
            part = y[chunk].reshape(-1, o, self.n_columns)
            if self.merged:
                product = xp.matmul(W, columns).reshape(o, len(part), self.n_columns)
                part[...] = product.transpose(1, 0, 2)
            else:
                xp.matmul(W, columns, out=part.reshape(
                    len(part), self.groups, o // self.groups, self.n_columns))
            if b is not None:
                part += b
        return y.astype(x.dtype, copy=False)

    def transpose(self, y, W):
        """``x`` from ``y`` and ``W``, in the dtype of ``y``."""
        if self.transposed is not None:
            o, c_per_group, *ksize = self.w_shape
            flipped = W.reshape(self.groups, o // self.groups, *W.shape[1:])
            flipped = flipped.swapaxes(1, 2)[(..., *[slice(None, None, -1)] * len(ksize))]
            plan = self.transposed()
            return plan.convolve(y, flipped.reshape(plan.w_shape))
        xp = cuda.get_array_module(y)
        dtype = _compute_dtype(y, W)
        W = self._weight_matrices(W, dtype).swapaxes(1, 2)
        cast = y.astype(dtype, copy=False)
        if self.is_pointwise:
            x = xp.matmul(W, self._output_matrices(cast, slice(None)))
            return x.reshape(self.x_shape).astype(y.dtype, copy=False)
        x = xp.zeros(self.x_shape, dtype)
        columns = self._empty_columns(xp, dtype)
        merged_axis = 2 + len(self.ksize)
        for chunk in self._chunks():
            r = chunk.stop - chunk.start
            matrices = self._trim(columns, r)
            xp.matmul(W, self._output_matrices(cast, chunk), out=matrices)
            patches = xp.moveaxis(self._as_patches(matrices, r), merged_axis, 1)
            patches = patches.reshape(r, *patches.shape[2:])
            part = x[chunk]
            for index, outs, dims in self.taps:
                target = part[(..., *dims)]
                target += patches[(slice(None), slice(None), *index, *outs)]
        return x.astype(y.dtype, copy=False)

    def weight(self, x, y, w_dtype):
        """``W`` from ``x`` and ``y``."""
        xp = cuda.get_array_module(x)
        dtype = _compute_dtype(x, y)
        cast = y.astype(dtype, copy=False)
        o = self.w_shape[0]
        # The transpose of W: products with many rows and few columns are faster.
        W = xp.zeros((self.groups, self.n_rows, o // self.groups), dtype)
        for chunk, columns in self._collect(x, dtype):
            product = xp.matmul(columns, self._output_matrices(cast, chunk).swapaxes(2, 3))
            W += product[0] if len(product) == 1 else product.sum(axis=0)
        W = xp.ascontiguousarray(W.swapaxes(1, 2))
        return W.reshape(self.w_shape).astype(w_dtype, copy=False)


_get_plan = functools.lru_cache(maxsize=512)(_Plan)


def _compute_dtype(*arrays):
    """Common dtype of arrays, where float32 stands for float16: that has no fast products."""
    dtype = numpy.result_type(*[a.dtype for a in arrays])
    return numpy.dtype(numpy.float32) if dtype == numpy.float16 else dtype


def _expect_bias(in_types, n_channels):
    type_check.expect(len(in_types) == 3) if type_check.in_light_mode() else None
    x_type, _, b_type = in_types
    type_check._argname((b_type,), ('b',))
    type_check.expect(
        b_type.dtype == x_type.dtype, b_type.ndim == 1, b_type.shape[0] == n_channels)


class _Base(FunctionNode):
    """What convolution and deconvolution share.

    Attributes:
        ndim (int): Number of spatial dimensions.
        stride, pad, dilate (tuple of int): One for each dimension.
        groups (int): Number of groups.

    """

    #: Class of the transposed function.
    transposed_class = None

    def _set_geometry(self, ndim, stride, pad, dilate, groups):
        self.ndim = ndim
        self.stride = conv_nd.as_tuple(stride, ndim)
        self.pad = conv_nd.as_tuple(pad, ndim)
        self.dilate = conv_nd.as_tuple(dilate, ndim)
        self.groups = groups

    def _transposed(self, size):
        func = self.transposed_class.__new__(self.transposed_class)
        func._set_geometry(self.ndim, self.stride, self.pad, self.dilate, self.groups)
        func.outs = size
        return func

    def _plan_of(self, x_shape, w_shape, outs, array):
        return _get_plan(x_shape, w_shape, outs, self.stride, self.pad, self.dilate,
                         self.groups, isinstance(array, numpy.ndarray))

    def _check_outs(self, outs):
        if any([out <= 0 for out in outs]):
            raise AssertionError(f'Output size should be positive, but is {outs}')

    def _chainerx_supports(self, inputs):
        return (self.groups == 1 and set(self.dilate) <= {1}
                and len({x.dtype for x in inputs}) == 1)


class Convolution(_Base):
    """Base of convolution functions.

    Attributes:
        cover_all (bool): Whether all pixels of the input belong to some patch.
        outs (tuple of int or None): Spatial shape of the output, if it is a given one.

    """

    cover_all = False
    outs = None

    def check_type_forward(self, in_types):
        n_in = type_check.eval(in_types.size())
        type_check.expect(2 <= n_in, n_in <= 3)
        x_type, w_type = in_types[:2]
        type_check._argname((x_type, w_type), ('x', 'W'))
        type_check.expect(
            x_type.dtype.kind == 'f', w_type.dtype.kind == 'f', x_type.ndim == self.ndim + 2,
            w_type.ndim == self.ndim + 2, x_type.shape[1] == w_type.shape[1] * self.groups)
        if n_in == 3:
            _expect_bias(in_types, w_type.shape[0])

    def _plan(self, x, W):
        outs = self.outs
        if outs is None:
            outs = tuple([conv.get_conv_outsize(size, k, s, p, self.cover_all, d)
                          for size, k, s, p, d in zip(
                              x.shape[2:], W.shape[2:], self.stride, self.pad, self.dilate)])
        self._check_outs(outs)
        return self._plan_of(x.shape, W.shape, outs, x)

    def forward(self, inputs):
        x, W = inputs[:2]
        _check_groups(self.groups, x.shape[1], W.shape[0])
        self.retain_inputs((0, 1))
        return self._plan(x, W).convolve(*inputs),

    def forward_chainerx(self, inputs):
        if not self._chainerx_supports(inputs) or self.outs is not None:
            return chainer.Fallback
        return chainerx.conv(
            *inputs, stride=self.stride, pad=self.pad, cover_all=self.cover_all),

    def backward(self, target_input_indexes, grad_outputs):
        x, W = self.get_retained_inputs()
        gy, = grad_outputs
        gxs = []
        for i in target_input_indexes:
            if i == 0:
                gxs.append(self._transposed(x.shape[2:]).apply((gy, W))[0])
            elif i == 1:
                gxs.append(_GradW(self, W, gy.shape[2:]).apply((x, gy))[0])
            else:
                gxs.append(chainer.functions.sum(gy, axis=(0, *range(2, gy.ndim))))
        return tuple(gxs)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        (x, W), _ = self._retained_arrays()
        gy, = grad_outputs
        plan = self._plan(x, W)
        return tuple([
            plan.transpose(gy, W) if i == 0 else plan.weight(x, gy, W.dtype) if i == 1
            else _sum_channels(gy)
            for i in target_input_indexes])


class Deconvolution(_Base):
    """Base of deconvolution functions.

    Attributes:
        outs (tuple of int or None): Spatial shape of the output, if it is not the usual one.

    """

    outs = None

    def check_type_forward(self, in_types):
        n_in = type_check.eval(in_types.size())
        type_check.expect(2 <= n_in, n_in <= 3)
        x_type, w_type = in_types[:2]
        type_check._argname((x_type, w_type), ('x', 'W'))
        type_check.expect(
            x_type.dtype.kind == 'f', w_type.dtype.kind == 'f', x_type.ndim == self.ndim + 2,
            w_type.ndim == self.ndim + 2, x_type.shape[1] == w_type.shape[0])
        for i, out in enumerate(self.outs or ()):
            geometry = out, w_type.shape[i + 2], self.stride[i], self.pad[i]
            least = conv.get_conv_outsize(*geometry, d=self.dilate[i])
            most = conv.get_conv_outsize(*geometry, cover_all=True, d=self.dilate[i])
            type_check.expect(least <= x_type.shape[i + 2], x_type.shape[i + 2] <= most)
        if n_in == 3:
            _expect_bias(in_types, w_type.shape[1] * self.groups)

    def _plan(self, x, W):
        if self.outs is None:
            self.outs = tuple([conv.get_deconv_outsize(size, k, s, p, d=d)
                               for size, k, s, p, d in zip(
                                   x.shape[2:], W.shape[2:], self.stride, self.pad,
                                   self.dilate)])
        self._check_outs(self.outs)
        return self._plan_of((x.shape[0], W.shape[1] * self.groups, *self.outs), W.shape,
                             x.shape[2:], x)

    def forward(self, inputs):
        x, W = inputs[:2]
        _check_groups(self.groups, x.shape[1], W.shape[1] * self.groups)
        self.retain_inputs((0, 1))
        y = self._plan(x, W).transpose(x, W)
        if len(inputs) == 3:
            y += inputs[2].reshape(-1, *[1] * self.ndim)
        return y,

    def forward_chainerx(self, inputs):
        if not self._chainerx_supports(inputs):
            return chainer.Fallback
        return chainerx.conv_transpose(
            *inputs, stride=self.stride, pad=self.pad, outsize=self.outs),

    def backward(self, target_input_indexes, grad_outputs):
        x, W = self.get_retained_inputs()
        gy, = grad_outputs
        gxs = []
        for i in target_input_indexes:
            if i == 0:
                gxs.append(self._transposed(x.shape[2:]).apply((gy, W))[0])
            elif i == 1:
                gxs.append(_GradW(self, W, x.shape[2:]).apply((gy, x))[0])
            else:
                gxs.append(chainer.functions.sum(gy, axis=(0, *range(2, gy.ndim))))
        return tuple(gxs)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        (x, W), _ = self._retained_arrays()
        gy, = grad_outputs
        plan = self._plan(x, W)
        return tuple([
            plan.convolve(gy, W) if i == 0 else plan.weight(gy, x, W.dtype) if i == 1
            else _sum_channels(gy)
            for i in target_input_indexes])


class _GradW(FunctionNode):
    """Gradient of the weight, from the image and the gradient of the output of a convolution.

    Args:
        func: Convolution or deconvolution function.
        W: Weight.
        outs (tuple of int): Spatial shape of the output of the convolution.

    """

    def __init__(self, func, W, outs):
        self._func = func
        self._w_shape = W.shape
        self._w_dtype = W.dtype
        self._outs = outs

    def forward(self, inputs):
        x, y = inputs
        self.retain_inputs((0, 1))
        plan = self._func._plan_of(x.shape, self._w_shape, self._outs, x)
        return plan.weight(x, y, self._w_dtype),

    def backward(self, target_input_indexes, grad_outputs):
        x, y = self.get_retained_inputs()
        W, = grad_outputs
        func = self._func
        is_convolution = isinstance(func, Convolution)
        convolution = func._transposed(self._outs) if not is_convolution else (
            func._transposed(None)._transposed(self._outs))
        transpose = convolution._transposed(x.shape[2:])
        return tuple([
            transpose.apply((y, W))[0] if i == 0 else convolution.apply((x, W))[0]
            for i in target_input_indexes])


def _sum_channels(gy):
    """Sum over all axes but the second."""
    n, c = gy.shape[:2]
    return gy.reshape(n, c, math.prod(gy.shape[2:])).sum(axis=2).sum(axis=0)


def _check_groups(groups, n_in, n_out):
    for n, what in ((n_in, 'input'), (n_out, 'output')):
        if n % groups:
            raise TypeError('The number of groups must be a divisor of that of '
                            f'{what} channels: {groups} groups, {n} channels')


class TwoDimensional:
    """Mix-in: attributes by axis of a function of images."""

    kh = property(lambda self: self.inputs[1].shape[2])
    kw = property(lambda self: self.inputs[1].shape[3])
    sy = property(lambda self: self.stride[0])
    sx = property(lambda self: self.stride[1])
    ph = property(lambda self: self.pad[0])
    pw = property(lambda self: self.pad[1])
    dy = property(lambda self: self.dilate[0])
    dx = property(lambda self: self.dilate[1])

    def _check_outs(self, outs):
        for out, axis in zip(outs, ('Height', 'Width')):
            if out <= 0:
                raise RuntimeError(f'{axis} in the output should be positive, but is {out}')
