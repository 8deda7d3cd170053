"""The parts of :mod:`gpu_verify`: what it runs on a GPU."""

import importlib.util
import os
import sys

from build import CUDA_TESTS

# Each process has a context on the GPU, which takes memory.
_PROCESSES = max(2, min(8, (os.cpu_count() or 1) // 2))
_PYTEST = [
    *(sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--color=no'),
    *(['-n', str(_PROCESSES), '--dist', 'worksteal'] if importlib.util.find_spec('xdist') else []),
]
_ON_CUDA = {'CHAINERX_TEST_DEVICE': 'cuda:0'}
_FUNCTIONS = 'tests/chainer_tests/functions_tests'
_EXAMPLES = ['tests/example_tests', 'tests/smoke_tests']
_CUDA_TESTS = 'tests/chainerx_tests/test_cuda'
# cuBLAS, cuDNN, cuSOLVER, NCCL with one member, CuPy
_FIRST = [
    f'{_CUDA_TESTS}.py::test_devices',
    f'{_CUDA_TESTS}_matmul.py::test_products',
    f'{_CUDA_TESTS}_cudnn.py::test_equal_to_the_plain_kernels',
    f'{_CUDA_TESTS}_linalg.py',
    f'{_CUDA_TESTS}_groups.py::TestGroups',
    f'{_CUDA_TESTS}_memory.py',
    'tests/chainer_tests/backends_tests/test_cuda.py',
    'tests/chainer_tests/backends_tests/test_gpu_programs.py',
]
ROWS = 'mlp cnn lstm resnet18 gpt mlp-tiny cnn-tiny lstm-tiny gpt-tiny resnet50-tf32'.split()


def _sanitizer(tool, tests):
    # The tests are slow under it; the part has a limit of its own.
    pytest = [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'no:xdist']
    pytest += ['--timeout', '0'] if importlib.util.find_spec('pytest_timeout') else []
    return [
        *('compute-sanitizer', '--tool', tool, '--error-exitcode', '86', '--print-limit', '20'),
        *(*pytest, 'tests/chainerx_tests/test_ops.py', '-k', tests),
    ]


def _benchmark(script, *arguments):
    return [sys.executable, f'benchmarks/{script}.py', *arguments]


def _speed(kind, device):
    """Rows of the benchmarks, whose errors end one row each."""
    return {
        f'benchmark-{kind}-{name}': (_benchmark('run', '--device', device, name), {})
        for name in ROWS
    }


#: Commands by part, and variables of their environment. What matters most comes first.
PARTS = {
    'build': ([sys.executable, 'tools/build.py'], {'CHAINERX_BUILD_CUDA': '1'}),
    'first': ([*_PYTEST, *_FIRST], _ON_CUDA),
    'cuda': ([*_PYTEST, '-m', 'not slow', *CUDA_TESTS], _ON_CUDA),
    **_speed('chainerx', 'cuda:0'),
    'chainer': (
        [*_PYTEST, '-m', 'not slow', '-k', 'chainerx or cuda', 'tests/chainer_tests'],
        _ON_CUDA,
    ),
    'gpu-functions': ([*_PYTEST, '-m', 'gpu and not slow', _FUNCTIONS], {}),
    'gpu-others': (
        [*_PYTEST, '-m', 'gpu and not slow', 'tests/chainer_tests', f'--ignore={_FUNCTIONS}'],
        {},
    ),
    'gpu-examples': ([*_PYTEST, '-m', 'gpu and not slow', *_EXAMPLES], {}),
    'multi_gpu': (
        [*_PYTEST, '-m', 'multi_gpu and not slow', 'tests/chainer_tests', *_EXAMPLES],
        {},
    ),
    'gpu-without-kernels': (
        [*_PYTEST, '-m', 'gpu and not slow', _FUNCTIONS],
        {'CHAINER_USE_NATIVE_KERNELS': 'never'},
    ),
    **_speed('cupy', '@cupy:0'),
    'cuda-without-libraries': (
        [
            *_PYTEST,
            '-m',
            'not slow',
            'tests/chainerx_tests/test_nn_ops.py',
            'tests/chainerx_tests/test_linalg.py',
        ],
        {**_ON_CUDA, 'CHAINERX_CUDA_LIBRARIES': 'never'},
    ),
    'memcheck-forward': (_sanitizer('memcheck', 'test_forward or test_layouts'), _ON_CUDA),
    'memcheck-backward': (_sanitizer('memcheck', 'test_backward'), _ON_CUDA),
    'racecheck-forward': (_sanitizer('racecheck', 'test_forward'), _ON_CUDA),
    'racecheck-backward': (_sanitizer('racecheck', 'test_backward'), _ON_CUDA),
    'initcheck-forward': (_sanitizer('initcheck', 'test_forward'), _ON_CUDA),
    'synccheck-forward': (_sanitizer('synccheck', 'test_forward'), _ON_CUDA),
    'bandwidth-chainerx': (_benchmark('bandwidth', '--device', 'cuda:0'), {}),
    'bandwidth-cupy': (_benchmark('bandwidth', '--device', '@cupy:0'), {}),
    'gemm-chainerx': (_benchmark('gemm', '--device', 'cuda:0'), {}),
    'gemm-cupy': (_benchmark('gemm', '--device', '@cupy:0'), {}),
}
