"""Recurrent layers that the runner does in one kernel, and those that it does not, beside ONNX Runtime."""

import numpy as np
import pytest

import chainerx

onnx = pytest.importorskip('onnx')
onnxruntime = pytest.importorskip('onnxruntime')
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

pytestmark = [
    pytest.mark.chainerx,
    pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built'),
]

GATES = {'LSTM': 4, 'GRU': 3, 'RNN': 1}
STATES = {'LSTM': 2, 'GRU': 1, 'RNN': 1}
INNER, UNITS = 5, 7


def layer(op, length=6, batch=3, direction='forward', parts='B h c', constant=True, **attributes):
    """A file of a layer, and what it is fed."""
    random = np.random.RandomState(0)
    directions = 2 if direction == 'bidirectional' else 1
    rows = GATES[op] * UNITS

    def normal(*shape):
        return random.normal(size=shape, scale=0.5).astype('f')

    is_batch_first = attributes.get('layout')
    arrays = {
        'X': normal(*((batch, length) if is_batch_first else (length, batch)), INNER),
        'W': normal(directions, rows, INNER),
        'R': normal(directions, rows, UNITS),
    }
    state = (batch, directions, UNITS) if is_batch_first else (directions, batch, UNITS)
    optional = {
        'B': normal(directions, 2 * rows),
        'lens': random.randint(1, length + 1, batch).astype('i') if length else None,
        'h': normal(*state),
        'c': normal(*state) if op == 'LSTM' else None,
        'P': normal(directions, 3 * UNITS) if op == 'LSTM' else None,
    }
    given = {k: v for k, v in optional.items() if k in parts.split() and v is not None}
    arrays |= given
    names = ['X', 'W', 'R', *(name if name in given else '' for name in optional)]
    names = names if op == 'LSTM' else names[:6]
    weights = {'W', 'R', 'B', 'P'} if constant else set()
    outputs = ['y', 'h_n', 'c_n'][: 1 + STATES[op]]
    node = helper.make_node(
        op, names, outputs, hidden_size=UNITS, direction=direction, **attributes
    )
    graph = helper.make_graph(
        [node],
        'layer',
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(a.dtype), [None] * a.ndim
            )
            for name, a in arrays.items()
            if name not in weights
        ],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(a, name) for name, a in arrays.items() if name in weights],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
    return model.SerializeToString(), {k: a for k, a in arrays.items() if k not in weights}


def check(op, **options):
    model, feeds = layer(op, **options)
    ys = chainerx.onnx.load(model)(*feeds.values())
    expected = onnxruntime.InferenceSession(model).run(None, feeds)
    for y, e in zip(ys, expected, strict=True):
        assert y.shape == e.shape
        np.testing.assert_allclose(chainerx.to_numpy(y), e, rtol=1e-5, atol=1e-6)


KINDS = [
    ('LSTM', {}),
    ('GRU', {'linear_before_reset': 1}),
    ('GRU', {}),
    ('RNN', {}),
    ('RNN', {'activations': 'Relu'}),
    ('RNN', {'clip': 0.3}),
    ('LSTM', {'input_forget': 1}),
    ('LSTM', {'activations': 'HardSigmoid Tanh Tanh'}),
]


@pytest.mark.parametrize('direction', ['forward', 'reverse', 'bidirectional'])
@pytest.mark.parametrize('kind', range(len(KINDS)))
def test_layers_are_those_of_onnx_runtime(kind, direction):
    op, attributes = KINDS[kind]
    count = 2 if direction == 'bidirectional' else 1
    attributes = dict(attributes)
    if 'activations' in attributes:
        attributes['activations'] = attributes['activations'].split() * count
    for parts in '', 'B', 'B h c', 'h', 'c', 'B lens', 'B h c P':
        for constant in True, False:
            if 'input_forget' in attributes and 'P' in parts:
                continue  # ONNX Runtime reads the peepholes differently
            check(op, direction=direction, parts=parts, constant=constant, **attributes)


@pytest.mark.parametrize('direction', ['forward', 'bidirectional'])
@pytest.mark.parametrize(('op', 'attributes'), KINDS[:5])
@pytest.mark.parametrize(('length', 'batch'), [(1, 1), (1, 5), (9, 1), (3, 40), (4, 200)])
def test_sizes(op, attributes, direction, length, batch):
    count = 2 if direction == 'bidirectional' else 1
    attributes = dict(attributes)
    if 'activations' in attributes:
        attributes['activations'] = attributes['activations'].split() * count
    check(op, length=length, batch=batch, direction=direction, **attributes)


@pytest.mark.parametrize('op', GATES)
def test_batch_first(op):
    """The same numbers with the first two axes exchanged."""
    more = {'linear_before_reset': 1} if op == 'GRU' else {}
    model, feeds = layer(op, direction='bidirectional', layout=1, **more)
    ys = [chainerx.to_numpy(y) for y in chainerx.onnx.load(model)(*feeds.values())]
    other, _ = layer(op, direction='bidirectional', **more)
    feeds = {name: np.ascontiguousarray(a.swapaxes(0, 1)) for name, a in feeds.items()}
    expected = onnxruntime.InferenceSession(other).run(None, feeds)
    np.testing.assert_allclose(ys[0], expected[0].transpose(2, 0, 1, 3), rtol=1e-5, atol=1e-6)
    for y, e in zip(ys[1:], expected[1:], strict=True):
        np.testing.assert_allclose(y, e.swapaxes(0, 1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize('op', GATES)
@pytest.mark.parametrize(('length', 'batch'), [(0, 3), (4, 0), (0, 0)])
def test_nothing(op, length, batch):
    more = {'linear_before_reset': 1} if op == 'GRU' else {}
    model, feeds = layer(op, length, batch, 'bidirectional', **more)
    y, *states = (chainerx.to_numpy(y) for y in chainerx.onnx.load(model)(*feeds.values()))
    assert y.shape == (length, 2, batch, UNITS)
    for name, state in zip('hc', states, strict=False):
        assert state.shape == (2, batch, UNITS)
        if length == 0:
            np.testing.assert_array_equal(state, feeds[name])


@pytest.mark.parametrize('name', ['X', 'h', 'c'])
def test_wrong_shapes(name):
    model, feeds = layer('LSTM')
    run = chainerx.onnx.load(model)
    for wrong in feeds[name][..., :-1], feeds[name][0], feeds[name].astype('d'):
        with pytest.raises(chainerx.ChainerxError):
            run(*(feeds | {name: np.ascontiguousarray(wrong)}).values())
