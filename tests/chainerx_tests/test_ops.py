"""Tests of every op, made from its row in the table: values, dtypes, layouts, gradients, errors."""
import zlib

import numpy as np
import pytest
from chainerx_tests.op_table import FLOATS, ROWS

import chainerx

CASES = [pytest.param(row, i, id='%s-%d' % (row.name, i))
         for row in ROWS for i in range(len(row.cases))]
GRAD_CASES = [case for case in CASES if case.values[0].grad]
ELEMENTWISE = [pytest.param(row, id=row.name) for row in ROWS if row.elementwise]


def make_inputs(row, case, dtype, shapes=None):
    rng = np.random.default_rng(zlib.crc32(row.name.encode()) + case)
    specs, kwargs = row.cases[case]
    arrays = [spec.make(dtype, rng) for spec in specs]
    if shapes is not None:
        arrays = [np.resize(a, shape).astype(a.dtype) for a, shape in zip(arrays, shapes)]
    return arrays, kwargs


def as_list(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]


def function(row):
    return getattr(chainerx._core, row.name)


def run_on(row, arrays, kwargs):
    return as_list(row.call(function(row), arrays, kwargs))


def run(row, arrays, kwargs):
    return run_on(row, [chainerx.array(a) for a in arrays], kwargs)


def expect(row, arrays, kwargs):
    """The right values, from double precision where the inputs are floating point."""
    wide = [a.astype('float64') if a.dtype.kind == 'f' else a for a in arrays]
    with np.errstate(all='ignore'):
        return [np.asarray(y) for y in as_list(row.call(row.reference, wide, kwargs))]


def expected_dtype(row, dtype):
    dtype = np.dtype(dtype)
    if row.result in ('bool', 'int64'):
        return np.dtype(row.result)
    if row.result == 'sum' and dtype.kind in 'biu':
        return np.dtype('int64')
    if row.result == 'float' and dtype.kind in 'biu':
        return np.exp(np.zeros(1, dtype)).dtype if len(row.cases[0][0]) == 1 \
            else np.true_divide(np.zeros(1, dtype), np.ones(1, dtype)).dtype
    return dtype


def compare(row, actual, expected, dtype):
    assert len(actual) == len(expected)
    tolerance = row.tolerance.get(np.dtype(dtype).name, 1e-6)
    for a, e in zip(actual, expected):
        assert a.shape == e.shape
        tol = max(tolerance, {'float16': 2e-3}.get(a.dtype.name, 0))
        np.testing.assert_allclose(
            chainerx.to_numpy(a), e.astype(a.dtype), rtol=tol, atol=tol)


@pytest.mark.parametrize('row, case', CASES)
def test_forward(row, case):
    for dtype in row.dtypes:
        arrays, kwargs = make_inputs(row, case, dtype)
        actual = run(row, arrays, kwargs)
        compare(row, actual, expect(row, arrays, kwargs), dtype)
        if row.result is not None:
            for y in actual:
                assert y.dtype == expected_dtype(row, dtype), (dtype, y.dtype)


def layouts(x):
    """The same values in memory that is transposed, has gaps, or runs backwards."""
    a = chainerx.array(x)
    yield chainerx.array(x.T.copy(order='C')).T
    if x.ndim:
        wide = chainerx.array(np.repeat(x, 2, axis=-1))
        yield wide[..., ::2]
        yield chainerx.array(np.ascontiguousarray(x[::-1]))[::-1]
        yield chainerx.stack([a, a], 1)[:, 1]


@pytest.mark.parametrize('row, case', CASES)
def test_layouts(row, case):
    dtype = 'float32' if 'float32' in row.dtypes else row.dtypes[-1]
    arrays, kwargs = make_inputs(row, case, dtype)
    expected = expect(row, arrays, kwargs)
    for variant in zip(*(list(layouts(a)) for a in arrays)):
        compare(row, run_on(row, variant, kwargs), expected, dtype)


@pytest.mark.parametrize('row', ELEMENTWISE)
@pytest.mark.parametrize('shape', [(), (0,), (2, 0, 3), (1,), (3, 1, 2), (37,)], ids=str)
def test_shapes(row, shape):
    dtype = row.dtypes[-1]
    arrays, kwargs = make_inputs(row, 0, dtype, [shape] * len(row.cases[0][0]))
    compare(row, run(row, arrays, kwargs), expect(row, arrays, kwargs), dtype)


@pytest.mark.parametrize('row', ELEMENTWISE)
def test_broadcast_view(row):
    dtype = row.dtypes[-1]
    arrays, kwargs = make_inputs(row, 0, dtype, [(3,)] * len(row.cases[0][0]))
    wide = [chainerx.broadcast_to(chainerx.array(a), (2, 3)) for a in arrays]
    expected = [np.broadcast_to(e, (2, 3)) for e in expect(row, arrays, kwargs)]
    compare(row, run_on(row, wide, kwargs), expected, dtype)


