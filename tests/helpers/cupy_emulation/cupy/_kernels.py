"""Kernels in CUDA C++, compiled by the host's compiler."""

import ctypes
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import typing

import numpy

from cupy import cuda
from cupy._api import API, signature
from cupy._array import _SCALARS, address, check_device, ndarray, wrap

_HEADER = pathlib.Path(__file__).with_name('_kernels.h')
_C_TYPES = {
    '?': 'bool', 'b': 'int8_t', 'B': 'uint8_t', 'h': 'int16_t', 'H': 'uint16_t', 'i': 'int32_t',
    'I': 'uint32_t', 'l': 'int64_t', 'L': 'uint64_t', 'q': 'int64_t', 'Q': 'uint64_t',
    'e': 'float16', 'f': 'float', 'd': 'double', 'F': 'complex<float>', 'D': 'complex<double>',
}  # fmt: skip
_libraries = {}
# Where to list the kernels that run, for a check that CuPy and NVRTC compile them
_LIST = os.environ.get('CUPY_EMULATION_KERNELS')


def _list_kernel(**facts):
    if _LIST:
        with open(_LIST, 'a') as file:
            file.write(json.dumps(facts) + '\n')


class CompileException(Exception):
    pass


def _compile(source):
    """Library of a source, kept in a folder for later processes."""
    if source in _libraries:
        return _libraries[source]
    text = _HEADER.read_text() + '\n' + source
    key = hashlib.sha256(text.encode()).hexdigest()[:32]
    folder = pathlib.Path(tempfile.gettempdir()) / f'cupy_emulation_{os.getuid()}'
    folder.mkdir(mode=0o700, exist_ok=True)
    library = folder / f'{key}.so'
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=folder) as build:
            code, built = pathlib.Path(build) / 'kernel.cc', pathlib.Path(build) / 'kernel.so'
            code.write_text(text)
            command = ['g++', '-std=c++17', '-O1', '-fPIC', '-shared', '-w', code, '-o', built]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise CompileException(done.stderr)
            built.replace(library)
    _libraries[source] = ctypes.CDLL(str(library))
    return _libraries[source]


# -- raw kernels --


class RawKernel:
    """A ``__global__`` function."""

    def __init__(
        self, code, name, options=(), backend='nvrtc', translate_cucomplex=False, *,
        enable_cooperative_groups=False, jitify=None,
    ):  # fmt: skip
        self.code, self.name, self.options, self.backend = code, name, options, backend

    def compile(self, log_stream=None):
        # Shared memory whose size the launch tells
        code = re.sub(
            r'extern\s+__shared__\s+([\w ]+?)\s*(\w+)\[\]\s*;',
            r'\1* \2 = reinterpret_cast<\1*>(dynamic_shared.data());',
            self.code,
        )
        library = _compile(
            f'{code}\nextern "C" int launch_{self.name}(const unsigned* grid, const unsigned* '
            'block, void** arguments, int n, const int* sizes, size_t shared, bool waits) {\n'
            f'return Launch<{self.name}>::run(grid, block, arguments, n, sizes, shared, waits);}}\n'
        )
        _list_kernel(kind='RawKernel', given={'code': self.code, 'options': self.options})
        return library

    def __call__(self, grid, block, args, *, shared_mem=0):
        launch = getattr(self.compile(), f'launch_{self.name}')
        values = [self._value(arg) for arg in args]
        n = len(values)
        pointers = (ctypes.c_void_p * n)(*[address(v) for v in values])
        sizes = (ctypes.c_int * n)(*[v.nbytes for v in values])
        dims = [(ctypes.c_uint * 3)(*d, *(1,) * (3 - len(d))) for d in (grid, block)]
        if numpy.prod(dims[1]) > 1024:
            raise cuda.runtime.CUDARuntimeError(1)
        waits = '__sync' in self.code
        status = launch(*dims, pointers, n, sizes, ctypes.c_size_t(shared_mem), waits)
        if status:
            raise TypeError(
                f'{self.name} has another number of parameters'
                if status == 1
                else f'parameter {status - 2} of {self.name} has another size than the argument'
            )

    @staticmethod
    def _value(arg):
        """The bytes of an argument."""
        if isinstance(arg, ndarray):
            check_device(arg)
            return numpy.array(arg.data.ptr)
        if isinstance(arg, cuda.MemoryPointer):
            return numpy.array(arg.ptr)
        if isinstance(arg, _SCALARS):
            return numpy.array(arg)
        raise TypeError(f'Unsupported type {type(arg)}')


