"""The table of operations: one row for each op of ChainerX, from which test_ops.py makes its tests.

A row names the NumPy function that tells the right values, the shapes and ranges of the inputs, and
what else is special. A new op needs a row here; test_registry.py fails without it.
"""
import copy
import math

import numpy as np
import scipy.special

FLOATS = 'float16', 'float32', 'float64'
INTS = 'int8', 'int16', 'int32', 'int64', 'uint8'
NUMBERS = INTS + FLOATS
ALL = ('bool',) + NUMBERS


class In:
    """An input array: its shape, and the range its elements are drawn from.

    ``dtype`` fixes the dtype of inputs that do not take part in the choice of dtypes, such as
    indices; ``values`` are the elements themselves. ``distinct`` makes all elements differ.
    Floating point elements keep away from the points in ``avoid``. ``matrix`` makes the last two
    axes matrices: ``'regular'`` ones, or symmetric and positive ``'definite'`` ones.
    """

    def __init__(self, *shape, low=-2, high=2, dtype=None, distinct=False, avoid=(), values=None,
                 matrix=None):
        self.shape = shape
        self.low, self.high = low, high
        self.dtype = dtype
        self.distinct = distinct
        self.avoid = avoid
        self.values = values
        self.matrix = matrix

    def make(self, dtype, rng, shape=None):
        dtype = np.dtype(self.dtype or dtype)
        shape = self.shape if shape is None else shape
        if self.values is not None:
            return np.array(self.values, dtype)
        size = math.prod(shape)
        if self.distinct and dtype.kind not in 'iu':
            x = rng.permutation(np.linspace(self.low, self.high, size))
        elif dtype.kind in 'iu':
            low = max(math.ceil(self.low), 0 if dtype.kind == 'u' else -100)
            x = rng.permutation(size) + low if self.distinct else rng.integers(low, max(math.floor(self.high), low), size, endpoint=True)
        elif dtype.kind == 'b':
            x = rng.integers(0, 2, size)
        else:
            x = rng.uniform(self.low, self.high, size)
        if dtype.kind == 'f':
            for point in self.avoid:
                x = np.where(abs(x - point) < 0.1, point + 0.2, x)
        x = np.asarray(x).reshape(shape)
        if self.matrix is not None:
            x = x + 2 * np.eye(*shape[-2:])
            if self.matrix == 'definite':
                x = x @ x.swapaxes(-1, -2) + np.diag(np.arange(shape[-1]))
        return x.astype(dtype)


class Row:
    """An op.

    Args:
        name: Name in ``chainerx``.
        reference: Function of NumPy arrays; computes in double precision.
        cases: Lists of inputs (:class:`In`) and keyword arguments (a dict at the end).
        dtypes: Dtypes of the inputs.
        result: Kind of the result's dtype: ``'same'``, ``'float'`` (floating point inputs keep
            theirs, others become NumPy's choice), ``'bool'``, ``'int64'``, ``'sum'`` (integers
            become int64), or ``None``: not compared.
        grad, double: Whether the op has a first and a second derivative.
        elementwise: Whether inputs broadcast and any shape is fine.
        call: Calls the op, where its arguments are not the inputs one by one.
        tolerance: How many times the usual tolerance of each dtype is allowed.
        grad_inputs: Indices of the floating point inputs that have a gradient; all unless given.
    """

    def __init__(self, name, reference, cases, dtypes=FLOATS, result='same', grad=True, double=True,
                 elementwise=False, call=None, tolerance=1, grad_inputs=None):
        self.name = name
        self.reference = reference
        self.cases = [(c[:-1], c[-1]) if isinstance(c[-1], dict) else (c, {})
                      for c in map(tuple, cases)]
        self.dtypes = dtypes
        self.result = result
        self.grad = grad
        self.double = double
        self.elementwise = elementwise
        self.call = call or (lambda f, arrays, kwargs: f(*arrays, **kwargs))
        self.tolerance = {'float16': 4e-3 * tolerance, 'float32': 2e-6 * tolerance,
                          'float64': 1e-12 * tolerance}
        self.grad_inputs = grad_inputs

    def __repr__(self):
        return self.name


def unary(name, reference, low=-2, high=2, avoid=(), dtypes=NUMBERS, result='float', **options):
    return Row(name, reference, [[In(2, 3, low=low, high=high, avoid=avoid)]], dtypes, result,
               elementwise=True, **options)


