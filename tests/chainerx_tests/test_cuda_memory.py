"""Memory, streams and copies of the CUDA backend.

They need a GPU, or the emulation that ``python tools/build.py --test`` builds and tests.
"""

import gc
import os
import threading

import numpy as np
import pytest

import chainerx
from tests.helpers.cuda_emulation import is_emulated
from tests.helpers.devices import needs_devices
from tests.helpers.programs import run_python

MIB = 1 << 20
# With memory that the host reads, as NumPy arrays share it with the stand-in for CuPy, streams do their work at once.
DEFERS_WORK = is_emulated() and os.environ.get('CHAINERX_CUDA_EMULATION_SHARED', '0') == '0'


@pytest.fixture
def device():
    device = chainerx.get_device('cuda:0')
    gc.collect()
    device.free_unused_blocks()
    device.reset_memory_peaks()
    yield device
    device.set_memory_limit(None)


def _values(n, seed=0):
    return np.random.default_rng(seed).standard_normal(n).astype('float32')


class TestMemory:
    def test_statistics(self, device):
        before = device.memory_statistics()
        x = chainerx.zeros(MIB, 'int8', device=device)
        y = chainerx.zeros(MIB, 'int8', device=device)
        del y
        now = device.memory_statistics()
        assert now['used'] - before['used'] == MIB
        assert now['peak_used'] - before['used'] == 2 * MIB
        assert now['allocations'] == 2
        assert now['retries'] == 0
        assert now['limit'] is None
        assert now['reserved'] >= now['used']
        assert now['peak_reserved'] >= now['reserved']
        del x
        device.reset_memory_peaks()
        now = device.memory_statistics()
        assert now['peak_used'] == now['used'] == before['used']
        assert now['allocations'] == 0

    def test_empty_arrays_take_a_byte(self, device):
        before = device.memory_statistics()['used']
        x = chainerx.zeros(0, device=device)
        assert device.memory_statistics()['used'] - before == 1
        del x
        assert device.memory_statistics()['used'] == before

    def test_free_unused_blocks(self, device):
        before = device.memory_statistics()['reserved']
        x = chainerx.empty(64 * MIB, 'int8', device=device)
        assert device.memory_statistics()['reserved'] >= before + 64 * MIB
        del x
        device.synchronize()
        assert device.memory_statistics()['reserved'] >= before + 64 * MIB
        device.free_unused_blocks()
        assert device.memory_statistics()['reserved'] < before + 64 * MIB

    def test_limit(self, device):
        used = device.memory_statistics()['used']
        device.set_memory_limit(used + 2 * MIB)
        x = chainerx.zeros(MIB, 'int8', device=device)
        with pytest.raises(
            MemoryError, match=rf'{2 * MIB} bytes.*cuda:0.*limit is {used + 2 * MIB}'
        ):
            chainerx.zeros(2 * MIB, 'int8', device=device)
        y = chainerx.zeros(MIB, 'int8', device=device)
        assert device.memory_statistics()['limit'] == used + 2 * MIB
        del x, y
        device.set_memory_limit()
        assert device.memory_statistics()['limit'] is None
        chainerx.zeros(4 * MIB, 'int8', device=device)

    def test_invalid_limits(self, device):
        with pytest.raises(ValueError, match='size must not be negative, but is -1'):
            device.set_memory_limit(-1)
        with pytest.raises(TypeError):
            device.set_memory_limit('1')

    def test_blocks_in_use_elsewhere_count_until_they_are_free(self, device):
        used = device.memory_statistics()['used']
        device.set_memory_limit(used + 2 * MIB)
        stream = chainerx.Stream(device)
        x = chainerx.zeros(MIB, 'int8', device=device)
        stream.wait(device.current_stream)
        with stream:
            y = x + 1
        del x
        z = chainerx.zeros(2 * MIB - y.nbytes, 'int8', device=device)  # waits for the stream
        assert device.memory_statistics()['used'] == used + 2 * MIB
        assert chainerx.to_numpy(y).sum() == MIB
        del y, z

    def test_threads(self, device):
        before = device.memory_statistics()['used']

        def work():
            for _ in range(20):
                x = chainerx.ones(1000, 'float32', device=device)
                assert float((x + 1).sum()) == 2000

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert device.memory_statistics()['used'] == before

    def test_native_keeps_no_account(self):
        native = chainerx.get_device('native:0')
        for call in (
            native.memory_statistics,
            native.reset_memory_peaks,
            lambda: native.set_memory_limit(1),
        ):
            with pytest.raises(NotImplementedError, match="'native:0' keeps no account"):
                call()
        native.free_unused_blocks()


