"""Checks the pages that were built: links inside of the site lead somewhere, nothing is fetched."""

import html
import os
import posixpath
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util import logging

logger = logging.getLogger(__name__)


# Of the pages of more than 100 MB a parser would read for a minute. They are Sphinx's: attributes
# have double quotes, and text has no angle brackets.
TAGS = re.compile(r'<(a|link|script|img|iframe|source)\s([^>]*)>')
VALUES = re.compile(r'\b(href|src|rel)="([^"]*)"')
OTHER_VERSIONS = os.environ.get('CHAINER_DOCS_VERSIONS', '').split()
ANCHORS = re.compile(r'\s(?:id|name)="([^"]*)"')


class _Page:
    """The anchors of a page, its links, and what a browser loads with it."""

    def __init__(self, text):
        self.anchors = {html.unescape(anchor) for anchor in ANCHORS.findall(text)}
        self.links, self.loaded = set(), set()
        for tag, attributes in set(TAGS.findall(text)):
            values = dict(VALUES.findall(attributes))
            url = html.unescape(values.get('href') or values.get('src') or '')
            if tag == 'a':
                self.links.add(url)
            elif tag != 'link' or values.get('rel') in ('stylesheet', 'icon'):
                self.loaded.add(url)


def problems(folder):
    """Yields a page and a text for each broken link in a folder of HTML files."""
    files = {path.relative_to(folder).as_posix() for path in Path(folder).rglob('*')}
    names = sorted(name for name in files if name.endswith('.html'))
    pages = {name: _Page((Path(folder) / name).read_text()) for name in names}
    for name, page in pages.items():
        for link in sorted((page.links | page.loaded) - {''}):
            url = urlsplit(link)
            if url.scheme or url.netloc:
                if link in page.loaded and url.scheme != 'data':
                    yield name, f'loads {link} from the network'
                continue
            target = name
            if url.path:
                target = posixpath.normpath(
                    posixpath.join(posixpath.dirname(name), unquote(url.path))
                )
            if target.startswith('../') and target.split('/')[1] in OTHER_VERSIONS:
                continue
            if target not in files and target != '.':
                yield name, f'links to {link}, which does not exist'
            elif url.fragment and target in pages:
                if unquote(url.fragment) not in pages[target].anchors:
                    yield name, f'links to {link}, which has no such anchor'


def check(app, exception):
    if exception is None and app.builder.name == 'html':
        for page, text in problems(app.outdir):
            logger.warning('%s %s', page, text)


def setup(app):
    app.connect('build-finished', check)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
