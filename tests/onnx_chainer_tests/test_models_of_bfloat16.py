"""Models of bfloat16: files, the importer and the C++ runner beside ONNX's reference."""

import numpy as np
import pytest

onnx = pytest.importorskip('onnx')
ml_dtypes = pytest.importorskip('ml_dtypes')

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import chainer  # noqa: E402
import chainer.functions as F  # noqa: E402
import chainer.links as L  # noqa: E402
import chainerx  # noqa: E402
import onnx_chainer  # noqa: E402

pytestmark = [
    pytest.mark.chainerx,
    pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built'),
]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
EPS = 2.0**-8


def values(*shape, seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype(BFLOAT16)


def run_both(model, *inputs):
    """What the importer and the runner give."""
    content = model.SerializeToString()
    imported = onnx_chainer.load(content)(*inputs)
    ran = chainerx.onnx.load(content)(*map(chainerx.array, inputs))
    return np.asarray(getattr(imported, 'array', imported)), chainerx.to_numpy(ran)


def assert_near(got, expected, ulps=4):
    assert got.dtype == expected.dtype and got.shape == expected.shape
    got, expected = got.astype('f'), expected.astype('f')
    np.testing.assert_allclose(got, expected, rtol=ulps * EPS, atol=ulps * EPS)


def model_of(nodes, inputs, outputs, weights=()):
    graph = helper.make_graph(
        nodes,
        'g',
        [helper.make_tensor_value_info(n, t, s) for n, t, s in inputs],
        [helper.make_tensor_value_info(n, t, None) for n, t in outputs],
        list(weights),
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 22)], ir_version=10)


def mlp():
    return chainer.Sequential(
        L.Linear(5, 7), F.relu, L.LayerNormalization(7), L.Linear(7, 3), F.softmax
    ), values(4, 5)


def cnn():
    return chainer.Sequential(
        L.Convolution2D(3, 4, 3),
        L.BatchNormalization(4),
        F.leaky_relu,
        lambda x: F.max_pooling_2d(x, 2),
        L.Linear(36, 4),
    ), values(2, 3, 8, 8)


@pytest.mark.parametrize('dtype', ['bfloat16', 'mixed_bfloat16'])
@pytest.mark.parametrize('make', [mlp, cnn])
def test_exported_models(make, dtype):
    with chainer.using_config('dtype', dtype), chainer.using_config('train', False):
        model, x = make()
        y = model(x).array
        exported = onnx_chainer.export(model, x)
    assert y.dtype == BFLOAT16
    onnx.checker.check_model(exported, full_check=True)
    assert exported.graph.input[0].type.tensor_type.elem_type == TensorProto.BFLOAT16
    (reference,) = ReferenceEvaluator(exported).run(None, {exported.graph.input[0].name: x})
    for got in (reference, *run_both(exported, x)):
        assert_near(got, y, 8)


