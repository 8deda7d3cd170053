"""Broken and hostile files are errors that name the node or tensor."""

import numpy as np
import pytest

onnx = pytest.importorskip('onnx')
from onnx import TensorProto, helper  # noqa: E402
from onnx_chainer_tests.helpers_of_import import (  # noqa: E402
    info,
    model_of,
    node_model,
    numpy_helper,
)

import onnx_chainer  # noqa: E402
from onnx_chainer.importing import ModelError, _graph as graph  # noqa: E402

X = np.ones((2, 3), 'f')


def node(op, inputs=('x',), outputs=('y',), **attributes):
    return helper.make_node(op, inputs, outputs, name='culprit', **attributes)


def graph_of(*nodes, outputs=('y',), **keywords):
    return model_of(nodes, [info('x')], outputs, **keywords)


def function(name, *nodes, attributes=()):
    return helper.make_function(
        'mine',
        name,
        ['x'],
        ['y'],
        nodes,
        [helper.make_opsetid('', 18), helper.make_opsetid('mine', 1)],
        attributes,
    )


def call(name):
    return helper.make_node(name, ['x'], ['y'], domain='mine', name='culprit')


MINE = {'domains': [('mine', 1)]}
CULPRIT = r"node 'culprit' \(\w+(\.\w+)*\): "
BODY = helper.make_graph(
    [helper.make_node('Relu', ['nowhere'], ['z'], name='culprit')], 'body', [], [info('z')]
)

BROKEN = {
    'an input that nothing gives': (graph_of(node('Relu', ['z'])), CULPRIT + "nothing gives its input 'z'"),
    'a cycle': (graph_of(node('Add', ['x', 'b'], ['a']), helper.make_node('Relu', ['a'], ['b']), outputs=['a']), CULPRIT + ".*'b'.*cycle"),
    'a node that takes its own output': (graph_of(node('Add', ['x', 'y'])), CULPRIT + '.*cycle'),
    'an output twice': (graph_of(helper.make_node('Relu', ['x'], ['y']), node('Relu')), CULPRIT + "its output 'y' is there already"),
    'an output that is an input': (graph_of(node('Relu', outputs=['x'])), CULPRIT + "its output 'x' is there already"),
    'a node without outputs': (graph_of(helper.make_node('Relu', ['x'], ['y']), node('Relu', outputs=[])), CULPRIT + 'it has no outputs'),
    'an output that nothing gives': (graph_of(node('Relu'), outputs=['w']), "nothing gives the output 'w' of graph"),
    'an unknown operator': (graph_of(node('Frobnicate')), CULPRIT + 'the operator is not supported in opset 18'),
    'a domain without version': (graph_of(helper.make_node('Relu', ['x'], ['y'], domain='their', name='culprit')), CULPRIT + "the model imports no version of the domain 'their'"),
    'an unknown attribute': (graph_of(node('Relu', wrong=1)), CULPRIT + "there is no attribute 'wrong'"),
    'a missing attribute': (graph_of(node('Cast')), CULPRIT + "its attribute 'to' is missing"),
    'too many inputs': (graph_of(node('Relu', ['x', 'x'])), CULPRIT + 'it has 2 inputs'),
    'too few inputs': (graph_of(node('Add')), CULPRIT + 'it has 1 inputs'),
    'a missing input': (graph_of(node('Add', ['', 'x'])), CULPRIT + 'its input 0 is missing'),
    'a branch that takes what nothing gives': (model_of([helper.make_node('If', ['on'], ['y'], then_branch=BODY, else_branch=BODY)], [info('on', [], bool)], ['y']), CULPRIT + "nothing gives its input 'nowhere'"),
    'a function that calls itself': (graph_of(call('f'), functions=[function('f', call('f'))], **MINE), CULPRIT + "function 'f' calls itself"),
    'functions that call each other': (graph_of(call('f'), functions=[function('f', call('g')), function('g', call('f'))], **MINE), CULPRIT + "function 'f' calls itself"),
    'a function without the attribute': (graph_of(helper.make_node('f', ['x'], ['y'], domain='mine', name='culprit', a=1), functions=[function('f', helper.make_node('Relu', ['x'], ['y']))], **MINE), CULPRIT + "function 'f' has no attribute 'a'"),
    'a function twice': (graph_of(call('f'), functions=[function('f', call('g'))] * 2, **MINE), "function 'f' is defined twice"),
}  # fmt: skip


