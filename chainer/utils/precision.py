"""Computation of float16 functions in float32."""

import functools

import numpy


def _fp16_mixed_precision_helper(fn):
    """Decorator of a method on arrays that computes float16 arrays in float32.

    The method takes ``(self, inputs)`` and returns a tuple of arrays. If an input is float16, the
    decorator casts the outputs back to float16.
    """

    @functools.wraps(fn)
    def wrapper(self, inputs):
        if all(x is None or x.dtype != numpy.float16 for x in inputs):
            return fn(self, inputs)
        results = fn(self, _convert(inputs, numpy.float16, numpy.float32))
        return _convert(results, numpy.float32, numpy.float16)

    return wrapper


def _convert(arrays, source, target):
    return tuple([a.astype(target) if a is not None and a.dtype == source else a for a in arrays])
