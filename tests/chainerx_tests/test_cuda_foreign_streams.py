"""The CUDA backend beside other libraries: their streams and memory, and exchange by DLPack.

The other library is CUDA itself, as the emulation has it, which ``python tools/build.py --test`` builds
and tests: there, work waits in its stream until something waits for it.
"""

import ctypes
import gc
import os
import types
import weakref

import numpy as np
import pytest

import chainerx
from chainer.backends import _streams
from tests.helpers.cuda_emulation import is_emulated
from tests.helpers.devices import needs_devices

pytestmark = pytest.mark.skipif(not is_emulated(), reason='makes streams of the emulation')

N = 1 << 18
NON_BLOCKING = 1


class Foreign:
    """A stream of CUDA, which ends with this object. The emulation aborts if it is used later."""

    def __init__(self, device=0):
        path = os.path.join(os.environ['CHAINERX_PATH'], 'libcuda_emulation.so')
        self.cuda = ctypes.CDLL(path)
        ptr = ctypes.c_void_p()
        self.on_device(device, self.cuda.cudaStreamCreateWithFlags, ctypes.byref(ptr), NON_BLOCKING)
        self.ptr = ptr.value

    def on_device(self, device, function, *args):
        current = ctypes.c_int()
        self.cuda.cudaGetDevice(ctypes.byref(current))
        self.cuda.cudaSetDevice(device)
        assert function(*args) == 0
        self.cuda.cudaSetDevice(current)

    def synchronize(self):
        assert self.cuda.cudaStreamSynchronize(ctypes.c_void_p(self.ptr)) == 0

    def __del__(self):
        self.cuda.cudaStreamDestroy(ctypes.c_void_p(self.ptr))


def _wrap(foreign, device='cuda:0'):
    return chainerx.Stream(device, foreign.ptr, foreign)


def _ones(device='cuda:0'):
    """Ones that are made later."""
    x = chainerx.full(N, 5, 'float32', device=device)
    return x * 0 + 1


def _is(x, value):
    return (chainerx.to_numpy(x) == value).all()


def test_other_libraries_share_free_memory():
    device = chainerx.get_device('cuda:0')
    foreign = Foreign()
    stream, n_bytes = ctypes.c_void_p(foreign.ptr), ctypes.c_size_t(64 << 20)
    device.free_unused_blocks()
    before = device.memory_statistics()
    block = ctypes.c_void_p()
    foreign.on_device(0, foreign.cuda.cudaMallocAsync, ctypes.byref(block), n_bytes, stream)
    taken = device.memory_statistics()
    assert taken['used'] == before['used']
    assert taken['reserved'] >= before['reserved'] + n_bytes.value
    address = block.value
    foreign.on_device(0, foreign.cuda.cudaFreeAsync, block, stream)
    foreign.synchronize()
    x = chainerx.zeros(n_bytes.value, 'int8', device=device)
    assert device.memory_statistics()['reserved'] == taken['reserved']
    assert x.data_ptr == address


