"""Exported models give in the C++ runner what they give in Chainer."""

import itertools
import threading

import numpy as np
import pytest

onnx = pytest.importorskip('onnx')

import chainer  # noqa: E402
import chainer.functions as F  # noqa: E402
import chainer.links as L  # noqa: E402
import chainerx  # noqa: E402
import onnx_chainer  # noqa: E402

pytestmark = [
    pytest.mark.chainerx,
    pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built'),
]


def f32(*shape):
    return np.random.RandomState(sum(shape)).uniform(-1, 1, shape).astype('f')


def links(**named):
    """A chain of some links, and statistics that differ from those at first."""
    chain = chainer.Chain()
    with chain.init_scope():
        for name, link in named.items():
            setattr(chain, name, link)
            if isinstance(link, L.BatchNormalization):
                link.avg_mean[...] = f32(link.avg_mean.size)
                link.avg_var[...] = f32(link.avg_var.size) + 2
                link.gamma.array[...] += f32(link.gamma.size)
    return chain


class Model(chainer.Chain):
    def __init__(self, chain, forward):
        super().__init__()
        with self.init_scope():
            self.chain = chain
        self._forward = forward

    def forward(self, *xs):
        return self._forward(self.chain, *xs)


def mlp():
    chain = links(a=L.Linear(5, 7), b=L.Linear(7, 6), c=L.Linear(6, 3))
    return Model(chain, lambda m, x: m.c(F.tanh(m.b(F.relu(m.a(x)))))), [f32(4, 5)], 4


def cnn():
    chain = links(
        conv=L.Convolution2D(3, 8, 3, pad=1, nobias=True),
        norm=L.BatchNormalization(8),
        deep=L.Convolution2D(8, 6, 3, stride=2, groups=2),
        fc=L.Linear(24, 4),
    )

    def forward(m, x):
        h = F.max_pooling_2d(F.relu(m.norm(m.conv(x))), 2, cover_all=False)
        return F.softmax(m.fc(F.relu(m.deep(h))))

    return Model(chain, forward), [f32(2, 3, 10, 10)], 7


def residual():
    chain = links(
        a=L.Convolution2D(4, 4, 3, pad=1, nobias=True),
        p=L.BatchNormalization(4),
        b=L.Convolution2D(4, 4, 3, pad=1, nobias=True),
        q=L.BatchNormalization(4),
    )

    def forward(m, x):
        return F.mean(F.relu(x + m.q(m.b(F.relu(m.p(m.a(x)))))), axis=(2, 3))

    # Convolution and relu, convolution and sum and relu, mean
    return Model(chain, forward), [f32(2, 4, 6, 6)], 3


def sums():
    """Sums with convolutions that another node must not join, or must not take for more."""
    chain = links(
        a=L.Convolution2D(4, 4, 3, pad=1),
        b=L.Convolution2D(4, 4, 1, nobias=True),
        c=L.Convolution2D(4, 4, 3, pad=1),
        norm=L.BatchNormalization(4),
        d=L.Convolution2D(4, 4, (6, 6)),
    )

    def forward(m, x):
        y = m.a(x) + m.b(x)  # a runs first, so b takes it
        y = F.relu(m.norm(m.c(y) + x))  # normalizes the sum
        z = m.a(y)
        y = F.relu(z + z)
        narrow = m.d(y) + F.mean(y, axis=(2, 3), keepdims=True)
        wide = m.d(x) + y  # larger than the convolution
        return F.relu(m.c(x) + narrow) + F.relu(wide)

    return Model(chain, forward), [f32(2, 4, 6, 6)], None


def lstm():
    def forward(m, x):
        h, c, ys = m.lstm(None, None, [each for each in x])
        return F.stack(ys)

    return Model(links(lstm=L.NStepLSTM(1, 4, 5, 0)), forward), [f32(2, 3, 4)], None


