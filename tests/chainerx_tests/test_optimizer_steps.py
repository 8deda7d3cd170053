"""Fused steps of optimizers, which change arrays in place, against their formulas."""

import numpy as np
import pytest
from helpers.update_rules import ROWS, adam

import chainerx
from chainerx import _core
from tests.helpers.cuda_emulation import count_launches, is_emulated

DTYPES = 'float16', 'float32', 'float64'
TOL = {'float16': 3e-3, 'float32': 1e-6, 'float64': 1e-14}
# The first step and a later one, of which the scalars differ.
CASES = [
    (row.formula, len(row.states), row.scalars(row.make().hyperparam, t))
    for row in ROWS
    for t in (1, 5)
]
all_cases = pytest.mark.parametrize(
    'reference,n_states,scalars', CASES, ids=[f'{c[0].__name__}-{i}' for i, c in enumerate(CASES)]
)


def _values(n, dtype, shape=(3, 4), seed=0):
    rng = np.random.default_rng(seed)
    return [np.asarray(np.abs(rng.normal(size=shape)) + 0.1).astype(dtype) for _ in range(n)]


def _step(reference, columns, scalars):
    arrays = [array for column in columns for array in column]
    getattr(_core, f'_{reference.__name__}_update')(arrays, scalars)


def _check(reference, n_states, scalars, rows, make=chainerx.array):
    """One step on arrays made of the rows of values: parameter, gradient, states."""
    columns = [[make(v) for v in column] for column in zip(*rows)]
    _step(reference, columns, scalars)
    for k, values in enumerate(rows):
        expected = reference(*(v.astype('float64') for v in values), *scalars)
        got = [column[k] for column in columns]
        chainerx.testing.assert_array_equal(got[1], values[1])
        tol = TOL[values[0].dtype.name]
        for x, e in zip([got[0], *got[2:]], expected):
            assert x.dtype == values[0].dtype
            chainerx.testing.assert_allclose(x, e, rtol=tol, atol=tol)


@pytest.mark.parametrize('dtype', DTYPES)
@all_cases
def test_values(reference, n_states, scalars, dtype):
    rows = [
        _values(2 + n_states, dtype, shape, seed)
        for seed, shape in enumerate([(3, 4), (), (0, 2), (5,)])
    ]
    _check(reference, n_states, scalars, rows)


@all_cases
def test_arrays_that_are_not_contiguous(reference, n_states, scalars):
    def make(value):
        return chainerx.array(np.stack([value, value], -1))[..., 1]

    rows = [_values(2 + n_states, 'float32', (4, 3)), _values(2 + n_states, 'float32', (2,))]
    assert not make(rows[0][0]).is_contiguous
    _check(reference, n_states, scalars, rows, make)


@pytest.mark.parametrize('dtype', DTYPES)
def test_many_elements(dtype):
    rows = [_values(4, dtype, (n,), n) for n in (1, 32768, 32769, 7, 100000, 0, 3, *[900] * 80)]
    _check(adam, 2, [0.2, 0.1, 0.01, 1e-3, 1.5, 0.05, 0.2, 0.3], rows)


#: Around the elements that a block of a GPU takes, of each dtype. A launch takes less than 130 parameters.
SIZES = [0, 1, 3, 0, 511, 512, 513, 8, 1023, 1024, 1025, 2047, 2048, 2049, 0, *[5] * 120, 1030, 0]


