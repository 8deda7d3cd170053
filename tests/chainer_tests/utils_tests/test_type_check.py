import pickle
import threading

import numpy
import pytest

import chainer
from chainer.utils import type_check as T


def make_types():
    arrays = (numpy.zeros((2, 3), 'f'), numpy.zeros((), numpy.int32))
    return T.get_types(arrays, 'in_types', False)


x, y = make_types()
c = T.Variable(10, 'c')
i = T.Variable(0, 'i')


@pytest.mark.parametrize(
    'expr, text, value',
    [
        (x.shape, 'in_types[0].shape', (2, 3)),
        (x.shape[1], 'in_types[0].shape[1]', 3),
        (x.shape[i], 'in_types[0].shape[i]', 2),
        (x.shape[1:], 'in_types[0].shape[1:]', (3,)),
        (x.shape[:-1], 'in_types[0].shape[:-1]', (2,)),
        (x.shape[::2], 'in_types[0].shape[::2]', (2,)),
        (x.shape[i:c], 'in_types[0].shape[i:c]', (2, 3)),
        (T.Variable(numpy.eye(3), 'm')[1, ..., 1], 'm[1, ..., 1]', 1),
        (T.Variable(numpy.eye(3), 'm')[:2, 0].shape, 'm[:2, 0].shape', (2,)),
        (x.ndim, 'in_types[0].ndim', 2),
        (x.size, 'in_types[0].size', 6),
        (y.size, 'in_types[1].size', 1),
        (x.dtype.kind, 'in_types[0].dtype.kind', 'f'),
        (x.shape.index(3), 'in_types[0].shape.index(3)', 1),
        (c + 1, 'c + 1', 11),
        (1 + c, '1 + c', 11),
        (c - 1, 'c - 1', 9),
        (1 - c, '1 - c', -9),
        (c * 2, 'c * 2', 20),
        (c / 4, 'c / 4', 2.5),
        (c // 4, 'c // 4', 2),
        (21 // c, '21 // c', 2),
        (c % 4, 'c % 4', 2),
        (c**2, 'c ** 2', 100),
        (2**c, '2 ** c', 1024),
        (-c, '-c', -10),
        (c << 1, 'c << 1', 20),
        (c >> 1, 'c >> 1', 5),
        (c & 2, 'c & 2', 2),
        (c ^ 2, 'c ^ 2', 8),
        (c | 1, 'c | 1', 11),
        (~c, '~c', -11),
        ((c + 1) * 2, '(c + 1) * 2', 22),
        (c + 1 * 2, 'c + 2', 12),
        (c * 2 + 1, 'c * 2 + 1', 21),
        (c - (c - 1), 'c - (c - 1)', 1),
        (c - c - 1, 'c - c - 1', -1),
        ((c**2) ** 3, '(c ** 2) ** 3', 10**6),
        (c ** (i**2), 'c ** i ** 2', 1),
        (-(c + 1), '-(c + 1)', -11),
        ((-c) ** 2, '(-c) ** 2', 100),
        (-(c**2), '-c ** 2', -100),
        ((c + 1).real, '(c + 1).real', 11),
        (T.prod(x.shape), 'prod(in_types[0].shape)', 6),
        (T.Constant('a'), "'a'", 'a'),
        (T.BinaryOperator(4, c, 1, '+', lambda a, b: a + b), 'c + 1', 11),
        (T.UnaryOperator(6, c, '-', lambda a: -a), '-c', -10),
    ],
    ids=str,
)
def test_expr(expr, text, value):
    assert str(expr) == text
    assert expr.eval() == value
    assert T.eval(expr) == value


@pytest.mark.parametrize(
    'good, bad, expect, actual',
    [
        (x.ndim == 2, x.ndim == 3, 'in_types[0].ndim == 3', '2 != 3'),
        (x.ndim != 3, x.ndim != 2, 'in_types[0].ndim != 2', '2 == 2'),
        (x.ndim < 3, x.ndim < 2, 'in_types[0].ndim < 2', '2 >= 2'),
        (x.ndim <= 2, x.ndim <= 1, 'in_types[0].ndim <= 1', '2 > 1'),
        (x.ndim > 1, x.ndim > 2, 'in_types[0].ndim > 2', '2 <= 2'),
        (x.ndim >= 2, x.ndim >= 3, 'in_types[0].ndim >= 3', '2 < 3'),
        (2 == x.ndim, 3 == x.ndim, 'in_types[0].ndim == 3', '2 != 3'),
        (x.dtype == numpy.float32, x.dtype.kind == 'i', "in_types[0].dtype.kind == 'i'", 'f != i'),
        (
            x.shape[0] == x.ndim,
            x.shape[1] == x.ndim + 2,
            'in_types[0].shape[1] == in_types[0].ndim + 2',
            '3 != 4',
        ),
    ],
    ids=str,
)
def test_expect(good, bad, expect, actual):
    T.expect(good)
    T.expect(good, good)
    with pytest.raises(T.InvalidType) as e:
        T.expect(good, bad)
    assert e.value.expect == expect
    assert e.value.actual == actual
    assert str(e.value) == f'Expect: {expect}\nActual: {actual}'


def test_expect_bad_arguments():
    with pytest.raises(TypeError, match='comparisons'):
        T.expect(x.ndim)
    with pytest.raises(RuntimeError, match="Don't convert Expr to bool"):
        bool(x.ndim == 2)
    with pytest.raises(RuntimeError):
        if x.ndim:
            pass


def test_light_mode():
    arrays = (numpy.zeros((2, 3), 'f'), numpy.zeros((), numpy.int32))
    types = T.get_light_types(arrays)
    assert not T.in_light_mode()
    with T.light_mode:
        assert T.in_light_mode()
        assert types.size() == 2
        assert T.prod(types[0].shape) == 6
        assert T.make_variable(3, 'n') == 3
        assert T.eval(types[0].ndim) == 2
        T._argname(types, ('x', 'y'))
        T.expect(types.size() == 2, types[0].ndim == 2, numpy.bool_(True))
        with pytest.raises(T.InvalidType):
            T.expect(types[0].ndim == 3)
        with pytest.raises(T.InvalidType, match=r'Expect: 1 argument\(s\)\nActual: 2 argument'):
            T._argname(types, ('x',))
    assert not T.in_light_mode()


def test_light_mode_belongs_to_the_thread():
    seen = []
    with T.light_mode:
        thread = threading.Thread(target=lambda: seen.append(T.in_light_mode()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_light_types_with_shapes():
    (info,) = T.get_light_types((numpy.zeros((2, 3), 'f'),), shapes=((3, 2, 1),))
    assert (info.shape, info.ndim, info.size, info.dtype) == ((3, 2, 1), 3, 6, numpy.float32)


def test_get_types():
    types = make_types()
    assert len(types) == 2
    assert str(types.size()) == 'in_types.size' and types.size().eval() == 2
    T._argname(types, ('x', 't'))
    assert str(types[1].dtype.kind) == 't.dtype.kind'
    with pytest.raises(T.InvalidType, match='argument'):
        T._argname(types, ('x',))
    with pytest.raises(AttributeError):
        T.get_types((None,), 'in_types', True)
    (shaped,) = T.get_types((numpy.zeros(6),), 'in_types', False, shapes=((2, 3),))
    assert shaped.shape.eval() == (2, 3)
    with pytest.raises(TypeError, match='tuple'):
        T.get_types([numpy.zeros(3)], 'in_types', False)


def test_make_variable():
    variable = T.make_variable(3, 'n')
    assert str(variable) == 'n' and variable.eval() == 3


def test_broadcast_shapes():
    T.expect_broadcast_shapes(x.shape, y.shape, (1, 3))
    with pytest.raises(T.InvalidType, match=r'in_types\[0\].shape(.|\n)*\(2, 3\), \(4,\)'):
        T.expect_broadcast_shapes(x.shape, (4,))


def test_same_types():
    array = numpy.zeros(3)
    assert T.same_types(array, array) and T.same_types()
    assert not T.same_types(array, 1)


class Function(chainer.FunctionNode):
    def check_type_forward(self, in_types):
        T._argname(in_types, ('a', 'b'))
        a, b = in_types
        T.expect(a.dtype.kind == 'f', a.shape == b.shape)

    def forward(self, inputs):
        return inputs[:1]


def test_message_of_function():
    a = numpy.zeros((2, 3), 'f')
    Function().apply((a, a))
    with pytest.raises(T.InvalidType) as e:
        Function().apply((a, a[0]))
    assert str(e.value) == (
        '\nInvalid operation is performed in: Function (Forward)\n\n'
        'Expect: a.shape == b.shape\nActual: (2, 3) != (3,)'
    )
    with pytest.raises(T.InvalidType, match=r'2 argument\(s\)'):
        Function().apply((a,))
    with chainer.using_config('type_check', False):
        Function().apply((a, a[0]))


def test_invalid_type_is_picklable():
    with T.get_function_check_context(Function()):
        error = T.InvalidType('a', 'b')
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.expect, copy.actual, str(copy)) == ('a', 'b', str(error))
    assert 'Function (Forward)' in str(copy)
    assert str(T.InvalidType('a', 'b')) == 'Expect: a\nActual: b'
    assert str(T.InvalidType('a', 'b', 'message')) == 'message'
