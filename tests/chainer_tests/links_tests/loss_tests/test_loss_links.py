import copy
import itertools

import numpy as np
import pytest

import chainer
from chainer import functions as F, links as L
from chainer.links.loss import hierarchical_softmax


def f(*shape):
    return np.random.uniform(-1, 1, shape).astype('f')


def i(*values):
    return np.array(values, 'i')


TREE = ((0, (3, 1)), 2)
# Inner nodes are numbered from the root, left before right.
CODES = {0: {0: 1, 1: 1}, 3: {0: 1, 1: -1, 2: 1}, 1: {0: 1, 1: -1, 2: -1}, 2: {0: -1}}


def expected_loss(x, t, W):
    return sum(
        np.log1p(np.exp(-code * (W[node] @ row)))
        for row, label in zip(x, t)
        for node, code in CODES[label].items()
    )


def test_hierarchical_softmax_values():
    link = L.BinaryHierarchicalSoftmax(4, TREE)
    assert link.W.shape == (3, 4) and (abs(link.W.array) <= 1).all()
    x, t = f(5, 4), i(0, 1, 2, 3, 1)
    loss = link(x, t)
    assert loss.shape == () and loss.dtype == np.float32
    np.testing.assert_allclose(loss.array, expected_loss(x, t, link.W.array), rtol=1e-5)
    # All labels together are sure.
    total = sum(np.exp(-link(x[:1], i(label)).array) for label in range(4))
    np.testing.assert_allclose(total, 1, rtol=1e-5)


def test_hierarchical_softmax_gradients():
    link = L.BinaryHierarchicalSoftmax(4, TREE)
    t = i(0, 1, 2, 3, 1)
    x, W = f(5, 4).astype('d'), link.W.array.astype('d')

    def loss(x, W):
        return copy.copy(link._func).apply((x, t, W))[0]

    chainer.gradient_check.check_backward(loss, (x, W), f().astype('d'), dtype='d')
    chainer.gradient_check.check_double_backward(
        loss, (x, W), f().astype('d'), (f(5, 4).astype('d'), f(3, 4).astype('d')), dtype='d'
    )


def test_hierarchical_softmax_without_samples():
    link = L.BinaryHierarchicalSoftmax(4, TREE)
    loss = link(f(0, 4), i())
    assert loss.array == 0
    link.cleargrads()
    loss.backward()
    assert (link.W.grad == 0).all()


def test_hierarchical_softmax_missing_labels():
    link = L.BinaryHierarchicalSoftmax(4, (5, 2))
    assert link.W.shape == (1, 4)
    x = f(1, 4)
    np.testing.assert_allclose(
        link(x, i(5)).array, np.log1p(np.exp(-x[0] @ link.W.array[0])), rtol=1e-5
    )


@pytest.mark.parametrize('tree', [((0, 1, 2), 3), ((0,), 1)])
def test_hierarchical_softmax_bad_tree(tree):
    with pytest.raises(ValueError, match='two child'):
        L.BinaryHierarchicalSoftmax(4, tree)


def test_hierarchical_softmax_bad_input():
    with pytest.raises(chainer.utils.type_check.InvalidType):
        L.BinaryHierarchicalSoftmax(4, TREE)(f(5, 3), i(0, 1, 2, 3, 1))


def test_huffman_tree():
    create = L.BinaryHierarchicalSoftmax.create_huffman_tree
    assert create({0: 8, 1: 5, 2: 6, 3: 4}) == ((3, 1), (2, 0))
    assert create({0: 1, 1: 1, 2: 1}) == (2, (0, 1))
    assert create({7: 3}) == 7
    with pytest.raises(ValueError, match='Empty vocabulary'):
        create({})


def test_deep_tree():
    tree = 0
    for label in range(1, 3000):
        tree = (tree, label)
    parser = hierarchical_softmax.TreeParser('f')
    parser.parse(tree)
    assert parser.size() == 2999
    assert len(parser.get_paths()[0]) == len(parser.get_codes()[0]) == 2999


