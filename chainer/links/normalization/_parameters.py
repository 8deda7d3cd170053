"""Scale and shift parameters of normalization links."""

import copy

from chainer import initializers, variable


def make_parameter(initializer, default, shape=None, dtype=None):
    """Makes a scale or shift parameter with a given data type."""
    initializer = initializers.get_initializer(default if initializer is None else initializer)
    if dtype is not None:
        initializer = copy.copy(initializer)  # the initializer may belong to the user
        initializer.dtype = dtype
    return variable.Parameter(initializer, shape)
