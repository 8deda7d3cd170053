import os
import sys

import numpy
import pytest
from helpers.programs import run_python

import chainer
from chainer.backends import cuda

no_cuda = pytest.mark.skipif(cuda.available, reason='CUDA is available')


def test_alias():
    assert chainer.cuda.to_cpu is cuda.to_cpu
    for name in ('available', 'cupy', 'cudnn_enabled', 'ndarray', 'Device', 'Stream', 'Event'):
        assert getattr(chainer.cuda, name) is getattr(cuda, name)
        assert name in dir(chainer.cuda)
    with pytest.raises(AttributeError, match='no_such_name'):
        chainer.cuda.no_such_name


def test_cupy_is_not_imported():
    code = 'import sys, chainer; assert "cupy" not in sys.modules'
    run_python(code)


class TestDummyDevice:
    def test_dummy_device(self):
        device = cuda.DummyDevice
        assert device.id == int(device) == -1
        assert device == cuda.DummyDeviceType()
        assert not device != cuda.DummyDeviceType()
        assert device != 1
        with device as entered:
            assert entered is device
        device.use()
        device.synchronize()

    def test_get_device_from_id(self):
        assert cuda.get_device_from_id(None) is cuda.DummyDevice
        assert cuda.get_device_from_id(-1) is cuda.DummyDevice

    def test_get_device_from_array(self):
        x = numpy.zeros(3)
        assert cuda.get_device_from_array(x) is cuda.DummyDevice
        assert cuda.get_device_from_array(chainer.Variable(x), None) is cuda.DummyDevice
        assert cuda.get_device_from_array() is cuda.DummyDevice

    def test_get_device_is_deprecated(self):
        with pytest.warns(DeprecationWarning, match='get_device_from_id'):
            assert cuda.get_device(numpy.zeros(3)) is cuda.DummyDevice
        with pytest.warns(DeprecationWarning):
            assert cuda.get_device() is cuda.DummyDevice
        with pytest.warns(DeprecationWarning):
            assert cuda.get_device(None) is cuda.DummyDevice


@no_cuda
class TestUnavailable:
    message = 'CUDA environment is not correctly set up(.|\n)*Reason: '

    @pytest.mark.parametrize(
        'use',
        [
            lambda: cuda.check_cuda_available(),
            lambda: cuda.to_gpu(numpy.zeros(3)),
            lambda: cuda.copy(numpy.zeros(3)),
            lambda: cuda.get_device_from_id(0),
            lambda: cuda.GpuDevice.from_device_id(0),
            lambda: cuda.GpuDevice(None),
            lambda: cuda.elementwise('T x', 'T y', 'y = x', 'copy'),
            lambda: cuda.reduce('T x', 'T y', 'x', 'a + b', 'y = a', '0', 'sum'),
            lambda: cuda.raw('', 'name'),
            lambda: cuda.Device(),
            lambda: cuda.Stream(),
            lambda: cuda.Event(),
            lambda: cuda.ndarray(),
        ],
    )
    def test_errors(self, use):
        with pytest.raises(RuntimeError, match=self.message):
            use()

    def test_attributes(self):
        assert cuda.available is False
        assert cuda.cudnn_enabled is False
        assert isinstance(cuda.ndarray, type)
        assert not isinstance(numpy.zeros(1), cuda.ndarray)

    def test_placeholder(self):
        with pytest.raises(AttributeError, match=r'cupy.zeros cannot be used(.|\n)*Reason'):
            cuda.cupy.zeros(3)
        assert not hasattr(cuda.cupy, 'ndarray')
        assert 'not available' in repr(cuda.cupy)

    def test_dropout_states(self):
        with pytest.raises(RuntimeError, match='cuDNN is not enabled'):
            cuda.get_cudnn_dropout_states()

    def test_decorators_do_nothing(self):
        calls = []

        @cuda.memoize()
        def f(x):
            """Documentation."""
            calls.append(x)
            return x + 1

        assert [f(1), f(1)] == [2, 2]
        assert calls == [1, 1]
        assert f.__doc__ == 'Documentation.' and f.__name__ == 'f'
        cuda.clear_memo()

        @cuda.fuse
        def g(x, y=1):
            return x + y

        @cuda.fuse(kernel_name='h')
        def h(x, y=1):
            return x * y

        x = numpy.arange(3)
        numpy.testing.assert_array_equal(g(x, y=2), x + 2)
        numpy.testing.assert_array_equal(h(x, 3), x * 3)

    def test_get_device(self):
        with pytest.warns(DeprecationWarning), pytest.raises(RuntimeError, match='CUDA'):
            cuda.get_device(0)