class RawModule:
    """Source with several kernels."""

    def __init__(
        self, code=None, *, path=None, options=(), backend='nvrtc', translate_cucomplex=False,
        enable_cooperative_groups=False, name_expressions=None, jitify=None,
    ):  # fmt: skip
        self.code = code

    def get_function(self, name):
        return RawKernel(self.code, name)


# -- elementwise and reduction kernels --


class _Param(typing.NamedTuple):
    raw: bool
    type: str
    name: str


def _parse(text):
    params = []
    for part in filter(None, map(str.strip, text.split(','))):
        *words, type_, name = part.split()
        params.append(_Param('raw' in words, type_, name))
    return params


class _Types(dict):
    """What the placeholders of types stand for, such as ``T``."""

    def of(self, param, default=None):
        """Dtype of a parameter; a placeholder stands for ``default`` from then on."""
        if len(param.type) > 1:
            return numpy.dtype(param.type)
        if default is not None and self.setdefault(param.type, default) != default:
            raise TypeError(f'Type is mismatched. {param.name} {default} {self[param.type]}')
        if param.type not in self:
            raise ValueError(f'the type {param.type} of {param.name} is unknown')
        return self[param.type]


def _bind(params, args):
    """Inputs as arrays of the types of their parameters."""
    types = _Types()
    for arg in args:
        if not isinstance(arg, (ndarray, *_SCALARS)):
            raise TypeError(f'Unsupported type {type(arg)}')
    arrays = {}
    # Arrays tell what placeholders mean, numbers only where no array does.
    for of_arrays in True, False:
        for i, (param, arg) in enumerate(zip(params, args)):
            if isinstance(arg, ndarray) is not of_arrays:
                continue
            if of_arrays:
                check_device(arg)
                dtype = types.of(param, arg.dtype)
                arrays[i] = arg._a if param.raw else arg._a.astype(dtype, copy=False)
            else:
                known = param.type not in types
                dtype = types.of(param, numpy.asarray(arg).dtype if known else None)
                arrays[i] = numpy.asarray(arg, dtype)
    return [arrays[i] for i in range(len(args))], types


def _carray(array):
    """Fields of a CArray, and what must outlive it."""
    sizes = ctypes.c_ssize_t * max(array.ndim, 1)
    return [ctypes.c_void_p(address(array)), sizes(*array.shape), sizes(*array.strides),
            ctypes.c_int(array.ndim), ctypes.c_ssize_t(array.size)]  # fmt: skip


def _source(types, params, arrays, indexed, preamble, body):
    """A C function ``run`` of arrays, and its arguments; ``body`` uses them by name."""
    lines, formals, arguments = [preamble], [], []
    lines += [f'typedef {_C_TYPES[d.char]} {name};' for name, d in sorted(types.items())]
    inner = []
    for param, array in zip(params, arrays):
        n = param.name
        name = n if param.raw else f'_raw_{n}'
        formals.append(
            f'char* d_{n}, ptrdiff_t* s_{n}, ptrdiff_t* t_{n}, int k_{n}, ptrdiff_t z_{n}'
        )
        c_type = _C_TYPES[array.dtype.char]
        inner.append(f'CArray<{c_type}> {name}{{d_{n}, z_{n}, k_{n}, s_{n}, t_{n}}};')
        arguments += _carray(array)
    sizes = (ctypes.c_ssize_t * max(len(indexed), 1))(*indexed)
    arguments += [
        sizes,
        ctypes.c_int(len(indexed)),
        ctypes.c_ssize_t(numpy.prod(indexed, dtype=int)),
    ]
    formals.append('ptrdiff_t* shape, int ndim, ptrdiff_t n')
    inner.append('CIndexer _ind{n, 0, ndim, shape, {}};')
    lines.append(
        f'extern "C" void run({", ".join(formals)}) {{\n' + '\n'.join(inner) + f'\n{body}\n}}'
    )
    return '\n'.join(lines), arguments


