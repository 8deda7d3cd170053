import collections
import pickle

import numpy
import pytest

import chainer
import chainerx
from chainer import backend
from chainer.backends import cuda, intel64

no_cuda = pytest.mark.skipif(cuda.available, reason='CUDA is available')
no_chainerx = pytest.mark.skipif(chainerx.is_available(), reason='ChainerX is available')


def make():
    return numpy.arange(6, dtype=numpy.float32).reshape(2, 3)


@pytest.mark.parametrize(
    'spec',
    [
        '@numpy',
        '-1',
        -1,
        numpy.int32(-1),
        numpy,
        (numpy,),
        (numpy, None),
        backend.CpuDevice(),
        cuda.DummyDevice,
    ],
    ids=repr,
)
def test_cpu_device_specs(spec):
    device = chainer.get_device(spec)
    assert device == backend.CpuDevice()
    assert device.name == str(device) == '@numpy'
    assert device.xp is numpy


@pytest.mark.parametrize(
    'spec, error',
    [
        ('@unknown', ValueError),
        ('@numpy:0', ValueError),
        ('@intel64:0', ValueError),
        ('@cupy:', ValueError),
        ('@cupy:x', ValueError),
        ('@cupy:-1', ValueError),
        ('@', ValueError),
        ((), TypeError),
        (('@numpy', 0), TypeError),
        ((numpy, 0), TypeError),
        ((1, 2), TypeError),
        (pickle, ValueError),
        (None, TypeError),
        (1.5, TypeError),
        (True, TypeError),
        ([], TypeError),
    ],
    ids=repr,
)
def test_bad_device_specs(spec, error):
    with pytest.raises(error, match='[Ii]nvalid device specifier'):
        chainer.get_device(spec)


@no_cuda
@pytest.mark.parametrize('spec', ['@cupy', '@cupy:0', '0', 0, numpy.int64(1)])
def test_no_cuda(spec):
    with pytest.raises(RuntimeError, match='CUDA environment is not correctly set up'):
        chainer.get_device(spec)


@no_chainerx
@pytest.mark.parametrize('spec', ['native', 'native:0', 'cuda:0', ('native', 0), chainerx, 'cpu'])
def test_no_chainerx(spec):
    with pytest.raises(RuntimeError, match='(?s)ChainerX is not available.*CHAINER_BUILD_CHAINERX'):
        chainer.get_device(spec)


@pytest.mark.parametrize(
    'call',
    [
        lambda: chainer.get_device('native:0'),
        lambda: chainer.backend.to_chx(numpy.ones(2)),
        lambda: chainer.Chain().to_chx(),
    ],
)
def test_reason_why_there_is_no_chainerx(monkeypatch, call):
    monkeypatch.setattr(chainerx, 'is_available', lambda: False)
    monkeypatch.setattr(chainerx._availability, 'reason', 'built from others')
    with pytest.raises(RuntimeError, match='ChainerX is not available.*built from others'):
        call()


@pytest.mark.skipif(intel64.is_ideep_available(), reason='iDeep is available')
def test_no_ideep():
    with pytest.raises(RuntimeError, match='iDeep is not available.\nReason: '):
        chainer.get_device('@intel64')


def test_device_is_no_context_manager():
    with pytest.raises(RuntimeError, match='using_device'):
        with chainer.get_device('@numpy'):
            pass


def test_using_device_nests():
    with chainer.using_device('@numpy'):
        with chainer.using_device(backend.CpuDevice()):
            pass


def test_cpu_device():
    device = backend.CpuDevice()
    assert repr(device) == '<CpuDevice (numpy)>'
    assert hash(device) == hash(backend.CpuDevice())
    assert device != 'x' and not device == 1
    assert device.supported_array_types == (numpy.ndarray,)
    assert device.is_array_supported(make())
    assert not device.is_array_supported(1.0)
    assert backend.CpuDevice.from_array(make()) == device
    assert backend.CpuDevice.from_array([1]) is None
    device.use()
    assert pickle.loads(pickle.dumps(device)) == device


