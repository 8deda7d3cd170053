"""Ranges that observers choose, against what NumPy says of all numbers at once."""

import numpy
import pytest

from chainer import quantization


def _batches(seed=0, shape=(20, 503)):
    return numpy.random.RandomState(seed).normal(0.5, 1, shape).astype(numpy.float32)


def _range_of(observer, batches):
    for x in batches:
        observer.update(x)
    return observer.range()


def test_min_max():
    batches = _batches()
    assert _range_of(quantization.MinMax(), batches) == (batches.min(), batches.max())


def test_moving_average_min_max():
    batches = _batches()
    low, high = batches[0].min(), batches[0].max()
    for x in batches[1:]:
        low, high = 0.75 * low + 0.25 * x.min(), 0.75 * high + 0.25 * x.max()
    observer = quantization.MovingAverageMinMax(0.75)
    numpy.testing.assert_allclose(_range_of(observer, batches), (low, high), rtol=1e-5)


@pytest.mark.parametrize('percent', [50, 90, 99.9, 100])
@pytest.mark.parametrize('scale', [1e-3, 1, 1e4])
def test_percentile(percent, scale):
    # Later batches are larger, so that the histogram grows several times.
    batches = _batches() * numpy.geomspace(0.01, 1, 20)[:, None] * scale
    low, high = _range_of(quantization.Percentile(percent), batches)
    cut = (100 - percent) / 2
    expected = numpy.percentile(batches, [cut, 100 - cut], method='inverted_cdf')
    width = 2 * 2 * abs(batches).max() / 4096  # of a bin, which may be twice as wide
    numpy.testing.assert_allclose((low, high), expected, atol=width)


def test_percentile_of_positive_numbers():
    low, high = _range_of(quantization.Percentile(99), numpy.array([[0.0] * 300 + [1, 2, 1000]]))
    assert low == 0 and high < 1000


def test_histogram_keeps_all_numbers():
    observer = quantization.Percentile()
    batches = [numpy.zeros(3), *_batches(), 1e6 * _batches(1)]
    _range_of(observer, batches)
    assert observer.counts.sum() == sum(x.size for x in batches)


@pytest.mark.parametrize('sign', [1, -1])
def test_entropy_takes_all_of_a_uniform_distribution(sign):
    x = sign * numpy.linspace(0, 3, 100000)
    low, high = _range_of(quantization.Entropy(), [x])
    numpy.testing.assert_allclose(max(-low, high), 3, rtol=0.05)
    assert (low if sign > 0 else high) == 0


def test_entropy_leaves_outliers_out():
    x = numpy.random.RandomState(0).normal(size=100000)
    _, without = _range_of(quantization.Entropy(), [x])
    x[:3] = 50
    low, high = _range_of(quantization.Entropy(), [x])
    assert 2 < without <= x[3:].max()
    assert 2 < high < 10 and low == pytest.approx(max(-high, x.min()))


def test_entropy_is_the_least_divergence():
    """An independent formula of the divergence, of every candidate."""
    observer = quantization.Entropy(levels=16, bins=1024)
    x = numpy.random.RandomState(1).standard_t(3, 5000)
    observer.update(x)
    counts, edges = numpy.histogram(x, 1024, (-abs(x).max(), abs(x).max()))
    losses = {}
    for size in numpy.unique(numpy.linspace(8, 512, 128).round().astype(int)):
        p = counts[512 - size : 512 + size].astype(float)
        q = numpy.zeros_like(p)
        for level in range(16):
            bins = [i for i in range(2 * size) if i * 16 // (2 * size) == level and p[i]]
            q[bins] = sum(p[bins]) / max(len(bins), 1)
        p[0] += counts[: 512 - size].sum()
        p[-1] += counts[512 + size :].sum()
        p, q = p / p.sum(), q / q.sum()
        terms = [a * numpy.log(a / max(b, 1e-12)) for a, b in zip(p, q) if a]
        losses[edges[512 + size]] = sum(terms)
    best = min(losses, key=losses.get)
    assert observer.range() == pytest.approx((max(-best, x.min()), min(best, x.max())))


@pytest.mark.parametrize(
    'cls',
    [
        quantization.MinMax,
        quantization.MovingAverageMinMax,
        quantization.Percentile,
        quantization.Entropy,
    ],
)
@pytest.mark.parametrize('value', [0, 2.5, -3])
def test_one_number(cls, value):
    assert _range_of(cls(), [numpy.full((), value, numpy.float16)]) == (value, value)


@pytest.mark.parametrize(
    ('cls', 'options', 'message'),
    [
        (quantization.MovingAverageMinMax, {'decay': 1}, 'decay must be .*, but is 1'),
        (quantization.MovingAverageMinMax, {'decay': -0.1}, 'decay must be .*, but is -0.1'),
        (quantization.Percentile, {'percent': 0}, 'percent must be .*, but is 0'),
        (quantization.Percentile, {'percent': 101}, 'percent must be .*, but is 101'),
        (quantization.Percentile, {'bins': 1001}, 'bins must be .*, but is 1001'),
        (quantization.Entropy, {'levels': 1}, 'levels must be .*, but is 1'),
        (quantization.Entropy, {'bins': 2048, 'levels': 1025}, 'levels must be .*, but is 1025'),
    ],
)
def test_wrong_options(cls, options, message):
    with pytest.raises(ValueError, match=message):
        cls(**options)


def test_an_observer_of_the_user():
    with pytest.raises(NotImplementedError):
        quantization.Observer().update(numpy.zeros(1))
    with pytest.raises(NotImplementedError):
        quantization.Observer().range()
