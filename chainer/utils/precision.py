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
        results = fn(
            self,
            tuple(
                [
                    x.astype(numpy.float32) if x is not None and x.dtype == numpy.float16 else x
                    for x in inputs
                ]
            ),
        )
        return tuple(
            [
                y.astype(numpy.float16) if y is not None and y.dtype == numpy.float32 else y
                for y in results
            ]
        )

    return wrapper
