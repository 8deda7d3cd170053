import gc

import numpy
import pytest

import chainer
import chainerx
from chainer.graph_optimizations import static_graph_utilities


@pytest.mark.parametrize(
    'decorator',
    [
        chainer.static_graph,
        chainer.static_graph(),
        chainer.static_graph(minimize_cache_size=False),
        chainer.static_graph(verbosity_level=2, enable_double_backprop=True),
    ],
)
def test_static_graph(decorator):
    class Model(chainer.Chain):
        @decorator
        def forward(self, x, *, factor=2):
            """Documentation."""
            return x * x * factor

    model = Model()
    assert Model.forward.__doc__ == 'Documentation.'
    for value in (1, 2):
        x = chainer.Variable(numpy.array(value, 'f'))
        y = model(x, factor=3)
        assert y.array == 3 * value**2
        y.backward()
        assert x.grad == 6 * value


def test_bad():
    with pytest.raises(TypeError):
        chainer.static_graph(unknown=1)
    with pytest.raises(TypeError):
        chainer.static_graph(1)
    with pytest.raises(TypeError, match='verbosity_level'):
        chainer.static_graph(verbosity_level='high')
    with pytest.raises(TypeError, match='decorates functions'):
        chainer.static_graph()(1)
    with pytest.raises(TypeError, match='decorates functions'):
        chainer.static_code(1)


def test_static_code():
    class C:
        @chainer.static_code
        def plain(self, *, inputs, outputs):
            outputs[0][...] = inputs[0] + 1

        @chainer.static_code()
        def returning(self, *, inputs):
            return [inputs[0] * 2]

    x, y = numpy.ones(3), numpy.zeros(3)
    assert C().plain(inputs=[x], outputs=[y]) is None
    assert (y == 2).all()
    assert (C().returning(inputs=[x])[0] == 2).all()


def test_static_forward_optimizations():
    class Double(chainer.FunctionNode):
        def forward(self, inputs):
            return (inputs[0] * 2,)

    (y,) = static_graph_utilities.static_forward_optimizations(Double(), (numpy.ones(3),))
    assert (y == 2).all()


class Plain(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = chainer.links.Linear(3, 4)
            self.bn = chainer.links.BatchNormalization(4)
        self.counts = []

    def compute(self, x):
        return chainer.functions.dropout(self.bn(self.l1(x)), 0.5)

    forward = compute


class Static(Plain):
    forward = chainer.static_graph(Plain.compute)


class StaticWithCode(Plain):
    @chainer.static_code
    def count(self, *, inputs, outputs):
        self.counts.append(1)
        outputs[0][...] = inputs[0] * 2

    @chainer.static_graph
    def forward(self, x):
        y = x.copy()
        self.count(inputs=[x], outputs=[y])
        return self.l1(y)


def _equal_models(*kinds):
    models = []
    for kind in kinds:
        numpy.random.seed(0)
        models.append(kind().to_device('native:0'))
    return models


@pytest.mark.chainerx
@pytest.mark.parametrize('train', [False, True])
def test_calls_without_graphs_are_compiled(train):
    plain, static = models = _equal_models(Plain, Static)
    compiled = Static.forward.__closure__[0].cell_contents
    calls, replays = compiled.calls, compiled.replays
    for i in range(10):
        x = chainer.get_device('native:0').send(numpy.full((2 + i // 6, 3), i, 'f'))
        ys = []
        with chainer.using_config('train', train), chainer.no_backprop_mode():
            for model in models:
                chainerx.random.seed(i)
                ys.append(model(x))
        assert (ys[0].array == ys[1].array).all()
        assert ys[0].requires_grad == ys[1].requires_grad
        assert (plain.bn.avg_mean == static.bn.avg_mean).all()
    assert compiled.replays >= replays + 6, compiled.report()
    with chainer.using_config('use_static_graph', False), chainer.no_backprop_mode():
        static(x)
    assert compiled.calls == calls + 10


@pytest.mark.chainerx
def test_calls_with_graphs_are_not():
    models = _equal_models(Plain, Static)
    compiled = Static.forward.__closure__[0].cell_contents
    calls = compiled.calls
    for i in range(5):
        x = chainer.get_device('native:0').send(numpy.full((2, 3), i, 'f'))
        for model in models:
            chainerx.random.seed(i)
            model.cleargrads()
            chainer.functions.sum(model(x) ** 2).backward()
        for a, b in zip(models[0].params(), models[1].params()):
            assert (a.grad == b.grad).all()
    assert compiled.calls == calls


@pytest.mark.chainerx
def test_within_a_compiled_function():
    gc.collect()  # finalizers of other tests' garbage would end a recording
    plain, static = _equal_models(Plain, Static)
    steps = [chainer.compile(model.__call__) for model in (plain, static)]
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        for i in range(5):
            x = chainer.get_device('native:0').send(numpy.full((2, 3), i, 'f'))
            a, b = [step(x).array for step in steps]
            assert (a == b).all()
    assert steps[1].replays == steps[0].replays == 3, steps[1].report()


@pytest.mark.chainerx
def test_static_code_runs_in_every_call():
    (model,) = _equal_models(StaticWithCode)
    with chainer.no_backprop_mode():
        for i in range(6):
            x = chainer.get_device('native:0').send(numpy.full((2, 3), i, 'f'))
            y = model(x)
            expected = chainer.functions.linear(x * 2, model.l1.W, model.l1.b)
            assert (y.array == expected.array).all()
            assert len(model.counts) == i + 1