def attention():
    layer = L.TransformerEncoderLayer(8, 2, dropout=0, activation=F.gelu, norm_first=True)
    return Model(links(a=layer), lambda m, x: m.a(x, causal=True)), [f32(2, 5, 8)], None


@pytest.mark.parametrize('make', [mlp, cnn, residual, sums, lstm, attention])
def test_models(make, tmp_path):
    model, xs, steps = make()
    shapes = [('batch', *x.shape[1:]) for x in xs] if make is not lstm else None
    with chainer.using_config('train', False):
        onnx_chainer.export(model, tuple(xs), filename=tmp_path / 'm.onnx', input_shapes=shapes)
        runner = chainerx.onnx.load(tmp_path / 'm.onnx')
        if steps:
            assert len(runner.steps) <= steps, runner.steps
        for n in (len(xs[0]), 1, 3) if shapes else (len(xs[0]),):
            inputs = [np.concatenate([x] * 3)[:n] for x in xs]
            y = runner(*inputs)
            np.testing.assert_allclose(
                chainerx.to_numpy(y), model(*inputs).array, rtol=1e-5, atol=1e-5
            )


def linear_model(x_shape, w, bias, op_type='Gemm', **attributes):
    """A product with constant weights, a bias and relu, as nodes that the runner joins."""
    helper, array = onnx.helper, onnx.numpy_helper.from_array
    constants = {'w': w}
    if bias is not None:
        constants['b'] = bias
    if op_type == 'Gemm':
        nodes = [helper.make_node('Gemm', ['x', *constants], ['s'], 'product', **attributes)]
    else:
        nodes = [helper.make_node('MatMul', ['x', 'w'], ['p'], 'product')]
        nodes.append(helper.make_node('Add', ['p', 'b'], ['s']))
    nodes.append(helper.make_node('Relu', ['s'], ['y']))
    dtype = onnx.helper.np_dtype_to_tensor_dtype(w.dtype)
    graph = helper.make_graph(
        nodes,
        'linear',
        [helper.make_tensor_value_info('x', dtype, x_shape)],
        [helper.make_tensor_value_info('y', dtype, None)],
        [array(value, name) for name, value in constants.items()],
    )
    opset = helper.make_opsetid('', 17)
    return helper.make_model(graph, opset_imports=[opset], ir_version=8).SerializeToString()


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
@pytest.mark.parametrize('inner,columns', [(1, 1), (5, 7), (33, 49), (1100, 20), (0, 3)])
def test_products_with_packed_weights(inner, columns, dtype):
    w, b = f32(inner, columns).astype(dtype), f32(columns).astype(dtype)
    tolerance = {'rtol': 1e-2, 'atol': 1e-1} if dtype == 'float16' else {'rtol': 1e-4, 'atol': 1e-4}
    for shape in (1, inner), (13, inner), (0, inner), (2, 3, inner):
        x = f32(*shape).astype(dtype)
        expected = np.maximum(x.astype('d') @ w.astype('d') + b, 0)
        names = [*'pqr'[: x.ndim - 1], 'k']
        models = [linear_model(names, w, b, 'MatMul')]
        if x.ndim == 2:
            models += [linear_model(names, w, b), linear_model(names, w.T.copy(), b, transB=1)]
        for model in map(chainerx.onnx.load, models):
            assert len(model.steps) == 1
            for each in x, chainerx.array(np.asfortranarray(x)):
                y = model(each)
                assert y.dtype == dtype
                np.testing.assert_allclose(chainerx.to_numpy(y), expected, **tolerance)
    x = f32(3, inner).astype(dtype)
    y = chainerx.onnx.load(linear_model(['n', 'k'], w, None))(x)
    expected = np.maximum(x.astype('d') @ w.astype('d'), 0)
    np.testing.assert_allclose(chainerx.to_numpy(y), expected, **tolerance)


