"""The argument ``out``: functions write their results to an array that exists."""

import numpy as np
import pytest
from chainerx_tests.all_ops import SIGNATURES, function, make_inputs
from op_table import ROWS

import chainerx

#: The functions of NumPy that have the argument, as far as ChainerX has them.
STRUCTURED = """
    all amax amin any argmax argmin cumprod cumsum dot matmul mean median nanargmax nanargmin nancumprod nancumsum
    nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar outer percentile prod
    quantile std sum trace var
""".split()
METHODS = 'all any argmax argmin cumprod cumsum dot max mean min prod std sum trace var'.split()
WITH_OUT = [row for row in ROWS if 'out=None' in SIGNATURES[row.name]]
CASES = [
    pytest.param(row, i, id=f'{row.name}-{i}') for row in WITH_OUT for i in range(len(row.cases))
]
KINDS = 'b', 'iu', 'f'


def _call(row, arrays, kwargs, out):
    # An output is not an input of the row.
    return row.call(
        lambda *args, **options: function(row.name)(*args, out=out, **options), arrays, kwargs
    )


def _arrays(row, case, dtype):
    values, kwargs = make_inputs(row, case, dtype)
    return [chainerx.array(a) for a in values], kwargs


def test_which_functions_have_it():
    assert sorted(row.name for row in WITH_OUT if not row.elementwise) == sorted(STRUCTURED)


@pytest.mark.parametrize('row, case', CASES)
def test_values(row, case):
    for dtype in row.dtypes:
        arrays, kwargs = _arrays(row, case, dtype)
        expected = _call(row, arrays, kwargs, None)
        for d in chainerx.all_dtypes:
            out = chainerx.full(expected.shape, 1, d)
            if not _can_hold(np.dtype(d), expected.dtype):
                with pytest.raises(chainerx.DtypeError, match=row.name):
                    _call(row, arrays, kwargs, out)
                assert (out == 1).all()
                continue
            assert _call(row, arrays, kwargs, out) is out
            np.testing.assert_array_equal(
                chainerx.to_numpy(out), chainerx.to_numpy(expected.astype(d))
            )


def _can_hold(dtype, result):
    ranks = [next(i for i, kind in enumerate(KINDS) if d.kind in kind) for d in (dtype, result)]
    return ranks[0] >= ranks[1]


@pytest.mark.parametrize(
    'row', [row for row in WITH_OUT if not row.elementwise], ids=lambda row: row.name
)
def test_refusals(row):
    arrays, kwargs = _arrays(row, 0, 'float32')
    y = _call(row, arrays, kwargs, None)

    def refuses(error, match, inputs, out):
        before = chainerx.to_numpy(out.as_grad_stopped())
        with pytest.raises(error, match=match):
            _call(row, inputs, kwargs, out)
        np.testing.assert_array_equal(chainerx.to_numpy(out.as_grad_stopped()), before)

    refuses(chainerx.DimensionError, row.name, arrays, chainerx.zeros((2, *y.shape), y.dtype))
    refuses(chainerx.DeviceError, 'native:1', arrays, chainerx.zeros(y.shape, y.dtype, 'native:1'))
    leaf = chainerx.zeros(y.shape, 'float32').require_grad()
    refuses(chainerx.ChainerxError, 'graph|gradient', arrays, leaf)
    if 'float32' in row.dtypes:
        for i, a in enumerate(arrays):
            inputs = [*arrays[:i], a.copy().require_grad(), *arrays[i + 1 :]]
            refuses(
                chainerx.ChainerxError,
                f'{row.name}.*graph.*out',
                inputs,
                chainerx.zeros(y.shape, y.dtype),
            )
    with pytest.raises(TypeError, match='out'):
        _call(row, arrays, kwargs, np.zeros(y.shape))


@pytest.mark.parametrize('name', METHODS)
def test_methods(name):
    x = chainerx.array([[1.0, 2.0], [3.0, 5.0]])
    args = (x,) if name == 'dot' else ()
    expected = getattr(x, name)(*args)
    out = chainerx.empty_like(expected)
    assert getattr(x, name)(*args, out=out) is out
    assert out.tolist() == expected.tolist()


