"""Linear models and support vector machines of classical learning."""

from __future__ import annotations

import itertools

import numpy as np

from ..registry import HOST, operator
from .features import ML
from .scores import labels_of, logistic, matrix, of_two_classes, transformed


def _rows(values, count, name):
    """A list of an attribute as a matrix of ``count`` rows."""
    if values is None or count < 1 or len(values) % count:
        raise ValueError(f'{name} has {len(values or ())} values for {count} rows')
    return np.array(values, np.float64).reshape(count, -1)


def _linear(x, coefficients, intercepts, count):
    x = matrix(x)
    coefficients = _rows(coefficients, count, 'coefficients')
    return x @ coefficients.T + np.array(intercepts or 0.0)


@operator('LinearRegressor', takes=HOST, domain=ML)
def linear_regressor(x, *, coefficients, intercepts, post_transform, targets):
    return transformed(_linear(x, coefficients, intercepts, targets), post_transform)


@operator('LinearClassifier', takes=HOST, domain=ML)
def linear_classifier(x, *, coefficients, intercepts, post_transform, **attributes):
    scores = _linear(x, coefficients, intercepts, len(intercepts or [0]))
    labels = labels_of(attributes)
    count = scores.shape[1]
    if len(labels) not in (0, max(count, 2)):
        raise ValueError(f'there are {len(labels)} labels for {count} scores')
    winners = scores.argmax(axis=1) if count > 1 else (scores[:, 0] > 0).astype(int)
    if count == 1 and len(labels):
        return labels[winners], of_two_classes(scores, post_transform, sum_is_one=True)
    return labels[winners] if len(labels) else winners, transformed(scores, post_transform)


# -- support vectors


def _kernel(x, vectors, attributes):
    """The kernel of rows and vectors, (rows, vectors)."""
    kind = attributes['kernel_type']
    gamma, offset, degree = (*(attributes['kernel_params'] or ()), 0.0, 0.0, 0.0)[:3]
    if kind == 'RBF':
        difference = x[:, None] - vectors
        return np.exp(-gamma * (difference * difference).sum(axis=2))
    product = x @ vectors.T
    if kind == 'LINEAR':
        return product
    product = gamma * product + offset
    return np.tanh(product) if kind == 'SIGMOID' else product**degree


@operator('SVMRegressor', takes=HOST, domain=ML)
def svm_regressor(
    x, *, coefficients, n_supports, one_class, post_transform, rho, support_vectors, **attributes
):
    x = matrix(x)
    weights = _rows(coefficients, 1, 'coefficients')
    if n_supports:
        vectors = _rows(support_vectors, n_supports, 'support_vectors')
        x = _kernel(x, vectors, attributes)
    scores = x @ weights.T + np.array(rho or [0.0])[:1]
    if one_class:
        scores = np.where(scores > 0, 1, -1)
    return transformed(scores, post_transform)


@operator('SVMClassifier', takes=HOST, domain=ML)
def svm_classifier(
    x, *, coefficients, post_transform, rho, support_vectors, vectors_per_class, **attributes
):
    x = matrix(x)
    labels = labels_of(attributes)
    if not vectors_per_class:
        scores = x @ _rows(coefficients, max(len(labels), 1), 'coefficients').T + rho[0]
        return _labelled(scores, scores, labels, post_transform, coefficients)
    if len(labels) != len(vectors_per_class):
        raise ValueError(f'there are {len(labels)} labels for {len(vectors_per_class)} classes')
    vectors = _rows(support_vectors, sum(vectors_per_class), 'support_vectors')
    weights = _rows(coefficients, len(vectors_per_class) - 1, 'coefficients')
    products = _kernel(x, vectors, attributes)
    scores, votes = _of_pairs(products, weights, vectors_per_class, rho)
    if attributes['prob_a']:
        scores = _probabilities(scores, attributes, len(vectors_per_class))
        return labels[votes.argmax(axis=1)], transformed(scores, post_transform)
    return _labelled(scores, votes, labels, post_transform, coefficients)


def _labelled(scores, votes, labels, post_transform, coefficients):
    """Labels and scores, of which a single column is that of two classes."""
    winners = votes.argmax(axis=1)
    if scores.shape[1] > 1:
        return labels[winners], transformed(scores, post_transform)
    if len(labels) != 2:
        return (scores[:, 0] > 0).astype(np.int64), transformed(scores, post_transform)
    if votes.shape[1] == 1:
        least = 0.5 if min(coefficients) >= 0 else 0.0
        winners = (scores[:, 0] > least).astype(int)
    return labels[winners], of_two_classes(scores, post_transform, sum_is_one=False)


def _of_pairs(products, weights, sizes, rho):
    """The scores of all pairs of classes, (rows, pairs), and the votes, (rows, classes)."""
    ends = np.cumsum(sizes)
    parts = [slice(end - size, end) for end, size in zip(ends, sizes)]
    scores, votes = [], np.zeros((len(products), len(sizes)))
    for number, (i, j) in enumerate(itertools.combinations(range(len(sizes)), 2)):
        a, b = parts[i], parts[j]
        score = products[:, a] @ weights[j - 1, a] + products[:, b] @ weights[i, b] + rho[number]
        votes[:, i] += score > 0
        votes[:, j] += score <= 0
        scores.append(score)
    return np.stack(scores, axis=1), votes


def _probabilities(scores, attributes, count):
    """The probabilities of classes from those of all pairs."""
    slopes, offsets = attributes['prob_a'], attributes['prob_b']
    pairs = np.zeros((len(scores), count, count))
    for number, (i, j) in enumerate(itertools.combinations(range(count), 2)):
        p = 1 - logistic(scores[:, number] * slopes[number] + offsets[number])
        pairs[:, i, j] = p.clip(1e-7, 1 - 1e-7)
        pairs[:, j, i] = 1 - pairs[:, i, j]
    return np.stack([_coupled(each) for each in pairs]) if len(pairs) else pairs[:, 0]


def _coupled(pairs):
    """Probabilities p for which ``pairs[j, i] * p[i]`` is next to ``pairs[i, j] * p[j]``.

    This is the method of Wu, Lin and Weng (2004), with the iterations of other runtimes.
    """
    count = len(pairs)
    q = -pairs.T * pairs
    q[np.diag_indices(count)] = np.square(pairs).sum(axis=0)
    p = np.full(count, 1 / count)
    for _ in range(max(100, count)):
        qp = q @ p
        pqp = p @ qp
        if abs(qp - pqp).max() < 0.005 / count:
            break
        for t in range(count):
            step = (pqp - qp[t]) / q[t, t]
            p[t] += step
            pqp = (pqp + step * (step * q[t, t] + 2 * qp[t])) / (1 + step) ** 2
            qp = (qp + step * q[t]) / (1 + step)
            p /= 1 + step
    return p
