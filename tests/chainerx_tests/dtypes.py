"""The dtype that results of operands of several dtypes have."""

import numpy as np

ALL = 'bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64'.split()

# Rows and columns in that order, by NumPy's characters.
_TABLE = """
? b h i l B H I L e f d
b b h i l h i l d e f d
h h h i l h i l d e f d
i i i i l i i l d e f d
l l l l l l l l d e f d
B h h i l B H I L e f d
H i i i l H H I L e f d
I l l l l I I I L e f d
L d d d d L L L L e f d
e e e e e e e e e e f d
f f f f f f f f f f f d
d d d d d d d d d d d d
"""

_PROMOTED = dict(
    zip(
        [(a, b) for a in ALL for b in ALL],
        [np.dtype(c).name for c in _TABLE.replace('l', 'q').replace('L', 'Q').split()],
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