@pytest.mark.parametrize('dtype', DTYPES)
@all_cases
def test_many_parameters(reference, n_states, scalars, dtype):
    """Each is a view of an array, of which the other elements keep their values."""
    ends = np.cumsum(SIZES)
    starts = [i // 2 % 2 for i in range(len(SIZES))]  # some arrays are aligned
    rng = np.random.default_rng(0)
    # The first state is larger: some rules take the root of its distance from squares of others.
    ranges = [(1, 1.2) if k == 2 else (0.1, 0.2) for k in range(2 + n_states)]
    columns = [rng.uniform(*r, ends[-1]).astype(dtype) for r in ranges]
    new, *states = reference(*(c.astype('float64') for c in columns), *scalars)

    def split(column):
        return np.split(column, ends[:-1])

    guarded = [
        [chainerx.array(np.pad(v, (i, 1), constant_values=7)) for i, v in zip(starts, split(c))]
        for c in columns
    ]
    _step(reference, [[x[i:-1] for i, x in zip(starts, c)] for c in guarded], scalars)
    for arrays, expected in zip(guarded, (new, columns[1], *states), strict=True):
        expected = [np.pad(e, (i, 1), constant_values=7) for i, e in zip(starts, split(expected))]
        got = np.concatenate([chainerx.to_numpy(x) for x in arrays])
        np.testing.assert_allclose(got, np.concatenate(expected), rtol=TOL[dtype], atol=TOL[dtype])


def test_gradients_that_are_misaligned():
    p, g = _values(2, 'float32', (1030,))
    x = chainerx.array(p)
    _core._sgd_update([x, chainerx.array(np.pad(g, 1))[1:-1]], [0.5])
    chainerx.testing.assert_array_equal(x, p - np.float32(0.5) * g)


@pytest.mark.skipif(not is_emulated(), reason='counts the launches of the emulation')
@pytest.mark.parametrize('most', [1, 2])
@all_cases
def test_parameters_share_launches(reference, n_states, scalars, most):
    # Tens fit a launch, and one of many elements takes no more.
    n, sizes = 2 + n_states, [3] * 60 * most + [10**5, 0]
    columns = [[chainerx.ones(size) for size in sizes] for _ in range(n)]
    whole = chainerx.ones(sum(sizes))  # parameters may be parts of one array
    ends = np.cumsum(sizes).tolist()
    columns[0] = [whole[end - size : end] for size, end in zip(sizes, ends)]
    assert count_launches(lambda: _step(reference, columns, scalars)) <= most


@pytest.mark.skipif(not is_emulated(), reason='counts the launches of the emulation')
def test_empty_parameters_need_no_launch():
    arrays = [chainerx.ones((0, 3)) for _ in range(4)]
    assert count_launches(lambda: _core._sgd_update(arrays, [0.5])) == 0


@pytest.mark.parametrize('n', [3, 300])
def test_parameters_that_share_memory(n):
    # Both steps count, whichever view they are taken through.
    x = chainerx.ones((n, n), 'float64')
    g = chainerx.array(np.arange(n * n).reshape(n, n).astype('float64'))
    _core._sgd_update([x, x.T, x, g, g, g], [0.5])
    g = np.arange(n * n).reshape(n, n)
    chainerx.testing.assert_array_equal(x, 1 - g - 0.5 * g.T)


def test_no_parameters():
    _core._sgd_update([], [0.5])


def test_array_of_a_graph_is_changed_in_place():
    x = chainerx.ones(2).require_grad()
    _core._sgd_update([x, chainerx.ones(2)], [0.5])
    chainerx.testing.assert_array_equal(x.as_grad_stopped(), np.full(2, 0.5, 'float32'))


def test_graph_goes_on_with_the_new_parameters():
    x, w = (chainerx.full(2, v).require_grad() for v in (3.0, 5.0))
    y = x * w
    y.sum().backward()
    chainerx.testing.assert_array_equal(x.grad, np.full(2, 5.0))
    _core._sgd_update([w, w.grad], [1.0])
    (y * 10).sum().backward()
    chainerx.testing.assert_array_equal(w.as_grad_stopped(), np.full(2, 2.0))
    chainerx.testing.assert_array_equal(x.grad, np.full(2, 5.0 + 10 * 2))


@pytest.mark.parametrize(
    'arrays,scalars,error,match',
    [
        ([(2,), (3,)], [1], chainerx.DimensionError, 'shape'),
        ([(2,), (2,), (2,)], [1], chainerx.DimensionError, 'every parameter needs 2 arrays, but 3'),
        ([(2,), (2,)], [1, 2], chainerx.DimensionError, 'expected 1 scalars, not 2'),
        ([(2,), (2,)], [], chainerx.DimensionError, 'expected 1 scalars, not 0'),
        ([(2,), ((2,), 'float64')], [1], chainerx.DtypeError, 'float32 and float64'),
        ([((2,), 'int32'), ((2,), 'int32')], [1], chainerx.DtypeError, 'floating point'),
    ],
)
def test_errors(arrays, scalars, error, match):
    arrays = [
        chainerx.ones(*(a if a and isinstance(a[0], tuple) else (a, 'float32'))) for a in arrays
    ]
    with pytest.raises(error, match=match):
        _core._sgd_update(arrays, scalars)
    for a in arrays:
        chainerx.testing.assert_array_equal(a, np.ones(a.shape, a.dtype))


def test_bad_types():
    with pytest.raises(TypeError, match='arrays'):
        _core._sgd_update([np.ones(2), np.ones(2)], [1])
    with pytest.raises(TypeError, match='scalars'):
        _core._sgd_update([], 'lr')
