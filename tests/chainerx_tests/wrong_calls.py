"""Wrong calls of every op, by kind, with the error that each must raise.

Most are made from the row of the op, or from an example of a right call where it has no row. What
only one op can be given is in ``OWN``.
"""

import itertools

import numpy as np
from chainerx_tests.all_ops import ROWS, function, make_inputs, parameters
from chainerx_tests.test_optimizer_steps import CASES as UPDATES

import chainerx
from chainerx import ChainerxError, DeviceError, DimensionError, DtypeError

ROW = {row.name: row for row in ROWS}


class Odd:
    """What no parameter can be."""


def zeros(*shape, dtype='float32', device=None):
    return chainerx.zeros(shape, dtype, device)


def _indices(*values):
    return chainerx.array(values, 'int64')


#: Right calls of the ops that have no row.
EXAMPLES = {
    **dict.fromkeys(['array', 'asarray', 'ascontiguousarray'], lambda: ([1, 2],)),
    **dict.fromkeys(['empty', 'zeros', 'ones', 'identity', 'eye', 'tri', 'arange'], lambda: (3,)),
    **dict.fromkeys(['empty_like', 'zeros_like', 'ones_like'], lambda: (zeros(2),)),
    'full': lambda: (3, 1),
    'full_like': lambda: (zeros(2), 1),
    'linspace': lambda: (0, 1),
    'frombuffer': lambda: (bytes(8),),
    'dropout': lambda: (zeros(3),),
    '_random_uniform': lambda: ((3,), 0.0, 1.0, 'float32'),
    '_random_normal': lambda: ((3,), 0.0, 1.0, 'float32'),
    '_random_integers': lambda: ((3,), 0, 9),
    **{
        f'_{reference.__name__}_update': lambda n=n, scalars=scalars: ([zeros(2) for _ in range(n + 2)], list(scalars))
        for reference, n, scalars in UPDATES
    },
}

