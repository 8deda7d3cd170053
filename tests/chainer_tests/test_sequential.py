import copy
import pickle

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import testing


@pytest.fixture
def model():
    return chainer.Sequential(L.Linear(3, 4), F.relu, L.Linear(4, 2))


def double(x):
    return x * 2


def split(x):
    return x, x + 1


def test_forward(model):
    x = numpy.ones((1, 3), 'f')
    expected = model[2](F.relu(model[0](x)))
    testing.assert_allclose(model(x).array, expected.array)


def test_tuples_are_spread():
    seq = chainer.Sequential(split, lambda a, b: a * b, lambda a: [a, a], len)
    assert seq(3) == 2
    assert chainer.Sequential(lambda a, b: a - b)(5, 3) == 2


def test_children_are_the_links(model):
    assert [name for name, _ in model.namedparams()] == ['/0/W', '/0/b', '/1/W', '/1/b']
    assert list(model.children()) == [model[0], model[2]]


def test_str_of_lambda():
    model = chainer.Sequential(
        L.Linear(2, 3),
        lambda x: F.leaky_relu(x, slope=0.2),
        eval('lambda x: x'),
    )
    assert str(model).splitlines()[:3] == [
        'Sequential(',
        '  (0): Linear(in_size=2, out_size=3, nobias=False),',
        '  (1): lambda x: F.leaky_relu(x, slope=0.2),',
    ]
    assert '  (2): <function <lambda> at' in str(model)


def test_str(model):
    text = str(model)
    assert text.startswith('Sequential(\n  (0): Linear(in_size=3, out_size=4, nobias=False),\n')
    assert '  (1): <function relu' in text
    assert text.endswith('\n)')


def test_sequence_protocol(model):
    assert len(model) == 3
    assert list(model) == model._layers
    assert F.relu in model and F.sigmoid not in model
    assert model.index(F.relu) == 1
    assert model.count(F.relu) == 1
    with pytest.raises(ValueError):
        model.index(F.relu, 2)
    part = model[1:]
    assert isinstance(part, chainer.Sequential)
    assert list(part) == model._layers[1:]


def test_changes(model):
    first, relu, last = model
    model[1] = F.sigmoid
    assert list(model) == [first, F.sigmoid, last]
    middle = L.Linear(4, 4)
    model.insert(1, middle)
    assert list(model.children()) == [first, middle, last]
    assert [link.name for link in model.children()] == ['0', '1', '2']
    assert model.pop(1) is middle
    del model[1]
    assert list(model) == [first, last]
    model.remove(first)
    assert list(model.children()) == [last]
    model.extend([relu, first])
    assert list(model) == [last, relu, first]
    model.clear()
    assert list(model) == list(model.params()) == []


def test_layer_types(model):
    assert model.count_by_layer_type('Linear') == 2
    assert model.count_by_layer_type('relu') == 1
    model.remove_by_layer_type('Linear')
    assert list(model) == [F.relu]
    assert list(model.params()) == []
    with pytest.raises(ValueError, match='Linear'):
        model.remove_by_layer_type('Linear')


def test_add(model):
    both = model + chainer.Sequential(double)
    assert list(both) == [*model, double]
    with pytest.raises(ValueError, match='Sequential'):
        model + [double]


def test_flatten(model):
    nested = chainer.Sequential(chainer.Sequential(model, double), double)
    assert list(nested.flatten()) == [*model, double, double]


@pytest.mark.parametrize(
    'change',
    [
        lambda m: m.append(3),
        lambda m: m.insert(0, 3),
        lambda m: m.__setitem__(0, 3),
        lambda m: chainer.Sequential(3),
    ],
)
def test_not_callable(model, change):
    layers = list(model)
    with pytest.raises(ValueError, match='callable'):
        change(model)
    assert list(model) == layers


def test_remove_missing(model):
    with pytest.raises(ValueError, match='no layer'):
        model.remove(double)


def test_copy(model):
    shared, copied, initialized = [model.copy(mode) for mode in ('share', 'copy', 'init')]
    assert shared[0].W.array is model[0].W.array
    assert copied[0].W.array is not model[0].W.array
    testing.assert_allclose(copied[0].W.array, model[0].W.array)
    assert (initialized[0].W.array != model[0].W.array).any()
    with pytest.raises(ValueError):
        model.copy('other')


def test_copyparams(model):
    other = model.copy('init')
    other.copyparams(model)
    testing.assert_allclose(other[0].W.array, model[0].W.array)
    with pytest.raises(ValueError, match='Sequential'):
        model.copyparams(chainer.ChainList())


def test_pickle(model):
    model.append(double)
    restored = pickle.loads(pickle.dumps(model))
    x = numpy.ones((1, 3), 'f')
    testing.assert_allclose(restored(x).array, model(x).array)


def test_lambda(model):
    model.append(lambda x: x)
    with pytest.raises(ValueError, match='lambda'):
        pickle.dumps(model)
    assert len(copy.deepcopy(model)) == 4


def test_repeat(model):
    assert [len(layer) for layer in model.repeat(2)] == [3, 3]
