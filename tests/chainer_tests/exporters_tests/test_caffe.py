import ast
import re

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.exporters import caffe

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
