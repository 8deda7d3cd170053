"""Functions of CuPy's namespaces, made from NumPy's by name with CuPy's signatures."""

import functools
import inspect
import sys
import types

import numpy

from cupy._api import API, signature
from cupy._array import _SCALARS, call, ndarray, wrap

# Arguments that are numbers for the host, where an array of NumPy is as good as a list
_HOST = frozenset(
    'shape axis axes reps pad_width indices_or_sections shift newshape repeats size num'.split()
)
# Arguments that are one array, which CuPy does not make from a list
_ARRAYS = frozenset('a b x x1 x2 y arr ary m v'.split())
# Functions for which no kernel reads the arguments
_VIEWS = frozenset(
    'reshape transpose moveaxis rollaxis swapaxes squeeze expand_dims broadcast_to ravel flip '
    'broadcast_arrays as_strided split array_split hsplit vsplit dsplit atleast_1d atleast_2d atleast_3d '
    'ndim shape size isscalar result_type may_share_memory shares_memory diagonal '
    'empty_like zeros_like ones_like full_like iscomplexobj isrealobj flipud fliplr rot90'.split()
)


def _check_operand(x):
    if not isinstance(x, (ndarray, *_SCALARS)):
        raise TypeError(f'Unsupported type {type(x)}')


# The functions for which CuPy has the methods of ufuncs
_METHODS = {
    'accumulate': ('add', 'multiply'),
    'at': ('add', 'subtract', 'maximum', 'minimum', 'bitwise_and', 'bitwise_or', 'bitwise_xor'),
    'reduce': ('add', 'multiply'),
    'reduceat': ('add',),
}


class ufunc:
    """Elementwise function of arrays and numbers."""

    def __init__(self, name, host, kind):
        self.__name__ = self.name = name
        self._host, self.nin, self.nout = host, host.nin, host.nout
        known = signature(kind)
        self._options = None
        if known is not None and not any(
            p.kind is p.VAR_KEYWORD for p in known.parameters.values()
        ):
            self._options = known.parameters.keys()

    def __call__(self, *args, **kwargs):
        for x in args[: self.nin]:
            _check_operand(x)
        outs = kwargs.get('out')
        for out in (*args[self.nin :], *(outs if isinstance(outs, tuple) else (outs,))):
            if out is not None and not isinstance(out, ndarray):
                raise TypeError(f'return arrays must be of cupy.ndarray type, not {type(out)}')
        if self._options is not None and kwargs.keys() - self._options:
            raise TypeError(f'Wrong arguments {kwargs.keys() - self._options}')
        return call(self._host, args, kwargs)

    def _of(method):
        def run(self, *args, **kwargs):
            if self.name not in _METHODS.get(method, (self.name,)):
                raise NotImplementedError(f'`{self.name}.{method}` is not supported yet')
            return call(getattr(self._host, method), args, kwargs)

        return run

    at, reduce, accumulate, outer, reduceat = map(
        _of, ('at', 'reduce', 'accumulate', 'outer', 'reduceat')
    )

    def __repr__(self):
        return f"<ufunc '{self.name}'>"


def _check_arguments(known, name, args, kwargs):
    """Arguments by name, as CuPy's signature has it."""
    if known is None:
        return {}
    try:
        arguments = known.bind(*args, **kwargs).arguments
    except TypeError as e:
        raise TypeError(f'{name}() {e}') from None
    for key in _ARRAYS & arguments.keys():
        if isinstance(arguments[key], (list, tuple)):
            raise TypeError(f'Unsupported type {type(arguments[key])}')
    return arguments


def function(name, host, kind):
    """Function that forwards to NumPy; raises for arguments that CuPy does not take."""
    known = signature(kind)
    moves = name in _VIEWS
    in_order = known is not None and all(
        p.kind is p.POSITIONAL_OR_KEYWORD for p in known.parameters.values()
    )
    base = host if inspect.isfunction(host) else None

    def forward(*args, **kwargs):
        arguments = _check_arguments(known, name, args, kwargs)
        if in_order and _HOST & arguments.keys():
            for key in _HOST & arguments.keys():
                if isinstance(arguments[key], numpy.ndarray):
                    place = list(arguments).index(key)
                    if place < len(args):
                        args = (*args[:place], arguments[key].tolist(), *args[place + 1 :])
                    else:
                        kwargs = {**kwargs, key: arguments[key].tolist()}
        result = call(host, args, kwargs, moves=moves)
        # CuPy does not wait for the answer.
        return wrap(result) if name in ('allclose', 'array_equal', 'array_equiv') else result

    return functools.update_wrapper(forward, base) if base else forward


def make(qualified, host_module):
    """Object of a recorded name, or ``AttributeError`` if CuPy has no such name."""
    module, _, name = qualified.rpartition('.')
    kind = API.get(qualified)
    if kind is None or kind.startswith('module'):  # the import system finds modules
        raise AttributeError(f'module {module!r} has no attribute {name!r}')
    host = getattr(host_module, name, None)
    if kind in ('numpy', 'value'):
        return getattr(numpy, name) if host is None else host
    if host is None:
        raise NotImplementedError(f'the stand-in for CuPy has no {qualified}')
    if isinstance(host, numpy.ufunc) and (kind.startswith('ufunc') or name == 'matmul'):
        return ufunc(name, host, kind)
    if kind.startswith('class'):
        return host
    return function(name, host, kind)


def lazily(module_name, namespace, host_module):
    """``__getattr__`` and ``__dir__`` of a module with the recorded names."""

    def __getattr__(name):
        if name.startswith('__'):
            raise AttributeError(name)
        value = namespace[name] = make(f'{module_name}.{name}', host_module)
        return value

    def __dir__():
        start = len(module_name) + 1
        recorded = (name[start:] for name in API if name.startswith(module_name + '.'))
        return sorted({*namespace, *(name for name in recorded if '.' not in name)})

    return __getattr__, __dir__


def module(name, host_module):
    """Module of recorded names alone."""
    result = sys.modules[name] = types.ModuleType(name, f'Functions of {host_module.__name__}')
    result.__getattr__, result.__dir__ = lazily(name, vars(result), host_module)
    return result
