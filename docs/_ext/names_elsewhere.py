"""The directive ``names-elsewhere``: what names of other libraries are called here."""

from docutils import nodes
from docutils.parsers.rst import Directive


class NamesElsewhere(Directive):
    def run(self):
        return []


def setup(app):
    app.add_directive('names-elsewhere', NamesElsewhere)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
