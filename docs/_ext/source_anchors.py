"""Mends the links of the pages of source code that ``sphinx.ext.viewcode`` writes.

It takes all descriptions of a module's names to be under one name of the module, but the pages
describe names where users import them, and lists compiled modules, which have no source.
"""

import posixpath
import re

BACK = re.compile(r'<a class="viewcode-back" href="([^"#]*)#([^"]*)">.*?</a>')


def drop_compiled_modules(app):
    modules = getattr(app.env, '_viewcode_modules', {})
    for module in [module for module, entry in modules.items() if not entry]:
        del modules[module]
    return []


def mend_links(app, pagename, templatename, context, doctree):
    if not pagename.startswith('_modules/') or 'body' not in context:
        return
    described = app.env.domains['py'].objects

    def mend(link):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(pagename), link.group(1)))
        description = described.get(link.group(2))
        if description is None or description.docname + '.html' != path:
            return ''
        return link.group().replace(f'#{link.group(2)}"', f'#{description.node_id}"')

    context['body'] = BACK.sub(mend, context['body'])


def setup(app):
    app.connect('html-collect-pages', drop_compiled_modules, priority=100)  # before viewcode does
    app.connect('html-page-context', mend_links)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
