"""Files made to exhaust the memory or to read other files; see ``test_mutated_files.py``, too."""

import io
import os
import struct
import zipfile
import zlib

import numpy
import pytest
from helpers.file_formats import Model, npy, saved, state, trained_model
from helpers.memory import MEGABYTE, little_memory

from chainer import serializers


def assert_refused(load, match, error=ValueError):
    model = Model(seed=5)
    before = state(model)
    random_state = numpy.random.get_state()[1:3]
    with little_memory(), pytest.raises(error, match=match):
        load(model)
    assert state(model) == before
    assert not model.late.W.is_initialized
    numpy.testing.assert_equal(numpy.random.get_state()[1:3], random_state)


# -- npz


def npz_with(name, data, compression=zipfile.ZIP_DEFLATED, zeros=0):
    """The file of a model with another entry, which may end in many zeros."""
    f = io.BytesIO(saved(trained_model()))
    with zipfile.ZipFile(f) as archive:
        arrays = {key: archive.read(key) for key in archive.namelist()}
    arrays.pop(name, None)
    f = io.BytesIO()
    with zipfile.ZipFile(f, 'w', zipfile.ZIP_DEFLATED) as archive:
        for key, value in arrays.items():
            archive.writestr(key, value)
        info = zipfile.ZipInfo(name)
        info.compress_type = compression
        with archive.open(info, 'w') as member:
            member.write(data)
            for _ in range(zeros // MEGABYTE):
                member.write(bytes(MEGABYTE))
    return f.getvalue()


def load_npz(content, **kwargs):
    return lambda model: serializers.load_npz(io.BytesIO(content), model, **kwargs)


HUGE = '(1000000000000000,)'
NAME = 'l1/W.npy'  # an array whose shape the model knows
NEW = 'late/W.npy'  # an array whose shape the model takes from the file


@pytest.mark.parametrize(
    'name,data,match',
    [
        (NAME, npy(HUGE), 'claims an array'),
        (NEW, npy(HUGE), 'claims an array'),
        (NEW, npy('(3, 3)', bytes(35)), 'claims an array'),
        (NEW, npy('(3, 3)', bytes(37)), 'claims an array'),
        (NEW, npy('(-1, -9)', bytes(36)), 'no array has shape'),
        (NEW, npy(HUGE, descr="'|V0'"), 'no array has shape'),
        (NEW, npy('(3,)', bytes(36), "('<f4', (3,))"), 'no array has shape'),
        (NEW, npy('(' * 9000), 'damaged'),
        (NEW, npy('-' * 9000 + '1'), 'damaged'),
        (NEW, npy('(3, 3)', bytes(36), version=9), 'version'),
        (NEW, b'\x93NUMPY\x02\0\xff\xff\xff\xff' + b' ' * 100, 'damaged'),
        (NEW, npy('()', b'\x80\x04N.', "'|O'"), 'Python objects'),
        (NEW, npy('(2,)', bytes(16), "'|O'"), 'Python objects'),
        # Found after 'late/W' got its shape, which draws random numbers.
        ('late/b.npy', npy('(3,)', bytes(12)), 'shape mismatch'),
    ],
    ids=lambda value: value if isinstance(value, str) else '',
)
def test_headers_of_npz(name, data, match):
    assert_refused(load_npz(npz_with(name, data)), match)


def test_values_that_are_not_asked_for():
    content = npz_with('unused.npy', npy(f'({4 * MEGABYTE},)'), zeros=16 * MEGABYTE)
    assert len(content) < MEGABYTE // 10
    model = Model()
    with little_memory():
        load_npz(content)(model)
    assert state(model) == state(trained_model())


def test_other_shape_of_npz():
    content = npz_with(NAME, npy(f'({4 * MEGABYTE},)'), zeros=16 * MEGABYTE)
    assert_refused(load_npz(content), 'shape mismatch')
    content = npz_with('count.npy', npy(f'({4 * MEGABYTE},)'), zeros=16 * MEGABYTE)
    assert_refused(load_npz(content), 'int is expected', TypeError)


def test_long_header_of_npz():
    data = b'\x93NUMPY\x02\0' + struct.pack('<I', 16 * MEGABYTE)
    assert_refused(load_npz(npz_with(NEW, data, zeros=16 * MEGABYTE)), 'damaged')


@pytest.mark.parametrize('compression', [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compression_without_limit(compression):
    content = npz_with(NAME, npy('(2, 3)', bytes(24)), compression, zeros=16 * MEGABYTE)
    assert_refused(load_npz(content), 'compression')


@pytest.mark.parametrize('size', [0, 1000, 10**9, 2**32 - 1])
@pytest.mark.parametrize('field', ['compressed', 'uncompressed'])
def test_wrong_sizes_of_entries(size, field):
    content = bytearray(npz_with(NEW, npy(f'({10**9 // 4},)')))
    entry = content.index(b'PK\1\2', content.rindex(NEW.encode()) - 46)
    position = entry + (20 if field == 'compressed' else 24)
    content[position : position + 4] = struct.pack('<I', size)
    assert_refused(load_npz(bytes(content)), 'damaged')


def test_content_that_is_larger_than_its_entry_says():
    # The sizes of the entry fit the header, but the compressed data goes on.
    data = npy('(3, 3)', bytes(36))
    content = bytearray(npz_with(NEW, data, zeros=16 * MEGABYTE))
    entry = content.index(b'PK\1\2', content.rindex(NEW.encode()) - 46)
    content[entry + 24 : entry + 28] = struct.pack('<I', len(data))
    content[entry + 16 : entry + 20] = struct.pack('<I', zlib.crc32(data))
    model = Model()
    with little_memory():
        load_npz(bytes(content))(model)
    assert not model.late.W.array.any()


@pytest.mark.parametrize('strict', [True, False])
def test_damaged_names(strict):
    """An array whose name in the directory is damaged does not count as missing."""
    content = bytearray(saved(trained_model()))
    entry = content.rindex(NAME.encode())
    assert content[entry - 46 : entry - 42] == b'PK\1\2'
    content[entry] ^= 1
    load = load_npz(bytes(content), strict=strict)
    assert_refused(load, 'damaged.*File name in directory')


def test_truncated_files_on_disk(tmp_path):
    # Bad offsets are other errors for files on disk than for those in memory.
    path = tmp_path / 'model.npz'
    content = saved(trained_model())
    for size in range(0, len(content), 97):
        path.write_bytes(content[size:])
        for error in (ValueError, OSError, zipfile.BadZipFile) if size else ():
            assert_refused(lambda model: serializers.load_npz(path, model), 'model.npz', error)


# -- HDF5


@pytest.fixture
def h5(tmp_path):
    """Path of the file of a model, and h5py."""
    h5py = pytest.importorskip('h5py')
    serializers.save_hdf5(tmp_path / 'model.h5', trained_model())
    serializers.save_hdf5(tmp_path / 'secret.h5', trained_model())
    (tmp_path / 'secret.bin').write_bytes(bytes(24))
    return h5py


def external_link(h5py, f):
    f['l1/W'] = h5py.ExternalLink('secret.h5', 'l1/W')


def link_of_a_group(h5py, f):
    del f['l1']
    f['l1'] = h5py.ExternalLink('secret.h5', 'l1')


def soft_link_to_external_link(h5py, f):
    f['elsewhere'] = h5py.ExternalLink('secret.h5', '/')
    f['l1/W'] = h5py.SoftLink('/elsewhere/l1/W')


def circle(h5py, f):
    f['l1/W'] = h5py.SoftLink('V')
    f['l1/V'] = h5py.SoftLink('/l1/./W')


def external_storage(h5py, f):
    f.create_dataset('l1/W', (2, 3), 'f4', external=[('secret.bin', 0, 24)])


def virtual_dataset(h5py, f):
    layout = h5py.VirtualLayout((2, 3), 'f4')
    layout[...] = h5py.VirtualSource('secret.h5', 'l1/W', shape=(2, 3))
    f.create_virtual_dataset('l1/W', layout)


def references(h5py, f):
    f['l1/W'] = numpy.asarray([f.ref], h5py.ref_dtype)


def lists(h5py, f):
    f.create_dataset('l1/W', (2, 3), h5py.vlen_dtype('f4'))


def other_type(h5py, f):
    f['l1/W'] = numpy.dtype('f4')


def group(h5py, f):
    f.create_group('l1/W')


def no_data(h5py, f):
    f['l1/W'] = numpy.zeros((2, 3), 'f4')
    del f['late/W']
    f.create_dataset('late/W', (10**12,), 'f4', chunks=(1000,))


def huge_chunks(h5py, f):
    f.create_dataset('l1/W', (2, 3), 'f4', chunks=(10**4, 10**4), maxshape=(None, None))


def compressed_twice(h5py, f):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((2, 3))
    plist.set_deflate(9)
    plist.set_deflate(9)
    space = h5py.h5s.create_simple((2, 3))
    h5py.h5d.create(f['l1'].id, b'W', h5py.h5t.NATIVE_FLOAT, space, plist)


def texts(h5py, f):
    # NumPy would take a gigabyte.
    f['l1/W'] = numpy.zeros((2, 3), 'f4')
    del f['late/W']
    f['late/W'] = numpy.asarray(['x' * 10**5] + [''] * 2500, object)


@pytest.mark.parametrize(
    'change,match',
    [
        (external_link, 'another file'),
        (link_of_a_group, 'another file'),
        (soft_link_to_external_link, 'another file'),
        (circle, 'in a circle'),
        (external_storage, 'in another file'),
        (virtual_dataset, 'in another file'),
        (references, 'references'),
        (lists, 'lists'),
        (other_type, 'not an array'),
        (group, 'not an array'),
        (no_data, 'has no such data'),
        (huge_chunks, 'has no such data'),
        (compressed_twice, 'compressed several times'),
        (texts, 'has no such data'),
    ],
)
def test_hdf5(h5, tmp_path, change, match):
    path = tmp_path / 'model.h5'
    with h5.File(path, 'a') as f:
        del f['l1/W']
        change(h5, f)
    for error in ValueError, OSError:
        assert_refused(lambda model: serializers.load_hdf5(path, model), match, error)
    # The rest of the file is as good as before.
    model = Model()
    with h5.File(path) as f:
        for name in 'l1/b', 'count', 'text':
            if change is not link_of_a_group or name != 'l1/b':
                *folders, key = name.split('/')
                deserializer = serializers.HDF5Deserializer(f)
                for folder in folders:
                    deserializer = deserializer[folder]
                assert deserializer(key, None) is not None
    assert model.count == 0


def test_other_shape_of_hdf5(h5, tmp_path):
    path = tmp_path / 'model.h5'
    with h5.File(path, 'a') as f:
        del f['l1/W']
        f.create_dataset('l1/W', data=numpy.zeros(16 * MEGABYTE, 'f4'), compression=9)
    assert os.path.getsize(path) < MEGABYTE
    assert_refused(lambda model: serializers.load_hdf5(path, model), 'shape mismatch')


def test_links_inside_of_an_hdf5_file(h5, tmp_path):
    path = tmp_path / 'model.h5'
    with h5.File(path, 'a') as f:
        f.move('l1', 'stored/here')
        f['l1'] = h5.SoftLink('/alias/here')
        f['alias'] = h5.SoftLink('stored')
        f['stored/here/V'] = f['stored/here/W']
        del f['stored/here/W']
        f['stored/here/W'] = h5.SoftLink('V')
    model = Model()
    serializers.load_hdf5(path, model)
    assert state(model) == state(trained_model())
