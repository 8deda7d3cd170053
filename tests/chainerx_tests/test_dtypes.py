"""The dtypes of results: of arrays of several dtypes, with numbers, and in place."""

import operator

import numpy as np
import pytest
from chainerx_tests.dtypes import ALL, promote, to_float

import chainerx

FLOATS = ALL[-3:]
INTS = ALL[1:-3]
NUMBERS = ALL[1:]
PAIRS = [(a, b) for a in ALL for b in ALL]


def array(dtype, shape=(2, 2)):
    return chainerx.array(np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape).astype(dtype))


def dtype_of(f, *args):
    """Name of the result's dtype; ``None`` if the dtypes are refused."""
    try:
        return f(*args).dtype.name
    except chainerx.DtypeError:
        return None


def refuse(dtypes, rule):
    """The rule of an op that does not compute in some dtypes."""

    def checked(*args):
        result = rule(*args)
        return None if result in dtypes else result

    return checked


def quotient(*dtypes):
    return to_float(promote(*dtypes))


def shifted(a, b):
    if promote(a, b) not in INTS:
        return None
    return a if a in INTS else b


def to_bool(*dtypes):
    return 'bool'


no_bools = refuse(['bool'], promote)
bits = refuse(FLOATS, promote)

#: Ops of two arrays: the function, the dtype of its results.
BINARY = [
    (operator.add, promote),
    (operator.sub, no_bools),
    (operator.mul, promote),
    (operator.truediv, quotient),
    (operator.floordiv, no_bools),
    (operator.mod, no_bools),
    (operator.pow, no_bools),
    (operator.and_, bits),
    (operator.or_, bits),
    (operator.xor, bits),
    (operator.lshift, shifted),
    (operator.rshift, shifted),
    (operator.eq, to_bool),
    (operator.ne, to_bool),
    (operator.lt, to_bool),
    (operator.ge, to_bool),
    (operator.matmul, promote),
    (chainerx.fmod, no_bools),
    (chainerx.maximum, promote),
    (chainerx.minimum, promote),
    (chainerx.arctan2, quotient),
    (chainerx.logical_and, to_bool),
    (chainerx.logical_xor, to_bool),
    (chainerx.less_equal, to_bool),
    (chainerx.dot, promote),
]


def concatenate(a, b):
    return chainerx.concatenate([a, b])


def stack(a, b):
    return chainerx.stack([a, b])


def where(a, b):
    return chainerx.where(chainerx.array([True, False]), a, b)


def einsum(a, b):
    return chainerx.einsum('ij,jk', a, b)


def tensordot(a, b):
    return chainerx.tensordot(a, b, 1)


def linear_bias(x, b):
    return chainerx.linear(x, chainerx.ones((2, 2), 'bool'), b[0])


def conv(x, w):
    return chainerx.conv(x.reshape(1, 1, 2, 2), w.reshape(1, 1, 2, 2))


def conv_transpose(x, w):
    return chainerx.conv_transpose(x.reshape(1, 1, 2, 2), w.reshape(1, 1, 2, 2))


#: The same for functions whose operands do not broadcast.
STRUCTURED = [
    (concatenate, promote),
    (stack, promote),
    (where, promote),
    (einsum, promote),
    (tensordot, promote),
    (chainerx.linear, promote),
    (linear_bias, promote),
    (conv, no_bools),
    (conv_transpose, no_bools),
]


def by_name(rows):
    """Parameters of a test: an op, or a row that begins with one."""
    return [
        pytest.param(*row, id=row[0].__name__)
        if isinstance(row, tuple)
        else pytest.param(row, id=row.__name__)
        for row in rows
    ]


@pytest.mark.parametrize('f, rule', by_name(BINARY + STRUCTURED))
def test_arrays(f, rule):
    expected = {(a, b): rule(a, b) for a, b in PAIRS}
    assert {(a, b): dtype_of(f, array(a), array(b)) for a, b in PAIRS} == expected


@pytest.mark.parametrize('f, rule', by_name(BINARY))
def test_arrays_without_axes(f, rule):
    """An array without axes takes part as any other, unlike a number."""
    if f is operator.matmul:
        pytest.skip('refuses arrays without axes')
    for a, b in PAIRS:
        assert dtype_of(f, array(a), array(b, ())) == rule(a, b)
        assert dtype_of(f, array(a, ()), array(b)) == rule(a, b)


def test_three_arrays():
    a, b, c = array('int64'), array('uint8'), array('float16')
    assert chainerx.concatenate([a, b, c]).dtype == 'float16'
    assert chainerx.stack([b, array('int8')]).dtype == 'int16'
    assert chainerx.einsum('ij,jk,kl', a, b, c).dtype == 'float16'
    assert chainerx.linear(b, a, c[0]).dtype == 'float16'


# ---------------------------------------------------------------- numbers


def with_number(dtype, number):
    """A number does not widen an array; a fraction makes it floating point."""
    return to_float(dtype) if isinstance(number, (float, np.floating)) else dtype


def counted(dtype, number):
    """The same where booleans next to an integer are integers."""
    if dtype == 'bool' and isinstance(number, (int, np.integer)) and not isinstance(number, bool):
        return 'int64'
    return with_number(dtype, number)