def rounding(name, reference):
    return unary(name, reference, -3, 3, dtypes=ALL, result='same', grad=False)


def binary(name, reference, dtypes=NUMBERS, result='same', first=(-2, 2), second=(-2, 2), avoid=(),
           **options):
    a = {'low': first[0], 'high': first[1]}
    b = {'low': second[0], 'high': second[1], 'avoid': avoid}
    cases = [[In(2, 3, **a), In(2, 3, **b)], [In(2, 1, 3, **a), In(4, 1, **b)]]
    return Row(name, reference, cases, dtypes, result, elementwise=True, **options)


def comparison(name, reference):
    return binary(name, reference, ALL, 'bool', grad=False)


def reduction(name, reference, dtypes=NUMBERS, result='same', keepdims=True, axes=True,
              distinct=False, low=-2, high=2, **options):
    def x():
        return In(2, 3, 4, distinct=distinct, low=low, high=high)
    cases = [[x()], [x(), {'axis': 1}], [x(), {'axis': -1}]]
    if axes:
        cases.append([x(), {'axis': (0, 2)}])
    if keepdims:
        cases.append([x(), {'axis': 1, 'keepdims': True}])
    return Row(name, reference, cases, dtypes, result, **options)


def _add_at(a, indices, b):
    a = a.copy()
    np.add.at(a, indices, b)
    return a


def sequence(f, arrays, kwargs):
    """Calls an op that takes its arrays as one list."""
    return f(list(arrays), **kwargs)


def _softmax(x, axis=1):
    return scipy.special.softmax(x, axis=axis)


def _log_softmax(x, axis=1):
    return scipy.special.log_softmax(x, axis=axis)


def _sigmoid_cross_entropy(x, t):
    return np.where(t != -1, -(x * (t - (x >= 0)) - np.log1p(np.exp(-abs(x)))), 0)


def _softmax_cross_entropy(x, t, class_weight=None, ignore_label=-1, reduce='no', normalize=True):
    ignored = t == ignore_label
    labels = np.where(ignored, 0, t).astype('l')
    loss = -np.take_along_axis(_log_softmax(x), labels[:, None], 1)[:, 0]
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


def _linear(x, w, b=None, n_batch_axis=1):
    y = x.reshape(*x.shape[:n_batch_axis], math.prod(x.shape[n_batch_axis:])) @ w.T
    return y if b is None else y + b


def _normalize(x, axis, eps):
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps)


def _group_norm(x, groups, gamma, beta, eps=1e-5):
    y = _normalize(x.reshape(len(x), groups, -1), -1, eps).reshape(x.shape)
    shape = (-1,) + (1,) * (x.ndim - 2)
    return y * gamma.reshape(shape) + beta.reshape(shape)


def _embed_id(x, w, ignore_label=None):
    y = w[x]
    return y if ignore_label is None else np.where((x == ignore_label)[..., None], 0, y)


def _clip(x, low, high):
    return np.minimum(np.maximum(x, low), high)


def _copyto(dst, src, **kwargs):
    dst = dst.copy()
    np.copyto(dst, src, **kwargs)
    return dst


def _call_copyto(f, arrays, kwargs):
    dst = copy.copy(arrays[0])
    f(dst, arrays[1], **kwargs)
    return dst


def _logsumexp(x, axis=None, keepdims=False):
    return scipy.special.logsumexp(x, axis=axis, keepdims=keepdims)


def _crelu(x, axis=1):
    return np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)], axis)


