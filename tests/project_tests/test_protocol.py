"""Functions and engines meet in one small protocol."""

import ast
import contextlib
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import chainer
import chainerx
from chainer import FunctionNode
from chainer._core.engines import arrays, chainerx as chainerx_engine, fallback, kernels
from chainer.functions import _base

CORE = Path(chainer.__file__).parent / '_core'
RULES = {'backward', 'backward_accumulate', 'gradients', 'gradient'}


def _subclasses(cls):
    for subclass in cls.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _functions():
    for module in pkgutil.walk_packages(chainer.__path__, 'chainer.'):
        if module.name.endswith('__main__'):
            continue  # a program
        with contextlib.suppress(ImportError):  # some need a library that may be missing
            importlib.import_module(module.name)
    return {cls for cls in _subclasses(FunctionNode) if cls.__module__.startswith('chainer.')}


def test_each_function_states_its_gradient_once():
    twice = {
        cls.__qualname__: sorted(RULES & cls.__dict__.keys())
        for cls in _functions()
        # Bases of families derive one form from the other.
        if cls.__module__ != 'chainer.functions._base' and len(RULES & cls.__dict__.keys()) > 1
    }
    assert not twice
    assert len(_functions()) > 200


def test_a_function_names_its_routine(monkeypatch):
    """The name of a class says nothing of the routine of ChainerX that serves it."""
    monkeypatch.setattr(chainerx, 'is_available', lambda: True)
    monkeypatch.setattr(chainerx, 'tanh', 'tanh', raising=False)
    unnamed = type('Tanh', (_base.UnaryFunction,), {})
    named = type('HyperbolicTangent', (_base.UnaryFunction,), {'chainerx_routine': 'tanh'})
    derived = type('Tanh', (named,), {})
    routines = [cls._chainerx_function for cls in (unnamed, named, derived)]
    assert routines == [None, 'tanh', None]


@pytest.mark.chainerx
def test_functions_name_the_routines_that_exist():
    """A class without the name of its routine would run on NumPy without a word."""
    missing = [
        cls.__qualname__
        for cls in _functions()
        if issubclass(cls, _base._Routine) and hasattr(chainerx, cls.__name__.lower())
        if cls._chainerx_function is None and 'forward_chainerx' not in cls.__dict__
    ]
    assert not missing


def test_protocol_attributes_are_few():
    data = [
        name
        for name, value in FunctionNode.__dict__.items()
        if not name.startswith('__')
        and (isinstance(value, type) or not hasattr(type(value), '__get__'))
    ]
    assert len(data) <= 8, data


def test_engines_have_one_signature():
    """Types are checked by mypy; see ``tests/type_checks/engines.py``."""
    engines = [
        arrays.run,
        kernels.run,
        kernels.run_on_cupy,
        chainerx_engine.run,
        fallback.engine('float16'),
    ]
    for engine in engines:
        assert list(inspect.signature(engine).parameters) == ['func', 'in_vars', 'in_data']


def test_engines_swallow_no_errors():
    # print_runtime_info shows what a broken CuPy says.
    for path in set(CORE.rglob('*.py')) - {CORE / 'devices' / 'runtime_info.py'}:
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.ExceptHandler):
                caught = 'everything' if node.type is None else ast.unparse(node.type)
                assert caught not in ('everything', 'Exception', 'BaseException'), path