NUMBER_RULES = [
    (operator.add, counted),
    (operator.sub, refuse(['bool'], counted)),
    (operator.mul, with_number),
    (operator.truediv, lambda dtype, number: to_float(dtype)),
    (operator.floordiv, refuse(['bool'], counted)),
    (operator.mod, refuse(['bool'], counted)),
    (operator.pow, refuse(['bool'], counted)),
    (operator.and_, refuse(FLOATS, with_number)),
    (operator.or_, refuse(FLOATS, with_number)),
    (operator.xor, refuse(FLOATS, with_number)),
    (operator.eq, to_bool),
    (operator.lt, to_bool),
    (chainerx.maximum, counted),
    (chainerx.fmod, refuse(['bool'], counted)),
    (chainerx.arctan2, lambda dtype, number: to_float(dtype)),
]
A_FEW = True, 2, 2.5, *[np.dtype(dtype).type(1) for dtype in ALL]


@pytest.mark.parametrize('f, rule', by_name(NUMBER_RULES))
@pytest.mark.parametrize('number', A_FEW, ids=lambda n: f'{type(n).__name__}-{n}')
def test_numbers(f, rule, number):
    for dtype in ALL:
        assert dtype_of(f, array(dtype), number) == rule(dtype, number)
        if not isinstance(number, np.generic):
            assert dtype_of(f, number, array(dtype)) == rule(dtype, number)


@pytest.mark.parametrize('f', by_name([operator.lshift, operator.rshift]))
def test_shifts_and_numbers(f):
    for dtype in INTS:
        assert f(array(dtype), 2).dtype == dtype
        assert f(array(dtype), True).dtype == dtype
        assert f(2, array(dtype)).dtype == 'int64'
    for dtype in FLOATS:
        assert dtype_of(f, array(dtype), 2) is None
        assert dtype_of(f, 2, array(dtype)) is None
    assert dtype_of(f, array('int8'), 2.5) is None


def test_booleans_and_integers():
    """Sums and comparisons take the number as it is; products stay boolean."""
    mask = chainerx.array([True, False])
    for actual, expected in [
        (mask + 2, [3, 2]),
        (2 - mask, [1, 2]),
        (mask == 2, [False, False]),
        (mask > 0, [True, False]),
        (mask * 2, [True, False]),
        (mask & 2, [True, False]),
        (mask + mask, [True, False]),
    ]:
        np.testing.assert_array_equal(chainerx.to_numpy(actual), expected)


def test_where_of_numbers():
    condition = chainerx.array([True, False])
    assert chainerx.where(condition, 0, 1).dtype == 'int32'
    assert chainerx.where(condition, 0, 1.5).dtype == 'float32'
    assert chainerx.where(condition, True, False).dtype == 'bool'
    for dtype in ALL:
        for number in True, 2, 2.5:
            expected = with_number(dtype, number)
            assert chainerx.where(condition, array(dtype), number).dtype == expected
            assert chainerx.where(condition, number, array(dtype)).dtype == expected


# ---------------------------------------------------------------- in place

KIND = {dtype: 'bif'.index(np.dtype(dtype).kind.replace('u', 'i')) for dtype in ALL}
NUMBER_KIND = {True: 0, 2: 1, 2.5: 2}

IN_PLACE = [
    (operator.iadd, ()),
    (operator.isub, ('bool',)),
    (operator.imul, ()),
    (operator.itruediv, ('bool', *INTS)),
    (operator.ifloordiv, ('bool',)),
    (operator.imod, ('bool',)),
    (operator.iand, FLOATS),
    (operator.ior, FLOATS),
    (operator.ixor, FLOATS),
    (operator.ilshift, ('bool', *FLOATS)),
    (operator.irshift, ('bool', *FLOATS)),
]


@pytest.mark.parametrize('f, refused', by_name(IN_PLACE))
def test_in_place(f, refused):
    """An array keeps its dtype, and takes operands of its kind or a lower one."""
    for dtype in ALL:
        for operand, kind in [
            *[(array(d), KIND[promote(dtype, d)]) for d in ALL],
            *NUMBER_KIND.items(),
        ]:
            right = dtype if kind <= KIND[dtype] and dtype not in refused else None
            a = array(dtype)
            before = chainerx.to_numpy(a)
            assert dtype_of(f, a, operand) == right, (dtype, operand)
            if right is None:
                np.testing.assert_array_equal(chainerx.to_numpy(a), before)


# ---------------------------------------------------------------- one array

FLOAT_RESULTS = (
    'fabs exp expm1 exp2 log log10 log2 log1p sqrt sin cos tan sinh cosh tanh arcsin arccos arctan '
    'arcsinh arccosh ceil floor trunc rint sigmoid relu leaky_relu clipped_relu crelu elu softplus '
    'erf reciprocal mean var std logsumexp log_softmax softmax'
).split()


@pytest.mark.parametrize('name', FLOAT_RESULTS)
def test_always_floating_point(name):
    f = getattr(chainerx._core, name)
    for dtype in ALL:
        x = chainerx.array(np.array([[1, 0], [1, 1]], dtype))
        assert f(x).dtype == to_float(dtype)