#: Wrong calls of one op: the error, and a call of the op.
OWN = {
    'reshape': [
        (DimensionError, lambda f: f(zeros(6), (4, -1))),
        (DimensionError, lambda f: f(zeros(6), (-1, -1))),
        (DimensionError, lambda f: f(zeros(6), 5)),
        (TypeError, lambda f: f(zeros(6), 'x')),
    ],
    'transpose': [
        (DimensionError, lambda f: f(zeros(2, 3), (0, 0))),
        (DimensionError, lambda f: f(zeros(2, 3), (0, 1, 2))),
    ],
    'squeeze': [(DimensionError, lambda f: f(zeros(2, 1), 0))],
    'swapaxes': [(DimensionError, lambda f: f(zeros(2), 0, 1))],
    'moveaxis': [
        (DimensionError, lambda f: f(zeros(2, 3), (0, 1), 0)),
        (DimensionError, lambda f: f(zeros(2, 3), (0, 0), (0, 1))),
    ],
    'fliplr': [(DimensionError, lambda f: f(zeros(2)))],
    'flipud': [(DimensionError, lambda f: f(zeros()))],
    'broadcast_to': [
        (DimensionError, lambda f: f(zeros(2), (3,))),
        (DimensionError, lambda f: f(zeros(2, 3), (3,))),
        (DimensionError, lambda f: f(zeros(1), (-1,))),
    ],
    'concatenate': [
        (DimensionError, lambda f: f([zeros(2), zeros(2, 2)])),
        (DimensionError, lambda f: f([zeros(2, 3), zeros(2, 2)])),
        (ChainerxError, lambda f: f([])),
        (DimensionError, lambda f: f([zeros(), zeros()])),
    ],
    **{
        name: [(DimensionError, lambda f: f([zeros(2, 3, 4), zeros(3, 2, 2)])), (ChainerxError, lambda f: f([]))]
        for name in ('stack', 'hstack', 'vstack', 'dstack')
    },
    'repeat': [(ChainerxError, lambda f: f(zeros(2), -1)), (ChainerxError, lambda f: f(zeros(2), (1, 2, 3), 0))],
    'tile': [(ChainerxError, lambda f: f(zeros(2), -1))],
    'pad': [
        (DimensionError, lambda f: f(zeros(2), -1)),
        (ValueError, lambda f: f(zeros(2), 1, 'mean')),
        (ValueError, lambda f: f(zeros(2), (1, 2, 3))),
        (ValueError, lambda f: f(zeros(2), 1, constant_values=(1, 2, 3))),
        (TypeError, lambda f: f(zeros(2), 1.5)),
        (DimensionError, lambda f: f(zeros(2, 0), 1, 'edge')),
        (ChainerxError, lambda f: f(zeros(2), 2**62)),
        (ChainerxError, lambda f: f(zeros(2, 2), 2**60)),
    ],
    'diag': [(DimensionError, lambda f: f(zeros(2, 2, 2))), (DimensionError, lambda f: f(zeros()))],
    'tril': [(DimensionError, lambda f: f(zeros()))],
    'triu': [(DimensionError, lambda f: f(zeros()))],
    'split': [
        (DimensionError, lambda f: f(zeros(5), 2)),
        (ChainerxError, lambda f: f(zeros(4), 0)),
        (ChainerxError, lambda f: f(zeros(4), -2)),
    ],
    'vsplit': [(DimensionError, lambda f: f(zeros(4), 2)), (DimensionError, lambda f: f(zeros(3, 2), 2))],
    'hsplit': [(DimensionError, lambda f: f(zeros(), 1)), (DimensionError, lambda f: f(zeros(2, 3), 2))],
    'dsplit': [(DimensionError, lambda f: f(zeros(2, 3), 1)), (DimensionError, lambda f: f(zeros(2, 2, 3), 2))],
    '_meshgrid': [(DimensionError, lambda f: f([zeros(2, 2)]))],
    'copyto': [
        (DimensionError, lambda f: f(zeros(3), zeros(2))),
        (DtypeError, lambda f: f(zeros(2, dtype='int32'), zeros(2))),
        (ValueError, lambda f: f(zeros(2), zeros(2), 'loosely')),
    ],
    'nonzero': [(DimensionError, lambda f: f(zeros()))],
    'take': [
        (IndexError, lambda f: f(zeros(3), _indices(3))),
        (IndexError, lambda f: f(zeros(3), _indices(-4))),
        (DtypeError, lambda f: f(zeros(3), zeros(1))),
        (IndexError, lambda f: f(zeros(0), _indices(0))),
    ],
    'clip': [(ValueError, lambda f: f(zeros(2), None, None))],
    'dot': [(DimensionError, lambda f: f(zeros(2, 3), zeros(2, 3)))],
    'matmul': [
        (DimensionError, lambda f: f(zeros(2, 3), zeros(2, 3))),
        (DimensionError, lambda f: f(zeros(), zeros(2))),
        (DimensionError, lambda f: f(zeros(2, 2, 2), zeros(3, 2, 2))),
    ],
    'inner': [(DimensionError, lambda f: f(zeros(3), zeros(2)))],
    'vdot': [(DimensionError, lambda f: f(zeros(3), zeros(2)))],
    'trace': [(DimensionError, lambda f: f(zeros(3))), (DimensionError, lambda f: f(zeros(2, 2), 0, 1, 1))],
    'diagonal': [(DimensionError, lambda f: f(zeros(3))), (DimensionError, lambda f: f(zeros(2, 2), 0, 0, 2))],
    'tensordot': [
        (DimensionError, lambda f: f(zeros(2, 2), zeros(3, 3), 1)),
        (DimensionError, lambda f: f(zeros(2), zeros(2), 3)),
        (ValueError, lambda f: f(zeros(2), zeros(2), ((0,),))),
    ],
    'linear': [
        (DimensionError, lambda f: f(zeros(2, 3), zeros(4, 2))),
        (DimensionError, lambda f: f(zeros(2, 3), zeros(4, 3), zeros(3))),
        (ChainerxError, lambda f: f(zeros(2, 3), zeros(4, 3), None, 3)),
    ],
    'sigmoid_cross_entropy': [
        (DtypeError, lambda f: f(zeros(2), zeros(2))),
        (DimensionError, lambda f: f(zeros(2, 3), _indices(1, 0))),
    ],
    'softmax_cross_entropy': [
        (DtypeError, lambda f: f(zeros(2, 3), zeros(2))),
        (IndexError, lambda f: f(zeros(2, 3), _indices(0, 3))),
        (DimensionError, lambda f: f(zeros(2, 3), _indices(0, 1, 2))),
    ],
    'hinge': [
        (DtypeError, lambda f: f(zeros(2, 3), zeros(2))),
        (DimensionError, lambda f: f(zeros(2, 3), _indices(0, 1, 2))),
        (NotImplementedError, lambda f: f(zeros(2, 3), _indices(0, 1), 3.0)),
        (IndexError, lambda f: f(zeros(2, 3), _indices(0, 3))),
        (IndexError, lambda f: f(zeros(2, 3), _indices(-4, 0))),
    ],
    'accuracy': [
        (DtypeError, lambda f: f(zeros(2, 3), zeros(2))),
        (DimensionError, lambda f: f(zeros(2, 3), _indices(0, 1, 2))),
    ],
    'huber_loss': [(DimensionError, lambda f: f(zeros(2), zeros(3), 1.0))],
    'crelu': [(DimensionError, lambda f: f(zeros(3)))],
    **{
        name: [(DimensionError, lambda f: f(zeros(0))), (DimensionError, lambda f: f(zeros(2, 0), 1))]
        for name in ('amax', 'amin', 'argmax', 'argmin')
    },
    'layer_norm': [
        (DimensionError, lambda f: f(zeros(2, 3), zeros(2), zeros(3))),
        (DimensionError, lambda f: f(zeros(2, 3), zeros(3), zeros(2))),
    ],
    'group_norm': [
        (DimensionError, lambda f: f(zeros(2, 3), 2, zeros(3), zeros(3))),
        (DimensionError, lambda f: f(zeros(2, 4), 0, zeros(4), zeros(4))),
        (DimensionError, lambda f: f(zeros(2, 4), 2, zeros(3), zeros(4))),
    ],
    'sort': [(DimensionError, lambda f: f(zeros()))],
    'argsort': [(DimensionError, lambda f: f(zeros()))],
    'embed_id': [
        (DtypeError, lambda f: f(zeros(2), zeros(2, 2))),
        (IndexError, lambda f: f(_indices(2), zeros(2, 2))),
        (IndexError, lambda f: f(_indices(-3), zeros(2, 2))),
    ],
    # ---- windows
    'conv': [
        (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(4, 3, 1))),
        (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(4, 2, 1, 1))),
        (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(4, 2, 1), zeros(3))),
        (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(4, 2, 4))),
        (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(4, 2, 1), stride=0)),
        (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(4, 2, 1), pad=-1)),
        (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(3, 1, 1), groups=2)),
        (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(4, 2, 1), dilate=0)),
        (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(4, 2, 1), pad=(1, 1))),
    ],
    'conv_transpose': [
        (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(3, 2, 3))),
        (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(2, 2, 3), outsize=(9,))),
        (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(2, 2, 3), zeros(3))),
        (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(2, 2, 3), groups=0)),
    ],
    **{
        name: [
            (DimensionError, lambda f: f(zeros(1, 2), 2)),
            (DimensionError, lambda f: f(zeros(1, 2, 3), 0)),
            (DimensionError, lambda f: f(zeros(1, 2, 3), 4)),
            (DimensionError, lambda f: f(zeros(1, 2, 3), 2, stride=0)),
            (DimensionError, lambda f: f(zeros(1, 2, 3), (2, 2))),
        ]
        for name in ('max_pool', 'average_pool')
    },
    'batch_norm': [
        (DimensionError, lambda f: f(zeros(2, 3), zeros(2), zeros(3), None, None)),
        (DimensionError, lambda f: f(zeros(2, 3), zeros(3), zeros(3), zeros(3), zeros(2))),
        (DimensionError, lambda f: f(zeros(2, 3), zeros(3), zeros(3), None, None, axis=5)),
        (TypeError, lambda f: f(zeros(2, 3), zeros(3), zeros(3), np.zeros(3), np.zeros(3))),
    ],
    'fixed_batch_norm': [
        (DimensionError, lambda f: f(zeros(2, 3), zeros(2), zeros(3), zeros(3), zeros(3))),
        (DimensionError, lambda f: f(zeros(2, 3), zeros(3), zeros(3), zeros(3), zeros(2))),
    ],
    'scaled_dot_product_attention': [
        (DimensionError, lambda f: f(zeros(2, 3), zeros(2, 4), zeros(2, 3))),
        (DimensionError, lambda f: f(zeros(2, 3), zeros(2, 3), zeros(4, 3))),
        (DimensionError, lambda f: f(zeros(3), zeros(2, 3), zeros(2, 3))),
        (DimensionError, lambda f: f(*[zeros(2, 3)] * 3, zeros(3, 2))),
    ],
    # ---- recurrent networks
    'lstm': [
        (DimensionError, lambda f: f(zeros(2, 3), zeros(2, 9))),
        (DimensionError, lambda f: f(zeros(2, 3), zeros(3, 12))),
        (DtypeError, lambda f: f(zeros(2, 3), zeros(2, 12, dtype='float64'))),
    ],
    'slstm': [(DimensionError, lambda f: f(zeros(2, 3), zeros(2, 2), zeros(2, 12), zeros(2, 12)))],
    'tree_lstm': [
        (ChainerxError, lambda f: f(zeros(2, 3))),
        (DimensionError, lambda f: f(zeros(2, 3), zeros(2, 3), zeros(2, 12))),
    ],
    **{
        f'n_step_{name}': [
            (ChainerxError, lambda f, n=n: f(1, *[zeros(1, 1, 2)] * n, [[]], [[]], [])),
            (DimensionError, lambda f, n=n: f(1, *[zeros(9, 1, 2)] * n, [[]], [[]], [zeros(1, 2)])),
            (ChainerxError, lambda f, n=n: f(0, *[zeros(0, 1, 2)] * n, [], [], [zeros(1, 2)])),
        ]
        for name, n in (('lstm', 2), ('bilstm', 2), ('gru', 1), ('bigru', 1), ('rnn', 1), ('birnn', 1))
    },
    # ---- linear algebra
    **{
        f'linalg.{name}': [
            (DimensionError, lambda f: f(zeros(2, 3))),
            (DimensionError, lambda f: f(zeros(3))),
            (DimensionError, lambda f: f(zeros())),
        ]
        for name in ('inv', 'cholesky', 'eigh', 'eigvalsh', 'det', 'slogdet')
    },
    **{
        f'linalg.{name}': [(DimensionError, lambda f: f(zeros(3))), (DimensionError, lambda f: f(zeros()))]
        for name in ('qr', 'svd', 'pinv')
    },
    'linalg.solve': [
        (DimensionError, lambda f: f(zeros(2, 3), zeros(2))),
        (DimensionError, lambda f: f(chainerx.eye(2), zeros(3, dtype='float64'))),
        (ChainerxError, lambda f: f(zeros(2, 2), zeros(2))),
    ],
    'linalg.norm': [
        (DimensionError, lambda f: f(zeros(2, 2), 1, (0, 0))),
        (DimensionError, lambda f: f(zeros(3), 'fro')),
        (ValueError, lambda f: f(zeros(3), 'x')),
        (ChainerxError, lambda f: f(zeros(2, 2), 3)),
    ],
    'einsum': [
        (ChainerxError, lambda f: f('i,i', zeros(3))),
        (ChainerxError, lambda f: f('i$', zeros(3))),
        (DimensionError, lambda f: f('i', zeros(2, 3))),
        (ChainerxError, lambda f: f('i->j', zeros(3))),
    ],
    # ---- random numbers
    'dropout': [
        (TypeError, lambda f: f(np.zeros(2, 'float32'))),
        (DtypeError, lambda f: f(zeros(2, dtype='int32'))),
        (DimensionError, lambda f: f(zeros(2), mask=zeros(3))),
    ],
    **{
        name: [
            (DimensionError, lambda f: f((-1,), 0.0, 1.0, 'float32')),
            (DtypeError, lambda f: f((2,), 0.0, 1.0, 'int32')),
            (DtypeError, lambda f: f((2,), 0.0, 1.0, 'complex64')),
        ]
        for name in ('_random_uniform', '_random_normal')
    },
    '_random_integers': [(DimensionError, lambda f: f((-1,), 0, 1)), (ChainerxError, lambda f: f((2,), 1, 0))],
    # ---- creation
    **{
        name: [(DimensionError, lambda f: f(-1)), (DtypeError, lambda f: f(2, dtype='complex64'))]
        for name in ('empty', 'zeros', 'ones')
    },
    'full': [(DimensionError, lambda f: f(-1, 0)), (DtypeError, lambda f: f(2, 300, 'uint8'))],
    **{
        name: [(TypeError, lambda f: f(np.zeros(2))), (DtypeError, lambda f: f(zeros(2), dtype='complex64'))]
        for name in ('empty_like', 'zeros_like', 'ones_like')
    },
    'full_like': [(TypeError, lambda f: f(np.zeros(2), 0)), (DtypeError, lambda f: f(zeros(2), 0, dtype='complex64'))],
    **{
        name: [(DtypeError, lambda f: f([1, 'a'])), (DtypeError, lambda f: f([1], 'complex64'))]
        for name in ('asarray', 'ascontiguousarray')
    },
    'array': [
        (DtypeError, lambda f: f([1, 'a'])),
        (DtypeError, lambda f: f(1j)),
        (DtypeError, lambda f: f([1], 'complex64')),
    ],
    'arange': [(ChainerxError, lambda f: f(0, 1, 0))],
    'linspace': [(ChainerxError, lambda f: f(0, 1, -1))],
    **{name: [(DimensionError, lambda f: f(-1))] for name in ('identity', 'eye', 'tri')},
    'frombuffer': [
        (ValueError, lambda f: f(bytes(6), 'int32')),
        (ValueError, lambda f: f(bytes(8), count=9)),
        (ValueError, lambda f: f(bytes(8), offset=99)),
    ],
}


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
        if (name, i) != ('take', 1):  # indices are anything that NumPy makes an array of
            yield TypeError, _replace(name, i, chainerx.to_numpy)


