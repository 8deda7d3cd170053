"""The parts of distutils that programs use which install nothing; Python 3.12 has removed it."""

from __future__ import annotations

import functools
import importlib.util
import re
import shutil
import sys
import types
from typing import Any

_TRUE = ('1', 'on', 't', 'true', 'y', 'yes')
_FALSE = ('0', 'f', 'false', 'n', 'no', 'off')


def install() -> None:
    """Makes distutils, unless it is there, as setuptools brings it."""
    if 'distutils' in sys.modules or importlib.util.find_spec('distutils') is not None:
        return
    modules: dict[str, dict[str, Any]] = {
        'distutils': {'__path__': []},
        'distutils.spawn': {'find_executable': shutil.which},
        'distutils.util': {'strtobool': strtobool},
        'distutils.version': {'LooseVersion': LooseVersion, 'StrictVersion': LooseVersion},
    }
    for name, contents in modules.items():
        module = sys.modules[name] = types.ModuleType(name)
        vars(module).update(contents)
        parent, _, last = name.rpartition('.')
        if parent:
            setattr(sys.modules[parent], last, module)


@functools.total_ordering
class LooseVersion:
    """Version whose numbers and words are compared one after the other.

    Args:
        vstring: Text, such as ``'1.10.2rc1'``.

    Attributes:
        vstring: The text.
        version: Its numbers and words.

    """

    def __init__(self, vstring: str) -> None:
        self.vstring = vstring
        self.version = [
            int(part) if part.isdigit() else part for part in re.findall(r'\d+|[a-z]+', vstring)
        ]

    def __str__(self) -> str:
        return self.vstring

    def __repr__(self) -> str:
        return f"LooseVersion ('{self.vstring}')"

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self.version == _version_of(other)

    def __lt__(self, other: object) -> Any:
        return self.version < _version_of(other)


def _version_of(other: Any) -> Any:
    return LooseVersion(other).version if isinstance(other, str) else other.version


def strtobool(val: str) -> int:
    """Returns 1 for a word that means yes, and 0 for one that means no.

    Raises:
        ValueError: If it is neither.

    """
    word = val.lower()
    if word in _TRUE:
        return 1
    if word in _FALSE:
        return 0
    raise ValueError(f'val must be one of {", ".join(_TRUE + _FALSE)}, but {val!r} was given')
