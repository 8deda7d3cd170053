"""Normalization over batches and over given axes."""
import numpy as np

from chainerx import DimensionError
from op_table.bench import Bench, with_gradient
from op_table.inputs import In
from op_table.row import Row, zeros
from op_table.windows import each


def _scale(x, gamma, beta, mean, var, eps, axis):
    axis = tuple(i for i in range(x.ndim) if i != 1) if axis is None else each(axis, 1)
    shape = [1 if i in axis else size for i, size in enumerate(x.shape)]
    if mean is None:
        mean, var = x.mean(axis), x.var(axis)
    gamma, beta, mean, var = [a.reshape(shape) for a in (gamma, beta, mean, var)]
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


def _batch_norm(x, gamma, beta, running_mean, running_var, eps=2e-5, axis=None):
    return _scale(x, gamma, beta, None, None, eps, axis)


def _fixed_batch_norm(x, gamma, beta, mean, var, eps=2e-5, axis=None):
    return _scale(x, gamma, beta, mean, var, eps, axis)


def _without_statistics(f, arrays, kwargs):
    return f(*arrays, None, None, **kwargs)


def _norm_cases(statistics):
    """Shapes of x and of its statistics, by axes."""
    for shape, axis in (((3, 2, 4), None), ((4, 2, 3), (0,)), ((3, 2, 3), (0, 1)), ((2, 4, 3), 1)):
        axes = tuple(i for i in range(3) if i != 1) if axis is None else each(axis, 1)
        rest = [size for i, size in enumerate(shape) if i not in axes]
        moments = [In(*rest), In(*rest, low=1, high=2)] if statistics else []
        yield [In(*shape), In(*rest), In(*rest), *moments, {'axis': axis}]
    yield [In(3, 2), In(2), In(2), *[In(2, low=0.5) for _ in range(2 * statistics)], {'eps': 1e-2}]


def _normalize(x, axis, eps):
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps)


def _group_norm(x, groups, gamma, beta, eps=1e-5):
    y = _normalize(x.reshape(len(x), groups, -1), -1, eps).reshape(x.shape)
    shape = (-1,) + (1,) * (x.ndim - 2)
    return y * gamma.reshape(shape) + beta.reshape(shape)


_CHANNELS = {'x': (16, 64, 32, 32), 'gamma': In(64, low=0.5, high=1.5), 'beta': (64,), 'mean': (64,), 'var': In(64, low=0.5, high=1.5)}

ROWS = [
    Row('batch_norm', _batch_norm, list(_norm_cases(False)), tolerance=40, call=_without_statistics,
        wrong=[(DimensionError, lambda f: f(zeros(2, 3), zeros(2), zeros(3), None, None)),
               (DimensionError, lambda f: f(zeros(2, 3), zeros(3), zeros(3), zeros(3), zeros(2))),
               (DimensionError, lambda f: f(zeros(2, 3), zeros(3), zeros(3), None, None, axis=5)),
               (TypeError, lambda f: f(zeros(2, 3), zeros(3), zeros(3), np.zeros(3), np.zeros(3)))],
        bench=with_gradient('F.batch_norm(x, mean, var, gamma, beta, True, 0.1, 2e-5)', 'xp.batch_norm(x, gamma, beta, mean, var)', (16, 64, 32, 32), **_CHANNELS)),
    Row('fixed_batch_norm', _fixed_batch_norm, list(_norm_cases(True)), tolerance=20,
        wrong=[(DimensionError, lambda f: f(zeros(2, 3), zeros(2), zeros(3), zeros(3), zeros(3))),
               (DimensionError, lambda f: f(zeros(2, 3), zeros(3), zeros(3), zeros(3), zeros(2)))],
        bench=[Bench(None, 'F.batch_norm(x, mean, var, gamma, beta, False, 0.1, 2e-5)', 'xp.fixed_batch_norm(x, gamma, beta, mean, var)', **_CHANNELS)]),
    Row('layer_norm', lambda x, gamma, beta, eps=1e-5: _normalize(x, -1, eps) * gamma + beta, [[In(3, 4), In(4), In(4)], [In(3, 4), In(4), In(4), {'eps': 1e-2}], [In(0, 4), In(4), In(4)]], tolerance=20,
        wrong=[(DimensionError, lambda f: f(zeros(2, 3), zeros(2), zeros(3))), (DimensionError, lambda f: f(zeros(2, 3), zeros(3), zeros(2)))],
        bench=with_gradient('F.layer_norm(x, (1000,), gamma, beta)', 'xp.layer_norm(x, gamma, beta)', (1000, 1000), x=(1000, 1000), gamma=In(1000, low=0.5, high=1.5), beta=(1000,))),
    Row('group_norm', _group_norm, [[In(2, 4, 3), In(4), In(4), {'groups': 2}]], tolerance=20, call=lambda f, a, kw: f(a[0], kw['groups'], a[1], a[2]),
        wrong=[(DimensionError, lambda f: f(zeros(2, 3), 2, zeros(3), zeros(3))),
               (DimensionError, lambda f: f(zeros(2, 4), 0, zeros(4), zeros(4))),
               (DimensionError, lambda f: f(zeros(2, 4), 2, zeros(3), zeros(4)))]),
]