def _devices(name):
    if name != '_meshgrid':  # its arrays do not meet
        for i in _places(name, 1):
            yield DeviceError, _replace(name, i, lambda x: x.to_device('native:1'))


def _shapes(name):
    if name in ROW and ROW[name].elementwise:
        for i in _places(name, 1):
            yield DimensionError, _replace(name, i, lambda x: chainerx.zeros((2, 2), x.dtype))


def _parameters(name):
    """Words and objects where an op takes numbers and the like."""
    error = TypeError, ValueError, ChainerxError
    if name in EXAMPLES:
        for p in parameters(name):

            def call(p=p):
                kwargs = dict(zip(parameters(name), EXAMPLES[name]()))
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
        if isinstance(kwargs['axis'], tuple) and name != 'roll':
            wrong.append((0, -len(specs[0].shape)))
        for axis in wrong:

            def call(case=case, axis=axis):
                arrays, kwargs = _right(name, case)
                return ROW[name].call(function(name), arrays, {**kwargs, 'axis': axis})

            yield TypeError if axis == 0.5 else DimensionError, call


def _own(name):
    for error, call in OWN.get(name, ()):
        yield error, lambda call=call: call(function(name))


def _updates(name):
    if not name.endswith('_update'):
        return

    def change(arrays=lambda arrays: arrays, scalars=lambda scalars: scalars):
        a, s = EXAMPLES[name]()
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