def test_abstract_device():
    device = backend.Device()
    for get in (
        lambda: device.name,
        lambda: device.xp,
        lambda: device.supported_array_types,
        lambda: device == 1,
        lambda: hash(device),
        lambda: device.send_array(make()),
        lambda: device.is_array_supported(make()),
    ):
        with pytest.raises(NotImplementedError):
            get()


Pair = collections.namedtuple('Pair', 'a b')


def test_send_keeps_identity_and_structure():
    x, y = make(), make()
    sent = backend.CpuDevice().send({'a': [x, (y, None)], 'b': Pair(x, numpy.float32(2))})
    assert sent['a'][0] is x and sent['b'].a is x
    assert isinstance(sent['a'], list) and isinstance(sent['a'][1], tuple)
    assert sent['a'][1][0] is y and sent['a'][1][1] is None
    assert type(sent['b']) is Pair
    assert isinstance(sent['b'].b, numpy.ndarray) and sent['b'].b.dtype == numpy.float32
    assert backend.CpuDevice().send(x) is x
    assert backend.CpuDevice().send([]) == []


@pytest.mark.parametrize('value', ['a', object(), {1}])
def test_send_bad(value):
    with pytest.raises(TypeError, match='Actual type'):
        backend.CpuDevice().send([value])


def test_get_array_module():
    assert backend.get_array_module() is numpy
    assert backend.get_array_module(make(), 1, None, [1]) is numpy
    assert backend.get_array_module(chainer.Variable(make())) is numpy
    assert backend.get_array_module(chainer.Parameter()) is numpy
    assert cuda.get_array_module(make()) is numpy


def test_get_device_from_array():
    assert backend.get_device_from_array() == backend.CpuDevice()
    assert backend.get_device_from_array(make(), None, 1) == backend.CpuDevice()
    assert backend.get_device_from_array(chainer.Variable(make())) == backend.CpuDevice()


def test_copyto():
    dst = numpy.zeros((2, 3), numpy.float64)
    backend.copyto(dst, make())
    numpy.testing.assert_array_equal(dst, make())
    backend.copyto(dst, numpy.float32(3))
    assert (dst == 3).all()
    with pytest.raises(TypeError, match='dst must be an array'):
        backend.copyto([0], make())
    with pytest.raises(TypeError, match='Actual type'):
        backend.copyto(dst, 'a')
    with pytest.raises(ValueError):
        backend.copyto(dst, numpy.zeros(4))


def test_to_and_from_chx_of_others():
    x = make()
    assert backend.from_chx(x) is x
    assert backend.from_chx([x, None])[0] is x
    if not chainerx.is_available():
        with pytest.raises(RuntimeError, match='CHAINER_BUILD_CHAINERX'):
            backend.to_chx(x)
        assert backend.to_chx(None) is None


# -- ChainerX -----------------------------------------------------------------


