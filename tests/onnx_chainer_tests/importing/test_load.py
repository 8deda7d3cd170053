"""The link that a file becomes: names, training, saving, devices, control flow, external data."""

import pickle

import numpy as np
import pytest

onnx = pytest.importorskip('onnx')
from onnx import TensorProto, helper  # noqa: E402
from onnx_chainer_tests.helpers_of_import import info, model_of, numpy_helper  # noqa: E402

import chainer  # noqa: E402
import chainer.functions as F  # noqa: E402
import onnx_chainer  # noqa: E402
from chainer import serializers  # noqa: E402
from onnx_chainer import backend  # noqa: E402
from onnx_chainer.importing import ModelError  # noqa: E402

DEVICES = [
    '@numpy',
    pytest.param('native:0', marks=pytest.mark.chainerx),
    pytest.param('@cupy:0', marks=pytest.mark.gpu),
]
RNG = np.random.RandomState(0)
W1 = RNG.uniform(-1, 1, (3, 4)).astype('f')
W2 = RNG.uniform(-1, 1, (4, 2)).astype('f')
BIAS = np.array([0.1, -0.2], 'f')
MEAN = np.array([0.5, 0, 0, 0], 'f')
X = RNG.uniform(-1, 1, (5, 3)).astype('f')


def perceptron():
    """A model with names that attributes cannot have, a batch norm, and a shape that is computed."""
    nodes = [
        helper.make_node('MatMul', ['x', 'layer.1/weight'], ['a']),
        helper.make_node('BatchNormalization', ['a', 'g', 'b', 'mean', 'var'], ['n']),
        helper.make_node('Relu', ['n'], ['r']),
        helper.make_node('MatMul', ['r', '2.weight'], ['c']),
        helper.make_node('Add', ['c', 'forward'], ['d']),
        helper.make_node('Mul', ['d', 'scale'], ['e']),
        helper.make_node('Shape', ['x'], ['shape']),
        helper.make_node('Gather', ['shape', 'zero'], ['rows']),
        helper.make_node('Concat', ['rows', 'rest'], ['flat'], axis=0),
        helper.make_node('Reshape', ['e', 'flat'], ['y']),
    ]
    weights = {
        'layer.1/weight': W1,
        '2.weight': W2,
        'forward': BIAS,
        'g': np.ones(4, 'f'),
        'b': np.zeros(4, 'f'),
        'mean': MEAN,
        'var': np.ones(4, 'f'),
        'scale': np.array(2, 'f'),
        'zero': np.array([0]),
        'rest': np.array([-1]),
    }
    return model_of(nodes, [info('x', ['n', 3])], ['y'], weights)


def expected(x):
    return 2 * (np.maximum((x @ W1 - MEAN) / np.sqrt(1 + 1e-5), 0) @ W2 + BIAS)


def test_parameters_have_the_names_of_the_file():
    model = onnx_chainer.load(perceptron())
    names = {'layer_1_weight', '_2_weight', 'forward_', 'g', 'b'}
    assert {name for name, _ in model.namedparams()} == {f'/{name}' for name in names}
    assert model.attribute_names['layer.1/weight'] == 'layer_1_weight'
    assert model.input_names == ('x',)
    assert model.output_names == ('y',)
    assert model.opset_imports == {'': 18}
    np.testing.assert_array_equal(model.layer_1_weight.array, W1)


def test_names_that_become_alike_differ():
    weights = {'a.b': np.ones(2, 'f'), 'a/b': np.zeros(2, 'f')}
    node = helper.make_node('Sum', ['x', 'a.b', 'a/b'], ['y'])
    model = onnx_chainer.load(model_of([node], [info('x')], ['y'], weights))
    assert model.attribute_names == {'a.b': 'a_b', 'a/b': 'a_b_'}
    np.testing.assert_array_equal(model(np.ones(2, 'f')).array, [2, 2])


def test_statistics_and_scalars_are_not_trained():
    model = onnx_chainer.load(perceptron())
    assert model._persistent == {'mean', 'var', 'scale'}
    # Shapes and indices stay on the host, and are no values to save.
    assert not hasattr(model, 'zero')


def test_a_slope_without_dimensions_is_trained():
    node = helper.make_node('PRelu', ['x', 'slope'], ['y'])
    proto = model_of([node], [info('x')], ['y'], {'slope': np.array(0.25, 'f')})
    assert [name for name, _ in onnx_chainer.load(proto).namedparams()] == ['/slope']


