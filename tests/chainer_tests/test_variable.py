import copy
import inspect
import operator
import pickle

import numpy as np
import pytest

import chainer
from chainer import functions as F
from chainer.utils import type_check


def _var(*shape, dtype=np.float32, **kwargs):
    size = int(np.prod(shape))
    return chainer.Variable(np.arange(1, size + 1).reshape(shape).astype(dtype), **kwargs)


class TestConstruction:
    def test_attributes(self):
        x = _var(2, 3, name='x')
        assert x.shape == (2, 3)
        assert x.ndim == 2
        assert x.size == 6
        assert x.dtype == np.float32
        assert len(x) == 2
        assert x.name == 'x'
        assert x.requires_grad
        assert x.grad is None and x.grad_var is None
        assert x.creator is None and x.creator_node is None
        assert x.rank == 0
        assert x.xp is np
        assert x.device == chainer.get_device('@numpy')
        assert x.data is x.array
        assert x.label == '(2, 3), float32'

    def test_none(self):
        x = chainer.Variable()
        assert x.array is None and x.grad is None
        assert x.xp is np and x.device == chainer.get_device('@numpy')
        with pytest.raises(TypeError, match='no label'):
            x.label  # noqa: B018

    @pytest.mark.parametrize('data', [[1, 2], 1.0, (1,), 'a'])
    def test_not_an_array(self, data):
        with pytest.raises(TypeError, match='expected as the data of a variable'):
            chainer.Variable(data)

    def test_signature(self):
        parameters = inspect.signature(chainer.Variable).parameters
        assert list(parameters) == ['data', 'kwargs']
        assert parameters['data'].default is None

    def test_unknown_argument(self):
        with pytest.raises(TypeError, match='unknown'):
            chainer.Variable(np.zeros(1), unknown=1)
        with pytest.raises(ValueError, match='volatile'):
            chainer.Variable(np.zeros(1), volatile=True)

    def test_grad(self):
        g = np.ones((2, 3), np.float32)
        x = _var(2, 3, grad=g)
        assert x.grad is g
        assert x.grad_var.array is g
        assert x.grad_var is x.grad_var

    @pytest.mark.parametrize(
        'grad, error',
        [
            (np.ones((3, 2), np.float32), ValueError),
            (np.ones((2, 3), np.float64), TypeError),
            ([1], TypeError),
        ],
    )
    def test_bad_grad(self, grad, error):
        with pytest.raises(error):
            _var(2, 3, grad=grad)
        x = _var(2, 3)
        with pytest.raises(error):
            x.grad = grad
        assert x.grad is None

    def test_as_variable(self):
        a = np.ones(2, np.float32)
        x = chainer.as_variable(a)
        assert x.array is a and not x.requires_grad
        assert chainer.as_variable(x) is x
        assert chainer.as_array(x) is a and chainer.as_array(a) is a


class TestText:
    @pytest.mark.parametrize(
        'x, text, string',
        [
            (_var(2), 'variable([1., 2.])', 'variable([1. 2.])'),
            (_var(2, name='w'), 'variable w([1., 2.])', 'variable w([1. 2.])'),
            (_var(2, 0), 'variable([], shape=(2, 0))', 'variable([], shape=(2, 0))'),
            (chainer.Variable(), 'variable(None)', 'variable(None)'),
            (
                _var(2, 2),
                'variable([[1., 2.],\n          [3., 4.]])',
                'variable([[1. 2.]\n          [3. 4.]])',
            ),
        ],
    )
    def test_repr(self, x, text, string):
        assert repr(x) == text
        assert str(x) == string

    def test_summary(self):
        assert _var(1, name='x').summary() == '<variable x>'
        assert _var(1).summary().startswith('<variable at 0x')

    def test_debug_print(self):
        x = _var(2, name='x', grad=np.ones(2, np.float32))
        assert x.debug_print().splitlines() == [
            '<variable x>',
            '- device: CPU',
            "- backend: <class 'numpy.ndarray'>",
            '- shape: (2,)',
            '- dtype: float32',
            '- statistics: mean=1.50000000, std=0.50000000',
            '- grad: mean=1.00000000, std=0.00000000',
        ]

    def test_debug_print_without_array(self):
        assert chainer.Variable(name='x').debug_print().splitlines() == [
            '<variable x>',
            '- device: None',
            '- backend: None',
            '- shape: None',
            '- dtype: None',
            '- statistics: None',
            '- grad: None',
        ]


