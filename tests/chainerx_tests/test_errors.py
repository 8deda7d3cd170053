"""The classes of errors: ChainerX's own, which are Python's, too, where one of these says the same."""

import pickle

import numpy as np
import pytest

import chainerx


@pytest.mark.parametrize(
    'name, builtin',
    [
        ('BackendError', Exception),
        ('ContextError', Exception),
        ('DeviceError', Exception),
        ('DimensionError', ValueError),
        ('DtypeError', TypeError),
        ('GradientError', Exception),
        ('GradientCheckError', Exception),
        ('IndexError', IndexError),
        ('NotImplementedError', NotImplementedError),
        ('TypeError', TypeError),
        ('ValueError', ValueError),
    ],
)
def test_classes(name, builtin):
    error = getattr(chainerx, name)
    assert issubclass(error, chainerx.ChainerxError) and issubclass(error, builtin)
    assert (error.__module__, error.__name__) == ('chainerx', name)
    copy = pickle.loads(pickle.dumps(error('text')))
    assert type(copy) is error and copy.args == ('text',)


@pytest.mark.parametrize('value', [np.ones(3), [1, 2], (1, 2)], ids=lambda x: type(x).__name__)
def test_hint_for_arrays(value):
    hint = f'not {type(value).__name__}: convert it with chainerx.asarray$'.replace('ndarray', '.*')
    for call in chainerx.sum, chainerx.exp, lambda x: chainerx.add(chainerx.ones(3), x):
        with pytest.raises(TypeError, match=hint):
            call(value)
    with pytest.raises(TypeError, match='must be chainerx.ndarray, not NoneType$'):
        chainerx.sum(None)


@pytest.mark.parametrize(
    'call',
    [
        lambda x: chainerx.exp(None),
        lambda x: chainerx.sum(None),
        lambda x: chainerx.add(x, None),
        lambda x: chainerx.add(1, 2),
        lambda x: chainerx.where(True, 1, 2),
        lambda x: chainerx.add(x, np.ones(3)),
        lambda x: chainerx.reshape(x, 'a'),
        lambda x: chainerx.zeros(2, 'clongdouble'),
        lambda x: chainerx.n_step_lstm(1, None, None, [], [], []),
        lambda x: x.astype('clongdouble'),
        len,
    ],
)
def test_wrong_types(call):
    x = chainerx.array(1.0)
    with pytest.raises(TypeError) as of_python:
        call(x)
    assert isinstance(of_python.value, chainerx.ChainerxError)


@pytest.mark.parametrize(
    'call',
    [
        lambda x: chainerx.linalg.eigh(x, UPLO='X'),
        lambda x: chainerx.linalg.qr(x, mode='x'),
        lambda x: chainerx.average_pool(chainerx.ones((1, 1, 2, 2)), 2, pad_mode='x'),
        lambda x: chainerx.repeat(x, -1),
        lambda x: x[::0],
    ],
)
def test_wrong_values(call):
    with pytest.raises(ValueError) as of_python:
        call(chainerx.ones((2, 2)))
    assert isinstance(of_python.value, chainerx.ChainerxError)
