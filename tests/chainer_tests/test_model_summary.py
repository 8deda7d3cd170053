"""Models and graphs for notebooks and terminals."""

import subprocess
import sys
import xml.etree.ElementTree

import numpy as np
import pytest
from helpers.functions import devices

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import computational_graph


class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a_last = chainer.Sequential(L.Linear(None, 16), F.relu, L.Linear(16, 10))
            self.conv = L.Convolution2D(3, 8, 3, pad=1)
            self.unused = L.Linear(None, 2)

    def forward(self, x):
        return self.a_last(F.max_pooling_2d(F.relu(self.conv(x)), 2))


@pytest.mark.parametrize('device', devices())
def test_summary(device):
    model = Net()
    model.to_device(device)
    summary = chainer.summary(model, (2, 3, 8, 8))
    assert [tuple(row[:5]) for row in summary.rows] == [
        ('/', 'Net', (2, 10), 0, 0),
        ('/conv', 'Convolution2D', (2, 8, 8, 8), 8 * 3 * 9 + 8, 2 * 2 * 64 * 8 * 27),
        ('/a_last', 'Sequential', (2, 10), 0, 0),
        ('/a_last/0', 'Linear', (2, 16), 128 * 16 + 16, 2 * 2 * 128 * 16),
        ('/a_last/1', 'Linear', (2, 10), 170, 2 * 2 * 160),
        ('/unused', 'Linear', None, 2, 0),
    ]
    bytes_of_rows = [(row.param_bytes, row.output_bytes) for row in summary.rows]
    assert bytes_of_rows == [
        (0, 0),
        (4 * (8 * 3 * 9 + 8), 4 * 2 * 8 * 64),
        (0, 0),
        (4 * (128 * 16 + 16), 4 * 2 * 16),
        (4 * 170, 4 * 2 * 10),
        (4 * 2, 0),
    ]
    assert summary.n_params == 224 + 2064 + 170 + 2
    assert summary.param_bytes == 4 * summary.n_params
    assert summary.output_bytes == 4096 + 128 + 80
    assert summary.flops == sum(row.flops for row in summary.rows)
    assert str(summary).splitlines()[0].split() == [
        'Link',
        'Output',
        'Parameters',
        'FLOPs',
        'Bytes',
    ]
    total = ['Total', '2,460', '64,128', f'{9840 + 4304:,}']
    assert str(summary).splitlines()[-1].split() == total
    assert len({len(line) for line in str(summary).splitlines()}) == 1
    table = xml.etree.ElementTree.fromstring(summary._repr_html_())
    assert len(table.findall('tr')) == len(summary.rows) + 2


def _batch_matmul(a, b):
    with pytest.warns(DeprecationWarning):
        return F.batch_matmul(a, b, transb=True)