def test_to_cpu():
    x, y = numpy.zeros(3), numpy.ones(2)
    assert cuda.to_cpu(x) is x
    assert cuda.to_cpu(None) is None
    result = cuda.to_cpu([x, (None, y), x])
    assert result[0] is result[2] is x and result[1] == (None, y)
    scalar = cuda.to_cpu(numpy.float32(2))
    assert isinstance(scalar, numpy.ndarray) and scalar.dtype == numpy.float32
    for number, dtype in (1.5, 'float64'), (True, 'bool'), (1j, 'complex128'):
        scalar = cuda.to_cpu(number)
        assert isinstance(scalar, numpy.ndarray) and scalar.shape == () and scalar == number
        assert scalar.dtype == dtype
    for bad in ('a', chainer.Variable(x)):
        with pytest.raises(TypeError, match='The array sent to cpu must be'):
            cuda.to_cpu(bad)


@pytest.mark.parametrize('device_id', [-1, 1.5, None, '0'])
def test_from_device_id_bad(device_id):
    with pytest.raises(ValueError, match='Invalid CUDA device ID'):
        cuda.GpuDevice.from_device_id(device_id)


@pytest.mark.parametrize(
    'use, level, expected',
    [
        ('always', '==always', True),
        ('always', '>=auto', True),
        ('auto', '==always', False),
        ('auto', '>=auto', True),
        ('never', '==always', False),
        ('never', '>=auto', False),
    ],
)
@pytest.mark.parametrize('version, lowest', [(-1, 0), (7000, 0), (7000, 7000), (7000, 8000)])
def test_should_use_cudnn(monkeypatch, use, level, expected, version, lowest):
    monkeypatch.setattr(cuda, '_cudnn_version', version)
    # That of CuPy alone
    monkeypatch.setattr(chainer.config, 'use_native_kernels', 'never')
    with chainer.using_config('use_cudnn', use):
        result = chainer.should_use_cudnn(level, lowest)
    assert result is (expected and version >= 0 and version >= lowest)


def test_should_use_cudnn_bad():
    with pytest.raises(ValueError, match='invalid cuDNN use level'):
        chainer.should_use_cudnn('auto')
    with chainer.using_config('use_cudnn', True):
        with pytest.raises(ValueError, match='invalid use_cudnn configuration'):
            chainer.should_use_cudnn('>=auto')


@pytest.mark.parametrize(
    'use, dtype, expected',
    [
        ('always', 'float32', True),
        ('auto', 'float16', True),
        ('auto', numpy.float32, False),
        ('never', 'float16', False),
    ],
)
def test_should_use_cudnn_tensor_core(monkeypatch, use, dtype, expected):
    with chainer.using_config('use_cudnn_tensor_core', use):
        monkeypatch.setitem(vars(cuda), 'cudnn_enabled', False)
        assert chainer.should_use_cudnn_tensor_core(dtype) is False
        monkeypatch.setitem(vars(cuda), 'cudnn_enabled', True)
        assert chainer.should_use_cudnn_tensor_core(dtype) is expected
    with chainer.using_config('use_cudnn_tensor_core', 'x'), pytest.raises(ValueError):
        chainer.should_use_cudnn_tensor_core(dtype)


def test_max_workspace_size():
    before = cuda.get_max_workspace_size()
    cuda.set_max_workspace_size(1024)
    # There is none without cuDNN.
    assert cuda.get_max_workspace_size() == (1024 if before else 0)
    cuda.set_max_workspace_size(before or 8 * 1024 * 1024)
    with pytest.raises(ValueError, match='size must not be negative, but is -1'):
        cuda.set_max_workspace_size(-1)


@pytest.mark.gpu
@pytest.mark.skipif(
    'cuda_emulation' not in os.environ.get('CHAINERX_PATH', ''), reason='needs the stand-in'
)
def test_cudnn_of_chainerx():
    """Functions of CuPy arrays use it if they run on ChainerX's kernels."""
    x, w = (cuda.cupy.ones(shape, 'float32') for shape in ((1, 2, 3, 3), (2, 2, 1, 1)))
    with chainer.using_config('use_native_kernels', 'auto'):
        assert cuda.cudnn_enabled
        assert chainer.should_use_cudnn('>=auto', 90000)
        assert not chainer.should_use_cudnn('>=auto', 90001)
        assert not chainer.should_use_cudnn('==always')
        assert chainer.should_use_cudnn_tensor_core('float16')
        y = chainer.functions.convolution_2d(x, w)
        with chainer.using_config('use_cudnn', 'never'):
            assert not chainer.should_use_cudnn('>=auto')
            plain = chainer.functions.convolution_2d(x, w)
        numpy.testing.assert_allclose(y.array.get(), plain.array.get())
    with chainer.using_config('use_native_kernels', 'never'):
        assert cuda.cudnn_enabled is (cuda.cudnn is not None)


