import io
import os
import pickle
import zipfile

import numpy
import pytest

import chainer
from chainer import testing
from chainer.serializers import _none_marker, npz


class Model(chainer.Chain):
    def __init__(self, size=3, seed=0):
        super().__init__()
        with self.init_scope():
            self.l1 = chainer.links.Linear(size, 2)
            self.late = chainer.links.Linear(None, 2)
        self.add_persistent('count', seed)
        self.add_persistent('text', 'abc' * seed)
        self.l1.W.array[...] = seed


def state(obj):
    return {key: value.tolist() for key, value in npz.serialize(obj).items()}


def saved(obj, **kwargs):
    f = io.BytesIO()
    npz.save_npz(f, obj, **kwargs)
    return f.getvalue()


class TestDictionarySerializer:
    def test_paths(self):
        s = npz.DictionarySerializer()
        assert s('/x', 1) == 1
        assert s['/child/']['y']('z', None) is None
        assert set(s.target) == {'x', 'child/y/z'}
        assert s.target['child/y/z'][()] is None

    def test_prefix_and_target(self):
        target = {}
        npz.DictionarySerializer(target, 'p/')('x', 1)
        assert target == {'p/x': 1}

    def test_array_is_not_copied(self):
        x = numpy.zeros(3)
        s = npz.DictionarySerializer()
        assert s('x', x) is x
        assert s.target['x'] is x

    def test_objects(self):
        with pytest.raises(TypeError, match='serialize'):
            npz.DictionarySerializer()('x', object())


@pytest.mark.parametrize(
    'value,stored,expected',
    [
        (None, numpy.arange(2), numpy.arange(2)),
        (0, numpy.asarray(3), 3),
        (0.0, numpy.asarray(3), 3.0),
        (True, numpy.asarray(False), False),
        ('', numpy.asarray('abc'), 'abc'),
        ('', numpy.asarray(b'abc'), 'abc'),
        ([0], numpy.arange(2), [0, 1]),
        ((), numpy.asarray([1.5, 2]), (1.5, 2.0)),
        ([1], numpy.zeros(0), []),
        (5, numpy.asarray(None), None),
        (numpy.float32(1), numpy.asarray(2.0), numpy.float32(2)),
    ],
)
def test_loaded_values(value, stored, expected):
    out = npz.NpzDeserializer({'x': stored})('x', value)
    assert type(out) is type(expected)
    numpy.testing.assert_array_equal(out, expected)


def test_array_is_filled_in_place():
    x = numpy.zeros((2, 2), 'f')
    out = npz.NpzDeserializer({'a/x': numpy.arange(4.0).reshape(2, 2)})['a']('x', x)
    assert out is x
    testing.assert_allclose(x, [[0, 1], [2, 3]])


@pytest.mark.parametrize(
    'value,stored,error',
    [
        (numpy.zeros(2), numpy.zeros(3), ValueError),
        (numpy.zeros((2, 2)), numpy.zeros(2), ValueError),
        (numpy.zeros(2, 'i'), numpy.zeros(2, 'f'), TypeError),
        (numpy.zeros(2), numpy.asarray(['a', 'b']), TypeError),
        (3, numpy.zeros(2), TypeError),
        (3, numpy.asarray(2.5), TypeError),
        (True, numpy.asarray(2), TypeError),
        ('', numpy.zeros(2), TypeError),
        (3, numpy.asarray([None, None]), ValueError),
    ],
)
def test_mismatch(value, stored, error):
    with pytest.raises(error, match='x'):
        npz.NpzDeserializer({'x': stored})('x', value)


@pytest.mark.parametrize('compression', [True, False])
def test_round_trip(tmp_path, compression):
    path = tmp_path / 'file'  # no suffix is added
    npz.save_npz(path, Model(seed=2), compression=compression)
    model = Model()
    npz.load_npz(str(path), model)
    assert state(model) == state(Model(seed=2))
    assert os.listdir(tmp_path) == ['file']
    with numpy.load(path) as f:
        testing.assert_allclose(f['l1/W'], model.l1.W.array)


def test_numpy_reads_none():
    with numpy.load(io.BytesIO(saved(Model())), allow_pickle=True) as f:
        assert f['late/W'][()] is None


