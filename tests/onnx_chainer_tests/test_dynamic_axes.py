"""Exported graphs that take other lengths than those of the export."""

import numpy as np
import pytest
from onnx_chainer_tests import helpers_of_export

import chainer
import chainer.functions as F
import chainer.links as L
import onnx_chainer


def f32(*shape):
    return np.random.RandomState(len(shape)).uniform(-1, 1, shape).astype('f')


def check(model, shape, named, others, opsets=(11, 17, 26), **options):
    for opset in opsets:
        helpers_of_export.check(
            model,
            f32(*shape),
            1e-4,
            1e-4,
            others=[f32(*other) for other in others],
            opset_version=opset,
            input_shapes=named,
            **options,
        )


class Attention(chainer.Chain):
    """A small language model with positions, a causal mask and attention."""

    def __init__(self, causal=True):
        super().__init__()
        self.causal = causal
        with self.init_scope():
            self.words = L.EmbedID(7, 8)
            self.places = L.EmbedID(50, 8)
            self.layer = L.TransformerEncoderLayer(8, 2, 16)
            self.norm = L.LayerNormalization(8)
            self.out = L.Linear(8, 7)

    def forward(self, x):
        batch, length = x.shape
        h = self.words(x) + self.places(np.arange(length, dtype='i'))
        h = self.layer(h, causal=self.causal)
        h = self.norm(h.reshape(-1, 8))
        return self.out(h).reshape(batch, length, 7)


