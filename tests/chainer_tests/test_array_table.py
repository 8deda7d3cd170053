"""The table of array kinds: one row serves every function that looks at an array."""

import gc
import weakref
from unittest import mock

import numpy
import pytest
from helpers.programs import run_python

import chainer
import chainerx
from chainer import backend
from chainer._core.devices import array_kinds, array_types
from chainer._core.devices.array_kinds import KINDS
from chainer.backends import cuda


class NumpySubclass(numpy.ndarray):
    pass


class VariableSubclass(chainer.Variable):
    pass


def make():
    return numpy.arange(6, dtype='f').reshape(2, 3)


def make_chainerx():
    if not chainerx.is_available():
        pytest.skip('ChainerX is not built')
    return chainerx.array(make())


@pytest.mark.parametrize(
    'create, xp, device',
    [
        (make, numpy, '@numpy'),
        (lambda: numpy.zeros(()), numpy, '@numpy'),
        (lambda: numpy.zeros((0, 2)), numpy, '@numpy'),
        (lambda: make().view(NumpySubclass), numpy, '@numpy'),
        (lambda: numpy.ma.masked_array(make()), numpy, '@numpy'),
        (make_chainerx, chainerx, 'native:0'),
        *[
            (value.__class__ if value is None else (lambda value=value: value), numpy, '@numpy')
            for value in (None, 1, 1.5, True, 1j, numpy.float16(1), numpy.bool_(1), [1], (), 'x')
        ],
        (object, numpy, '@numpy'),
    ],
    ids=lambda value: getattr(value, '__name__', None),
)
def test_look_ups_agree(create, xp, device):
    obj = create()
    holders = [obj]
    if isinstance(obj, (numpy.ndarray, chainerx.ndarray)):
        kinds = chainer.Variable, VariableSubclass, chainer.Parameter
        holders += [cls(obj) for cls in kinds if cls is not chainer.Parameter or obj.size]
    for _ in range(2):  # the first time searches
        for holder in holders:
            assert backend.get_array_module(holder) is xp
            assert backend.get_array_module(make(), 1, holder, None) is xp
            assert backend.get_device_from_array(holder).name == device
            assert backend.get_device_from_array(make(), None, holder).name == device
            assert cuda.get_device_from_array(holder) is cuda.DummyDevice


def test_variables_are_no_arrays():
    x = chainer.Variable(make())
    with pytest.raises(TypeError, match='dst must be an array, not .*Variable'):
        backend.copyto(x, make())
    with pytest.raises(TypeError, match='The array sent to cpu must be'):
        cuda.to_cpu(x)
    assert not chainer.is_arrays_compatible([x, make()])


def test_uninitialized_parameter():
    assert backend.get_array_module(chainer.Parameter(0)) is numpy
    assert backend.get_device_from_array(chainer.Parameter(0)).name == '@numpy'


def test_classes_of_programs_are_not_kept():
    class Ended(numpy.ndarray):
        pass

    assert backend.get_array_module(make().view(Ended)) is numpy
    reference = weakref.ref(Ended)
    del Ended
    gc.collect()
    assert reference() is None


class Tiles:
    """An array of a backend that Chainer does not know."""

    def __init__(self, array):
        self.array = numpy.array(array)
        self.shape, self.dtype = self.array.shape, self.array.dtype


class TilesDevice(backend.Device):
    name = '@tiles'
    xp = mock.sentinel.tiles
    supported_array_types = (Tiles,)

    def send_array(self, array):
        return Tiles(cuda.to_cpu(array))

    def __eq__(self, other):
        return type(other) is TilesDevice

    def __hash__(self):
        return 1


def _assign(dst, src):
    dst.array[...] = cuda.to_cpu(src)


@pytest.fixture
def tiles():
    row = array_kinds.Kind(
        array_class=lambda: Tiles,
        is_available=lambda: True,
        xp_of=lambda array: TilesDevice.xp,
        device_of=lambda array: TilesDevice(),
        to_numpy=lambda array: array.array,
        assign=_assign,
        name='tiles',
        current_device=TilesDevice,
    )
    array_kinds.TABLE.insert(0, row)
    array_types._array_types.cache_clear()
    yield Tiles(make())
    array_kinds.TABLE.remove(row)
    array_types._array_types.cache_clear()


def test_backend_is_one_row(tiles):
    assert Tiles in chainer.get_array_types()
    x = chainer.Variable(tiles)
    for obj in tiles, x:
        assert backend.get_array_module(1, obj) is TilesDevice.xp
        assert backend.get_device_from_array(make(), obj) == TilesDevice()
    assert x.device == TilesDevice() and x.xp is TilesDevice.xp
    assert chainer.is_arrays_compatible([tiles, None, tiles])
    assert not chainer.is_arrays_compatible([tiles, make()])
    assert not chainer.is_arrays_compatible([make(), tiles])

    sent = chainer.get_device('@tiles').send({'x': [make(), tiles]})
    numpy.testing.assert_array_equal(sent['x'][1].array, make())
    with pytest.raises(ValueError, match='@tiles takes no index'):
        chainer.get_device('@tiles:0')
    numpy.testing.assert_array_equal(cuda.to_cpu([tiles])[0], make())
    numpy.testing.assert_array_equal(chainer.get_device('@numpy').send(tiles), make())
    backend.copyto(tiles, make() + 1)
    dst = numpy.zeros((2, 3))
    backend.copyto(dst, tiles)
    numpy.testing.assert_array_equal(dst, make() + 1)
    if chainerx.is_available():
        y = chainer.get_device('native:0').send(tiles)
        numpy.testing.assert_array_equal(chainerx.to_numpy(y), make() + 1)
        backend.copyto(tiles, y * 2)
        numpy.testing.assert_array_equal(tiles.array, make() * 2 + 2)


