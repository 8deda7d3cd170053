"""The array: NumPy memory that NumPy does not see, on a device."""

import inspect

import numpy

from cupy import _dlpack, cuda
from cupy._api import API, names, signature
from cupy.cuda import _device
from cupy.cuda._memory import MemoryPointer, address, memory_of

_SCALARS = (bool, int, float, complex, numpy.generic)
_KINDS = 'biufc'


class _Interface:
    """What NumPy asks for memory at an address."""

    def __init__(self, ptr, shape, strides, dtype, owner):
        self.owner = owner
        self.__array_interface__ = {
            'data': (ptr, False),
            'shape': tuple(shape),
            'strides': strides and tuple(strides),
            'typestr': dtype.str,
            'version': 3,
        }


def at(ptr, shape, strides, dtype, owner):
    """NumPy array of memory at an address."""
    if 0 in shape:
        return numpy.empty(shape, dtype)
    return numpy.asarray(_Interface(ptr, shape, strides, dtype, owner))


def check_dtype(dtype):
    dtype = numpy.dtype(dtype)
    if dtype.kind not in _KINDS:
        raise ValueError(f'Unsupported dtype {dtype}')
    return dtype


def wrap(array, inputs=()):
    """Array of NumPy's result; a view of an input shares its memory object."""
    array = numpy.asarray(array)
    check_dtype(array.dtype)
    mem = None
    if array.base is not None and array.size:
        ptr = address(array)
        for x in inputs:
            if x._mem.ptr <= ptr < x._mem.ptr + x._mem.size:
                mem = x._mem
                break
        if mem is not None and not array.flags._writeable_no_warn:
            array = at(ptr, array.shape, array.strides, array.dtype, array)
    result = ndarray.__new__(ndarray)
    result._a = array
    result._mem = memory_of(array) if mem is None else mem
    return result


def check_device(x):
    """A kernel runs on the current device and reads no memory of others."""
    device = _device.current()
    if x._mem.device_id != device:
        raise ValueError(
            'Array device must be same as the current device: array device = '
            f'{x._mem.device_id} while current = {device}'
        )


def _to_host(value, inputs, allowed):
    if isinstance(value, ndarray):
        inputs.append(value)
        return value._a
    if isinstance(value, (list, tuple)):
        return type(value)([_to_host(x, inputs, allowed) for x in value])
    if isinstance(value, numpy.ndarray) and not allowed:
        raise TypeError(f'Unsupported type {type(value)}')
    return value


def _from_host(value, inputs):
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        for x in inputs:
            if x._a is value:
                return x
        return wrap(value, inputs)
    if isinstance(value, (tuple, list)):
        values = [_from_host(x, inputs) for x in value]
        return type(value)(*values) if hasattr(value, '_fields') else type(value)(values)
    return value


def call(function, args, kwargs, *, moves=False, host=()):
    """Calls a function of NumPy.

    Args:
        function: Function.
        args, kwargs: Arguments. Arrays of NumPy are refused.
        moves (bool): Whether arrays may be on other devices, as no kernel runs.
        host: Names of arguments that may be arrays of NumPy.

    """
    inputs = []
    args = [_to_host(x, inputs, False) for x in args]
    kwargs = {name: _to_host(x, inputs, name in host) for name, x in kwargs.items()}
    if not moves:
        for x in inputs:
            check_device(x)
    with numpy.errstate(all='ignore'):
        return _from_host(function(*args, **kwargs), inputs)


def in_range(shape, slices):
    """The index as CuPy reads it: integer arrays of positions outside wrap around, without an error."""
    parts = list(slices) if isinstance(slices, tuple) else [slices]
    used = sum([_axes(part) for part in parts])
    result, axis = [], 0
    for part in parts:
        if part is Ellipsis:
            axis += len(shape) - used
        elif isinstance(part, (ndarray, list)):
            array = part._a if isinstance(part, ndarray) else numpy.asarray(part)
            if array.dtype.kind in 'iu' and array.ndim and axis < len(shape) and shape[axis]:
                part = wrap(array % shape[axis])
            axis += _axes(part)
        else:
            axis += _axes(part)
        result.append(part)
    return tuple(result) if isinstance(slices, tuple) else result[0]