def _elements(params, arrays, n_in, index='_i'):
    """Declarations of one element of each parameter that is not raw."""
    for i, (param, array) in enumerate(zip(params, arrays)):
        if not param.raw:
            c_type = _C_TYPES[array.dtype.char]
            const, ref = ('const ', '') if i < n_in else ('', '&')
            yield f'{const}{c_type}{ref} {param.name} = _raw_{param.name}[{index}];'


def _outputs(kernel, outs, shape, types, n_in):
    """NumPy arrays of the outputs, and the arrays to return."""
    params = kernel.out_params
    if not outs:
        if any(param.raw for param in params):
            raise ValueError('Output array size is Undecided')
        outs = [wrap(numpy.empty(shape, types.of(param))) for param in params]
    for param, out in zip(params, outs):
        if not isinstance(out, ndarray):
            raise TypeError(f'Output arguments type must be cupy.ndarray, not {type(out)}')
        check_device(out)
        types.of(param, out.dtype)
        if not param.raw and out.shape != shape:
            raise ValueError(f'Out shape is mismatched: {out.shape} and {shape}')
    return outs


class _Kernel:
    nin = property(lambda self: len(self.in_params))
    nout = property(lambda self: len(self.out_params))
    nargs = property(lambda self: self.nin + self.nout)

    def __init_subclass__(cls):
        cls._known = signature(API[f'cupy.{cls.__name__}'])

    def _check_options(self, kwargs):
        for name in kwargs.keys() - {'options', 'loop_prep', 'after_loop', 'reduce_dims'}:
            raise TypeError(f'{type(self).__name__} has no argument {name}')

    def _split(self, args, kwargs, allowed):
        for name in kwargs.keys() - allowed:
            raise TypeError(f'Wrong arguments {name}')
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(f'Wrong number of arguments for {self.name!r}')
        return args[: self.nin], args[self.nin :]

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        self._given = cls._known.bind(*args, **kwargs).arguments
        return self

    def _list(self, types, ins, arrays, shape):
        numbers = {i for i, x in enumerate(ins) if not isinstance(x, ndarray)}
        given = {**self._given, **self._given.get('kwargs', {})}
        given.pop('kwargs', None)
        _list_kernel(
            kind=type(self).__name__,
            given=given,
            arguments=[
                (a.dtype.str, None if i in numbers else a.ndim) for i, a in enumerate(arrays)
            ],
            types=[(name, dtype.str) for name, dtype in types.items()],
            ndim=len(shape),
        )

    def _run(self, types, ins, arrays, shape, body):
        source, arguments = _source(
            types, [*self.in_params, *self.out_params], arrays, shape, self.preamble, body
        )
        library = _compile(source)
        self._list(types, ins, arrays, shape)
        library.run(*arguments)


