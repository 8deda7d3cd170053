"""Groups of GPUs that add and send arrays by NCCL.

They need GPUs, those of one member one, or the emulation that ``python tools/build.py --test`` builds and tests.
"""

import threading

import numpy as np
import pytest

import chainerx
from chainerx import _core
from tests.helpers.cuda_emulation import is_emulated
from tests.helpers.programs import run_python

DTYPES = 'int8 uint8 int32 uint32 int64 uint64 float16 float32 float64'.split()


@pytest.fixture(autouse=True)
def _gpus(request):
    parameters = getattr(request.node, 'callspec', None)
    size = parameters.params.get('size', 2) if parameters else 2
    if chainerx.get_backend('cuda').get_device_count() < size:
        pytest.skip(f'needs {size} GPUs')


def _run(size, call):
    """Results of ``call(group, rank)`` in the threads of all members."""
    name = _core._make_device_group_name(chainerx.get_device('cuda:0'))
    results = [None] * size

    def run(rank):
        device = chainerx.get_device('cuda', rank)
        with chainerx.using_device(device):
            array = call(_core._DeviceGroup(device, size, name, rank), rank)
            results[rank] = chainerx.to_numpy(array)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def _values(rank, dtype):
    return chainerx.arange(1000).reshape(10, 100).astype('int8').astype(dtype) % 7 + rank


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('size', [1, 2, 4] if is_emulated() else [1, 2])
class TestGroups:
    def test_sum_to_all(self, size, dtype):
        def call(group, rank):
            x = _values(rank, dtype)
            group.sum_to_all(x)
            return x * 1  # in order with the sum

        expected = sum([chainerx.to_numpy(_values(rank, dtype)) for rank in range(size)])
        for result in _run(size, call):
            assert result.dtype == dtype
            np.testing.assert_array_equal(result, expected)

    def test_sum(self, size, dtype):
        def call(group, rank):
            x = _values(rank, dtype)
            group.sum(x, size - 1)
            return x

        expected = sum([chainerx.to_numpy(_values(rank, dtype)) for rank in range(size)])
        np.testing.assert_array_equal(_run(size, call)[-1], expected)

    def test_broadcast(self, size, dtype):
        def call(group, rank):
            x = _values(rank, dtype)
            group.broadcast(x, size - 1)
            return x

        for result in _run(size, call):
            np.testing.assert_array_equal(result, chainerx.to_numpy(_values(size - 1, dtype)))


def _group_of_one():
    device = chainerx.get_device('cuda:0')
    return _core._DeviceGroup(device, 1, _core._make_device_group_name(device), 0)


@pytest.mark.parametrize(
    'make, error, message',
    [
        (
            lambda: chainerx.zeros(3, device='cuda:1'),
            chainerx.DeviceError,
            'on cuda:1, not on cuda:0',
        ),
        (lambda: chainerx.zeros((3, 2)).T, chainerx.ChainerxError, 'contiguous'),
        (lambda: chainerx.zeros(3, 'bool'), chainerx.DtypeError, 'of dtype bool'),
    ],
    ids=['device', 'strides', 'dtype'],
)
def test_wrong_arrays(make, error, message):
    group = _group_of_one()
    with pytest.raises(error, match=message):
        group.sum_to_all(make())


def test_wrong_members():
    device = chainerx.get_device('cuda:0')
    name = _core._make_device_group_name(device)
    with pytest.raises(ValueError, match='rank 2 is not below the size 2'):
        _core._DeviceGroup(device, 2, name, 2)
    with pytest.raises(ValueError, match='not the name of a group'):
        _core._DeviceGroup(device, 2, 'x' + name[1:], 0)
    with pytest.raises(chainerx.BackendError, match="backend 'native' form no groups"):
        _core._make_device_group_name(chainerx.get_device('native:0'))


def test_without_nccl():
    code = """
        import chainerx
        chainerx._core._make_device_group_name(chainerx.get_device('cuda:0'))
    """
    result = run_python(code, status=1, CHAINERX_CUDA_LIBRARIES='never')
    assert (
        'groups of GPUs need NCCL, which cannot be loaded: "pip install nvidia-nccl-cu13" '
        'installs it, and "pip install \'chainer[cuda13x]\'" all that the CUDA backend uses; '
        "CHAINERX_CUDA_LIBRARIES is 'never'"
    ) in result.stderr
