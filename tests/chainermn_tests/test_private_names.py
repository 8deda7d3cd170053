"""The packages of ChainerMN use communicators and reducers by their public names."""

import ast
from pathlib import Path

import chainermn

ROOT = Path(chainermn.__file__).parent
OBJECTS = 'comm', '_comm', 'communicator', 'reducer', '_reducer'


def _private_uses(path):
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Attribute) and node.attr.startswith('_'):
            owner = node.value
            name = getattr(owner, 'attr', getattr(owner, 'id', None))
            if name in OBJECTS and not node.attr.startswith('__'):
                yield f'{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}'


def test_private_names_stay_inside():
    uses = [use for path in sorted(ROOT.rglob('*.py')) for use in _private_uses(path)]
    assert not uses, '\n'.join(uses)
