"""The domains of classical machine learning and of optimizers."""

from __future__ import annotations

import functools
import math
import types

import numpy as np

from .. import _values as v
from ..registry import ARRAYS, HOST, operator

_ML = 'ai.onnx.ml'
_TRAINING = 'ai.onnx.preview.training'


@operator('ArrayFeatureExtractor', takes=HOST, domain=_ML)
def array_feature_extractor(x, indices):
    y = np.take(x, indices.ravel(), axis=-1)
    return y.reshape(1, -1) if x.ndim == 1 else y


@operator('Binarizer', takes=ARRAYS, domain=_ML)
def binarizer(x, *, threshold):
    return (x > threshold).astype(x.dtype)


@operator('Scaler', takes=HOST, domain=_ML)
def scaler(x, *, offset, scale):
    offset, scale = offset or (0.0,), scale or (1.0,)
    return ((x - np.asarray(offset)) * np.asarray(scale)).astype(np.float32)


@operator('Normalizer', takes=HOST, domain=_ML)
def normalizer(x, *, norm):
    x = x.astype(np.float32)
    rows = {
        'MAX': lambda: np.abs(x).max(axis=-1, keepdims=True),
        'L1': lambda: np.abs(x).sum(axis=-1, keepdims=True),
        'L2': lambda: np.sqrt(np.square(x).sum(axis=-1, keepdims=True)),
    }[norm]()
    return x / np.where(rows == 0, 1, rows)


_DTYPES = {'tensor': None, 'floats': np.float32, 'int64s': np.int64, 'strings': object}


@operator('LabelEncoder', takes=HOST, domain=_ML)
def label_encoder(x, *, classes_strings, **attributes):
    if classes_strings is not None:  # opset 1: between strings and their places
        keys, values = ('strings', 'int64s') if x.dtype.kind in 'OSU' else ('int64s', 'strings')
        places = range(len(classes_strings))
        attributes[f'keys_{keys}'] = classes_strings if keys == 'strings' else places
        attributes[f'values_{values}'] = classes_strings if values == 'strings' else places
    _, keys = _given('keys', attributes)
    kind, values = _given('values', attributes)
    default = attributes[f'default_{kind.removesuffix("s")}']
    if isinstance(default, np.ndarray):
        default = default.ravel()[0]
    table = {_key(key): value for key, value in zip(keys, values)}
    y = np.empty(x.shape, values.dtype if kind == 'tensor' else _DTYPES[kind])
    for i, key in enumerate(x.ravel()):
        y.ravel()[i] = table.get(_key(key), default)
    return y


def _given(name, attributes):
    """The kind and the value of that one of a group of attributes that is there."""
    return next(
        (kind, attributes[f'{name}_{kind}'])
        for kind in _DTYPES
        if attributes[f'{name}_{kind}'] is not None
    )


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


_JOIN = {
    0: (np.add, 0.0),
    1: (np.add, 0.0),
    2: (np.minimum, np.inf),
    3: (np.maximum, -np.inf),
}


@operator('TreeEnsemble', takes=HOST, domain=_ML)
def tree_ensemble(x, *, aggregate_function, n_targets, post_transform, **attributes):
    if post_transform:
        raise ValueError(f'post_transform {post_transform} is not supported')
    trees = _Trees(**attributes)
    join, start = _JOIN[aggregate_function]
    y = np.full((len(x), n_targets or 1), start, x.dtype)
    for row, out in zip(x, y):
        for root in trees.tree_roots:
            place = trees.leaf(row, root)
            target = trees.leaf_targetids[place]
            out[target] = join(out[target], trees.leaf_weights[place])
    y[np.isinf(y)] = 0
    return y / len(trees.tree_roots) if aggregate_function == 0 else y


class _Trees(types.SimpleNamespace):
    """The attributes of an ensemble of trees that are about nodes and leaves."""

    def leaf(self, row, place):
        """The leaf of a row of the input, from a root."""
        for _ in range(len(self.nodes_modes)):
            yes = self._goes_on(row[self.nodes_featureids[place]], place)
            is_leaf = (self.nodes_trueleafs if yes else self.nodes_falseleafs)[place]
            place = (self.nodes_truenodeids if yes else self.nodes_falsenodeids)[place]
            if is_leaf:
                return place
        raise ValueError('a tree has a cycle')

    def _goes_on(self, value, place):
        mode = self.nodes_modes[place]
        if np.isnan(value) and self.nodes_missing_value_tracks_true:
            return bool(self.nodes_missing_value_tracks_true[place])
        if mode == _MEMBER:
            return value in self._members[place]
        return _COMPARE[mode](value, self.nodes_splits[place])

    @functools.cached_property
    def _members(self):
        count = sum(mode == _MEMBER for mode in self.nodes_modes)
        sets = iter(_sets(self.membership_values, count))
        return [next(sets) if mode == _MEMBER else None for mode in self.nodes_modes]


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


def _update(rate, t, tensors, kinds, step):
    """Updates parameters: tensors have all parameters, then all gradients, then all states.

    ``step(rate, t, x, g, *states)`` gives a new parameter and its states.
    """
    size = len(tensors) // kinds
    rows = zip(*(tensors[i * size : (i + 1) * size] for i in range(kinds)))
    rate, t = v.scalar(rate), v.scalar(t)
    updated = [tuple(y.astype(row[0].dtype) for y in step(rate, t, *row)) for row in rows]
    return tuple(y for column in zip(*updated) for y in column)


@operator('Adagrad', takes=ARRAYS, host=(0, 1), domain=_TRAINING)
def adagrad(rate, t, *tensors, decay_factor, epsilon, norm_coefficient):
    def step(rate, t, x, g, h):
        g = norm_coefficient * x + g
        h = h + g * g
        return x - rate / (1 + t * decay_factor) * g / (h**0.5 + epsilon), h

    return _update(rate, t, tensors, 3, step)


@operator('Momentum', takes=ARRAYS, host=(0, 1), domain=_TRAINING)
def momentum(rate, t, *tensors, alpha, beta, mode, norm_coefficient):
    def step(rate, t, x, g, m):
        g = norm_coefficient * x + g
        m = alpha * m + (beta if t > 0 else 1.0) * g
        return x - rate * (g + alpha * m if mode == 'nesterov' else m), m

    return _update(rate, t, tensors, 3, step)


@operator('Adam', takes=ARRAYS, host=(0, 1), domain=_TRAINING)
def adam(rate, t, *tensors, alpha, beta, epsilon, norm_coefficient, norm_coefficient_post):
    def step(rate, t, x, g, m, s):
        if t > 0:
            rate = rate * (1 - beta**t) ** 0.5 / (1 - alpha**t)
        g = norm_coefficient * x + g
        m = alpha * m + (1 - alpha) * g
        s = beta * s + (1 - beta) * g * g
        return (1 - norm_coefficient_post) * (x - rate * m / (s**0.5 + epsilon)), m, s

    return _update(rate, t, tensors, 4, step)