@pytest.mark.parametrize(
    'f',
    [
        lambda x, y: F.sum(x) + F.sum(y),
        lambda x, y: F.mean(F.transpose(x)) - F.mean(y),
        lambda x, y: x + y,
        lambda x, y: F.stack((F.reshape(x + y, (6,)), F.reshape(x, (6,)))),
        lambda x, y: F.broadcast_to(x + y, (2, 2, 3)),
        lambda x, y: F.concat([x, y]),
    ],
)
@pytest.mark.parametrize('by_grad', [False, True])
def test_gradients_can_be_changed_in_place(f, by_grad):
    x, y = _var(2, 3), _var(2, 3)
    z = f(x, y)
    z.grad = np.ones_like(z.array)
    if by_grad:
        chainer.grad([z], [x, y], set_grad=True)
    else:
        z.backward(retain_grad=True)
    expected = x.grad * 2, y.grad + 1, z.grad.copy()
    x.grad *= 2
    y.grad += 1
    for actual, value in zip((x.grad, y.grad, z.grad), expected):
        np.testing.assert_array_equal(actual, value)


def test_retained_gradients_can_be_changed_in_place():
    x = _var(3)
    h = x + 0
    F.sum(h).backward(retain_grad=True)
    h.grad[...] = 5
    np.testing.assert_array_equal(x.grad, 1)


class TestComparison:
    def test_comparisons_raise(self):
        x = _var(1)
        for op in ('__lt__', '__le__', '__eq__', '__ne__', '__gt__', '__ge__'):
            with pytest.raises(TypeError, match='cannot be compared'):
                getattr(x, op)(x)
        with pytest.raises(TypeError, match='no truth value'):
            bool(x)

    def test_hash(self):
        for x in _var(1), chainer.Parameter():
            with pytest.raises(TypeError, match='unhashable'):
                hash(x)


