"""An axis out of range is an error of every function, also where there are no elements."""

import inspect

import array_api_strict as strict
import pytest
from chainerx_tests.array_api_tests import common  # noqa: F401  (chooses the version of the standard)

import chainerx
from chainerx import array_api as xp

#: Arguments before the axis, where there are others than an array.
ARGUMENTS = {
    'concat': lambda x: ([x, x],),
    'cross': lambda x: (x, x),
    'repeat': lambda x: (x, 2),
    'roll': lambda x: (x, 1),
    'stack': lambda x: ([x, x],),
    'take': lambda x: (x, xp.zeros(0, dtype=xp.int64)),
    'take_along_axis': lambda x: (x, xp.zeros(x.shape, dtype=xp.int64)),
    'vecdot': lambda x: (x, x),
}
#: Their results have one axis more.
NEW_AXIS = {'expand_dims', 'stack'}


def _functions():
    for namespace, names in ((xp, dir(strict)), (xp.linalg, strict.linalg.__all__)):
        other = strict if namespace is xp else strict.linalg
        for name in names:
            if not hasattr(namespace, name) or not inspect.isfunction(getattr(other, name)):
                continue
            parameters = inspect.signature(getattr(other, name)).parameters
            if 'axis' in parameters:
                label = name if namespace is xp else f'linalg.{name}'
                yield pytest.param(name, getattr(namespace, name), id=label)


FUNCTIONS = list(_functions())


def test_table():
    names = {p.values[0] for p in FUNCTIONS}
    assert set(ARGUMENTS) | NEW_AXIS <= names
    assert {'sort', 'argsort', 'sum', 'argmax', 'vector_norm'} <= names
    assert len(FUNCTIONS) > 30


@pytest.mark.parametrize('shape', [(0,), (0, 3), (3, 0), (2, 0, 3), (3,), (3, 3)], ids=str)
@pytest.mark.parametrize('name, function', FUNCTIONS)
def test_axis_out_of_range(name, function, shape):
    x = xp.zeros(shape)
    ndim = len(shape) + (name in NEW_AXIS)
    args = ARGUMENTS.get(name, lambda x: (x,))(x)
    for axis in (ndim, ndim + 1, -ndim - 1):
        with pytest.raises((chainerx.DimensionError, IndexError)):
            function(*args, axis=axis)