def _axes(part):
    """Number of axes that a part of an index takes."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    is_mask = isinstance(part, ndarray) and part.dtype.kind == 'b'
    return part.ndim if is_mask else 1


def _operand(other):
    """Whether an operator takes the other operand, rather than leaving it to that one."""
    return isinstance(other, (ndarray, *_SCALARS)) or not (
        getattr(other, '__array_priority__', 0) > ndarray.__array_priority__
    )


class _Flags:
    def __init__(self, flags):
        for name in 'c_contiguous', 'f_contiguous', 'owndata':
            setattr(self, name, getattr(flags, name))
        self.forc = self.c_contiguous or self.f_contiguous
        self.fnc = self.f_contiguous and not self.c_contiguous

    def __getitem__(self, name):
        return getattr(self, name.lower())


class ndarray:
    __module__ = 'cupy'
    __array_priority__ = 100
    __hash__ = None

    def __init__(self, shape, dtype=float, memptr=None, strides=None, order='C'):
        shape = (shape,) if isinstance(shape, (int, numpy.integer)) else tuple(shape)
        dtype = check_dtype(dtype)
        if memptr is None:
            self._a = numpy.empty(shape, dtype, order or 'C')
            self._mem = memory_of(self._a)
            return
        if strides is None:
            strides = numpy.empty(shape, dtype, order or 'C').strides
        self._a = at(memptr.ptr, shape, strides, dtype, memptr.mem)
        self._mem = memptr.mem

    # What a kernel has no part in
    shape = property(lambda self: self._a.shape, lambda self, s: setattr(self._a, 'shape', s))
    dtype = property(lambda self: self._a.dtype)
    ndim = property(lambda self: self._a.ndim)
    size = property(lambda self: self._a.size)
    strides = property(lambda self: self._a.strides)
    itemsize = property(lambda self: self._a.itemsize)
    nbytes = property(lambda self: self._a.nbytes)
    flags = property(lambda self: _Flags(self._a.flags))
    device = property(lambda self: cuda.Device(self._mem.device_id))
    data = property(lambda self: MemoryPointer(self._mem, address(self._a) - self._mem.ptr))
    T = property(lambda self: wrap(self._a.T, [self]))
    real = property(lambda self: wrap(self._a.real, [self]))
    imag = property(lambda self: wrap(self._a.imag, [self]))
    base = property(lambda self: None if self._a.base is None else self)

    # -- transfers --

    def get(self, stream=None, order='C', out=None, blocking=True):
        cuda.runtime.getDevice()
        if out is not None:
            out[...] = self._a
            return out
        return numpy.array(self._a, order='C' if order == 'A' else order)

    def set(self, arr, stream=None):
        if not isinstance(arr, numpy.ndarray):
            raise TypeError('Only numpy.ndarray can be set to cupy.ndarray')
        if arr.dtype != self.dtype:
            raise TypeError(f'{arr.dtype} array cannot be set to {self.dtype} array')
        if arr.shape != self.shape:
            raise ValueError(f'Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}')
        if not self.flags.forc:
            raise RuntimeError('Cannot set to non-contiguous array')
        self._a[...] = arr

    def copy(self, order='C'):
        # To the current device, from any
        return wrap(self._a.copy(order))

    def astype(self, dtype, order='K', casting=None, subok=None, copy=True):
        if not copy and self.dtype == dtype:
            return self
        check_device(self)
        with numpy.errstate(all='ignore'):
            return wrap(self._a.astype(check_dtype(dtype), order, casting or 'unsafe'))

    def view(self, dtype=None, type=None):
        return wrap(self._a.view() if dtype is None else self._a.view(dtype), [self])

    def item(self):
        return self.get().item()

    def tolist(self):
        return self.get().tolist()

    def toDlpack(self):
        return self.__dlpack__()

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return _dlpack.export(self._a, self._mem.device_id, max_version)

    def __dlpack_device__(self):
        return 2, self._mem.device_id

    @property
    def __cuda_array_interface__(self):
        return {**self._a.__array_interface__, 'stream': 1}

    def __deepcopy__(self, memo):
        with self.device:
            return self.copy()

    __copy__ = copy

    def __reduce__(self):
        return _unpickle, (self.get(),)

    # -- what NumPy must not do --

    def __array__(self, dtype=None):
        raise TypeError(
            'Implicit conversion to a NumPy array is not allowed. Please use `.get()` to '
            'construct a NumPy array explicitly.'
        )

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        import cupy

        own = getattr(cupy, ufunc.__name__, None)
        if own is None:
            return NotImplemented
        if 'out' in kwargs:
            (kwargs['out'],) = kwargs['out']
        return (own if method == '__call__' else getattr(own, method))(*inputs, **kwargs)

    def __array_function__(self, func, types, args, kwargs):
        import cupy

        own = cupy
        for name in [*func.__module__.split('.')[1:], func.__name__]:
            own = getattr(own, name, None)
        if own is None or own is func:
            return NotImplemented
        if not all(issubclass(t, (ndarray, numpy.ndarray)) for t in types):
            return NotImplemented
        return own(*args, **kwargs)

    # -- elements --

    def __getitem__(self, slices):
        basic = slices if isinstance(slices, tuple) else (slices,)
        moves = all(
            s is None or s is Ellipsis or isinstance(s, (slice, int, numpy.integer)) for s in basic
        )
        if moves and not any(s is Ellipsis for s in basic):
            slices = (*basic, ...)  # so that single elements are views, too
        if not moves:
            slices = in_range(self.shape, slices)
        return call(numpy.ndarray.__getitem__, (self, slices), {}, moves=moves)

    def __setitem__(self, slices, value):
        call(numpy.ndarray.__setitem__, (self, in_range(self.shape, slices), value), {})

    def __len__(self):
        return len(self._a)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __bool__(self):
        return bool(self.get())

    def __int__(self):
        return int(self.item())

    def __float__(self):
        return float(self.item())

    def __complex__(self):
        return complex(self.item())

    def __index__(self):
        return self.get().__index__()

    def __repr__(self):
        return repr(self.get())

    def __str__(self):
        return str(self.get())

    def __format__(self, spec):
        return format(self.get(), spec)

    def take(self, indices, axis=None, out=None):
        return call(numpy.take, (self, indices, axis, out, 'wrap'), {})

    def scatter_add(self, slices, value):
        import cupyx

        cupyx.scatter_add(self, slices, value)


def _unpickle(array):
    return wrap(array.copy())


def _method(name, moves):
    host = getattr(numpy.ndarray, name)

    known = signature(API[f'cupy.ndarray.{name}'])

    def method(self, *args, **kwargs):
        if known is not None:
            known.bind(*args, **kwargs)
        return call(host, (self, *args), kwargs, moves=moves)

    method.__name__ = name
    if known is not None:
        this = inspect.Parameter('self', inspect.Parameter.POSITIONAL_ONLY)
        method.__signature__ = known.replace(parameters=[this, *known.parameters.values()])
    return method


_OPERATORS = {
    'add': 'add', 'sub': 'subtract', 'mul': 'multiply', 'truediv': 'true_divide',
    'floordiv': 'floor_divide', 'mod': 'remainder', 'pow': 'power', 'matmul': 'matmul',
    'and': 'bitwise_and', 'or': 'bitwise_or', 'xor': 'bitwise_xor', 'lshift': 'left_shift',
    'rshift': 'right_shift', 'divmod': 'divmod',
    'lt': 'less', 'le': 'less_equal', 'gt': 'greater', 'ge': 'greater_equal', 'eq': 'equal',
    'ne': 'not_equal', 'neg': 'negative', 'pos': 'positive', 'invert': 'invert', 'abs': 'absolute',
}  # fmt: skip


def _add_operators():
    import cupy

    def binary(routine, reverse=False, in_place=False):
        def operator(self, other):
            if not _operand(other):
                return NotImplemented
            function = getattr(cupy, routine)
            if in_place:
                return function(self, other, out=self)
            return function(other, self) if reverse else function(self, other)

        return operator

    for name, routine in _OPERATORS.items():
        if name in ('neg', 'pos', 'invert', 'abs'):
            setattr(ndarray, f'__{name}__', lambda self, r=routine: getattr(cupy, r)(self))
            continue
        setattr(ndarray, f'__{name}__', binary(routine))
        if name not in ('lt', 'le', 'gt', 'ge', 'eq', 'ne'):
            setattr(ndarray, f'__r{name}__', binary(routine, reverse=True))
            if name != 'divmod':
                setattr(ndarray, f'__i{name}__', binary(routine, in_place=True))
    ndarray.__hash__ = None


# Methods that run no kernel where NumPy makes a view
_VIEWS = frozenset('reshape transpose ravel swapaxes squeeze diagonal'.split())

for _name in names('cupy.ndarray'):
    if not hasattr(ndarray, _name) and callable(getattr(numpy.ndarray, _name, None)):
        setattr(ndarray, _name, _method(_name, _name in _VIEWS))