ROWS = [
    # ---- arithmetic
    binary('add', np.add, ALL),
    binary('subtract', np.subtract),
    binary('multiply', np.multiply, ALL),
    binary('divide', np.true_divide, result='float', second=(1, 3)),
    binary('floor_divide', np.floor_divide, second=(1, 3), grad=False),
    binary('remainder', np.remainder, first=(0.2, 0.9), second=(1, 3)),
    binary('fmod', np.fmod, first=(0.2, 0.9), second=(1, 3)),
    binary('power', np.power, first=(1, 3), second=(1, 3), tolerance=4),
    unary('negative', np.negative, dtypes=NUMBERS, result='same'),
    unary('reciprocal', lambda x: 1 / x, 0.5, 3, dtypes=FLOATS),
    binary('maximum', np.maximum, ALL),
    binary('minimum', np.minimum, ALL),
    Row('where', lambda c, x, y: np.where(c, x, y),
        [[In(2, 3, dtype='bool'), In(2, 3), In(2, 3)], [In(3, dtype='bool'), In(2, 1), In(1, 3)]],
        ALL, elementwise=True),
    Row('_clip', _clip, [[In(2, 3), In(3, low=-1.5, high=-1), In(2, 3, low=1, high=1.5)]],
        elementwise=True, grad_inputs=(0,)),
    Row('clip', _clip, [[In(2, 3), {'a_min': 0, 'a_max': 1}]], NUMBERS,
        call=lambda f, a, kw: f(a[0], *kw.values())),
    # ---- comparison and logic
    *[comparison(name, getattr(np, name)) for name in (
        'equal', 'not_equal', 'greater', 'greater_equal', 'less', 'less_equal', 'logical_and',
        'logical_or', 'logical_xor')],
    unary('logical_not', np.logical_not, dtypes=ALL, result='bool', grad=False),
    *[Row(name, getattr(np, name), [[In(2, 3)], [In(4, values=[np.nan, np.inf, -np.inf, 1.],
                                                    dtype='float32')]],
          ALL, 'bool', grad=False, elementwise=True) for name in ('isnan', 'isinf', 'isfinite')],
    *[binary(name, getattr(np, name), ('bool',) + INTS, first=(-50, 50), second=(-50, 50), grad=False)
      for name in ('bitwise_and', 'bitwise_or', 'bitwise_xor')],
    unary('invert', np.invert, -50, 50, dtypes=('bool',) + INTS, result='same', grad=False),
    *[binary(name, getattr(np, name), INTS, first=(-20, 20), second=(0, 3), grad=False)
      for name in ('left_shift', 'right_shift')],
    # ---- exponential and logarithmic
    unary('exp', np.exp),
    unary('exp2', np.exp2),
    unary('expm1', np.expm1),
    unary('log', np.log, 0.5, 3),
    unary('log2', np.log2, 0.5, 3, tolerance=4),
    unary('log10', np.log10, 0.5, 3),
    unary('log1p', np.log1p, -0.5, 3),
    unary('sqrt', np.sqrt, 0.2, 3),
    unary('erf', scipy.special.erf),
    unary('square', np.square, result='same'),
    unary('absolute', np.absolute, avoid=(0,), dtypes=ALL, result='same'),
    unary('fabs', np.fabs, avoid=(0,)),
    unary('sign', np.sign, avoid=(0,), result='same', grad=False),
    rounding('floor', np.floor),
    rounding('ceil', np.ceil),
    rounding('trunc', np.trunc),
    rounding('rint', np.rint),
    binary('copysign', np.copysign, FLOATS, first=(0.2, 2), avoid=(0,), grad_inputs=(0,)),
    # ---- special functions
    unary('erfc', scipy.special.erfc), unary('erfcx', scipy.special.erfcx, tolerance=4),
    unary('erfinv', scipy.special.erfinv, -.9, .9, tolerance=2, dtypes=FLOATS),
    unary('erfcinv', scipy.special.erfcinv, .1, 1.9, tolerance=2, dtypes=FLOATS),
    unary('ndtr', scipy.special.ndtr), unary('log_ndtr', scipy.special.log_ndtr),
    unary('ndtri', scipy.special.ndtri, .1, .9, tolerance=2, dtypes=FLOATS),
    unary('lgamma', scipy.special.gammaln, .2, 4, dtypes=FLOATS),
    unary('digamma', scipy.special.digamma, .2, 4, dtypes=FLOATS, tolerance=4),
    binary('zeta', scipy.special.zeta, FLOATS, first=(2, 4), second=(.5, 3), grad_inputs=(1,),
           tolerance=4),
    # ---- trigonometric and hyperbolic
    unary('sin', np.sin), unary('cos', np.cos), unary('tan', np.tan, -1, 1, tolerance=4),
    unary('arcsin', np.arcsin, -0.9, 0.9), unary('arccos', np.arccos, -0.9, 0.9),
    unary('arctan', np.arctan),
    binary('arctan2', np.arctan2, FLOATS, first=(0.2, 2), avoid=(0,)),
    unary('sinh', np.sinh), unary('cosh', np.cosh), unary('tanh', np.tanh),
    unary('arcsinh', np.arcsinh), unary('arccosh', np.arccosh, 1.5, 3),
    # ---- activations
    unary('relu', lambda x: np.maximum(x, 0), avoid=(0,), result='same'),
    binary('_relu_grad', lambda gy, y: gy * (y > 0), FLOATS, avoid=(0,), grad_inputs=(0,)),
    unary('sigmoid', scipy.special.expit, tolerance=4),
    binary('_sigmoid_grad', lambda gy, y: gy * y * (1 - y), FLOATS, second=(0.1, 0.9), tolerance=4),
    unary('leaky_relu', lambda x, slope=0.2: np.where(x >= 0, x, slope * x), avoid=(0,),
          dtypes=FLOATS),
    unary('elu', lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x)), avoid=(0,),
          dtypes=FLOATS),
    unary('softplus', lambda x, beta=1.0: np.logaddexp(0, beta * x) / beta, dtypes=FLOATS,
          tolerance=4),
    unary('clipped_relu', lambda x, z=20.0: np.clip(x, 0, z), avoid=(0,), dtypes=FLOATS),
    unary('silu', lambda x: x * scipy.special.expit(x), dtypes=FLOATS, tolerance=4),
    unary('gelu', lambda x: x * scipy.special.ndtr(x), dtypes=FLOATS, tolerance=8),
    Row('crelu', _crelu, [[In(2, 3, avoid=(0,))], [In(2, 3, avoid=(0,)), {'axis': 0}], [In(0, 3)]]),
    # ---- reductions
    reduction('sum', np.sum, ALL, 'sum', tolerance=4),
    reduction('nansum', np.nansum, NUMBERS, 'sum', tolerance=4),
    reduction('prod', np.prod, NUMBERS, 'sum', low=0.5, high=1.5, tolerance=10),
    reduction('mean', np.mean, NUMBERS, None, tolerance=4),
    reduction('var', np.var, NUMBERS, None, tolerance=10),
    reduction('std', np.std, FLOATS, tolerance=10),
    reduction('amax', np.amax, NUMBERS, distinct=True),
    reduction('amin', np.amin, NUMBERS, distinct=True),
    reduction('all', np.all, ALL, 'bool', grad=False),
    reduction('any', np.any, ALL, 'bool', grad=False),
    *[reduction(name, getattr(np, name), NUMBERS, 'int64', keepdims=False, axes=False, grad=False,
                distinct=True) for name in ('argmax', 'argmin', 'nanargmax', 'nanargmin')],
    reduction('count_nonzero', np.count_nonzero, ALL, 'int64', keepdims=False, grad=False),
    reduction('cumsum', np.cumsum, NUMBERS, 'sum', keepdims=False, axes=False, tolerance=8),
    reduction('cumprod', np.cumprod, NUMBERS, 'sum', keepdims=False, axes=False, low=0.5, high=1.5,
              tolerance=10),
    reduction('logsumexp', _logsumexp, FLOATS, tolerance=4),
    Row('softmax', _softmax, [[In(2, 3)], [In(2, 3, 4), {'axis': 2}], [In(0, 3)]], tolerance=8),
    Row('log_softmax', _log_softmax, [[In(2, 3)], [In(2, 3, 4), {'axis': 2}], [In(0, 3)]], tolerance=8),
    # ---- products
    Row('dot', np.dot, [[In(2, 3), In(3, 4)], [In(3), In(3)], [In(2, 3), In(3)],
                        [In(2, 3, 4), In(5, 4, 2)], [In(), In(2, 3)], [In(2, 0), In(0, 3)]],
        NUMBERS, tolerance=8),
    Row('matmul', np.matmul, [[In(2, 3), In(3, 4)], [In(3), In(3)], [In(3), In(2, 3, 4)],
                              [In(2, 3, 4), In(4)], [In(5, 1, 2, 3), In(2, 3, 4)]],
        NUMBERS, tolerance=8),
    Row('inner', np.inner, [[In(2, 3), In(4, 3)], [In(3), In(2, 2, 3)], [In(), In(3)], [In(2, 0), In(0)]],
        NUMBERS, tolerance=8),
    Row('vdot', np.vdot, [[In(3), In(3)], [In(2, 3), In(3, 2)], [In(0), In(0, 2)]], NUMBERS, tolerance=8),
    Row('trace', np.trace, [[In(3, 3)], [In(2, 4), {'offset': 1}], [In(4, 2), {'offset': -2}],
                            [In(2, 3, 4), {'axis1': 2, 'axis2': 0}], [In(2, 0)]], NUMBERS, 'sum'),
    Row('outer', np.outer, [[In(2), In(3)], [In(2, 2), In(3)], [In(), In(0)]], NUMBERS),
    Row('kron', np.kron, [[In(2, 3), In(3, 2)], [In(2), In(2, 3)], [In(1, 2, 2), In(3)], [In(), In(2)]],
        NUMBERS),
    Row('tensordot', np.tensordot,
        [[In(2, 3, 4), In(3, 4, 2)], [In(2, 3), In(4), {'axes': 0}], [In(2, 3), In(3, 2), {'axes': 1}],
         [In(2, 3, 4), In(4, 2), {'axes': ((-1, 0), (0, 1))}], [In(2, 3), In(3, 5), {'axes': (1, 0)}],
         [In(2, 3), In(2, 3), {'axes': ([], [])}], [In(2, 0), In(0, 3), {'axes': 1}]],
        NUMBERS, tolerance=8),
    Row('linear', _linear, [[In(2, 3), In(4, 3)], [In(2, 3), In(4, 3), In(4)],
                            [In(2, 3, 2), In(4, 6), In(4)], [In(0, 3), In(4, 3), In(4)],
                            [In(2, 3, 2), In(4, 2), In(4), {'n_batch_axis': 2}]], tolerance=8),
    # ---- losses
    binary('absolute_error', lambda a, b: abs(a - b), FLOATS),
    binary('squared_error', lambda a, b: (a - b) ** 2, FLOATS, tolerance=4),
    binary('gaussian_kl_divergence', lambda m, v: 0.5 * (m * m + np.exp(v) - v - 1), FLOATS,
           tolerance=8),
    Row('huber_loss', _huber, [[In(2, 3), In(2, 3), {'delta': 0.7}]], tolerance=4),
    Row('sigmoid_cross_entropy', _sigmoid_cross_entropy,
        [[In(2, 3), In(2, 3, dtype='int32', values=[[0, 1, -1], [1, 0, 1]])]], tolerance=8),
    Row('softmax_cross_entropy', _softmax_cross_entropy,
        [[In(3, 4), In(3, dtype='int64', values=[0, 3, 2])],
         [In(2, 3), In(2, dtype='int32', values=[2, 0])],
         [In(2, 3, 2), In(2, 2, dtype='int32', values=[[2, -1], [-1, 0]])],
         [In(2, 3, 2), In(2, 2, dtype='int32', values=[[2, 1], [1, 0]]), In(3, low=0.5),
          {'ignore_label': 1, 'reduce': 'mean'}],
         [In(4, 3), In(4, dtype='int8', values=[9, 1, 2, 9]), In(3, low=0.5),
          {'ignore_label': 9, 'reduce': 'mean', 'normalize': False}],
         [In(2, 3), In(2, dtype='uint8', values=[2, 0]), {'reduce': 'sum'}],
         [In(2, 3), In(2, dtype='int64', values=[-1, -1]), {'reduce': 'mean'}]],
        tolerance=8, call=_call_softmax_cross_entropy, grad_inputs=(0,)),
    Row('hinge', _hinge, [[In(2, 3), In(2, dtype='int64', values=[2, 0])],
                          [In(2, 3), In(2, dtype='int8', values=[-1, 0]), {'norm': 2.0}]],
        tolerance=8),
    Row('accuracy', _accuracy,
        [[In(4, 3), In(4, dtype='int64', values=[2, 0, 1, 1])],
         [In(4, 3), In(4, dtype='int64', values=[2, 0, 1, 1]), {'ignore_label': 1}]],
        result=None, grad=False),
    # ---- manipulation
    Row('reshape', np.reshape, [[In(2, 6)]], ALL,
        call=lambda f, a, kw: f(a[0], (3, -1))),
    Row('ravel', np.ravel, [[In(2, 3)]], ALL),
    Row('transpose', np.transpose, [[In(2, 3, 4)], [In(2, 3, 4), {'axes': (1, 2, 0)}],
                                    [In(2, 3), {'axes': (-1, 0)}]], ALL),
    Row('squeeze', np.squeeze, [[In(1, 3, 1)], [In(1, 3, 1), {'axis': -1}]], ALL),
    Row('expand_dims', np.expand_dims, [[In(2, 3), {'axis': 1}], [In(2, 3), {'axis': -1}]], ALL),
    Row('swapaxes', np.swapaxes, [[In(2, 3, 4), {'axis1': 0, 'axis2': -1}]], ALL),
    Row('moveaxis', np.moveaxis, [[In(2, 3, 4), {'source': 0, 'destination': -1}],
                                  [In(2, 3, 4), {'source': (0, 1), 'destination': (2, 0)}]], ALL),
    Row('rollaxis', np.rollaxis, [[In(2, 3, 4), {'axis': 2}],
                                  [In(2, 3, 4), {'axis': 0, 'start': 3}]], ALL),
    Row('flip', np.flip, [[In(2, 3)], [In(2, 3), {'axis': 1}], [In(2, 3), {'axis': (0, 1)}]], ALL),
    Row('fliplr', np.fliplr, [[In(2, 3)]], ALL),
    Row('flipud', np.flipud, [[In(2, 3)]], ALL),
    Row('broadcast_to', np.broadcast_to, [[In(3, 1), {'shape': (2, 3, 4)}],
                                          [In(), {'shape': (2, 3)}]], ALL),
    Row('copy', np.copy, [[In(2, 3)]], ALL),
    Row('concatenate', np.concatenate, [[In(2, 3), In(1, 3)], [In(2, 3), In(2, 2), {'axis': 1}]], ALL,
        call=sequence),
    Row('stack', np.stack, [[In(2, 3), In(2, 3)], [In(2, 3), In(2, 3), {'axis': -1}]], ALL,
        call=sequence),
    Row('hstack', np.hstack, [[In(2, 3), In(2, 1)], [In(3), In(2)]], ALL, call=sequence),
    Row('vstack', np.vstack, [[In(2, 3), In(1, 3)], [In(3), In(3)]], ALL, call=sequence),
    Row('dstack', np.dstack, [[In(2, 3, 1), In(2, 3, 2)], [In(3), In(3)]], ALL, call=sequence),
    Row('atleast_2d', np.atleast_2d, [[In()], [In(3)], [In(2, 3)]], ALL),
    Row('atleast_3d', np.atleast_3d, [[In()], [In(3)], [In(2, 3)]], ALL),
    Row('repeat', np.repeat, [[In(2, 3), {'repeats': 2}], [In(2, 3), {'repeats': 2, 'axis': 1}],
                              [In(2, 3), {'repeats': (1, 2, 0), 'axis': 1}]], ALL),
    Row('tile', np.tile, [[In(2, 3), {'reps': 2}], [In(2, 3), {'reps': (2, 1, 2)}]], ALL),
    Row('roll', np.roll, [[In(2, 3), {'shift': 2}], [In(2, 3), {'shift': -1, 'axis': 1}],
                          [In(2, 3), {'shift': (1, 1), 'axis': (0, 1)}]], ALL),
    Row('pad', np.pad, [[In(2, 3), {'pad_width': 1}],
                        [In(2, 3), {'pad_width': ((1, 0), (2, 3)),
                                    'constant_values': ((1, 2), (3, 4))}],
                        [In(2, 3, 2), {'pad_width': (1, 2), 'mode': 'edge'}], [In(0, 2), {'pad_width': 1}],
                        [In(3), {'pad_width': 7, 'mode': 'reflect'}], [In(2, 1), {'pad_width': 3, 'mode': 'reflect'}],
                        [In(3), {'pad_width': 7, 'mode': 'symmetric'}], [In(2, 3), {'pad_width': 2, 'mode': 'wrap'}],
                        [In(), {'pad_width': 2}], [In(2, 3), {'pad_width': 0, 'mode': 'edge'}]], ALL),
    Row('diag', np.diag, [[In(3)], [In(3), {'k': 1}], [In(2, 3), {'k': -1}]], ALL),
    Row('diagonal', np.diagonal, [[In(3, 3)], [In(2, 4), {'offset': 1}], [In(4, 2), {'offset': -2}],
                                  [In(2, 3, 4), {'offset': 1, 'axis1': -1, 'axis2': 0}],
                                  [In(2, 3), {'offset': 5}], [In(2, 0, 3)]], ALL),
    Row('diagflat', np.diagflat, [[In(2, 2)], [In(3), {'k': -1}]], ALL),
    Row('tril', np.tril, [[In(3, 4)], [In(2, 3, 3), {'k': -1}]], ALL),
    Row('triu', np.triu, [[In(3, 4)], [In(2, 3, 3), {'k': 1}]], ALL),
    Row('split', np.split, [[In(4, 3), {'indices_or_sections': 2}],
                            [In(3, 5), {'indices_or_sections': [1, 4], 'axis': 1}]], ALL),
    Row('vsplit', np.vsplit, [[In(4, 3), {'indices_or_sections': 2}]], ALL),
    Row('hsplit', np.hsplit, [[In(2, 4), {'indices_or_sections': [1]}],
                              [In(4), {'indices_or_sections': 2}]], ALL),
    Row('dsplit', np.dsplit, [[In(1, 2, 4), {'indices_or_sections': 2}]], ALL),
    Row('_meshgrid', np.meshgrid, [[In(2), In(3)], [In(2), In(3), In(2), {'indexing': 'ij'}]], ALL,
        call=lambda f, a, kw: f(*a, **kw) if f is np.meshgrid else f(list(a), **kw)),
    Row('copyto', _copyto, [[In(2, 3), In(2, 3)], [In(2, 3), In(3)]], ALL, grad=False,
        call=lambda f, a, kw: f(*a, **kw) if f is _copyto else _call_copyto(f, a, kw)),
    # ---- normalization over given axes
    Row('layer_norm', lambda x, gamma, beta, eps=1e-5: _normalize(x, -1, eps) * gamma + beta,
        [[In(3, 4), In(4), In(4)], [In(3, 4), In(4), In(4), {'eps': 1e-2}], [In(0, 4), In(4), In(4)]], tolerance=20),
    Row('group_norm', _group_norm,
        [[In(2, 4, 3), In(4), In(4), {'groups': 2}]], tolerance=20,
        call=lambda f, a, kw: f(a[0], kw['groups'], a[1], a[2])),
    # ---- sorting
    Row('sort', np.sort, [[In(2, 5, distinct=True)], [In(4, 3, distinct=True), {'axis': 0}],
                          [In(2, 3, distinct=True), {'axis': None}]], NUMBERS),
    Row('argsort', np.argsort, [[In(2, 5, distinct=True)], [In(4, 3, distinct=True), {'axis': 0}]],
        FLOATS, 'int64', grad=False),
    # ---- indexing
    Row('embed_id', _embed_id,
        [[In(2, 2, dtype='int32', values=[[0, 2], [1, 2]]), In(3, 4)],
         [In(3, dtype='int64', values=[-1, 2, 0]), In(3, 4), {'ignore_label': -1}]]),
    Row('nonzero', np.nonzero, [[In(2, 3)]], ALL, 'int64', grad=False),
    Row('take', np.take, [
        [In(3, 4), In(2, 2, dtype='int64', values=[[0, 2], [1, -1]]), {'axis': 0}],
        [In(3, 4), In(2, dtype='int32', values=[3, 3]), {'axis': 1}],
        [In(3, 4), In(2, dtype='int8', values=[7, 0])],
        [In(3, 4), In(2, dtype='int64', values=[9, -5]), {'axis': 1, 'mode': 'wrap'}],
        [In(3, 4), In(2, dtype='int64', values=[9, -5]), {'axis': 1, 'mode': 'clip'}]], ALL),
    Row('_add_at', _add_at, [[In(4), In(3, dtype='int64', values=[3, 0, 3]), In(3)],
                             [In(4), In(1, 2, dtype='int32', values=[[1, -1]]), In(1, 2)]]),
]

#: Ops that another file tests, with the reason.
ELSEWHERE = {
    **dict.fromkeys('dropout _random_uniform _random_normal _random_integers'.split(),
                    'random: test_random.py'),
    **dict.fromkeys(
        'array asarray ascontiguousarray empty zeros ones full empty_like zeros_like ones_like '
        'full_like arange linspace identity eye tri frombuffer'.split(),
        'no input arrays: test_creation.py'),
    **dict.fromkeys(
        '_sgd_update _momentum_sgd_update _corrected_momentum_sgd_update _nesterov_ag_update '
        '_ada_grad_update _ada_delta_update _rmsprop_update _rmsprop_graves_update _smorms3_update '
        '_adam_update _amsgrad_update _msvag_update'.split(),
        'change their arguments: test_optimizer_steps.py'),
}