def test_norm_of_integers():
    x = chainerx.array([3, 4])
    for order in None, 1, 2:
        y = chainerx.linalg.norm(x, order)
        assert y.dtype == 'float32'
    assert float(chainerx.linalg.norm(x)) == 5


@pytest.mark.parametrize('name', ['negative', 'absolute', 'sign', 'square'])
def test_same_dtype(name):
    f = getattr(chainerx._core, name)
    for dtype in NUMBERS:
        assert f(array(dtype)).dtype == dtype


def test_statistics_of_integers_are_exact():
    x = np.full(1000, 2**30)
    x[:500] += 4
    for dtype in 'int32', 'int64':
        a = chainerx.array(x.astype(dtype))
        assert float(a.var()) == 4
        assert float(a.mean()) == np.float32(2**30 + 2)


# ---------------------------------------------------------------- values and gradients


def test_integer_convolution():
    rng = np.random.default_rng(0)
    x = rng.integers(-9, 9, (2, 4, 5, 6))
    w = rng.integers(-9, 9, (6, 2, 3, 2))
    b = rng.integers(-9, 9, 6)
    options = {'stride': (2, 1), 'pad': (1, 2), 'groups': 2, 'dilate': (1, 2)}
    for f, a in (chainerx.conv, x), (chainerx.conv_transpose, rng.integers(-9, 9, (2, 6, 3, 4))):
        bias = b if f is chainerx.conv else b[:4]
        wide = f(*[chainerx.array(v.astype('float64')) for v in (a, w, bias)], **options)
        for dtype in 'int16', 'int32', 'int64':
            y = f(*[chainerx.array(v.astype(dtype)) for v in (a, w, bias)], **options)
            assert y.dtype == dtype
            np.testing.assert_array_equal(chainerx.to_numpy(y), chainerx.to_numpy(wide))
    y = chainerx.conv(array('int8').reshape(1, 1, 2, 2), chainerx.full((1, 1, 1, 1), 100, 'int8'))
    assert chainerx.to_numpy(y).ravel().tolist() == [100, -56, 44, -112]


DIFFERENTIABLE = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.pow,
    operator.mod,
    operator.matmul,
    chainerx.maximum,
    chainerx.arctan2,
    *[row[0] for row in STRUCTURED],
]


def gradients(f, dtypes):
    """Inputs with gradients, and the gradients of both orders."""
    args = [array(d) for d in dtypes]
    xs = [x.require_grad() for x in args if x.dtype.kind == 'f']
    y = f(*args)
    first = chainerx.grad([y * y], xs, enable_double_backprop=True)
    second = chainerx.grad([g * g for g in first], xs)
    return xs, [g.as_grad_stopped() for g in first + second]


def widest(dtype):
    return 'float64' if dtype in FLOATS else dtype


@pytest.mark.parametrize('f', by_name(DIFFERENTIABLE))
def test_gradients_of_mixed_dtypes(f):
    """Each operand's gradients, of both orders, have its dtype and the right values."""
    for a, b in PAIRS:
        if a == b or 'bool' in (a, b) or not {a, b} & set(FLOATS):
            continue
        xs, actual = gradients(f, [a, b])
        _, expected = gradients(f, [widest(a), widest(b)])
        tolerance = 2e-2 if 'float16' in (a, b) else 1e-4
        for x, g, e in zip(xs * 2, actual, expected, strict=True):
            assert g.dtype == x.dtype
            g, e = chainerx.to_numpy(g).astype('float64'), chainerx.to_numpy(e)
            inside = abs(e) < 6e4 if 'float16' in (a, b) else abs(e) < np.inf
            np.testing.assert_allclose(g[inside], e[inside], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize('a, b', [('float16', 'float64'), ('float32', 'int64')])
@pytest.mark.parametrize(
    'shapes', [((2, 3), (3,)), ((2, 1), (1, 3)), ((2, 3), ()), ((), (2,))], ids=str
)
def test_gradients_of_broadcast_mixed_dtypes(a, b, shapes):
    x, y = array(a, shapes[0]).require_grad(), array(b, shapes[1])
    (x * y + y).backward()
    assert x.grad.dtype == a
    assert x.grad.shape == shapes[0]
    ones = np.ones(np.broadcast_shapes(*shapes))
    expected = ones * chainerx.to_numpy(y)
    extra = expected.ndim - len(shapes[0])
    expected = expected.sum(tuple(range(extra)))
    axes = tuple(i for i, n in enumerate(shapes[0]) if n == 1)
    np.testing.assert_allclose(chainerx.to_numpy(x.grad), expected.sum(axes, keepdims=True))


# ---------------------------------------------------------------- casting


def test_safe_casts():
    """``casting='safe'`` is NumPy's, whatever the dtype of sums."""
    for source, target in PAIRS:
        dst, src = array(target), array(source)
        if np.can_cast(source, target, 'safe'):
            chainerx.copyto(dst, src, 'safe')
        else:
            with pytest.raises(chainerx.DtypeError):
                chainerx.copyto(dst, src, 'safe')