@pytest.mark.parametrize('row', [r for r in ROWS if r.elementwise and len(r.cases[0][0]) == 2
                                 and r.result == 'same'], ids=repr)
def test_promotion(row):
    for d1 in row.dtypes:
        for d2 in row.dtypes:
            arrays, kwargs = make_inputs(row, 0, d1)
            arrays[1] = make_inputs(row, 0, d2)[0][1]
            y, = run(row, arrays, kwargs)
            assert y.dtype == np.result_type(d1, d2)


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
@pytest.mark.parametrize('dtype', ['float16', 'float32'])
def test_gradient_dtype(row, case, dtype):
    """Gradients have the dtype and shape of their inputs, and values near those of float64."""
    def gradients(dtype):
        arrays, kwargs = make_inputs(row, case, 'float16')
        places = grad_places(row, arrays, 'float16')
        xs = [chainerx.array(a) for a in arrays]
        for i in places:
            xs[i] = xs[i].astype(dtype).require_grad()
        ys = run_on(row, xs, kwargs)
        return [xs[i] for i in places], chainerx.grad(
            ys, [xs[i] for i in places],
            grad_outputs=[chainerx.full_like(y, 0.5) for y in ys])

    inputs, actual = gradients(dtype)
    _, expected = gradients('float64')
    for x, a, e in zip(inputs, actual, expected):
        assert a.dtype == x.dtype
        assert a.shape == x.shape
        tol = row.tolerance[dtype] * 5
        chainerx.testing.assert_allclose(a, e, rtol=tol, atol=tol)


# ---- bad input

@pytest.mark.parametrize('row', ROWS, ids=repr)
def test_numpy_array_is_refused(row):
    arrays, kwargs = make_inputs(row, 0, row.dtypes[-1])
    with pytest.raises(TypeError):
        run_on(row, arrays, kwargs)


@pytest.mark.parametrize('row', ROWS, ids=repr)
def test_wrong_arguments(row):
    f = function(row)
    with pytest.raises(TypeError, match='missing required argument'):
        f()
    with pytest.raises(TypeError, match="unexpected keyword argument 'wrong'"):
        f(wrong=1)
    with pytest.raises(TypeError, match='takes at most'):
        f(*[1] * 20)


@pytest.mark.parametrize(
    'row', [r for r in ROWS if r.elementwise and len(r.cases[0][0]) > 1], ids=repr)
def test_shapes_that_do_not_fit(row):
    dtype = row.dtypes[-1]
    n = len(row.cases[0][0])
    arrays, kwargs = make_inputs(row, 0, dtype, [(2, 3)] + [(2, 2)] * (n - 1))
    with pytest.raises(chainerx.DimensionError):
        run(row, arrays, kwargs)


@pytest.mark.parametrize(
    'row', [r for r in ROWS if r.elementwise and len(r.cases[0][0]) > 1], ids=repr)
def test_devices_that_do_not_fit(row):
    arrays, kwargs = make_inputs(row, 0, row.dtypes[-1])
    xs = [chainerx.array(a, device='native:%d' % (i > 0)) for i, a in enumerate(arrays)]
    with pytest.raises(chainerx.DeviceError):
        run_on(row, xs, kwargs)


REFUSED_DTYPES = [(row, dtype) for row in ROWS if row.elementwise and row.dtypes != FLOATS
                  for dtype in ('bool', 'float32') if dtype not in row.dtypes
                  and row.result == 'same']


@pytest.mark.parametrize('row, dtype', REFUSED_DTYPES, ids=str)
def test_dtype_that_is_not_supported(row, dtype):
    arrays, kwargs = make_inputs(row, 0, dtype)
    with pytest.raises(chainerx.DtypeError):
        run(row, arrays, kwargs)


AXES = [r for r in ROWS if any('axis' in kwargs for _, kwargs in r.cases)]


@pytest.mark.parametrize('row', AXES, ids=repr)
@pytest.mark.parametrize('axis', [5, -9])
def test_axis_out_of_range(row, axis):
    case = next(i for i, (_, kwargs) in enumerate(row.cases) if 'axis' in kwargs)
    arrays, kwargs = make_inputs(row, case, row.dtypes[-1])
    with pytest.raises(chainerx.DimensionError):
        run(row, arrays, {**kwargs, 'axis': axis})


REPEATED = [r for r in ROWS if any(isinstance(kwargs.get('axis'), tuple) for _, kwargs in r.cases)
            and r.name != 'roll']


@pytest.mark.parametrize('row', REPEATED, ids=repr)
def test_axis_twice(row):
    arrays, _ = make_inputs(row, 0, row.dtypes[-1])
    with pytest.raises(chainerx.DimensionError):
        run(row, arrays, {'axis': (1, -2) if arrays[0].ndim == 3 else (1, -1)})
