"""The directive ``names-elsewhere``: what names of PyTorch are called here."""

import re

from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

MODULES = {'F': 'chainer.functions', 'L': 'chainer.links'}


def _code(text):
    """Returns an expression as code that links to the name with which it begins."""
    name = re.match(r'[\w.]+', text)
    root, _, rest = name.group().partition('.') if name else ('', '', '')
    if not rest or root not in ('chainer', *MODULES):
        return f'``{text}``'
    return f':obj:`{text} <{MODULES.get(root, root)}.{rest}>`'


def _plain(text):
    """Text is not markup, apart from code in backquotes."""
    parts = re.split('`+([^`]+)`+', text)
    escaped = [re.sub(r'([*|_@\\])', r'\\\1', part) for part in parts]
    return ''.join(f'``{parts[i]}``' if i % 2 else escaped[i] for i in range(len(parts)))


def tables(names, owners):
    """Yields lines of markup: a title and a table for each owner of names."""
    for owner, module in owners.items():
        rows = [name for name in names if name.owner == owner]
        if rows:
            yield from [f'.. rubric:: ``{module}``', '', '.. list-table::', '   :header-rows: 1']
            yield from ['   :widths: 25 40 35', '', '   * - PyTorch', '     - Chainer', '     -']
        for row in rows:
            yield f'   * - ``{row.theirs}``'
            yield from [f'     - {_code(row.ours)}', f'     - {_plain(row.remark)}']
        yield ''


def arguments_table(rows):
    """Yields lines of markup: a table of arguments."""
    yield from ['.. rubric:: Arguments', '', '.. list-table::', '   :header-rows: 1']
    yield from ['   :widths: 30 15 30 25', '', '   * - Of', '     - PyTorch', '     - Chainer']
    yield '     -'
    for row in rows:
        yield f'   * - {", ".join(f"``{owner}``" for owner in row.owner.split())}'
        yield f'     - ``{row.theirs}=``'
        yield from [f'     - {_code(row.ours)}', f'     - {_plain(row.remark)}']
    yield ''


class NamesElsewhere(Directive):
    def run(self):
        from chainer._core.names import names_elsewhere
        from chainer._core.names.elsewhere import arguments, methods, modules

        source = names_elsewhere.__file__
        for module in names_elsewhere, arguments, methods, modules:
            self.state.document.settings.record_dependencies.add(module.__file__)
        lines = list(tables(names_elsewhere.NAMES, names_elsewhere.PYTORCH))
        lines += arguments_table(arguments.ARGUMENTS)
        node = self.state.parent.__class__()
        self.state.nested_parse(StringList(lines, source=source), self.content_offset, node)
        return node.children


def setup(app):
    app.add_directive('names-elsewhere', NamesElsewhere)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
