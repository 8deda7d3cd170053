"""Factorizations and norms of matrices.

Vectors that are unique only up to their sign are compared by their absolute values.
"""
import numpy as np

import chainerx
from chainerx import ChainerxError, DimensionError
from op_table.inputs import In
from op_table.row import Row, zeros

WIDE = 'float32', 'float64'


def _signs(f, arrays, kwargs):
    ys = f(*arrays, **kwargs)
    return [abs(y) for y in ys] if isinstance(ys, (list, tuple)) else abs(ys)


def _symmetric(f, arrays, kwargs):
    """One triangle is read: gradients are those of the symmetric matrix."""
    a, = arrays
    if getattr(a, 'dtype', None) in WIDE:
        a = (a + a.swapaxes(-1, -2)) * 0.5
    ys = f(a, **kwargs)
    return ys if hasattr(ys, 'shape') else [abs(y) for y in ys]


def _slogdet(f, arrays, kwargs):
    sign, value = f(*arrays)
    return sign * value


def _solve(a, b):
    # NumPy 1 takes matrices of one dimension less than a for a stack of vectors.
    columns = b[:, None] if b.ndim == 1 else b
    stack = np.broadcast_shapes(a.shape[:-2], columns.shape[:-2])
    y = np.linalg.solve(a, np.broadcast_to(columns, stack + columns.shape[-2:]))
    return y[..., 0] if b.ndim == 1 else y


def _inverse_sqrt(a):
    w, v = np.linalg.eigh(a)
    return v / np.sqrt(w)[..., None, :] @ v.swapaxes(-1, -2)


def _qr(a, mode='reduced'):
    ys = np.linalg.qr(a, mode)
    return ys if mode == 'r' else tuple(ys)


def _svd(a, full_matrices=False, compute_uv=True):
    ys = np.linalg.svd(a, full_matrices, compute_uv)
    return tuple(ys) if compute_uv else ys


def regular(*shape):
    return In(*shape, low=-1, high=1, matrix='regular')


def definite(*shape):
    return In(*shape, low=-1, high=1, matrix='definite')


def linalg(name, reference, cases, **options):
    return Row('linalg.' + name, reference, cases, WIDE, tolerance=100, **options)


_NO_MATRIX = [(DimensionError, lambda f: f(zeros(3))), (DimensionError, lambda f: f(zeros()))]
_NO_SQUARE = [(DimensionError, lambda f: f(zeros(2, 3))), *_NO_MATRIX]

ROWS = [
    linalg('solve', _solve,
           [[regular(3, 3), In(3, 2)], [regular(3, 3), In(3)], [regular(2, 3, 3), In(3, 2)], [regular(3, 3), In(2, 1, 3, 2)],
            [regular(2, 2, 2), In(2)], [In(0, 0), In(0, 2)], [regular(2, 2), In(2, 0)]],
           wrong=[(DimensionError, lambda f: f(zeros(2, 3), zeros(2))),
                  (DimensionError, lambda f: f(chainerx.eye(2), zeros(3, dtype='float64'))),
                  (ChainerxError, lambda f: f(zeros(2, 2), zeros(2)))]),
    linalg('inv', np.linalg.inv, [[regular(3, 3)], [regular(2, 2, 3, 3)], [In(0, 0)], [In(0, 2, 2)]], wrong=_NO_SQUARE),
    linalg('pinv', np.linalg.pinv, [[regular(3, 3)], [regular(4, 3)], [regular(2, 3)], [regular(2, 2, 3)], [In(0, 3)]], wrong=_NO_MATRIX),
    linalg('qr', _qr, [[regular(3, 3)], [regular(4, 3)], [regular(3, 5)], [regular(2, 3, 2)], [regular(4, 3), {'mode': 'r'}], [regular(2, 3), {'mode': 'r'}], [regular(2, 3), {'mode': 'complete'}]], call=_signs, wrong=_NO_MATRIX),
    linalg('svd', _svd, [[regular(3, 3), {'full_matrices': False}], [regular(4, 3), {'full_matrices': False}], [regular(2, 2, 3), {'full_matrices': False}], [regular(4, 3), {'compute_uv': False}]], call=_signs, wrong=_NO_MATRIX),
    linalg('cholesky', np.linalg.cholesky, [[definite(3, 3)], [definite(2, 3, 3)], [In(0, 2, 2)]], call=_symmetric, wrong=_NO_SQUARE),
    linalg('eigh', lambda a, **kw: tuple(np.linalg.eigh(a, **kw)), [[definite(3, 3)], [definite(2, 2, 2), {'UPLO': 'U'}]], call=_symmetric, wrong=_NO_SQUARE),
    Row('_inverse_sqrt', _inverse_sqrt, [[definite(3, 3)], [definite(2, 2, 2)], [In(0, 2, 2)], [In(0, 0)]], WIDE, tolerance=100, call=_symmetric, wrong=_NO_SQUARE),
    linalg('eigvalsh', np.linalg.eigvalsh, [[definite(3, 3)], [definite(2, 2, 2), {'UPLO': 'U'}], [In(0, 2, 2)]], call=_symmetric, wrong=_NO_SQUARE),
    linalg('det', np.linalg.det, [[regular(3, 3)], [regular(2, 2, 2)], [In(0, 0)], [In(0, 2, 2)]], wrong=_NO_SQUARE),
    linalg('slogdet', np.linalg.slogdet, [[regular(3, 3)], [regular(2, 2, 2)], [In(0, 2, 2)]], call=_slogdet, wrong=_NO_SQUARE),
    linalg('norm', np.linalg.norm,
           [[In(2, 3)], [In(2, 3, 2)],
            *[[In(2, 3, avoid=(0,)), {'ord': order}] for order in ('fro', 'nuc', 1, -1, 2, -2, np.inf, -np.inf)],
            *[[In(5, low=0.5, distinct=True), {'ord': order}] for order in (1, 2, 3, 0.5, -1, np.inf, -np.inf)],
            [In(2, 3, 2), {'ord': 'fro', 'axis': (2, 0), 'keepdims': True}], [In(2, 3, 2), {'axis': 1, 'keepdims': True}]],
           wrong=[(DimensionError, lambda f: f(zeros(2, 2), 1, (0, 0))),
                  (DimensionError, lambda f: f(zeros(3), 'fro')),
                  (ValueError, lambda f: f(zeros(3), 'x')),
                  (ChainerxError, lambda f: f(zeros(2, 2), 3))]),
]
