"""Writes the stubs of chainerx: of the compiled core, and of modules that rename its functions.

Names, parameters and defaults come from the text signatures of the core's functions and methods,
types from the C++ functions behind them. Only what is written against the C interface of Python,
properties and operators, has its types here.
"""

import argparse
import importlib
import inspect
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / 'chainerx'
# Modules whose functions are those of the core; checkers do not take an assignment for a function.
ALIASES = 'fft', 'linalg', '_aliases'

HEADER = """\
# Written by chainerx_cc/tools/make_stubs.py from the compiled core; not to be edited.
# ruff: noqa
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, SupportsFloat, overload

import numpy
from numpy.typing import ArrayLike, DTypeLike

_Number = SupportsFloat | complex
_Operand = ndarray | _Number
_Ints = int | Sequence[int]
_DeviceLike = Device | str | None
"""

# The parameters and results of functions whose results depend on the arguments.
OVERLOADS = {
    'where': [
        ('condition: _Operand, x: _Operand, y: _Operand', 'ndarray'),
        ('condition: ndarray', 'tuple[ndarray, ...]'),
    ],
    'unique': [
        (
            'ar: ndarray, return_index: Literal[False] = False, '
            'return_inverse: Literal[False] = False, return_counts: Literal[False] = False, '
            'equal_nan: bool = True',
            'ndarray',
        ),
        (
            'ar: ndarray, return_index: bool = False, return_inverse: bool = False, '
            'return_counts: bool = False, equal_nan: bool = True',
            'tuple[ndarray, ...]',
        ),
    ],
}
PROPERTIES = {
    'shape': 'tuple[int, ...]',
    'strides': 'tuple[int, ...]',
    'dtype': 'numpy.dtype[Any]',
    'device': 'Device',
    'ndim': 'int',
    'size': 'int',
    'itemsize': 'int',
    'nbytes': 'int',
    'offset': 'int',
    'is_contiguous': 'bool',
    'data_ptr': 'int',
    'data_size': 'int',
    'T': 'ndarray',
    'mT': 'ndarray',
    'grad': 'ndarray | None',
    '__array_priority__': 'float',
}
# Calls of objects, by class.
CALLS = {'_OnnxModel': '    def __call__(self, *inputs: ArrayLike | ndarray) -> Any: ...\n'}
OPERATORS = 'add sub mul truediv floordiv mod pow matmul and or xor lshift rshift'.split()
SPECIAL_METHODS = """\
    __array_ufunc__: None
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __index__(self) -> int: ...
    def __iter__(self) -> Iterator[ndarray]: ...
    def __contains__(self, value: _Operand) -> bool: ...
    def __getitem__(self, key: Any) -> ndarray: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def __neg__(self) -> ndarray: ...
    def __pos__(self) -> ndarray: ...
    def __abs__(self) -> ndarray: ...
    def __invert__(self) -> ndarray: ...
"""


def _parameters(signature, types):
    """The parameters, the first of which may be ``self``, with their types and defaults."""
    parameters = []
    for p, kind in zip(signature.parameters.values(), types):
        default = '' if p.default is p.empty else f' = {p.default!r}'
        if p.name == 'self':
            parameters.append('self')
        elif p.kind is p.VAR_POSITIONAL:
            item = re.fullmatch(r'Sequence\[(.*)\]', kind)
            parameters.append(f'*{p.name}: {item[1] if item else kind}')
        else:
            parameters.append(f'{p.name}: {kind}{default}')
    return ', '.join(parameters)


def _define(name, value, types, indent='', doc=False):
    if name in OVERLOADS:
        return ''.join(
            f'@overload\ndef {name}({parameters}) -> {result}: ...\n'
            for parameters, result in OVERLOADS[name]
        )
    *types, result = types
    signature = inspect.signature(value)
    head = f'{indent}def {name}({_parameters(signature, types)}) -> {result}:'
    if not doc:
        return head + ' ...\n'
    text = inspect.getdoc(value).split('\n\n')[0].replace('\n', '\n    ')
    mark = 'r' if '\\' in text else ''
    return f'{head}\n    {mark}"""{text}"""\n'


def _operators():
    for name in OPERATORS:
        yield f'    def __{name}__(self, other: _Operand) -> ndarray: ...\n'
        yield f'    def __r{name}__(self, other: _Operand) -> ndarray: ...\n'
        if name != 'matmul':
            yield f'    def __i{name}__(self, other: _Operand) -> ndarray: ...\n'
    for name in 'eq ne lt le gt ge'.split():
        ignore = '  # type: ignore[override]' if name in ('eq', 'ne') else ''
        yield f'    def __{name}__(self, other: Any) -> ndarray: ...{ignore}\n'


