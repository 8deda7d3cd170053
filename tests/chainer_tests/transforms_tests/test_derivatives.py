"""``chainer.jvp``, ``hvp`` and ``jacobian`` against numerical derivatives."""

import numpy as np
import pytest
from helpers.function_table import ROWS
from helpers.functions import devices

import chainer
from chainer import functions as F

STEP = 1e-6


def _f(x, y):
    return F.matmul(F.tanh(x), y), F.sum(x * x) * y[0, 0]


INPUTS = np.linspace(-1, 1, 6).reshape(2, 3), np.linspace(0.5, 2, 12).reshape(3, 4)
TANGENTS = np.linspace(1, -2, 6).reshape(2, 3), np.linspace(-1, 1, 12).reshape(3, 4)


def _arrays(values):
    values = values if isinstance(values, (tuple, list)) else (values,)
    return [chainer.get_device('@numpy').send(chainer.as_array(v)) for v in values]


def _numerical(f, xs, vs, step=STEP):
    """Derivatives of outputs along ``vs``, by differences."""
    ends = [_arrays(f(*[x + s * v for x, v in zip(xs, vs)])) for s in (step, -step)]
    return [(a - b) / (2 * step) for a, b in zip(*ends)]


def _send(arrays, device, dtype='d'):
    return tuple([chainer.get_device(device).send(a.astype(dtype)) for a in arrays])


@pytest.mark.parametrize('dtype', 'efd')
@pytest.mark.parametrize('device', devices())
def test_jvp(device, dtype):
    xs, vs = _send(INPUTS, device, dtype), _send(TANGENTS, device, dtype)
    ys, dys = chainer.jvp(_f, xs, vs)
    tolerance = {'e': 2e-2, 'f': 1e-5, 'd': 1e-8}[dtype]
    for y, dy, expected in zip(ys, dys, _numerical(_f, INPUTS, TANGENTS)):
        assert dy.dtype == dtype and dy.shape == y.shape and dy.device == y.device
        np.testing.assert_allclose(_arrays(dy)[0], expected, tolerance, tolerance)


# Their gradient treats parts of the formula as constants.
GRADIENT_BY_DEFINITION = 'batch_renormalization', 'r2_score'


def _call(row, arrays):
    """Call of a function of the table on its inputs that are floating point."""
    chosen = [i for i, x in enumerate(row.inputs) if x.dtype.kind == 'f']

    def f(*xs):
        values = [a if i not in chosen else xs[chosen.index(i)] for i, a in enumerate(arrays)]
        return row.f(*values)

    return f, [arrays[i] for i in chosen]


@pytest.mark.parametrize('device', devices())
@pytest.mark.parametrize('name', sorted(ROWS))
@pytest.mark.filterwarnings('ignore::DeprecationWarning')
def test_jvp_of_every_function(name, device):
    row = ROWS[name]
    if row.noisy and device.startswith('cuda'):
        pytest.skip('other noise')
    f, inputs = _call(
        row, [np.asarray(x, 'd' if x.dtype.kind == 'f' else None) for x in row.inputs]
    )
    directions = [np.cos(np.arange(x.size)).reshape(x.shape) for x in inputs]
    send = chainer.get_device(device).send
    on_device, xs = _call(
        row, [send(x.astype('d') if x.dtype.kind == 'f' else x) for x in row.inputs]
    )
    if not row.checks.get('double', True):
        with pytest.raises(RuntimeError, match='twice|double'):
            chainer.jvp(on_device, tuple(xs), tuple([send(v) for v in directions]))
        return
    _, dys = chainer.jvp(on_device, tuple(xs), tuple([send(v) for v in directions]))
    tolerance = row.checks.get('grad_tolerance', 1e-5)
    if name in GRADIENT_BY_DEFINITION:
        jacobians = chainer.jacobian(f, tuple(inputs))
        references = [sum(np.tensordot(j.array, v, v.ndim) for j, v in zip(jacobians, directions))]
    else:
        references = _numerical(f, inputs, directions)
    for dy, expected in zip(_arrays(dys), references):
        np.testing.assert_allclose(dy, expected, tolerance, tolerance)


@pytest.mark.parametrize('device', devices())
def test_hvp(device):
    def f(x, y):
        return F.sum(F.sin(x) ** 2) * F.sum(F.exp(y))

    def gradients(*xs):
        xs = [chainer.Variable(x) for x in xs]
        return chainer.grad([f(*xs)], xs)

    y, products = chainer.hvp(f, _send(INPUTS, device), _send(TANGENTS, device))
    assert y.shape == ()
    np.testing.assert_allclose(_arrays(y)[0], f(*INPUTS).array)
    for product, expected in zip(products, _numerical(gradients, INPUTS, TANGENTS)):
        np.testing.assert_allclose(_arrays(product)[0], expected, 1e-7, 1e-7)


@pytest.mark.parametrize('mode', ['reverse', 'forward'])
@pytest.mark.parametrize('device', devices())
def test_jacobian(device, mode):
    jacobians = chainer.jacobian(_f, _send(INPUTS, device), mode)
    for j, x in enumerate(INPUTS):
        for k, index in enumerate(np.ndindex(x.shape)):
            vs = [np.zeros_like(other) for other in INPUTS]
            vs[j].flat[k] = 1
            columns = _numerical(_f, INPUTS, vs)
            for i, column in enumerate(columns):
                (jacobian,) = _arrays(jacobians[i][j])
                assert jacobian.shape == column.shape + x.shape
                np.testing.assert_allclose(jacobian[(..., *index)], column, 1e-7, 1e-7)


