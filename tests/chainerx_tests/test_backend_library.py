"""Backends in shared libraries, with the sample backend of ``chainerx_cc/examples``."""

import copy
import os
import pickle
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainerx

SOURCES = Path(__file__).resolve().parents[2] / 'chainerx_cc'
COMPILER = shutil.which(os.environ.get('CXX', 'c++'))

pytestmark = pytest.mark.skipif(COMPILER is None, reason='needs a C++ compiler')


def build(source, target):
    target.parent.mkdir(exist_ok=True)
    subprocess.run(
        [
            COMPILER,
            '-std=c++17',
            '-O1',
            '-shared',
            '-fPIC',
            '-I',
            SOURCES,
            source,
            '-o',
            target,
            '-L',
            Path(chainerx._core.__file__).parent,
            '-lchainerx',
        ],
        check=True,
        # A sanitizer checks this process, not the compiler.
        env={name: value for name, value in os.environ.items() if name != 'LD_PRELOAD'},
    )


@pytest.fixture(scope='module')
def library_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp('chainerx')
    build(
        SOURCES / 'examples' / 'sample_backend' / 'sample_backend.cc',
        folder / 'backends' / 'sample.so',
    )
    return folder


@pytest.fixture(autouse=True)
def chainerx_path(library_folder, monkeypatch):
    monkeypatch.setenv('CHAINERX_PATH', str(library_folder))


def sample(values, index=0, dtype='float32'):
    return chainerx.array(values, dtype, device=f'sample:{index}')


def equal(actual, desired):
    assert isinstance(actual, chainerx.ndarray)
    np.testing.assert_array_equal(chainerx.to_numpy(actual), desired)


def test_devices():
    backend = chainerx.get_backend('sample')
    assert (backend.name, backend.get_device_count()) == ('sample', 2)
    assert backend.context is chainerx.get_default_context()
    device = chainerx.get_device('sample:1')
    assert (device.name, device.index, device.backend) == ('sample:1', 1, backend)
    assert device is chainerx.get_device('sample', 1) is backend.get_device(1)
    assert device is pickle.loads(pickle.dumps(device))
    device.synchronize()
    with pytest.raises(IndexError, match='2 devices'):
        chainerx.get_device('sample:2')
    with chainerx.using_device('sample:1'):
        assert chainerx.zeros(2).device is device
    with chainerx.context_scope(chainerx.Context()):
        assert chainerx.get_device('sample:1') is not device


@pytest.mark.parametrize(
    'make',
    [
        lambda: np.float32([[1, 2], [3, 4]]),
        lambda: [[1, 2], [3, 4]],
        lambda: np.asfortranarray(np.float64([[1, 2], [3, 4]])),
        lambda: chainerx.array([[1, 2], [3, 4]], 'float64'),
        lambda: chainerx.array([[1, 3], [2, 4]], 'float64', device='native:1').T,
        lambda: sample([[1, 2], [3, 4]], 1),
    ],
)
def test_making_and_reading_arrays(make):
    for function in chainerx.array, chainerx.asarray:
        x = function(make(), device='sample:0')
        assert x.device.name == 'sample:0'
        equal(x, [[1, 2], [3, 4]])
        assert x.tolist() == [[1, 2], [3, 4]]
        assert float(x[1, 0]) == 3 and [int(row[1]) for row in x] == [2, 4]
        assert repr(x) == repr(x.to_device('native:0')).replace('native:0', 'sample:0')
        for same in copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.copy():
            assert same.device is x.device
            equal(same, [[1, 2], [3, 4]])


def test_host_memory_is_not_shared():
    x = sample([1, 2])
    for function in np.asarray, memoryview, np.from_dlpack:
        with pytest.raises((BufferError, chainerx.ChainerxError), match='sample:0|DLPack'):
            function(x)
    y = chainerx.to_numpy(x, copy=False)
    y[0] = 5
    equal(x, [1, 2])


def test_arithmetic():
    x, y = sample([[1, 2, 3]]), sample([[10], [20]])
    equal(x + y, [[11, 12, 13], [21, 22, 23]])
    equal((y - x) / 2 * x, [[4.5, 8, 10.5], [9.5, 18, 25.5]])
    equal((-x[:, ::-1]).T, [[-3], [-2], [-1]])
    equal((x + y).sum(axis=0), [32, 34, 36])
    equal((x + y).mean(), 17)
    z = chainerx.zeros((2, 3), 'float32', device='sample:0')
    z += x
    z[1] = 7
    equal(z, [[1, 2, 3], [7, 7, 7]])
    equal(chainerx.concatenate([x, z]).astype('float64'), [[1, 2, 3], [1, 2, 3], [7, 7, 7]])
    assert (x + y).device.name == 'sample:0'