def test_products_that_do_not_fit():
    model = chainerx.onnx.load(linear_model(['n', 'k'], f32(4, 3), f32(3)))
    with pytest.raises(
        chainerx.ChainerxError, match=r"node 'product' \(Gemm\): .*\(2, 5\).*\(4, 3\)"
    ):
        model(f32(2, 5))


@pytest.fixture(scope='module')
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp('small') / 'm.onnx'
    model, (x,), _ = mlp()
    onnx_chainer.export(
        model, x, filename=path, input_names=['x'], output_names=['y'], input_shapes=('n', 5)
    )
    return path, x, model(x).array


def test_what_a_model_tells(small):
    path, x, _ = small
    model = chainerx.onnx.load(path)
    assert isinstance(model, chainerx.onnx.Model)
    assert model.input_names == ('x',)
    assert model.output_names == ('y',)
    assert model.inputs == (('x', 'float32', ('n', 5)),)
    assert model.outputs == (('y', 'float32', ('n', 3)),)
    assert model.device is chainerx.get_default_device()


def test_ways_to_call(small):
    path, x, expected = small
    for source in path, str(path), path.read_bytes():
        model = chainerx.onnx.load(source, 'native:0')
        for y in (
            model(x),
            model(chainerx.array(x)),
            model(x.tolist() and np.asfortranarray(x)),
            model.run([x])[0],
        ):
            assert isinstance(y, chainerx.ndarray)
            np.testing.assert_allclose(chainerx.to_numpy(y), expected, rtol=1e-5, atol=1e-6)


def test_results_are_outside_of_graphs(small):
    path, x, _ = small
    assert not chainerx.onnx.load(path)(chainerx.array(x).require_grad()).is_backprop_required()


def test_threads(small):
    path, x, expected = small
    model = chainerx.onnx.load(path)
    wrong = []

    def run():
        for _ in range(50):
            if not np.allclose(chainerx.to_numpy(model(x)), expected, atol=1e-6):
                wrong.append(1)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize(
    'xs,message',
    [
        ((), 'the model takes 1 inputs and gets 0'),
        ((f32(2, 5), f32(2, 5)), 'the model takes 1 inputs and gets 2'),
        ((f32(2, 4),), r"input 'x' has the shape \(2, 4\), not \(n, 5\)"),
        ((f32(5),), r"input 'x' has the shape \(5,\), not \(n, 5\)"),
        ((f32(2, 5).astype('d'),), "input 'x' has the dtype float64, not float32"),
    ],
)
def test_wrong_inputs(small, xs, message):
    model = chainerx.onnx.load(small[0])
    with pytest.raises(chainerx.ModelError, match=f'^{message}$'):
        model(*xs)


def test_damaged_files(small):
    """Random changes of bytes give models or errors, and nothing else."""
    path, x, _ = small
    data = path.read_bytes()
    rng = np.random.RandomState(0)
    errors = 0
    for _ in range(500):
        damaged = bytearray(data)
        for place in rng.randint(0, len(data), rng.randint(1, 4)):
            damaged[place] = rng.randint(256)
        try:
            chainerx.onnx.load(bytes(damaged))(x)
        except (chainerx.ChainerxError, MemoryError):
            errors += 1
    assert 50 < errors < 500


def test_operators():
    names = chainerx.onnx.operators()
    assert {'Conv', 'Gemm', 'LSTM', 'If', 'ai.onnx.ml.Binarizer'} <= set(names)
    assert list(names) == sorted(names, key=lambda n: n.rpartition('.')[::2])


def node_model(name, n_inputs, dtype, **attributes):
    """A node whose inputs may have any shape."""
    helper = onnx.helper
    domain, _, op_type = name.rpartition('.')
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    names = [f'x{i}' for i in range(n_inputs)]
    graph = helper.make_graph(
        [helper.make_node(op_type, names, ['y'], 'node', domain=domain, **attributes)],
        'one node',
        [helper.make_tensor_value_info(name, kind, None) for name in names],
        [helper.make_tensor_value_info('y', kind, None)],
    )
    opsets = [helper.make_opsetid('', 23)] + [helper.make_opsetid(domain, 1)] * bool(domain)
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


