"""Making of scales and shifts of normalization links."""

import copy

from chainer import initializers, variable


def make_parameter(initializer, default, shape=None, dtype=None):
    """Makes a scale or shift parameter of a given data type."""
    initializer = initializers._get_initializer(default if initializer is None else initializer)
    if dtype is not None:
        initializer = copy.copy(initializer)  # it may be the user's
        initializer.dtype = dtype
    return variable.Parameter(initializer, shape)