class ElementwiseKernel(_Kernel):
    """Kernel that runs some code for each element."""

    def __init__(
        self, in_params, out_params, operation, name='kernel', reduce_dims=True, preamble='',
        no_return=False, return_tuple=False, **kwargs,
    ):  # fmt: skip
        self._check_options(kwargs)
        self.in_params, self.out_params = _parse(in_params), _parse(out_params)
        self.operation, self.name, self.preamble = operation, name, preamble
        self.no_return, self.return_tuple, self.kwargs = no_return, return_tuple, kwargs

    def __call__(self, *args, **kwargs):
        ins, outs = self._split(args, kwargs, {'size', 'block_size'})
        arrays, types = _bind(self.in_params, ins)
        shapes = [a.shape for a, p in zip(arrays, self.in_params) if not p.raw]
        shapes += [out.shape for out, p in zip(outs, self.out_params) if not p.raw]
        if 'size' in kwargs:
            shape = (kwargs['size'],)
        elif not shapes or not any(isinstance(x, ndarray) for x in args):
            raise ValueError('Loop size is undecided.')
        else:
            shape = numpy.broadcast_shapes(*shapes)
        outs = _outputs(self, outs, shape, types, self.nin)
        arrays = [
            a if p.raw else numpy.broadcast_to(a, shape)
            for a, p in zip(
                [*arrays, *(out._a for out in outs)], [*self.in_params, *self.out_params]
            )
        ]
        params = [*self.in_params, *self.out_params]
        body = '\n'.join(
            [
                self.kwargs.get('loop_prep', '') + ';',
                'for (ptrdiff_t i = 0; i < n; ++i) {\n_ind.set(i);',
                *_elements(params, arrays, self.nin, '_ind.get()'),
                f'{self.operation};\n}}',
                self.kwargs.get('after_loop', '') + ';',
            ]
        )
        if numpy.prod(shape, dtype=int):
            self._run(types, ins, arrays, shape, body)
        if self.no_return:
            return None
        return outs[0] if len(outs) == 1 and not self.return_tuple else tuple(outs)


class ReductionKernel(_Kernel):
    """Kernel that combines elements along axes."""

    def __init__(
        self, in_params, out_params, map_expr, reduce_expr, post_map_expr, identity,
        name='reduce_kernel', reduce_type=None, reduce_dims=True, preamble='', options=(),
    ):  # fmt: skip
        self.in_params, self.out_params = _parse(in_params), _parse(out_params)
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.identity, self.name, self.preamble = identity, name, preamble
        self.reduce_type = reduce_type

    def __call__(self, *args, out=None, axis=None, keepdims=False, stream=None):
        ins, outs = self._split(args, {}, ())
        arrays, types = _bind(self.in_params, ins)
        shape = numpy.broadcast_shapes(
            *[a.shape for a, p in zip(arrays, self.in_params) if not p.raw]
        )
        axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        axes = [a % len(shape) for a in axes]
        kept = [a for a in range(len(shape)) if a not in axes]
        lengths = [shape[a] for a in kept]
        size = int(numpy.prod([shape[a] for a in axes], dtype=int))
        if not size and self.identity in (None, ''):
            raise ValueError('zero-size array to reduction operation which has no identity')
        out_shape = tuple(
            lengths if not keepdims else [1 if a in axes else n for a, n in enumerate(shape)]
        )
        outs = _outputs(
            self, outs or ([out] if out is not None else []), out_shape, types, self.nin
        )
        arrays = [
            a if p.raw else numpy.broadcast_to(a, shape).transpose(*kept, *axes)
            for a, p in zip(arrays, self.in_params)
        ]
        arrays += [out._a.reshape(lengths) if keepdims else out._a for out in outs]
        reduce_type = self.reduce_type or _C_TYPES[outs[0].dtype.char]
        in_params, results = self.in_params, self.out_params
        body = '\n'.join(
            [
                f'typedef {reduce_type} type_reduced;\nfor (ptrdiff_t i = 0; i < n; ++i) {{',
                '_ind.set(i);',
                f'type_reduced _s{"{}" if self.identity in (None, "") else f" = type_reduced({self.identity})"};',
                f'for (ptrdiff_t _k = 0; _k < {size}; ++_k) {{\nptrdiff_t _j = i * {size} + _k;',
                *_elements(in_params, arrays, self.nin, '_j'),
                f'type_reduced _m = static_cast<type_reduced>({self.map_expr});',
                f'if (!_k && {int(self.identity in (None, ""))}) {{ _s = _m; continue; }}',
                f'type_reduced a = _s, b = _m;\n_s = ({self.reduce_expr});\n}}',
                *_elements(results, arrays[self.nin :], 0),
                f'type_reduced a = _s;\n{self.post_map_expr};\n}}',
            ]
        ).replace('[_i]', '[i]')
        if numpy.prod(lengths, dtype=int):
            self._run(types, ins, arrays, tuple(lengths), body)
        return outs[0] if len(outs) == 1 else tuple(outs)
