"""Links to edit the pages, and to other versions of them, where the site is published.

``CHAINER_DOCS_EDIT`` is the address under which files of the repository are edited, and
``CHAINER_DOCS_VERSIONS`` the folders beside this one that have other versions, such as ``8.0 8.1``.
"""

import inspect
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def source_of(pagename, described):
    """Returns the file that a page is written in, by its path in the repository, or ``None``."""
    if described is not None:
        try:
            path = Path(inspect.getsourcefile(inspect.unwrap(described)))
        except TypeError:  # it is compiled
            return None
        return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else None
    folder, _, name = pagename.rpartition('/')
    for path in f'docs/_{folder}/{name}.py', f'docs/{pagename}.rst':
        if (ROOT / path).exists() and 'generated' not in path:
            return path
    return None


def add_links(app, pagename, templatename, context, doctree):
    base = os.environ.get('CHAINER_DOCS_EDIT', '').rstrip('/')
    source = source_of(pagename, app.reference_pages.object_of(pagename)) if base else None
    if source:
        context['theme_source_edit_link'] = f'{base}/{source}'
    context['other_versions'] = os.environ.get('CHAINER_DOCS_VERSIONS', '').split()


def setup(app):
    app.connect('html-page-context', add_links)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
