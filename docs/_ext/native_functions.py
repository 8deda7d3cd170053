"""Lists the functions that run natively on ChainerX, from the table that the tests use."""

import inspect
import sys
from pathlib import Path


def _table():
    sys.path.append(str(Path(__file__).resolve().parents[2] / 'tests'))
    try:
        from helpers import chainerx_functions
    finally:
        sys.path.pop()
    return chainerx_functions


def _reference(name):
    return f':func:`~chainer.functions.{name}`'


def _text(table, functions):
    names = sorted(
        name
        for name, f in vars(functions).items()
        if inspect.isfunction(f) and not name.startswith('_')
    )
    native = [name for name in names if name not in table.FALLBACKS]
    lines = [
        f'Of the {len(names)} functions of :mod:`chainer.functions` these {len(native)} run '
        'natively on ChainerX:',
        '',
    ]
    lines += [', '.join([_reference(name) for name in native]) + '.', '']
    lines += ['These fall back:', '']
    lines += [
        f'- {_reference(name)}: {reason}.' for name, reason in sorted(table.FALLBACKS.items())
    ]
    lines += ['', 'These native functions fall back for some arguments:', '']
    lines += [
        f'- {_reference(name)}: {arguments}.' for name, arguments in sorted(table.ARGUMENTS.items())
    ]
    return '\n'.join(lines) + '\n'


def write_list(app):
    import chainer.functions

    path = Path(app.srcdir) / 'reference' / 'generated' / 'native_functions.inc'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_text(_table(), chainer.functions))


def setup(app):
    app.connect('builder-inited', write_list)
    return {'parallel_read_safe': True}
