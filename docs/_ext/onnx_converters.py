"""Writes which functions are exported to ONNX, and to what."""

from pathlib import Path


def _text():
    from onnx_chainer.functions import CONVERTERS, NOT_EXPORTED

    lines = [
        '.. list-table::',
        '   :header-rows: 1',
        '   :widths: 35 10 55',
        '',
        '   * - Function node',
        '     - Opset',
        '     - Operators',
    ]
    for name, converter in sorted(CONVERTERS.items(), key=lambda pair: pair[0].lower()):
        text = ' '.join(converter.description.split())
        lines += [f'   * - ``{name}``', f'     - {converter.since}', f'     - {text}']
    lines += ['', 'These functions are not exported:', '']
    lines += [
        f'- :func:`~chainer.functions.{name}`: {reason}.'
        for name, reason in sorted(NOT_EXPORTED.items())
    ]
    return '\n'.join(lines) + '\n'


def write_table(app):
    path = Path(app.srcdir) / 'reference' / 'generated' / 'onnx_converters.inc'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_text())


def setup(app):
    app.connect('builder-inited', write_table)
    return {'parallel_read_safe': True}
