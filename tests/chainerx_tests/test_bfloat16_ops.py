"""Every op that takes float16 takes bfloat16: values, gradients and layouts, from the table of ops."""

import numpy as np
import pytest
from chainerx_tests.all_ops import as_list, make_inputs, run_on
from op_table import ROWS

import chainerx

CASES = [
    pytest.param(row, i, id=f'{row.name}-{i}')
    for row in ROWS
    if 'float16' in row.dtypes
    for i in range(len(row.cases))
]


# Of several ops, each of which rounds.
COMPOSED = {'squared_error', 'gaussian_kl_divergence'}


def make_narrow(row, case, places=None):
    """Inputs in float32 that bfloat16 holds, which of them have the dtype of the row, and options."""
    arrays, kwargs = make_inputs(row, case, 'float32')
    specs = row.cases[case][0]
    places = [i for i, spec in enumerate(specs) if spec.dtype is None]
    for i in places:
        bits = arrays[i].view('uint32') & np.uint32(0xFFFF0000)
        arrays[i] = np.asarray(bits, 'uint32').view('float32')
    return arrays, places, kwargs


def in_dtype(arrays, places, dtype):
    xs = [chainerx.array(a) for a in arrays]
    for i in places:
        xs[i] = xs[i].astype(dtype)
    return xs


def is_bfloat16(x):
    return 'dtype=bfloat16' in repr(x)


def wide(x):
    return chainerx.to_numpy(x.as_grad_stopped().astype('float64'))


@pytest.mark.parametrize('row, case', CASES)
def test_forward(row, case):
    arrays, places, kwargs = make_narrow(row, case)
    actual = run_on(row, in_dtype(arrays, places, 'bfloat16'), kwargs)
    single = run_on(row, in_dtype(arrays, places, 'float32'), kwargs)
    doubles = [a.astype('float64') if i in places else a for i, a in enumerate(arrays)]
    with np.errstate(all='ignore'):
        expected = as_list(row.call(row.reference, doubles, kwargs))
    tolerance = row.tolerance['bfloat16']
    for y, s, e in zip(actual, single, expected, strict=True):
        if s.dtype == 'float32' and row.result is not None:
            assert is_bfloat16(y)
        if row.elementwise and row.name not in COMPOSED:  # computed in float32, rounded once
            np.testing.assert_array_equal(wide(y), wide(s.astype('bfloat16')))
        np.testing.assert_allclose(wide(y), e, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize('row, case', [c for c in CASES if c.values[0].grad])
def test_gradients(row, case):
    """Gradients have the dtype and shape of their inputs, and values near those of float32."""
    arrays, places, kwargs = make_narrow(row, case)
    if row.grad_inputs is not None:
        wanted = row.grad_inputs
    else:
        wanted = places

    def gradients(dtype):
        xs = in_dtype(arrays, places, dtype)
        for i in wanted:
            xs[i] = xs[i].require_grad()
        inputs = [xs[i] for i in wanted]
        ys = run_on(row, xs, kwargs)
        half = [chainerx.full_like(y, 0.5) for y in ys]
        grads = chainerx.grad(ys, inputs, grad_outputs=half, enable_double_backprop=row.double)
        if not row.double:
            return grads
        seconds = chainerx.grad([(g * g).sum() for g in grads if g.is_backprop_required()], inputs)
        return [*grads, *seconds]

    actual = gradients('bfloat16')
    for a, e in zip(actual, gradients('float32'), strict=True):
        assert (a is None) == (e is None)
        if a is None:
            continue
        assert is_bfloat16(a)
        assert a.shape == e.shape
        scale = max(1, abs(wide(e)).max(initial=0))
        np.testing.assert_allclose(wide(a), wide(e), rtol=0, atol=0.1 * scale)


def with_gaps(x):
    return chainerx.stack([x, x], -1)[..., 1]


def backwards(x):
    return chainerx.flip(x)[(slice(None, None, -1),) * x.ndim]


@pytest.mark.parametrize('layout', [with_gaps, backwards])
@pytest.mark.parametrize('row', [r for r in ROWS if 'float16' in r.dtypes], ids=repr)
def test_layouts(row, layout):
    arrays, places, kwargs = make_narrow(row, 0)
    xs = in_dtype(arrays, places, 'bfloat16')
    expected = run_on(row, xs, kwargs)
    actual = run_on(row, [layout(x) for x in xs], kwargs)
    tolerance = 2.0**-7
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_allclose(wide(a), wide(e), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize('length', [7, 300, 5000])
def test_sorting(length):
    rng = np.random.default_rng(length)
    a = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1, 300, *rng.normal(size=9)], (3, length))
    x = chainerx.array(a).astype('bfloat16')
    values = wide(x)
    np.testing.assert_array_equal(wide(chainerx.sort(x)), np.sort(values))
    places = chainerx.to_numpy(chainerx.argsort(x))
    np.testing.assert_array_equal(places, np.argsort(values, kind='stable'))


@pytest.mark.parametrize('shape', [(1000,), (3, 1000), (1000, 40), (4, 70, 30)], ids=str)
def test_sums_are_computed_in_float32(shape):
    x = chainerx.ones(shape, 'bfloat16')
    for axis in None, 0, -1:
        expected = np.ones(shape).sum(axis)
        for name in 'sum', 'mean':
            y = getattr(x, name)(axis)
            if name == 'mean':
                expected = expected * 0 + 1
            rounded = wide(chainerx.array(expected).astype('bfloat16'))
            np.testing.assert_array_equal(wide(y), rounded)
