"""Names that Python 3.8 to 3.13 have removed."""

from __future__ import annotations

import base64
import collections
import collections.abc
import errno
import fractions
import importlib.util
import inspect
import math
import os
import sys
import threading
import time
import types
import unittest
import xml.etree
import xml.etree.ElementTree
from typing import Any, NamedTuple

from chainer.legacy import _distutils

_TEST_METHODS = {
    'assertAlmostEquals': 'assertAlmostEqual',
    'assertEquals': 'assertEqual',
    'assertNotAlmostEquals': 'assertNotAlmostEqual',
    'assertNotEquals': 'assertNotEqual',
    'assertNotRegexpMatches': 'assertNotRegex',
    'assertRaisesRegexp': 'assertRaisesRegex',
    'assertRegexpMatches': 'assertRegex',
    'assert_': 'assertTrue',
}


def install() -> None:
    """Gives Python's modules the names that they lack."""
    _add(collections, {name: getattr(collections.abc, name) for name in collections.abc.__all__})
    _add(base64, {'decodestring': base64.decodebytes, 'encodestring': base64.encodebytes})
    _add(fractions, {'gcd': math.gcd})
    _add(inspect, {'ArgSpec': ArgSpec, 'getargspec': getargspec})
    _add(os, {'errno': errno})
    _add(time, {'clock': time.perf_counter})
    _add(threading.Thread, {'isAlive': threading.Thread.is_alive})
    case = unittest.TestCase
    _add(case, {name: getattr(case, new) for name, new in _TEST_METHODS.items()})
    _add(xml.etree, {'cElementTree': xml.etree.ElementTree})
    sys.modules.setdefault('xml.etree.cElementTree', xml.etree.ElementTree)
    _distutils.install()
    if 'imp' not in sys.modules and importlib.util.find_spec('imp') is None:
        sys.modules['imp'] = _make_imp()


def _add(owner: Any, names: dict[str, Any]) -> None:
    for name, value in names.items():
        if not hasattr(owner, name):
            setattr(owner, name, value)


class ArgSpec(NamedTuple):
    """What :func:`getargspec` returns."""

    args: Any
    varargs: Any
    keywords: Any
    defaults: Any


def getargspec(func: Any) -> ArgSpec:
    """Names and defaults of the arguments of a function.

    Raises:
        ValueError: If it has arguments that only have names, or annotations.

    """
    found = inspect.getfullargspec(func)
    if found.kwonlyargs or found.annotations:
        raise ValueError('getargspec knows no keyword-only arguments and annotations')
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def _make_imp() -> types.ModuleType:
    """Makes the part of the module ``imp`` that programs use to import a file."""
    module: Any = types.ModuleType('imp')
    module.load_source = load_source
    module.new_module = types.ModuleType
    module.reload = importlib.reload
    return module


def load_source(name: str, pathname: str, file: Any = None) -> types.ModuleType:
    """Imports a file as a module of a name."""
    spec = importlib.util.spec_from_file_location(name, pathname)
    if spec is None or spec.loader is None:
        raise ImportError(f'cannot import {pathname!r} as Python', name=name, path=pathname)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
