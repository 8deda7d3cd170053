"""Random arrays and dropout of ChainerX."""

import numpy as np
import pytest
import scipy.stats

import chainerx

pytestmark = pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built')


@pytest.fixture
def seeded():
    chainerx.random.seed(7)
    yield
    chainerx.random.seed()


def _numpy(x):
    return chainerx.to_numpy(x)


@pytest.mark.parametrize(
    ('name', 'args'),
    [
        ('normal', (1, 2)),
        ('normal', ([0, 1], [[1], [2]])),
        ('uniform', (1, 2)),
        ('randint', (-3, 9)),
    ],
)
def test_numpy_generator_unless_seeded(name, args):
    size = (2, 2)
    np.random.seed(5)
    expected = getattr(np.random, name)(*args, size=size)
    np.random.seed(5)
    x = getattr(chainerx.random, name)(*args, size=size, device='native:1')
    assert x.device.name == 'native:1'
    chainerx.testing.assert_array_equal_ex(x, expected)
    scalar = [np.ravel(a)[0].item() for a in args]
    assert getattr(chainerx.random, name)(*scalar).shape == ()


@pytest.mark.parametrize(
    'draw',
    [
        lambda: chainerx.random.normal(size=5),
        lambda: chainerx.random.standard_normal(5),
        lambda: chainerx.random.uniform(size=5),
        lambda: chainerx.random.randint(1 << 40, size=5),
    ],
)
def test_seed(draw, seeded):
    first, second = _numpy(draw()), _numpy(draw())
    assert not (first == second).any()
    chainerx.random.seed(7)
    np.testing.assert_array_equal(_numpy(draw()), first)
    chainerx.random.seed(8)
    assert not (_numpy(draw()) == first).any()
    chainerx.random.seed()
    np.random.seed(7)
    expected = draw()
    np.random.seed(7)
    chainerx.testing.assert_array_equal_ex(draw(), expected)


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
@pytest.mark.parametrize(
    ('name', 'args', 'distribution'),
    [
        ('normal', (2, 3), scipy.stats.norm(2, 3)),
        ('uniform', (-1, 3), scipy.stats.uniform(-1, 4)),
    ],
)
def test_distributions(name, args, distribution, dtype, seeded):
    x = getattr(chainerx.random, name)(*args, size=20011, dtype=dtype)
    assert x.dtype == dtype
    assert scipy.stats.kstest(_numpy(x).astype('d'), distribution.cdf).pvalue > 1e-3


@pytest.mark.parametrize('name', ['normal', 'uniform'])
def test_arrays_of_parameters(name, seeded):
    draw = getattr(chainerx.random, name)
    a, b = np.array([0.0, 100.0]), np.array([[1.0], [2.0], [0.0]])
    b = b if name == 'normal' else a + b
    chainerx.random.seed(1)
    standard = _numpy(draw(0, 1, size=(3, 2), dtype='float32'))
    chainerx.random.seed(1)
    x = draw(a, b, dtype='float32')
    assert x.dtype == 'float32'
    factor = b if name == 'normal' else b - a
    np.testing.assert_allclose(_numpy(x), a + factor * standard, 1e-5)
    assert draw(a, b, size=(2, 3, 2)).shape == (2, 3, 2)
    with pytest.raises(ValueError, match='cannot be broadcast'):
        draw(a, b, size=(2,))


@pytest.mark.parametrize('dtype', ['int8', 'int32', 'int64'])
def test_randint(dtype, seeded):
    x = chainerx.random.randint(-2, 4, size=(60, 100), dtype=dtype)
    assert x.dtype == dtype
    values, counts = np.unique(_numpy(x), return_counts=True)
    assert values.tolist() == [-2, -1, 0, 1, 2, 3]
    assert scipy.stats.chisquare(counts).pvalue > 1e-3
    assert chainerx.random.randint(1).item() == 0


def test_empty_and_scalars(seeded):
    assert chainerx.random.normal(size=(2, 0)).shape == (2, 0)
    assert chainerx.random.uniform().shape == ()
    assert chainerx.random.randint(3, size=3, device='native:1').device.name == 'native:1'


def test_number_of_threads_does_not_matter(seeded):
    core = chainerx._core
    n = core._get_num_threads()
    results = []
    try:
        for threads in 1, 3:
            core._set_num_threads(threads)
            chainerx.random.seed(2)
            results.append(_numpy(chainerx.random.normal(size=100001)))
    finally:
        core._set_num_threads(n)
    np.testing.assert_array_equal(*results)


def test_rand_and_randn():
    for name in 'rand', 'randn':
        draw = getattr(chainerx.random, name)
        np.random.seed(3)
        expected = getattr(np.random, name)(2, 3)
        np.random.seed(3)
        chainerx.testing.assert_array_equal_ex(draw(2, 3), expected)
        x = draw(2, dtype='float32', device='native:1')
        assert (x.shape, x.dtype, x.device.name) == ((2,), 'float32', 'native:1')
        assert draw().shape == ()


