import copy
import functools
import pickle

import numpy
import pytest
from helpers.programs import run_python

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


class Wrapper:
    """What a decorator without ``__wrapped__`` makes of a lambda function."""

    __name__ = '<lambda>'

    def __call__(self, x):
        return x


def test_str_of_lambda():
    model = chainer.Sequential(
        L.Linear(2, 3),
        lambda x: F.leaky_relu(x, slope=0.2),
        eval('lambda x: x'),
        functools.update_wrapper(functools.partial(int), lambda x: F.relu(x)),
        Wrapper(),
    )
    assert str(model).splitlines()[:3] == [
        'Sequential(',
        '  (0): Linear(in_size=2, out_size=3, nobias=False),',
        '  (1): lambda x: F.leaky_relu(x, slope=0.2),',
    ]
    assert '  (2): <function <lambda> at' in str(model)
    assert 'lambda x: F.relu(x)' in str(model).splitlines()[4]
    assert 'Wrapper object at' in str(model).splitlines()[5]


def test_str_of_lambda_from_a_string():
    """The first line of the program is not its source, whatever that line is."""
    program = """f = lambda x: 'in the program'
import chainer
print(chainer.Sequential(f, eval('lambda x: x')))"""
    output = run_python(program).stdout
    assert output.splitlines()[2].startswith('  (1): <function <lambda> at')
    assert 'program' not in output


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


@pytest.mark.parametrize('layer', [double, L.Linear(1, 1)])
def test_positions_to_insert_at(model, layer):
    layers = list(model)
    for i in range(-3, 4):
        other = chainer.Sequential(*layers)
        other.insert(i, layer)
        expected = [*layers]
        expected.insert(i, layer)
        assert list(other) == expected
    children = list(model.children())
    for i in -4, 4, 100:
        with pytest.raises(IndexError, match=f'{i} is not between -3 and 3'):
            model.insert(i, layer)
        assert list(model) == layers and list(model.children()) == children
    empty = chainer.Sequential()
    empty.insert(0, layer)
    assert list(empty) == [layer]


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


def _sequential(*spec):
    """Sequential of a function for each 0 and of a link of n outputs for each n."""
    return chainer.Sequential(*[L.Linear(1, n) if n else F.relu for n in spec])


def _sizes(model):
    """Numbers of outputs of the links, in the order of their names in files."""
    return [param.shape[0] for name, param in sorted(model.namedparams()) if name[-1] == 'W']


@pytest.mark.parametrize(
    'spec, expected',
    [
        ([1], [1]),
        ([1, 2], [1, 2]),
        ([1, 2, 3], [1, 3, 2]),
        ([1, 2, 3, 4], [1, 4, 3, 2]),
        ([1, 0, 2, 0, 3], [1, 3, 2]),
        ([1, 0, 2, 0, 3, 0, 4], [1, 4, 3, 2]),
        ([0, 1, 2, 3], [1, 2, 3]),
        ([0, 1, 2, 3, 4], [1, 2, 4, 3]),
        ([0, 0, 1, 2, 3, 4], [1, 2, 3, 4]),
        ([1, 2, 0, 3, 0, 4], [1, 4, 3, 2]),
        ([0, 1, 0, 2, 0, 3, 0, 4], [1, 2, 4, 3]),
        ([1, 0, 0, 2, 3, 4, 5], [1, 5, 4, 3, 2]),
    ],
)
def test_numbers_of_links(spec, expected):
    model = _sequential(*spec)
    assert _sizes(model) == expected
    assert [link.W.shape[0] for link in model.children()] == expected
    assert [link.name for link in model.children()] == list(map(str, range(len(expected))))
    assert [link.W.shape[0] for link in model if link is not F.relu] == [n for n in spec if n]
    for other in (
        model.copy(),
        model.copy('copy'),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        model[:],
        model + chainer.Sequential(),
        chainer.Sequential(model[:1], model[1:]).flatten(),
    ):
        assert _sizes(other) == expected


def test_numbers_of_links_after_changes():
    model = _sequential(1, 0, 2, 3)
    model.insert(0, L.Linear(1, 9))
    assert _sizes(model) == [9, 1, 3, 2]
    model.extend(_sequential(4, 5))
    assert _sizes(model) == [9, 5, 4, 1, 3, 2]
    assert model.pop().W.shape == (5, 1)
    assert _sizes(model) == [9, 4, 1, 3, 2]
    del model[0]
    assert _sizes(model) == [4, 1, 3, 2]
    model.remove(model[2])
    assert _sizes(model) == [4, 1, 3]
    model.insert(-1, L.Linear(1, 6))
    assert _sizes(model) == [4, 6, 1, 3]
    assert [getattr(link, 'out_size', 0) for link in model] == [1, 0, 3, 6, 4]
    model[-1] = L.Linear(1, 7)
    assert _sizes(model) == [6, 7, 1, 3]
    with pytest.raises(IndexError):
        model[5] = F.relu
    model[1:3] = [F.tanh]
    assert list(model)[1] is F.tanh and len(model) == 4
    model.remove_by_layer_type('Linear')
    assert list(model) == [F.tanh] and list(model.children()) == []
    model.clear()
    assert len(model) == 0


def test_numbers_of_repeated_links():
    assert [link.name for link in L.Linear(2, 2).repeat(4)] == ['0', '3', '2', '1']
