"""Writes which functions run natively on ChainerX."""

import inspect
from pathlib import Path


def _reference(name):
    return f':func:`~chainer.functions.{name}`'


def _items(texts):
    return [f'- {_reference(name)}: {text}.' for name, text in sorted(texts.items())]


def _text():
    from chainer import functions
    from chainer.functions._fallbacks import ARGUMENTS, CPU_ONLY

    names = sorted(
        name
        for name in dir(functions)
        if inspect.isfunction(getattr(functions, name)) and not name.startswith('_')
    )
    lines = [
        f'All {len(names)} functions of :mod:`chainer.functions` run natively on ChainerX. '
        'Some fall back for some arguments:',
        '',
        *_items(ARGUMENTS),
        '',
        'Others fall back on GPUs, for want of:',
        '',
        *_items(CPU_ONLY),
    ]
    return '\n'.join(lines) + '\n'


def write_list(app):
    path = Path(app.srcdir) / 'reference' / 'generated' / 'native_functions.inc'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_text())


def setup(app):
    app.connect('builder-inited', write_list)
    return {'parallel_read_safe': True}
