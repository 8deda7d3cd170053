"""Tools for tests: comparisons, dtype lists, decorators."""

import numpy as np
import pytest

import chainerx
from chainerx import testing


def test_dtype_lists():
    assert testing.all_dtypes == (
        'bool_',
        'int8',
        'int16',
        'int32',
        'int64',
        'uint8',
        'uint16',
        'uint32',
        'uint64',
        'float16',
        'float32',
        'float64',
    )
    assert set(testing.numeric_dtypes) == set(testing.all_dtypes) - {'bool_'}
    assert set(testing.nonfloat_dtypes) == set(testing.all_dtypes) - set(testing.float_dtypes)
    assert set(testing.integral_dtypes) == set(testing.nonfloat_dtypes) - {'bool_'}
    assert testing.unsigned_dtypes == ('uint8', 'uint16', 'uint32', 'uint64')
    assert [getattr(np, name) for name in testing.all_dtypes] == list(chainerx.all_dtypes)


@pytest.mark.parametrize(
    'check',
    [
        testing.assert_array_equal,
        testing.assert_allclose,
        testing.assert_array_equal_ex,
        testing.assert_allclose_ex,
    ],
)
def test_equal(check):
    a = np.array([1.0, np.nan])
    check(chainerx.array(a), chainerx.array(a))
    check(chainerx.array(a), a)
    check(a, chainerx.array(a))
    check(chainerx.array(a).require_grad(), a)
    for b in np.array([1.0, 2.0]), np.array([1.0, np.nan, 1.0]):
        with pytest.raises(AssertionError):
            check(chainerx.array(a), b)


def test_tolerances():
    x, y = chainerx.array([1.0]), np.array([1.01])
    testing.assert_allclose(x, y, rtol=0.1)
    testing.assert_allclose(x, y, atol=0.1)
    testing.assert_allclose_ex(x, y, float64_rtol=0.1)
    for kwargs in {}, {'float32_rtol': 0.1}, {'float64_rtol': 0.1, 'float32_rtol': 1e-9}:
        if kwargs.get('float64_rtol'):
            testing.assert_allclose_ex(x, y, **kwargs)
        else:
            with pytest.raises(AssertionError):
                testing.assert_allclose_ex(x, y, **kwargs)
    with pytest.raises(TypeError, match='wrong'):
        testing.assert_allclose_ex(x, y, wrong=1)


def test_message():
    with pytest.raises(AssertionError, match='here it is'):
        testing.assert_array_equal(chainerx.ones(1), chainerx.zeros(1), 'here it is')


@pytest.mark.parametrize('check', [testing.assert_array_equal_ex, testing.assert_allclose_ex])
def test_attributes(check):
    x = chainerx.ones((2, 3), 'float32')
    with pytest.raises(AssertionError, match='dtype'):
        check(x, np.ones((2, 3)))
    check(x, np.ones((2, 3)), dtype_check=False)
    with pytest.raises(AssertionError, match='strides'):
        check(x, np.ones((3, 2), 'float32').T)
    check(x, np.ones((3, 2), 'float32').T, strides_check=False)
    check([x, (x, 3)], [chainerx.to_numpy(x), (chainerx.to_numpy(x), 3)])
    with pytest.raises(AssertionError, match='lengths'):
        check([x], [x, x])


@testing.parametrize_dtype_specifier('spec', dtypes=('float32', 'float64'), additional_args=(None,))
def test_parametrize_dtype_specifier(spec):
    assert spec is None or np.dtype(spec) in (np.dtype('float32'), np.dtype('float64'))


def test_values_of_parametrize_dtype_specifier():
    mark = testing.parametrize_dtype_specifier('spec', ('bool_',))
    assert mark.args == ('spec', ['bool', np.dtype('bool'), np.bool_, bool])


@testing.numpy_chainerx_array_equal()
@pytest.mark.parametrize('value', [1, 2.5])
def test_array_equal_decorator(xp, value):
    return xp.array([value])


@testing.numpy_chainerx_allclose(name='module', rtol=1e-3)
def test_allclose_decorator(module):
    return module.array([1.0 if module is np else 1.0001])


def _check(decorator, numpy_does, chainerx_does):
    def run(action):
        if isinstance(action, type):
            raise action
        return action

    decorator(lambda xp: run(numpy_does if xp is np else chainerx_does))()


@pytest.mark.parametrize(
    'make', [testing.numpy_chainerx_array_equal, testing.numpy_chainerx_allclose]
)
def test_decorators(make):
    a, x = np.ones(2), chainerx.ones(2, 'float64')
    _check(make(), a, x)
    _check(make(), [a, 1], (x, 1))
    _check(make(), testing.ignore(), testing.ignore())
    _check(make(accept_error=KeyError), KeyError, KeyError)
    _check(make(accept_error=(KeyError, ValueError)), KeyError, ValueError)
    _check(make(accept_errors=(KeyError, ValueError)), KeyError, ValueError)
    with pytest.raises(AssertionError, match='of this test'):
        _check(make(err_msg='of this test', verbose=False), a, chainerx.zeros(2, 'float64'))
    _check(make(dtype_check=False), a, chainerx.ones(2, 'float32'))
    for bad in (
        (a, chainerx.zeros(2, 'float64')),
        (a, None),
        (None, x),
        (a, testing.ignore()),
        (a, chainerx.ones(2, 'float32')),
        (a, [x]),
    ):
        with pytest.raises(AssertionError):
            _check(make(), *bad)
    for bad in (KeyError, x), (a, KeyError):
        with pytest.raises(AssertionError, match='only one library'):
            _check(make(accept_error=KeyError), *bad)
    with pytest.raises(KeyError):
        _check(make(), KeyError, KeyError)
