"""Names that NumPy has for routines which ChainerX has under another one."""

from chainerx import _core

abs = _core.absolute
around = _core.round
max = _core.amax
min = _core.amin
mod = _core.remainder
true_divide = _core.divide
