"""The table of operations: one row for each op of ChainerX, for its tests and its benchmarks.

A row names the NumPy function that tells the right values, the shapes and ranges of the inputs, how
exact the op is, what only this op refuses, how it is timed, and what else is special. A new op needs
a row in the file of its family; ``test_registry.py`` fails without it.

The table needs NumPy, SciPy and ChainerX. Tests and benchmarks read it; it knows of neither.
"""

from op_table import (
    activation,
    arithmetic,
    attention,
    comparison,
    convolution,
    explog,
    factorization,
    indexing,
    linalg,
    loss,
    manipulation,
    normalization,
    others,
    pooling,
    reduction,
    rnn,
    special,
    statistics,
    trigonometric,
)

_FAMILIES = [
    arithmetic,
    comparison,
    explog,
    special,
    trigonometric,
    activation,
    reduction,
    statistics,
    linalg,
    factorization,
    loss,
    manipulation,
    indexing,
    normalization,
    attention,
    convolution,
    pooling,
    rnn,
]

#: Ops that the common tests check.
ROWS = [row for family in _FAMILIES for row in family.ROWS]
#: Ops that other files test.
OTHERS = others.ROWS
