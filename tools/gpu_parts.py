"""The parts of :mod:`gpu_verify`: what it runs on a GPU."""

import importlib.util
import os
import sys

from build import CUDA_TESTS

# Each process has a context on the GPU, which takes memory.
_PROCESSES = max(2, min(8, (os.cpu_count() or 1) // 2))
_HAS_XDIST = importlib.util.find_spec('xdist') is not None
_HAS_TIMEOUT = importlib.util.find_spec('pytest_timeout') is not None
_PYTEST = [
    *(sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--color=no'),
    *(['-n', str(_PROCESSES)] if _HAS_XDIST else []),
]
# Other plugins that are there may warn, and a warning is an error.
_PLUGINS = {
    'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1',
    'PYTEST_PLUGINS': ','.join(['xdist.plugin'] * _HAS_XDIST + ['pytest_timeout'] * _HAS_TIMEOUT),
}
_ON_CUDA = {'CHAINERX_TEST_DEVICE': 'cuda:0'}
_CHAINER = 'tests/chainer_tests'
_FUNCTIONS = f'{_CHAINER}/functions_tests'
_EXAMPLES = ['tests/example_tests', 'tests/smoke_tests']
_CUDA_TESTS = 'tests/chainerx_tests/test_cuda'
# cuBLAS, cuBLASLt, cuDNN, cuSOLVER, NCCL with one member, CuPy
_FIRST = [
    f'{_CUDA_TESTS}.py::test_devices',
    f'{_CUDA_TESTS}_matmul.py::test_products',
    f'{_CUDA_TESTS}_linear.py::test_values',
    f'{_CUDA_TESTS}_cudnn.py::test_equal_to_the_plain_kernels',
    f'{_CUDA_TESTS}_linalg.py',
    f'{_CUDA_TESTS}_groups.py::TestGroups',
    f'{_CUDA_TESTS}_memory.py',
    f'{_CHAINER}/backends_tests/test_cuda.py',
    f'{_CHAINER}/backends_tests/test_gpu_programs.py',
]
ROWS = 'mlp cnn lstm resnet18 gpt mlp-tiny cnn-tiny lstm-tiny gpt-tiny resnet50-tf32'.split()


def _tests(marks, *arguments, **variables):
    return [*_PYTEST, '-m', marks, *arguments], {**_PLUGINS, **variables}


def _sanitizer(tool, tests):
    """The tests of the operations that match, in processes that the sanitizer watches."""
    options = ['--tool', tool, '--target-processes', 'all', '--require-cuda-init', 'no']
    options += ['--error-exitcode', '86', '--print-limit', '20']
    timeout = ['--timeout', '0'] * _HAS_TIMEOUT  # the tests are slow; the part has a limit
    command = [*_PYTEST, *timeout, 'tests/chainerx_tests/test_ops.py', '-k', tests]
    # It keeps the Python frames that it reports, and so their arrays.
    variables = {**_PLUGINS, **_ON_CUDA, 'CHAINER_SANITIZER': 'compute-sanitizer'}
    variables['CHAINERX_CUDA_KEPT_BYTES'] = '0'  # or late reads would not show
    return ['compute-sanitizer', *options, *command], variables


def _benchmark(script, *arguments):
    return [sys.executable, f'benchmarks/{script}.py', *arguments]


def _speed(kind, device):
    """Rows of the benchmarks, whose errors end one row each."""
    return {
        f'benchmark-{kind}-{name}': (
            _benchmark('run', '--device', device, '--compiled', name),
            {},
        )
        for name in ROWS
    }


#: Commands by part, and variables of their environment. What matters most comes first.
PARTS = {
    'build': ([sys.executable, 'tools/build.py'], {'CHAINERX_BUILD_CUDA': '1'}),
    'first': _tests('not slow', *_FIRST, **_ON_CUDA),
    'cuda': _tests('not slow', *CUDA_TESTS, **_ON_CUDA),
    **_speed('chainerx', 'cuda:0'),
    'chainer': _tests('not slow', '-k', 'chainerx or cuda', _CHAINER, **_ON_CUDA),
    'gpu-functions': _tests('gpu and not slow', _FUNCTIONS),
    'gpu-others': _tests('gpu and not slow', _CHAINER, f'--ignore={_FUNCTIONS}'),
    'gpu-examples': _tests('gpu and not slow', *_EXAMPLES),
    'multi_gpu': _tests('multi_gpu and not slow', _CHAINER, *_EXAMPLES),
    'gpu-without-kernels': _tests(
        'gpu and not slow', _FUNCTIONS, CHAINER_USE_NATIVE_KERNELS='never'
    ),
    **_speed('cupy', '@cupy:0'),
    'cuda-without-libraries': _tests(
        'not slow',
        *('tests/chainerx_tests/test_nn_ops.py', 'tests/chainerx_tests/test_linalg.py'),
        f'{_CUDA_TESTS}_linear.py::test_values',
        **_ON_CUDA,
        CHAINERX_CUDA_LIBRARIES='never',
    ),
    'memcheck-forward': _sanitizer('memcheck', 'test_forward or test_layouts'),
    'memcheck-backward': _sanitizer('memcheck', 'test_backward'),
    'racecheck-forward': _sanitizer('racecheck', 'test_forward'),
    'racecheck-backward': _sanitizer('racecheck', 'test_backward'),
    # cuSOLVER's gesvd, which svd and pinv call, copies memory to the host that it has not written.
    'initcheck-forward': _sanitizer('initcheck', 'test_forward and not svd and not pinv'),
    'synccheck-forward': _sanitizer('synccheck', 'test_forward'),
    'bandwidth-chainerx': (_benchmark('bandwidth', '--device', 'cuda:0'), {}),
    'bandwidth-cupy': (_benchmark('bandwidth', '--device', '@cupy:0'), {}),
    'gemm-chainerx': (_benchmark('gemm', '--device', 'cuda:0'), {}),
    'gemm-cupy': (_benchmark('gemm', '--device', '@cupy:0'), {}),
}