@pytest.mark.parametrize('device', DEVICES)
def test_runs_on_devices(device):
    model = onnx_chainer.load(perceptron())
    model.to_device(device)
    device = chainer.get_device(device)
    y = model(device.send(X))
    assert chainer.backend.get_device_from_array(y.array) == device
    np.testing.assert_allclose(
        chainer.get_device('@numpy').send(y.array), expected(X), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize('device', DEVICES)
def test_fine_tuning_lowers_the_loss(device):
    model = onnx_chainer.load(perceptron())
    model.to_device(device)
    device = chainer.get_device(device)
    before = {name: device.send(p.array.copy()) for name, p in model.namedparams()}
    x, t = device.send(X), device.send(np.array([0, 1, 0, 1, 1], np.int32))
    optimizer = chainer.optimizers.Adam(0.05).setup(model)
    losses = []
    for _ in range(20):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append(float(loss.array))
    assert losses[-1] < losses[0] / 2
    for name, p in model.namedparams():
        assert float(abs(p.array - before[name]).max()) > 0, name
    np.testing.assert_array_equal(chainer.get_device('@numpy').send(model.mean), MEAN)


def test_gradients_equal_those_of_the_same_program():
    model = onnx_chainer.load(perceptron())
    x = chainer.Variable(X)
    F.sum(F.square(model(x))).backward()
    w1, w2, bias, x2 = (chainer.Variable(a) for a in (W1, W2, BIAS, X))
    hidden = F.fixed_batch_normalization(
        F.matmul(x2, w1), np.ones(4, 'f'), np.zeros(4, 'f'), MEAN, np.ones(4, 'f'), eps=1e-5
    )
    F.sum(F.square(2 * (F.matmul(F.relu(hidden), w2) + bias))).backward()
    for actual, wanted in ((model.layer_1_weight, w1), (model.forward_, bias), (x, x2)):
        np.testing.assert_allclose(actual.grad, wanted.grad, rtol=1e-4, atol=1e-5)


def test_saves_and_loads(tmp_path):
    model = onnx_chainer.load(perceptron())
    model.forward_.array[...] = 5
    model.mean[...] = 1
    path = tmp_path / 'model.npz'
    serializers.save_npz(path, model)
    other = onnx_chainer.load(perceptron())
    serializers.load_npz(path, other)
    np.testing.assert_array_equal(other(X).array, model(X).array)
    np.testing.assert_array_equal(other.mean, np.ones(4))


@pytest.mark.parametrize(
    'duplicate', [lambda m: m.copy('copy'), lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies(duplicate):
    model = onnx_chainer.load(perceptron())
    other = duplicate(model)
    other.forward_.array[...] = 5
    np.testing.assert_allclose(model(X).array, expected(X), rtol=1e-4, atol=1e-5)
    assert not np.allclose(other(X).array, expected(X))


def test_is_a_part_of_other_links():
    class Tuned(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.body = onnx_chainer.load(perceptron())
                self.head = chainer.links.Linear(2, 3)

        def forward(self, x):
            return self.head(self.body(x))

    model = Tuned()
    assert model(X).shape == (5, 3)
    assert '/body/layer_1_weight' in dict(model.namedparams())


def test_reads_paths_bytes_and_files(tmp_path):
    path = tmp_path / 'model.onnx'
    onnx.save(perceptron(), path)
    with path.open('rb') as file:
        for source in path, str(path), path.read_bytes(), file:
            np.testing.assert_array_equal(
                onnx_chainer.load(source)(X).array, onnx_chainer.load(perceptron())(X).array
            )


def two_inputs():
    nodes = [helper.make_node('Sub', ['a', 'b'], ['d']), helper.make_node('Add', ['a', 'b'], ['s'])]
    inputs = [info('a', [2]), info('b', [2]), info('c', [2])]
    return model_of(nodes, inputs[:2], ['d', 's'])


def test_takes_inputs_by_name_and_gives_a_tuple():
    model = onnx_chainer.load(two_inputs())
    a, b = np.array([3, 4], 'f'), np.array([1, 1], 'f')
    for difference, total in (model(a, b), model(a, b=b), model(b=b, a=a)):
        np.testing.assert_array_equal(difference.array, [2, 3])
        np.testing.assert_array_equal(total.array, [4, 5])


@pytest.mark.parametrize(
    'args,kwargs,message',
    [
        ([], {}, "input 'a' is missing"),
        ([[1, 2]], {}, "input 'b' is missing"),
        ([[1, 2]] * 3, {}, 'takes 2 inputs'),
        ([[1, 2]], {'a': [1, 2]}, "input 'a' is given twice"),
        ([[1, 2], [1, 2]], {'z': 1}, "no input 'z'"),
        ([[1, 2], [1, 2, 3]], {}, r"input 'b' has the shape \(3,\), not \(2\)"),
        ([[1, 2], [1, object()]], {}, "^input 'b': TypeError"),
        ([[1, 2], np.ones(2, 'd')], {}, "input 'b' has the dtype float64, not float32"),
    ],
)
def test_wrong_inputs_are_named(args, kwargs, message):
    with pytest.raises(ModelError, match=message):
        onnx_chainer.load(two_inputs())(*args, **kwargs)


def test_an_initializer_that_is_an_input_is_a_default():
    node = helper.make_node('Add', ['x', 'w'], ['y'])
    proto = model_of([node], [info('x'), info('w')], ['y'], {'w': np.array([1, 2], 'f')})
    model = onnx_chainer.load(proto)
    x = np.zeros(2, 'f')
    assert model.input_names == ('x',)
    np.testing.assert_array_equal(model(x).array, [1, 2])
    np.testing.assert_array_equal(model(x, w=np.array([5, 5], 'f')).array, [5, 5])


def test_a_failing_node_is_named():
    nodes = [helper.make_node('MatMul', ['x', 'w'], ['y'], name='product')]
    model = onnx_chainer.load(model_of(nodes, [info('x')], ['y'], {'w': W1}))
    with pytest.raises(ModelError, match=r"^node 'product' \(MatMul\): "):
        model(np.ones((2, 5), 'f'))


# -- control flow


def branches():
    """Doubles or triples the input by a weight in the branch, as the condition says."""

    def branch(name, weight):
        return helper.make_graph(
            [helper.make_node('Mul', ['x', name], [f'{name}_y'])],
            name,
            [],
            [helper.make_tensor_value_info(f'{name}_y', TensorProto.FLOAT, None)],
            [numpy_helper.from_array(np.array([weight], 'f'), name)],
        )

    node = helper.make_node(
        'If', ['on'], ['y'], then_branch=branch('two', 2), else_branch=branch('three', 3)
    )
    return model_of([node], [info('x'), info('on', [], bool)], ['y'])


@pytest.mark.parametrize('device', DEVICES)
def test_branches_train_what_they_use(device):
    model = onnx_chainer.load(branches())
    model.to_device(device)
    x = chainer.get_device(device).send(np.array([1, 2], 'f'))
    assert [float(y) for y in model(x, np.array(True)).array] == [2, 4]
    y = model(x, np.array(False))
    assert [float(each) for each in y.array] == [3, 6]
    model.cleargrads()
    F.sum(y).backward()
    assert float(model.three.grad[0]) == 3
    assert model.two.grad is None


def loop(steps):
    """Multiplies by a weight again and again, and collects all results."""
    body = helper.make_graph(
        [
            helper.make_node('Mul', ['v', 'w'], ['out']),
            helper.make_node('Identity', ['out'], ['scan']),
            helper.make_node('Identity', ['on'], ['go']),
        ],
        'body',
        [info('i', [], np.int64), info('on', [], bool), info('v')],
        [info('go', [], bool), info('out'), info('scan')],
    )
    node = helper.make_node('Loop', ['m', ''], ['', 'all'], body=body)
    node.input.append('x')
    node.output[0] = 'last'
    return model_of(
        [node], [info('x')], ['last', 'all'], {'m': np.array(steps), 'w': np.array([2.0], 'f')}
    )


@pytest.mark.parametrize('device', DEVICES)
def test_loops_have_gradients(device):
    model = onnx_chainer.load(loop(3))
    model.to_device(device)
    last, every = model(chainer.get_device(device).send(np.array([1.5], 'f')))
    assert float(last.array[0]) == 12
    assert [float(y[0]) for y in every.array] == [3, 6, 12]
    model.cleargrads()
    F.sum(last).backward()
    assert float(model.w.grad[0]) == pytest.approx(1.5 * 3 * 2**2)


def test_scan_has_gradients():
    body = helper.make_graph(
        [helper.make_node('Add', ['s', 'e'], ['t']), helper.make_node('Mul', ['t', 'w'], ['u'])],
        'body',
        [info('s'), info('e')],
        [info('u'), info('t')],
    )
    node = helper.make_node('Scan', ['x0', 'xs'], ['last', 'sums'], body=body, num_scan_inputs=1)
    proto = model_of(
        [node], [info('x0'), info('xs')], ['last', 'sums'], {'w': np.array([2.0], 'f')}
    )
    model = onnx_chainer.load(proto)
    last, sums = model(np.array([1], 'f'), np.array([[1], [2]], 'f'))
    np.testing.assert_array_equal(sums.array, [[2], [6]])
    np.testing.assert_array_equal(last.array, [12])
    F.sum(last).backward()
    # last = ((1 + 1) w + 2) w
    np.testing.assert_allclose(model.w.grad, [2 * 2 * 2 + 2])


# -- functions of the file


def test_functions_take_attributes():
    function = helper.make_function(
        'mine',
        'Shifted',
        ['x'],
        ['y'],
        [
            helper.make_node('LeakyRelu', ['x'], ['a']),
            helper.make_node('Constant', [], ['c']),
            helper.make_node('Add', ['a', 'c'], ['y']),
        ],
        [helper.make_opsetid('', 18)],
        attributes=['slope'],
        attribute_protos=[helper.make_attribute('shift', 1.0)],
    )
    for node, name, own in ((0, 'slope', 'alpha'), (1, 'shift', 'value_float')):
        attribute = function.node[node].attribute.add()
        attribute.name, attribute.ref_attr_name = own, name
        attribute.type = onnx.AttributeProto.FLOAT
    nodes = [
        helper.make_node('Shifted', ['x'], ['a'], domain='mine', slope=0.5),
        helper.make_node('Shifted', ['a'], ['y'], domain='mine', slope=0.25, shift=3.0),
    ]
    proto = model_of(nodes, [info('x')], ['y'], domains=[('mine', 1)], functions=[function])
    y = onnx_chainer.load(proto)(np.array([-4, 1], 'f'))
    np.testing.assert_allclose(y.array, [2.75, 5])


# -- external data


def test_external_data(tmp_path):
    onnx.save(
        perceptron(),
        tmp_path / 'model.onnx',
        save_as_external_data=True,
        location='weights.bin',
        size_threshold=0,
    )
    model = onnx_chainer.load(tmp_path / 'model.onnx')
    np.testing.assert_allclose(model(X).array, expected(X), rtol=1e-4, atol=1e-5)
    assert (tmp_path / 'weights.bin').stat().st_size > 0


@pytest.mark.parametrize(
    'kind',
    [
        *('FLOAT', 'FLOAT16', 'DOUBLE', 'INT8', 'UINT64', 'BOOL', 'COMPLEX64'),
        *('BFLOAT16', 'FLOAT8E5M2', 'INT4', 'UINT4'),
    ],
)
@pytest.mark.parametrize('shape', [(), (0, 2), (3, 5)])
def test_external_data_of_every_type(kind, shape, tmp_path):
    """They are what the same bytes are inside of the file, at any offset."""
    from onnx_chainer.importing._tensors import read_tensor

    elem_type = getattr(TensorProto, kind)
    dtype = helper.tensor_dtype_to_np_dtype(elem_type)
    values = (np.arange(int(np.prod(shape))).reshape(shape) % 7).astype(dtype)
    inline = numpy_helper.from_array(values, 'w')
    assert inline.data_type == elem_type
    (tmp_path / 'data').write_bytes(b'x' + inline.raw_data)
    outside = TensorProto(name='w', dims=shape, data_type=elem_type)
    outside.data_location = TensorProto.EXTERNAL
    for key, value in {'location': 'data', 'offset': '1'}.items():
        outside.external_data.add(key=key, value=value)
    array, other = read_tensor(outside, tmp_path), read_tensor(inline, None)
    assert (array.dtype, array.shape) == (other.dtype, other.shape)
    assert array.tobytes() == other.tobytes()
    array[...] = values  # the memory is its own


# -- the interface of ONNX


def test_backend():
    (y,) = backend.prepare(perceptron()).run([X])
    assert isinstance(y, np.ndarray)
    np.testing.assert_allclose(y, expected(X), rtol=1e-4, atol=1e-5)
    (y,) = backend.run_model(perceptron(), {'x': X})
    np.testing.assert_allclose(y, expected(X), rtol=1e-4, atol=1e-5)


def test_backend_runs_a_node_of_a_version():
    node = helper.make_node('Softmax', ['x'], ['y'])
    x = np.arange(8, dtype='f').reshape(2, 2, 2)
    (new,) = backend.run_node(node, [x])
    (old,) = backend.run_node(node, [x], opset_version=11)
    np.testing.assert_allclose(new.sum(-1), np.ones((2, 2)), rtol=1e-6)
    np.testing.assert_allclose(old.sum((1, 2)), np.ones(2), rtol=1e-6)


def test_backend_knows_devices():
    assert backend.supports_device('CPU')
    assert backend.supports_device('CUDA') == chainer.backends.cuda.available
    assert not backend.supports_device('TPU')
