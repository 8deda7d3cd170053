"""Whether the compiled core can be used and, if not, why."""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from importlib.machinery import PathFinder
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_ABSENT = 'the compiled core is not there'


class _NoCore:
    """Tells importers of the core why they cannot have it.

    Without it, Python would start a core that fails while it starts once more, and crash.
    """

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        if fullname == 'chainerx._core':
            raise ImportError(message(), name=fullname)


class NotBuiltError(RuntimeError, AttributeError):
    """Raised for every name of ChainerX that needs the compiled core."""


def _read(*path):
    with open(os.path.join(*path), 'rb') as file:
        return file.read()


def _interface(package):
    """Returns the version of a package, its core's functions with types, and that of the ABI."""
    headers = os.path.join(package, 'include')  # in a wheel
    if not os.path.isdir(headers):
        headers = os.path.join(package, '..', 'chainerx_cc')
    return [
        _read(package, '..', 'chainer', '_version.py'),
        _read(package, '_core.pyi'),
        _read(headers, 'chainerx', 'core', 'backend.h'),
    ]


def _is_same(package):
    try:
        return _interface(package) == _interface(_HERE)
    except OSError:
        return False


def _installed_package():
    """Returns the first folder on Python's path that has a core, for sources without one.

    Python that starts in a copy of the repository imports the sources, but an install that is not
    editable puts the core into the environment alone.
    """
    if os.path.isdir(os.path.join(_HERE, '..', 'chainerx_cc')):
        for folder in sys.path:
            package = os.path.join(os.path.abspath(folder), 'chainerx')
            if PathFinder.find_spec('chainerx._core', [package]) is not None:
                return package
    return None


def _load():
    """Imports the core; returns why it cannot be used, or ``None``."""
    found = importlib.util.find_spec('chainerx._core')
    # Editable installs of other sources find theirs here.
    origin = found and found.origin
    package = os.path.dirname(origin) if origin else _installed_package()
    if package is None:
        return _ABSENT
    if package != _HERE and not _is_same(package):
        return (
            f'Python imports the sources in {os.path.dirname(_HERE)}, '
            f'and the core in {package} was built from others'
        )
    if not found:
        sys.modules['chainerx'].__path__.append(package)
    try:
        from chainerx import _core  # noqa: F401
    except ImportError as error:
        return f'the compiled core cannot be loaded: {error}'
    return None


def _find_reason():
    reason = _load()
    if reason not in (None, _ABSENT):
        # Somebody has built it and should hear that it is not used.
        warnings.warn(f'ChainerX is not used: {reason}', RuntimeWarning, stacklevel=4)
    return reason


def message() -> str:
    """What a user should read who needs the core."""
    return (
        'ChainerX is not available: build it with CHAINER_BUILD_CHAINERX=1 pip install . '
        f'(reason: {reason})'
    )


#: Why the core cannot be used; ``None`` when it can.
reason = _find_reason()
if reason is not None:
    sys.meta_path.insert(0, _NoCore())
