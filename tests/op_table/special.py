"""Special functions."""
import scipy.special

from op_table.row import FLOATS, binary, unary

ROWS = [
    unary('erfc', scipy.special.erfc),
    unary('erfcx', scipy.special.erfcx, tolerance=4),
    unary('erfinv', scipy.special.erfinv, -.9, .9, tolerance=2, dtypes=FLOATS),
    unary('erfcinv', scipy.special.erfcinv, .1, 1.9, tolerance=2, dtypes=FLOATS),
    unary('ndtr', scipy.special.ndtr),
    unary('log_ndtr', scipy.special.log_ndtr),
    unary('ndtri', scipy.special.ndtri, .1, .9, tolerance=2, dtypes=FLOATS),
    unary('lgamma', scipy.special.gammaln, .2, 4, dtypes=FLOATS),
    unary('digamma', scipy.special.digamma, .2, 4, dtypes=FLOATS, tolerance=4),
    binary('zeta', scipy.special.zeta, FLOATS, first=(2, 4), second=(.5, 3), grad_inputs=(1,), tolerance=4),
]