class TestForeignStreams:
    def test_work_runs_there(self):
        foreign = Foreign()
        stream = _wrap(foreign)
        assert stream.ptr == foreign.ptr
        with stream:
            x = _ones() + 1
            assert not stream.done
            foreign.synchronize()
            assert stream.done
            assert _is(x, 2)

    @needs_devices(2)
    def test_of_another_device(self):
        foreign = Foreign(1)
        with _wrap(foreign, 'cuda:1'):
            assert _is(_ones('cuda:1'), 1)

    @pytest.mark.parametrize('ptr', [0, 1])
    def test_default_stream(self, ptr):
        assert chainerx.Stream('cuda:0', ptr) == chainerx.get_device('cuda:0').current_stream

    def test_own_streams(self):
        own = chainerx.Stream('cuda:0')
        same = chainerx.Stream('cuda:0', own.ptr)
        assert same == own
        with same:
            x = _ones()
        del same
        assert chainerx.Stream('cuda:0') != own  # it is still in use
        with own:
            assert _is(x, 1)

    @pytest.mark.parametrize(
        'device, ptr, message',
        [('cuda:0', 2, 'default stream of a thread'), ('native:0', 3, 'no streams')],
    )
    def test_no_stream(self, device, ptr, message):
        with pytest.raises(chainerx.DeviceError, match=message):
            chainerx.Stream(device, ptr)

    def test_owner_lives_as_long_as_arrays(self):
        foreign = Foreign()
        alive = weakref.ref(foreign)
        stream = _wrap(foreign)
        del foreign
        with stream:
            x = _ones() + 1
            y = x + 1
        del stream, x
        gc.collect()
        assert alive() is not None
        alive().synchronize()
        assert _is(y, 3)
        del y
        chainerx.get_device('cuda:0').synchronize()
        _ones()  # looks at what is free
        assert alive() is None

    def test_owner_lives_until_memory_is_free(self):
        """A block that another stream still reads is freed in its own stream later."""
        foreign = Foreign()
        alive = weakref.ref(foreign)
        side = chainerx.Stream('cuda:0')
        with _wrap(foreign) as stream:
            x = _ones()
        side.wait(stream)
        with side:
            y = x + 1
        del x, stream, foreign
        assert alive() is not None
        with side:
            assert _is(y, 2)
        chainerx.get_device('cuda:0').synchronize()
        _ones()  # looks at what is free
        assert alive() is None

    def test_memory_is_not_reused_too_early(self):
        stream = _wrap(Foreign())
        x = chainerx.full(N, 3, 'float32', device='cuda:0')
        stream.wait(x.device.current_stream)
        with stream:
            y = x + x
        del x
        kept = [chainerx.zeros(N, 'float32', device='cuda:0') for _ in range(4)]
        kept[0].device.current_stream.synchronize()
        with stream:
            assert _is(y, 6)


class Producer:
    def __init__(self, x):
        self.x, self.seen = x, {}

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, **kwargs):
        self.seen = kwargs
        return self.x.__dlpack__(**kwargs)


class TestDlpack:
    @pytest.mark.parametrize('index', [0, pytest.param(1, marks=needs_devices(2))])
    def test_both_ways(self, index):
        x = _ones(f'cuda:{index}').reshape(2, -1)[:, ::2]
        assert x.__dlpack_device__() == (2, index)
        for device in None, x.device, x.device.name:
            y = chainerx.from_dlpack(Producer(x), device)
            assert y.device is x.device
            assert (y.data_ptr + y.offset, y.shape, y.strides) == (
                x.data_ptr + x.offset,
                x.shape,
                x.strides,
            )
        y += 1
        assert _is(x, 2)
        del x
        chainerx.zeros(N, 'float32', device=y.device)
        assert _is(y, 2)

    @pytest.mark.parametrize(
        'version, name', [(None, '"dltensor"'), ((1, 0), '"dltensor_versioned"')]
    )
    def test_versions(self, version, name):
        assert name in repr(_ones().__dlpack__(max_version=version))

    def test_old_producers(self):
        x = _ones()

        class Old(Producer):
            def __dlpack__(self, stream):
                return super().__dlpack__(stream=stream)

        y = chainerx.from_dlpack(Old(x))
        assert y.data_ptr == x.data_ptr

    def test_consumers_stream_waits(self):
        stream = _wrap(Foreign())
        for ptr, is_ordered in (stream.ptr, True), (-1, False):
            x = _ones()
            capsule = x.__dlpack__(stream=ptr)
            with stream:
                y = x * 1
                stream.synchronize()
            x.device.synchronize()
            assert _is(y, 1) == is_ordered
            del capsule

    @pytest.mark.parametrize('ptr', [None, 1, 2])
    def test_default_streams(self, ptr):
        with chainerx.Stream('cuda:0'):
            x = _ones()
            x.__dlpack__(stream=ptr)
        assert _is(x, 1)

    def test_own_stream_is_the_consumers(self):
        x = _ones()
        producer = Producer(x)
        chainerx.from_dlpack(producer)
        assert producer.seen['stream'] == 1
        with chainerx.Stream('cuda:0') as stream:
            chainerx.from_dlpack(producer)
            assert producer.seen['stream'] == stream.ptr

    @pytest.mark.parametrize('ptr', [0, -2])
    def test_wrong_streams(self, ptr):
        with pytest.raises(
            ValueError, match=f'stream must be None, -1 or a positive number.* {ptr}'
        ):
            _ones().__dlpack__(stream=ptr)

    def test_wanted_devices(self):
        x = _ones()
        x.__dlpack__(dl_device=(2, 0))
        with pytest.raises(BufferError, match=r'the array is on cuda:0.*copy is False'):
            x.__dlpack__(dl_device=(1, 0), copy=False)
        with pytest.raises(BufferError, match='the array is on cuda:0'):
            x.__dlpack__(dl_device=(2, 1))
        with pytest.raises(TypeError, match='dl_device must be a tuple, not int'):
            x.__dlpack__(dl_device=1)

    @pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < '2.1.0', reason='has no devices')
    def test_numpy_gets_a_copy(self):
        x = _ones()
        a = np.from_dlpack(x, device='cpu')
        x += 1
        assert (a == 1).all()
        with pytest.raises((BufferError, RuntimeError)):
            np.from_dlpack(x)

    def test_copies_between_devices(self):
        x = _ones()
        y = chainerx.from_dlpack(Producer(x), 'native:0')
        assert y.device.name == 'native:0' and _is(y, 1)
        with pytest.raises(BufferError, match=r'memory is that of cuda:0 and not of native:0'):
            chainerx.from_dlpack(Producer(x), 'native:0', copy=False)
        a = np.ones(3)
        z = chainerx.from_dlpack(a, 'cuda:0')
        assert z.device.name == 'cuda:0' and z.tolist() == [1, 1, 1]
        with chainerx.using_device('cuda:0'):
            chainerx.from_dlpack(a)[...] = 2
        assert a.tolist() == [2, 2, 2]
        assert _is(chainerx.from_dlpack(Producer(x), copy=True), 1)

    def test_arrays_of_graphs(self):
        with pytest.raises(BufferError, match='as_grad_stopped'):
            _ones().require_grad().__dlpack__()


