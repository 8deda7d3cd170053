"""What a function reads besides its arguments, and a watch over it.

All objects that code of the program can reach are watched: from the closures, defaults and global
names of the functions that ran. A value of an unknown type is an obstacle.
"""

from __future__ import annotations

import builtins
import dis
import functools
import types
from typing import Any

import numpy

import chainerx
from chainer import backend, configuration, device_resident, link, optimizer
from chainer._core.mixed16 import mixed16
from chainer.compilation._trace import (
    Obstacle,
    describe,
    is_framework_code,
    is_framework_module,
)
from chainer.compilation._trees import CONSTANTS
from chainer.initializer import Initializer
from chainer.variable import Variable

_chx_ndarray = chainerx.ndarray
_TRUSTED_OBJECTS = (
    backend.Device, configuration.GlobalConfig, configuration.LocalConfig, Initializer,
    type(mixed16),
)  # fmt: skip
#: Attributes of links that tell what others are. The others change with these.
_NAMES_OF_LINKS = ('_params', '_persistent', '_children', '_name', 'name')
_NUMPY_FUNCTION = type(numpy.sum)
#: Classes that read no attributes of those that derive from them, but for links and parameters.
_OPEN_CLASSES = {object, device_resident.DeviceResident, link.Link, link.Chain}
#: Whose functions cannot be told from those that ran.
_DESCRIPTORS = property, staticmethod, classmethod, functools.partial, types.MethodType
#: Attributes of classes that no computation reads.
_NOT_READ = '__dict__', '__weakref__', '__doc__', '__annotations__', '_abc_impl'
#: Names by which code may read attributes that it does not name.
_READERS = 'getattr', 'hasattr', 'vars', '__dict__', 'dir', 'attrgetter', 'methodcaller'
#: The largest array of NumPy whose elements are compared at each call, in bytes.
_MAX_DATA = 1 << 16
_ATTRIBUTE_LOADS = 'LOAD_ATTR', 'LOAD_METHOD'


