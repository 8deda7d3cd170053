"""Sphinx configuration: ``python -m sphinx -W -b html docs build/docs``."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / '_ext'))
sys.path.insert(0, str(HERE.parent))

import chainer  # noqa: E402

project = 'Chainer'
copyright = '2026, The Chainer 8 developers'
version = release = chainer.__version__

extensions = [
    'sphinx.ext.autodoc',
    'sphinx.ext.autosummary',
    'sphinx.ext.mathjax',
    'sphinx.ext.napoleon',
    'cpp_overview',
    'reference',
    'native_functions',
]
exclude_patterns = ['_build']
html_theme = 'alabaster'
html_static_path = ['_static']

autodoc_member_order = 'bysource'
autodoc_default_options = {'members': True}
autosummary_generate = False
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # else Sphinx documents an attribute with a docstring twice
# Short names such as Device are ambiguous; leave them without a link instead of warning.
suppress_warnings = ['ref.python']
