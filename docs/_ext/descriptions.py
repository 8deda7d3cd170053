"""Gives each page a description for search engines: the first paragraph of its text."""

import html
import textwrap

from docutils import nodes

LONGEST = 160  # characters; search engines show no more


def description(doctree):
    """Returns the beginning of a page's text."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = ' '.join(paragraph.astext().split())
        # How to download a page, and what a page of the reference belongs to, say nothing of it.
        if not (isinstance(paragraph.parent, nodes.Admonition) or text.startswith('A part of ')):
            return textwrap.shorten(text, LONGEST, placeholder=' ...')
    return ''


def describe(app, pagename, templatename, context, doctree):
    text = description(doctree) if doctree is not None else ''
    if text:
        tag = f'<meta name="description" content="{html.escape(text)}" />'
        context['metatags'] = context.get('metatags', '') + tag


def setup(app):
    app.connect('html-page-context', describe)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