def test_same_content_gives_same_bytes():
    assert saved(Model(seed=1)) == saved(Model(seed=1))


def test_files_of_numpy_savez(tmp_path):
    # as Chainer 4 to 7 wrote them
    path = tmp_path / 'file.npz'
    numpy.savez_compressed(path, **npz.serialize(Model(seed=3)))
    model = Model()
    npz.load_npz(path, model)
    assert state(model) == state(Model(seed=3))


def test_leading_slashes():
    arrays = {'/' + key: value for key, value in npz.serialize(Model(seed=3)).items()}
    model = Model()
    npz.NpzDeserializer(arrays).load(model)
    assert state(model) == state(Model(seed=3))


@pytest.mark.parametrize('path', ['updater/model:main/', 'model_'])
def test_path(path):
    s = npz.DictionarySerializer(path=path)
    s.save(Model(seed=3))
    f = io.BytesIO()
    numpy.savez(f, **s.target)
    f.seek(0)
    model = Model()
    npz.load_npz(f, model, path=path)
    assert state(model) == state(Model(seed=3))


@pytest.mark.parametrize(
    'ignore',
    [
        'l1/W',
        ['l1/W'],
        ('x', 'l1/W'),
        lambda name: name == 'l1/W',
        ['y', lambda name: name.endswith('1/W')],
    ],
)
def test_ignore_names(ignore):
    model = Model()
    npz.load_npz(io.BytesIO(saved(Model(seed=3))), model, ignore_names=ignore)
    assert model.count == 3
    testing.assert_allclose(model.l1.W.array, 0)


def test_names_are_literal():
    content = saved(Model())
    with pytest.raises(KeyError, match='l1/Wcount'):
        npz.load_npz(io.BytesIO(content), Model(), path='l1/W')
    model = Model()
    model.l1.W.array[...] = 5
    npz.load_npz(io.BytesIO(content), model, ignore_names='/l1/W')
    testing.assert_allclose(model.l1.W.array, Model().l1.W.array)


def test_save_dictionary(tmp_path):
    arrays = {'l1/W': numpy.arange(3), 'x': 2.5, 'none': None}
    npz.save_npz(tmp_path / 'a.npz', arrays)
    with numpy.load(tmp_path / 'a.npz', allow_pickle=True) as file:
        assert sorted(file.files) == ['l1/W', 'none', 'x']
        numpy.testing.assert_array_equal(file['l1/W'], [0, 1, 2])
        assert file['x'] == 2.5 and file['none'][()] is None
    model = Model(seed=3)
    f = io.BytesIO()
    npz.save_npz(f, npz.serialize(model), compression=False)
    f.seek(0)
    other = Model()
    npz.load_npz(f, other)
    assert state(other) == state(model)


def test_target_of_wrong_type():
    with pytest.raises(TypeError, match='file'):
        npz.save_npz(3, Model())
    with pytest.raises(TypeError, match='file'):
        npz.load_npz(3, Model())


def test_ignore_names_of_wrong_type():
    with pytest.raises(ValueError, match='ignore_names'):
        npz.load_npz(io.BytesIO(saved(Model())), Model(), ignore_names=3)


def test_strict():
    class Smaller(chainer.Chain):
        pass

    small = Smaller()
    small.add_persistent('count', 4)
    content = saved(small)
    model = Model()
    with pytest.raises(KeyError, match='text'):
        npz.load_npz(io.BytesIO(content), model)
    npz.load_npz(io.BytesIO(content), model, strict=False)
    assert model.count == 4


# -- damaged and hostile files


def assert_refused(content, match=None, error=ValueError):
    model = Model(seed=5)
    before = state(model)
    with pytest.raises(error, match=match):
        npz.load_npz(io.BytesIO(content), model)
    assert state(model) == before
    assert not model.late.W.is_initialized


def test_truncated():
    content = saved(Model())
    for size in range(0, len(content), 97):
        for error in ValueError, OSError, zipfile.BadZipFile:
            assert_refused(content[:size], 'damaged', error)