@pytest.mark.gpu
def test_cupy():
    import cupy

    x = cupy.ones((2, 3), 'f')
    for obj in x, chainer.Variable(x), chainer.Parameter(x):
        assert backend.get_array_module(make(), obj) is cupy
        assert backend.get_device_from_array(make(), obj).name == '@cupy:0'
        assert cuda.get_device_from_array(1, obj) == cuda.Device(0)
    assert cupy.ndarray in chainer.get_array_types()
    assert KINDS[cupy.ndarray].xp_of(x) is cupy
    assert not chainer.is_arrays_compatible([x, make()])
    backend.copyto(x, make())
    numpy.testing.assert_array_equal(x.get(), make())


@pytest.mark.gpu
def test_cupy_knows_its_other_classes(monkeypatch):
    class Sparse:
        pass

    def get_array_module(*args):
        return cuda.cupy if any(isinstance(arg, Sparse) for arg in args) else numpy

    monkeypatch.setattr(cuda.cupy, 'get_array_module', get_array_module)
    assert backend.get_array_module(1, Sparse()) is cuda.cupy
    assert backend.get_array_module(1) is numpy
    assert backend.get_device_from_array(Sparse()).name == '@numpy'


class TestReplacedNames:
    """Programs replace what `cuda` has of CuPy, and functions of all its modules see it."""

    @pytest.fixture(autouse=True)
    def fake_cupy(self, monkeypatch):
        class ndarray:
            device = None

        class Device:
            def __init__(self, device=0):
                self.id = device

            def __eq__(self, other):
                return self.id == other.id

            def __enter__(self):
                return self

            def __exit__(self, *args):
                pass

        self.array = ndarray()
        self.array.device = Device(3)
        self.array.get = make
        self.cupy = mock.Mock(empty_like=lambda array: self.array)
        for name, value in {
            'available': True,
            'cupy': self.cupy,
            'ndarray': ndarray,
            'Device': Device,
        }.items():
            monkeypatch.setattr(cuda, name, value)
        monkeypatch.setitem(__import__('sys').modules, 'cupy', self.cupy)

    def test_devices(self):
        assert cuda.get_device_from_id(2).id == 2
        assert chainer.get_device('@cupy:2').device.id == 2
        assert chainer.get_device(2).xp is self.cupy
        assert cuda.get_device_from_array(make(), self.array).id == 3
        assert backend.get_device_from_array(make(), self.array).device.id == 3
        assert backend.get_device_from_array(chainer.Variable(make()), self.array).name == '@cupy:3'

    def test_array_module(self):
        self.cupy.get_array_module.side_effect = lambda *args: self.cupy
        assert backend.get_array_module(self.array) is self.cupy
        with mock.patch.object(cuda, 'available', False):
            assert backend.get_array_module(self.array) is numpy

    def test_copies(self):
        assert cuda.copy(self.array) is self.array
        self.cupy.copyto.assert_called_once_with(self.array, self.array)
        numpy.testing.assert_array_equal(cuda.to_cpu(self.array), make())
        numpy.testing.assert_array_equal(chainer.get_device('@numpy').send(self.array), make())

    def test_not_available(self, monkeypatch):
        monkeypatch.setattr(cuda, 'available', False)
        with pytest.raises(RuntimeError, match='CUDA environment is not correctly set up'):
            cuda.check_cuda_available()
        with pytest.raises(RuntimeError, match='CUDA environment is not correctly set up'):
            cuda.get_device_from_id(0)

    def test_cudnn(self, monkeypatch):
        monkeypatch.setattr(cuda, 'cudnn', mock.Mock(), raising=False)
        cuda.cudnn.get_max_workspace_size.return_value = 5
        assert cuda.get_max_workspace_size() == 5
        cuda.set_max_workspace_size(8 * 1024 * 1024)
        cuda.cudnn.set_max_workspace_size.assert_called_once_with(8 * 1024 * 1024)
        assert cuda.get_cudnn_dropout_states_core.__module__ == 'chainer.backends.cuda'


@pytest.mark.parametrize('first', ['', 'cuda.available'])
def test_names_come_back(first):
    """A replaced name comes back after the test, also one that nothing has used before."""
    code = (
        'from unittest import mock\n'
        'from chainer.backends import cuda\n'
        f'{first}\n'
        'with mock.patch("chainer.backends.cuda.available", 7):\n'
        '    assert cuda.available == 7\n'
        'assert type(cuda.available) is bool\n'
        'assert not isinstance(1, cuda.ndarray)'
    )
    run_python(code)


def test_public_names_belong_to_the_public_module():
    for name in ('DummyDeviceType', 'GpuDevice', 'get_array_module', 'to_cpu', 'should_use_cudnn'):
        assert getattr(cuda, name).__module__ == 'chainer.backends.cuda'
