"""Tests of every op, made from its row in the table: values, dtypes, layouts, shapes, gradients."""

import warnings

import numpy as np
import pytest
from chainerx_tests.all_ops import as_list, function, make_inputs, run, run_on
from chainerx_tests.dtypes import promote, to_float
from op_table import ROWS
from op_table.row import ALL

import chainerx
from tests.helpers.devices import CHX

CASES = [pytest.param(row, i, id=f'{row.name}-{i}') for row in ROWS for i in range(len(row.cases))]
GRAD_CASES = [case for case in CASES if case.values[0].grad]
ELEMENTWISE = [pytest.param(row, id=row.name) for row in ROWS if row.elementwise]


def expect(row, arrays, kwargs):
    """The right values, from double precision where the inputs are floating point."""
    wide = [
        a.astype('float64') if a.dtype.kind == 'f' or row.result == 'float' else a for a in arrays
    ]
    with np.errstate(all='ignore'):
        return [np.asarray(y) for y in as_list(row.call(row.reference, wide, kwargs))]


def expected_dtype(row, dtype):
    dtype = np.dtype(dtype)
    if row.result in ('bool', 'int64'):
        return np.dtype(row.result)
    if row.result == 'sum' and dtype.kind in 'biu':
        return np.dtype('uint64' if dtype == 'uint64' else 'int64')
    if row.result == 'float':
        return np.dtype(to_float(dtype))
    return dtype


def compare(row, actual, expected, dtype):
    assert len(actual) == len(expected)
    tolerance = row.tolerance.get(np.dtype(dtype).name, 1e-6)
    for a, e in zip(actual, expected):
        assert a.shape == e.shape
        tol = max(tolerance, {'float16': 2e-3}.get(a.dtype.name, 0))
        np.testing.assert_allclose(chainerx.to_numpy(a), e.astype(a.dtype), rtol=tol, atol=tol)


@pytest.mark.parametrize('row, case', CASES)
def test_forward(row, case):
    for dtype in row.dtypes:
        arrays, kwargs = make_inputs(row, case, dtype)
        actual = run(row, arrays, kwargs)
        compare(row, actual, expect(row, arrays, kwargs), dtype)
        if row.result is not None:
            for y in actual:
                assert y.dtype == expected_dtype(row, dtype), (dtype, y.dtype)


def transposed(x):
    return chainerx.array(x.T.copy(order='C')).T


def with_gaps(x):
    return chainerx.array(np.repeat(x[..., None], 2, axis=-1))[..., 1]


def backwards(x):
    return chainerx.array(np.flip(x).copy())[(slice(None, None, -1),) * x.ndim]


def between_others(x):
    wide = chainerx.array(np.stack([x, x, x], min(x.ndim, 1)))
    return wide[:, 1] if x.ndim else wide[1]


LAYOUTS = transposed, with_gaps, backwards, between_others


@pytest.mark.parametrize('row, case', CASES)
def test_layouts(row, case):
    dtype = 'float32' if 'float32' in row.dtypes else row.dtypes[-1]
    arrays, kwargs = make_inputs(row, case, dtype)
    expected = expect(row, arrays, kwargs)
    for layout in LAYOUTS:
        compare(row, run_on(row, [layout(a) for a in arrays], kwargs), expected, dtype)


@pytest.mark.parametrize('row, case', CASES)
def test_stride_zero(row, case):
    """All rows (for matrices: all matrices) are the same memory."""
    dtype = 'float32' if 'float32' in row.dtypes else row.dtypes[-1]
    arrays, kwargs = make_inputs(row, case, dtype)
    xs = [chainerx.array(a) for a in arrays]
    for i, (spec, a) in enumerate(zip(row.cases[case][0], arrays)):
        if a.ndim > (2 if spec.matrix else 0):
            arrays[i] = np.broadcast_to(a[:1], a.shape).copy()
            xs[i] = chainerx.broadcast_to(chainerx.array(a[:1]), a.shape)
    compare(row, run_on(row, xs, kwargs), expect(row, arrays, kwargs), dtype)


