"""The operators, a module for each family. Importing them fills the table of the registry."""

from . import (
    activations,
    arrays,
    control,
    convolutions,
    elementwise,
    gathering,
    generators,
    images,
    learning,
    linear,
    logic,
    normalizations,
    pooling,
    quantization,
    recurrent,
    reductions,
    sequences,
    signals,
    text,
    types,
)