class Cast(chainer.Chain):
    """float32 outside, bfloat16 inside."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a = L.Linear(5, 7)
            self.b = L.Linear(7, 3)

    def forward(self, x):
        return F.cast(self.b(F.sigmoid(self.a(F.cast(x, BFLOAT16)))), 'float32')


def test_exported_casts():
    x = values(4, 5).astype('f')
    with chainer.using_config('dtype', 'mixed_bfloat16'):
        model = Cast()
        y = model(x).array
        exported = onnx_chainer.export(model, x, opset_version=13)
    onnx.checker.check_model(exported, full_check=True)
    assert [n.op_type for n in exported.graph.node][::4] == ['Cast', 'Cast']
    (reference,) = ReferenceEvaluator(exported).run(None, {exported.graph.input[0].name: x})
    for got in (reference, *run_both(exported, x)):
        np.testing.assert_allclose(got, y, rtol=8 * EPS, atol=8 * EPS)


@pytest.mark.parametrize(
    ('opset', 'match', 'function'),
    [
        (12, 'Cast of bfloat16 needs opset 13', lambda x: F.cast(x, 'float32')),
        (12, 'MatMul of bfloat16 needs opset 13', lambda x: F.matmul(x, x)),
        (15, 'LeakyRelu of bfloat16 needs opset 16', F.leaky_relu),
        (21, 'AveragePool of bfloat16 needs opset 22', lambda x: F.average_pooling_2d(x, 2)),
    ],
)
def test_old_opsets(opset, match, function):
    x = values(1, 1, 4, 4)
    with pytest.raises(RuntimeError, match=match):
        onnx_chainer.export(chainer.Sequential(function), x, opset_version=opset)


@pytest.mark.parametrize('is_raw', [True, False])
@pytest.mark.parametrize('shape', [(), (0, 2), (3, 4)])
def test_initializers(shape, is_raw):
    w = values(*shape, seed=1)
    if is_raw:
        tensor = numpy_helper.from_array(w, 'w')
    else:
        tensor = helper.make_tensor('w', TensorProto.BFLOAT16, shape, w.astype('f').ravel())
        assert len(tensor.int32_data) == w.size
    x = np.ones(shape, BFLOAT16)
    model = model_of(
        [helper.make_node('Mul', ['x', 'w'], ['y'])],
        [('x', TensorProto.BFLOAT16, shape)],
        [('y', TensorProto.BFLOAT16)],
        [tensor],
    )
    for got in run_both(model, x):
        assert_near(got, w, 0)


def test_external_data(tmp_path):
    w = values(3, 4)
    model = model_of(
        [helper.make_node('Add', ['x', 'w'], ['y'])],
        [('x', TensorProto.BFLOAT16, (3, 4))],
        [('y', TensorProto.BFLOAT16)],
        [numpy_helper.from_array(w, 'w')],
    )
    path = tmp_path / 'model.onnx'
    onnx.save(model, path, save_as_external_data=True, location='weights', size_threshold=0)
    y = chainerx.onnx.load(path)(chainerx.zeros((3, 4), 'bfloat16'))
    assert_near(chainerx.to_numpy(y), w, 0)


SPECIAL = [0.0, -0.0, 1 / 3, 1e38, -1e-39, 257, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize('other', ['FLOAT', 'FLOAT16', 'DOUBLE', 'INT32', 'UINT8', 'BOOL'])
@pytest.mark.parametrize('to', [True, False])
def test_casts(other, to):
    dtype = helper.tensor_dtype_to_np_dtype(getattr(TensorProto, other))
    floats = dtype.kind == 'f'
    with np.errstate(over='ignore'):
        x = np.array(SPECIAL if floats else [0, 1, 2, 100]).astype(dtype if to else BFLOAT16)
    source, target = getattr(TensorProto, other), TensorProto.BFLOAT16
    if not to:
        source, target = target, source
    model = model_of(
        [helper.make_node('Cast', ['x'], ['y'], to=target)],
        [('x', source, x.shape)],
        [('y', target)],
    )
    with np.errstate(over='ignore'):
        expected = x.astype(BFLOAT16 if to else dtype)
    for got in run_both(model, x):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got.astype('d'), expected.astype('d'))


SHAPE = (2, 3, 4, 4)
OPERATORS = {
    **{
        name: ([SHAPE], {})
        for name in 'Abs Exp Log Sqrt Sigmoid Tanh Erf Neg Relu Softmax LogSoftmax Gelu Elu Softplus Floor Reciprocal '
        'GlobalAveragePool ReduceMean ReduceSum ReduceMax Transpose Identity Flatten'.split()
    },
    **{name: ([SHAPE, SHAPE], {}) for name in 'Add Sub Mul Div Max Min Pow MatMul'.split()},
    'Gemm': ([(3, 4), (5, 4), (5,)], {'transB': 1, 'alpha': 0.5}),
    'Conv': ([SHAPE, (5, 3, 3, 3), (5,)], {'pads': [1, 1, 1, 1]}),
    'ConvTranspose': ([SHAPE, (3, 2, 2, 2)], {'strides': [2, 2]}),
    'AveragePool': ([SHAPE], {'kernel_shape': [2, 2]}),
    'MaxPool': ([SHAPE], {'kernel_shape': [2, 2]}),
    'BatchNormalization': ([SHAPE, (3,), (3,), (3,), (3,)], {}),
    'LayerNormalization': ([SHAPE, (4,), (4,)], {}),
    'Concat': ([SHAPE, SHAPE], {'axis': 1}),
}
POSITIVE = {'Log', 'Sqrt', 'Pow', 'Div', 'Reciprocal', 'BatchNormalization'}


@pytest.mark.parametrize('name', OPERATORS)
def test_operators(name):
    """As the standard computes them in float32, rounded to bfloat16."""
    shapes, attributes = OPERATORS[name]
    inputs = [values(*s, seed=i) for i, s in enumerate(shapes)]
    if name in POSITIVE:
        inputs = [np.abs(x) + BFLOAT16.type(0.5) for x in inputs]

    def make(element_type):
        names = [f'x{i}' for i in range(len(inputs))]
        return model_of(
            [helper.make_node(name, names, ['y'], **attributes)],
            [(n, element_type, x.shape) for n, x in zip(names, inputs, strict=True)],
            [('y', element_type)],
        )

    (wide,) = ReferenceEvaluator(make(TensorProto.FLOAT)).run(
        None, {f'x{i}': x.astype('f') for i, x in enumerate(inputs)}
    )
    for got in run_both(make(TensorProto.BFLOAT16), *inputs):
        assert_near(got, wide.astype(BFLOAT16), 2)
