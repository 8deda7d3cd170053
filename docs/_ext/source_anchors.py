"""Gives descriptions the anchors to which the pages of source code link.

``sphinx.ext.viewcode`` links from the source to names in the module that defines them, but the
pages describe names where users import them.
"""

import importlib

from sphinx import addnodes


def add_anchors(app, doctree):
    for signature in doctree.findall(addnodes.desc_signature):
        value = importlib.import_module(signature['module']) if signature.get('module') else None
        for name in signature.get('fullname', '').split('.'):
            value = getattr(value, name, None)
        home = getattr(value, '__module__', None)
        anchor = f'{home}.{signature.get("fullname")}'
        if home and anchor not in doctree.ids:
            signature['ids'].append(anchor)


def forget_compiled(app):
    """Keeps modules without source, which viewcode records as false, off the list of sources."""
    sources = getattr(app.env, '_viewcode_modules', {})
    for name in [name for name, entry in sources.items() if not entry]:
        del sources[name]
    return []


def setup(app):
    app.connect('doctree-read', add_anchors)
    app.connect('html-collect-pages', forget_compiled, priority=100)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
