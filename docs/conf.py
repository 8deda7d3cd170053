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
    'sphinx.ext.napoleon',
    'sphinx.ext.viewcode',
    'sphinx_copybutton',
    'sphinx_gallery.gen_gallery',
    'check_html',
    'cpp_overview',
    'descriptions',
    'hosting',
    'mathml',
    'names_elsewhere',
    'native_functions',
    'onnx_converters',
    'attributes',
    'reference',
    'references',
    'sidebar',
    'source_anchors',
]
exclude_patterns = ['_build', '_gallery', '_tutorial']

html_theme = 'furo'
html_title = f'Chainer {version}'
templates_path = ['_templates']
html_static_path = ['_static']
html_css_files = ['site.css']
html_favicon = '_static/favicon.svg'
pygments_dark_style = 'github-dark'  # the theme's own underlines imported names
html_math_renderer = 'mathml'
python_maximum_signature_line_length = 90
copybutton_prompt_text = r'>>> |\.\.\. |\$ '
copybutton_prompt_is_regexp = True

# Scripts that run in each build; the pages show what they print and plot.
sphinx_gallery_conf = {
    'examples_dirs': ['_tutorial', '_gallery'],
    'gallery_dirs': ['tutorial', 'gallery'],
    'filename_pattern': r'\.py$',
    'ignore_pattern': r'__init__\.py',
    'within_subsection_order': 'FileNameSortKey',
    'abort_on_example_error': True,
    'download_all_examples': False,
    'remove_config_comments': True,
    'show_memory': False,
    'write_computation_times': False,
    'show_signature': False,
}

autodoc_member_order = 'bysource'
autodoc_default_options = {'members': True}
autosummary_generate = False
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # else Sphinx documents an attribute with a docstring twice
nitpicky = True  # each name in a text or signature is a link: see _ext/references.py
