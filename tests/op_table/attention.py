"""Attention."""
import numpy as np
from scipy.special import softmax

from chainerx import DimensionError
from op_table.inputs import In
from op_table.row import Row, zeros


def _attention(q, k, v, mask=None, scale=None, causal=False):
    score = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None:
        score = np.where(mask, score, -np.inf) if mask.dtype == bool else score + mask
    if causal:
        score = np.where(np.tri(*score.shape[-2:], dtype=bool), score, -np.inf)
    return softmax(score, -1) @ v


_MASK = In(3, 5, dtype='bool', values=np.arange(5) > np.ones((3, 1)))

ROWS = [
    Row('scaled_dot_product_attention', _attention,
        [[In(2, 3, 4), In(2, 5, 4), In(2, 5, 6)], [In(3, 1), In(5, 1), In(5, 6), {'scale': 2.0}],
         [In(1, 2, 5, 2), In(1, 2, 3, 2), In(1, 2, 3, 3), {'causal': True}],
         [In(2, 2, 3, 2), In(2, 2, 4, 2), In(2, 2, 4, 3), In(2, 1, 3, 4)],
         [In(2, 3, 4), In(2, 5, 4), In(2, 5, 6), _MASK], [In(0, 3, 2), In(0, 3, 2), In(0, 3, 2)]],
        tolerance=20,
        wrong=[(DimensionError, lambda f: f(zeros(2, 3), zeros(2, 4), zeros(2, 3))),
               (DimensionError, lambda f: f(zeros(2, 3), zeros(2, 3), zeros(4, 3))),
               (DimensionError, lambda f: f(zeros(3), zeros(2, 3), zeros(2, 3))),
               (DimensionError, lambda f: f(*[zeros(2, 3)] * 3, zeros(3, 2)))]),
]