class Scope:
    """The objects that a function reads, as they are now.

    Args:
        functions: The functions and other objects from which all others are reached.
        codes (dict): The code that ran, by ``id``.
        slots (dict): Objects, by pairs of their ``id`` and the name of an attribute whose arrays
            change from call to call.

    Attributes:
        watch: Notices changes of the objects.
        labels (list of str): What each entry of the watch is.
        known (dict): The objects, by ``id``.
        arrays (list): The arrays among them.
        variables (list): The variables among them, such as parameters.
        optimizers (list): The optimizers among them.
        slots (list): Pairs of an object and a name.

    """

    def __init__(
        self, roots: list[Any], codes: dict[int, types.CodeType], slots: dict[tuple[int, str], Any]
    ) -> None:
        self.watch = chainerx._core._Watch()
        self.labels: list[str] = []
        self._watched: list[Any] = []
        self.known: dict[int, Any] = {}
        self.arrays: list[Any] = []
        self.variables: list[Variable] = []
        self.optimizers: list[Any] = []
        self.slots: list[tuple[Any, str]] = []
        self.objects: list[Any] = []  # whose attributes are watched
        self._codes = codes
        self._slot_ids = slots
        self._found: set[int] = set()  # ids of code
        self._names = {name for code in codes.values() for name in _names_in(code)}
        self._reads_any = not self._names.isdisjoint(_READERS)
        for root in roots:
            self._visit(root, getattr(root, '__name__', type(root).__name__))
        config = configuration.config
        self._add(self.watch.add_items, 'chainer.global_config', vars(configuration.global_config))
        self._add(self.watch.add_items, 'chainer.config', vars(config))

    def find_change(self) -> str | None:
        """Tells what has changed, or returns ``None``."""
        number = self.watch.find_change()
        return None if number < 0 else self.labels[number]

    def lines_that_store(self, name: str) -> str:
        """Names the lines that set an attribute."""
        lines = [
            describe(code, line)
            for code in self._codes.values()
            for op, arg, line in _instructions(code)
            if op == 'STORE_ATTR' and arg == name
        ]
        return f' ({", ".join(lines)})' if lines else ''

    def find_changes(self) -> list[tuple[Any, str]]:
        """Returns all changed things, and what each is."""
        return [(self._watched[i], self.labels[i]) for i in self.watch.find_changes()]

    def check_code(self, codes: dict[int, types.CodeType]) -> None:
        """Raises if code that ran is not that of a function which is watched."""
        for code in codes.values():
            if id(code) not in self._found:
                line = describe(code, code.co_firstlineno)
                raise Obstacle(f'{code.co_name} cannot be found before it is called ({line})')

    def _add(self, method: Any, label: str, *args: Any) -> None:
        method(*args)
        self._watched.append(args[0])
        self.labels.append(label)

    def _visit(self, value: Any, label: str) -> None:
        kind = type(value)
        if isinstance(value, CONSTANTS) or id(value) in self.known:
            return
        lists: tuple[list[Any], ...] = (
            self.arrays,
            self.variables,
            self.optimizers,
            self.slots,
            self.objects,
        )
        lengths = [len(part) for part in lists]
        count = len(self.known)
        self.known[id(value)] = value
        try:
            self._visit_new(value, kind, label)
        except Obstacle:
            # Whoever does not mind has not seen it: it is an obstacle to others.
            for key in list(self.known)[count:]:
                del self.known[key]
            for part, length in zip(lists, lengths):
                del part[length:]
            raise

    def _visit_new(self, value: Any, kind: type, label: str) -> None:
        if isinstance(value, Variable):
            self._visit_variable(value, label)
        elif kind is _chx_ndarray:
            self._visit_array(value, label)
        elif kind is numpy.ndarray:
            self._visit_data(value, label)
        elif isinstance(value, link.Link):
            names = [n for n in _NAMES_OF_LINKS if not isinstance(vars(value).get(n), list)]
            self._visit_object(value, label, tuple(names))
        elif isinstance(value, optimizer.Optimizer):
            self._visit_optimizer(value, label)
        elif kind is tuple or kind is frozenset:
            for part in value:
                self._visit(part, label)
        elif kind is list or kind is dict:
            self._add(self.watch.add_items, label, value)
            for part in value.values() if kind is dict else value:
                self._visit(part, label)
            if kind is dict and not all(isinstance(key, CONSTANTS) for key in value):
                raise Obstacle(f'{label} has keys that cannot be watched')
        elif kind is types.FunctionType:
            self._visit_function(value, label)
        elif kind is types.MethodType:
            self._visit(value.__func__, label)
            self._visit(value.__self__, label)
        elif kind is _NUMPY_FUNCTION:  # which the trace sees if it is called
            pass
        elif kind is types.BuiltinFunctionType:
            owner = value.__self__
            if owner is not None and not isinstance(owner, types.ModuleType):
                self._visit(owner, label)
        elif kind is functools.partial:
            for part in (value.func, *value.args, *value.keywords.values()):
                self._visit(part, label)
        elif kind in (staticmethod, classmethod):
            self._visit(value.__func__, label)
        elif kind is property:
            for part in (value.fget, value.fset, value.fdel):
                self._visit(part, label)
        elif isinstance(value, type):
            self._visit_class(value, label)
        elif kind is types.ModuleType:
            if not is_framework_module(value.__name__):
                raise Obstacle(f'{label} is a module, of which anything may be read')
        elif hasattr(value, '_compiled_function'):
            self._visit(value._compiled_function, label)
        elif isinstance(value, _TRUSTED_OBJECTS) and is_framework_module(kind.__module__):
            for name, part in vars(value).items() if isinstance(value, Initializer) else ():
                self._visit(part, f'{label}.{name}')
        elif _is_plain_object(kind):
            self._visit_object(value, label, ())
        else:
            raise Obstacle(f'{label} is {kind.__module__}.{kind.__name__}, which cannot be watched')

    def _visit_variable(self, value: Variable, label: str) -> None:
        self._add(self.watch.add_attributes, label, value, ['_chainerx_array_cache'])
        self._visit_class(type(value), type(value).__name__)
        self.variables.append(value)
        if value._array is None:
            raise Obstacle(f'{label} is not initialized')
        self._visit(value._array, label)
        if value._layout is not None:
            raise Obstacle(f'{label} has a memory layout')

    def _visit_array(self, value: Any, label: str) -> None:
        if value.device.backend.name != 'native':
            raise Obstacle(f'{label} is on {value.device.name}')
        if value._is_chained():
            raise Obstacle(f'{label} belongs to the graph of an earlier computation')
        self._add(self.watch.add_array, label, value)
        self.arrays.append(value)

    def _visit_data(self, value: numpy.ndarray[Any, Any], label: str) -> None:
        if value.dtype.hasobject or value.nbytes > _MAX_DATA or not value.flags.c_contiguous:
            raise Obstacle(
                f'{label} is an array of NumPy that is large, not contiguous or of objects'
            )
        self._add(self.watch.add_data, label, value)

    def _visit_object(self, value: Any, label: str, ignored: tuple[str, ...]) -> None:
        for name, part in vars(value).items():
            # What a call left there can only be replaced by the next one.
            if type(part) is Variable and type(part._array) is _chx_ndarray:
                if part._array._is_chained():
                    self._slot_ids[id(value), name] = value
        slots = tuple(name for owner, name in self._slot_ids if owner == id(value))
        self._add(self.watch.add_attributes, label, value, [*ignored, *slots])
        self.objects.append(value)
        self.slots.extend((value, name) for name in slots)
        kind = type(value)
        self._visit_class(kind, kind.__name__)
        is_own = not any(
            is_framework_module(c.__module__) for c in set(kind.__mro__) - _OPEN_CLASSES
        )
        for name, part in list(vars(value).items()):
            if name in ignored or name in slots:
                continue
            try:
                self._visit(part, f'{label}.{name}')
            except Obstacle:
                if not is_own or self._may_read(name, part):
                    raise

    def _may_read(self, name: str, value: Any) -> bool:
        """Tells whether code that ran may read an attribute."""
        return (
            self._reads_any
            or name in self._names
            or isinstance(value, (link.Link, Variable, *_DESCRIPTORS))
            or (isinstance(value, types.FunctionType) and id(value.__code__) in self._codes)
        )

    def _visit_optimizer(self, value: Any, label: str) -> None:
        # Its update runs as usual, so only what the function itself reads matters.
        if type(value).update is not optimizer.GradientMethod.update:
            raise Obstacle(f'{label} has an update of its own')
        self.optimizers.append(value)
        self._visit_class(type(value), type(value).__name__)
        if value.target is not None:
            self._visit(value.target, f'{label}.target')
        names = (self._names & {*vars(value), *vars(value.hyperparam)}) | {
            'update', 'target', 'hyperparam', '_loss_scale', '_use_cleargrads'
        }  # fmt: skip
        for owner in value, value.hyperparam:
            for name in names:
                self._add(self.watch.add_entry, f'{label}.{name}', vars(owner), name)

    def _visit_class(self, value: type, label: str) -> None:
        for cls in value.__mro__:
            if id(cls) in self.known and cls is not value or cls.__module__ == 'builtins':
                continue
            self.known[id(cls)] = cls
            if is_framework_module(cls.__module__):
                if issubclass(cls, link.Link):  # a program may replace methods
                    self._add(self.watch.add_class, label, cls)
                continue
            if issubclass(cls, (numpy.generic, numpy.ndarray)):
                continue
            self._add(self.watch.add_class, label, cls)
            for name, part in list(vars(cls).items()):
                if name in _NOT_READ:
                    continue
                try:
                    self._visit(part, f'{cls.__name__}.{name}')
                except Obstacle:
                    if self._may_read(name, part):
                        raise

    def _visit_function(self, value: types.FunctionType, label: str) -> None:
        code = value.__code__
        if is_framework_code(code):
            for cell in value.__closure__ or ():
                # Such as what a decorator wraps. Other variables are the affair of this package.
                kinds = types.FunctionType, types.MethodType, numpy.ndarray
                if isinstance(cell.cell_contents, kinds):
                    self._visit(cell.cell_contents, label)
            return
        self._add(self.watch.add_function, label, value)
        for part in (*(value.__defaults__ or ()), value.__kwdefaults__):
            self._visit(part, label)
        for name, cell in zip(code.co_freevars, value.__closure__ or ()):
            try:
                self._visit(cell.cell_contents, name)
            except ValueError:  # an empty cell
                continue
        self._visit_code(code, value.__globals__)

    def _visit_code(self, code: types.CodeType, variables: dict[str, Any]) -> None:
        self._found.add(id(code))
        for part in code.co_consts:
            if isinstance(part, types.CodeType):
                self._visit_code(part, variables)
        if id(code) not in self._codes:
            return
        instructions = _instructions(code)
        for i, (op, name, line) in enumerate(instructions):
            if op in ('STORE_GLOBAL', 'DELETE_GLOBAL', 'IMPORT_NAME', 'IMPORT_FROM'):
                what = 'an import' if op.startswith('IMPORT') else f'a change of {name}'
                raise Obstacle(f'{what} ({describe(code, line)})')
            if op in ('LOAD_GLOBAL', 'LOAD_NAME'):
                path = [name]
                for next_op, next_name, _ in instructions[i + 1 :]:
                    if next_op not in _ATTRIBUTE_LOADS:
                        break
                    path.append(next_name)
                try:
                    self._visit_path(variables, path)
                except Obstacle as error:
                    raise Obstacle(f'{error} ({describe(code, line)})') from None

    def _visit_path(self, variables: dict[str, Any], path: list[str]) -> None:
        name = path[0]
        self._add(self.watch.add_entry, name, variables, name)
        if name in variables:
            value = variables[name]
        elif hasattr(builtins, name):
            value = getattr(builtins, name)
        else:
            raise Obstacle(f'{name} is not defined')
        label = name
        for part in path[1:]:
            if type(value) is not types.ModuleType:
                break
            label = f'{label}.{part}'
            if part in vars(value):
                self._add(self.watch.add_entry, label, vars(value), part)
            elif not is_framework_module(value.__name__):
                raise Obstacle(f'{label} cannot be watched')
            value = getattr(value, part)
        self._visit(value, label)


def _is_plain_object(kind: type) -> bool:
    """Tells whether all that an object of a class consists of are its attributes."""
    return (
        kind is not object
        and all(
            cls is object
            or cls is device_resident.DeviceResident
            or (
                bool(cls.__flags__ & (1 << 9))  # made by Python code
                and '__slots__' not in vars(cls)
                and not is_framework_module(cls.__module__)
                and '__module__' in vars(cls)
            )
            for cls in kind.__mro__
        )
        and kind.__basicsize__ <= _Plain.__basicsize__
    )


class _Plain:
    pass


def _names_in(code: types.CodeType) -> list[str]:
    return [*code.co_names, *[part for part in code.co_consts if isinstance(part, str)]]


def _instructions(code: types.CodeType) -> list[tuple[str, Any, int | None]]:
    found = []
    line: int | None = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        if instruction.starts_line is not None:
            line = getattr(instruction, 'line_number', None) or (
                instruction.starts_line if type(instruction.starts_line) is int else line
            )
        found.append((instruction.opname, instruction.argval, line))
    return found
