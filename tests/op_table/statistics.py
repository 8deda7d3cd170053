"""Medians and quantiles, reductions without NaN, and counts."""
import numpy as np

from chainerx import DimensionError, DtypeError
from op_table.inputs import In
from op_table.row import FLOATS, NUMBERS, Row, indices, reduction, zeros

_EMPTY = [(DimensionError, lambda f: f(zeros(0))), (DimensionError, lambda f: f(zeros(2, 0), 1))]
_X = In(2, 3, 4, distinct=True)
_METHODS = 'lower', 'higher', 'midpoint', 'nearest'


def _of_numpy(name):
    """The function of NumPy, of which results of nothing are not those of ChainerX: it has several ways."""
    return lambda *args, **kwargs: getattr(np, name)(*args, **kwargs)


def quantile(name, whole):
    reference = _of_numpy(name)
    parts = [0, 0.3 * whole, whole]
    cases = [[_X, {'q': 0.45 * whole}], [_X, {'q': parts, 'axis': 1}], [_X, {'q': parts, 'axis': (0, -1), 'keepdims': True}],
             *([_X, {'q': parts, 'axis': -1, 'method': method}] for method in _METHODS)]
    return Row(name, reference, cases, NUMBERS, 'float', tolerance=8,
               wrong=[(ValueError, lambda f: f(zeros(2), 1.1 * whole)),
                      (ValueError, lambda f: f(zeros(2), [0, -0.1])),
                      (ValueError, lambda f: f(zeros(2), float('nan'))),
                      (ValueError, lambda f: f(zeros(2), 0, method='cubic')),
                      (TypeError, lambda f: f(zeros(2), '1')),
                      (TypeError, lambda f: f(zeros(2), [[0]]))])


def at(*values, dtype='int64'):
    return In(len(values), dtype=dtype, values=values)


def _call_histogram(f, arrays, kwargs):
    return f(arrays[0], weights=arrays[1], **kwargs) if len(arrays) == 2 else f(*arrays, **kwargs)


ROWS = [
    reduction('median', _of_numpy('median'), NUMBERS, 'float', distinct=True),
    quantile('percentile', 100),
    quantile('quantile', 1),
    reduction('nanprod', np.nanprod, NUMBERS, 'sum', low=0.5, high=1.5, tolerance=10),
    reduction('nanmean', np.nanmean, NUMBERS, None, tolerance=4),
    reduction('nanvar', np.nanvar, NUMBERS, None, tolerance=10),
    reduction('nanstd', np.nanstd, FLOATS, tolerance=10),
    reduction('nanmax', np.nanmax, NUMBERS, distinct=True, wrong=_EMPTY),
    reduction('nanmin', np.nanmin, NUMBERS, distinct=True, wrong=_EMPTY),
    reduction('nanmedian', _of_numpy('nanmedian'), NUMBERS, 'float', distinct=True),
    quantile('nanpercentile', 100),
    quantile('nanquantile', 1),
    reduction('nancumsum', np.nancumsum, NUMBERS, 'sum', keepdims=False, axes=False, tolerance=8),
    reduction('nancumprod', np.nancumprod, NUMBERS, 'sum', keepdims=False, axes=False, low=0.5, high=1.5, tolerance=10),
    Row('nan_to_num', np.nan_to_num, [[In(2, 3)], [In(3), {'nan': 1.5}]], NUMBERS),
    Row('bincount', np.bincount, [[at(0, 3, 1, 3), In(4)], [at(0, 3, 1, 3, dtype='int8'), In(4), {'minlength': 6}], [at(), In(0), {'minlength': 2}]],
        wrong=[(DtypeError, lambda f: f(zeros(2))),
               (DimensionError, lambda f: f(indices([1], [2]))),
               (DimensionError, lambda f: f(indices(1, 2), zeros(3))),
               (ValueError, lambda f: f(indices(1, -1))),
               (ValueError, lambda f: f(indices(1), None, -1))]),
    Row('histogram', np.histogram,
        [[In(20, low=-2.05)], [In(4, 5), {'bins': 3, 'range': (-1, 1.5)}], [In(20), {'bins': [-1, 0.25, 1]}],
         [In(20), {'bins': 4, 'density': True}], [In(20), In(20), {'bins': 5, 'range': (-2.5, 2.5)}]], ('float32', 'float64'), None, grad=False, call=_call_histogram,
        wrong=[(ValueError, lambda f: f(zeros(2), 0)),
               (ValueError, lambda f: f(zeros(2), 2.5)),
               (ValueError, lambda f: f(zeros(2), [])),
               (ValueError, lambda f: f(zeros(2), [1, 0])),
               (ValueError, lambda f: f(zeros(2), range=(1, 0))),
               (ValueError, lambda f: f(zeros(2), range=(0, float('inf')))),
               (ValueError, lambda f: f(zeros(2), range=[1, 2, 3])),
               (ValueError, lambda f: f(zeros(2) + float('nan'))),
               (TypeError, lambda f: f(zeros(2), 'auto')),
               (DimensionError, lambda f: f(zeros(2), weights=zeros(3)))]),
]
