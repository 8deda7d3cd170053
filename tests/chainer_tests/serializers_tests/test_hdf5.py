import sys

import numpy
import pytest

import chainer
from chainer import testing
from chainer.serializers import hdf5, npz

h5py = pytest.importorskip('h5py')


class Model(chainer.Chain):
    def __init__(self, seed=0):
        super().__init__()
        with self.init_scope():
            self.l1 = chainer.links.Linear(30, 20)
            self.late = chainer.links.Linear(None, 2)
        self.add_persistent('count', seed)
        self.add_persistent('text', 'abc' * seed)
        self.add_persistent('nothing', None)
        self.l1.W.array[...] = seed


def state(obj):
    return {key: value.tolist() for key, value in npz.serialize(obj).items()}


@pytest.mark.parametrize('compression', [4, 0, None])
def test_round_trip(tmp_path, compression):
    path = tmp_path / 'model.h5'
    hdf5.save_hdf5(path, Model(seed=2), compression=compression)
    model = Model()
    hdf5.load_hdf5(path, model)
    assert state(model) == state(Model(seed=2))
    with h5py.File(path) as f:
        testing.assert_allclose(f['l1/W'][()], 2)


@pytest.mark.parametrize('dtype', ['e', 'f', 'd', 'i', 'q', '?', 'F'])
@pytest.mark.parametrize('shape', [(), (1,), (0,), (2, 3)])
def test_arrays(tmp_path, dtype, shape):
    x = numpy.ones(shape, dtype)
    with h5py.File(tmp_path / 'x', 'w') as f:
        hdf5.HDF5Serializer(f)['a']('x', x)
        y = numpy.zeros_like(x)
        assert hdf5.HDF5Deserializer(f)['a']('x', y) is y
    testing.assert_allclose(x, y)


def test_strict(tmp_path):
    with h5py.File(tmp_path / 'x', 'w') as f:
        strict = hdf5.HDF5Deserializer(f)
        with pytest.raises(KeyError, match="'/x'"):
            strict('x', 3)
        with pytest.raises(KeyError, match="'/child'"):
            strict['child']
        loose = hdf5.HDF5Deserializer(f, strict=False)
        assert loose('x', 3) == 3
        assert loose['child']['more']('x', 3) == 3


def test_damaged_file_leaves_model(tmp_path):
    path = tmp_path / 'model.h5'
    hdf5.save_hdf5(path, Model(seed=2))
    content = path.read_bytes()
    with h5py.File(path) as f:
        start = f['l1/W'].id.get_chunk_info(0).byte_offset
    flipped = bytearray(content)
    flipped[start + 10] ^= 1
    for damaged in (content[: len(content) // 2], b'hello', bytes(flipped)):
        path.write_bytes(damaged)
        model = Model(seed=5)
        before = state(model)
        with pytest.raises(OSError):
            hdf5.load_hdf5(path, model)
        assert state(model) == before


def test_file_of_wrong_type():
    with pytest.raises(TypeError):
        hdf5.load_hdf5(3, Model())


def test_other_model(tmp_path):
    path = tmp_path / 'model.h5'
    other = Model(seed=2)
    other.late = chainer.Link(W=(3, 3))
    hdf5.save_hdf5(path, other)
    model = Model(seed=5)
    before = state(model)
    with pytest.raises(KeyError, match='late/b'):
        hdf5.load_hdf5(path, model)
    assert state(model) == before


def test_without_h5py(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'h5py', None)
    for call in (
        lambda: hdf5.save_hdf5(tmp_path / 'x', Model()),
        lambda: hdf5.load_hdf5(tmp_path / 'x', Model()),
        lambda: hdf5.HDF5Serializer(None),
        lambda: hdf5.HDF5Deserializer(None),
    ):
        with pytest.raises(RuntimeError, match='h5py is not installed'):
            call()
