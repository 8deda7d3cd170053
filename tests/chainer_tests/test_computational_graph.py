import html
import re

import numpy
import pytest

import chainer
from chainer import computational_graph as c


@pytest.fixture
def graph():
    x = chainer.Variable(numpy.ones(3, 'f'), name='x')
    h = x * x
    y = h + x
    return x, h, y


def test_nodes_and_edges(graph):
    x, h, y = graph
    mul, add = h.creator_node, y.creator_node
    g = c.build_computational_graph([y])
    assert len(g.nodes) == 5
    assert {id(n) for n in g.nodes} == {id(n) for n in (x.node, h.node, y.node, mul, add)}
    assert {(id(a), id(b)) for a, b in g.edges} == {
        (id(a), id(b))
        for a, b in ((x.node, mul), (mul, h.node), (h.node, add), (x.node, add), (add, y.node))
    }


def test_outputs(graph):
    x, h, y = graph
    for outputs in (y, (y,), [y, h], [y.node]):
        assert len(c.build_computational_graph(outputs).nodes) == 5
    assert len(c.build_computational_graph([x]).nodes) == 1
    assert c.build_computational_graph([]).dump() == 'digraph graphname{rankdir=TB;}'
    with pytest.raises(TypeError, match='element of outputs must be either Variable'):
        c.build_computational_graph([x.array])
    with pytest.raises(ValueError, match='remove_split'):
        c.build_computational_graph([y], False)


def statements(text):
    head, body = re.fullmatch(r'digraph graphname\{(rankdir=\w+;)(.*)\}', text).groups()
    parts = body.split(';')
    assert parts.pop() == ''
    nodes = dict(re.fullmatch(r'(\d+) \[(.*)\]', p).groups() for p in parts if '->' not in p)
    edges = [tuple(p.split(' -> ')) for p in parts if '->' in p]
    return head, nodes, edges


def test_dump(graph):
    x, h, y = graph
    head, nodes, edges = statements(c.build_computational_graph([y]).dump())
    assert head == 'rankdir=TB;'
    assert nodes[str(id(x.node))] == (
        'label="x: (3), float32",shape="octagon",fillcolor="#E0E0E0",style="filled"'
    )
    assert nodes[str(id(y.creator_node))] == (
        'label="_ + _",shape="record",fillcolor="#6495ED",style="filled"'
    )
    assert len(nodes) == 5 and len(edges) == 5
    assert (str(id(x.node)), str(id(h.creator_node))) in edges


def test_options(graph):
    x, h, y = graph
    g = c.build_computational_graph(
        [y],
        variable_style={'shape': 'box'},
        function_style={'color': 'red'},
        rankdir='LR',
        show_name=False,
    )
    head, nodes, _ = statements(g.dump())
    assert head == 'rankdir=LR;'
    assert nodes[str(id(x.node))] == f'label="{x.node.label}",shape="box"'
    assert nodes[str(id(h.creator_node))] == 'label="_ * _",color="red"'
    with pytest.raises(ValueError, match='rankdir'):
        c.build_computational_graph([y], rankdir='XX')
    with pytest.raises(NotImplementedError, match='only dot'):
        g.dump('svg')


def test_remove_variable(graph):
    x, h, y = graph
    _, nodes, edges = statements(c.build_computational_graph([y], remove_variable=True).dump())
    mul, add = str(id(h.creator_node)), str(id(y.creator_node))
    assert set(nodes) == {mul, add}
    assert edges == [(mul, add)]


def shown_text(label):
    """Returns what Graphviz shows for a quoted label, of record and of other shapes."""
    assert re.fullmatch(r'(?:[^"\\]|\\.)*', label, re.DOTALL), label  # one string, which ends
    assert not re.search(r'(?<!\\)(?:\\\\)*[{}|<>]', label), label  # separators of records
    text = re.sub(r'\\(.)', lambda match: {'n': '\n'}.get(match[1], match[1]), label)
    return html.unescape(text)


@pytest.mark.parametrize(
    'name, shown',
    [
        (name, name)
        for name in (
            *('', 'W', '/l1/W', 'a b', 'a & b', 'Gewicht (größer)', 'a"b', '"', "'", '\\', 'a\\'),
            *(
                '\\\\',
                '\\"',
                'a\\nb',
                '\\N',
                '\\G',
                'a\nb',
                '\n',
                '\\\n',
                'a|{c}',
                '<f0> x',
                '<b>x</b>',
            ),
            *('->', 'a]; b [label="x"', 'a;b', '&lt;', '&amp;', '&#65;', '&eacute;', '\t'),
        )
    ]
    + [('a\r\nb', 'a\nb'), ('a\rb', 'a\nb'), ('\0\x1b', r'\x00\x1b'), ('\udcff', r'\udcff')],
)
def test_names(name, shown):
    x = chainer.Variable(numpy.ones(3, 'f'), name=name)
    for style in (None, {'shape': 'record'}):
        node = c.DotNode(x.node, style)
        (label,) = re.fullmatch(
            rf'{id(x.node)} \[label="(.*?)"(?:,shape="record")?\];', node.label, re.DOTALL
        ).groups()
        assert shown_text(label) == f'{shown}: (3), float32'
        assert str(node) == node.label
        assert node.label.replace('\t', '').isprintable()  # one line
        node.label.encode()


@pytest.mark.parametrize(
    'value, quoted',
    [
        ('#E0E0E0', '#E0E0E0'),
        (3, '3'),
        ('{a|<f0> b}\\n', '{a|<f0> b}\\n'),  # the language of record labels is left alone
        ('a"b', 'a\\"b'),
        ('a\\"b', 'a\\"b'),
        ('a\\\\"b', 'a\\\\\\"b'),
        ('a\\', 'a\\\\'),
        ('a\\\\', 'a\\\\'),
    ],
)
def test_styles(value, quoted):
    x = chainer.Variable(numpy.ones(3, 'f'))
    assert c.DotNode(x.node, {'label': value}).label == f'{id(x.node)} [label="{quoted}"];'


def test_multiple_outputs():
    class Split(chainer.FunctionNode):
        def forward(self, inputs):
            return inputs[0][:1], inputs[0][1:]

    x = chainer.Variable(numpy.ones(3, 'f'))
    ys = Split().apply((x,))
    g = c.build_computational_graph(ys)
    assert len(g.nodes) == 4 and len(g.edges) == 3