def test_negative_sampling():
    link = L.NegativeSampling(4, [3, 1, 2], 5)
    assert link.W.shape == (3, 4) and (link.W.array == 0).all()
    link.W.array[...] = f(3, 4)
    x, t = f(2, 4), i(0, 2)
    loss, samples = link(x, t, reduce='no', return_samples=True)
    assert samples.shape == (2, 6)
    np.testing.assert_array_equal(samples[:, 0], t)
    scores = (link.W.array[samples] * x[:, None]).sum(2)
    scores[:, 0] *= -1
    np.testing.assert_allclose(loss.array, np.log1p(np.exp(scores)).sum(1), rtol=1e-5)
    assert link(x, t).shape == ()
    with pytest.raises(TypeError, match='samples'):
        link(x, t, samples=1)


@pytest.mark.parametrize('power, ratio', [(1, 8), (1 / 3, 2)])
def test_negative_sampling_power(power, ratio):
    link = L.NegativeSampling(4, [8, 1], 1, power=power)
    counts = np.bincount(link.sampler.sample(20000))
    np.testing.assert_allclose(counts[0] / counts[1], ratio, rtol=0.15)


def test_negative_sampling_dtype():
    assert L.NegativeSampling(4, [1, 2], 1, dtype='d').W.dtype == np.float64
    with chainer.using_config('dtype', np.float16):
        assert L.NegativeSampling(4, [1, 2], 1).W.dtype == np.float16
        assert L.BinaryHierarchicalSoftmax(4, TREE).W.dtype == np.float16


def test_black_out():
    link = L.BlackOut(4, [3, 1, 2], 5)
    link.W.array[...] = f(3, 4)
    x, t = f(2, 4), i(0, 2)
    link.sample_data = np.random.randint(0, 3, (2, 5)).astype('i')
    np.testing.assert_array_equal(
        link(x, t).array, F.black_out(x, t, link.W, link.sample_data).array
    )
    link.sample_data = None
    assert link(x, t).shape == ()


@pytest.mark.parametrize('reduce', ['mean', 'no'])
def test_crf(reduce):
    link = L.CRF1d(3, initial_cost=chainer.initializers.Normal(1))
    xs = [f(n, 3) for n in (1, 3, 2)]
    ys = [np.random.randint(0, 3, len(x)).astype('i') for x in xs]
    cost = link.cost.array

    def score(x, labels):
        return sum(x[t, label] for t, label in enumerate(labels)) + sum(
            cost[a, b] for a, b in zip(labels, labels[1:])
        )

    def all_scores(x):
        return {labels: score(x, labels) for labels in itertools.product(range(3), repeat=len(x))}

    expected = [
        np.log(sum(np.exp(s) for s in all_scores(x).values())) - score(x, y) for x, y in zip(xs, ys)
    ]
    loss = link(xs, ys, reduce=reduce, transpose=True)
    np.testing.assert_allclose(
        loss.array, np.mean(expected) if reduce == 'mean' else expected, rtol=1e-4
    )

    scores, paths = link.argmax(xs, transpose=True)
    for x, s, path in zip(xs, scores.array, paths):
        assert isinstance(path, np.ndarray)
        best = max(all_scores(x).items(), key=lambda item: item[1])
        assert tuple(path) == best[0]
        np.testing.assert_allclose(s, best[1], rtol=1e-4)


def test_crf_of_time_steps():
    link = L.CRF1d(3)
    assert (link.cost.array == 0).all()
    xs, ys = [f(2, 3), f(1, 3)], [i(0, 1), i(2)]
    link.cost.array[...] = f(3, 3)
    np.testing.assert_array_equal(link(xs, ys).array, F.crf1d(link.cost, xs, ys).array)
    scores, path = link.argmax(xs)
    expected_scores, expected_path = F.argmax_crf1d(link.cost, xs)
    np.testing.assert_array_equal(scores.array, expected_scores.array)
    for labels, expected in zip(path, expected_path, strict=True):
        np.testing.assert_array_equal(labels, expected)
    # One sequence of two steps, of which rows would make two sequences.
    scores, path = link.argmax([f(1, 3), f(1, 3)])
    assert scores.shape == (1,) and [p.shape for p in path] == [(1,), (1,)]
    _, path = link.argmax([f(2, 3), f(2, 3), f(1, 3)])
    assert [p.shape for p in path] == [(2,), (2,), (1,)]