class TestStreams:
    def test_current_stream(self, device):
        default = device.current_stream
        assert default.ptr == 0
        assert repr(default) == '<Stream of cuda:0, the default one>'
        a, b = chainerx.Stream(device), chainerx.Stream('cuda:0')
        assert len({a, b, default}) == 3
        with a as entered:
            assert entered is a
            assert device.current_stream == a
            with b, default:
                assert device.current_stream == default
            assert device.current_stream == a
        assert device.current_stream == default
        a.__enter__()
        b.__enter__()
        a.__exit__()
        assert device.current_stream == b
        b.__exit__()
        assert device.current_stream == default

    def test_each_thread_has_its_own(self, device):
        found = []
        stream = chainerx.Stream(device)
        with stream:
            thread = threading.Thread(target=lambda: found.append(device.current_stream.ptr))
            thread.start()
            thread.join()
            assert device.current_stream.ptr == stream.ptr != 0
        assert found == [0]

    def test_streams_are_used_again(self, device):
        first = chainerx.Stream(device).ptr
        assert chainerx.Stream(device).ptr == first

    def test_work(self, device):
        stream = chainerx.Stream(device)
        with stream:
            x = chainerx.array(_values(1000), device=device)
            y = (x * 2).sum()
        stream.synchronize()
        assert stream.done
        assert float(y) == pytest.approx(2 * _values(1000).sum(), rel=1e-4)

    def test_waiting_orders_streams(self, device):
        a, b = chainerx.Stream(device), chainerx.Stream(device)
        with a:
            x = chainerx.ones(1000, 'float32', device=device)
            for _ in range(10):
                x = x + 1
        b.wait(a)
        with b:
            y = x * 2
            np.testing.assert_array_equal(chainerx.to_numpy(y), np.full(1000, 22, 'float32'))

    def test_waiting_for_another_backend(self, device):
        stream, native = chainerx.Stream(device), chainerx.Stream('native:0')
        stream.wait(native)
        with stream:
            x = chainerx.ones(3, device=device) + 1
        native.wait(stream)
        assert stream.done
        with stream:
            assert float(x.sum()) == 6

    def test_memory_is_used_again_after_all_streams(self, device):
        """A block that one stream frees while another reads it keeps its values."""
        side = chainerx.Stream(device)
        n = MIB
        x = chainerx.full(n, 3, 'float32', device=device)
        side.wait(device.current_stream)
        with side:
            y = x * 1
            for _ in range(20):
                y = y + x
        del x
        kept = [chainerx.zeros(n, 'float32', device=device) for _ in range(4)]
        device.current_stream.synchronize()
        with side:
            assert (chainerx.to_numpy(y) == 63).all()
        del kept

    def test_errors_in_data(self, device):
        stream = chainerx.Stream(device)
        with stream:
            x = chainerx.array([1.0, 2], device=device)
            x.take(chainerx.array([5], device=device), 0)
            with pytest.raises(IndexError, match='index 5'):
                stream.synchronize()

    def test_wrong_arguments(self):
        with pytest.raises(chainerx.BackendError):
            chainerx.Stream('nothing:0')
        with pytest.raises(TypeError, match=r'stream must be chainerx\.Stream, not int'):
            chainerx.Stream('cuda:0').wait(1)

    def test_native(self):
        native = chainerx.get_device('native:0')
        stream = chainerx.Stream(native)
        with stream:
            assert native.current_stream.device is native
            assert float(chainerx.ones(3, device=native).sum()) == 3
        assert stream.done


class TestCopies:
    @pytest.mark.parametrize('size', [1, 1000, 5 * MIB, 40 * MIB + 3])
    def test_from_the_host(self, size):
        a = np.random.default_rng(0).integers(0, 256, size, 'uint8')
        expected = a.copy()
        x = chainerx.array(a, device='cuda:0')
        a[...] = 0  # the copy has what was there
        np.testing.assert_array_equal(chainerx.to_numpy(x), expected)

    def test_many_small_ones(self):
        arrays = [chainerx.array([i] * 100, 'int32', device='cuda:0') for i in range(700)]
        assert [int(x[-1]) for x in arrays] == list(range(700))

    @pytest.mark.skipif(not DEFERS_WORK, reason='a GPU may be done by then')
    def test_from_the_host_do_not_wait(self):
        device = chainerx.get_device('cuda:0')
        device.synchronize()
        chainerx.array(_values(1 << 18), device=device)
        assert not device.current_stream.done

    @pytest.mark.parametrize(
        'other',
        [
            pytest.param(1, id='connected', marks=needs_devices(2)),
            pytest.param(2, id='through_the_host', marks=needs_devices(3)),
        ],
    )
    def test_between_devices(self, other):
        a = _values(100000)
        x = chainerx.array(a, device='cuda:0') + 1
        y = x.to_device(f'cuda:{other}')
        del x
        z = (y * 2).to_device('cuda:0')
        del y
        np.testing.assert_array_equal(chainerx.to_numpy(z), (a + 1) * 2)

    @needs_devices(2)
    def test_between_devices_in_streams(self):
        here, there = chainerx.Stream('cuda:0'), chainerx.Stream('cuda:1')
        with here, there:
            x = chainerx.full(10000, 2, 'float32', device='cuda:0') * 3
            y = x.to_device('cuda:1') + 1
            del x
            assert (chainerx.to_numpy(y) == 7).all()

    @needs_devices(2)
    @pytest.mark.skipif(not DEFERS_WORK, reason='a second GPU may be done by then')
    def test_between_devices_without_the_host(self):
        x = chainerx.ones(1000, device='cuda:0')
        x.device.synchronize()
        y = x.to_device('cuda:1')
        # Nothing has waited for the copy, and so for the source's stream.
        assert not y.device.current_stream.done


def test_devices_end_with_blocks_that_wait():
    code = """
        import chainerx
        context = chainerx.Context()
        with chainerx.context_scope(context):
            x = chainerx.ones(1000, 'float32', device='cuda:0')
            stream = chainerx.Stream('cuda:0')
            with stream:
                y = x + 1
            del x, y, stream
        del context
        device = chainerx.get_device('cuda:0')
        device.free_unused_blocks()
        print(device.memory_statistics()['reserved'])
    """
    assert run_python(code).stdout == '0\n'
