"""Tables of names that other libraries give to weights."""

import io

import numpy as np
import pytest
from helpers.file_formats import state

import chainer
import chainer.links as L
from chainer import serializers
from chainer.serializers import NameTable, Weight


def f(*shape):
    return np.arange(np.prod(shape), dtype='f').reshape(shape)


class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.layers = chainer.ChainList(L.Linear(3, 2), L.Linear(2, 2))
            self.norm = L.BatchNormalization(2)
            self.query = L.Linear(3, 2, nobias=True)
            self.value = L.Linear(3, 4, nobias=True)


TABLE = NameTable(
    [
        Weight('block.{i}.kernel', 'layers/{i}/W', transpose=True),
        ('block.{i}.bias', 'layers/{i}/b'),
        ('scale', 'norm/gamma'),
        ('norm.{name}', 'norm/{name}'),
        Weight('steps', 'norm/N', optional=True),
        Weight('fused', ('query/W', 'value/W'), transpose=True),
    ],
    ignore=r'head\..*',
    rename={r'^model\.': '', r'gain$': 'scale'},
)
# The first row of a name counts, so that `steps` is never asked for here.
TENSORS = {
    'model.block.0.kernel': f(3, 2),
    'model.block.0.bias': f(2),
    'model.block.1.kernel': f(2, 2) + 10,
    'model.block.1.bias': f(2) + 10,
    'gain': f(2) + 20,
    'norm.beta': f(2) + 30,
    'norm.avg_mean': f(2) + 40,
    'norm.avg_var': f(2) + 50,
    'norm.N': np.array(3),
    'fused': f(3, 6),
    'head.weight': f(9),
}


def test_load():
    model = Model()
    TABLE.load(TENSORS, model)
    np.testing.assert_array_equal(model.layers[0].W.array, [[0, 2, 4], [1, 3, 5]])
    np.testing.assert_array_equal(model.layers[1].W.array, [[10, 12], [11, 13]])
    np.testing.assert_array_equal(model.layers[1].b.array, [10, 11])
    np.testing.assert_array_equal(model.norm.gamma.array, [20, 21])
    np.testing.assert_array_equal(model.norm.avg_var, [50, 51])
    assert model.norm.N == 3
    fused = np.concatenate([model.query.W.array, model.value.W.array])
    np.testing.assert_array_equal(fused, f(3, 6).T)
    assert model.query.W.array.flags.c_contiguous


def test_load_from_a_file(tmp_path):
    serializers.save_safetensors(tmp_path / 'file', TENSORS)
    model, expected = Model(), Model()
    TABLE.load(TENSORS, expected)
    with serializers.open_safetensors(tmp_path / 'file') as tensors:
        TABLE.load(tensors, model)
    assert state(model) == state(expected)


def test_export_is_the_inverse():
    model = Model()
    TABLE.load(TENSORS, model)
    actual = TABLE.export(model)
    for theirs, array in TENSORS.items():
        name = theirs.removeprefix('model.').replace('gain', 'scale')
        if name != 'head.weight':
            np.testing.assert_array_equal(actual.pop(name), array, name)
    assert actual == {}


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
def test_dtypes(dtype):
    model = Model()
    TABLE.load(
        {name: array.astype(dtype) for name, array in TENSORS.items()} | {'norm.N': 3}, model
    )
    assert all(param.dtype == np.float32 for param in model.params())
    np.testing.assert_array_equal(model.layers[1].b.array, [10, 11])


def test_optional():
    table = NameTable([('{name}', '{name}'), Weight('steps', 'N', optional=True)][::-1])
    link = L.BatchNormalization(2)
    link.N = 5
    tensors = {name: f(2) for name in ('gamma', 'beta', 'avg_mean', 'avg_var')}
    table.load(tensors, link)
    assert link.N == 5
    table.load(tensors | {'steps': np.array(7)}, link)
    assert link.N == 7
    assert 'steps' in table.export(link)


def without(*names):
    return {name: array for name, array in TENSORS.items() if name not in names}


@pytest.mark.parametrize(
    ('tensors', 'message'),
    [
        (without('fused', 'gain'), r'missing: scale, fused'),
        (TENSORS | {'block.7.bias': f(2)}, r'unexpected: block\.7\.bias'),
        (TENSORS | {'fused': f(6, 3)}, r'wrong: fused has the shape \(6, 3\), \(3, 6\) is'),
        (TENSORS | {'gain': f(3)}, r'wrong: gain has the shape \(3,\), \(2,\) is expected'),
        (TENSORS | {'gain': f(2) + 1j}, r'wrong: gain has the dtype complex\d+, float32 is'),
        (TENSORS | {'scale': f(2)}, r'the same: gain and scale'),
        (
            without('fused') | {'gain': f(2, 2), 'norm.beta': f(1), 'x': f(1), 'y': f(2)},
            r'missing: fused\n *unexpected: x, y\n *wrong: norm.beta .*, gain ',
        ),
        ({}, r'missing: block\.0\.kernel, .*, fused$'),
        ({str(i): f(1) for i in range(10**4)}, r'unexpected: 0, 1, .* and 9950 more'),
    ],
)
def test_differences(tensors, message):
    model = Model()
    before = state(model)
    with pytest.raises(ValueError, match='weights do not fit the model:(?s:.*)' + message):
        TABLE.load(tensors, model)
    assert state(model) == before


def test_a_damaged_array_changes_nothing():
    file = io.BytesIO()
    serializers.save_safetensors(file, TENSORS)
    model = Model()
    before = state(model)
    with serializers.open_safetensors(file) as tensors:
        file.truncate(len(file.getvalue()) - 8)  # after the header was read
        with pytest.raises(ValueError, match='damaged'):
            TABLE.load(tensors, model)
    assert state(model) == before


def test_rows_are_missing():
    model = Model()
    for action in (
        lambda: TABLE.export(L.Scale(W_shape=(2,))),
        lambda: TABLE.load({}, L.Scale(1, (2,))),
    ):
        with pytest.raises(ValueError, match="no row for 'W'"):
            action()
    del model.value
    with pytest.raises(ValueError, match=r"has only \['query/W'\] of what 'fused' holds"):
        TABLE.export(model)


def test_parameters_without_shapes():
    link = L.Linear(None, 2)
    NameTable([Weight('w', 'W', transpose=True), Weight('b', 'b')]).load(
        {'w': f(3, 2), 'b': f(2)}, link
    )
    assert link.W.shape == (2, 3)
    pair = chainer.Sequential(L.Linear(None, 2, nobias=True), L.Linear(None, 2, nobias=True))
    table = NameTable([Weight('w', ('0/W', '1/W'))])
    with pytest.raises(ValueError, match=r"w holds \['0/W', '1/W'\], whose sizes"):
        table.load({'w': f(4, 3)}, pair)
    with pytest.raises(ValueError, match='no data yet: 0/W or 1/W'):
        table.export(pair)


def test_names_match_whole_parts():
    link = chainer.Sequential(L.Linear(1, 1, nobias=True))
    with pytest.raises(ValueError, match='no row'):
        NameTable([('x', 'W'), ('{i}', '{i}')]).export(link)
    assert list(NameTable([('x{i}.y', '{i}/W')]).export(link)) == ['x0.y']


@pytest.mark.chainerx
def test_chainerx():
    model = Model()
    model.to_chx()
    TABLE.load(TENSORS, model)
    np.testing.assert_array_equal(
        chainer.backends.cuda.to_cpu(model.layers[0].W.array), [[0, 2, 4], [1, 3, 5]]
    )
    np.testing.assert_array_equal(TABLE.export(model)['fused'], f(3, 6))
