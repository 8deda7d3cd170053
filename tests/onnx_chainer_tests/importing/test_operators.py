"""Operators against ONNX Runtime on each device, and gradients numerically."""

import numpy as np
import pytest

onnxruntime = pytest.importorskip('onnxruntime')
pytest.importorskip('onnx')
from onnx_chainer_tests.helpers_of_import import node_model  # noqa: E402
from onnx_chainer_tests.importing.operator_rows import ROWS  # noqa: E402

import chainer  # noqa: E402
import onnx_chainer  # noqa: E402
from chainer import gradient_check  # noqa: E402
from onnx_chainer.importing import registry  # noqa: E402

DEVICES = [
    '@numpy',
    pytest.param('native:0', marks=pytest.mark.chainerx),
    pytest.param('@cupy:0', marks=pytest.mark.gpu),
]


def loaded(row, inputs):
    return onnx_chainer.load(node_model(row.op, inputs, row.attributes, row.opset, row.outputs))


def single(row):
    """The inputs in single precision, which ONNX Runtime has for all operators."""
    return [x.astype('f') if getattr(x, 'dtype', None) == np.float64 else x for x in row.inputs]


def as_tuple(ys):
    return ys if isinstance(ys, tuple) else (ys,)


def to_numpy(y):
    return chainer.get_device('@numpy').send(y.array)


def expected_outputs(row):
    inputs = single(row)
    if row.expected is ...:
        ys = loaded(row, inputs)(*[x for x in inputs if x is not None])
        return [y.array for y in as_tuple(ys)]
    if row.expected is not None:
        return [np.asarray(row.expected(*[x for x in inputs if x is not None]))]
    onnxruntime.set_default_logger_severity(4)
    model = node_model(row.op, inputs, row.attributes, row.opset, row.outputs)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=['CPUExecutionProvider']
    )
    return session.run(None, {f'x{i}': x for i, x in enumerate(inputs) if x is not None})


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('row', ROWS, ids=str)
def test_values(row, device):
    expected = expected_outputs(row)
    model = loaded(row, single(row))
    model.to_device(device)
    device = chainer.get_device(device)
    actual = as_tuple(model(*[device.send(x) for x in single(row) if x is not None]))
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected):
        assert chainer.backend.get_device_from_array(a.array) == device
        a = to_numpy(a)
        assert a.shape == e.shape
        assert a.dtype == e.dtype
        np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize('row', [row for row in ROWS if row.gradients], ids=str)
def test_gradients(row):
    model = loaded(row, row.inputs)
    differentiable = [i for i in row.gradients if row.inputs[i] is not None]

    def call(*xs):
        inputs = dict(zip(differentiable, xs))
        every = [inputs.get(i, x) for i, x in enumerate(row.inputs) if x is not None]
        ys = as_tuple(model(*every))
        return tuple(y for y in ys if y.dtype.kind == 'f')

    xs = tuple(row.inputs[i] for i in differentiable)
    with chainer.no_backprop_mode():
        gys = tuple(np.random.uniform(-1, 1, y.shape) for y in call(*xs))
    gradient_check.check_backward(call, xs, gys, dtype=np.float64, eps=1e-5, atol=1e-4, rtol=1e-4)


def test_rows_cover_what_trains():
    """Operators that compute with variables have gradients to check, but for those named here."""
    covered = {row.op for row in ROWS if row.gradients}
    variables = {
        name
        for domain, name in registry.names()
        if registry.find(domain, name).takes == registry.VARIABLES
    }
    # no gradient, two that others stand for, and one whose gradient test_matmul_n_bits.py tests
    others = {'BitCast', 'CastLike', 'Scatter', 'MatMulNBits'}
    constant = {'Cast', 'Ceil', 'Floor', 'MaxRoiPool', 'Sign'}
    assert variables - covered == others | constant


PARTIAL = {
    'Attention': ([(2, 3, 4, 5)] * 3, {'is_causal': 1}),
    'GroupNormalization': ([(2, 4, 3), (4,), (4,)], {'num_groups': 2}),
    'LayerNormalization': ([(2, 3, 4), (3, 4)], {'axis': 1}),
    'RMSNormalization': ([(2, 3, 4), (4,)], {}),
}


def test_definitions_agree_with_functions(monkeypatch):
    """An operator that has a function for some cases only gives what ONNX's definition gives."""
    rows = {name for domain, name in registry.names() if registry.find(domain, name).partial}
    assert rows == PARTIAL.keys()
    rng = np.random.RandomState(0)
    for name, (shapes, attributes) in PARTIAL.items():
        inputs = [rng.randn(*shape).astype('f') for shape in shapes]
        data = node_model(name, inputs, attributes, opset=23)
        by_function = onnx_chainer.load(data)(*inputs)
        row = registry.find('', name)
        left = row._replace(function=lambda *args, **keywords: NotImplemented)
        monkeypatch.setitem(registry._TABLE, ('', name), left)
        by_definition = onnx_chainer.load(data)(*inputs)
        np.testing.assert_allclose(by_function.array, by_definition.array, rtol=1e-4, atol=1e-5)
