"""What every test gets: fixed seeds, no display, marks that skip, a check for leaked devices."""

import gc
import os
import pathlib
import random
import signal
import sys

import numpy
import pytest

os.environ.setdefault('MPLBACKEND', 'Agg')
# Shells start jobs in the background with Ctrl-C ignored, and so would the programs of tests.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Worker processes share the cores; one thread each is both faster and steadier.
if 'PYTEST_XDIST_WORKER' in os.environ:
    for name in 'OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS':
        os.environ.setdefault(name, '1')

if os.environ.get('CHAINER_TEST_CUPY') == 'emulated':
    # The stand-in takes the place of CuPy, in this process and in those that tests start.
    _path = str(pathlib.Path(__file__).with_name('helpers') / 'cupy_emulation')
    sys.path.insert(0, _path)
    os.environ['PYTHONPATH'] = os.pathsep.join(
        filter(None, [_path, os.environ.get('PYTHONPATH', '')])
    )
    # It computes on the memory of ChainerX's emulated devices.
    os.environ['CHAINERX_CUDA_EMULATION_SHARED'] = '1'

import chainerx  # noqa: E402
from chainer.backends import cuda  # noqa: E402


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    # The longest tests are neighbours, of which xdist would give one process many at once.
    if getattr(config.option, 'numprocesses', None) and config.option.dist == 'no':
        config.option.dist = 'worksteal'


def pytest_configure(config):
    config.pluginmanager.import_plugin('helpers.lost_gpus')


def _cuda_device_count():
    return cuda.cupy.cuda.runtime.getDeviceCount() if cuda.available else 0


def _chainerx_has_cuda():
    try:
        chainerx.get_device('cuda:0')
    except chainerx.BackendError:
        return False
    return True


def _reason_to_skip(item):
    """Why this machine cannot run a test, from its marks; None when it can."""
    marks = {mark.name: mark for mark in item.iter_markers()}
    if 'ideep' in marks:
        return 'there is no iDeep'
    if 'measures_memory' in marks and 'CHAINER_SANITIZER' in os.environ:
        return 'the sanitizer takes more memory than the test expects'
    if 'chainerx' in marks and not chainerx.is_available():
        return 'ChainerX is not built'
    if not {'gpu', 'multi_gpu', 'cudnn', 'nccl'} & marks.keys():
        return None
    if 'chainerx' in marks and not _chainerx_has_cuda():
        return "ChainerX has no backend 'cuda'"
    count = _cuda_device_count()
    wanted = marks['multi_gpu'].args[0] if 'multi_gpu' in marks else 1
    if count < wanted:
        return f'needs {wanted} CUDA devices, found {count}'
    if 'cudnn' in marks and not cuda.cudnn_enabled:
        return 'cuDNN is not available'
    if 'nccl' in marks:
        from cupy.cuda import nccl  # `import cupy` does not bring it

        if not nccl.available:
            return 'NCCL is not available'
    return None


def pytest_report_header():
    return 'chainerx: {}, CUDA devices: {}'.format(
        'built' if chainerx.is_available() else 'not built', _cuda_device_count()
    )


def pytest_ignore_collect(collection_path):
    # These files use the compiled core while they are imported.
    if collection_path.name == 'chainerx_tests' and not chainerx.is_available():
        return True
    return None


def pytest_collection_modifyitems(config, items):
    if not cuda.available and any(item.path.name == 'test_gpu_tests.py' for item in items):
        # They run there, on the stand-in for CuPy.
        marked = [
            item
            for item in items
            if {'gpu', 'multi_gpu'} & {mark.name for mark in item.iter_markers()}
        ]
        config.hook.pytest_deselected(items=marked)
        marked = set(marked)
        items[:] = [item for item in items if item not in marked]
    for item in items:
        reason = _reason_to_skip(item)
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish():
    # Or each full collection of garbage, which many tests cause, would search all tests and modules.
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _seeds():
    random.seed(0)
    numpy.random.seed(0)
    if chainerx.is_available():
        chainerx.random.seed(None)
    if cuda.available:
        cuda.cupy.random.seed(0)


@pytest.fixture(autouse=True)
def _no_leaked_device():
    """A test that changes the default device must change it back."""
    if not chainerx.is_available():
        yield
        return
    before = chainerx.get_default_device()
    yield
    after = chainerx.get_default_device()
    if after is not before:
        chainerx.set_default_device(before)
        pytest.fail(f'the test left {after.name} as the default ChainerX device')
