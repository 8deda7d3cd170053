"""Public parameters have types that say something."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _is_public(name):
    return not name.startswith('_') or (name.startswith('__') and name.endswith('__'))


def _public_functions(body, in_class=False):
    """Functions and methods of a module as pairs of whether they are methods, and their nodes."""
    for node in body:
        if isinstance(node, ast.ClassDef) and _is_public(node.name):
            yield from _public_functions(node.body, in_class=True)
        elif isinstance(node, ast.If):
            yield from _public_functions(node.body + node.orelse, in_class)
        elif isinstance(node, ast.FunctionDef) and _is_public(node.name):
            decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
            yield in_class and 'staticmethod' not in decorators, node


def _is_any(annotation):
    """Whether a type is missing, ``Any`` or a union with it."""
    if annotation is None:
        return True
    if isinstance(annotation, ast.BinOp):
        return _is_any(annotation.left) or _is_any(annotation.right)
    return ast.unparse(annotation) in ('Any', 'tp.Any')


def _parameters():
    for path in sorted((ROOT / 'chainer').rglob('*.py')):
        names = path.relative_to(ROOT).with_suffix('').parts
        if not all(map(_is_public, names)):
            continue
        for is_method, node in _public_functions(ast.parse(path.read_text()).body):
            args = node.args
            positional = (args.posonlyargs + args.args)[is_method:]
            for arg in positional + args.kwonlyargs:
                yield f'{".".join(names)}:{node.lineno} {node.name}({arg.arg})', arg.annotation


def test_few_public_parameters_are_any():
    parameters = dict(_parameters())
    untyped = [name for name, annotation in parameters.items() if _is_any(annotation)]
    assert len(parameters) > 3900
    assert len(untyped) < 0.05 * len(parameters), '\n'.join(untyped)
