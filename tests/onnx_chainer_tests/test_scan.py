"""Loops that stay loops in a file: `onnx_chainer.scan` beside loops of Python, at other lengths."""

import numpy as np
import pytest
from onnx_chainer_tests import helpers_of_export

import chainer
import chainer.functions as F
import chainer.links as L
import onnx_chainer

onnx = pytest.importorskip('onnx')


def _random(*shape):
    return np.random.RandomState(sum(shape)).normal(size=shape).astype('f')


class _Recurrent(chainer.Chain):
    """Parameters, an array of the model and a value of the graph are read in the steps."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.w = L.Linear(3, 4)
            self.u = L.Linear(4, 4)
            self.o = L.Linear(4, 2)

    def _step(self, x):
        scale = F.sigmoid(F.sum(x))

        def step(h, e):
            h = F.tanh(self.w(e) * scale + self.u(h) + np.float32(0.25))
            return h, self.o(h)

        return np.zeros((x.shape[1], 4), 'f'), step

    def loop(self, x):
        h, step = self._step(x)
        ys = []
        for e in F.separate(x):
            h, y = step(h, e)
            ys.append(y)
        return h, F.stack(ys)

    def forward(self, x):
        h, step = self._step(x)
        return onnx_chainer.scan(step, h, x)


class _LSTM(chainer.Chain):
    """A carry of two, and two sequences; nothing is stacked, or two values are."""

    def __init__(self, n_results):
        super().__init__()
        self.n_results = n_results
        with self.init_scope():
            self.w = L.Linear(5, 16)

    def _step(self, carry, xs):
        c, h = carry
        x, mask = xs
        new_c, new_h = F.lstm(c, self.w(F.concat([x, h], axis=1)))
        keep = F.broadcast_to(F.expand_dims(mask, 1), h.shape)
        c, h = keep * new_c + (1 - keep) * c, keep * new_h + (1 - keep) * h
        return (c, h), [h, F.sum(c, axis=1)][: self.n_results]

    def _start(self, x):
        return [np.zeros((x.shape[1], 4), 'f')] * 2

    def loop(self, x, mask):
        carry, rows = self._start(x), []
        for pair in zip(F.separate(x), F.separate(mask)):
            carry, ys = self._step(carry, pair)
            rows.append(ys)
        return [*carry, *[F.stack(ys) for ys in zip(*rows)]]

    def forward(self, x, mask):
        carry, ys = onnx_chainer.scan(self._step, self._start(x), (x, mask))
        return [*carry, *ys]


class _Nested(chainer.Chain):
    """A loop over rows in a loop over matrices."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.w = L.Linear(3, 3)

    def loop(self, x):
        total, rows = np.zeros(3, 'f'), []
        for matrix in F.separate(x):
            for row in F.separate(matrix):
                total = F.tanh(self.w(F.expand_dims(total, 0))[0] + row)
            rows.append(total * 2)
        return total, F.stack(rows)

    def forward(self, x):
        def inner(total, row):
            return F.tanh(self.w(F.expand_dims(total, 0))[0] + row), ()

        def outer(total, matrix):
            total, _ = onnx_chainer.scan(inner, total, matrix)
            return total, total * 2

        return onnx_chainer.scan(outer, np.zeros(3, 'f'), x)


#: Model, shapes of its inputs, and these for other inputs
MODELS = {
    'recurrent': (_Recurrent, [('t', 'b', 3)], [(5, 2, 3)], [[(1, 2, 3)], [(9, 4, 3)]]),
    'lstm': (
        lambda: _LSTM(2),
        [('t', 'b', 1), ('t', 'b')],
        [(3, 2, 1), (3, 2)],
        [[(7, 1, 1), (7, 1)]],
    ),
    'no results': (
        lambda: _LSTM(0),
        [('t', 2, 1), ('t', 2)],
        [(3, 2, 1), (3, 2)],
        [[(6, 2, 1), (6, 2)]],
    ),
    'nested': (_Nested, [('t', 'n', 3)], [(4, 2, 3)], [[(6, 5, 3)], [(1, 1, 3)]]),
}


@pytest.fixture(params=MODELS)
def case(request):
    make, names, shapes, others = MODELS[request.param]
    np.random.seed(0)
    return make(), names, [_random(*s) for s in shapes], [[_random(*s) for s in o] for o in others]


def _arrays(result):
    return [y.array for y in result]