@pytest.mark.parametrize('name', BROKEN)
def test_broken_graphs(name):
    model, message = BROKEN[name]
    with pytest.raises(ModelError, match=message):
        onnx_chainer.load(model)


def test_functions_that_grow(monkeypatch):
    """Each of 40 functions calls the next twice, which would be 2**40 nodes."""

    def twice(inner):
        return [
            helper.make_node(inner, ['x'], ['a'], domain='mine'),
            helper.make_node(inner, ['a'], ['y'], domain='mine'),
        ]

    functions = [function(f'f{i}', *twice(f'f{i + 1}')) for i in range(40)]
    functions.append(function('f40', helper.make_node('Relu', ['x'], ['y'])))
    monkeypatch.setattr(graph, 'MOST_NODES', 1000)
    with pytest.raises(ModelError, match='more than 1000 nodes'):
        onnx_chainer.load(graph_of(call('f0'), functions=functions, **MINE))


@pytest.mark.parametrize(
    'data',
    [b'', b'\x00' * 100, b'not a model', b'\x0a\xff\xff\xff\xff\x0f', b'PK\x03\x04' + b'\x00' * 64],
)
def test_other_files(data, tmp_path):
    path = tmp_path / 'model.onnx'
    path.write_bytes(data)
    for source in data, path:
        with pytest.raises(ModelError, match='no ONNX model'):
            onnx_chainer.load(source)


def test_truncated_files():
    data = node_model('Add', [X, X]).SerializeToString()
    for length in range(len(data)):
        try:
            model = onnx_chainer.load(data[:length])
        except ModelError:
            continue
        # What remains may be a smaller model.
        assert len(model.input_names) <= 2


def test_damaged_files():
    """Random changes of bytes give models or errors of the package, and nothing else."""
    weights = {'w': X, 'i': np.array([1, -1])}
    nodes = [helper.make_node('Mul', ['x', 'w'], ['a']), node('Reshape', ['a', 'i'])]
    data = graph_of(*nodes, weights=weights).SerializeToString()
    rng = np.random.RandomState(0)
    errors = 0
    for _ in range(300):
        damaged = bytearray(data)
        for place in rng.randint(0, len(data), rng.randint(1, 4)):
            damaged[place] = rng.randint(256)
        try:
            model = onnx_chainer.load(bytes(damaged))
            model(*[X] * len(model.input_names))
        except ModelError:
            errors += 1
    assert 100 < errors < 300


# -- tensors


def with_weight(**fields):
    tensor = numpy_helper.from_array(X, 'w')
    for name, value in fields.items():
        if name == 'dims':
            tensor.dims[:] = value
        else:
            setattr(tensor, name, value)
    model = graph_of(node('Add', ['x', 'w']))
    model.graph.initializer.append(tensor)
    return model


@pytest.mark.parametrize(
    'fields,message',
    [
        ({'dims': [2, 4]}, r'it has 24 bytes, and 32 belong to its shape \(2, 4\)'),
        ({'dims': [2, -3]}, 'has a negative dimension'),
        ({'dims': [2**40, 2**40]}, 'and this machine has'),
        ({'dims': [2**62, 4]}, 'and this machine has'),
        ({'data_type': 99}, 'there is no element type 99'),
        ({'data_type': 0}, 'it has no element type'),
        ({'raw_data': b''}, 'it has 0 bytes, and 24 belong'),
    ],
)
def test_wrong_tensors(fields, message):
    with pytest.raises(ModelError, match="^tensor 'w': .*" + message):
        onnx_chainer.load(with_weight(**fields))