def _ndarray(core):
    types = core._types()
    lines = ['class ndarray:\n    __hash__: None  # type: ignore[assignment]\n']
    for name, kind in PROPERTIES.items():
        lines.append(f'    @property\n    def {name}(self) -> {kind}: ...\n')
    lines.append('    @grad.setter\n    def grad(self, grad: ndarray | None) -> None: ...\n')
    # Right after its property, where type checkers look for the setter.
    position = next(i for i, line in enumerate(lines) if 'def grad(self) ->' in line)
    lines.insert(position + 1, lines.pop())
    lines.append(SPECIAL_METHODS)
    lines += _operators()
    lines.append('    def reshape(self, *newshape: Any) -> ndarray: ...\n')
    lines.append('    def transpose(self, *axes: Any) -> ndarray: ...\n')
    for name, value in sorted(vars(core.ndarray).items()):
        # A function that is a method as well has one entry for both.
        kinds = types.get(f'ndarray.{name}') or types.get(name)
        if kinds and inspect.ismethoddescriptor(value) and value.__text_signature__:
            lines.append(_define(name, value, kinds, '    '))
    return ''.join(lines)


def _class(cls, types):
    """The methods and properties of a class of the core."""
    lines = [f'class {cls.__name__}:\n']
    for name, value in sorted(vars(cls).items()):
        kinds = types.get(f'{cls.__name__}.{name}')
        if kinds is None:
            continue
        if name == '__init__':
            parameters = _parameters(inspect.signature(cls), kinds)
            lines.append(
                f'    def __init__({", ".join(filter(None, ["self", parameters]))}) -> None: ...\n'
            )
        elif inspect.isgetsetdescriptor(value):
            lines.append(f'    @property\n    def {name}(self) -> {kinds[-1]}: ...\n')
        else:
            lines.append(_define(name, value, kinds, '    '))
    lines.append(CALLS.get(cls.__name__, ''))
    return ''.join(lines) if any(lines[1:]) else lines[0].rstrip() + ' ...\n'


def _exceptions(core, names):
    """Names of exceptions, bases first."""
    classes = {n: getattr(core, n) for n in names if isinstance(getattr(core, n), type)}
    found = [n for n, cls in classes.items() if issubclass(cls, Exception)]
    return sorted(found, key=lambda n: (len(classes[n].__mro__), n))


def _exception(core, name):
    bases = ', '.join(
        b.__name__
        if b.__module__ != 'builtins' or not hasattr(core, b.__name__)
        else 'builtins.' + b.__name__
        for b in getattr(core, name).__bases__
    )
    return f'class {name}({bases}): ...\n'


def _values(core):
    """Everything of the core that is neither an op nor ``ndarray``, exceptions first."""
    types = core._types()
    ops = {op['name'] for op in core._ops()} | {'ndarray'}
    names = [
        name
        for name in dir(core)
        if name not in ops
        and not name.startswith('__')
        and not inspect.ismodule(getattr(core, name))
    ]
    exceptions = _exceptions(core, names)
    for name in exceptions:
        yield _exception(core, name)
    aliases = []
    for name in names:
        value = getattr(core, name)
        if name in exceptions:
            continue
        if isinstance(value, type):
            if value.__name__ == name:
                yield _class(value, types)
            else:
                aliases.append(f'{name} = {value.__name__}\n')
        elif inspect.isbuiltin(value):
            yield _define(name, value, types[name], doc=True)
        else:
            yield f'{name}: {type(value).__name__}\n'
    yield ''.join(aliases)


def _make_alias_stub(module):
    from chainerx import _core

    types = _core._types()
    ops = {}
    for op in _core._ops():
        path, _, name = op['name'].rpartition('.')
        ops[getattr(getattr(_core, f'_{path}') if path else _core, name)] = types[op['name']]
    parts = [HEADER, 'from chainerx._core import Device, ndarray\n']
    for name, value in vars(module).items():
        if inspect.isfunction(value) and value.__module__ != module.__name__:
            parts[1] += f'from {value.__module__} import {name} as {name}\n'
        if inspect.isbuiltin(value):
            parts.append(_define(name, value, ops[value], doc=True))
    return '\n'.join(parts)


def make_stubs():
    """Returns the texts of the stub files by module name."""
    return {
        '_core': _make_core_stub(),
        **{name: _make_alias_stub(importlib.import_module(f'chainerx.{name}')) for name in ALIASES},
    }


def _make_core_stub():
    from chainerx import _core

    parts = [HEADER, '__version__: str\n', _ndarray(_core), *_values(_core)]
    ops = _core._ops()
    types = _core._types()
    # A submodule is written as a class: a stub file cannot hold modules.
    submodules = {}
    for op in ops:
        path, _, name = op['name'].rpartition('.')
        if path:
            function = getattr(getattr(_core, f'_{path}'), name)
            text = '    @staticmethod\n' + _define(name, function, types[op['name']], '    ')
            submodules[path] = submodules.get(path, f'class _{path}:\n') + text
    parts += submodules.values()
    return '\n'.join([*parts, *_functions(_core, ops, types)])


def _functions(core, ops, types):
    family = None
    for op in ops:
        if '.' in op['name']:
            continue
        if op['family'] != family:
            family = op['family']
            yield f'# ---- {family}\n'
        yield _define(op['name'], getattr(core, op['name']), types[op['name']], doc=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--check', action='store_true', help='only compare the file')
    args = parser.parse_args()
    for name, text in make_stubs().items():
        path = FOLDER / f'{name}.pyi'
        if not args.check:
            path.write_text(text)
        elif path.read_text() != text:
            return f'run {Path(__file__).name}'
    return 0


if __name__ == '__main__':
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
