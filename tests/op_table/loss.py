"""Losses and accuracy."""
import numpy as np
import scipy.special

from chainerx import DimensionError, DtypeError
from op_table.inputs import In
from op_table.row import FLOATS, Row, binary, indices, zeros


def _sigmoid_cross_entropy(x, t):
    return np.where(t != -1, -(x * (t - (x >= 0)) - np.log1p(np.exp(-abs(x)))), 0)


def _softmax_cross_entropy(x, t, class_weight=None, ignore_label=-1, reduce='no', normalize=True):
    ignored = t == ignore_label
    labels = np.where(ignored, 0, t).astype('l')
    loss = -np.take_along_axis(scipy.special.log_softmax(x, 1), labels[:, None], 1)[:, 0]
    if class_weight is not None:
        loss = loss * class_weight[labels]
    loss = np.where(ignored, 0, loss)
    count = max((~ignored).sum(), 1) if normalize else len(x)
    return {'no': loss, 'sum': loss.sum(), 'mean': loss.sum() / count}[reduce]


def _call_softmax_cross_entropy(f, arrays, kw):
    x, t, *weight = arrays
    return f(x, t, class_weight=weight[0] if weight else None, **kw)


def _hinge(x, t, norm=1.0):
    sign = np.ones_like(x)
    sign[np.arange(len(t)), t] = -1
    return np.maximum(0, 1 + sign * x) ** norm


def _huber(a, b, delta):
    d = abs(a - b)
    return np.where(d < delta, 0.5 * d * d, delta * (d - 0.5 * delta))


def _accuracy(y, t, ignore_label=None):
    hit = (y.argmax(1) == t)
    if ignore_label is not None:
        hit = hit[t != ignore_label]
    return np.asarray(hit.mean())


def labels(values, dtype='int64'):
    return In(*np.shape(values), dtype=dtype, values=values)


ROWS = [
    binary('absolute_error', lambda a, b: abs(a - b), FLOATS),
    binary('squared_error', lambda a, b: (a - b) ** 2, FLOATS, tolerance=4),
    binary('gaussian_kl_divergence', lambda m, v: 0.5 * (m * m + np.exp(v) - v - 1), FLOATS, tolerance=8),
    Row('huber_loss', _huber, [[In(2, 3), In(2, 3), {'delta': 0.7}]], tolerance=4, wrong=[(DimensionError, lambda f: f(zeros(2), zeros(3), 1.0))]),
    Row('sigmoid_cross_entropy', _sigmoid_cross_entropy, [[In(2, 3), labels([[0, 1, -1], [1, 0, 1]], 'int32')]], tolerance=8,
        wrong=[(DtypeError, lambda f: f(zeros(2), zeros(2))),
               (DimensionError, lambda f: f(zeros(2, 3), indices(1, 0)))]),
    Row('softmax_cross_entropy', _softmax_cross_entropy,
        [[In(3, 4), labels([0, 3, 2])],
         [In(2, 3), labels([2, 0], 'int32')],
         [In(2, 3, 2), labels([[2, -1], [-1, 0]], 'int32')],
         [In(2, 3, 2), labels([[2, 1], [1, 0]], 'int32'), In(3, low=0.5), {'ignore_label': 1, 'reduce': 'mean'}],
         [In(4, 3), labels([9, 1, 2, 9], 'int8'), In(3, low=0.5), {'ignore_label': 9, 'reduce': 'mean', 'normalize': False}],
         [In(2, 3), labels([2, 0], 'uint8'), {'reduce': 'sum'}],
         [In(2, 3), labels([-1, -1]), {'reduce': 'mean'}]],
        tolerance=8, call=_call_softmax_cross_entropy, grad_inputs=(0,),
        wrong=[(DtypeError, lambda f: f(zeros(2, 3), zeros(2))),
               (IndexError, lambda f: f(zeros(2, 3), indices(0, 3))),
               (DimensionError, lambda f: f(zeros(2, 3), indices(0, 1, 2)))]),
    Row('hinge', _hinge, [[In(2, 3), labels([2, 0])], [In(2, 3), labels([-1, 0], 'int8'), {'norm': 2.0}]], tolerance=8,
        wrong=[(DtypeError, lambda f: f(zeros(2, 3), zeros(2))),
               (DimensionError, lambda f: f(zeros(2, 3), indices(0, 1, 2))),
               (NotImplementedError, lambda f: f(zeros(2, 3), indices(0, 1), 3.0)),
               (IndexError, lambda f: f(zeros(2, 3), indices(0, 3))),
               (IndexError, lambda f: f(zeros(2, 3), indices(-4, 0)))]),
    Row('accuracy', _accuracy, [[In(4, 3), labels([2, 0, 1, 1])], [In(4, 3), labels([2, 0, 1, 1]), {'ignore_label': 1}]], result=None, grad=False,
        wrong=[(DtypeError, lambda f: f(zeros(2, 3), zeros(2))),
               (DimensionError, lambda f: f(zeros(2, 3), indices(0, 1, 2)))]),
]