def test_backward():
    x = sample([1, 2, 3]).require_grad()
    y = (x * x / 2 - x).sum()
    chainerx.backward(y, enable_double_backprop=True)
    equal(x.grad.as_grad_stopped(), [0, 1, 2])
    (gg,) = chainerx.grad([(x.grad * x.grad).sum()], [x])
    equal(gg, [0, 2, 4])
    x.cleargrad()


def test_gradients_travel_between_devices():
    x = chainerx.array([1.0, 2.0]).require_grad()
    y = x.to_device('sample:0')
    z = (y * y).to_device('sample:1')
    (z * 3).sum().to_device('native:1').backward()
    assert x.grad.device is x.device
    equal(x.grad, [6, 12])


@pytest.mark.parametrize(
    ('name', 'f'),
    [
        ('exp', chainerx.exp),
        ('matmul', lambda x: x.dot(x)),
        ('maximum', lambda x: chainerx.maximum(x, 0)),
        ('equal', lambda x: x == x),
        ('amax', lambda x: x.max()),
        ('take', lambda x: x.take([0], 0)),
        ('copy', lambda x: x.astype('int32')),
        ('add', lambda x: x.astype(bool) + x),
    ],
)
def test_nothing_falls_back(name, f):
    x = sample([[1, 2], [3, 4]])
    with pytest.raises(chainerx.ChainerxError, match="backend 'sample' has no kernel for '"):
        f(x)


class Double(chainer.FunctionNode):
    def forward(self, inputs):
        return (inputs[0] * 2,)


def test_chainer():
    device = chainer.get_device('sample:0')
    link = chainer.Link()
    with link.init_scope():
        link.w = chainer.Parameter(np.float32([1, 2]))
    link.to_device(device)
    assert link.w.device == device
    y = F.sum(link.w * link.w * 3)
    y.backward()
    assert y.device == device and link.w.grad.device is device.device
    np.testing.assert_array_equal(chainer.backends.cuda.to_cpu(link.w.grad), [6, 12])
    assert repr(link.w) == 'variable w([1., 2.])'
    for f, name in (F.exp, 'exp'), (lambda x: F.maxout(F.reshape(x, (1, 2)), 2), 'amax'):
        with pytest.raises(
            chainerx.NotImplementedError, match=f"backend 'sample' has no kernel for '{name}'"
        ):
            f(link.w)
    with pytest.raises(
        RuntimeError, match=r"Double .* cannot fall back: Only 'native' or 'cuda' .*: sample:0"
    ):
        Double().apply((link.w,))
    link.to_device('@numpy')
    np.testing.assert_array_equal(link.w.array, [1, 2])


def test_devices_do_not_mix():
    for other in sample([1], 1), chainerx.ones(1, 'float32'):
        with pytest.raises(chainerx.DeviceError, match='sample:0.*to_device'):
            sample([1]) + other


def test_unknown_backend(tmp_path, monkeypatch):
    monkeypatch.setenv('CHAINERX_PATH', '{}:{}'.format(tmp_path / 'a', tmp_path / 'b'))
    with pytest.raises(chainerx.BackendError) as e:
        chainerx.get_device('nowhere:0')
    message = str(e.value)
    assert "unknown backend 'nowhere'" in message and 'native' in message
    for folder in 'a', 'b':
        assert str(tmp_path / folder / 'backends' / 'nowhere.so') in message
    monkeypatch.delenv('CHAINERX_PATH')
    monkeypatch.setenv('HOME', str(tmp_path))
    with pytest.raises(chainerx.BackendError, match=r'/\.chainerx/backends/nowhere\.so.*not set'):
        chainerx.get_backend('nowhere')
    monkeypatch.delenv('HOME')
    with pytest.raises(chainerx.BackendError, match='nowhere'):
        chainerx.get_backend('nowhere')


@pytest.mark.parametrize(
    ('name', 'code', 'message'),
    [
        ('text', None, 'file too short|invalid ELF'),
        (
            'empty',
            'int CreateNothing() { return 0; }',
            'does not export the function CreateBackend',
        ),
        (
            'failing',
            '#include <stdexcept>\nextern "C" void* CreateBackend() { throw std::runtime_error{"no card"}; }',
            'CreateBackend failed: no card',
        ),
        ('none', 'extern "C" void* CreateBackend() { return nullptr; }', 'returned no backend'),
    ],
)
def test_unusable_libraries(name, code, message, tmp_path, monkeypatch):
    monkeypatch.setenv('CHAINERX_PATH', str(tmp_path))
    target = tmp_path / 'backends' / (name + '.so')
    if code is None:
        target.parent.mkdir()
        target.write_text('not a library')
    else:
        source = tmp_path / 'source.cc'
        source.write_text(code)
        build(source, target)
    for _ in range(2):
        with pytest.raises(chainerx.BackendError, match=message) as e:
            chainerx.get_device(name)
        assert str(target) in str(e.value)
