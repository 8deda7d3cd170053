import ast
import re

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.exporters import caffe
from chainer.links.caffe import CaffeFunction

X = numpy.random.RandomState(0).rand(1, 3, 4, 4).astype('f')


def parse(text):
    """Parses the text format of protocol buffers into pairs of names and values."""
    tokens = re.findall(r'"(?:[^"\\\n]|\\.)*"|[\w.+-]+|[:{}]|\S', text)
    tokens.reverse()
    fields = _parse_fields(tokens)
    assert not tokens
    return fields


def _parse_fields(tokens):
    fields = []
    while tokens and tokens[-1] != '}':
        name, sign = tokens.pop(), tokens.pop()
        assert name.isidentifier()
        if sign == '{':
            fields.append((name, _parse_fields(tokens)))
            assert tokens.pop() == '}'
            continue
        assert sign == ':'
        value = tokens.pop()
        # The escapes are those of Python.
        fields.append((name, ast.literal_eval(value) if value[0] == '"' else (value,)))
    return fields


def model(x):
    return F.local_response_normalization(F.relu(x))


def _draw(*shape):
    return numpy.random.RandomState(1).uniform(-1, 1, shape).astype('f')


NETWORKS = {
    'linear': (L.Linear(None, 2), X),
    'linear without bias': (L.Linear(None, 2, nobias=True), X),
    'convolution': (L.Convolution2D(3, 2, 3, 2, 1), X),
    'convolution in groups': (L.Convolution2D(4, 6, (3, 2), groups=2, dilate=2), _draw(2, 4, 6, 6)),
    'deconvolution': (L.Deconvolution2D(3, 2, 3, 2, 1), X),
    'average pooling': (lambda x: F.average_pooling_2d(x, 2, 2, 1), X),
    'max pooling': (lambda x: F.max_pooling_2d(x, 2, 2, 0), X),
    'max pooling in 2 dimensions': (lambda x: F.max_pooling_nd(x, (2, 3), 1), X),
    'batch normalization': (L.BatchNormalization(3, eps=1e-3), X),
    'response normalization': (lambda x: F.local_response_normalization(x, 3, 1, 0.1), X),
    'reshape': (lambda x: F.reshape(x, (1, -1)), X),
    'flatten': (F.flatten, _draw(2, 3)),
    'activations': (
        chainer.Sequential(F.leaky_relu, F.sigmoid, F.tanh, F.relu, F.dropout, F.softmax),
        _draw(2, 3),
    ),
    'arithmetic': (lambda x: F.concat([x + F.relu(x), x * F.relu(x)]), _draw(2, 3)),
    'several outputs': (lambda x: (F.relu(x), F.sigmoid(x)), _draw(2, 3)),
    'outputs by name': (lambda x: {'a': F.relu(x), 'b': F.sigmoid(x)}, _draw(2, 3)),
    'small': (
        chainer.Sequential(
            L.Convolution2D(3, 4, 3, 1, 1),
            L.BatchNormalization(4),
            F.relu,
            lambda x: F.max_pooling_2d(x, 2, 2),
            L.Linear(None, 5),
            F.softmax,
        ),
        X,
    ),
}


@pytest.mark.parametrize('train', [True, False])
@pytest.mark.parametrize('name', NETWORKS)
def test_exported_networks_are_read_again(name, train, tmp_path):
    net, x = NETWORKS[name]
    with chainer.using_config('train', train):
        caffe.export(net, [chainer.Variable(x)], str(tmp_path), True, name)
    with chainer.using_config('train', False):
        expected = net(chainer.Variable(x))
        caffe_net = CaffeFunction(tmp_path / 'chainer_model.caffemodel')
        read = {blob for _, bottoms, _ in caffe_net.layers for blob in bottoms}
        tops = [blob for _, _, blobs in caffe_net.layers for blob in blobs if blob not in read]
        outputs = caffe_net({'data': x}, tops)
    if isinstance(expected, dict):
        expected = expected.values()
    elif isinstance(expected, chainer.Variable):
        expected = [expected]
    for y, e in zip(outputs, expected, strict=True):
        numpy.testing.assert_allclose(y.array, e.array, 1e-4, 1e-5)


def test_strings_have_quotes_and_enumerations_have_none():
    fields = parse(caffe.export(model, [chainer.Variable(X)]))
    layers = [dict(value) for name, value in fields if name == 'layer']
    assert [layer['type'] for layer in layers] == ['Input', 'ReLU', 'LRN']
    assert dict(layers[2]['lrn_param'])['norm_region'] == ('ACROSS_CHANNELS',)


@pytest.mark.parametrize(
    'name',
    [
        'Graph',
        'GRAPH',
        '',
        'a b',
        'größer',
        'a"b',
        '"',
        '\\',
        'a\\',
        '\\"',
        '\\n',
        'a\nb',
        '\r\0\x7f',
    ]
    + ['x" layer {'],
)
def test_graph_name(tmp_path, name):
    net = chainer.Sequential(L.Convolution2D(3, 2, 3), model)
    text = caffe.export(net, [chainer.Variable(X)], str(tmp_path), graph_name=name)
    fields = parse(text)
    assert fields[0] == ('name', name)
    assert [field for field, _ in fields] == ['name'] + ['layer'] * 4
    assert (tmp_path / 'chainer_model.prototxt').read_bytes() == text.encode()
    assert name.encode() in (tmp_path / 'chainer_model.caffemodel').read_bytes()


def test_graph_name_that_no_file_can_hold(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        caffe.export(model, [chainer.Variable(X)], str(tmp_path), graph_name='\udcff')
    assert list(tmp_path.iterdir()) == []
