"""The dtype that results of operands of several dtypes have."""

import numpy as np

ALL = 'bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'float16', 'float32', 'float64'

# Rows and columns in that order, by NumPy's characters.
_TABLE = """
? b h i l B e f d
b b h i l h e f d
h h h i l h e f d
i i i i l i e f d
l l l l l l e f d
B h h i l B e f d
e e e e e e e f d
f f f f f f f f d
d d d d d d d d d
"""

_PROMOTED = dict(
    zip(
        [(a, b) for a in ALL for b in ALL],
        [np.dtype(c).name for c in _TABLE.replace('l', 'q').split()],
    )
)


def promote(*dtypes):
    """The dtype of results of arrays."""
    result = 'bool'
    for dtype in dtypes:
        result = _PROMOTED[result, np.dtype(dtype).name]
    return result


def to_float(dtype):
    """The dtype of results that are always of floating point."""
    return dtype if np.dtype(dtype).kind == 'f' else 'float32'
