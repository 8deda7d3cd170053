"""What the CUDA backend adds to the tests of all backends.

It needs a GPU, or the emulation that ``python tools/build.py --test`` builds and tests.
"""

import ctypes
import gc
import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainerx import _core
from tests.helpers.cuda_emulation import is_emulated
from tests.helpers.devices import needs_devices
from tests.helpers.programs import run_python

ROOT = Path(__file__).resolve().parents[2]
DEVICES = 'cuda:0', 'native:0'


def _emulated_library():
    return os.path.join(os.environ['CHAINERX_PATH'], 'backends', 'cuda.so')


def _random(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype('float32')


#: Kernels that the backend does without, and why.
MISSING = {
    **dict.fromkeys(
        ('pack_filters', 'pack_recurrent', 'pack_weights'), 'its products read weights as they are'
    ),
    **dict.fromkeys(
        (
            'pack_blocks',
            'pack_integers',
            'pack_integer_filters',
            'quantize',
            'dequantize',
            'quantize_dynamically',
        ),
        'it has no kernels of 8-bit integers',
    ),
    **dict.fromkeys(
        ('add_sums_at', 'matmul_sum', 'parallel_for'), 'only plans of native devices call them'
    ),
    **dict.fromkeys(('decode_rows', 'quantized_linear'), 'other kernels decode the weights'),
    **dict.fromkeys(('complex_absolute', 'fourier'), 'its arrays are real'),
}


_OTHER_DEVICE = """
import ctypes
import gc
import os

import chainerx

driver = ctypes.CDLL(os.environ['DRIVER'])


def has_context(device):
    flags, active = ctypes.c_uint(), ctypes.c_int()
    state = ctypes.byref(flags), ctypes.byref(active)
    assert driver.cuDevicePrimaryCtxGetState(device, *state) == 0
    return bool(active.value)


x = chainerx.ones((3, 4), 'float32', device='cuda:1')
assert x.dot(x.T).sum().tolist() == 36
with chainerx.Stream('cuda:1'):
    chainerx.random.normal(size=3, device='cuda:1').device.synchronize()
del x
gc.collect()
print(has_context(0), has_context(1))
"""


@needs_devices(2)
def test_opens_no_context_on_other_devices():
    driver = _emulated_library() if is_emulated() else 'libcuda.so.1'
    assert run_python(_OTHER_DEVICE, DRIVER=driver).stdout.split() == ['False', 'True']


def test_all_kernels_are_there():
    assert {name for name, present in _core._kernels('cuda') if not present} == MISSING.keys()


@pytest.mark.parametrize('op', _core._ops(), ids=lambda op: op['name'])
def test_ops_have_their_kernels(op):
    lacking = set(op['kernels']) - {name for name, present in _core._kernels('cuda') if present}
    assert {MISSING[name] for name in lacking} <= {
        'its arrays are real',
        'other kernels decode the weights',
    }


@pytest.mark.parametrize('name', ['fft', 'ifftn', 'rfft', 'irfft', 'hfft', 'ihfft'])
def test_transforms_are_not_there(name):
    x = chainerx.ones((2, 4), 'float32', device='cuda:0')
    with pytest.raises(chainerx.NotImplementedError, match='complex64 are not supported on cuda'):
        getattr(chainerx.fft, name)(x)


def test_frequencies():
    y = chainerx.fft.fftshift(chainerx.fft.fftfreq(5, 0.5, 'float32', 'cuda:0'))
    assert y.device.name == 'cuda:0' and y.dtype == 'float32'
    np.testing.assert_allclose(chainerx.to_numpy(y), [-0.8, -0.4, 0, 0.4, 0.8], rtol=1e-6)


def test_devices():
    backend = chainerx.get_backend('cuda')
    assert backend.name == 'cuda'
    assert chainerx.get_device('cuda:0') is backend.get_device(0)
    with pytest.raises(IndexError, match='devices'):
        chainerx.get_device('cuda', backend.get_device_count())


def test_transfers():
    a = _random(3, 4)
    x = chainerx.array(a, device='cuda:0')
    back = x.to_device('native:0')
    assert back.device.name == 'native:0'
    np.testing.assert_array_equal(chainerx.to_numpy(back), a)
    np.testing.assert_array_equal(chainerx.to_numpy(back.to_device('cuda:0').T), a.T)
    with pytest.raises(chainerx.DeviceError):
        x + back


def test_gradients_cross_devices():
    x = chainerx.array(_random(3)).to_device('native:0').require_grad()
    y = x.to_device('cuda:0')
    (y * y).sum().backward()
    assert x.grad.device.name == 'native:0'
    np.testing.assert_allclose(
        chainerx.to_numpy(x.grad), 2 * chainerx.to_numpy(x.as_grad_stopped())
    )


class TestErrorsInData:
    """Calls do not wait for the GPU; the next one that does raises the error, once."""

    @pytest.mark.parametrize(
        'call, message',
        [
            (lambda x, i: x.take(i, 0), 'indexing: index 3 is out of bounds.* length 2'),
            (F.softmax_cross_entropy, 'softmax_cross_entropy: label 3 is out of range for 2'),
        ],
        ids=['index', 'label'],
    )
    def test_raised_once(self, call, message):
        x = chainerx.array([[1.0, 2], [3, 4]], 'float32')
        call(x, chainerx.array([3, 1]))
        with pytest.raises(IndexError, match=message):
            x.device.synchronize()
        x.device.synchronize()
        assert x.tolist() == [[1, 2], [3, 4]]

    def test_reading_raises(self):
        y = chainerx.array([1.0, 2]).take(chainerx.array([3]), 0)
        with pytest.raises(IndexError, match='index 3'):
            chainerx.to_numpy(y)

    def test_nothing_to_take(self):
        with pytest.raises(IndexError, match='index 0'):
            chainerx.zeros((0, 2)).take(chainerx.array([0]), 0)

    def test_invalid_indices_are_not_written(self):
        x = chainerx.zeros(3)
        with pytest.raises(IndexError):
            x[chainerx.array([1, 5])] = 1
            x.device.synchronize()
        assert x.tolist() == [0, 1, 0]


class TestRepeatedIndices:
    """They are taken in order, whichever way a GPU is kept busy."""

    #: Numbers of indices and shapes around the axis, on both sides of the limits.
    CASES = [(5, (), (3,)), (17, (), ()), (300, (), (3,)), (300, (4,), (2,)), (20, (), (1 << 16,))]

    def _scatter(self, device, n, before, after, call):
        random = np.random.default_rng(0)
        indices = random.integers(-7, 7, n)
        x = chainerx.zeros((*before, 7, *after), 'float32', device=device)
        b = chainerx.array(
            random.standard_normal((*before, n, *after)).astype('float32'), device=device
        )
        return chainerx.to_numpy(call(x, chainerx.array(indices, device=device), b, len(before)))

    @pytest.mark.parametrize('n, before, after', CASES)
    def test_add(self, n, before, after):
        y, expected = [self._scatter(d, n, before, after, _core._add_at) for d in DEVICES]
        np.testing.assert_array_equal(y, expected)

    @pytest.mark.parametrize('n, before, after', CASES)
    def test_put(self, n, before, after):
        def put(x, indices, b, axis):
            x[(slice(None),) * axis + (indices,)] = b
            return x

        y, expected = [self._scatter(d, n, before, after, put) for d in DEVICES]
        np.testing.assert_array_equal(y, expected)

    def test_one_index(self):
        b = _random(400)
        y = _core._add_at(
            chainerx.zeros(3, 'float32'), chainerx.full(400, 1, 'int64'), chainerx.array(b)
        )
        expected = np.float32(0)
        for value in b:
            expected += value
        assert y.tolist() == [0, expected, 0]

    def test_invalid_indices(self):
        indices = np.arange(100) % 5
        indices[50] = 9
        x = chainerx.zeros(5)
        with pytest.raises(IndexError, match='index 9'):
            x[chainerx.array(indices)] = chainerx.arange(100).astype('float32')
            x.device.synchronize()
        assert x.tolist() == [95, 96, 97, 98, 99]


@pytest.mark.parametrize('exponent', [2, 3, -1, 0.5])
@pytest.mark.parametrize('step', [1, 2])
def test_special_exponents(exponent, step):
    a = np.array([-np.inf, -0.0, 0.0, 0.25, 2, 3, np.nan, np.inf] * 2)
    with np.errstate(all='ignore'):
        expected = a[::step] ** exponent
    np.testing.assert_array_equal(
        chainerx.to_numpy(chainerx.array(a)[::step] ** exponent), expected
    )


@pytest.mark.parametrize('function', [chainerx.softmax, chainerx.log_softmax])
def test_softmax_of_infinite_elements(function):
    inf, nan = np.inf, np.nan
    x = chainerx.array(
        [[1, inf, -inf], [-inf, -inf, -inf], [1, 2, nan], [0, -inf, -inf]], 'float32'
    )
    y = chainerx.to_numpy(function(x, axis=1))
    assert np.isnan(y[:3]).all()
    expected = [1, 0, 0] if function is chainerx.softmax else [0, -inf, -inf]
    np.testing.assert_array_equal(y[3], expected)


def test_products_with_many_rows():
    y = chainerx.dot(chainerx.ones((1100000, 1), 'int8'), chainerx.full((1, 1), 2, 'int8'))
    assert (y == 2).all()


def test_random_numbers_are_those_of_native():
    def draw(device):
        with chainerx.using_device(device):
            chainerx.random.seed(3)
            x = chainerx.random.standard_normal((5, 70), 'float32')
            i = chainerx.random.randint(0, 99, (70,))
            chainerx.random.seed()
        return chainerx.to_numpy(x), chainerx.to_numpy(i)

    (x, i), (native_x, native_i) = draw('cuda:0'), draw('native:0')
    np.testing.assert_allclose(x, native_x, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(i, native_i)


def test_a_network_learns_as_on_native():
    def losses(device):
        np.random.seed(0)
        model = chainer.Sequential(
            L.Convolution2D(1, 4, 3), L.BatchNormalization(4), F.relu, L.Linear(None, 3)
        )
        x, t = _random(8, 1, 6, 6), np.arange(8, dtype='int32') % 3
        model(x)  # makes the parameters
        model.to_device(device)
        optimizer = chainer.optimizers.Adam().setup(model)
        x, t = chainer.get_device(device).send((x, t))
        values = []
        for _ in range(3):
            loss = F.softmax_cross_entropy(model(x), t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            values.append(float(loss.array))
        return values

    np.testing.assert_allclose(losses('cuda:0'), losses('native:0'), rtol=0, atol=1e-5)


def test_mnist_example(tmp_path):
    script = ROOT / 'examples' / 'mnist' / 'train_mnist.py'
    logs = []
    for device in 'native:0', 'cuda:0':
        options = f'--dataset digits --seed 0 -e 2 -u 64 -d {device} -o {device}'.split()
        run_python(
            f"""
            import runpy, sys
            sys.path.insert(0, {str(script.parent)!r})
            sys.argv = {[str(script), *options]}
            runpy.run_path(sys.argv[0], run_name='__main__')
            """,
            cwd=tmp_path,
        )
        logs.append(json.loads((tmp_path / device / 'log').read_text()))
    losses = [
        [value for entry in log for name, value in entry.items() if name.endswith('loss')]
        for log in logs
    ]
    assert len(losses[0]) >= 4
    np.testing.assert_allclose(losses[1], losses[0], rtol=0, atol=1e-5)


def test_snapshots_cross_devices(tmp_path):
    link = L.Linear(3, 2)
    link.to_device('cuda:0')
    chainer.serializers.save_npz(tmp_path / 'x.npz', link)
    other = L.Linear(3, 2)
    chainer.serializers.load_npz(tmp_path / 'x.npz', other)
    np.testing.assert_array_equal(other.W.array, chainerx.to_numpy(link.W.array))
    other.to_device('cuda:0')
    chainer.serializers.load_npz(tmp_path / 'x.npz', other)
    assert other.W.device.name == 'cuda:0'


@pytest.mark.skipif(not is_emulated(), reason='tests the emulation')
class TestEmulation:
    def test_no_gpu(self):
        code = 'import chainerx; chainerx.get_device("cuda:0")'
        result = run_python(code, status=1, CHAINERX_CUDA_EMULATION_DEVICES='0')
        assert 'CUDA cannot be used: there is no GPU' in result.stderr

    @pytest.mark.parametrize(
        'driver, told',
        [
            ('0', 'it needs a GPU and its driver'),
            ('12080', 'the driver supports CUDA 12.8, but ChainerX is built with CUDA 13.0'),
        ],
    )
    def test_old_driver(self, driver, told):
        code = 'import chainerx; chainerx.get_device("cuda:0")'
        result = run_python(code, status=1, CHAINERX_CUDA_EMULATION_DRIVER=driver)
        assert 'CUDA cannot be used: ' in result.stderr and told in result.stderr

    def test_the_host_cannot_touch_device_memory(self):
        code = """
            import chainerx, ctypes
            x = chainerx.ones(3, device='cuda:0')
            x.device.synchronize()
            ctypes.string_at(x.data_ptr, 8)
        """
        run_python(code, status=-signal.SIGSEGV, CHAINERX_CUDA_EMULATION_SHARED='0')

    def test_out_of_memory(self):
        code = """
            import chainerx
            chainerx.set_default_device('cuda:0')
            x = [chainerx.zeros(1000, 'float32') for _ in range(9)]
            try:
                chainerx.zeros(10000, 'float32')
            except MemoryError:
                del x[1:]
            print(float(chainerx.ones(10000, 'float32').sum()))
        """
        result = run_python(code, CHAINERX_CUDA_EMULATION_BYTES='65536')
        assert result.stdout == '10000.0\n'

    def test_out_of_memory_says_what_there_is(self):
        code = """
            import chainerx
            chainerx.set_default_device('cuda:0')
            x = chainerx.zeros(1024, 'float32')
            chainerx.zeros(100000, 'int8')
        """
        result = run_python(code, status=1, CHAINERX_CUDA_EMULATION_BYTES='65536')
        assert (
            "MemoryError: zeros: cannot allocate 100000 bytes of memory on device 'cuda:0': "
            'arrays use 4096 bytes, 4096 are reserved, 61440 of 65536 are free'
        ) in result.stderr

    def test_pinned_memory_may_change_after_a_copy(self):
        runtime = ctypes.CDLL(_emulated_library())
        pointer = ctypes.c_void_p()
        assert runtime.cudaMallocHost(ctypes.byref(pointer), ctypes.c_size_t(12)) == 0
        a = np.frombuffer((ctypes.c_char * 12).from_address(pointer.value), 'float32')
        a[...] = [1, 2, 3]
        x = chainerx.array(a, device='cuda:0')
        a[...] = 0
        assert x.tolist() == [1, 2, 3]
        assert runtime.cudaFreeHost(pointer) == 0

    @needs_devices(4)
    def test_the_current_device_stays(self):
        runtime = ctypes.CDLL(_emulated_library())
        device = ctypes.c_int()

        def check():
            assert runtime.cudaGetDevice(ctypes.byref(device)) == 0
            assert device.value == 3

        assert runtime.cudaSetDevice(3) == 0
        try:
            x = chainerx.array(_random(3), device='cuda:1')
            check()
            y = (x + x)[::2].to_device('cuda:2')
            check()
            chainerx.to_numpy(y)
            x.device.synchronize()
            check()
            del x, y
            gc.collect()
            check()
        finally:
            runtime.cudaSetDevice(0)

    @needs_devices(3)
    def test_several_devices(self):
        x = chainerx.array(_random(3), device='cuda:1')
        y = x.to_device('cuda:2')
        assert (y.device.name, (y + y).device.name) == ('cuda:2', 'cuda:2')
        np.testing.assert_array_equal(chainerx.to_numpy(y), _random(3))
        with pytest.raises(chainerx.DeviceError):
            x + y
        del x, y
        gc.collect()

    @needs_devices(2)
    def test_parallel_updater(self):
        def weights(devices):
            np.random.seed(0)
            model = L.Classifier(L.Linear(5, 3))
            model.to_device(devices['main'])
            optimizer = chainer.optimizers.SGD(0.1).setup(model)
            data = chainer.datasets.TupleDataset(_random(16, 5), np.arange(16, dtype='int32') % 3)
            iterator = chainer.iterators.SerialIterator(data, 16, shuffle=False)
            updater = chainer.training.ParallelUpdater(iterator, optimizer, devices=devices)
            values = []
            for _ in range(3):
                updater.update()
                values.append(chainerx.to_numpy(model.predictor.W.array))
            return values

        names = ['main', 'a', 'b', 'c']
        cuda, native = (
            {names[i]: f'{backend}:{i}' for i in range(4)} for backend in ('cuda', 'native')
        )
        np.testing.assert_allclose(weights(cuda), weights(native), atol=1e-6)
