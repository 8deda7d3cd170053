"""Losses of sequences and samples, against direct enumeration."""

import itertools

import numpy as np
import pytest
from helpers.functions import check_function
from scipy import special

import chainer
from chainer import functions as F
from chainer.utils import type_check

LOOSE = {np.float16: 3e-2}


def _sample(shape, seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, shape)


def _ctc(x, t, blank):
    """Sums the probabilities of all paths of one sequence."""
    log_p = special.log_softmax(x, axis=1)
    total = []
    for path in itertools.product(range(x.shape[1]), repeat=len(x)):
        merged = [k for k, _ in itertools.groupby(path)]
        if [k for k in merged if k != blank] == list(t):
            total.append(sum(log_p[i, k] for i, k in enumerate(path)))
    return -special.logsumexp(total)


@pytest.mark.parametrize(
    'labels, lengths',
    [
        ([[1, 2], [2, 2]], None),
        ([[1, 2], [1, 0]], ([4, 3], [2, 1])),
        ([[0, 1], [2, 0]], ([2, 4], [1, 2])),
    ],
)
@pytest.mark.parametrize('blank', [0, 3])
@pytest.mark.parametrize('reduce', ['mean', 'no'])
def test_ctc(labels, lengths, blank, reduce):
    labels = np.array(labels, np.int32)
    if blank == 0:
        labels = labels + 1
    n_time, n_batch, n_label = 4, 2, 4
    in_len, label_len = lengths or ([4, 4], [2, 2])
    in_len, label_len = np.array(in_len, np.int32), np.array(label_len, np.int32)
    options = {} if lengths is None else {'input_length': in_len, 'label_length': label_len}

    def f(*xs):
        send = chainer.backend.get_device_from_array(chainer.as_array(xs[0])).send
        return F.connectionist_temporal_classification(
            list(xs), send(labels), blank, reduce=reduce, **{k: send(v) for k, v in options.items()}
        )

    def expected(*xs):
        x = np.stack(xs)
        loss = np.array(
            [_ctc(x[: in_len[i], i], labels[i, : label_len[i]], blank) for i in range(n_batch)]
        )
        return loss.mean() if reduce == 'mean' else loss

    xs = [_sample((n_batch, n_label), i) for i in range(n_time)]
    check_function(f, xs, expected, tolerances=LOOSE)


def test_ctc_errors():
    xs = [chainer.Variable(_sample((2, 3), i)) for i in range(3)]
    t = np.array([[1], [2]], np.int32)
    ctc = F.connectionist_temporal_classification
    with pytest.raises(TypeError):
        ctc(1, t, 0)
    with pytest.raises(TypeError):
        ctc(chainer.functions.stack(xs), t, 0)
    with pytest.raises(TypeError):
        ctc(xs, t, 'a')
    with pytest.raises(AssertionError):
        ctc(xs, t, 3)
    with pytest.raises(ValueError):
        ctc(xs, t, 0, reduce='sum')
    with pytest.raises(type_check.InvalidType):
        ctc(xs, t[:1], 0)


def _score(cost, xs, path):
    return sum(x[k] for x, k in zip(xs, path)) + sum(cost[a, b] for a, b in zip(path, path[1:]))


SIZES = [[3, 3, 3], [3, 2, 1], [2, 2, 1]]


@pytest.mark.parametrize('sizes', SIZES, ids=str)
@pytest.mark.parametrize('reduce', ['mean', 'no'])
def test_crf1d(sizes, reduce):
    n_label = 3
    rng = np.random.RandomState(0)
    ys = [rng.randint(0, n_label, n).astype(np.int32) for n in sizes]

    def expected(cost, *xs):
        losses = []
        for i in range(sizes[0]):
            seq = [x[i] for x in xs if i < len(x)]
            path = [y[i] for y in ys if i < len(y)]
            every = [
                _score(cost, seq, p) for p in itertools.product(range(n_label), repeat=len(seq))
            ]
            losses.append(special.logsumexp(every) - _score(cost, seq, path))
        return np.mean(losses) if reduce == 'mean' else np.array(losses)

    inputs = [
        _sample((n_label, n_label), 9),
        *[_sample((n, n_label), i) for i, n in enumerate(sizes)],
    ]
    check_function(
        lambda cost, *xs: F.crf1d(cost, xs, ys, reduce),
        inputs,
        expected,
        tolerances=LOOSE,
        on_chainerx=False,
    )


def test_crf1d_bad_input():
    x, y = _sample((2, 3)), np.zeros(2, np.int32)
    with pytest.raises(ValueError, match='labels for all'):
        F.crf1d(_sample((3, 3)), [x, x], [y])
    with pytest.raises(ValueError, match='reduce'):
        F.crf1d(_sample((3, 3)), [x], [y], 'sum')
    with pytest.raises(AssertionError, match='cost must be'):
        F.crf1d(_sample((4, 4)), [x], [y])