class TestBesideCupy:
    """How arrays go between libraries whose current streams differ."""

    @pytest.fixture
    def cupy_stream(self, monkeypatch):
        stream = Foreign()
        module = types.SimpleNamespace(get_current_stream=lambda index: stream)
        monkeypatch.setattr(
            _streams._cupy.public, 'cupy', types.SimpleNamespace(cuda=module), raising=False
        )
        return stream

    def test_to_cupy(self, cupy_stream):
        x = _ones()
        data = chainerx.from_dlpack(Producer(x))
        keeper = _streams.lend_to_cupy(x)
        del x
        with _wrap(cupy_stream):
            y = data * 1  # CuPy's work
        del data, keeper
        kept = [chainerx.zeros(N, 'float32', device='cuda:0') for _ in range(4)]
        kept[0].device.current_stream.synchronize()
        cupy_stream.synchronize()
        assert _is(y, 1)

    def test_to_chainerx(self, cupy_stream):
        device = chainerx.get_device('cuda:0')
        pool = _wrap(cupy_stream)
        with pool:
            array = _ones()  # CuPy's
        keeper = _streams.lend_to_chainerx(array, device)
        y = array * 2
        del keeper
        with pool:
            array.fill(7)  # CuPy uses the memory again
        cupy_stream.synchronize()
        assert _is(y, 2)

    def test_chainerx_follows(self, cupy_stream):
        device = chainerx.get_device('cuda:0')
        with _streams.follow_cupy(device):
            assert device.current_stream.ptr == cupy_stream.ptr
            with _streams.follow_cupy(device):
                x = _ones()
        cupy_stream.synchronize()
        assert device.current_stream.ptr == 0
        assert _is(x, 1)

    def test_stream_of_a_thread(self, cupy_stream):
        cupy_stream.ptr, ptr = 2, cupy_stream.ptr
        try:
            device = chainerx.get_device('cuda:0')
            with _streams.follow_cupy(device):
                x = _ones()
            assert device.current_stream.done
            assert _streams.lend_to_chainerx(x, device) is x
            y = x + 1
            assert _streams.lend_to_cupy(y) is y
            assert device.current_stream.done
        finally:
            cupy_stream.ptr = ptr