def test_gaps_and_overlaps():
    x = chainerx.array([[1.0, 2.0], [3.0, 4.0]])
    wide = chainerx.zeros((2, 3), 'float64')
    chainerx.sum(x, 0, out=wide[:, 1])
    assert wide.tolist() == [[0, 4, 0], [0, 6, 0]]
    chainerx.matmul(x, x, out=x)
    assert x.tolist() == [[7, 10], [15, 22]]
    chainerx.cumsum(x, 0, out=x.T)
    assert x.tolist() == [[7, 22], [10, 32]]


def test_a_kept_value_that_changes_is_noticed():
    x = chainerx.array([1.0, 2.0]).require_grad()
    y = chainerx.exp(x)
    with chainerx.no_backprop_mode():
        chainerx.cumsum(x, out=y)
    with pytest.raises(chainerx.GradientError, match='was changed in place after it was used'):
        chainerx.grad([y.sum()], [x])


def test_elementwise():
    x, y = chainerx.array([1.0, 4.0]), chainerx.array([2.0, 3.0])
    out = chainerx.zeros(2, 'float64')
    assert chainerx.add(x, y, out=out) is out
    assert out.tolist() == [3, 7]
    assert chainerx.sqrt(x, out) is out
    assert out.tolist() == [1, 2]
    assert chainerx.subtract(1, x, out=x) is x
    assert x.tolist() == [0, -3]
    flags = chainerx.zeros(2, 'bool')
    chainerx.greater(y, 2.5, out=flags)
    assert flags.tolist() == [False, True]
    wide = chainerx.zeros((3, 2), 'float64')
    chainerx.multiply(y, 2, out=wide[1:])
    assert wide.tolist() == [[0, 0], [4, 6], [4, 6]]
    assert chainerx.exp(x, out=None).shape == (2,)


def test_elementwise_that_overlaps():
    a = np.arange(6.0)
    x = chainerx.array(a)
    chainerx.add(x[:-1], x[1:], out=x[1:])
    np.testing.assert_array_equal(chainerx.to_numpy(x), np.concatenate([a[:1], a[:-1] + a[1:]]))


@pytest.mark.parametrize(
    ('error', 'match', 'call'),
    [
        (TypeError, 'out', lambda x: chainerx.add(x, x, out=np.zeros(2))),
        (TypeError, 'out', lambda x: chainerx.exp(x, 1)),
        (TypeError, 'array', lambda x: chainerx.add(1, 2, out=x)),
        (chainerx.DimensionError, 'add', lambda x: chainerx.add(x, x, out=x[:1])),
        (chainerx.DimensionError, 'shape', lambda x: chainerx.add(x, chainerx.zeros(3), out=x)),
        (chainerx.DtypeError, 'sqrt', lambda x: chainerx.sqrt(x, out=x.astype('int32'))),
        (chainerx.DeviceError, 'native:1', lambda x: chainerx.exp(x, out=x.to_device('native:1'))),
        (chainerx.ChainerxError, 'graph', lambda x: chainerx.exp(x.require_grad(), out=x.copy())),
        (
            chainerx.ChainerxError,
            'graph',
            lambda x: chainerx.exp(x.copy(), out=x.require_grad()),
        ),
        (
            chainerx.ChainerxError,
            'graph',
            lambda x: chainerx.add(1, x.require_grad(), out=chainerx.zeros_like(x)),
        ),
        (TypeError, 'unexpected', lambda x: chainerx.leaky_relu(x, out=x)),
    ],
)
def test_wrong_elementwise(error, match, call):
    x = chainerx.array([1.0, 4.0])
    with pytest.raises(error, match=match):
        call(x)
    assert chainerx.to_numpy(x.as_grad_stopped()).tolist() == [1, 4]


def test_no_backprop_mode():
    x = chainerx.array([1.0, 4.0]).require_grad()
    with chainerx.no_backprop_mode():
        chainerx.subtract(x, 1, out=x)
    assert x.as_grad_stopped().tolist() == [0, 3]
