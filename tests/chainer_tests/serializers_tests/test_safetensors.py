"""The safetensors format, beside the package of that name, and files made to do harm.

See ``test_mutated_files.py``, too.
"""

import io
import json
import os
import struct

import numpy as np
import pytest
from helpers.file_formats import state
from helpers.memory import little_memory

import chainer
import chainer.links as L
from chainer import serializers

DTYPES = [
    'bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64',
    'float16', 'float32', 'float64', 'complex64',
]  # fmt: skip
SHAPES = [(), (0,), (3,), (2, 0, 3), (2, 3, 4)]


def arrays_of_all_kinds():
    rng = np.random.RandomState(0)
    arrays = {}
    for dtype in DTYPES:
        for shape in SHAPES:
            arrays[f'{dtype}/{shape}'] = np.asarray(rng.uniform(0, 9, shape)).astype(dtype)
    arrays['transposed'] = rng.uniform(size=(3, 4)).astype('f').T
    arrays['strided'] = np.arange(20)[::-3]
    arrays['big-endian'] = np.arange(3).astype('>f4')
    arrays['näme of "any" kind'] = np.array([np.nan, np.inf, -0.0])
    return arrays


def assert_same(actual, expected):
    assert sorted(actual) == sorted(expected)
    for key, array in expected.items():
        assert actual[key].shape == array.shape, key
        assert actual[key].dtype == array.dtype.newbyteorder('='), key
        np.testing.assert_array_equal(actual[key], array, key)


def saved(obj, **kwargs):
    f = io.BytesIO()
    serializers.save_safetensors(f, obj, **kwargs)
    return f.getvalue()


def opened(content):
    with serializers.open_safetensors(io.BytesIO(content)) as tensors:
        return dict(tensors)


def test_all_dtypes(tmp_path):
    arrays = arrays_of_all_kinds()
    serializers.save_safetensors(tmp_path / 'file', arrays, {'by': 'me'})
    with serializers.open_safetensors(tmp_path / 'file') as tensors:
        assert_same(tensors, arrays)
        assert tensors.metadata == {'by': 'me'}
        assert 'strided' in tensors
        assert 'none' not in tensors
        with pytest.raises(KeyError, match='none'):
            tensors['none']


def test_the_package_reads_what_we_write():
    package = pytest.importorskip('safetensors.numpy')
    arrays = arrays_of_all_kinds()
    assert_same(package.load(saved(arrays, metadata={'by': 'me'})), arrays)


def test_we_read_what_the_package_writes():
    package = pytest.importorskip('safetensors.numpy')
    arrays = {key: np.ascontiguousarray(a) for key, a in arrays_of_all_kinds().items() if a.ndim}
    arrays['big-endian'] = arrays['big-endian'].astype('f')
    assert_same(opened(package.save(arrays, {'by': 'me'})), arrays)


def test_bfloat16():
    ml_dtypes = pytest.importorskip('ml_dtypes')
    values = np.array([0, -0.0, 1, 3.140625, np.inf, -np.inf, np.nan, 1e-40, 3e38], 'f')
    array = values.astype(ml_dtypes.bfloat16)
    content = saved({'x': array, 'scalar': array[3]})
    assert b'"BF16"' in content
    found = opened(content)
    assert found['x'].dtype == np.float32
    np.testing.assert_array_equal(found['x'], array.astype('f'))
    assert found['scalar'] == np.float32(3.140625)
    package = pytest.importorskip('safetensors')
    read = dict(package.deserialize(content))['x']
    assert (read['dtype'], read['shape'], bytes(read['data'])) == ('BF16', [9], array.tobytes())


def make_model(seed):
    np.random.seed(seed)
    return chainer.Sequential(L.Linear(3, 4), L.BatchNormalization(4), L.Linear(4, 2))


@pytest.mark.parametrize('device', ['@numpy', pytest.param('native', marks=pytest.mark.chainerx)])
def test_models(device, tmp_path):
    model, other = make_model(0), make_model(1)
    model.to_device(device)
    other.to_device(device)
    serializers.save_safetensors(tmp_path / 'model', model)
    assert state(model) != state(other)
    serializers.load_safetensors(tmp_path / 'model', other)
    assert state(model) == state(other)


