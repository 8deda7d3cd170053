"""Names of NumPy and the array API standard for routines which ChainerX has under another one."""

from chainerx import _core

abs = _core.absolute
around = _core.round
max = _core.amax
min = _core.amin
mod = _core.remainder
true_divide = _core.divide

acos = _core.arccos
acosh = _core.arccosh
asin = _core.arcsin
asinh = _core.arcsinh
atan = _core.arctan
atan2 = _core.arctan2
atanh = _core.arctanh
bitwise_invert = _core.invert
bitwise_left_shift = _core.left_shift
bitwise_right_shift = _core.right_shift
concat = _core.concatenate
permute_dims = _core.transpose
pow = _core.power
