"""The domains of classical machine learning and of optimizers."""

from __future__ import annotations

import math

import numpy as np

from .. import _values as v
from ..registry import ARRAYS, HOST, operator

_ML = 'ai.onnx.ml'
_TRAINING = 'ai.onnx.preview.training'


@operator('ArrayFeatureExtractor', takes=HOST, domain=_ML)
def array_feature_extractor(node, x, indices, /):
    y = np.take(x, indices.ravel(), axis=-1)
    return y.reshape(1, -1) if x.ndim == 1 else y


@operator('Binarizer', takes=ARRAYS, domain=_ML)
def binarizer(node, x, /, *, threshold=0.0):
    return (x > threshold).astype(x.dtype)


@operator('Scaler', takes=HOST, domain=_ML)
def scaler(node, x, /, *, offset=(0.0,), scale=(1.0,)):
    return ((x - np.asarray(offset)) * np.asarray(scale)).astype(np.float32)


@operator('Normalizer', takes=HOST, domain=_ML)
def normalizer(node, x, /, *, norm='MAX'):
    x = x.astype(np.float32)
    rows = {
        'MAX': lambda: np.abs(x).max(axis=-1, keepdims=True),
        'L1': lambda: np.abs(x).sum(axis=-1, keepdims=True),
        'L2': lambda: np.sqrt(np.square(x).sum(axis=-1, keepdims=True)),
    }[norm]()
    return x / np.where(rows == 0, 1, rows)


@operator('LabelEncoder', takes=HOST, domain=_ML)
def label_encoder(
    node,
    x,
    /,
    *,
    keys_floats=None,
    keys_int64s=None,
    keys_strings=None,
    keys_tensor=None,
    values_floats=None,
    values_int64s=None,
    values_strings=None,
    values_tensor=None,
    default_float=-0.0,
    default_int64=-1,
    default_string='_Unused',
    default_tensor=None,
    classes_strings=None,
):
    if classes_strings is not None:  # opset 1: between strings and their places
        places = range(len(classes_strings))
        if x.dtype.kind in 'OSU':
            keys_strings, values_int64s = classes_strings, places
        else:
            keys_int64s, values_strings = places, classes_strings
    keys = next(k for k in (keys_tensor, keys_floats, keys_int64s, keys_strings) if k is not None)
    values, default, dtype = next(
        each
        for each in (
            (values_tensor, default_tensor, getattr(values_tensor, 'dtype', None)),
            (values_floats, default_float, np.float32),
            (values_int64s, default_int64, np.int64),
            (values_strings, default_string, object),
        )
        if each[0] is not None
    )
    if isinstance(default, np.ndarray):
        default = default.ravel()[0]
    table = {_key(key): value for key, value in zip(keys, values)}
    y = np.empty(x.shape, dtype)
    for i, key in enumerate(x.ravel()):
        y.ravel()[i] = table.get(_key(key), default)
    return y


_NAN = object()


def _key(key):
    """A key of a table; one NaN equals another there."""
    key = key.item() if isinstance(key, np.generic) else key
    return _NAN if isinstance(key, float) and math.isnan(key) else key


_COMPARE = (
    lambda x, split: x <= split,
    lambda x, split: x < split,
    lambda x, split: x >= split,
    lambda x, split: x > split,
    lambda x, split: x == split,
    lambda x, split: x != split,
)
_MEMBER = 6