def test_parts_of_files():
    content = saved(make_model(0))
    part = L.Linear(3, 4)
    serializers.load_safetensors(io.BytesIO(content), part, path='0/')
    np.testing.assert_array_equal(part.W.array, make_model(0)[0].W.array)
    with pytest.raises(KeyError, match=r"'W' is not found .*Use path='0/'"):
        serializers.load_safetensors(io.BytesIO(content), part)
    serializers.load_safetensors(io.BytesIO(content), part, strict=False)
    serializers.load_safetensors(io.BytesIO(content), part, '2/', ignore_names=['2/W', '2/b'])


def test_parameters_without_data_take_the_shape_of_the_file():
    model = L.Linear(None, 2)
    serializers.load_safetensors(io.BytesIO(saved(L.Linear(3, 2, initialW=5))), model)
    assert model.W.array.tolist() == [[5] * 3] * 2
    assert model.W.array.flags.writeable


def test_a_wrong_shape_changes_nothing():
    arrays = {'W': np.ones((2, 3), 'f'), 'b': np.ones(3, 'f')}
    model = L.Linear(3, 2)
    before = state(model)
    with pytest.raises(ValueError, match="shape mismatch for 'b'"):
        serializers.load_safetensors(io.BytesIO(saved(arrays)), model)
    assert state(model) == before


@pytest.mark.parametrize(
    'value,match',
    [
        ({'x': None}, "'x': it is None"),
        ({'x': 'text'}, r"'x': it is an array of dtype <U4.*save_npz"),
        ({'x': np.zeros(2, 'complex128')}, 'complex128'),
        ({'x': object()}, 'object of type object'),
        (L.Linear(None, 2), "'W': it is None"),
    ],
)
def test_values_that_the_format_lacks(value, match, tmp_path):
    (tmp_path / 'file').write_bytes(b'old')
    with pytest.raises(TypeError, match=match):
        serializers.save_safetensors(tmp_path / 'file', value)
    assert (tmp_path / 'file').read_bytes() == b'old'
    assert os.listdir(tmp_path) == ['file']


@pytest.mark.parametrize('metadata', [{'a': 1}, {1: 'a'}])
def test_wrong_metadata(metadata):
    with pytest.raises(TypeError, match='metadata must hold texts'):
        saved({}, metadata=metadata)
    with pytest.raises(ValueError, match='__metadata__'):
        saved({'__metadata__': np.zeros(1)})


@pytest.mark.parametrize('file', [3, None])
def test_wrong_files(file):
    with pytest.raises(TypeError, match='file must be a path'):
        serializers.save_safetensors(file, {})
    with pytest.raises(TypeError, match='file must be a path'):
        serializers.load_safetensors(file, L.Linear(1, 1))


# -- hostile files


