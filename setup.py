"""Builds the distribution: pure Python, or with ``CHAINER_BUILD_CHAINERX=1`` the C++ core as well.

Everything static stands in ``pyproject.toml``; the CMake calls stand in ``tools/build.py``, which
is also the command that rebuilds the core during development.
"""

import shutil
import sys
from pathlib import Path

from setuptools import Distribution, Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import ExecError

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / 'tools'))

import build  # noqa: E402


class BuildPy(build_py):
    """Starts from an empty folder: files deleted from the sources must not live on in wheels."""

    def run(self):
        target = Path(self.build_lib).resolve()
        if ROOT / 'build' in target.parents:
            shutil.rmtree(target, ignore_errors=True)
        super().run()


class BuildChainerx(build_ext):
    """Has CMake build the core and put it into the package (or, if editable, into the sources)."""

    def run(self):
        prefix = ROOT if self.inplace else Path(self.build_lib).resolve()
        try:
            self.installed = build.build_chainerx(prefix, development=not self.inplace)
        except build.BuildError as error:
            raise ExecError(f'ChainerX was not built: {error}') from None

    def get_source_files(self):
        return []

    def get_outputs(self):
        return list(self.installed)

    def get_output_mapping(self):
        return {}


class WithCore(Distribution):
    """A wheel names the licences of the code that is compiled into it."""

    def parse_config_files(self, *args, **kwargs):
        super().parse_config_files(*args, **kwargs)
        # Source distributions have no compiled code, and no requirements.
        if {'bdist_wheel', 'dist_info', 'editable_wheel'} & set(sys.argv):
            try:
                self.metadata.license_files += build.copy_licences()
            except build.BuildError as error:
                raise ExecError(f'ChainerX was not built: {error}') from None


if build.wanted():
    setup(
        distclass=WithCore,
        ext_modules=[Extension('chainerx._core', sources=[])],
        cmdclass={'build_py': BuildPy, 'build_ext': BuildChainerx},
    )
else:
    setup(cmdclass={'build_py': BuildPy})
