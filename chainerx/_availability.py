"""Whether the compiled core can be used and, if not, why."""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from importlib.machinery import PathFinder

_HERE = os.path.dirname(os.path.abspath(__file__))
_ABSENT = 'the compiled core is not there'

# What must be the same in an installed package and in the sources, from the folder of each: the
# version, the functions of the core with their types, and the version of the binary interface.
_SAME = [
    ('../chainer/_version.py', '../chainer/_version.py'),
    ('_core.pyi', '_core.pyi'),
    ('include/chainerx/core/backend.h', '../chainerx_cc/chainerx/core/backend.h'),
]


class NotBuiltError(RuntimeError, AttributeError):
    """Raised for every name of ChainerX that needs the compiled core."""


def _load():
    """Imports the core; returns why it cannot be used, or ``None``."""
    try:
        from chainerx import _core  # noqa: F401
    except ImportError as error:
        if importlib.util.find_spec('chainerx._core') is None:
            return _ABSENT
        return f'the compiled core cannot be loaded: {error}'
    return None


def _read(*path):
    with open(os.path.join(*path), 'rb') as file:
        return file.read()


def _is_same(package):
    try:
        return all(_read(package, theirs) == _read(_HERE, ours) for theirs, ours in _SAME)
    except OSError:
        return False


def _load_installed():
    """Imports the core of another folder on Python's path; returns as :func:`_load`.

    Python that starts in a copy of the repository imports the sources, but an install that is not
    editable puts the core into the environment alone.
    """
    for folder in sys.path:
        package = os.path.join(os.path.abspath(folder), 'chainerx')
        if PathFinder.find_spec('chainerx._core', [package]) is None:
            continue
        if not _is_same(package):
            return (
                f'Python imports the sources in {os.path.dirname(_HERE)}, '
                f'and the core in {package} was built from others'
            )
        sys.modules['chainerx'].__path__.append(package)
        return _load()
    return _ABSENT


def _find_reason():
    reason = _load()
    if reason == _ABSENT and os.path.isdir(os.path.join(_HERE, '..', 'chainerx_cc')):
        reason = _load_installed()
    if reason not in (None, _ABSENT):
        # Somebody has built it and should hear that it is not used.
        warnings.warn(f'ChainerX is not used: {reason}', RuntimeWarning, stacklevel=4)
    return reason


def message() -> str:
    """What a user should read who needs the core."""
    return (
        'ChainerX is not available. Build it with CHAINER_BUILD_CHAINERX=1 pip install . '
        f'(reason: {reason})'
    )


#: Why the core cannot be used; ``None`` when it can.
reason = _find_reason()