@pytest.mark.parametrize('sizes', SIZES, ids=str)
def test_argmax_crf1d(sizes):
    cost = _sample((3, 3), 9)
    xs = [_sample((n, 3), i) for i, n in enumerate(sizes)]
    scores, path = F.argmax_crf1d(cost, xs)
    assert [len(p) for p in path] == sizes
    for i in range(sizes[0]):
        seq = [x[i] for x in xs if i < len(x)]
        best = max(itertools.product(range(3), repeat=len(seq)), key=lambda p: _score(cost, seq, p))
        assert tuple(p[i] for p in path if i < len(p)) == best
        np.testing.assert_allclose(scores.array[i], _score(cost, seq, best))


@pytest.mark.parametrize('reduce', ['sum', 'no'])
def test_negative_sampling(reduce):
    t = np.array([0, -1, 3], np.int32)
    negatives = np.array([[9, 1, 2], [9, 0, 1], [9, 3, 3]], np.int32)
    negatives[:, 0] = 0

    def expected(x, t, w):
        losses = np.zeros(len(x))
        for i in range(len(x)):
            if t[i] != -1:
                losses[i] = (
                    -np.log(special.expit(w[t[i]] @ x[i]))
                    - np.log(special.expit(-w[negatives[i, 1:]] @ x[i])).sum()
                )
        return losses.sum() if reduce == 'sum' else losses

    def f(x, t, w):
        return F.negative_sampling(x, t, w, lambda size: negatives, 2, reduce)

    check_function(f, [_sample((3, 2)), t, _sample((4, 2), 1)], expected, tolerances=LOOSE)
    loss, samples = F.negative_sampling(
        _sample((3, 2)), t, _sample((4, 2), 1), lambda size: negatives, 2, return_samples=True
    )
    np.testing.assert_array_equal(samples[:, 0], t)
    np.testing.assert_array_equal(samples[:, 1:], negatives[:, 1:])


@pytest.mark.parametrize('reduce', ['mean', 'no'])
def test_black_out(reduce):
    t = np.array([0, 3], np.int32)
    samples = np.array([[1, 2], [0, 2]], np.int32)

    def expected(x, w):
        p = special.softmax(np.stack([w[[t[i], *samples[i]]] @ x[i] for i in range(2)]), axis=1)
        loss = -np.log(p[:, 0]) - np.log(1 - p[:, 1:]).sum(axis=1)
        return loss.mean() if reduce == 'mean' else loss

    check_function(
        lambda x, w: F.black_out(x, t, w, samples, reduce),
        [_sample((2, 3)), _sample((4, 3), 1)],
        expected,
        tolerances=LOOSE,
        on_chainerx=False,
    )


@pytest.mark.parametrize('norm', [1, 2])
def test_discriminative_loss(norm):
    labels = np.array([[[0, 1, 1], [2, 2, 1]], [[3, 3, 0], [0, 0, 3]]], np.int32)

    def expected(e):
        variance = distance = regular = 0
        for points, label in zip(e, labels):
            groups = [points[:, label == c].T for c in (1, 2, 3)]
            # Instances that an image lacks have a mean of zero, and no variance.
            means = [g.mean(0) if len(g) else np.zeros(4) for g in groups]
            length = lambda v: np.linalg.norm(v, norm, axis=-1)
            variance += np.mean(
                [
                    np.mean(np.maximum(length(g - m) - 0.2, 0) ** 2) if len(g) else 0
                    for g, m in zip(groups, means)
                ]
            )
            pairs = [
                np.maximum(2 * 1.5 - length(a - b), 0) ** 2
                for a, b in itertools.permutations(means, 2)
            ]
            distance += np.mean(pairs)
            regular += np.mean([length(m) for m in means])
        return variance / 2, distance / 2, 0.001 * regular / 2

    check_function(
        lambda e: F.discriminative_margin_based_clustering_loss(e, labels, 0.2, 1.5, 3, norm),
        [_sample((2, 4, 2, 3))],
        expected,
        tolerances=LOOSE,
        grad_tolerance=1e-3,
        on_chainerx=False,
    )


@pytest.mark.parametrize('shape', [(2, 3, 2), (6, 2), (2, 6), (1, 2, 3), (3, 2, 2), (2, 2, 3, 1)])
def test_discriminative_loss_of_labels_of_another_shape(shape):
    labels = np.zeros(shape, np.int32)
    with pytest.raises(type_check.InvalidType, match=r'labels\.shape'):
        F.discriminative_margin_based_clustering_loss(_sample((2, 4, 2, 3)), labels, 0.2, 1.5, 3)