VECTOR = np.array([3.0, 1.0, 4.0, 1.5, 9.0])
MATRIX = np.arange(12).reshape(4, 3)
CHOICES = [
    (5, 3),
    (5, (2, 3)),
    (5, None),
    (5, 4, False),
    (5, (2, 2), True, [0.5, 0.25, 0, 0, 0.25]),
    (5, 2, False, [0.5, 0.25, 0, 0, 0.25]),
    (VECTOR, 4),
    (VECTOR, 5, False),
    (VECTOR, 0),
    (VECTOR[:0], 0),
    (0, (2, 0)),
    (0, 0, False),
]


@pytest.mark.parametrize('args', CHOICES, ids=str)
def test_choice(args):
    def draw():
        return chainerx.random.choice(
            *[chainerx.array(a) if isinstance(a, np.ndarray) else a for a in args]
        )

    np.random.seed(5)
    expected = np.asarray(np.random.choice(*args))
    np.random.seed(5)
    actual = draw()
    np.testing.assert_array_equal(_numpy(actual), expected)
    assert actual.shape == expected.shape and actual.dtype == expected.dtype
    chainerx.random.seed(1)
    seeded = draw()
    chainerx.random.seed(1)
    np.testing.assert_array_equal(_numpy(draw()), _numpy(seeded))
    chainerx.random.seed()
    assert seeded.shape == expected.shape and seeded.dtype == expected.dtype
    assert np.isin(_numpy(seeded), args[0] if args[0] is VECTOR else np.arange(5)).all()
    if len(args) > 2 and not args[2]:
        assert len(np.unique(_numpy(seeded))) == seeded.size


@pytest.mark.parametrize('replace', [True, False])
@pytest.mark.parametrize('p', [None, [0.1, 0.2, 0, 0.7]], ids=str)
def test_frequencies_of_choices(p, replace, seeded):
    n, rounds = 4, 4000
    if replace:
        x = _numpy(chainerx.random.choice(n, rounds, p=p))
    else:
        # The first of several has the same distribution.
        x = np.array([chainerx.random.choice(n, 2, False, p)[0].item() for _ in range(rounds)])
    expected = np.full(n, 1 / n) if p is None else np.array(p)
    counts = np.bincount(x, minlength=n)
    assert (counts[expected == 0] == 0).all()
    used = expected > 0
    assert scipy.stats.chisquare(counts[used], rounds * expected[used]).pvalue > 1e-3


@pytest.mark.parametrize('x', [0, 1, 6, VECTOR, MATRIX, np.zeros((0, 2))], ids=repr)
def test_permutation_and_shuffle(x):
    is_array = isinstance(x, np.ndarray)
    np.random.seed(2)
    expected = np.random.permutation(x)
    np.random.seed(2)
    actual = chainerx.random.permutation(chainerx.array(x) if is_array else x)
    chainerx.testing.assert_array_equal_ex(actual, expected)
    chainerx.random.seed(4)
    seeded = _numpy(chainerx.random.permutation(chainerx.array(x) if is_array else x))
    chainerx.random.seed()
    assert sorted(seeded.tolist()) == sorted(expected.tolist())
    if is_array:
        a, array = x.copy(), chainerx.array(x)
        np.random.seed(2)
        np.random.shuffle(a)
        np.random.seed(2)
        assert chainerx.random.shuffle(array) is None
        np.testing.assert_array_equal(_numpy(array), a)


def test_orders_are_equally_frequent(seeded):
    orders = [tuple(chainerx.random.permutation(3).tolist()) for _ in range(3000)]
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 6
    assert scipy.stats.chisquare(counts).pvalue > 1e-3


def test_devices_and_gradients_of_choices(seeded):
    x = chainerx.array(VECTOR, device='native:1').require_grad()
    for y in chainerx.random.choice(x, 3), chainerx.random.permutation(x):
        assert y.device.name == 'native:1' and y.is_backprop_required()
    assert chainerx.random.choice(3, 2, device='native:1').device.name == 'native:1'
    assert chainerx.random.permutation(3, device='native:1').device.name == 'native:1'
    with pytest.raises(chainerx.ChainerxError, match='graph'):
        chainerx.random.shuffle(x)


