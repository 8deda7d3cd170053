"""What classical models share: the transforms of their scores, and the labels of classes."""

from __future__ import annotations

import numpy as np


def transformed(scores, name):
    """Scores (rows, classes) after a ``post_transform``. Single ones know no softmax."""
    if scores.shape[1] == 1 and name.startswith('SOFTMAX'):
        name = 'NONE'
    return TRANSFORMS[name](scores).astype(np.float32)


def of_two_classes(scores, name, sum_is_one):
    """Transformed scores (rows, 2) of two classes, of which (rows, 1) are those of the second.

    The first class has one less the score, or the negative score.
    """
    if name == 'LOGISTIC':
        return transformed(np.concatenate([-scores, scores], axis=1), name)
    both = np.concatenate([1 - scores if sum_is_one else -scores, scores], axis=1)
    # As ONNX Runtime has it, there is no softmax of a score and what follows from it.
    return transformed(both, name if name == 'PROBIT' else 'NONE')


def logistic(x):
    """One over one plus the exponential of ``-x``, without overflow."""
    small = np.exp(-abs(x))
    return np.where(x < 0, small, 1) / (1 + small)


def _softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=1, keepdims=True)


def _softmax_zero(x):
    """The softmax of all scores, in which those that are zero stay zero."""
    greatest = x.max(axis=1, keepdims=True, initial=-np.inf)
    e = np.where(abs(x) > 1e-7, np.exp(x - greatest), x * np.exp(-greatest))
    total = e.sum(axis=1, keepdims=True)
    return np.where(total == 0, 0.5, e / np.where(total == 0, 1, total))


def _probit(x):
    """The quantile of the normal distribution, by the approximation that other runtimes have."""
    x = 2 * x - 1
    with np.errstate(divide='ignore', invalid='ignore'):
        log = np.log((1 - x) * (1 + x))
        half = 2 / (np.pi * 0.147) + log / 2
        y = np.sqrt(2) * np.sign(x) * np.sqrt(np.sqrt(half * half - log / 0.147) - half)
    return np.where(abs(x) == 1, 0, y)


# In the order of the numbers that newer operators give them.
TRANSFORMS = {
    'NONE': lambda x: x,
    'SOFTMAX': _softmax,
    'LOGISTIC': logistic,
    'SOFTMAX_ZERO': _softmax_zero,
    'PROBIT': _probit,
}


def labels_of(attributes):
    """The labels of classes, strings or integers, as an array."""
    if attributes['classlabels_strings']:
        return np.array(attributes['classlabels_strings'], object)
    # The name of the integers depends on the operator.
    integers = attributes.get('classlabels_ints') or attributes.get('classlabels_int64s')
    return np.array(integers or [], np.int64)


def matrix(x):
    """The features as a matrix of floats; a vector is one row."""
    x = x if x.dtype == np.float64 else x.astype(np.float32)
    if x.ndim not in (1, 2):
        raise ValueError(f'the features have the shape {x.shape}, which is no matrix')
    return x.reshape(1, -1) if x.ndim == 1 else x
