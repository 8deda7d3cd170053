"""ChainerX's devices in the tests of Chainer.

`CHAINERX_TEST_DEVICE=cuda:0` runs them on another backend than `native`.
"""

import os

import pytest

_BACKEND = os.environ.get('CHAINERX_TEST_DEVICE', 'native').partition(':')[0]
CHX = [f'{_BACKEND}:{i}' for i in range(4)]
IS_CUDA = _BACKEND == 'cuda'

#: For tests that compare with NumPy's random numbers.
drawn_by_numpy = pytest.mark.skipif(IS_CUDA, reason='CuPy draws other random numbers')
#: For tests that compute on the memory of ChainerX's arrays with NumPy.
on_host = pytest.mark.skipif(IS_CUDA, reason='NumPy has no arrays in device memory')