def file_of(header, data=b'', size=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack('<Q', len(text) if size is None else size) + text + data


def entry(dtype='F32', shape=(2,), offsets=(0, 8), **others):
    return {'dtype': dtype, 'shape': shape, 'data_offsets': offsets, **others}


TWO = b'{"a":%s,"a":%s}' % ((json.dumps(entry(shape=[0], offsets=[0, 0])).encode(),) * 2)
HOSTILE = {
    'empty': (b'', 'shorter than'),
    'short': (b'1234567', 'shorter than'),
    'longer than the file': (file_of({}, size=10), 'a header of 10 bytes'),
    'longer than all memory': (file_of({}, size=2**64 - 1), 'a header of'),
    'longer than the format allows': (file_of({}, size=100_000_001), 'a header of'),
    'no brace': (file_of(b' {}'), 'begin with a brace'),
    'a list': (file_of([]), 'begin with a brace'),
    'no JSON': (file_of(b'{"a": '), 'damaged'),
    'no text': (file_of(b'{"\xff": 1}'), 'damaged'),
    'nothing': (file_of(b''), 'begin with a brace'),
    'nested': (file_of(b'{"a":' + b'[' * 100000), 'nested too deeply|damaged'),
    'nested objects': (file_of(b'{"a":' * 20000), 'nested too deeply|damaged'),
    'duplicate names': (file_of(TWO), 'stands twice'),
    'duplicate keys': (file_of(b'{"a":{"dtype":"F32","dtype":"F32"}}'), 'stands twice'),
    'NaN': (file_of(b'{"a":{"dtype":"F32","shape":[NaN],"data_offsets":[0,0]}}'), 'NaN'),
    'infinite': (file_of(b'{"a":{"dtype":"F32","shape":[1e999],"data_offsets":[0,0]}}'), 'size'),
    'fraction': (file_of({'a': entry(shape=[2.0])}, bytes(8)), 'no size'),
    'negative': (file_of({'a': entry(shape=[-2])}, bytes(8)), 'no size'),
    'negative offset': (file_of({'a': entry(offsets=[-8, 0])}, bytes(8)), 'no size'),
    'bool': (file_of({'a': entry(shape=[True, 2])}, bytes(8)), 'no size'),
    'text': (file_of({'a': entry(shape=['2'])}, bytes(8)), 'no size'),
    'overflow': (file_of({'a': entry(shape=[2**62, 4])}, bytes(8)), 'claims shape'),
    'overflow to right': (file_of({'a': entry(shape=[2**61 + 1, 2])}, bytes(8)), 'claims shape'),
    'huge number': (file_of(b'{"a":{"shape":[' + b'9' * 9000 + b']}}'), 'damaged'),
    'too large': (file_of({'a': entry(shape=[3])}, bytes(8)), 'claims shape'),
    'backwards': (file_of({'a': entry(shape=[0], offsets=[8, 0])}, bytes(8)), 'claims shape'),
    'gap at the start': (file_of({'a': entry(offsets=[8, 16])}, bytes(16)), 'next are at 0'),
    'gap at the end': (file_of({'a': entry()}, bytes(16)), 'have 8 bytes'),
    'truncated': (file_of({'a': entry()}, bytes(7)), 'have 8 bytes'),
    'overlap': (file_of({'a': entry(), 'b': entry(offsets=[4, 12])}, bytes(12)), 'next are at 8'),
    'the same': (file_of({'a': entry(), 'b': entry()}, bytes(8)), 'next are at 8'),
    'three offsets': (file_of({'a': entry(offsets=[0, 8, 8])}, bytes(8)), 'has an entry'),
    'unknown key': (file_of({'a': entry(other=1)}, bytes(8)), 'no entry'),
    'no shape': (file_of({'a': {'dtype': 'F32'}}, bytes(8)), 'no entry'),
    'no object': (file_of({'a': 3}), 'no entry'),
    'metadata': (file_of({'__metadata__': {'a': 1}}), 'more than texts'),
    'metadata, a list': (file_of({'__metadata__': [1]}), 'damaged'),
    'metadata, an entry': (file_of({'__metadata__': entry(shape=[0], offsets=[0, 0])}), 'damaged'),
    'dtype': (file_of({'a': entry(dtype=3)}, bytes(8)), 'has an entry'),
}


@pytest.mark.parametrize('name', HOSTILE)
def test_hostile_files(name):
    content, match = HOSTILE[name]
    model = L.Linear(3, 2)
    before = state(model)
    with little_memory(), pytest.raises(ValueError, match=match) as info:
        serializers.load_safetensors(io.BytesIO(content), model)
    assert 'cannot load' in str(info.value)
    assert isinstance(info.value, OSError)
    assert state(model) == before


def test_a_million_names():
    """The header is far larger than what it describes."""
    names = b','.join(
        [b'"%d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}' % i for i in range(1_000_000)]
    )
    content = file_of(b'{%s}' % names)
    with little_memory(), pytest.raises(ValueError, match='describes no more than 0 bytes'):
        serializers.load_safetensors(io.BytesIO(content), L.Linear(3, 2))


def test_a_dtype_that_numpy_lacks():
    content = file_of({'a': entry('F8_E4M3', [8]), 'W': entry('F32', [2], [8, 16])}, bytes(16))
    with serializers.open_safetensors(io.BytesIO(content)) as tensors:
        assert tensors['W'].tolist() == [0, 0]
        with pytest.raises(TypeError, match="'a': NumPy has no dtype like F8_E4M3"):
            tensors['a']
