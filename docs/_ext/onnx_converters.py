"""Writes which functions are exported to ONNX, and to what."""

import ast
import functools
import inspect
import types
from pathlib import Path

# Methods of the builder that make nodes where a size is that of a dynamic axis, and only there.
_OF_DYNAMIC_AXES = {'const', 'ints', 'size'}
_FUNCTIONS = (ast.FunctionDef, ast.Lambda)


@functools.cache
def _functions(module):
    """The functions in the source of a module by their first lines."""
    nodes = [n for n in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(n, _FUNCTIONS)]
    return {min(d.lineno for d in (n, *getattr(n, 'decorator_list', ()))): n for n in nodes}


def _operators(function, seen):
    """Names of the operators that a function makes, itself or by functions that it calls.

    They are methods ``g.Name`` of the builder, and words that choose one.
    """
    from onnx_chainer._builder import Builder
    from onnx_chainer._schemas import schemas_of

    seen.add(function)
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    values += (function.__kwdefaults__ or {}).values()
    source = _functions(inspect.getmodule(function.__code__))[function.__code__.co_firstlineno]
    body = source.body if isinstance(source.body, list) else [source.body]
    for node in (each for part in body for each in ast.walk(part)):
        if isinstance(node, ast.Attribute) and getattr(node.value, 'id', '') in ('g', 'self'):
            if node.attr not in _OF_DYNAMIC_AXES and not node.attr.startswith('_'):
                values += [node.attr, vars(Builder).get(node.attr)]
        elif isinstance(node, ast.Attribute) and getattr(node.value, 'id', '') == '_indexing':
            values.append(getattr(function.__globals__['_indexing'], node.attr))
        elif isinstance(node, ast.Name):
            values.append(function.__globals__.get(node.id))
        elif isinstance(node, ast.Constant):
            values.append(node.value)
    found = {x for x in values if isinstance(x, str) and x[:1].isupper() and schemas_of('', x)}
    for each in values:
        if isinstance(each, types.FunctionType) and each not in seen:
            if each.__module__.startswith('onnx_chainer.'):
                found |= _operators(each, seen)
    return found


def _entry(converter):
    """The operators of a converter, with the opsets that newer ones need, and its note."""
    from onnx_chainer._schemas import schemas_of

    entries = []
    for name in sorted(_operators(converter.body, set())):
        since = schemas_of('', name)[0].since
        entries.append(f'``{name}``' + (f' ({since})' if since > converter.since else ''))
    note = ' '.join((converter.body.__doc__ or '').split())
    return f'{", ".join(entries)}. {note}'


def _text():
    from onnx_chainer.functions import CONVERTERS, NOT_EXPORTED

    lines = [
        'Numbers behind operators are the opsets that have them; older ones use the others.',
        '',
        '.. list-table::',
        '   :header-rows: 1',
        '   :widths: 35 10 55',
        '',
        '   * - Function node',
        '     - Opset',
        '     - Operators',
    ]
    for name, converter in sorted(CONVERTERS.items(), key=lambda pair: pair[0].lower()):
        lines += [
            f'   * - ``{name}``',
            f'     - {converter.since}',
            f'     - {_entry(converter)}'.rstrip(),
        ]
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