@pytest.mark.chainerx
class TestChainerx:
    @pytest.mark.parametrize(
        'spec, name',
        [('native', 'native:0'), ('native:1', 'native:1'), (('native', 1), 'native:1')],
    )
    def test_specs(self, spec, name):
        device = chainer.get_device(spec)
        assert isinstance(device, backend.ChainerxDevice)
        assert device.name == str(device) == device.device.name == name
        assert repr(device) == f'<ChainerxDevice {name}>'
        assert device.xp is chainerx
        assert chainer.get_device(chainerx.get_device(name)) == device
        assert hash(device) == hash(chainer.get_device(name))

    def test_bad(self):
        with pytest.raises((chainerx.ChainerxError, chainerx.BackendError)):
            chainer.get_device('unknown:0')
        with pytest.raises(TypeError, match='chainerx.Device'):
            backend.ChainerxDevice('native:0')

    def test_default_device(self):
        with chainer.using_device('native:1'):
            assert chainer.get_device(chainerx).name == 'native:1'
            with chainer.using_device('native:0'):
                assert chainerx.get_default_device().name == 'native:0'
            assert chainerx.get_default_device().name == 'native:1'

    def test_send(self):
        x = make()
        device = chainer.get_device('native:1')
        y, none = device.send([x, None])
        assert none is None
        assert y.device is device.device
        assert device.send(y) is y
        numpy.testing.assert_array_equal(backend.CpuDevice().send(y), x)
        assert device.is_array_supported(y)
        assert not chainer.get_device('native:0').is_array_supported(y)
        assert not device.is_array_supported(x)
        with pytest.raises(TypeError, match='Actual type'):
            device.send('a')

    def test_no_copy(self):
        x = make()
        y = backend.to_chx(x)
        assert y.device.name == 'native:0'
        x[0, 0] = 42
        assert float(y[0, 0]) == 42
        z = backend.from_chx(y)
        z[0, 1] = 43
        assert x[0, 1] == 43
        assert backend.to_chx(y) is y
        assert backend.to_chx([x, (x, None)])[1][1] is None

    def test_from_chx_with_graph(self):
        y = backend.to_chx(make())
        y.require_grad()
        numpy.testing.assert_array_equal(backend.from_chx(y * 2), 2 * make())

    def test_fallback_device(self):
        device = chainer.get_device('native:1')
        assert device.fallback_device == backend.CpuDevice()
        assert backend.ChainerxDevice.from_fallback_device(
            backend.CpuDevice()
        ) == chainer.get_device('native:0')
        with pytest.raises(TypeError, match='ChainerX device already'):
            backend.ChainerxDevice.from_fallback_device(device)

    def test_from_array(self):
        y = backend.to_chx(make())
        assert backend.ChainerxDevice.from_array(y) == chainer.get_device('native:0')
        assert backend.ChainerxDevice.from_array(make()) is None
        assert backend.get_device_from_array(make(), y) == chainer.get_device('native:0')
        assert backend.get_array_module(make(), y) is chainerx
        assert backend.get_array_module(chainer.Variable(y)) is chainerx

    def test_copyto(self):
        y = backend.to_chx(numpy.zeros((2, 3), numpy.float32))
        backend.copyto(y, make())
        numpy.testing.assert_array_equal(chainerx.to_numpy(y), make())
        x = numpy.zeros((2, 3), numpy.float32)
        backend.copyto(x, y)
        numpy.testing.assert_array_equal(x, make())


# -- CuPy ---------------------------------------------------------------------


@pytest.mark.gpu
class TestCupy:
    @pytest.mark.parametrize('spec', ['@cupy', '@cupy:0', '0', 0, numpy.int32(0)])
    def test_specs(self, spec):
        device = chainer.get_device(spec)
        assert isinstance(device, backend.GpuDevice)
        assert device.name == '@cupy:0'
        assert repr(device) == '<GpuDevice (cupy):0>'
        assert device.xp is cuda.cupy
        assert device.supported_array_types == (cuda.ndarray,)
        assert chainer.get_device((cuda.cupy, 0)) == chainer.get_device(cuda.cupy) == device
        assert chainer.get_device(cuda.Device(0)) == device

    def test_send(self):
        x = make()
        device = chainer.get_device('@cupy:0')
        (y,) = device.send([x])
        assert isinstance(y, cuda.ndarray)
        assert device.send(y) is y
        assert backend.get_device_from_array(x, y) == device
        assert backend.get_array_module(x, y) is cuda.cupy
        numpy.testing.assert_array_equal(backend.CpuDevice().send(y), x)
        backend.copyto(y, x + 1)
        backend.copyto(x, y)
        numpy.testing.assert_array_equal(x, make() + 1)

    def test_using_device_nests(self):
        with chainer.using_device('@cupy:0'):
            with chainer.using_device('@cupy:0'):
                assert cuda.Device().id == 0
