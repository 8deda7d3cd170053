"""Broken graphs are errors that name the node. ``test_attacks.py`` has what both loaders refuse."""

import numpy as np
import pytest

onnx = pytest.importorskip('onnx')
from onnx import helper  # noqa: E402
from onnx_chainer_tests.helpers_of_import import info, model_of, node_model  # noqa: E402

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
    with pytest.raises(ModelError, match=rf'^node \({op}\)'):
        onnx_chainer.load(node_model(op, inputs, attributes))(*[x for x in inputs if x is not None])
