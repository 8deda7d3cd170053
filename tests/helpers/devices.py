"""ChainerX's devices in the tests of Chainer.

`CHAINERX_TEST_DEVICE=cuda:0` runs them on another backend than `native`.
"""

import os

import pytest

import chainerx

_BACKEND = os.environ.get('CHAINERX_TEST_DEVICE', 'native').partition(':')[0]
IS_CUDA = _BACKEND == 'cuda'
_MOST = 4
_COUNT = min(chainerx.get_backend('cuda').get_device_count(), _MOST) if IS_CUDA else _MOST

#: Devices, of which several are the same one where there are fewer.
CHX = [f'{_BACKEND}:{i % _COUNT}' for i in range(_MOST)]


def needs_devices(n):
    """Mark for tests of which each device of ``CHX[:n]`` has to be another one."""
    return pytest.mark.skipif(_COUNT < n, reason=f'needs {n} devices, found {_COUNT}')


#: For tests that compare with NumPy's random numbers.
drawn_by_numpy = pytest.mark.skipif(IS_CUDA, reason='CuPy draws other random numbers')
#: For tests that compute on the memory of ChainerX's arrays with NumPy.
on_host = pytest.mark.skipif(IS_CUDA, reason='NumPy has no arrays in device memory')
