import copy
import inspect
import operator
import pickle
import weakref

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


class TestBackward:
    def test_leaves_accumulate(self):
        x = _var(3)
        for expected in (2, 4):
            F.sum(x * 2).backward()
            np.testing.assert_array_equal(x.grad, [expected] * 3)

    def test_shared_subgraph(self):
        x = _var(3)
        y = x * 2
        F.sum(y * y + y).backward()
        np.testing.assert_allclose(x.grad, 8 * x.array + 2)

    def test_leaf_does_nothing(self):
        x = _var(3)
        x.backward()
        assert x.grad is None

    def test_intermediate_grad(self):
        for retain in (False, True):
            x = _var(3)
            y = x * 2
            z = F.sum(y)
            z.backward(retain_grad=retain)
            assert (y.grad is not None) is retain
            assert (z.grad is not None) is retain
            if retain:
                np.testing.assert_array_equal(z.grad, 1)
            np.testing.assert_array_equal(x.grad, [2, 2, 2])

    def test_non_scalar_without_gradient(self):
        y = _var(3) * 2
        with pytest.raises(ValueError, match=r'shape \(3,\)'):
            y.backward()

    def test_single_element_warns(self):
        x = _var(1)
        with pytest.warns(DeprecationWarning) as record:
            (x * 2).backward()
        assert record[0].filename == __file__
        np.testing.assert_array_equal(x.grad, [2])

    def test_loss_scale(self):
        x = _var(3)
        F.sum(x).backward(loss_scale=4)
        np.testing.assert_array_equal(x.grad, [4, 4, 4])

    def test_loss_scale_of_a_given_gradient(self):
        x = _var(3)
        y = F.sum(x)
        y.grad = np.array(3, np.float32)
        y.backward(loss_scale=4, retain_grad=True)
        assert type(y.grad) is np.ndarray
        np.testing.assert_array_equal(x.grad, [12, 12, 12])

    def test_requires_grad_false(self):
        x, w = _var(3, requires_grad=False), _var(3)
        y = F.sum(x * w)
        assert y.requires_grad
        y.backward()
        assert x.grad is None
        np.testing.assert_array_equal(w.grad, x.array)

    def test_double_backprop(self):
        x = _var(3, dtype=np.float64)
        F.sum(x**3).backward(enable_double_backprop=True)
        gx = x.grad_var
        np.testing.assert_allclose(gx.array, 3 * x.array**2)
        x.cleargrad()
        F.sum(gx).backward(enable_double_backprop=True)
        ggx = x.grad_var
        np.testing.assert_allclose(ggx.array, 6 * x.array)
        x.cleargrad()
        F.sum(ggx).backward()
        np.testing.assert_allclose(x.grad, [6, 6, 6])

    def test_no_double_backprop_by_default(self):
        x = _var(3)
        F.sum(x**2).backward()
        assert x.grad_var.creator is None

    def test_long_chain(self):
        x = _var(1)
        y = x
        for _ in range(20000):
            y = y + 1
        F.sum(y).backward()
        np.testing.assert_array_equal(x.grad, [1])

    def test_unchain(self):
        x = _var(3)
        y = x * 2
        y.unchain()
        F.sum(y * 3).backward()
        assert x.grad is None
        np.testing.assert_array_equal(y.grad, [3, 3, 3])

    def test_unchain_backward(self):
        x = _var(3)
        h = x * 2
        y = F.sum(h * 3)
        y.unchain_backward()
        assert y.creator is None and h.creator is None

    def test_arrays_are_released(self):
        x = _var(3)
        y = x + 1
        ref = weakref.ref(y.array)
        z = y + 1
        del y
        assert ref() is None
        z.grad = np.ones(3, np.float32)
        z.backward()
        np.testing.assert_array_equal(x.grad, [1, 1, 1])

    def test_backward_of_several_outputs(self):
        x = _var(3)
        h = x * 2
        y0, y1 = F.sum(h), F.sum(h * h)
        y0.grad = y1.grad = np.ones((), np.float32)
        chainer.backward([y0, y1])
        np.testing.assert_allclose(x.grad, 2 + 8 * x.array)
        assert y0.grad is None and y1.grad is None
        with pytest.raises(TypeError):
            chainer.backward(y0)
        x.cleargrad()
        y1.grad = np.ones((), np.float32)
        with pytest.warns(RuntimeWarning, match='without a gradient'):
            chainer.backward([y0, y1])
        np.testing.assert_allclose(x.grad, 8 * x.array)
        y0.grad = np.ones((), np.float32)
        x.cleargrad()
        with pytest.warns(RuntimeWarning, match='given twice'):
            chainer.backward([y0, y0])
        np.testing.assert_allclose(x.grad, 2)
        with pytest.raises(ValueError, match='grad_outputs mismatch'):
            chainer.backward([y0], [_var(2)])

    def test_backward_of_several_outputs_and_a_leaf(self):
        x, leaf = _var(3), _var(2)
        leaf.grad = np.ones(2, np.float32)
        chainer.backward([leaf, x * 2], [leaf, _var(3)])
        np.testing.assert_array_equal(x.grad, [2, 4, 6])
        np.testing.assert_array_equal(leaf.grad, leaf.array + 1)

    @pytest.mark.parametrize('double', [False, True])
    def test_nan_is_detected_in_debug_mode(self, double):
        x = chainer.Variable(np.array([0.0], np.float32))
        with chainer.using_config('debug', True):
            y = F.sum(x * 1)
            y.grad = np.array(np.nan, np.float32)
            with pytest.raises(RuntimeError, match='NaN is detected'):
                y.backward(enable_double_backprop=double)


class TestGrad:
    def test_does_not_touch_variables(self):
        x, y = _var(2), _var(2)
        h = x * y
        gx, gh = chainer.grad([F.sum(h * 3)], [x, h])
        np.testing.assert_array_equal(gx.array, 3 * y.array)
        np.testing.assert_array_equal(gh.array, [3, 3])
        assert x.grad is None and y.grad is None and h.grad is None

    def test_unreachable(self):
        x, y = _var(2), _var(2)
        assert chainer.grad([F.sum(x)], [y]) == [None]

    def test_grad_outputs_and_inputs(self):
        x = _var(2)
        gy, g0 = _var(2), _var(2)
        (gx,) = chainer.grad([x * 2], [x], [gy], [g0])
        np.testing.assert_array_equal(gx.array, 2 * gy.array + g0.array)

    def test_set_and_retain(self):
        x = _var(2)
        h = x * 2
        chainer.grad([F.sum(h)], [x], set_grad=True, retain_grad=True)
        np.testing.assert_array_equal(x.grad, [2, 2])
        np.testing.assert_array_equal(h.grad, [1, 1])

    def test_higher_order(self):
        x = _var(2, dtype=np.float64)
        g = x**4
        for n, expected in enumerate((4 * x.array**3, 12 * x.array**2, 24 * x.array)):
            (g,) = chainer.grad([F.sum(g)], [x], enable_double_backprop=n < 2)
            np.testing.assert_allclose(g.array, expected)

    def test_loss_scale(self):
        x = _var(2)
        (gx,) = chainer.grad([F.sum(x)], [x], loss_scale=2)
        np.testing.assert_array_equal(gx.array, [2, 2])

    @pytest.mark.parametrize(
        'args',
        [
            (_var(1), [_var(1)]),
            ([_var(1)], _var(1)),
            ([1], [_var(1)]),
            ([_var(1)], [_var(1)], _var(1)),
        ],
    )
    def test_bad_arguments(self, args):
        with pytest.raises(TypeError):
            chainer.grad(*args)


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
