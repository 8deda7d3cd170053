"""The PEP 517 build backend: setuptools, plus the requirements of the compiled part.

Only builds with ``CHAINER_BUILD_CHAINERX=1`` need CMake, Ninja, pybind11 and OpenBLAS, so only
they request these from pip.
"""

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

from build import wanted

CHAINERX_REQUIREMENTS = ['cmake>=3.26', 'ninja', 'pybind11>=3', 'scipy-openblas32']


def _chainerx_requirements():
    return CHAINERX_REQUIREMENTS if wanted() else []


def get_requires_for_build_wheel(config_settings=None):
    return build_meta.get_requires_for_build_wheel(config_settings) + _chainerx_requirements()


def get_requires_for_build_editable(config_settings=None):
    return build_meta.get_requires_for_build_editable(config_settings) + _chainerx_requirements()