@pytest.mark.parametrize(
    ('f', 'shapes', 'n'),
    [
        (F.matmul, [(2, 3), (3, 4)], 2 * 3 * 4),
        (lambda a, b: F.matmul(a, b, transa=True), [(3, 2), (3, 4)], 2 * 3 * 4),
        (lambda a, b: F.matmul(a, b, transb=True), [(5, 2, 3), (5, 4, 3)], 5 * 2 * 3 * 4),
        (F.matmul, [(3,), (3,)], 3),
        (lambda x, W: F.linear(x, W, n_batch_axes=2), [(2, 5, 3), (4, 3)], 2 * 5 * 3 * 4),
        (F.convolution_2d, [(2, 4, 6, 6), (8, 4, 3, 3)], 2 * 16 * 8 * 4 * 9),
        (lambda x, W: F.convolution_2d(x, W, groups=2), [(2, 4, 6, 6), (8, 2, 3, 3)], 2 * 16 * 144),
        (lambda x, W: F.convolution_1d(x, W, stride=2), [(2, 4, 7), (8, 4, 3)], 2 * 3 * 96),
        (F.deconvolution_2d, [(2, 4, 6, 6), (4, 8, 3, 3)], 2 * 36 * 4 * 8 * 9),
        (F.scaled_dot_product_attention, [(2, 5, 8), (2, 7, 8), (2, 7, 4)], 2 * 5 * 7 * 12),
        (F.matmul, [(2, 1, 4, 5), (1, 3, 5, 6)], 2 * 3 * 4 * 5 * 6),
        (F.matmul, [(0, 4, 5), (5, 6)], 0),
        (_batch_matmul, [(2, 3), (2, 3)], 2 * 3 * 3),
        (lambda a, b: F.tensordot(a, b, 1), [(2, 3, 4), (4, 5)], 2 * 3 * 4 * 5),
        (lambda a, b: F.tensordot(a, b, ((-1, 0), (0, 1))), [(2, 3, 4), (4, 2, 5)], 24 * 5),
        (lambda a, b: F.einsum('ijk,kj->i', a, b), [(2, 3, 4), (4, 3)], 24),
        (lambda a, b: F.einsum('ij,ij->j', a, b), [(1, 3), (4, 3)], 12),
        (lambda a: F.einsum('ii->i', a), [(3, 3)], 0),
        (F.bilinear, [(2, 3), (2, 4), (3, 4, 5)], 2 * 60),
        (F.bilinear, [(2, 3), (2, 4), (3, 4, 5), (3, 5), (4, 5), (5,)], 2 * (60 + 15 + 20)),
        (F.simplified_dropconnect, [(2, 3), (4, 3)], 2 * 3 * 4),
        (F.local_convolution_2d, [(2, 3, 6, 6), (4, 4, 4, 3, 3, 3)], 2 * 16 * 4 * 27),
        (F.add, [(2, 3), (2, 3)], 0),
    ],
)
@pytest.mark.parametrize('device', devices())
def test_flops(f, shapes, n, device):
    class Model(chainer.Link):
        def forward(self, *xs):
            return f(*xs)

    model = Model()
    model.to_device(device)
    assert chainer.summary(model, *shapes).flops == 2 * n


@pytest.mark.parametrize(
    ('make', 'n_gates', 'n_directions'),
    [
        (L.NStepLSTM, 4, 1),
        (L.NStepBiLSTM, 4, 2),
        (L.NStepGRU, 3, 1),
        (L.NStepBiGRU, 3, 2),
        (L.NStepRNNTanh, 1, 1),
        (L.NStepBiRNNReLU, 1, 2),
    ],
)
@pytest.mark.parametrize('device', devices())
def test_flops_of_recurrent_networks(make, n_gates, n_directions, device):
    model = make(2, 3, 4, 0.0)
    model.to_device(device)
    states = [None] * (2 if n_gates == 4 else 1)
    xs = [model.device.send(np.zeros((n, 3), np.float32)) for n in (5, 2)]
    layers = 3 + 4, n_directions * 4 + 4
    expected = 2 * (5 + 2) * sum(layers) * 4 * n_gates * n_directions
    assert chainer.summary(model, *states, xs).flops == expected


def test_summary_of_an_input_of_a_shape_from_numpy():
    shape = tuple(np.array([2, 3]))
    assert chainer.summary(L.Linear(None, 4), shape).rows[0].output == (2, 4)


def test_summary_of_what_is_no_link():
    with pytest.raises(TypeError, match="model must be a link, but <class 'function'> was given"):
        chainer.summary(F.relu, (2, 3))


def test_summary_of_shared_links_and_other_outputs():
    linear = L.Linear(2, 2)

    class Twice(chainer.Chain):
        def forward(self, x):
            return [self.a(self.b(x))]

    model = Twice(a=linear)
    with model.init_scope():
        model.b = linear
    rows = chainer.summary(model, np.ones((1, 2), np.float32)).rows
    assert [row.flops for row in rows] == [0, 16, 0]
    assert [row.n_params for row in rows] == [0, 6, 0]
    assert [row.param_bytes for row in rows] == [0, 24, 0]
    assert [row.output_bytes for row in rows] == [0, 16, 0]
    assert rows[0].output is None
    assert not model.local_link_hooks and not chainer.get_function_hooks()


