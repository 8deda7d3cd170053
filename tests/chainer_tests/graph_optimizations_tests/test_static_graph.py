import numpy
import pytest

import chainer
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