@pytest.mark.parametrize('dtype', ['float32', 'int64'])
def test_operands_of_any_rank(dtype):
    rng = np.random.RandomState(0)
    shapes = (), (0,), (1,), (2, 3), (2, 3, 3), (1, 2, 2, 3)
    results = errors = 0
    for name, n_inputs in itertools.product(chainerx.onnx.operators(), range(1, 8)):
        try:
            model = chainerx.onnx.load(node_model(name, n_inputs, dtype))
        except chainerx.ChainerxError:
            continue  # it has another number of inputs, or attributes that it must have
        for _ in range(30):
            xs = [np.ones(shapes[i], dtype) for i in rng.randint(len(shapes), size=n_inputs)]
            try:
                model(*xs)
                results += 1
            except chainerx.ChainerxError as error:
                assert "node 'node'" in str(error)
                errors += 1
    assert results > 1000 < errors


def test_mask_of_attention_without_axes():
    model = chainerx.onnx.load(node_model('Attention', 4, 'float32'))
    x = f32(1, 2, 3, 4)
    with pytest.raises(chainerx.ChainerxError, match=r"node 'node' \(Attention\): .*no axes"):
        model(x, x, x, f32())


@pytest.mark.parametrize(
    ('shape', 'indices'),
    [((7,), (3,)), ((7,), (1, 2)), ((7,), ()), ((2, 7), (3,)), ((2, 3, 7), (2, 2)), ((0,), (0,))],
)
def test_features_of_a_vector_are_a_row(shape, indices, loader):
    """Both loaders give what onnxruntime gives."""
    import onnxruntime

    x = f32(*shape)
    i = np.arange(int(np.prod(indices))).reshape(indices)
    helper = onnx.helper
    node = helper.make_node('ArrayFeatureExtractor', ['x', 'i'], ['y'], domain='ai.onnx.ml')
    infos = [
        helper.make_tensor_value_info('x', 1, shape),
        helper.make_tensor_value_info('i', 7, indices),
    ]
    graph = helper.make_graph([node], 'g', infos, [helper.make_tensor_value_info('y', 1, None)])
    opsets = [helper.make_opsetid('ai.onnx.ml', 3), helper.make_opsetid('', 17)]
    data = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    (y,) = loader.load(data)(x, i)
    expected = np.atleast_2d(np.take(x, i.ravel(), axis=-1))
    np.testing.assert_array_equal(y, expected)
    if i.size:  # onnxruntime refuses to take nothing
        session = onnxruntime.InferenceSession(data, providers=['CPUExecutionProvider'])
        np.testing.assert_array_equal(y, session.run(None, {'x': x, 'i': i})[0])


@pytest.mark.parametrize(
    ('pads', 'expected'),
    [
        ([-4, 2], [5]),
        ([2, -4], [5]),
        ([-7, 6], [5, 5]),
        ([-3, 0], []),
        ([-2, 1], [3, 5]),
        ([1, -2], [5, 1]),
    ],
)
def test_widths_that_cut_more_than_there_is(pads, expected, loader):
    """Both loaders give what new versions of onnxruntime give: a window, with constants around."""
    make = onnx.helper
    node = make.make_node('Pad', ['x', 'pads', 'value'], ['y'])
    weights = [make.make_tensor('pads', 7, [2], pads), make.make_tensor('value', 1, [], [5])]
    x, y = [
        make.make_tensor_value_info(name, 1, shape) for name, shape in [('x', [3]), ('y', None)]
    ]
    graph = make.make_graph([node], 'g', [x], [y], weights)
    data = make.make_model(graph, opset_imports=[make.make_opsetid('', 18)], ir_version=8)
    numbers = np.array([1, 2, 3], 'f')
    (result,) = loader.load(data.SerializeToString())(numbers)
    np.testing.assert_array_equal(result, np.array(expected, 'f'))