OPERATORS = [
    (lambda a, b: a + b, 'add'),
    (lambda a, b: a - b, 'sub'),
    (lambda a, b: a * b, 'mul'),
    (lambda a, b: a / b, 'div'),
    (lambda a, b: a**b, 'pow'),
    (lambda a, b: a // b, 'floordiv'),
]


class TestOperators:
    @pytest.mark.parametrize('op', [o[0] for o in OPERATORS], ids=[o[1] for o in OPERATORS])
    @pytest.mark.parametrize('dtype', [np.float16, np.float32, np.float64])
    @pytest.mark.parametrize(
        'shapes', [((2, 3), (2, 3)), ((2, 3), (3,)), ((1, 3), (2, 1)), ((), ()), ((2, 0), (2, 1))]
    )
    def test_arrays(self, op, dtype, shapes):
        rng = np.random.RandomState(0)
        a, b = (rng.uniform(0.5, 2, s).astype(dtype) for s in shapes)
        expected = op(a, b)
        x, y = chainer.Variable(a), chainer.Variable(b)
        for z in (op(x, y), op(x, b), op(a, y)):
            assert isinstance(z, chainer.Variable)
            assert z.dtype == dtype and z.shape == expected.shape
            np.testing.assert_allclose(
                z.array, expected, rtol=2e-3 if dtype == np.float16 else 1e-6
            )

    @pytest.mark.parametrize('op', [o[0] for o in OPERATORS], ids=[o[1] for o in OPERATORS])
    @pytest.mark.parametrize('scalar', [2, 0.5, np.float32(1.5), np.float64(3), np.int64(2)])
    def test_scalars(self, op, scalar):
        a = np.array([[0.5, 1.5, 2]], np.float32)
        x = chainer.Variable(a)
        for z, expected in (
            (op(x, scalar), op(a, np.float32(scalar))),
            (op(scalar, x), op(np.float32(scalar), a)),
        ):
            assert z.dtype == np.float32
            np.testing.assert_allclose(z.array, expected, rtol=1e-5)

    def test_zero_dim_keeps_dtype(self):
        x = chainer.Variable(np.array(2, np.float16))
        for z in (x + 1, 1 - x, x * 0.5, 1 / x, x**2, 2**x, -x, abs(x)):
            assert z.dtype == np.float16 and isinstance(z.array, np.ndarray)

    def test_large_number_in_float16(self):
        x = chainer.Variable(np.ones(2, np.float16))
        for value in (1e6, -1e6, 65520, np.float64(1e300), float('inf')):
            for y in (x * value, x + value, value - x * 0):
                np.testing.assert_array_equal(abs(y.array), np.inf)
        assert (x * 65504).array[0] == 65504 and np.isnan((x * float('nan')).array).all()

    def test_float64_array_is_cast(self):
        z = _var(2) + np.array([1, 2], np.float64)
        assert z.dtype == np.float32

    def test_dtype_mismatch(self):
        with pytest.raises(type_check.InvalidType):
            _var(2) + _var(2, dtype=np.float64)

    def test_shape_mismatch(self):
        with pytest.raises(type_check.InvalidType):
            _var(2) + _var(3)

    @pytest.mark.parametrize('op', [o[0] for o in OPERATORS], ids=[o[1] for o in OPERATORS])
    @pytest.mark.parametrize('other', [[1, 2], None, 'a', b'a', '1', object()])
    @pytest.mark.parametrize('array', [np.zeros(2, np.float32), np.array(1.0)])
    def test_bad_operand(self, op, other, array):
        for args in ((chainer.Variable(array), other), (other, chainer.Variable(array))):
            with pytest.raises(TypeError):
                op(*args)

    def test_positive(self):
        x = _var(2)
        assert +x is x

    @pytest.mark.parametrize('name', ['iadd', 'isub', 'imul', 'itruediv'])
    @pytest.mark.parametrize('start', [np.ones((2, 3), np.float32), np.float32(2), 2.0])
    def test_in_place(self, name, start):
        x = _var(2, 3)
        op = getattr(operator, name)
        before = np.copy(start)
        for a, b in ((start, x), (x, start), (x, x)):
            result = op(a, b)
            assert isinstance(result, chainer.Variable) and result is not x
            assert result.dtype == np.float32 and result.creator is not None
        np.testing.assert_array_equal(start, before)
        np.testing.assert_array_equal(x.array, _var(2, 3).array)

    @pytest.mark.parametrize(
        'f',
        [
            np.sum,
            np.transpose,
            lambda x: np.sum(x, axis=0)[0],
            lambda x: np.square(x)[1, 2],
            lambda x: np.negative(x)[0, 0],
            lambda x: np.add(np.ones((2, 3), np.float32), x)[1, 0],
            lambda x: np.multiply(x, 2)[0, 1],
        ],
    )
    def test_numpy_functions(self, f):
        x = _var(2, 3)
        y = f(x)
        assert isinstance(y, chainer.Variable) and y.creator is not None
        np.testing.assert_allclose(y.array, f(x.array), rtol=1e-6)

    def test_inplace_makes_a_new_variable(self):
        x = y = _var(2)
        y += 1
        assert y is not x
        np.testing.assert_array_equal(x.array, [1, 2])
        np.testing.assert_array_equal(y.array, [2, 3])

    @pytest.mark.parametrize(
        'f, label',
        [
            (lambda x: x + x, '_ + _'),
            (lambda x: x + 1, '_ + 1'),
            (lambda x: x - 1, '_ + (-1)'),
            (lambda x: 1 - x, '1 - _'),
            (lambda x: x * 2.5, '_ * 2.5'),
            (lambda x: x / x, '_ / _'),
            (lambda x: 2 / x, '2 / _'),
            (lambda x: x**2, '_ ** 2'),
            (lambda x: 2**x, '2 ** _'),
            (lambda x: -x, '__neg__'),
            (lambda x: abs(x), '|_|'),
        ],
    )
    def test_label(self, f, label):
        assert f(_var(2)).creator.label == label

    def test_multi_add(self):
        xs = [_var(2, 3), _var(3), _var(1, 3)]
        y = F.add(*xs)
        np.testing.assert_array_equal(y.array, sum(x.array for x in xs))
        y.grad = np.ones_like(y.array)
        y.backward()
        np.testing.assert_array_equal(xs[1].grad, [2, 2, 2])


GRADIENTS = [
    (lambda x, y: x + y, lambda x, y: (1 + 0 * x, 1 + 0 * x)),
    (lambda x, y: x - y, lambda x, y: (1 + 0 * x, -1 + 0 * x)),
    (lambda x, y: x * y, lambda x, y: (y, x)),
    (lambda x, y: x / y, lambda x, y: (1 / y, -x / y**2)),
    (lambda x, y: x**y, lambda x, y: (y * x ** (y - 1), np.log(x) * x**y)),
    (lambda x, y: 3 / x + 2**y, lambda x, y: (-3 / x**2, np.log(2) * 2**y)),
    (lambda x, y: x**3 - abs(-y), lambda x, y: (3 * x**2, -np.sign(y))),
    (lambda x, y: x**2 * (2 - y), lambda x, y: (2 * x * (2 - y), -(x**2))),
]


@pytest.mark.parametrize('f, gradient', GRADIENTS)
@pytest.mark.parametrize('double', [False, True])
def test_gradient(f, gradient, double):
    rng = np.random.RandomState(1)
    a, b = rng.uniform(0.5, 2, (2, 2, 3))
    x, y = chainer.Variable(a), chainer.Variable(b)
    F.sum(f(x, y)).backward(enable_double_backprop=double)
    for v, expected in zip((x, y), gradient(a, b)):
        np.testing.assert_allclose(v.grad, expected, rtol=1e-10)


@pytest.mark.parametrize('f', [g[0] for g in GRADIENTS])
def test_double_gradient(f):
    rng = np.random.RandomState(2)
    a, b, g = rng.uniform(0.5, 2, (3, 2, 3))
    chainer.gradient_check.check_double_backward(f, (a, b), g, (g, g), atol=1e-4, rtol=1e-3)


class TestCopies:
    def test_copydata_and_addgrad(self):
        x, y = _var(3), chainer.Variable(np.zeros(3, np.float32))
        y.copydata(x)
        np.testing.assert_array_equal(y.array, x.array)
        assert y.array is not x.array
        x.grad = np.ones(3, np.float32)
        y.addgrad(x)
        y.addgrad(x)
        np.testing.assert_array_equal(y.grad, [2, 2, 2])
        np.testing.assert_array_equal(x.grad, [1, 1, 1])

    def test_copy(self):
        x = _var(3, grad=np.ones(3, np.float32))
        y = copy.copy(x)
        assert y.array is x.array and y.grad is x.grad
        y.cleargrad()
        assert x.grad is not None

    def test_pickle(self):
        x = _var(3, name='x', grad=np.ones(3, np.float32))
        y = pickle.loads(pickle.dumps(x))
        np.testing.assert_array_equal(y.array, x.array)
        np.testing.assert_array_equal(y.grad, x.grad)
        assert y.name == 'x'

    def test_zerograd_warns(self):
        x = _var(3)
        with pytest.warns(DeprecationWarning):
            x.zerograd()
        np.testing.assert_array_equal(x.grad, [0, 0, 0])

    def test_array_setter(self):
        x = _var(3)
        x.array = np.ones(2, np.float32)
        assert x.shape == (2,)
        with pytest.raises(TypeError):
            x.array = [1]


def test_shape_methods():
    x = _var(2, 3)
    assert x.reshape(3, 2).shape == x.reshape((3, 2)).shape == (3, 2)
    assert x.reshape(-1).shape == (6,)
    assert x.transpose().shape == x.T.shape == x.transpose(1, 0).shape == (3, 2)
    assert x.transpose((1, 0)).shape == (3, 2)
    np.testing.assert_array_equal(x[0].array, x.array[0])
    assert float(x.mean().array) == 3.5
    assert _var(1).item() == 1


def test_users_attributes_of_nodes():
    x = _var(2)
    x.node.mark = 'a'
    y = x * 2
    assert y.creator.inputs[0].mark == 'a'
    y.node.mark = 'b'
    assert y.creator.outputs[0]().mark == 'b'
    with pytest.raises(AttributeError):
        x.node.other  # noqa: B018


def test_pickles_of_chainer_7():
    # What they call, and with which arguments.
    array, grad = np.ones(2, np.float32), np.zeros(2, np.float32)
    device = chainer.get_device('@numpy')
    x = chainer.variable._create_variable(array, 'x', grad, False, device)
    assert (x.array is array, x.grad is grad, x.name, x.requires_grad) == (True, True, 'x', False)
    for args in ((), (device,), (device, None)):
        p = chainer.variable._recover_parameter(array, 'p', grad, 3, 'rule', *args)
        assert p.array is array and p.grad is grad and p.name == 'p'
        assert p.initializer == 3 and p.update_rule == 'rule'
    p = chainer.variable._recover_parameter(None, 'p', None, 3, None, device)
    assert not p.is_initialized
    p.initialize(2)
    np.testing.assert_array_equal(p.array, [3, 3])
    function, args, *_ = chainer.Parameter(array, name='q').__reduce__()
    assert function.__module__ == 'chainer.variable'
    assert function.__name__ == '_recover_parameter' and len(args) == 6
