"""Computation of functions of half precision in float32."""

import functools

import numpy

from chainer._core.settings.half import is_half


def _fp16_mixed_precision_helper(fn):
    """Decorator of a method on arrays that computes arrays of half precision in float32.

    The method takes ``(self, inputs)`` and returns a tuple of arrays. If an input has half
    precision, the decorator casts the outputs back.
    """

    @functools.wraps(fn)
    def wrapper(self, inputs):
        for x in inputs:
            if x is not None and is_half(x.dtype):
                results = fn(self, _convert(inputs, x.dtype, numpy.float32))
                return _convert(results, numpy.float32, x.dtype)
        return fn(self, inputs)

    return wrapper


def _convert(arrays, source, target):
    return tuple([a.astype(target) if a is not None and a.dtype == source else a for a in arrays])
