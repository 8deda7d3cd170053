"""Drops links to missing anchors from the pages of source code of ``sphinx.ext.viewcode``.

It takes all descriptions of a module's names to be under one name of the module, but the pages
describe names where users import them, and lists compiled modules, which have no source.
"""


def mend(app):
    modules = getattr(app.env, '_viewcode_modules', {})
    described = app.env.domains['py'].objects
    for module, entry in list(modules.items()):
        if not entry:
            del modules[module]
            continue
        _, _, pages, prefix = entry
        for name, page in list(pages.items()):
            description = described.get(f'{prefix}.{name}')
            if description is None or description.docname != page:
                del pages[name]
    return []


def setup(app):
    app.connect('html-collect-pages', mend, priority=100)  # before viewcode does
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