def external(folder, **entries):
    model = with_weight(raw_data=b'')
    tensor = model.graph.initializer[0]
    tensor.ClearField('raw_data')
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    path = folder / 'model.onnx'
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize(
    'entries,message',
    [
        ({'location': '../secret'}, 'outside of the folder'),
        ({'location': 'link'}, 'outside of the folder'),
        ({'location': '/etc/hostname'}, 'outside of the folder'),
        ({'location': 'absent'}, 'not a file'),
        ({'location': '.'}, 'not a file'),
        ({}, 'another file without a name'),
        ({'location': 'data', 'offset': 4}, 'which has 24 bytes'),
        ({'location': 'data', 'offset': -4}, 'which has 24 bytes'),
        ({'location': 'data', 'offset': 2**63}, 'which has 24 bytes'),
        ({'location': 'data', 'length': 20}, 'it has|its data has 20 bytes'),
        ({'location': 'data', 'offset': 'x'}, 'ValueError'),
    ],
)
def test_external_data_stays_in_the_folder(entries, message, tmp_path):
    folder = tmp_path / 'folder'
    folder.mkdir()
    (tmp_path / 'secret').write_bytes(X.tobytes())
    (folder / 'data').write_bytes(X.tobytes())
    (folder / 'link').symlink_to(tmp_path / 'secret')
    with pytest.raises(ModelError, match="^tensor 'w': .*(" + message + ')'):
        onnx_chainer.load(external(folder, **entries))


def test_external_data_of_a_model_in_memory(tmp_path):
    data = external(tmp_path, location='data').read_bytes()
    with pytest.raises(ModelError, match="in 'data', and a model in memory has no folder"):
        onnx_chainer.load(data)


def test_wrong_sparse_indices():
    values = numpy_helper.from_array(np.ones(2, 'f'), 'w')
    for indices in ([0, 9], [-1, 0], [0]):
        sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(np.array(indices)), [6])
        model = graph_of(node('Add', ['x', 'w']))
        model.graph.sparse_initializer.append(sparse)
        with pytest.raises(ModelError, match="sparse tensor 'w'"):
            onnx_chainer.load(model)


# -- sizes that only running shows

HUGE = np.array([2**31, 2**31])


@pytest.mark.parametrize(
    'op,inputs,attributes',
    [
        ('ConstantOfShape', [HUGE], {}),
        ('ConstantOfShape', [np.array([-1])], {}),
        ('Expand', [np.ones((1, 1), 'f'), HUGE], {}),
        ('Tile', [np.ones((1, 1), 'f'), HUGE], {}),
        ('Pad', [X, np.array([0, 0, 2**31, 2**31])], {}),
        ('Resize', [np.ones((1, 1), 'f'), None, None, HUGE], {}),
        ('Range', [np.array(0), np.array(2**62), np.array(1)], {}),
        ('OneHot', [np.zeros(1, np.int64), np.array(2**62), np.array([0.0, 1.0])], {}),
        ('RandomNormal', [], {'shape': [2**31, 2**31]}),
        ('DFT', [np.ones((1, 4, 1), 'f'), np.array(2**61)], {'axis': 1}),
        ('Reshape', [X, np.array([2**62, 4])], {}),
        ('Reshape', [X, np.array([-1, -1])], {}),
        ('Gather', [X, np.array([2**62])], {}),
        ('Slice', [X, np.array([0]), np.array([1]), np.array([0]), np.array([0])], {}),
        ('Conv', [np.ones((1, 1, 4), 'f'), np.ones((1, 1, 3), 'f')], {'pads': [2**40, 2**40]}),
        ('MaxPool', [np.ones((1, 1, 4), 'f')], {'kernel_shape': [9]}),
        ('Col2Im', [np.ones((1, 4, 4), 'f'), HUGE, np.array([2, 2])], {}),
        ('MaxUnpool', [np.ones((1, 1, 1), 'f'), np.full((1, 1, 1), 99)], {'kernel_shape': [2]}),
    ],
)
def test_sizes(op, inputs, attributes):
    model = onnx_chainer.load(node_model(op, inputs, attributes))
    with pytest.raises(ModelError, match=rf'^node \({op}\)'):
        model(*[x for x in inputs if x is not None])