def test_values_and_gradients(case):
    model, _, args, others = case
    for xs in (args, *others):
        grads = []
        for call in model, model.loop:
            variables = [chainer.Variable(x) for x in xs]
            ys = call(*variables)
            model.cleargrads()
            sum(F.sum(y * y) for y in ys).backward()
            leaves = [*variables, *[p for _, p in sorted(model.namedparams())]]
            grads.append([*_arrays(ys), *[v.grad for v in leaves]])
        for a, b in zip(*grads, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def _exported(case, **options):
    model, names, args, _ = case
    return onnx_chainer.export(
        model, args, input_shapes=names, input_names=[f'x{i}' for i in range(len(args))], **options
    )


@pytest.mark.parametrize('opset', [9, 11, 13, None])
def test_onnxruntime(case, opset):
    pytest.importorskip('onnxruntime')
    model, _, args, others = case
    onnx_model = _exported(case, opset_version=opset or helpers_of_export.newest_opset())
    assert helpers_of_export.op_types(onnx_model).count('Scan') == 1
    for xs in (args, *others):
        ys = helpers_of_export.run_onnx(onnx_model, {f'x{i}': x for i, x in enumerate(xs)})
        for y, expected in zip(ys, model.loop(*xs), strict=True):
            np.testing.assert_allclose(y, expected.array, rtol=1e-4, atol=1e-5)


@pytest.mark.chainerx
def test_loaders(loader, case):
    model, _, args, others = case
    loaded = loader.load(_exported(case).SerializeToString())
    for xs in (args, *others):
        for y, expected in zip(loaded(*xs), model.loop(*xs), strict=True):
            np.testing.assert_allclose(y, expected.array, rtol=1e-4, atol=1e-5)


def test_without_dynamic_axes():
    model, x = _Recurrent(), _random(4, 2, 3)
    onnx_model = onnx_chainer.export(model, x)
    assert 'Scan' in helpers_of_export.op_types(onnx_model)
    plain = onnx_chainer.export(model.loop, x)
    assert 'Scan' not in helpers_of_export.op_types(plain)


def test_of_variables_with_other_names():
    """A step may return what it gets, and read the arrays that it gets from outside, too."""
    x = _random(3, 2)

    def model(x):
        first = F.sum(x, axis=0)
        return onnx_chainer.scan(lambda c, e: (c, (e, c, first * e)), first, x)

    def flat(x):
        last, ys = model(x)
        return [last, *ys]

    onnx_model = onnx_chainer.export(flat, x, input_shapes=('t', 2), input_names=['x'])
    for n in 3, 5:
        x = _random(n, 2)
        for y, expected in zip(onnx_chainer.load(onnx_model)(x), flat(x), strict=True):
            np.testing.assert_allclose(y.array, expected.array, rtol=1e-5)


def _sum(total, x):
    return total + x, ()


ZERO = np.zeros(2, 'f')


@pytest.mark.parametrize(
    ('body', 'carry', 'xs', 'message'),
    [
        (_sum, ZERO, np.zeros((0, 2), 'f'), 'at least one'),
        (_sum, ZERO, [], 'at least one'),
        (_sum, ZERO, np.array(1, 'f'), 'at least one'),
        (_sum, ZERO, (np.zeros((2, 2), 'f'), np.zeros((3, 2), 'f')), 'of one length'),
        (_sum, ZERO, 3, 'xs must have variables or arrays, not int'),
        (_sum, [None], np.zeros((2, 2), 'f'), 'carry must have variables or arrays, not NoneType'),
        (_sum, np.zeros((), 'f'), np.zeros((2, 2), 'f'), 'keep the shapes'),
        (lambda c, x: (F.cast(c, 'd'), x), ZERO, np.zeros((2, 2), 'f'), 'keep the shapes'),
        (lambda c, x: (c, None), ZERO, np.zeros((2, 2), 'f'), 'the result must have variables'),
        (lambda c, x: c, ZERO, np.zeros((2, 2), 'f'), 'must return the carry and a result'),
    ],
)
def test_errors(body, carry, xs, message):
    with pytest.raises(ValueError, match=message):
        onnx_chainer.scan(body, carry, xs)


class _Counter:
    def __init__(self, step):
        self.t = 0
        self.step = step

    def __call__(self, c, x):
        self.t += 1
        return self.step(c, x, self.t), ()


@pytest.mark.parametrize(
    ('step', 'message'),
    [
        (lambda c, x, t: c + x if t % 2 else c * x, 'different functions'),
        (lambda c, x, t: c + x if t % 2 else x + c, 'different functions'),
        (lambda c, x, t: F.concat([c[:1], x[t % 2 :][:1]], axis=0), 'different functions'),
        (lambda c, x, t: c + x * np.float32(t), 'different functions'),
        (lambda c, x, t: c + x * np.full(2, t, 'f'), 'an array from outside'),
    ],
)
def test_steps_that_differ(step, message):
    x = _random(4, 2)
    with pytest.raises(RuntimeError, match=message):
        onnx_chainer.export(lambda x: onnx_chainer.scan(_Counter(step), ZERO, x)[0], x)


def test_a_link_with_a_state_is_refused():
    lstm = L.LSTM(2, 2)

    def model(x):
        lstm.reset_state()
        return onnx_chainer.scan(lambda c, e: (c, lstm(F.expand_dims(e, 0))), ZERO, x)[1]

    with pytest.raises(RuntimeError, match='different functions'):
        onnx_chainer.export(model, _random(4, 2))


def test_a_loop_written_out_names_scan():
    with pytest.raises(RuntimeError, match='onnx_chainer.scan'):
        onnx_chainer.export(_Recurrent().loop, _random(4, 2, 3), input_shapes=('t', 2, 3))
