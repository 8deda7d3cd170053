import numpy
import pytest

import chainer
from chainer import backend, device_resident
from chainer.backends import cuda, intel64


class Resident(chainer.DeviceResident):
    def __init__(self, *children):
        super().__init__()
        self.array = numpy.arange(3, dtype='f')
        self.variable = chainer.Variable(numpy.arange(3, dtype='f'))
        self.children = children

    def device_resident_accept(self, visitor):
        super().device_resident_accept(visitor)
        self.array = visitor.visit_array(self.array)
        visitor.visit_variable(self.variable)
        for child in self.children:
            child.device_resident_accept(visitor)


def test_initial():
    resident = Resident()
    assert resident.device == backend.CpuDevice()
    assert resident.xp is numpy


def test_stays_on_cpu():
    resident = Resident(Resident())
    array, variable_array = resident.array, resident.variable.array
    for move in (resident.from_chx, lambda: resident.to_device('@numpy')):
        assert move() is resident
        assert resident.array is array and resident.variable.array is variable_array
    with pytest.raises(ValueError):
        resident.to_device('@unknown')


@pytest.mark.skipif(cuda.available or intel64.is_ideep_available(), reason='it is available')
def test_unavailable():
    resident = Resident()
    with pytest.warns(DeprecationWarning), pytest.raises(RuntimeError, match='CUDA'):
        resident.to_gpu()
    with pytest.raises(RuntimeError, match='iDeep'):
        resident.to_intel64()


def test_abstract_visitor():
    visitor = device_resident.DeviceResidentsVisitor()
    for visit in (visitor.visit_array, visitor.visit_variable, visitor.visit_device_resident):
        with pytest.raises(NotImplementedError):
            visit(None)


def make_old_class():
    with pytest.warns(DeprecationWarning, match="'to_cpu'"):

        class Old(Resident):
            calls = 0

            def to_cpu(self):
                self.calls += 1
                return super().to_cpu()

    return Old


def test_to_cpu():
    resident = Resident(Resident())
    with pytest.warns(DeprecationWarning, match='to_cpu is deprecated. Use to_device'):
        assert resident.to_cpu() is resident
    assert resident.device == chainer.get_device('@numpy')


@pytest.mark.filterwarnings('ignore:to_cpu is deprecated')
def test_overridden_method():
    old = make_old_class()()
    old.to_cpu()
    assert old.calls == 1
    old.to_device('@numpy')
    assert old.calls == 2
    Resident(old).to_cpu()
    assert old.calls == 3
    Resident(Resident(old)).to_device('@numpy')
    assert old.calls == 4


@pytest.mark.chainerx
def test_chainerx():
    import chainerx

    resident = Resident(Resident())
    array = resident.array
    resident.to_chx()
    for r in (resident, resident.children[0]):
        assert r.device == chainer.get_device('native:0') and r.xp is chainerx
        assert isinstance(r.array, chainerx.ndarray)
        assert r.variable.xp is chainerx
    resident.to_device('native:1')
    assert resident.array.device.name == 'native:1'
    assert resident.to_chx().device.name == 'native:1'
    resident.from_chx()
    assert resident.device == backend.CpuDevice()
    numpy.testing.assert_array_equal(resident.array, array)
    assert isinstance(resident.variable.array, numpy.ndarray)


@pytest.mark.gpu
@pytest.mark.filterwarnings('ignore:to_.pu is deprecated')
def test_gpu():
    resident = Resident(Resident())
    assert resident.to_gpu() is resident
    for r in (resident, resident.children[0]):
        assert r.device == chainer.get_device('@cupy:0') and r.xp is cuda.cupy
        assert isinstance(r.array, cuda.ndarray) and isinstance(r.variable.array, cuda.ndarray)
    array = resident.array
    assert resident.to_gpu(0).array is array
    assert isinstance(resident.to_cpu().array, numpy.ndarray)
    assert resident.to_device('@cupy:0').xp is cuda.cupy
