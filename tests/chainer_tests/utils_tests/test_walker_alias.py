import numpy
import pytest

import chainer
from chainer import utils
from tests.helpers.devices import CHX


def distribution_of(sampler):
    """The exact distribution that the table stands for."""
    n = len(sampler.threshold)
    probs = numpy.zeros(n)
    for i in range(n):
        probs[sampler.values[2 * i]] += sampler.threshold[i] / n
        probs[sampler.values[2 * i + 1]] += (1 - sampler.threshold[i]) / n
    return probs


@pytest.mark.parametrize(
    'probs',
    [
        [1],
        [1, 1, 1],
        [5, 3, 4, 1, 2],
        [0, 1],
        [1e-8, 1, 1e-8],
        [0.1] * 10,
        numpy.random.RandomState(0).rand(100),
    ],
    ids=len,
)
def test_table(probs):
    sampler = utils.WalkerAlias(probs)
    numpy.testing.assert_allclose(
        distribution_of(sampler), numpy.asarray(probs) / numpy.sum(probs), atol=1e-6
    )


def test_sample():
    probs = numpy.array([5, 0, 4, 1], 'f')
    sampler = utils.WalkerAlias(probs)
    samples = sampler.sample((1000, 10))
    assert samples.shape == (1000, 10) and samples.dtype == numpy.int32
    frequency = numpy.bincount(samples.ravel(), minlength=4) / samples.size
    numpy.testing.assert_allclose(frequency, probs / 10, atol=0.03)
    assert frequency[1] == 0
    assert sampler.sample(()).shape == ()
    assert sampler.sample_xp(numpy, 3).shape == (3,)


@pytest.mark.parametrize(
    'probs,threshold,values,samples',
    [
        ([1, 2, 3, 4], [0.4, 0.8, 0.6, 1], [0, 2, 1, 3, 2, 3, 3, 0], [3, 2, 3, 3]),
        (numpy.array([0.5, 0.5]), [1, 1], [0, 0, 1, 0], [1, 1, 1, 1]),
    ],
    ids=['uneven', 'even'],
)
def test_seeded(probs, threshold, values, samples):
    sampler = utils.WalkerAlias(probs)
    numpy.testing.assert_allclose(sampler.threshold, threshold, rtol=1e-6)
    assert sampler.values.tolist() == values
    numpy.random.seed(4)
    assert sampler.sample(4).tolist() == samples


def test_empty():
    sampler = utils.WalkerAlias([])
    assert sampler.sample(0).shape == (0,)
    with pytest.raises(IndexError):
        sampler.sample(1)


def test_devices():
    sampler = utils.WalkerAlias([1, 2])
    assert not sampler.use_gpu
    assert sampler.to_device('@numpy') is sampler
    assert sampler.device == chainer.get_device('@numpy')


@pytest.mark.chainerx
def test_chainerx():
    import chainerx

    sampler = utils.WalkerAlias([1, 2]).to_device(CHX[0])
    samples = sampler.sample((3, 4))
    assert isinstance(samples, chainerx.ndarray) and samples.shape == (3, 4)


@pytest.mark.gpu
def test_gpu():
    sampler = utils.WalkerAlias([1, 2]).to_device('@cupy:0')
    assert sampler.use_gpu
    samples = sampler.sample((100,)).get()
    assert set(samples) == {0, 1} and samples.dtype == numpy.int32


@pytest.mark.parametrize('probs', [[[1]], 1, [-1, 2], [0, 0], [numpy.nan]])
def test_bad(probs):
    with pytest.raises(ValueError, match='probs must be'):
        utils.WalkerAlias(probs)
