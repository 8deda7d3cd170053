import numpy
import pytest

import chainer
from chainer.backends import intel64

pytestmark = pytest.mark.skipif(intel64.is_ideep_available(), reason='iDeep is available')


def test_unavailable():
    assert intel64.is_ideep_available() is False
    with pytest.raises(RuntimeError, match='iDeep is not available.\nReason: ModuleNotFoundError'):
        intel64.check_ideep_available()
    assert intel64.inputs_all_ready((numpy.zeros((2, 3), 'f'),)) is False
    assert isinstance(intel64.mdarray, type)
    assert intel64.Intel64Device.from_array(numpy.zeros(3)) is None


def test_equality():
    """Devices of iDeep are equal to each other only."""
    one, other = [object.__new__(intel64.Intel64Device) for _ in range(2)]
    assert one == other and not one != other and hash(one) == hash(other)
    cpu = chainer.backend.CpuDevice()
    for device in cpu, '@intel64', None, intel64.Intel64Device:
        assert one != device and device != one and not one == device and not device == one
    assert {one, other, cpu} == {one, cpu}


@pytest.mark.parametrize('use', ['always', 'auto', 'never'])
def test_should_use_ideep(use):
    with chainer.using_config('use_ideep', use):
        assert intel64.should_use_ideep('>=auto') is False
        with pytest.raises(ValueError, match='invalid iDeep use level'):
            intel64.should_use_ideep('auto')
    with chainer.using_config('use_ideep', 'x'):
        with pytest.raises(ValueError, match='invalid use_ideep configuration'):
            intel64.should_use_ideep('==always')