@pytest.mark.gpu
class TestCupy:
    def test_round_trip(self):
        x = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        y = cuda.to_gpu(x)
        assert isinstance(y, cuda.ndarray) and y.device.id == 0
        assert cuda.to_gpu(y) is y
        assert cuda.to_gpu([x, None])[1] is None
        numpy.testing.assert_array_equal(cuda.to_cpu(y), x)
        numpy.testing.assert_array_equal(cuda.to_cpu(cuda.to_gpu(x.T)), x.T)
        numpy.testing.assert_array_equal(cuda.to_cpu(cuda.copy(y)), x)
        with pytest.raises(TypeError, match='The array sent to gpu must be'):
            cuda.to_gpu('a')
        with pytest.warns(DeprecationWarning, match='stream'):
            z = cuda.to_gpu(x, stream=cuda.Stream())
        cuda.Device().synchronize()
        numpy.testing.assert_array_equal(cuda.to_cpu(z), x)

    def test_kernels(self):
        x = cuda.cupy.arange(4, dtype='f')
        kernel = cuda.elementwise('T x', 'T y', 'y = 2 * x', 'test_double')
        assert cuda.elementwise('T x', 'T y', 'y = 2 * x', 'test_double') is kernel
        numpy.testing.assert_array_equal(cuda.to_cpu(kernel(x)), [0, 2, 4, 6])
        total = cuda.reduce('T x', 'T y', 'x', 'a + b', 'y = a', '0', 'test_sum')(x)
        assert float(total) == 6

        @cuda.fuse
        def fused(x):  # a lambda has no name for its kernel
            return x * 2 + 1

        numpy.testing.assert_array_equal(cuda.to_cpu(fused(x)), [1, 3, 5, 7])

    def test_devices(self):
        x = cuda.cupy.zeros(3)
        assert cuda.get_device_from_array(numpy.zeros(1), x) == cuda.Device(0)
        assert cuda.get_device_from_id(0) == cuda.Device(0)
        with pytest.raises(ValueError, match='Invalid CUDA device specifier'):
            cuda.to_gpu(x, device='x')


FAKE_CUPY = """
__version__ = {version!r}
class ndarray: pass
class cuda:
    class Device: pass
    class Event: pass
    class Stream: pass
    @staticmethod
    def is_available():
        return {available}
def get_array_module(*args):
    return 'cupy' if any(isinstance(x, ndarray) for x in args) else 'numpy'
"""


@pytest.mark.parametrize(
    'version, available, env, code',
    [
        (
            '14.0.0',
            True,
            {},
            'assert cuda.available and cuda.cupy is sys.modules["cupy"];'
            'assert not cuda.cudnn_enabled; assert cuda.ndarray is cuda.cupy.ndarray;'
            'assert chainer.backend.get_array_module(cuda.ndarray()) == "cupy"',
        ),
        (
            '13.6.0',
            False,
            {},
            'assert not cuda.available; assert cuda.cupy is not sys.modules["cupy"];'
            'assert "no CUDA device" in str(cuda._resolution_error)',
        ),
        ('14.0.0', True, {}, 'isinstance(1, cuda.ndarray); assert chainer.cuda.available'),
        ('12.3.0', True, {'CHAINER_WARN_VERSION_MISMATCH': '0'}, 'assert cuda.available'),
        (
            '12.3.0',
            True,
            {},
            'import pytest\n'
            'with pytest.warns(UserWarning, match="older than the oldest"): cuda.available',
        ),
        (
            '14.0.0',
            True,
            {'CHAINER_SEED': '7'},
            'import os; cuda.available;assert os.environ["CUPY_SEED"] == "7"',
        ),
    ],
)
def test_loading_of_cupy(tmp_path, version, available, env, code):
    (tmp_path / 'cupy.py').write_text(FAKE_CUPY.format(version=version, available=available))
    code = (
        'import sys, numpy, chainer\n'
        'from chainer.backends import cuda\n'
        'assert "cupy" not in sys.modules\n'
        'assert chainer.backend.get_array_module(numpy.zeros(1), 1) is numpy\n'
        'chainer.Variable(numpy.zeros(1))\n'
        'assert "cupy" not in sys.modules\n' + code
    )
    paths = [str(tmp_path), *sys.path]
    # Hides the GPUs of this machine, also emulated ones
    env = {
        'CUDA_VISIBLE_DEVICES': '',
        'CHAINERX_PATH': '',
        **env,
        'PYTHONPATH': os.pathsep.join(paths),
    }
    run_python(code, options=['-W', 'error'], **env)


def test_variables_of_the_first_caller_end(tmp_path):
    # The errors that tell why a package is absent are kept, but not the frames that they passed.
    (tmp_path / 'cupy.py').write_text(
        'try: import no_such_library\n'
        'except ImportError as error: raise ImportError("cannot be used") from error\n'
    )
    code = """
import gc, weakref

class Data: pass

def first_use():
    data = Data()
    import chainer
    chainer.Parameter(0, (1,))
    assert 'cannot be used' in str(chainer.backends.cuda._resolution_error)
    return weakref.ref(data)

data = first_use()
gc.collect()
assert data() is None
"""
    env = {'CHAINERX_PATH': '', 'PYTHONPATH': os.pathsep.join([str(tmp_path), *sys.path])}
    run_python(code, options=['-W', 'error'], **env)
