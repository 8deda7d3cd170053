"""Models of `chainer.quantization` in ONNX: what is in the file, and what all that read it compute."""

import numpy as np
import pytest
from onnx_chainer_tests import helpers_of_export, helpers_of_runtime

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
import onnx_chainer
from chainer import quantization
from onnx_chainer import _opsets

onnx = pytest.importorskip('onnx')
import ml_dtypes  # noqa: E402
from onnx import numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402


class _Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(2, 4, 3)
            self.norm = L.BatchNormalization(4)
            self.linear = L.Linear(64, 9)
            self.lstm = L.LSTM(9, 6)
            self.embed = L.EmbedID(10, 6)
            self.rnn = L.NStepGRU(1, 6, 5, 0.0)

    def forward(self, x, ids):
        h = self.linear(F.relu(self.norm(self.conv(x))))
        self.lstm.reset_state()
        self.lstm(h)
        h = self.lstm(F.sin(h)) + self.embed(ids)
        return self.rnn(None, [h])[1][0]


def _args(dtype=np.float32):
    random = np.random.RandomState(0)
    x = random.normal(size=(3, 2, 6, 6)).astype(dtype)
    return x, np.array([1, 9, 1], np.int64)


def _quantized(dtype=np.float32, **options):
    np.random.seed(0)
    with chainer.using_config('dtype', dtype):
        net = _Net()
    ranges = None
    if options.get('bits') != 4:
        ranges = quantization.calibrate(net, [_args(dtype)])
    return quantization.quantize(net, ranges, **options)


def _expected(model, args):
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        return model(*args).array


OPTIONS = {
    'int8': {},
    'per tensor': {'per_channel': False},
    'symmetric': {'activation_dtype': 'int8'},
    'weights': {'activations': False},
    'int4': {'bits': 4, 'block_size': 8},
}


@pytest.fixture(params=OPTIONS)
def exported(request, tmp_path, monkeypatch):
    pytest.importorskip('onnxruntime')
    monkeypatch.setattr(_opsets, 'MAXIMUM_OPSET_VERSION', helpers_of_export.newest_opset())
    model, args = _quantized(**OPTIONS[request.param]), _args()
    path = str(tmp_path / 'model.onnx')
    onnx_model = onnx_chainer.export(model, args, path, input_names=['x', 'ids'])
    return onnx_model, path, args, _expected(model, args)


def _check(y, expected):
    # A number next to a half may be rounded to the other side after sums in another order.
    np.testing.assert_allclose(y, expected, atol=0.01)
    assert (abs(y - expected) < 1e-5).mean() > 0.9


def test_onnxruntime(exported, request):
    if request.node.callspec.params['exported'] == 'int8' and helpers_of_runtime.saturates():
        pytest.skip('the products of ONNX Runtime saturate on this processor')
    onnx_model, _, args, expected = exported
    _check(helpers_of_export.run_onnx(onnx_model, dict(zip(('x', 'ids'), args)))[0], expected)


def test_definition(exported):
    onnx_model, _, args, expected = exported
    _check(ReferenceEvaluator(onnx_model).run(None, dict(zip(('x', 'ids'), args)))[0], expected)


def test_importer(exported):
    _, path, args, expected = exported
    _check(onnx_chainer.load(path)(*args).array, expected)


@pytest.mark.chainerx
def test_runner(exported):
    _, path, args, expected = exported
    _check(chainerx.to_numpy(chainerx.onnx.load(path)(*args)), expected)


def _initializers(onnx_model):
    return {t.name: numpy_helper.to_array(t) for t in onnx_model.graph.initializer}


def test_nodes_and_initializers():
    """The pairs are around the operators, and nothing else is changed."""
    np.random.seed(0)
    net = chainer.Sequential(L.Convolution2D(2, 4, 3), F.relu, L.Linear(64, 3))
    x = _args()[0]
    quantized = quantization.quantize(net, quantization.calibrate(net, [x]))
    model = onnx_chainer.export(quantized, x, opset_version=13)
    kinds = [k for k in helpers_of_export.op_types(model) if k != 'Reshape']
    pairs = ['QuantizeLinear', 'DequantizeLinear', 'DequantizeLinear']
    assert kinds == [*pairs, 'Conv', 'Relu', *pairs, 'Gemm']
    nodes = {node.output[0]: node for node in model.graph.node}
    arrays = _initializers(model)
    (conv,) = [node for node in model.graph.node if node.op_type == 'Conv']
    of_input, of_weight = nodes[conv.input[0]], nodes[conv.input[1]]
    assert nodes[of_input.input[0]].input[1:] == of_input.input[1:]
    assert not of_input.attribute and of_weight.attribute[0].i == 0
    np.testing.assert_array_equal(arrays[of_weight.input[0]], quantized[0].W_quantized)
    assert arrays[of_weight.input[1]].shape == (4,)
    assert arrays[of_input.input[2]].dtype == np.uint8
    names = {'param_0_W_quantized', 'param_0_W_scale', 'param_0_input_0_scale'}
    assert names <= set(arrays) and 'param_0_W' not in arrays


