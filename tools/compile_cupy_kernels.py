"""Compiles kernels by CuPy and NVRTC: ``python tools/compile_cupy_kernels.py KERNELS``.

Run it with the interpreter of an environment that has CuPy and NVIDIA's wheel of NVRTC; a GPU is
not needed. ``KERNELS`` are kernels that ran on the stand-in for CuPy: it adds them to the file that
the environment variable ``CUPY_EMULATION_KERNELS`` names, a JSON object a line. CuPy makes their
sources, and NVRTC compiles them for two GPUs. What CuPy fuses has no source of ours.
"""

import ctypes
import itertools
import json
import sys
from pathlib import Path

import numpy

ARCHITECTURES = '80', '90'
_NDARRAY, _INDEXER, _SCALAR = 1, 2, 3  # CuPy's kinds of arguments


_WHEELS = Path(numpy.__file__).parents[1] / 'nvidia'


def load_nvrtc():
    """Loads the compiler from its wheel, where there is one; CuPy then finds it."""
    for name in 'libnvrtc-builtins.so.*', 'libnvrtc.so.*':
        for library in _WHEELS.glob(f'*/lib/{name}'):
            ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)


def _argument(dtype, ndim):
    """What CuPy knows of an argument: an array with ``ndim`` axes, or a number."""
    import cupy
    from cupy._core._kernel import _ArgInfo

    dtype = numpy.dtype(dtype).type
    if ndim is None:
        return _ArgInfo(_SCALAR, dtype, dtype, 0, True, True)
    return _ArgInfo(_NDARRAY, cupy.ndarray, dtype, ndim, True, True)


def _indexer(ndim):
    from cupy._core._carray import Indexer
    from cupy._core._kernel import _ArgInfo

    return _ArgInfo(_INDEXER, Indexer, None, ndim, True, True)


def _elementwise(kernel, arguments, types, ndim):
    from cupy._core import _kernel

    return _kernel._get_elementwise_kernel_code(
        (*arguments, _indexer(ndim)),
        types,
        kernel.params,
        *(kernel.operation, kernel.name, kernel.preamble),
        **kernel.kwargs,
    )


def _reduction(kernel, arguments, types, ndim):
    # All axes of the inputs have an index, and those of the outputs are the ones that stay.
    inputs = [a.ndim for a, p in zip(arguments, kernel.in_params) if not p.raw]
    from cupy._core import _kernel, _reduction

    outputs = [t for p in kernel.out_params for name, t in types._pairs if p.ctype == name]
    reduce_type = kernel.reduce_type or _kernel._get_typename(outputs[0])
    params = kernel.in_params + kernel.out_params
    params += _kernel._get_param_info('CIndexer _in_ind, CIndexer _out_ind', False)
    params += _kernel._get_param_info('int32 _block_stride', True)
    return _reduction._ReductionKernel_get_cached_function_code(
        *(kernel.nin, kernel.nout, params),
        (*arguments, _indexer(max(inputs)), _indexer(ndim), _argument('i4', None)),
        *(types, kernel.name, 512, reduce_type, kernel.identity),
        *(kernel.map_expr, kernel.reduce_expr, kernel.post_map_expr),
        *(kernel.preamble, kernel.options),
    )


def _included():
    from cupy._core import core

    return ''.join(f'#include <{header}>\n' for header in core._cupy_header_list)


def source_of(kind, given, arguments=(), types=(), ndim=0):
    """CUDA code of a kernel that was made with the arguments ``given``."""
    import cupy
    from cupy._core._kernel import _TypeMap

    if kind == 'RawKernel':
        return given['code']
    if 'options' in given:
        given = {**given, 'options': tuple(given['options'])}
    kernel = getattr(cupy, kind)(**given)
    make = {'ElementwiseKernel': _elementwise, 'ReductionKernel': _reduction}[kind]
    types = [*types, ('IndexT', 'i4')]  # CuPy 14's own
    types = _TypeMap(tuple((name, numpy.dtype(dtype).type) for name, dtype in types))
    return _included() + make(kernel, [_argument(*a) for a in arguments], types, ndim)


def compile_source(source, options, architecture):
    from cupy._core import core
    from cupy.cuda import compiler

    # A toolkit of the system may be of another version.
    headers = [f'-I{header.parent}' for header in _WHEELS.glob('*/include/cuda_fp16.h')]
    options = core.assemble_cupy_compiler_options(('--std=c++17', *headers, *options))
    # What CuPy's own function for this does without a GPU to ask for its options
    compiler._NVRTCProgram(source).compile((*options, f'--gpu-architecture=sm_{architecture}'))


def main(path):
    load_nvrtc()
    import cupy
    from cupy.cuda.compiler import CompileException

    kernels = [json.loads(line) for line in sorted(set(Path(path).read_text().splitlines()))]
    failed = []
    for kernel, architecture in itertools.product(kernels, ARCHITECTURES):
        try:
            compile_source(source_of(**kernel), kernel['given'].get('options', ()), architecture)
        except CompileException as error:
            failed.append(f'{kernel} does not compile for sm_{architecture}:\n{error}')
    print(f'CuPy {cupy.__version__}: {len(kernels)} kernels')
    return '\n'.join(failed) or None


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
