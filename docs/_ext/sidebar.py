"""Keeps the sidebar short: it shows the branch of a page, and the first page of each other branch.

Pages of the reference are more than a thousand, which each page would list.
"""


def collapse(app, pagename, templatename, context, doctree):
    if 'toctree' in context:
        whole = context['toctree']
        context['toctree'] = lambda **options: whole(**{**options, 'collapse': True})


def setup(app):
    app.connect('html-page-context', collapse, priority=100)  # before the theme calls it
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
