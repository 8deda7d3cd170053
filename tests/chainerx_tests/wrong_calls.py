"""Wrong calls of every op, by kind, with the error that each must raise.

Most are made from the cases in the op's row, or from its example of a right call. The row adds those
that only this op can be given.
"""

import itertools

from chainerx_tests.all_ops import function, make_inputs, parameters
from op_table import OTHERS, ROWS
from op_table.row import zeros

import chainerx
from chainerx import ChainerxError, DeviceError, DimensionError, DtypeError

ROW = {row.name: row for row in ROWS}
OTHER = {row.name: row for row in OTHERS}


class Odd:
    """What no parameter can be."""


def _right(name, case=0, dtype=None):
    row = ROW[name]
    arrays, kwargs = make_inputs(row, case, dtype or row.dtypes[-1])
    return [chainerx.array(a) for a in arrays], kwargs


def _arguments(name):
    """Too few, too many, and unknown arguments."""
    f = function(name)
    several = any(p.kind is p.VAR_POSITIONAL for p in parameters(name).values())
    if any(p.default is p.empty for p in parameters(name).values()):
        yield (TypeError, ChainerxError) if several else TypeError, lambda: f()
    yield TypeError, lambda: f(wrong=1)
    if not several:
        yield TypeError, lambda: f(*[1] * 20)


def _replace(name, place, change):
    """Calls the row's first case with another input in one place."""

    def call():
        arrays, kwargs = _right(name)
        arrays[place] = change(arrays[place])
        return ROW[name].call(function(name), arrays, kwargs)

    return call


def _places(name, first=0):
    return range(first, len(ROW[name].cases[0][0])) if name in ROW else ()


def _objects_instead_of_arrays(name):
    for i, value in itertools.product(_places(name), ('text', {}, Odd())):
        yield (TypeError, DtypeError), _replace(name, i, lambda x, value=value: value)


def _numpy_arrays(name):
    for i in _places(name):
        if i == 0 or 'NumPy indices' not in ROW[name].allows:
            yield TypeError, _replace(name, i, chainerx.to_numpy)


def _devices(name):
    for i in _places(name, 1):
        if 'devices' not in ROW[name].allows:
            yield DeviceError, _replace(name, i, lambda x: x.to_device('native:1'))


def _shapes(name):
    if name in ROW and ROW[name].elementwise:
        for i in _places(name, 1):
            yield DimensionError, _replace(name, i, lambda x: chainerx.zeros((2, 2), x.dtype))


def _parameters(name):
    """Words and objects where an op takes numbers and the like."""
    error = TypeError, ValueError, ChainerxError
    if name in OTHER:
        for p in parameters(name):

            def call(p=p):
                kwargs = dict(zip(parameters(name), OTHER[name].example()))
                return function(name)(**{**kwargs, p: Odd()})

            yield error, call
        return
    for case, (_, kwargs) in enumerate(ROW[name].cases):
        for p, wrong in itertools.product(kwargs, ('nonsense', Odd())):

            def call(case=case, p=p, wrong=wrong):
                arrays, kwargs = _right(name, case)
                return ROW[name].call(function(name), arrays, {**kwargs, p: wrong})

            yield error, call


def _axes(name):
    for case, (specs, kwargs) in enumerate(ROW[name].cases if name in ROW else ()):
        if 'axis' not in kwargs:
            continue
        wrong = [5, -9, 0.5]
        if isinstance(kwargs['axis'], tuple) and 'repeated axes' not in ROW[name].allows:
            wrong.append((0, -len(specs[0].shape)))
        for axis in wrong:

            def call(case=case, axis=axis):
                arrays, kwargs = _right(name, case)
                return ROW[name].call(function(name), arrays, {**kwargs, 'axis': axis})

            yield TypeError if axis == 0.5 else DimensionError, call


def _own(name):
    for error, call in (ROW | OTHER)[name].wrong:
        yield error, lambda call=call: call(function(name))


def _updates(name):
    if not name.endswith('_update'):
        return

    def change(arrays=lambda arrays: arrays, scalars=lambda scalars: scalars):
        a, s = OTHER[name].example()
        return lambda: function(name)(arrays(a), scalars(s))

    yield DimensionError, change(arrays=lambda a: a[1:])
    yield DimensionError, change(arrays=lambda a: [*a[1:], zeros(3)])
    yield DtypeError, change(arrays=lambda a: [*a[1:], zeros(2, dtype='int32')])
    yield DtypeError, change(arrays=lambda a: [*a[1:], zeros(2, dtype='float64')])
    yield DeviceError, change(arrays=lambda a: [*a[1:], zeros(2, device='native:1')])
    yield TypeError, change(arrays=lambda a: [chainerx.to_numpy(x) for x in a])
    yield DimensionError, change(scalars=lambda s: [*s, 1.0])
    yield TypeError, change(scalars=lambda s: ['x' for _ in s])


KINDS = {
    'arguments': _arguments,
    'objects instead of arrays': _objects_instead_of_arrays,
    'NumPy arrays': _numpy_arrays,
    'devices': _devices,
    'shapes': _shapes,
    'parameters': _parameters,
    'axes': _axes,
    'updates': _updates,
    'own': _own,
}


def wrong_calls(name):
    """The wrong calls of an op, by kind."""
    calls = {kind: list(make(name)) for kind, make in KINDS.items()}
    return {kind: made for kind, made in calls.items() if made}
