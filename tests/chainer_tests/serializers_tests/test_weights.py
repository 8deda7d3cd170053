"""Weights in folders, in several files, and in checkpoints of PyTorch.

``torch_files`` are written by PyTorch 2.13 in both formats that it has had.
"""

import io
import json
import pathlib
import struct
import zipfile

import numpy as np
import pytest
from helpers.memory import little_memory

from chainer import links, serializers

FILES = pathlib.Path(__file__).parent / 'torch_files'
BASE = np.arange(24, dtype='f').reshape(4, 6)
EXPECTED = {
    'weight': BASE,
    'transposed': BASE.T,
    'part': BASE[1:3, ::2],
    'half': np.arange(3, dtype='f2'),
    'bfloat16': np.array([0, 0.333984375, 0.66796875], 'f'),
    'steps': np.array(7),
    'empty': np.zeros((0, 3), 'f'),
    'parameter': np.ones(2, 'f'),
    'flags': np.array([True, False]),
    'complex': np.array([1 + 2j], 'F'),
}


def assert_same(actual, expected):
    assert sorted(actual) == sorted(expected)
    for name, array in expected.items():
        assert actual[name].dtype == array.dtype, name
        assert actual[name].shape == array.shape, name
        np.testing.assert_array_equal(actual[name], array, name)


@pytest.mark.parametrize('name', ['zip.pth', 'old.pth'])
def test_torch(name):
    with serializers.open_weights(FILES / name) as tensors:
        assert_same(tensors, EXPECTED)
        assert tensors.find('weight').shape == (4, 6)
        with pytest.raises(KeyError, match='none'):
            tensors['none']


@pytest.mark.parametrize('old', [False, True])
def test_torch_itself(tmp_path, old):
    torch = pytest.importorskip('torch')
    base = torch.arange(24.0).reshape(2, 3, 4)
    tensors = {'x': base.permute(2, 0, 1), 'y': base[1:, ::2], 'z': base.double()}
    torch.save(tensors, tmp_path / 'file', _use_new_zipfile_serialization=not old)
    with serializers.open_weights(tmp_path / 'file') as actual:
        assert_same(actual, {name: tensor.numpy() for name, tensor in tensors.items()})


def test_torch_as_an_npz_file():
    with pytest.raises(ValueError, match=r'PyTorch wrote it: see .*\.open_weights\)'):
        serializers.load_npz(FILES / 'zip.pth', links.Linear(1, 1))


def save(folder, name, *keys):
    serializers.save_safetensors(folder / name, {key: BASE + ord(key) for key in keys})


def test_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match='none of model.safetensors, .*pytorch_model.bin'):
        with serializers.open_weights(tmp_path):
            pass
    (tmp_path / 'pytorch_model.bin').write_bytes((FILES / 'zip.pth').read_bytes())
    with serializers.open_weights(str(tmp_path)) as tensors:
        assert len(tensors) == len(EXPECTED)
    save(tmp_path, 'model.safetensors', 'a', 'b')
    with serializers.open_weights(tmp_path) as tensors:
        assert sorted(tensors) == ['a', 'b']


def index(folder, **names):
    path = folder / 'model.safetensors.index.json'
    path.write_text(json.dumps({'metadata': {'total_size': 1}, 'weight_map': names}))
    return path


def test_several_files(tmp_path):
    save(tmp_path, 'one', 'a', 'b')
    save(tmp_path, 'two', 'c')
    path = index(tmp_path, a='one', b='one', c='two')
    for source in path, tmp_path:
        with serializers.open_weights(source) as tensors:
            assert_same(tensors, {key: BASE + ord(key) for key in 'abc'})
            assert tensors.find('a').shape == (4, 6)


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        ('{', 'damaged'),
        ('[]', 'damaged'),
        ('{"weight_map": {"a": 3}}', 'more than names of files'),
        ('{"weight_map": {"a": "../one"}}', "'../one' is no file beside it"),
        ('{"weight_map": {"a": "/etc/passwd"}}', "'/etc/passwd' is no file beside it"),
        ('{"weight_map": {"a": ""}}', "'' is no file beside it"),
        ('{"weight_map": {"z": "one"}}', "one has no 'z'"),
        ('[' * 100_000, 'damaged'),
    ],
)
def test_bad_indices(tmp_path, content, message):
    save(tmp_path, 'one', 'a')
    path = tmp_path / 'x.index.json'
    path.write_text(content)
    with pytest.raises(ValueError, match=message), serializers.open_weights(path):
        pass


def test_lost_files(tmp_path):
    with pytest.raises(FileNotFoundError), serializers.open_weights(index(tmp_path, a='one')):
        pass
    with pytest.raises(FileNotFoundError), serializers.open_weights(tmp_path / 'none'):
        pass
    with pytest.raises(TypeError, match='file must be a path'), serializers.open_weights(3):
        pass


def archive(pickle, storage=bytes(16), order=b'little', **kwargs):
    file = io.BytesIO()
    with zipfile.ZipFile(file, 'w', **kwargs) as new:
        new.writestr('x/data.pkl', b'\x80\x02' + pickle + b'.')
        new.writestr('x/data/0', storage)
        new.writestr('x/byteorder', order)
    return io.BytesIO(file.getvalue())


def text(string):
    return b'X' + struct.pack('<I', len(string)) + string.encode()


def number(value):
    return b'J' + struct.pack('<i', value)


