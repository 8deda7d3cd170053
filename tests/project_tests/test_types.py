"""Public parameters have types that say something."""

import ast
from pathlib import Path

import pytest

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


def _is_converter(node):
    """Whether a function is the body of a converter, whose parameters `converts` declares."""
    return any(ast.unparse(each).startswith('converts(') for each in node.decorator_list)


def _parameters(package):
    for path in sorted((ROOT / package).rglob('*.py')):
        names = path.relative_to(ROOT).with_suffix('').parts
        if not all(map(_is_public, names)):
            continue
        for is_method, node in _public_functions(ast.parse(path.read_text()).body):
            if _is_converter(node):
                continue
            args = node.args
            positional = (args.posonlyargs + args.args)[is_method:]
            for arg in positional + args.kwonlyargs:
                yield f'{".".join(names)}:{node.lineno} {node.name}({arg.arg})', arg.annotation


@pytest.mark.parametrize(
    ('package', 'least'),
    [('chainer', 3900), ('chainermn', 300), ('chainerx', 70), ('onnx_chainer', 170)],
)
def test_few_public_parameters_are_any(package, least):
    parameters = dict(_parameters(package))
    untyped = [name for name, annotation in parameters.items() if _is_any(annotation)]
    assert len(parameters) > least
    assert len(untyped) < 0.05 * len(parameters), '\n'.join(untyped)