@pytest.mark.parametrize('device', devices())
def test_structure_follows_arguments(device):
    x, v = _send(INPUTS[:1], device)[0], _send(TANGENTS[:1], device)[0]
    y, dy = chainer.jvp(F.sin, x, v)
    assert y.shape == dy.shape == (2, 3)
    (y,), (dy,) = chainer.jvp(lambda x: (F.sin(x),), [x], [v])
    assert dy.shape == (2, 3)
    assert chainer.hvp(F.sum, x, v)[1].shape == chainer.hvp(F.sum, (x,), (v,))[1][0].shape == (2, 3)
    assert chainer.jacobian(F.sin, x).shape == (2, 3, 2, 3)
    assert chainer.jacobian(F.sin, (x,))[0].shape == (2, 3, 2, 3)
    assert chainer.jacobian(lambda x: [F.sin(x)], x)[0].shape == (2, 3, 2, 3)


@pytest.mark.parametrize('mode', ['reverse', 'forward'])
@pytest.mark.parametrize('device', devices())
@pytest.mark.parametrize('shape', [(), (0,), (2, 0), (1,)])
def test_shapes(shape, device, mode):
    (x,) = _send([np.full(shape, 0.5)], device)
    y, dy = chainer.jvp(F.sin, x, x)
    np.testing.assert_allclose(_arrays(dy)[0], np.full(shape, 0.5 * np.cos(0.5)))
    jacobian = chainer.jacobian(lambda x: (F.sin(x), F.sum(x)), x, mode)
    assert [j.shape for j in jacobian] == [shape + shape, shape]


@pytest.mark.parametrize('device', devices())
def test_one_variable_given_twice(device):
    x, v = _send(INPUTS[:1], device)[0], _send(TANGENTS[:1], device)[0]
    var = chainer.Variable(x)
    _, dy = chainer.jvp(lambda a, b: a * b * b, (var, var), (v, x))
    x, v = INPUTS[0], TANGENTS[0]
    np.testing.assert_allclose(_arrays(dy)[0], v * x * x + 2 * x**3)
    assert var.grad is None


@pytest.mark.parametrize('device', devices())
def test_results_can_be_differentiated(device):
    x, v = _send(INPUTS[:1], device)[0], _send(TANGENTS[:1], device)[0]
    var = chainer.Variable(x)
    _, dy = chainer.jvp(lambda x: x**3, var, v)
    F.sum(dy).backward()
    expected = 6 * INPUTS[0] * TANGENTS[0]
    np.testing.assert_allclose(_arrays(var.grad)[0], expected)
    _, (_, second) = chainer.jvp(lambda x: chainer.jvp(lambda x: x**3, x, v), x, v)
    np.testing.assert_allclose(_arrays(second)[0], expected * TANGENTS[0])
    (gx,) = chainer.grad([F.sum(chainer.jacobian(lambda x: x**3, var))], [var])
    np.testing.assert_allclose(_arrays(gx)[0], 6 * INPUTS[0])


@pytest.mark.parametrize('device', devices())
def test_no_backprop_mode(device):
    x, v = _send(INPUTS[:1], device)[0], _send(TANGENTS[:1], device)[0]
    with chainer.no_backprop_mode():
        y, dy = chainer.jvp(F.sin, x, v)
        value, product = chainer.hvp(lambda x: F.sum(F.sin(x)), x, v)
        jacobian = chainer.jacobian(F.sin, x)
    for result in y, dy, value, product, jacobian:
        assert not result.requires_grad or result.creator is None
    np.testing.assert_allclose(_arrays(dy)[0], np.cos(INPUTS[0]) * TANGENTS[0])
    np.testing.assert_allclose(_arrays(product)[0], -np.sin(INPUTS[0]) * TANGENTS[0])


def test_integer_outputs_have_zeros():
    x = np.array([1.0, 3.0, 2.0])
    (_, index), (dy, dindex) = chainer.jvp(lambda x: (x * x, F.argmax(x)), x, x)
    assert index.array == 1 and dindex.dtype == index.dtype and dindex.array == 0
    np.testing.assert_allclose(dy.array, 2 * x * x)


class _BackwardOnArrays(chainer.FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0,))
        return (inputs[0] ** 2,)

    def backward(self, indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        return (chainer.Variable(2 * x.array * grad_outputs[0].array),)


X, V = INPUTS[0], TANGENTS[0]
ONCE_ONLY = 'output 1 of f cannot be differentiated twice'


@pytest.mark.parametrize(
    'call, error, message',
    [
        (lambda: chainer.jvp(F.sin, np.arange(3), X), TypeError, r'primals\[0\].*floating.*int64'),
        (lambda: chainer.jvp(F.sin, [[1.0]], X), TypeError, 'array'),
        (lambda: chainer.jvp(F.add, (X, X), V), ValueError, '^tangents must.* 2, but are 1$'),
        (lambda: chainer.jvp(F.sin, X, V.T), ValueError, r'tangents\[0\].*\(2, 3\), not \(3, 2\)'),
        (lambda: chainer.jvp(F.sin, X, V.astype('f')), TypeError, 'float64, not float32'),
        (lambda: chainer.jvp(lambda x: x.array, X, V), TypeError, 'f must return a variable'),
        (lambda: chainer.hvp(F.sin, X, V), ValueError, r'shape \(\), not \[\(2, 3\)\]'),
        (lambda: chainer.jacobian(F.sin, X, 'rows'), ValueError, "'forward', not 'rows'"),
        (
            lambda: chainer.jvp(lambda x: (x, _BackwardOnArrays().apply((x,))[0]), X, V),
            RuntimeError,
            ONCE_ONLY,
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
