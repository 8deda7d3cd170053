"""Convolution, pooling, normalization and recurrent routines of ChainerX."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainerx

pytestmark = pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built')


def _random(*shape, dtype='float64', seed=0):
    return np.random.RandomState(seed + sum(shape)).uniform(-1, 1, shape).astype(dtype)


def _sorted(x, axis=-1):
    x = chainer.as_variable(x)
    index = np.argsort(x.array, axis)
    return x[
        tuple(
            index if i == axis % x.ndim else ix
            for i, ix in enumerate(np.indices(x.shape, sparse=True))
        )
    ]


def _stacked_cases():
    """Stacked networks: states, weights, biases and inputs are one flat list of arrays."""
    kinds = (
        ('lstm', 2, 8, {}),
        ('gru', 1, 6, {}),
        ('rnn', 1, 2, {}),
        ('rnn', 1, 2, {'activation': 'relu'}),
    )
    for kind, n_states, n_weights, options in kinds:
        for directions, prefix in ((1, ''), (2, 'bi')):
            name = f'n_step_{prefix}{kind}'
            layers, batch, units, width = 2, 3, 2, 3
            lengths = (3, 2, 2)
            cells = layers * directions
            shapes = [(cells, batch, units)] * n_states
            for cell in range(cells):
                inner = width if cell < directions else units * directions
                half = n_weights // 2
                shapes += [(units, inner)] * half + [(units, units)] * half + [(units,)] * n_weights
            shapes += [(n, width) for n in lengths]

            def split(arrays, n_states=n_states, n_weights=n_weights, cells=cells):
                states, rest = arrays[:n_states], list(arrays[n_states:])
                ws, bs = [], []
                for _ in range(cells):
                    ws.append(rest[:n_weights])
                    bs.append(rest[n_weights : 2 * n_weights])
                    del rest[: 2 * n_weights]
                return (*states, ws, bs, rest)

            def func(*arrays, name=name, split=split, layers=layers, options=options):
                *states, ys = getattr(chainerx, name)(layers, *split(arrays), **options)
                return (*states, *ys)

            def reference(*arrays, name=name, split=split, layers=layers, options=options):
                *states, ys = getattr(F, name)(layers, 0.0, *split(arrays), **options)
                return (*states, *ys)

            yield (
                name + ''.join([f' {value}' for value in options.values()]),
                func,
                reference,
                shapes,
            )


def _attention(q, k, v, mask=None, scale=None, causal=False):
    score = F.matmul(q, k, transb=True) * (q.shape[-1] ** -0.5 if scale is None else scale)
    allowed = np.ones(score.shape, bool)
    if mask is not None:
        if mask.dtype == bool:
            allowed &= mask
        else:
            score += F.cast(mask, score.dtype)
    if causal:
        allowed &= np.tri(*score.shape[-2:], dtype=bool)
    weight = F.softmax(F.where(allowed, score, np.full_like(score.array, -1e4)), axis=-1)
    return F.matmul(weight * allowed.astype(weight.dtype), v)


# Each query attends to another number of keys, the last to none.
ALLOWED = np.arange(5) > np.arange(2, 5)[:, None]

# Each row: name, function of ChainerX arrays, the same with NumPy, shapes of the inputs.
CASES = [
    (
        'conv',
        lambda x, w, b: chainerx.conv(x, w, b, 1, 1),
        lambda x, w, b: F.convolution_nd(x, w, b, 1, 1),
        [(2, 3, 5, 6), (4, 3, 3, 3), (4,)],
    ),
    (
        'conv stride, pad',
        lambda x, w: chainerx.conv(x, w, None, (2, 1), (1, 2)),
        lambda x, w: F.convolution_nd(x, w, None, (2, 1), (1, 2)),
        [(2, 3, 6, 5), (2, 3, 3, 2)],
    ),
    (
        'conv cover_all',
        lambda x, w: chainerx.conv(x, w, stride=2, cover_all=True),
        lambda x, w: F.convolution_nd(x, w, stride=2, cover_all=True),
        [(1, 2, 6), (3, 2, 3)],
    ),
    (
        'conv groups, dilate',
        lambda x, w: chainerx.conv(x, w, pad=2, groups=2, dilate=2),
        lambda x, w: F.convolution_nd(x, w, pad=2, groups=2, dilate=2),
        [(2, 4, 5, 5), (6, 2, 3, 3)],
    ),
    (
        'conv 3-d',
        lambda x, w: chainerx.conv(x, w),
        lambda x, w: F.convolution_nd(x, w),
        [(1, 2, 3, 4, 3), (2, 2, 2, 2, 2)],
    ),
    (
        'conv 1x1',
        lambda x, w: chainerx.conv(x, w),
        lambda x, w: F.convolution_nd(x, w),
        [(2, 3, 4, 4), (2, 3, 1, 1)],
    ),
    (
        'conv_transpose',
        lambda x, w, b: chainerx.conv_transpose(x, w, b, 2, 1),
        lambda x, w, b: F.deconvolution_nd(x, w, b, 2, 1),
        [(2, 3, 4, 3), (3, 2, 3, 3), (2,)],
    ),
    (
        'conv_transpose outsize',
        lambda x, w: chainerx.conv_transpose(x, w, None, 2, 0, (6, 7)),
        lambda x, w: F.deconvolution_nd(x, w, None, 2, 0, (6, 7)),
        [(1, 2, 2, 3), (2, 2, 3, 3)],
    ),
    (
        'conv_transpose groups, dilate',
        lambda x, w: chainerx.conv_transpose(x, w, groups=2, dilate=2),
        lambda x, w: F.deconvolution_nd(x, w, groups=2, dilate=2),
        [(1, 4, 3), (4, 3, 2)],
    ),
    (
        'max_pool',
        lambda x: chainerx.max_pool(x, 2),
        lambda x: F.max_pooling_nd(x, 2, cover_all=False),
        [(2, 3, 5, 4)],
    ),
    (
        'max_pool overlapping',
        lambda x: chainerx.max_pool(x, (3, 2), (2, 1), 1, True),
        lambda x: F.max_pooling_nd(x, (3, 2), (2, 1), 1, True),
        [(2, 2, 6, 4)],
    ),
    (
        'max_pool 1-d',
        lambda x: chainerx.max_pool(x, 3, 1),
        lambda x: F.max_pooling_nd(x, 3, 1, 0, False),
        [(2, 2, 7)],
    ),
    (
        'average_pool ignore',
        lambda x: chainerx.average_pool(x, 3, 2, 1),
        lambda x: F.average_pooling_nd(x, 3, 2, 1, pad_value=None),
        [(2, 2, 5, 6)],
    ),
    (
        'average_pool zero',
        lambda x: chainerx.average_pool(x, 3, 2, 1, 'zero'),
        lambda x: F.average_pooling_nd(x, 3, 2, 1),
        [(2, 2, 5, 6)],
    ),
    (
        'average_pool 3-d',
        lambda x: chainerx.average_pool(x, 2),
        lambda x: F.average_pooling_nd(x, 2),
        [(1, 2, 2, 4, 2)],
    ),
    (
        'batch_norm',
        lambda x, g, b: chainerx.batch_norm(x, g, b, None, None),
        F.batch_normalization,
        [(3, 2, 4), (2,), (2,)],
    ),
    (
        'batch_norm one axis',
        lambda x, g, b: chainerx.batch_norm(x, g, b, None, None, axis=(0,)),
        F.batch_normalization,
        [(4, 2, 3), (2, 3), (2, 3)],
    ),
    (
        'batch_norm channels last',
        lambda x, g, b: chainerx.batch_norm(x, g, b, None, None, axis=(0, 1)),
        lambda x, g, b: F.batch_normalization(x, g, b, axis=(0, 1)),
        [(3, 2, 3), (3,), (3,)],
    ),
    (
        'batch_norm split channels',
        lambda x, g, b: chainerx.batch_norm(x, g, b, None, None, 1e-3, axis=1),
        lambda x, g, b: F.batch_normalization(x, g, b, eps=1e-3, axis=1),
        [(2, 4, 3), (2, 3), (2, 3)],
    ),
    (
        'fixed_batch_norm',
        lambda x, g, b, m, v: chainerx.fixed_batch_norm(x, g, b, m, v * v + 1),
        lambda x, g, b, m, v: F.fixed_batch_normalization(x, g, b, m, v * v + 1),
        [(2, 3, 4), (3,), (3,), (3,), (3,)],
    ),
    (
        'layer_norm',
        lambda x, g, b: chainerx.layer_norm(x, g, b),
        F.layer_normalization,
        [(3, 5), (5,), (5,)],
    ),
    (
        'group_norm',
        lambda x, g, b: chainerx.group_norm(x, 2, g, b),
        lambda x, g, b: F.group_normalization(x, 2, g, b),
        [(2, 4, 3), (4,), (4,)],
    ),
    ('lstm', lambda c, x: chainerx.lstm(c, x), F.lstm, [(3, 2), (3, 8)]),
    ('lstm shorter batch', lambda c, x: chainerx.lstm(c, x), F.lstm, [(3, 2), (2, 8)]),
    ('lstm with axes', lambda c, x: chainerx.lstm(c, x), F.lstm, [(2, 2, 3), (2, 8, 3)]),
    (
        'attention',
        chainerx.scaled_dot_product_attention,
        _attention,
        [(2, 3, 4), (2, 5, 4), (2, 5, 6)],
    ),
    (
        'attention scale',
        lambda *xs: chainerx.scaled_dot_product_attention(*xs, scale=2),
        lambda *xs: _attention(*xs, scale=2),
        [(3, 1), (5, 1), (5, 6)],
    ),
    (
        'attention causal',
        lambda *xs: chainerx.scaled_dot_product_attention(*xs, causal=True),
        lambda *xs: _attention(*xs, causal=True),
        [(1, 2, 5, 2), (1, 2, 3, 2), (1, 2, 3, 3)],
    ),
    (
        'attention booleans',
        lambda *xs: chainerx.scaled_dot_product_attention(*xs, chainerx.array(ALLOWED)),
        lambda *xs: _attention(*xs, ALLOWED),
        [(2, 3, 4), (2, 5, 4), (2, 5, 3)],
    ),
    (
        'attention booleans, causal',
        lambda *xs: chainerx.scaled_dot_product_attention(
            *xs, chainerx.array(ALLOWED[1]), causal=True
        ),
        lambda *xs: _attention(*xs, ALLOWED[1], causal=True),
        [(5, 2), (5, 2), (5, 2)],
    ),
    (
        'attention bias',
        chainerx.scaled_dot_product_attention,
        _attention,
        [(2, 2, 3, 2), (2, 2, 4, 2), (2, 2, 4, 3), (2, 1, 3, 4)],
    ),
    ('slstm', chainerx.slstm, F.slstm, [(2, 3), (2, 3), (2, 12), (2, 12)]),
    ('slstm with axes', chainerx.slstm, F.slstm, [(2, 3, 2)] * 2 + [(2, 12, 2)] * 2),
    ('tree_lstm', chainerx.tree_lstm, F.tree_lstm, [(2, 3), (2, 3), (2, 15)]),
    ('tree_lstm one child', chainerx.tree_lstm, F.tree_lstm, [(3, 2), (3, 8)]),
    ('tree_lstm with axes', chainerx.tree_lstm, F.tree_lstm, [(2, 1, 2, 2)] * 3 + [(2, 6, 2, 2)]),
    *_stacked_cases(),
    ('sort', chainerx.sort, _sorted, [(3, 5)]),
    ('sort axis', lambda x: chainerx.sort(x, 0), lambda x: _sorted(x, 0), [(4, 2, 2)]),
    (
        'embed_id',
        lambda w: chainerx.embed_id(chainerx.array([[0, 2], [2, -1]]), w, -1),
        lambda w: F.embed_id(np.array([[0, 2], [2, -1]]), w, -1),
        [(3, 2)],
    ),
]

cases = pytest.mark.parametrize(
    ('func', 'reference', 'shapes'), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)


def _inputs(shapes, dtype='float64'):
    return [_random(*shape, dtype=dtype, seed=i) for i, shape in enumerate(shapes)]


def _outputs(result):
    return list(result) if isinstance(result, tuple) else [result]


@cases
@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
def test_values(func, reference, shapes, dtype):
    arrays = _inputs(shapes, dtype)
    expected = _outputs(reference(*arrays))
    tolerance = {'float16': 2e-2, 'float32': 2e-5, 'float64': 1e-10}[dtype]
    for y, e in zip(_outputs(func(*[chainerx.array(a) for a in arrays])), expected, strict=True):
        assert y.dtype == dtype
        assert y.shape == e.shape
        np.testing.assert_allclose(chainerx.to_numpy(y), e.array, tolerance, tolerance)


@cases
def test_non_contiguous(func, reference, shapes):
    arrays = _inputs(shapes)
    strided = [chainerx.array(np.repeat(a[..., None], 2, -1))[..., 0] for a in arrays]
    plain = _outputs(func(*[chainerx.array(a) for a in arrays]))
    for y, e in zip(_outputs(func(*strided)), plain, strict=True):
        np.testing.assert_allclose(chainerx.to_numpy(y), chainerx.to_numpy(e), 1e-12, 1e-14)


@cases
def test_gradients(func, reference, shapes):
    arrays = _inputs(shapes)
    gys = [
        chainerx.array(_random(*y.shape, seed=9))
        for y in _outputs(func(*[chainerx.array(a) for a in arrays]))
    ]
    inputs = [chainerx.array(a).require_grad() for a in arrays]
    eps = [chainerx.full(a.shape, 1e-4) for a in arrays]
    call = lambda xs: tuple(_outputs(func(*xs)))  # noqa: E731
    chainerx.check_backward(call, inputs, gys, eps, atol=1e-6, rtol=1e-5)
    inputs = [chainerx.array(a).require_grad() for a in arrays]
    ggxs = [chainerx.array(_random(*a.shape, seed=7)) for a in arrays]
    for gy in gys:
        gy.require_grad()
    eps += [chainerx.full(gy.shape, 1e-4) for gy in gys]
    chainerx.check_double_backward(call, inputs, gys, ggxs, eps, atol=1e-5, rtol=1e-4)


@cases
def test_gradients_of_float32(func, reference, shapes):
    # The fused backward against that of Chainer's own functions.
    arrays = _inputs(shapes, 'float32')
    variables = [chainer.Variable(a) for a in arrays]
    inputs = [chainerx.array(a).require_grad() for a in arrays]
    sums = [
        sum(F.sum(y * y) for y in _outputs(reference(*variables))),
        sum((y * y).sum() for y in _outputs(func(*inputs))),
    ]
    sums[0].backward()
    chainerx.backward(sums[1])
    for v, x in zip(variables, inputs, strict=True):
        np.testing.assert_allclose(chainerx.to_numpy(x.grad), v.grad, 1e-3, 1e-4)


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_batch_norm_running_statistics(dtype):
    x = _random(4, 3, 5, dtype=dtype)
    one, zero = np.ones(3, dtype), np.zeros(3, dtype)
    mean, var = chainerx.array(zero), chainerx.array(one)
    chainerx.batch_norm(
        chainerx.array(x),
        chainerx.array(one),
        chainerx.array(zero),
        mean,
        var,
        decay=0.75,
        axis=(0, 2),
    )
    np.testing.assert_allclose(chainerx.to_numpy(mean), 0.25 * x.mean((0, 2)), 1e-5, 1e-6)
    np.testing.assert_allclose(chainerx.to_numpy(var), 0.75 + 0.25 * x.var((0, 2), ddof=1), 1e-5)


def test_batch_norm_mixed_dtypes():
    x = _random(8, 2, dtype='float16')
    gamma, beta = _random(2, dtype='float32'), _random(2, dtype='float32', seed=3)
    mean, var = chainerx.zeros(2, 'float32'), chainerx.ones(2, 'float32')
    xs = [chainerx.array(a).require_grad() for a in (x, gamma, beta)]
    y = chainerx.batch_norm(*xs, mean, var)
    assert y.dtype == 'float16'
    chainerx.backward(y.sum())
    assert [a.grad.dtype.name for a in xs] == ['float16', 'float32', 'float32']
    np.testing.assert_allclose(
        chainerx.to_numpy(y.as_grad_stopped()),
        F.batch_normalization(x, gamma, beta).array,
        1e-2,
        1e-2,
    )


@pytest.mark.parametrize('dtype', ['bool', 'int8', 'uint8', 'int64', 'float16', 'float64'])
@pytest.mark.parametrize('axis', [0, -1, None])
def test_sort_dtypes(dtype, axis):
    a = (_random(5, 7) * 4).astype(dtype)
    x = chainerx.array(a)
    np.testing.assert_array_equal(chainerx.to_numpy(chainerx.sort(x, axis)), np.sort(a, axis))
    np.testing.assert_array_equal(
        chainerx.to_numpy(chainerx.argsort(x, axis)), np.argsort(a, axis, kind='stable')
    )


def test_sort_puts_nan_last():
    x = chainerx.array([2.0, np.nan, -np.inf, 1.0])
    assert chainerx.sort(x)[:3].tolist() == [-np.inf, 1.0, 2.0]
    assert chainerx.argsort(x).tolist() == [2, 3, 0, 1]


def test_attention_without_keys():
    xs = [
        chainerx.zeros((2, 3, 4), 'float32').require_grad(),
        chainerx.zeros((2, 0, 4), 'float32').require_grad(),
        chainerx.zeros((2, 0, 5), 'float32'),
    ]
    y = chainerx.scaled_dot_product_attention(*xs)
    chainerx.testing.assert_array_equal_ex(y.as_grad_stopped(), np.zeros((2, 3, 5), 'f'))
    chainerx.backward(y.sum())
    assert [x.grad.shape for x in xs[:2]] == [(2, 3, 4), (2, 0, 4)]


@pytest.mark.parametrize('mask', [False, -np.inf])
def test_attention_to_no_key(mask):
    q, k, v = [chainerx.array(a).require_grad() for a in _inputs([(2, 3), (4, 3), (4, 2)])]
    mask = chainerx.full((2, 1), mask)
    y = chainerx.scaled_dot_product_attention(q, k, v, mask)
    assert not y.as_grad_stopped().any()
    chainerx.backward(y.sum(), enable_double_backprop=True)
    for x in (q, k, v):
        assert not x.grad.as_grad_stopped().any()


def test_attention_mixes_dtypes_and_broadcasts():
    arrays = _inputs([(2, 1, 3, 4), (1, 3, 5, 4), (5, 2)])
    q, k, v = [
        chainerx.array(a.astype(dtype)).require_grad()
        for a, dtype in zip(arrays, ['float16', 'float32', 'float32'])
    ]
    y = chainerx.scaled_dot_product_attention(q, k, v)
    assert (y.shape, y.dtype) == ((2, 3, 3, 2), 'float32')
    q_, k_, v_ = [np.broadcast_to(a, (2, 3, *a.shape[-2:])) for a in arrays]
    np.testing.assert_allclose(
        chainerx.to_numpy(y.as_grad_stopped()), _attention(q_, k_, v_).array, 2e-3, 1e-3
    )
    chainerx.backward(y.sum())
    assert [(x.grad.shape, x.grad.dtype) for x in (q, k, v)] == [
        (x.shape, x.dtype) for x in (q, k, v)
    ]


def test_attention_of_transposed_heads():
    # (batch, length, heads, width), as projections leave them, is read where it lies.
    arrays = [np.swapaxes(a, 1, 2) for a in _inputs([(2, 70, 3, 4), (2, 6, 3, 4), (2, 6, 3, 5)])]
    y = chainerx.scaled_dot_product_attention(
        *[chainerx.array(np.swapaxes(a, 1, 2)).transpose(0, 2, 1, 3) for a in arrays], causal=True
    )
    np.testing.assert_allclose(chainerx.to_numpy(y), _attention(*arrays, causal=True).array, 1e-10)


@pytest.mark.parametrize('wanted', [0, 1, 2])
def test_one_gradient_of_a_stacked_network(wanted):
    # Final h, final c, or outputs alone; each reaches the first states through a part of the graph.
    arrays = _inputs([(1, 3, 2)] * 2 + [(2, 4)] * 4 + [(2, 2)] * 4 + [(2,)] * 8 + [(3, 4), (1, 4)])

    def run(module, xs, *options):
        hy, cy, ys = module.n_step_lstm(1, *options, xs[0], xs[1], [xs[2:10]], [xs[10:18]], xs[18:])
        return [(hy * hy).sum(), (cy * cy).sum(), (ys[1] * ys[1]).sum()][wanted]

    xs = [chainerx.array(a).require_grad() for a in arrays]
    chainerx.backward(run(chainerx, xs))
    variables = [chainer.Variable(a) for a in arrays]
    hy, cy, ys = F.n_step_lstm(
        1, 0.0, *variables[:2], [variables[2:10]], [variables[10:18]], variables[18:]
    )
    F.sum([hy, cy, ys[1]][wanted] ** 2).backward()
    for v, x in zip(variables, xs, strict=True):
        expected = np.zeros(v.shape) if v.grad is None else v.grad
        np.testing.assert_allclose(chainerx.to_numpy(x.grad), expected, 1e-9, 1e-12)


def test_output_of_a_network_must_not_be_overwritten():
    x, h = chainerx.zeros((2, 2), 'float32').require_grad(), chainerx.zeros((1, 2, 2), 'float32')
    weights = [[chainerx.zeros((2, 2), 'float32')] * 2], [[chainerx.zeros(2, 'float32')] * 2]
    hy, ys = chainerx.n_step_rnn(1, h, *weights, [x])
    y = ys[0].as_grad_stopped()
    y += 1
    with pytest.raises(chainerx.GradientError, match='in place'):
        chainerx.backward((ys[0] * 2).sum())


def test_cross_entropy_of_many_float16():
    # Neither the sum nor the number of labels is a number of half precision.
    x, t = (
        chainerx.zeros((2, 2, 200, 200), 'float16').require_grad(),
        chainerx.zeros((2, 200, 200), 'int8'),
    )
    loss = chainerx.softmax_cross_entropy(x, t, reduce='mean')
    assert loss.dtype == 'float16'
    assert abs(float(loss.as_grad_stopped()) - np.log(2)) < 1e-3