@operator('TreeEnsemble', takes=HOST, domain=_ML)
def tree_ensemble(
    node,
    x,
    /,
    *,
    leaf_targetids,
    leaf_weights,
    nodes_falseleafs,
    nodes_falsenodeids,
    nodes_featureids,
    nodes_modes,
    nodes_splits,
    nodes_trueleafs,
    nodes_truenodeids,
    tree_roots,
    aggregate_function=1,
    membership_values=None,
    n_targets=1,
    nodes_hitrates=None,
    nodes_missing_value_tracks_true=None,
    post_transform=0,
):
    if post_transform:
        raise ValueError(f'post_transform {post_transform} is not supported')
    sets = iter(_sets(membership_values, sum(mode == _MEMBER for mode in nodes_modes)))
    members = [next(sets) if mode == _MEMBER else None for mode in nodes_modes]

    def leaf(row, place):
        for _ in range(len(nodes_modes)):
            value = row[nodes_featureids[place]]
            mode = nodes_modes[place]
            if np.isnan(value) and nodes_missing_value_tracks_true:
                yes = bool(nodes_missing_value_tracks_true[place])
            elif mode == _MEMBER:
                yes = value in members[place]
            else:
                yes = _COMPARE[mode](value, nodes_splits[place])
            is_leaf = (nodes_trueleafs if yes else nodes_falseleafs)[place]
            place = (nodes_truenodeids if yes else nodes_falsenodeids)[place]
            if is_leaf:
                return place
        raise ValueError('a tree has a cycle')

    join = {0: np.add, 1: np.add, 2: np.minimum, 3: np.maximum}[aggregate_function]
    start = {0: 0.0, 1: 0.0, 2: np.inf, 3: -np.inf}[aggregate_function]
    y = np.full((len(x), n_targets), start, x.dtype)
    for row, out in zip(x, y):
        for root in tree_roots:
            place = leaf(row, root)
            target = leaf_targetids[place]
            out[target] = join(out[target], leaf_weights[place])
    y[np.isinf(y)] = 0
    return y / len(tree_roots) if aggregate_function == 0 else y


def _sets(values, count):
    """Sets of members, which end with NaN."""
    sets = [set()]
    for value in () if values is None else values:
        if np.isnan(value):
            sets.append(set())
        else:
            sets[-1].add(value)
    return sets[:count]


# -- optimizers


def _columns(tensors, count):
    """The arguments of each kind for each of the parameters."""
    size = len(tensors) // count
    return zip(*(tensors[i * size : (i + 1) * size] for i in range(count)))


def _results(rows):
    return tuple(x for column in zip(*rows) for x in column)


@operator('Adagrad', takes=ARRAYS, host=(0, 1), domain=_TRAINING)
def adagrad(node, rate, t, /, *tensors, decay_factor=0.0, epsilon=1e-6, norm_coefficient=0.0):
    rate = v.scalar(rate) / (1 + v.scalar(t) * decay_factor)
    rows = []
    for x, g, h in _columns(tensors, 3):
        g = norm_coefficient * x + g
        h = h + g * g
        rows.append(((x - rate * g / (h**0.5 + epsilon)).astype(x.dtype), h.astype(x.dtype)))
    return _results(rows)


@operator('Momentum', takes=ARRAYS, host=(0, 1), domain=_TRAINING)
def momentum(node, rate, t, /, *tensors, alpha, beta, mode, norm_coefficient):
    rate, t = v.scalar(rate), v.scalar(t)
    rows = []
    for x, g, m in _columns(tensors, 3):
        g = norm_coefficient * x + g
        m = alpha * m + (beta if t > 0 else 1.0) * g
        step = g + alpha * m if mode == 'nesterov' else m
        rows.append(((x - rate * step).astype(x.dtype), m.astype(x.dtype)))
    return _results(rows)


@operator('Adam', takes=ARRAYS, host=(0, 1), domain=_TRAINING)
def adam(
    node, rate, t, /, *tensors, alpha=0.9, beta=0.999, epsilon=1e-6, norm_coefficient=0.0,
    norm_coefficient_post=0.0,
):  # fmt: skip
    rate, t = v.scalar(rate), v.scalar(t)
    rows = []
    if t > 0:
        rate = rate * (1 - beta**t) ** 0.5 / (1 - alpha**t)
    for x, g, m, s in _columns(tensors, 4):
        g = norm_coefficient * x + g
        m = alpha * m + (1 - alpha) * g
        s = beta * s + (1 - beta) * g * g
        new = (1 - norm_coefficient_post) * (x - rate * m / (s**0.5 + epsilon))
        rows.append(tuple(each.astype(x.dtype) for each in (new, m, s)))
    return _results(rows)