@pytest.mark.parametrize('dtype', [np.float16, np.float64])
def test_bytes_of_dtypes_and_of_several_calls(dtype):
    class Model(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.cell = L.Linear(3, 3)
                self.same = chainer.Sequential(lambda x: x)

        def forward(self, x):
            h = self.cell(self.cell(x))
            return {'one': self.same(h), 'two': (h, [F.exp(h)], None)}

    with chainer.using_config('dtype', dtype):
        rows = chainer.summary(Model(), (2, 3)).rows
    size = np.dtype(dtype).itemsize
    assert [(row.path, row.param_bytes, row.output_bytes) for row in rows] == [
        ('/', 0, size * 6),
        ('/cell', size * 12, size * 12),
        ('/same', 0, 0),
    ]
    assert rows[1].flops == 2 * 2 * 2 * 9


@pytest.mark.parametrize('device', devices())
def test_summary_leaves_the_model_unchanged(device):
    model = chainer.Sequential(L.LSTM(4), L.BatchNormalization(4), L.Linear(2))
    model.to_device(device)
    x = model.device.send(np.ones((3, 2), np.float32))
    np.random.seed(0)
    expected = np.random.rand(3)
    np.random.seed(0)
    chainer.summary(model, x)
    uninitialized = [path for path, p in model.namedparams() if not p.is_initialized]
    # Chainer 7 counts the links of a Sequential in this order.
    assert uninitialized == ['/0/upward/W', '/1/W']
    assert model[0].h is None and model[0].c is None
    np.testing.assert_array_equal(np.random.rand(3), expected)
    # With shapes and a state: the same numbers before and after.
    with chainer.using_config('train', False):
        model(x)
        h, arrays = model[0].h, [(p, p.array) for p in model.params()]
        chainer.summary(model, (3, 2))
        assert model[0].h is h
        assert all(p.array is array for p, array in arrays)


def test_an_error_leaves_the_model_unchanged():
    model = chainer.Sequential(L.Linear(None, 4), L.Linear(3, 2))
    with pytest.raises(chainer.utils.type_check.InvalidType):
        chainer.summary(model, (1, 5))
    assert not model[0].W.is_initialized
    assert chainer.get_function_hooks() == {}


@pytest.mark.parametrize(
    'link',
    [
        Net(),
        chainer.ChainList(L.Linear(2, 2), L.BatchNormalization(3)),
        chainer.Sequential(L.Linear(None, 2), F.relu),
        L.EmbedID(3, 4),
        chainer.Chain(),
    ],
)
def test_links_in_notebooks(link):
    html = link._repr_html_()
    tree = xml.etree.ElementTree.fromstring(html)
    text = ' '.join(tree.itertext())
    assert type(link).__name__ in text
    for path, param in link.namedparams():
        shown = f'{param.shape} float32 on @numpy' if param.is_initialized else 'the first input'
        assert f'{path.rsplit("/", 1)[1]}: ' in text and shown in text
    if isinstance(link, L.EmbedID):
        assert '12 parameters' in text


def test_names_are_escaped():
    link = chainer.Chain()
    with link.init_scope():
        setattr(link, '<b>&', L.Linear(1, 1))
    assert '&lt;b&gt;&amp;: ' in link._repr_html_()
    x = chainer.Variable(np.zeros(1, np.float32), name='<script>')
    assert '<script' not in computational_graph.build_computational_graph(x * 1).to_svg()


@pytest.mark.parametrize(
    ('variable', 'title', 'body'),
    [
        (lambda: chainer.Variable(np.ones((2, 1), 'f')), 'variable: (2, 1) float32', '[[1.],'),
        (lambda: chainer.Variable(np.array(3), name='<n>'), 'variable <n>: () int64', '3'),
        (lambda: chainer.Variable(np.ones((0, 2), 'e')), 'variable: (0, 2) float16', '[]'),
        (lambda: chainer.Parameter(1.0, (2,)), 'parameter: (2,) float32', '[1., 1.]'),
    ],
    ids=['array', 'name', 'empty', 'parameter'],
)
@pytest.mark.parametrize('device', devices())
def test_variables_in_notebooks(variable, title, body, device):
    variable = variable()
    variable.to_device(device)
    tree = xml.etree.ElementTree.fromstring(variable._repr_html_())
    assert tree.find('summary').text == f'{title} on {chainer.get_device(device)}'
    assert tree.find('pre').text.startswith(body)


def test_variables_without_an_array_in_notebooks():
    text = 'parameter of a shape that the first input sets'
    assert text in chainer.Parameter(1.0)._repr_html_()
    assert 'variable of a shape' in chainer.Variable()._repr_html_()


def test_large_variables_are_cut_in_notebooks():
    assert len(chainer.Variable(np.zeros((2000, 2000), 'f'))._repr_html_()) < 1000


@pytest.mark.chainerx
def test_compiled_functions_in_notebooks():
    link = L.Linear(3, 2)
    link.to_device('native:0')
    step = chainer.compile(lambda x: F.sum(link(x)))
    counts = step.report().splitlines()[0]
    assert xml.etree.ElementTree.fromstring(step._repr_html_()).find('p').text == counts
    x = link.device.send(np.ones((4, 3), 'f'))
    with chainer.no_backprop_mode():
        for _ in range(5):
            step(x)
    tree = xml.etree.ElementTree.fromstring(step._repr_html_())
    assert tree.find('summary').text == repr(step)
    assert tree.find('p').text == step.report()
    assert [cell.text for cell in tree.find('table').findall('tr')[1]][:4] == ['0', '3', '1', '3']


def test_a_link_without_init_has_no_tree():
    assert chainer.Chain.__new__(chainer.Chain)._repr_html_() is None


@pytest.mark.parametrize('rankdir', ['TB', 'BT', 'LR', 'RL'])
@pytest.mark.parametrize('remove_variable', [False, True])
def test_graphs_in_notebooks(rankdir, remove_variable):
    x = chainer.Variable(np.ones((2, 3), np.float32), name='x')
    h = F.relu(x) + x * x
    graph = computational_graph.build_computational_graph(
        [F.sum(h), F.exp(h)], rankdir=rankdir, remove_variable=remove_variable
    )
    svg = xml.etree.ElementTree.fromstring(graph._repr_svg_())
    names = [element.text for element in svg.iter('{http://www.w3.org/2000/svg}text')]
    nodes = [node for node in graph.nodes if not (remove_variable and hasattr(node, 'creator'))]
    assert sorted(names) == sorted(
        f'x: {node.label}' if node is x.node else node.label for node in nodes
    )
    boxes = [
        [float(box.get(key)) for key in ('x', 'y', 'width', 'height')]
        for box in svg.iter('{http://www.w3.org/2000/svg}rect')
    ]
    width, height = float(svg.get('width')), float(svg.get('height'))
    for i, (x0, y0, w, h) in enumerate(boxes):
        assert x0 >= 0 and y0 >= 0 and x0 + w <= width and y0 + h <= height
        for x1, y1, w1, h1 in boxes[:i]:
            apart = x0 + w <= x1 or x1 + w1 <= x0 or y0 + h <= y1 or y1 + h1 <= y0
            assert apart
    along = 'y' if rankdir in ('TB', 'BT') else 'x'
    place = dict(zip(names, (box[1] if along == 'y' else box[0] for box in boxes)))
    first, last = ('ReLU', 'exp') if rankdir in ('TB', 'LR') else ('exp', 'ReLU')
    assert place[first] < place[last]


def test_empty_graph():
    graph = computational_graph.ComputationalGraph([], [])
    assert graph.to_svg().startswith('<svg')


def test_python_m_chainer():
    result = subprocess.run(
        [sys.executable, '-m', 'chainer'], capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith('Platform: ')
    assert f'Chainer: {chainer.__version__}\n' in result.stdout
