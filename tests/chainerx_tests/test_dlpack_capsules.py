"""Capsules of DLPack that no sound producer makes."""

import ctypes
import weakref

import numpy as np
import pytest

import chainerx


class Tensor(ctypes.Structure):
    _fields_ = [
        ('data', ctypes.c_void_p),
        ('device_type', ctypes.c_int32),
        ('device_id', ctypes.c_int32),
        ('ndim', ctypes.c_int32),
        ('code', ctypes.c_uint8),
        ('bits', ctypes.c_uint8),
        ('lanes', ctypes.c_uint16),
        ('shape', ctypes.POINTER(ctypes.c_int64)),
        ('strides', ctypes.POINTER(ctypes.c_int64)),
        ('byte_offset', ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [('tensor', Tensor), ('owner', ctypes.c_void_p), ('deleter', ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ('major', ctypes.c_uint32),
        ('minor', ctypes.c_uint32),
        ('owner', ctypes.c_void_p),
        ('deleter', ctypes.c_void_p),
        ('flags', ctypes.c_uint64),
        ('tensor', Tensor),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def int64s(values):
    return (ctypes.c_int64 * len(values))(*values)


class Producer:
    """Gives a capsule of 12 float32 numbers, with changes."""

    def __init__(self, kind=Managed, major=1, flags=0, name=None, deleter=True, **changes):
        self.memory = (ctypes.c_float * 12)(*range(12))
        self.managed = kind()
        self.deleted = 0
        self.deleter = DELETER(self._delete)
        if deleter:
            self.managed.deleter = ctypes.cast(self.deleter, ctypes.c_void_p).value
        if kind is Versioned:
            self.managed.major, self.managed.flags = major, flags
        self.kept = [int64s([3, 4])]
        tensor = {
            'data': ctypes.addressof(self.memory),
            'device_type': 1,
            'ndim': 2,
            'code': 2,
            'bits': 32,
            'lanes': 1,
            'shape': self.kept[0],
            **changes,
        }
        for field, value in tensor.items():
            if isinstance(value, list):
                value = int64s(value)
                self.kept.append(value)
            setattr(self.managed.tensor, field, value)
        self.name = name or (b'dltensor_versioned' if kind is Versioned else b'dltensor')
        self.capsule = new_capsule(ctypes.addressof(self.managed), self.name, None)

    def _delete(self, managed):
        self.deleted += 1

    def __dlpack__(self, **kwargs):
        return self.capsule


KINDS = pytest.mark.parametrize('kind', [Managed, Versioned])


@KINDS
def test_sound_capsules(kind):
    producer = Producer(kind)
    x = chainerx.from_dlpack(producer)
    chainerx.testing.assert_array_equal_ex(x, np.arange(12, dtype='f').reshape(3, 4))
    assert producer.deleted == 0
    del x
    assert producer.deleted == 1


@KINDS
@pytest.mark.parametrize(
    'changes, expected',
    [
        ({'strides': [1, 3]}, np.arange(12).reshape(4, 3).T),
        ({'strides': [-4, -1], 'byte_offset': 44}, np.arange(12)[::-1].reshape(3, 4)),
        ({'strides': [0, 1]}, np.broadcast_to(np.arange(4), (3, 4))),
        ({'byte_offset': 16, 'shape': [2, 4]}, np.arange(4, 12).reshape(2, 4)),
        ({'ndim': 0, 'shape': None}, np.array(0)),
        ({'shape': [0, 4], 'data': None}, np.zeros((0, 4))),
        ({'shape': [0, 4], 'byte_offset': 2**63}, np.zeros((0, 4))),
        ({'deleter': False}, np.arange(12).reshape(3, 4)),
    ],
)
def test_unusual_capsules(kind, changes, expected):
    producer = Producer(kind, **changes)
    x = chainerx.from_dlpack(producer)
    chainerx.testing.assert_array_equal_ex(x, expected.astype('f'), strides_check=False)
    del x
    assert producer.deleted == ('deleter' not in changes)


@KINDS
@pytest.mark.parametrize(
    'changes, error',
    [
        ({'shape': None}, BufferError),
        ({'shape': [-1, 4]}, chainerx.DimensionError),
        ({'shape': [2**62, 2**62]}, chainerx.DimensionError),
        ({'ndim': -1}, chainerx.DimensionError),
        ({'ndim': -(2**31)}, chainerx.DimensionError),
        ({'ndim': 17}, chainerx.DimensionError),
        ({'ndim': 2**31 - 1}, chainerx.DimensionError),
        ({'data': None}, BufferError),
        ({'data': 64}, BufferError),
        ({'data': 2**64 - 8}, BufferError),
        # The address sanitizer has memory there.
        pytest.param({'byte_offset': 2**40}, BufferError, marks=pytest.mark.measures_memory),
        ({'byte_offset': 2**63}, BufferError),
        ({'byte_offset': 2**64 - 4}, BufferError),
        ({'byte_offset': 2}, BufferError),
        ({'strides': [2**40, 1]}, BufferError),
        ({'strides': [2**62, 1]}, BufferError),
        ({'strides': [2**60, 2**60]}, BufferError),
        ({'strides': [-(2**63), 1]}, BufferError),
        ({'strides': [-(2**45), 1]}, BufferError),
        ({'lanes': 4}, chainerx.DtypeError),
        ({'lanes': 0}, chainerx.DtypeError),
        ({'bits': 0}, chainerx.DtypeError),
        ({'bits': 128}, chainerx.DtypeError),
        ({'code': 5}, chainerx.DtypeError),
        ({'code': 255}, chainerx.DtypeError),
        ({'device_type': 0}, BufferError),
        ({'device_type': 2}, BufferError),
        ({'device_type': -1}, BufferError),
        ({'name': b'tensor'}, ValueError),
        ({'name': b'used_dltensor'}, ValueError),
    ],
)
def test_capsules_that_are_refused(kind, changes, error):
    producer = Producer(kind, **changes)
    with pytest.raises(error, match='from_dlpack|shape|__dlpack__'):
        chainerx.from_dlpack(producer)
    assert producer.deleted == 0  # the producer still owns the memory


def test_versions():
    with pytest.raises(BufferError, match='version 2'):
        chainerx.from_dlpack(Producer(Versioned, major=2, shape=None, flags=1))
    read_only = Producer(Versioned, flags=1)
    with pytest.raises(BufferError, match='read-only'):
        chainerx.from_dlpack(read_only, copy=False)
    x = chainerx.from_dlpack(read_only)
    assert read_only.deleted == 1
    chainerx.testing.assert_array_equal(x, np.arange(12).reshape(3, 4))


@pytest.mark.parametrize('result', [None, 3, 'dltensor', object(), Producer])
def test_results_that_are_no_capsules(result):
    class Wrong:
        def __dlpack__(self, **kwargs):
            return result

    with pytest.raises(ValueError, match='__dlpack__'):
        chainerx.from_dlpack(Wrong())


def test_capsules_are_used_once():
    for producer in (
        Producer(),
        Producer(Versioned),
        type(
            '', (), {'__dlpack__': lambda self, capsule=chainerx.arange(3).__dlpack__(): capsule}
        )(),
    ):
        x = chainerx.from_dlpack(producer)
        with pytest.raises(ValueError, match='__dlpack__'):
            chainerx.from_dlpack(producer)
        assert x.size


def test_capsules_that_nobody_uses():
    source = np.zeros(3)
    x = chainerx.asarray(source)
    reference = weakref.ref(source)
    capsules = [x.__dlpack__(), x.__dlpack__(max_version=(1, 0))]
    del x, source
    assert reference() is not None
    del capsules
    assert reference() is None