@pytest.mark.parametrize('is_seeded', [False, True])
@pytest.mark.parametrize(
    ('error', 'match', 'call'),
    [
        (ValueError, 'elements to choose', lambda r: r.choice(0)),
        (ValueError, 'elements to choose from, a is -1', lambda r: r.choice(-1)),
        (ValueError, r'a has shape \(0,\)', lambda r: r.choice(chainerx.zeros(0))),
        (ValueError, 'one dimension', lambda r: r.choice(chainerx.ones((2, 2)))),
        (ValueError, 'without replacement', lambda r: r.choice(3, 4, replace=False)),
        (ValueError, 'without replacement', lambda r: r.choice(2, 2, False, [1, 0])),
        (ValueError, 'shape', lambda r: r.choice(3, p=[0.5, 0.5])),
        (ValueError, 'negative', lambda r: r.choice(2, p=[1.5, -0.5])),
        (ValueError, 'NaN', lambda r: r.choice(2, p=[np.nan, 0.5])),
        (ValueError, 'sum', lambda r: r.choice(2, p=chainerx.array([0.5, 0.6]))),
        (TypeError, 'float', lambda r: r.choice(2.5)),
        (TypeError, 'float', lambda r: r.permutation(2.5)),
        (ValueError, 'negative', lambda r: r.permutation(-1)),
        (chainerx.DimensionError, 'permutation', lambda r: r.permutation(chainerx.array(1))),
        (chainerx.DimensionError, 'shuffle', lambda r: r.shuffle(chainerx.array(1))),
        (TypeError, 'chainerx.ndarray', lambda r: r.shuffle([1, 2])),
        (chainerx.DtypeError, 'dtype', lambda r: r.rand(2, dtype='clongdouble')),
    ],
)
def test_wrong_choices(error, match, call, is_seeded):
    chainerx.random.seed(0 if is_seeded else None)
    try:
        with pytest.raises(error, match=match):
            call(chainerx.random)
    finally:
        chainerx.random.seed()


@pytest.mark.parametrize(
    ('error', 'match', 'call'),
    [
        (ValueError, 'seed', lambda: chainerx.random.seed(-1)),
        (ValueError, 'seed', lambda: chainerx.random.seed(2**63)),
        (ValueError, 'scale', lambda: chainerx.random.normal(0, -1)),
        (ValueError, 'scale', lambda: chainerx.random.normal(0, [1, -1])),
        (chainerx.DtypeError, 'dtype', lambda: chainerx.random.normal(dtype='int32')),
        (chainerx.DtypeError, 'dtype', lambda: chainerx.random.uniform(dtype='bool')),
        (chainerx.ChainerxError, 'not finite', lambda: chainerx.random.uniform(0, np.inf)),
        (ValueError, 'low must be below', lambda: chainerx.random.randint(2, 2)),
        (chainerx.DimensionError, 'negative', lambda: chainerx.random.uniform(size=-1)),
    ],
)
def test_bad_input(error, match, call, seeded):
    with pytest.raises(error, match=match):
        call()


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
@pytest.mark.parametrize('ratio', [0, 0.25, 0.9])
def test_dropout(dtype, ratio):
    a = np.linspace(1, 2, 20000).reshape(100, 200).astype(dtype)
    y = chainerx.dropout(chainerx.array(a.T).T, ratio)
    assert y.dtype == dtype
    y = _numpy(y)
    kept = y != 0
    assert abs(kept.mean() - (1 - ratio)) < 0.02
    np.testing.assert_allclose(
        y, np.where(kept, a / (1 - ratio), 0), 2e-3 if dtype == 'float16' else 1e-6
    )


def test_dropout_gradients(seeded):
    arrays = np.random.RandomState(0).uniform(1, 2, (3, 4, 10))
    x, gy, ggx = map(chainerx.array, arrays)
    x.require_grad()
    gy.require_grad()

    def dropout(xs):
        chainerx.random.seed(4)
        return (chainerx.dropout(xs[0], 0.3),)

    eps = chainerx.full(x.shape, 1e-3)
    chainerx.check_backward(dropout, [x], [gy], [eps])
    chainerx.check_double_backward(dropout, [x], [gy], [ggx], [eps, eps])
    y = chainerx.dropout(x, 0.5)
    (gx,) = chainerx.grad([y.sum()], [x])
    np.testing.assert_array_equal(_numpy(gx), 2.0 * (_numpy(y.as_grad_stopped()) != 0))


def test_dropout_with_mask():
    x = chainerx.array(np.arange(6, dtype='f').reshape(2, 3)).require_grad()
    mask = np.array([0, 2, 3], 'd')
    y = chainerx.dropout(x, mask=chainerx.array(mask))
    chainerx.testing.assert_array_equal_ex(
        y.as_grad_stopped(), np.array([[0, 2, 6], [0, 8, 15]], 'f')
    )
    chainerx.backward(y.sum())
    chainerx.testing.assert_array_equal_ex(x.grad, np.array([mask, mask], 'f'))


def test_dropout_of_nothing():
    assert chainerx.dropout(chainerx.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize(
    ('error', 'match', 'call'),
    [
        (chainerx.ChainerxError, 'ratio', lambda x: chainerx.dropout(x, 1)),
        (chainerx.ChainerxError, 'ratio', lambda x: chainerx.dropout(x, -0.1)),
        (chainerx.ChainerxError, 'ratio', lambda x: chainerx.dropout(x, float('nan'))),
        (chainerx.DtypeError, 'floating', lambda x: chainerx.dropout(x.astype('int32'))),
        (
            chainerx.DimensionError,
            'mask',
            lambda x: chainerx.dropout(x, mask=chainerx.ones((2, 1, 3))),
        ),
        (TypeError, 'mask', lambda x: chainerx.dropout(x, mask=1)),
    ],
)
def test_dropout_bad_input(error, match, call):
    with pytest.raises(error, match=match):
        call(chainerx.zeros((2, 3)))