def test_four_bits():
    quantized = quantization.quantize(L.Linear(11, 3), bits=4, block_size=4)
    x = np.random.RandomState(0).normal(size=(2, 11)).astype(np.float32)
    model = onnx_chainer.export(quantized, x)
    (tensor,) = [t for t in model.graph.initializer if t.name.endswith('W_quantized')]
    assert tensor.data_type == onnx.TensorProto.INT4 and list(tensor.dims) == [3, 11]
    assert len(tensor.raw_data) == 17
    arrays = _initializers(model)
    q, scale = arrays['param_W_quantized'], arrays['param_W_scale']
    assert q.dtype == ml_dtypes.int4 and scale.shape == (3, 3)
    W = q.astype(np.float32) * np.repeat(scale, 4, axis=1)[:, :11]
    np.testing.assert_array_equal(quantized.W.array, W)


@pytest.mark.parametrize('size', [64, 40])
def test_matmul_n_bits(loader, size):
    """Linear layers become the operator of ONNX Runtime, and compute the same everywhere."""
    onnxruntime = pytest.importorskip('onnxruntime')
    np.random.seed(0)
    net = chainer.Sequential(L.Linear(size, 24), F.relu, L.Linear(24, 5, nobias=True))
    quantized = quantization.quantize(net, bits=4, block_size=32)
    x = np.random.RandomState(0).normal(size=(3, size)).astype(np.float32)
    model = onnx_chainer.export(quantized, x, opset_version=21, matmul_nbits=True)
    assert helpers_of_export.op_types(model) == ['MatMulNBits', 'Relu', 'MatMulNBits']
    expected = _expected(quantized, (x,))
    data = model.SerializeToString()
    session = onnxruntime.InferenceSession(data)
    (y,) = session.run(None, {session.get_inputs()[0].name: x})
    for result in y, loader.load(data)(x)[0]:
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    'options', [{'bits': 4, 'block_size': 24}, {'bits': 4, 'block_size': 8}, {'bits': 8}], ids=str
)
def test_without_a_form_of_matmul_n_bits(options):
    x = np.ones((3, 64), np.float32)
    quantized = quantization.quantize(L.Linear(64, 24), **options)
    kinds = [
        helpers_of_export.op_types(onnx_chainer.export(quantized, x, matmul_nbits=flag))
        for flag in (False, True)
    ]
    assert kinds[0] == kinds[1] == ['DequantizeLinear', 'Gemm']


def test_weights_of_matmul_n_bits_with_other_uses():
    """They stay as they are."""

    class Tied(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.linear = L.Linear(64, 24, nobias=True)

        def forward(self, x):
            W = self.linear.W
            return F.linear(x, W) + F.sum(W)

    quantized = quantization.quantize(Tied(), bits=4, block_size=32)
    model = onnx_chainer.export(quantized, np.ones((3, 64), np.float32), matmul_nbits=True)
    assert 'MatMulNBits' not in helpers_of_export.op_types(model)


def test_float16():
    model, args = _quantized(np.float16), _args(np.float16)
    onnx_model = onnx_chainer.export(model, args, input_names=['x', 'ids'], opset_version=19)
    y = ReferenceEvaluator(onnx_model).run(None, dict(zip(('x', 'ids'), args)))[0]
    np.testing.assert_allclose(y, _expected(model, args), atol=0.05)


@pytest.mark.parametrize(
    ('options', 'dtype', 'opset', 'message'),
    [
        ({}, np.float32, 9, 'needs opset 10 or newer, not 9'),
        ({}, np.float32, 12, 'scales along an axis needs opset 13 or newer, not 12'),
        ({'bits': 4}, np.float32, 20, 'int4 needs opset 21 or newer, not 20'),
        ({}, np.float16, 18, 'a scale of float16 needs opset 19 or newer, not 18'),
        ({}, np.float64, 20, 'no scales of float64'),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else '',
)
def test_what_has_no_form(options, dtype, opset, message):
    with pytest.raises(RuntimeError, match=message):
        onnx_chainer.export(_quantized(dtype, **options), _args(dtype), opset_version=opset)


def test_dynamic_axes():
    model = quantization.quantize(L.Linear(3, 2), {'/': quantization.LinkRanges({0: (-2, 2)})})
    x = np.random.RandomState(0).normal(size=(5, 3)).astype(np.float32)
    onnx_model = onnx_chainer.export(model, x[:2], input_shapes=('n', 3), input_names=['x'])
    y = ReferenceEvaluator(onnx_model).run(None, {'x': x})[0]
    np.testing.assert_allclose(y, model(x).array, rtol=1e-5)