@pytest.mark.parametrize('compression', [True, False])
def test_bit_flips_in_data(compression):
    content = saved(Model(), compression=compression)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        infos = archive.infolist()
    for info in infos:
        start = info.header_offset + 30 + len(info.filename)
        position = start + 20 + info.compress_size // 2
        flipped = bytearray(content)
        flipped[position] ^= 4
        assert_refused(bytes(flipped))


def test_foreign_files():
    array = io.BytesIO()
    numpy.save(array, numpy.zeros(3))
    other = io.BytesIO()
    with zipfile.ZipFile(other, 'w') as archive:
        archive.writestr('readme.txt', 'hello')
    for content in (b'', b'hello', array.getvalue(), pickle.dumps([1]), other.getvalue()):
        assert_refused(content, 'cannot load')


class Boom:
    def __reduce__(self):
        return (os._exit, (1,))


@pytest.mark.parametrize(
    'hostile', [numpy.asarray(Boom()), numpy.asarray([None, None]), numpy.asarray({'a': 1})]
)
def test_objects_are_refused(hostile):
    f = io.BytesIO()
    numpy.savez(f, **{**npz.serialize(Model()), 'count': hostile})
    assert_refused(f.getvalue(), 'Python objects')


def test_marker_with_appendix_is_refused():
    assert not _none_marker.is_none_marker(_none_marker.MARKER + pickle.dumps(Boom()))
    assert not _none_marker.is_none_marker(b'')


@pytest.mark.parametrize('protocol', [1, 2, 3, 4, 5])
@pytest.mark.parametrize('module', [b'numpy.core', b'numpy._core'])
def test_markers_of_all_protocols(protocol, module):
    pickled = pickle.dumps(numpy.asarray(None), protocol)
    if protocol < 4:
        for name in (b'numpy.core', b'numpy._core'):
            pickled = pickled.replace(name + b'.multiarray', module + b'.multiarray')
    assert _none_marker.is_none_marker(pickled)


def test_marker_of_python2():
    pickled = (
        b'\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85'
        b'U\x01b\x87Rq\x03(K\x01)cnumpy\ndtype\nq\x04U\x02O8K\x00K\x01\x87Rq\x05(K\x03U\x01|NNN'
        b'J\xff\xff\xff\xffJ\xff\xff\xff\xffK?tb\x89]q\x06Natb.'
    )
    assert _none_marker.is_none_marker(pickled)


def test_model_of_another_shape():
    # The last value does not fit: by then 'l1', 'count' and 'late/W' have been loaded.
    other = Model(seed=7)
    other.late(numpy.zeros((1, 4), 'f'))
    f = io.BytesIO()
    numpy.savez(f, **{**npz.serialize(other), 'late/b': numpy.zeros(3)})
    assert_refused(f.getvalue(), 'late/b')
    assert_refused(saved(Model(size=4)), 'l1/W')


def test_object_of_another_class():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def serialize(self, serializer):
            self.a = serializer('a', self.a)
            self.b = serializer('b', self.b)

    pair = Pair(1, 2)
    npz.load_npz(io.BytesIO(saved(Pair(3, 4))), pair)
    assert vars(pair) == {'a': 3, 'b': 4}
    with pytest.raises(TypeError, match="'b'"):
        npz.load_npz(io.BytesIO(saved(Pair(5, 'text'))), pair)
    assert vars(pair) == {'a': 3, 'b': 4}


def test_failed_save_keeps_old_file(tmp_path):
    class Broken(chainer.Link):
        def serialize(self, serializer):
            serializer('x', object())

    path = tmp_path / 'file'
    path.write_bytes(b'old')
    with pytest.raises(TypeError):
        npz.save_npz(path, Broken())
    assert path.read_bytes() == b'old'
    assert os.listdir(tmp_path) == ['file']


def test_full_disk_keeps_old_file(tmp_path, monkeypatch):
    path = tmp_path / 'file'
    path.write_bytes(b'old')

    def fail(*args):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(os, 'fsync', fail)
    with pytest.raises(OSError, match='No space'):
        npz.save_npz(path, Model())
    assert path.read_bytes() == b'old'
    assert os.listdir(tmp_path) == ['file']


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        npz.load_npz(tmp_path / 'missing', Model())