@pytest.mark.parametrize('row', [p for p in ELEMENTWISE if len(p.values[0].cases[0][0]) == 1])
def test_numbers(row):
    """A number stands for the array that ``chainerx.array`` makes of it."""
    f = function(row.name)
    (spec,) = row.cases[0][0]
    middle = (spec.low + spec.high) / 2
    for number in (
        middle,
        1,
        True,
        np.float16(middle),
        np.float32(middle),
        np.int8(1),
        np.bool_(True),
    ):
        try:
            expected = f(chainerx.array(number))
        except chainerx.DtypeError:
            with pytest.raises(chainerx.DtypeError):
                f(number)
            continue
        other = chainerx.get_device(CHX[1])
        with chainerx.using_device(other):
            actual = f(number)
        assert actual.device is other
        assert actual.dtype == expected.dtype
        assert actual.shape == ()
        np.testing.assert_array_equal(chainerx.to_numpy(actual), chainerx.to_numpy(expected))


def across(shape, seed, dtype):
    """An array whose last axis is not the one along which its elements are neighbours."""
    x = (
        np.random.default_rng(seed)
        .integers(1, 9, shape[:-2] + (shape[-1], shape[-2]))
        .astype(dtype)
    )
    return x.swapaxes(-1, -2), chainerx.array(x).swapaxes(-1, -2)


@pytest.mark.parametrize('dtype', ['int16', 'int32', 'float16', 'float32', 'float64'])
@pytest.mark.parametrize(
    'shape', [(32, 32), (33, 300), (70, 513), (3, 40, 35), (31, 33), (33, 2)], ids=str
)
def test_operands_across_each_other(shape, dtype):
    a, x = across(shape, 0, dtype)
    b, y = across(shape, 1, dtype)
    c = np.random.default_rng(2).integers(1, 9, shape).astype(dtype)
    z = chainerx.array(c)
    condition = c > 4
    one = chainerx.array(condition)
    for actual, expected in [
        (x + z, a + c),
        (z - x, c - a),
        (x[..., :1] * z, a[..., :1] * c),
        (x * y, a * b),
        (x + 1, a + 1),
        (z[0] + x, c[0] + a),
        (x[..., ::-1] + z, a[..., ::-1] + c),
        (x[..., ::2, :] + z[..., ::2, :], a[..., ::2, :] + c[..., ::2, :]),
        (chainerx.where(one, x, z), np.where(condition, a, c)),
        (chainerx.where(chainerx.array(condition.T).T, z, x), np.where(condition, c, a)),
    ]:
        np.testing.assert_array_equal(chainerx.to_numpy(actual), expected)


@pytest.mark.parametrize('dtype', ['int8', 'int16', 'int32', 'float16', 'float32', 'float64'])
@pytest.mark.parametrize('step', [1, 2, 3, -1, -2])
def test_steps(dtype, step):
    a = np.random.default_rng(0).integers(1, 9, (3, 2500)).astype(dtype)
    for part in np.s_[:, ::step], np.s_[:, 1:-1:step], np.s_[::step, :7]:
        x = chainerx.array(a)[part]
        np.testing.assert_array_equal(chainerx.to_numpy(x + 1), a[part] + 1)
        np.testing.assert_array_equal(chainerx.to_numpy(x.copy()), a[part])


