import numpy as np
import pytest
from helpers.functions import check_function, devices

import chainer
import chainerx
from chainer import functions as F
from chainer.functions.rnn import n_step_gru, n_step_lstm, n_step_rnn
from chainer.utils import type_check
from tests.helpers.devices import CHX, drawn_by_numpy

_rng = np.random.RandomState(0)
_n_weights = {'lstm': 8, 'gru': 6, 'tanh': 2, 'relu': 2}
_in_size, _size = 3, 2


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _step(kind, x, h, c, w, b):
    n = _n_weights[kind] // 2
    xs = [x @ w[k].T + b[k] for k in range(n)]
    hs = [h @ w[n + k].T + b[n + k] for k in range(n)]
    if kind == 'lstm':
        i, f, o = [_sigmoid(xs[k] + hs[k]) for k in (0, 1, 3)]
        c = f * c + i * np.tanh(xs[2] + hs[2])
        return o * np.tanh(c), c
    if kind == 'gru':
        r, z = [_sigmoid(xs[k] + hs[k]) for k in (0, 1)]
        return (1 - z) * np.tanh(xs[2] + r * hs[2]) + z * h, c
    y = xs[0] + hs[0]
    return (np.tanh(y) if kind == 'tanh' else np.maximum(y, 0)), c


def _reference(kind, directions, hx, cx, ws, bs, xs):
    """Runs sequence by sequence."""
    lengths = [len(x) for x in xs]
    hy, cy = hx.copy(), cx.copy()
    for layer in range(len(ws) // directions):
        ys = [np.zeros((n, _size * directions)) for n in lengths]
        for d in range(directions):
            cell = layer * directions + d
            for j in range(hx.shape[1]):
                h, c = hx[cell, j], cx[cell, j]
                times = [t for t, n in enumerate(lengths) if n > j]
                for t in reversed(times) if d else times:
                    h, c = _step(kind, xs[t][j], h, c, ws[cell], bs[cell])
                    ys[t][j, d * _size : (d + 1) * _size] = h
                hy[cell, j], cy[cell, j] = h, c
        xs = ys
    return (hy, cy, *xs) if kind == 'lstm' else (hy, *xs)


def _inputs(kind, layers, directions, lengths, batch=None):
    n = layers * directions
    k = _n_weights[kind]
    states = [
        _rng.uniform(-1, 1, (n, batch or lengths[0], _size))
        for _ in range(2 if kind == 'lstm' else 1)
    ]
    params = []
    for cell in range(n):
        size = _size * directions if cell >= directions else _in_size
        params += [_rng.uniform(-1, 1, (_size, size if j < k // 2 else _size)) for j in range(k)]
        params += [_rng.uniform(-1, 1, _size) for _ in range(k)]
    xs = [_rng.uniform(-1, 1, (m, _in_size)) for m in lengths]
    return [*states, *params, *xs]


def _unpack(kind, layers, directions, inputs):
    n, k = layers * directions, _n_weights[kind]
    n_states = 2 if kind == 'lstm' else 1
    states = list(inputs[:n_states])
    params, xs = inputs[n_states : n_states + 2 * n * k], inputs[n_states + 2 * n * k :]
    ws = [list(params[2 * k * i : 2 * k * i + k]) for i in range(n)]
    bs = [list(params[2 * k * i + k : 2 * k * (i + 1)]) for i in range(n)]
    return states, ws, bs, list(xs)


def _call(kind, layers, directions, inputs, ratio=0.0, **kwargs):
    states, ws, bs, xs = _unpack(kind, layers, directions, inputs)
    name = 'rnn' if kind in ('tanh', 'relu') else kind
    f = getattr(F, f'n_step_{"bi" if directions == 2 else ""}{name}')
    if name == 'rnn':
        kwargs['activation'] = kind
    *states, ys = f(layers, ratio, *states, ws, bs, xs, **kwargs)
    assert isinstance(ys, tuple)
    return (*states, *ys)


def _expected(kind, layers, directions, inputs):
    states, ws, bs, xs = _unpack(kind, layers, directions, inputs)
    cx = states[1] if kind == 'lstm' else np.zeros_like(states[0])
    return _reference(kind, directions, states[0], cx, ws, bs, xs)


_kinds = pytest.mark.parametrize('kind', list(_n_weights))


@_kinds
@pytest.mark.parametrize(
    'layers, directions, lengths, batch',
    [
        (1, 1, (3, 2, 2), None),
        (2, 1, (2, 1), None),
        (1, 2, (3, 1), None),
        (2, 2, (2, 2, 1), None),
        (1, 1, (2,), None),
        (1, 1, (2, 1), 4),
        (1, 2, (1, 1), 2),
    ],
)
def test_n_step(kind, layers, directions, lengths, batch):
    check_function(
        lambda *xs: _call(kind, layers, directions, xs),
        _inputs(kind, layers, directions, lengths, batch),
        lambda *xs: _expected(kind, layers, directions, xs),
        dtypes='fd',
        double=layers == 1,
        grad_tolerance=1e-4,
    )


@_kinds
@pytest.mark.parametrize('dtype, param_dtype', [('e', 'e'), ('e', 'f')])
def test_float16(kind, dtype, param_dtype):
    inputs = [
        x.astype(param_dtype if x.shape[-1] != _in_size and x.ndim == 1 else dtype)
        for x in _inputs(kind, 2, 1, (2, 1))
    ]
    v = [chainer.Variable(x) for x in inputs]
    ys = _call(kind, 2, 1, v)
    for y, e in zip(ys, _expected(kind, 2, 1, [x.astype('d') for x in inputs])):
        assert y.dtype == dtype
        np.testing.assert_allclose(y.array.astype('d'), e, atol=5e-3)
    gxs = chainer.grad(ys, v)
    for x, gx in zip(v, gxs):
        assert gx.dtype == x.dtype


@_kinds
@pytest.mark.parametrize('directions', [1, 2])
def test_dropout(kind, directions):
    inputs = _inputs(kind, 3, directions, (3, 2))
    v = [chainer.Variable(x) for x in inputs]
    ys = _call(kind, 3, directions, v, ratio=0.5)
    func = ys[0].creator
    assert len(func._masks) == 2
    for mask in func._masks:
        assert set(np.unique(mask)) <= {0.0, 2.0}
    gys = [chainer.Variable(_rng.uniform(-1, 1, y.shape)) for y in ys]
    for a, b in zip(
        chainer.grad(ys, v, gys), chainer.grad(ys, v, gys, enable_double_backprop=True)
    ):
        np.testing.assert_allclose(a.array, b.array, atol=1e-10)
    with chainer.using_config('train', False):
        for y, e in zip(
            _call(kind, 3, directions, v, ratio=0.5), _expected(kind, 3, directions, inputs)
        ):
            np.testing.assert_allclose(y.array, e)


@pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built')
@drawn_by_numpy
@_kinds
@pytest.mark.parametrize('directions', [1, 2])
def test_dropout_on_chainerx(kind, directions, monkeypatch):
    # The same masks and gradients as on NumPy, without a fallback.
    inputs = _inputs(kind, 3, directions, (3, 2))
    results = []
    for device in '@numpy', CHX[0]:
        v = [chainer.Variable(x) for x in inputs]
        for x in v:
            x.to_device(device)
        if device != '@numpy':
            monkeypatch.setattr('chainer._core.engines.fallback.engine', None)
        np.random.seed(3)
        ys = _call(kind, 3, directions, v, ratio=0.5)
        gxs = chainer.grad([sum([F.sum(y * y) for y in ys])], v)
        for x in (*ys, *gxs):
            x.to_cpu()
        results.append([x.array for x in (*ys, *gxs)])
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, 1e-10, 1e-12)


@_kinds
@pytest.mark.parametrize('used', [0, -1])
def test_outputs_without_gradient(kind, used):
    v = [chainer.Variable(x) for x in _inputs(kind, 2, 1, (2, 2, 1))]
    ys = _call(kind, 2, 1, v)
    gy = chainer.Variable(_rng.uniform(-1, 1, ys[used].shape))
    gxs = [chainer.grad([ys[used]], v, [gy], enable_double_backprop=d) for d in (False, True)]
    for a, b in zip(*gxs):
        e = np.zeros(a.shape) if b is None else b.array
        np.testing.assert_allclose(a.array, e, atol=1e-10)


@pytest.mark.parametrize('cell, kind', [(n_step_lstm._lstm, 'lstm'), (n_step_gru._gru, 'gru')])
@pytest.mark.parametrize('directions', [1, 2])
@pytest.mark.parametrize('ratio', [0.0, 0.5])
def test_impl(cell, kind, directions, ratio):
    inputs = _inputs(kind, 2, directions, (3, 2))
    (hx, *cx), ws, bs, xs = _unpack(kind, 2, directions, inputs)
    np.random.seed(0)
    hy, cy, ys = n_step_rnn.n_step_rnn_impl(
        cell, 2, ratio, hx, cx[0] if cx else None, ws, bs, xs, directions == 2
    )
    next_number = np.random.rand()
    assert (cy is None) == (kind != 'lstm')
    actual = [hy, *([] if cy is None else [cy]), *ys]
    np.random.seed(0)
    expected = _call(kind, 2, directions, [chainer.Variable(x) for x in inputs], ratio=ratio)
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a.array, e.array)
    assert np.random.rand() == next_number
    if not ratio:
        for a, e in zip(actual, _expected(kind, 2, directions, inputs), strict=True):
            np.testing.assert_allclose(a.array, e)


@drawn_by_numpy
@_kinds
@pytest.mark.parametrize('directions', [1, 2])
@pytest.mark.parametrize('device', devices())
def test_masks_that_drop_nothing_are_drawn(kind, directions, device):
    """Random numbers that follow do not depend on the ratio, as in Chainer 7."""
    inputs = _inputs(kind, 3, directions, (3, 2))
    v = [chainer.Variable(x) for x in inputs]
    for x in v:
        x.to_device(device)
    following = []
    for ratio in 0.5, 0.0:
        for train in True, False:
            np.random.seed(0)
            with chainer.using_config('train', train):
                _call(kind, 3, directions, v, ratio=ratio)
            following.append(np.random.rand())
    np.random.seed(0)
    assert following[1] == following[3] == np.random.rand()
    np.random.seed(0)
    np.random.rand(2 * directions * 5 * _size * directions)
    assert following[0] == following[2] == np.random.rand()


def test_base_functions():
    inputs = _inputs('gru', 1, 2, (2, 1))
    (hx,), ws, bs, xs = _unpack('gru', 1, 2, inputs)
    hy, ys = n_step_gru.n_step_gru_base(1, 0.0, hx, ws, bs, xs, True)
    np.testing.assert_allclose(hy.array, _expected('gru', 1, 2, inputs)[0])
    assert type(hy.creator) is n_step_gru.NStepBiGRU


def _change(kind, **changes):
    states, ws, bs, xs = _unpack(kind, 1, 1, _inputs(kind, 1, 1, (2, 1)))
    args = {'hx': states[0], 'cx': states[-1], 'ws': ws, 'bs': bs, 'xs': xs}
    for name, change in changes.items():
        args[name] = change(args[name])
    states = [args['hx']] + ([args['cx']] if kind == 'lstm' else [])
    return [1, 0.0, *states, args['ws'], args['bs'], args['xs']]


@_kinds
@pytest.mark.parametrize(
    'changes, error',
    [
        ({'hx': lambda h: h[:, :1]}, type_check.InvalidType),
        ({'hx': lambda h: h[0]}, type_check.InvalidType),
        ({'hx': lambda h: h.astype('f')}, type_check.InvalidType),
        ({'hx': lambda h: np.concatenate([h, h])}, type_check.InvalidType),
        ({'xs': lambda xs: xs[::-1]}, type_check.InvalidType),
        ({'xs': lambda xs: [x[:, :2] for x in xs]}, type_check.InvalidType),
        ({'xs': lambda xs: [x[:, :, None] for x in xs]}, type_check.InvalidType),
        ({'ws': lambda ws: [[w.astype('i') for w in ws[0]]]}, type_check.InvalidType),
        ({'ws': lambda ws: [[w[:1] for w in ws[0]]]}, type_check.InvalidType),
        ({'bs': lambda bs: [[b[:1] for b in bs[0]]]}, type_check.InvalidType),
        ({'ws': lambda ws: ws + ws}, IndexError),
        ({'bs': lambda bs: []}, IndexError),
        ({'ws': lambda ws: [ws[0][1:]]}, ValueError),
        ({'bs': lambda bs: [bs[0] * 2]}, ValueError),
        ({'xs': lambda xs: []}, IndexError),
    ],
)
def test_bad_input(kind, changes, error):
    f = getattr(F, 'n_step_rnn' if kind in ('tanh', 'relu') else f'n_step_{kind}')
    with pytest.raises(error):
        f(*_change(kind, **changes))


def test_bad_cell_states():
    with pytest.raises(type_check.InvalidType):
        F.n_step_lstm(*_change('lstm', cx=lambda c: c[:, :1]))


@pytest.mark.parametrize('kind', ['lstm', 'gru', 'rnn'])
@pytest.mark.parametrize(
    'kwargs, error',
    [({'train': True}, ValueError), ({'use_cudnn': True}, ValueError), ({'foo': 1}, TypeError)],
)
def test_bad_arguments(kind, kwargs, error):
    with pytest.raises(error):
        getattr(F, f'n_step_{kind}')(*_change('tanh' if kind == 'rnn' else kind), **kwargs)


def test_bad_activation_and_ratio():
    with pytest.raises(ValueError, match='sigmoid'):
        F.n_step_rnn(*_change('tanh'), activation='sigmoid')
    args = _change('tanh')
    args[1] = 1.0
    with pytest.raises(ValueError, match='dropout_ratio'):
        F.n_step_rnn(*args)


@pytest.mark.gpu
@_kinds
@pytest.mark.parametrize('directions', [1, 2])
def test_gpu(kind, directions):
    inputs = _inputs(kind, 2, directions, (3, 2, 2))
    results = []
    for name in ('@numpy', '@cupy:0'):
        v = [chainer.Variable(chainer.get_device(name).send(x)) for x in inputs]
        ys = _call(kind, 2, directions, v)
        gxs = chainer.grad([F.sum(F.sin(F.concat(ys[-3:], axis=0)))], v)
        results.append([chainer.get_device('@numpy').send(a.array) for a in (*ys, *gxs)])
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, atol=1e-8)
