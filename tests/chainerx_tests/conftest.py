"""What every test of ChainerX gets: the device to test, and no array may outlive its test.

``CHAINERX_TEST_DEVICE=cuda:0`` runs the tests on another default device than ``native:0``.
"""

import gc
import os

import pytest

import chainerx
from tests.helpers.cudnn_stand_in import StandIn

DEVICE = os.environ.get('CHAINERX_TEST_DEVICE')
collect_ignore_glob = [] if DEVICE is not None and DEVICE.startswith('cuda') else ['test_cuda*.py']


@pytest.fixture(autouse=True)
def _no_leaked_arrays():
    before = chainerx._core._live_array_count()
    yield
    if os.environ.get('CHAINER_SANITIZER') == 'compute-sanitizer':
        return  # it keeps the Python frames that it reports, and so their arrays
    if chainerx._core._live_array_count() > before:
        gc.collect()  # arrays in cycles of Python objects are no leak
        leaked = chainerx._core._live_array_count() - before
        if leaked > 0:
            pytest.fail(f'{leaked} arrays are still alive')


if DEVICE is not None:

    @pytest.fixture(autouse=True)
    def _device():
        with chainerx.using_device(DEVICE):
            yield
        # Work that waits in a stream would keep the memory of the tests after it.
        chainerx.get_device(DEVICE).synchronize()


@pytest.fixture
def stand_in():
    """That for cuDNN, of the emulated CUDA backend."""
    stand_in = StandIn()
    stand_in.calls()
    yield stand_in
    stand_in.restore()