@pytest.mark.parametrize('dtype', ['int8', 'int64', 'float16', 'float32', 'float64'])
@pytest.mark.parametrize('length', [1, 511, 512, 513, 3000])
def test_positions_of_extremes_in_long_rows(length, dtype):
    random = np.random.default_rng(length)
    a = random.integers(-50, 50, (8, length)).astype(dtype)  # with many equal ones
    a[1] = 3
    if a.dtype.kind == 'f':
        a[2, length // 2 :] = np.nan
        a[3, -1] = np.nan
        a[4], a[5], a[6] = np.inf, -np.inf, np.nan
    x = chainerx.array(a)
    for name in 'argmax', 'argmin':
        for axis in None, 1, 0:
            np.testing.assert_array_equal(
                chainerx.to_numpy(getattr(x, name)(axis)), getattr(a, name)(axis)
            )


@pytest.mark.parametrize('row', ELEMENTWISE)
@pytest.mark.parametrize('shape', [(), (0,), (2, 0, 3), (1,), (3, 1, 2), (37,)], ids=str)
def test_shapes(row, shape):
    dtype = row.dtypes[-1]
    arrays, kwargs = make_inputs(row, 0, dtype, [shape] * len(row.cases[0][0]))
    compare(row, run(row, arrays, kwargs), expect(row, arrays, kwargs), dtype)


NUMPY_ITSELF = [
    row
    for row in ROWS
    if not row.elementwise
    and row.reference is getattr(np, row.name, None)
    and all(spec.values is None for spec in row.cases[0][0])
]


@pytest.mark.parametrize('row', NUMPY_ITSELF, ids=repr)
@pytest.mark.parametrize('shape', [(), (0,), (0, 2), (2, 0), (2, 0, 3)], ids=str)
def test_empty_and_0d(row, shape):
    """Gives what NumPy gives, and refuses what NumPy refuses."""
    dtype = row.dtypes[-1]
    for specs, kwargs in row.cases:
        if shape == () and ('axis' in kwargs or row.name == 'argsort'):
            continue  # NumPy takes the axes 0 and -1 of arrays that have none
        arrays = [spec.make(dtype, np.random.default_rng(0), shape) for spec in specs]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore', RuntimeWarning)
                expected = expect(row, arrays, kwargs)
        except (ValueError, IndexError, TypeError, ZeroDivisionError, DeprecationWarning):
            with pytest.raises((chainerx.ChainerxError, ValueError)):
                run(row, arrays, kwargs)
            continue
        compare(row, run(row, arrays, kwargs), expected, dtype)
        if row.grad:
            xs = [chainerx.array(a).require_grad() for a in arrays]
            ys = run_on(row, xs, kwargs)
            grads = chainerx.grad(ys, xs, grad_outputs=[chainerx.zeros_like(y) for y in ys])
            assert [g.shape for g in grads] == [shape] * len(xs)


@pytest.mark.parametrize('row', [row for row in ROWS if row.dtypes != ALL], ids=repr)
def test_other_dtypes(row):
    """Any other dtype is refused, or becomes the dtype of a right result."""
    for dtype in ALL[:-2]:
        if dtype in row.dtypes:
            continue
        arrays, kwargs = make_inputs(row, 0, dtype)
        try:
            actual = run(row, arrays, kwargs)
        except chainerx.DtypeError as e:
            assert dtype in str(e)
            continue
        wide = [a if a.dtype.kind == 'f' else a.astype('int64') for a in arrays]
        compare(row, actual, expect(row, wide, kwargs), actual[0].dtype)


@pytest.mark.parametrize(
    'row',
    [
        r
        for r in ROWS
        if r.elementwise and len(r.cases[0][0]) == 2 and r.result in ('same', 'first')
    ],
    ids=repr,
)
def test_promotion(row):
    for d1 in row.dtypes:
        for d2 in row.dtypes:
            arrays, kwargs = make_inputs(row, 0, d1)
            arrays[1] = make_inputs(row, 0, d2)[0][1]
            promoted = promote(d1, d2)
            if promoted not in row.dtypes:  # float64 of uint64 and a signed integer
                with pytest.raises(chainerx.DtypeError, match=promoted):
                    run(row, arrays, kwargs)
                continue
            (y,) = run(row, arrays, kwargs)
            assert y.dtype == (d1 if row.result == 'first' else promoted)


def grads_like(arrays, seed):
    rng = np.random.default_rng(seed)
    return [chainerx.array(rng.uniform(-1, 1, a.shape)) for a in arrays]


def grad_places(row, arrays, dtype):
    if row.grad_inputs is not None:
        return row.grad_inputs
    return [i for i, a in enumerate(arrays) if a.dtype == dtype]


def differentiable(row, case):
    """A function of the floating point inputs, and those inputs."""
    arrays, kwargs = make_inputs(row, case, 'float64')
    arrays = [chainerx.array(a) for a in arrays]
    places = grad_places(row, arrays, 'float64')

    def f(xs):
        args = list(arrays)
        for i, x in zip(places, xs):
            args[i] = x
        return run_on(row, args, kwargs)

    return f, [arrays[i] for i in places]


@pytest.mark.parametrize('row, case', GRAD_CASES)
def test_backward(row, case):
    f, inputs = differentiable(row, case)
    inputs = [x.require_grad() for x in inputs]
    ys = f([x.as_grad_stopped() for x in inputs])
    eps = [chainerx.full_like(x, 1e-4) for x in inputs]
    chainerx.check_backward(f, inputs, grads_like(ys, 0), eps, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize('row, case', [c for c in GRAD_CASES if c.values[0].double])
def test_double_backward(row, case):
    f, inputs = differentiable(row, case)
    inputs = [x.require_grad() for x in inputs]
    ys = f([x.as_grad_stopped() for x in inputs])
    gys = [g.require_grad() for g in grads_like(ys, 0)]
    ggs = grads_like(inputs, 1)
    eps = [chainerx.full_like(x, 1e-4) for x in inputs + gys]

    # Squares make second derivatives appear where the op itself is linear.
    def squared(xs):
        return [y * y for y in f(xs)]

    chainerx.check_double_backward(squared, inputs, gys, ggs, eps, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize('row, case', GRAD_CASES)
def test_gradients_of_layouts(row, case):
    """First and second gradients are those of contiguous arrays."""
    arrays, kwargs = make_inputs(row, case, 'float64')
    places = grad_places(row, arrays, 'float64')
    rng = np.random.default_rng(2)
    shapes = [y.shape for y in run(row, arrays, kwargs)]
    gys = [rng.uniform(-1, 1, shape) for shape in shapes]

    def gradients(layout):
        args = [layout(a) for a in arrays]
        xs = [args[i].require_grad() for i in places]
        ys = run_on(row, args, kwargs)
        gxs = chainerx.grad(
            ys, xs, grad_outputs=[layout(g) for g in gys], enable_double_backprop=row.double
        )
        if not row.double:
            return gxs
        seconds = chainerx.grad([(g * g + g).sum() for g in gxs if g.is_backprop_required()], xs)
        return [*gxs, *[g for g in seconds if g is not None]]

    expected = gradients(chainerx.array)
    for layout in LAYOUTS:
        for a, e in zip(gradients(layout), expected, strict=True):
            np.testing.assert_allclose(
                *[chainerx.to_numpy(g.as_grad_stopped()) for g in (a, e)], rtol=1e-9, atol=1e-9
            )


@pytest.mark.parametrize(
    'row, case, dtype',
    [
        pytest.param(*case.values, dtype, id=f'{dtype}-{case.id}')
        for case in GRAD_CASES
        for dtype in ('float16', 'float32')
        if dtype in case.values[0].dtypes
    ],
)
def test_gradient_dtype(row, case, dtype):
    """Gradients have the dtype and shape of their inputs, and values near those of float64."""
    narrowest = next(t for t in row.dtypes if t.startswith('float'))

    def gradients(dtype):
        arrays, kwargs = make_inputs(row, case, narrowest)
        places = grad_places(row, arrays, narrowest)
        xs = [chainerx.array(a) for a in arrays]
        for i in places:
            xs[i] = xs[i].astype(dtype).require_grad()
        ys = run_on(row, xs, kwargs)
        return [xs[i] for i in places], chainerx.grad(
            ys, [xs[i] for i in places], grad_outputs=[chainerx.full_like(y, 0.5) for y in ys]
        )

    inputs, actual = gradients(dtype)
    _, expected = gradients('float64')
    for x, a, e in zip(inputs, actual, expected):
        assert a.dtype == x.dtype
        assert a.shape == x.shape
        tol = row.tolerance[dtype] * 5
        chainerx.testing.assert_allclose(a, e, rtol=tol, atol=tol)