class StepwiseLSTM(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.lstm = L.LSTM(3, 4)
            self.out = L.Linear(4, 2)

    def forward(self, x):
        self.lstm.reset_state()
        for t in range(x.shape[1]):
            h = self.lstm(x[:, t])
        return self.out(h)


class Recurrent(chainer.Chain):
    """Layers of time steps, from zero states."""

    def __init__(self, function, n_weights, n_states):
        super().__init__()
        self.function, self.n_states = function, n_states
        self.ws = [[f32(4, 3 if j < n_weights // 2 else 4) for j in range(n_weights)]]
        self.bs = [[f32(4) for _ in range(n_weights)]]

    def forward(self, x):
        states = [np.zeros((1, len(x), 4), 'f')] * self.n_states
        *_, ys = self.function(1, 0.0, *states, self.ws, self.bs, F.separate(x, 1))
        return F.stack(ys, axis=1)


def _mask(x):
    n = x.shape[1]
    return F.where(np.tri(n, dtype=bool), x, np.full(x.shape, -9, 'f'))


@pytest.mark.parametrize(
    ('model', 'shape', 'named', 'others'),
    [
        (L.Linear(3, 2), (1, 3), ('n', 3), [(4, 3), (2, 3)]),
        (chainer.Sequential(L.Linear(4, 5, nobias=True), F.softmax), (2, 4), ('n', 4), [(1, 4)]),
        (lambda x: F.reshape(x, (x.shape[0], -1)), (2, 3, 4), ('n', 3, 4), [(5, 3, 4)]),
        (lambda x: F.reshape(x, (-1, 4)), (2, 3, 4), ('n', 'm', 4), [(5, 1, 4)]),
        (
            lambda x: F.reshape(F.reshape(x, (x.shape[0] * x.shape[1], 4)), x.shape),
            *((2, 3, 4), ('n', 'm', 4), [(5, 1, 4), (1, 7, 4)]),
        ),
        (lambda x: F.broadcast_to(F.sum(x, 1, keepdims=True), x.shape), (2, 3), ('n', 'm'), [(4, 2)]),
        (lambda x: F.transpose(x).reshape(x.shape[1], 2, -1), (2, 3), ('n', 3), [(4, 3)]),
        (lambda x: x[:, -1], (2, 3), ('n', 'm'), [(4, 2)]),
        (lambda x: x[1:, : x.shape[1] - 1], (2, 3), ('n', 'm'), [(4, 5)]),
        (lambda x: F.concat([x, x[:, :1]], axis=1), (2, 3), ('n', 'm'), [(4, 5)]),
        (lambda x: F.repeat(x, 3, axis=1), (2, 3), ('n', 'm'), [(4, 5)]),
        (lambda x: F.sum(x) / len(x), (2, 3), ('n', 3), [(5, 3)]),
        (lambda x: F.sum(x) * len(x), (2, 3), ('n', 3), [(5, 3)]),
        (lambda x: x + np.zeros(x.shape, 'f') + 1, (2, 3), ('n', 'm'), [(4, 5)]),
        (lambda x: x + np.arange(x.shape[1], dtype='f'), (2, 3), ('n', 'm'), [(4, 5)]),
        (lambda x: x * (2 * np.arange(len(x), dtype='f') + 1)[:, None], (2, 3), ('n', 3), [(5, 3)]),
        (_mask, (3, 3), ('n', 'n'), [(5, 5), (2, 2)]),
        (lambda x: F.split_axis(x, 2, 1)[1], (2, 4), ('n', 'm'), [(3, 6)]),
        (
            chainer.Sequential(L.Convolution2D(2, 3, 3), F.relu, lambda x: F.max_pooling_2d(x, 2)),
            *((1, 2, 8, 8), ('n', 2, 'h', 'w'), [(3, 2, 9, 12), (1, 2, 16, 7)]),
        ),
        (
            lambda x: F.average_pooling_2d(x, x.shape[2:]),
            *((1, 2, 4, 4), ('n', 2, 'h', 'w'), [(3, 2, 5, 6)]),
        ),
        (
            lambda x: F.resize_images(x, (2 * x.shape[2], 2 * x.shape[3])),
            *((1, 2, 3, 4), ('n', 2, 'h', 'w'), [(3, 2, 5, 6)]),
        ),
        (lambda x: F.unpooling_2d(x, 2, cover_all=False), (1, 2, 3, 4), ('n', 2, 'h', 'w'), [(3, 2, 5, 6)]),
        (StepwiseLSTM(), (1, 5, 3), ('n', 5, 3), [(4, 5, 3)]),
        (Recurrent(F.n_step_lstm, 8, 2), (2, 5, 3), ('n', 5, 3), [(1, 5, 3), (4, 5, 3)]),
        (Recurrent(F.n_step_gru, 6, 1), (2, 5, 3), ('n', 5, 3), [(1, 5, 3), (4, 5, 3)]),
        (L.GroupNormalization(2, 4), (2, 4, 5), ('n', 4, 'm'), [(3, 4, 7)]),
        (L.MultiHeadAttention(8, 2), (1, 3, 8), ('n', 't', 8), [(2, 5, 8), (3, 1, 8)]),
    ],
)  # fmt: skip
def test_other_lengths(model, shape, named, others):
    check(model, shape, named, others)


@pytest.mark.parametrize('causal', [False, True])
@pytest.mark.parametrize('opset', [11, 17, 26])
def test_attention_with_dynamic_batch_and_length(causal, opset):
    words = [np.arange(n * m).reshape(n, m).astype('i') % 7 for n, m in ((1, 4), (3, 6), (2, 2))]
    model = helpers_of_export.check(
        Attention(causal),
        words[0],
        1e-4,
        1e-5,
        others=words[1:],
        opset_version=opset,
        input_shapes=('batch', 'time'),
    )
    dims = model.graph.output[0].type.tensor_type.shape.dim
    assert [d.dim_param or d.dim_value for d in dims] == ['batch', 'time', 7]


def test_loss_of_dynamic_batch():
    args = [f32(2, 3), np.array([0, 2], 'i')]
    others = [[f32(5, 3), np.array([0, 2, 1, 1, -1], 'i')]]
    helpers_of_export.check(
        F.softmax_cross_entropy, args, others=others, input_shapes=[('n', 3), ('n',)]
    )


def test_loop_over_axis_says_so():
    with pytest.raises(RuntimeError, match='a loop over an axis has a fixed number of steps'):
        onnx_chainer.export(StepwiseLSTM(), f32(1, 5, 3), input_shapes=('n', 't', 3))


def test_fixed_model_says_so():
    with pytest.raises(RuntimeError, match="with another length of the axis 'm'"):
        onnx_chainer.export(L.Linear(3, 2), f32(2, 3), input_shapes=(2, 'm'))


def test_constant_without_expression_says_so():
    def model(x):
        return x + np.sin(np.arange(len(x), dtype='f'))[:, None]

    with pytest.raises(
        RuntimeError, match='input 1 of Add: an array of shape .* depends on the length'
    ):
        onnx_chainer.export(model, f32(2, 3), input_shapes=('n', 3))


@pytest.mark.parametrize(
    ('shapes', 'message'),
    [
        (('n', 3, 4), 'does not fit input 0'),
        (('n', 4), 'axis 1 of input 0 has the length 3, not 4'),
        ([('n', 3), ('n', 3)], 'must be a tuple'),
    ],
)
def test_wrong_shapes(shapes, message):
    with pytest.raises(ValueError, match=message):
        onnx_chainer.export(F.relu, f32(2, 3), input_shapes=shapes)


@pytest.mark.parametrize(
    ('shapes', 'named'),
    [
        ([('n', 'n'), ('n', 'n')], [('n', 'n_1'), ('n', 'n_1')]),
        ([('n', 3), ('n_1', 'n')], [('n', 3), ('n_1', 'n_2')]),
    ],
)
def test_one_name_for_two_lengths(shapes, named):
    """The axes of another length get a name of their own, and so they vary on their own."""
    args = [f32(2, 3), f32(2, 3)]
    alike = shapes[0] == shapes[1]

    def call(x, y):
        return x + y if alike else (F.relu(x), F.exp(y))

    with pytest.warns(UserWarning, match="named 'n' have the lengths 2 and 3: .* named 'n_[12]'"):
        model = onnx_chainer.export(call, args, input_shapes=shapes, opset_version=17)
    for info, expected in zip(model.graph.input, named):
        dims = info.type.tensor_type.shape.dim
        assert tuple(d.dim_param or d.dim_value for d in dims) == expected
    if alike:
        for shape in (4, 5), (3, 3):
            (y,) = helpers_of_export.run_onnx(
                model, {'Input_0': f32(*shape), 'Input_1': f32(*shape)}
            )
            np.testing.assert_array_equal(y, 2 * f32(*shape))
