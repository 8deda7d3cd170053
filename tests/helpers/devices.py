"""ChainerX's devices in the tests of Chainer.

`CHAINERX_TEST_DEVICE=cuda:0` runs them on another backend than `native`.
"""

import os

_BACKEND = os.environ.get('CHAINERX_TEST_DEVICE', 'native').partition(':')[0]
CHX = [f'{_BACKEND}:{i}' for i in range(4)]
IS_CUDA = _BACKEND == 'cuda'
