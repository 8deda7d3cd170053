"""Checks the pages that were built: links inside of the site lead somewhere, nothing is fetched."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util import logging

logger = logging.getLogger(__name__)


class _Page(HTMLParser):
    """The anchors of a page, its links, and what a browser loads with it."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.add(values.get('id'))
        if tag == 'a':
            self.anchors.add(values.get('name'))
            self.links.add(values.get('href'))
        elif tag == 'link' and values.get('rel') in ('stylesheet', 'icon'):
            self.loaded.add(values.get('href'))
        elif tag in ('script', 'img', 'iframe', 'source'):
            self.loaded.add(values.get('src'))


def problems(folder):
    """Yields a page and a text for each broken link in a folder of HTML files."""
    folder = Path(folder).resolve()
    pages = {path: _Page(path.read_text()) for path in folder.rglob('*.html')}
    for path, page in sorted(pages.items()):
        for link in sorted((page.links | page.loaded) - {None, ''}):
            url = urlsplit(link)
            if url.scheme or url.netloc:
                if link in page.loaded and url.scheme != 'data':
                    yield path, f'loads {link} from the network'
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            if target.is_dir():
                target /= 'index.html'
            if not target.exists():
                yield path, f'links to {link}, which does not exist'
            elif url.fragment and target in pages:
                if unquote(url.fragment) not in pages[target].anchors:
                    yield path, f'links to {link}, which has no such anchor'


def check(app, exception):
    if exception is None and app.builder.name == 'html':
        for path, text in problems(app.outdir):
            logger.warning('%s %s', path.relative_to(app.outdir), text)


def setup(app):
    app.connect('build-finished', check)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