def tensor(size=4, offset=0, shape=(4,), strides=(1,), kind='FloatStorage', key='0', view=b''):
    storage = b'(' + text('storage') + b'ctorch\n' + kind.encode() + b'\n' + text(key) + text('cpu')
    storage += number(size) + view + b'tQ'
    sizes = [b'(' + b''.join(map(number, part)) + b't' for part in (shape, strides)]
    rest = number(offset) + b''.join(sizes) + b'\x89}'
    return b'ctorch._utils\n_rebuild_tensor_v2\n(' + storage + rest + b'tR'


def dictionary(value, name=None):
    return b'}' + (text('w') if name is None else name) + value + b's'


def test_good_archive():
    with serializers.open_weights(archive(dictionary(tensor()))) as tensors:
        assert_same(tensors, {'w': np.zeros(4, 'f')})


def test_big_endian():
    file = archive(dictionary(tensor()), np.arange(4, dtype='>f4').tobytes(), b'big')
    with serializers.open_weights(file) as tensors:
        assert_same(tensors, {'w': np.arange(4, dtype='f')})


HUGE = 2**31 - 1


@pytest.mark.parametrize(
    ('pickle', 'message'),
    [
        (b'cos\nsystem\n(' + text('false') + b'tR', 'an object of os.system, not only tensors'),
        (b'cbuiltins\neval\n(' + text('1') + b'tR', 'an object of builtins.eval'),
        (b'ccollections\nOrderedDict\n(]tR', 'an object of collections.OrderedDict'),
        (b'ctorch\nFloatStorage\n(tR', 'an object of torch.FloatStorage'),
        (b']', 'holds a list, not a dictionary'),
        (dictionary(number(3)), "'w' is no name of a tensor"),
        (dictionary(dictionary(tensor())), "'w' is no name of a tensor"),
        (dictionary(tensor(), number(1)), '1 is no name of a tensor'),
        (dictionary(tensor(), b']'), 'damaged'),
        (dictionary(tensor(kind='QUInt8Storage')), 'an object of torch.QUInt8Storage'),
        (dictionary(tensor(key='7')), 'damaged'),
        (dictionary(tensor(view=b')')), 'something else than a storage'),
        (dictionary(tensor(size=5, shape=(5,))), 'the storage 0 has less than 20 bytes'),
        (dictionary(tensor(shape=(5,))), 'larger than its storage'),
        (dictionary(tensor(offset=1)), 'larger than its storage'),
        (dictionary(tensor(strides=(2,))), 'larger than its storage'),
        (dictionary(tensor(shape=(HUGE,), strides=(0,))), 'larger than its storage'),
        (dictionary(tensor(shape=(HUGE,) * 9, strides=(0,) * 9)), 'larger than its storage'),
        (dictionary(tensor(shape=(-1,))), '-1 is no size'),
        (dictionary(tensor(strides=(-1,))), '-1 is no size'),
        (dictionary(tensor(offset=-1)), '-1 is no size'),
        (dictionary(tensor(strides=())), 'a tensor without a storage'),
        (b'r' + struct.pack('<I', 2**32 - 1), 'damaged'),  # a place that the pickle remembers
        (b'j' + struct.pack('<I', 2**32 - 1), 'damaged'),
        (b'X' + struct.pack('<I', 2**32 - 1), 'damaged'),
        (b't', 'damaged'),
        (b')))R', 'calls a value'),
        (b'c\xff\n\n', 'damaged'),
        (b'i os\nsystem\n', 'damaged'),
        (b'cos\nsystem\n)\x81', 'the instruction NEWOBJ'),
        (b'(cos\nsystem\no', 'the instruction OBJ'),
        (b'\x8c\x02os\x8c\x06system\x93', 'the instruction STACK_GLOBAL'),
    ],
)
def test_hostile_pickles(pickle, message):
    file = archive(pickle)
    with little_memory(), pytest.raises(ValueError, match=message) as error:
        with serializers.open_weights(file):
            pass
    assert isinstance(error.value, OSError)


def test_hostile_archives():
    good = dictionary(tensor())
    with pytest.raises(ValueError, match='it is compressed'):
        with serializers.open_weights(archive(good, compression=zipfile.ZIP_DEFLATED)):
            pass
    many = b'}(' + b''.join(text(str(i)) + b'N' for i in range(200_000)) + b'u'
    file = archive(many)
    with (
        little_memory(),
        pytest.raises(ValueError, match='the description of the tensors is too long'),
    ):
        with serializers.open_weights(file):
            pass
    empty = io.BytesIO()
    zipfile.ZipFile(empty, 'w').close()
    for content in empty.getvalue(), archive(good).getvalue()[:-30], b'', b'PK\3\4':
        with pytest.raises(ValueError, match='damaged'):
            with serializers.open_weights(io.BytesIO(content)):
                pass


@pytest.mark.parametrize('end', range(0, 1700, 50))
def test_truncated_old_files(end):
    content = (FILES / 'old.pth').read_bytes()[:end]
    with pytest.raises(ValueError, match='damaged'):
        with serializers.open_weights(io.BytesIO(content)) as tensors:
            dict(tensors)


def test_a_changed_size_in_an_old_file():
    content = (FILES / 'old.pth').read_bytes()
    assert content.count(struct.pack('<q', 24)) == 2
    content = content.replace(struct.pack('<q', 24), struct.pack('<q', 25), 1)
    with pytest.raises(ValueError, match='has 25 elements'):
        with serializers.open_weights(io.BytesIO(content)):
            pass
