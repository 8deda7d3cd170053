"""Exponentials, logarithms, powers, signs and rounding."""
import numpy as np
import scipy.special

from op_table.bench import Bench, small
from op_table.row import ALL, FLOATS, NUMBERS, binary, unary


def rounding(name, reference, **options):
    return unary(name, reference, -3, 3, dtypes=ALL, grad=False, **options)


ROWS = [
    unary('exp', np.exp, ulp=(2, -104, 89), bench=['float32', 'float64', small('xp.exp(a)')]),
    unary('exp2', np.exp2, ulp=(2, -150, 128), bench=['float32']),
    unary('expm1', np.expm1, ulp=(3, -20, 89), bench=['float32']),
    unary('log', np.log, 0.5, 3, ulp=(2, 0, 3), bench=['float32']),
    unary('log2', np.log2, 0.5, 3, tolerance=4, ulp=(3, 0, 3), bench=['float32']),
    unary('log10', np.log10, 0.5, 3, ulp=(3, 0, 3), bench=['float32']),
    unary('log1p', np.log1p, -0.5, 3, ulp=(2, -1, 3), bench=['float32']),
    unary('sqrt', np.sqrt, 0.2, 3, ulp=(0, 0, 3), bench=['float32']),
    unary('erf', scipy.special.erf, ulp=(3, -4, 4), bench=[Bench(None, 'xp.erf(a)')]),
    unary('square', np.square, result='same', bench=['float32']),
    unary('absolute', np.absolute, avoid=(0,), dtypes=ALL, result='same'),
    unary('fabs', np.fabs, avoid=(0,)),
    unary('sign', np.sign, avoid=(0,), result='same', grad=False),
    rounding('floor', np.floor, bench=['float32']),
    rounding('ceil', np.ceil),
    rounding('trunc', np.trunc),
    rounding('rint', np.rint),
    binary('copysign', np.copysign, FLOATS, first=(0.2, 2), avoid=(0,), grad_inputs=(0,)),
    unary('signbit', np.signbit, dtypes=NUMBERS, result='bool', grad=False),
    binary('nextafter', np.nextafter, ('float32', 'float64'), grad=False),
    binary('hypot', np.hypot, FLOATS, first=(0.2, 2), ulp=(1, -9, 9), bench=['float32']),
    binary('logaddexp', np.logaddexp, FLOATS, bench=['float32']),
]
