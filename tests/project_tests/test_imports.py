"""Modules import each other in one direction, down the layers of the architecture page."""

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = 'chainer', 'chainerx', 'chainermn', 'onnx_chainer'

# From the bottom up: a module imports modules of its own layer and of those above it in this list.
# A name stands for the module and all below it, unless a longer name is in another layer. Names
# with `_core` are folders of `chainer/_core`; `*` is every module of `chainer` without a name here.
LAYERS = {
    'arrays': 'chainerx',
    'base': (
        '_core.names _core.processes _core.settings _core.reports '
        '_version warnings configuration link_hook serializer'
    ),
    'devices': '_core.devices backends backend',
    'utilities': 'utils initializer initializers',
    'autograd': '_core.autograd _core.engines.arrays _core.engines.plan_data',
    'variables': '_core.variables variable',
    'engines': '_core.engines',
    'function nodes': 'function function_node function_hook utils.sparse',
    'functions': 'functions',
    'models': '_core.models link device_resident utils.walker_alias utils._allclose',
    'optimizers': '_core.optimizers optimizer optimizers optimizer_hooks',
    'data': '_core.data dataset datasets iterators serializers',
    'tools': '* _core.gradient_checks backends.einops',
    'root': 'chainer __main__',
    'several ranks': 'chainermn',
    'ONNX': 'onnx_chainer',
}
RANKS = {
    name if name in PACKAGES else f'chainer.{name}': rank
    for rank, names in enumerate(LAYERS.values())
    for name in names.split()
}

# Modules that are imported at their first use because few programs need them.
ON_FIRST_USE = {
    'chainer.compilation',
    'chainer.iterators._worker_pool',
    'chainer.legacy._chainer',
    'chainer.legacy._numpy',
    'chainer.legacy._python',
    'chainer.profiler',
    'chainer.serializers',
    'chainer.training',
    'chainerx._core',
}


def _module_of(path):
    parts = path.relative_to(ROOT).with_suffix('').parts
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


@functools.cache
def _modules():
    return {_module_of(p): p for package in PACKAGES for p in (ROOT / package).rglob('*.py')}


def _targets(module, node):
    """Modules that an import statement names; compiled ones, too."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        base = node.module or ''
        if node.level:
            package = module.split('.')
            if _modules()[module].name != '__init__.py':
                package.pop()
            package = package[: len(package) - node.level + 1]
            base = '.'.join([*package, *([base] if base else [])])
        names = [
            f'{base}.{alias.name}' if f'{base}.{alias.name}' in _known() else base
            for alias in node.names
        ]
    return {name for name in names if name.split('.')[0] in PACKAGES}


@functools.cache
def _known():
    return {*_modules(), 'chainerx._core'}


def _is_for_types(node):
    return isinstance(node, ast.If) and 'TYPE_CHECKING' in ast.unparse(node.test)


def _statements(body, inside_functions=False, for_types=False):
    """Import statements that run with the module, or those inside of its functions."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if not inside_functions:
                yield node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if inside_functions:
                yield from _statements(node.body)
        elif for_types or not _is_for_types(node):
            for field in ('body', 'orelse', 'finalbody', 'handlers'):
                yield from _statements(getattr(node, field, ()), inside_functions, for_types)


def _imports(module, **options):
    tree = ast.parse(_modules()[module].read_text(encoding='utf-8'))
    return {
        target for node in _statements(tree.body, **options) for target in _targets(module, node)
    } - {module}


def _place(module):
    """The name of `LAYERS` that a module falls under."""
    while module not in RANKS:
        package, _, _ = module.rpartition('.')
        module = package if package != 'chainer' else 'chainer.*'
    return module


def _rank(module):
    return RANKS[_place(module)]


def test_imports_go_down_the_layers():
    upward = [
        f'{module} imports {target}'
        for module in sorted(_modules())
        for target in sorted(_imports(module))
        if _rank(target) > _rank(module)
    ]
    assert not upward, 'imports from a layer above:\n' + '\n'.join(upward)


def test_functions_import_nothing_of_the_project():
    late = [
        f'{module} imports {target}'
        for module in sorted(_modules())
        for target in sorted(_imports(module, inside_functions=True) - ON_FIRST_USE)
    ]
    assert not late, 'imports inside functions:\n' + '\n'.join(late)


def test_functions_ask_for_functions():
    """``F`` of the core has functions by their names; a path of modules is an import in disguise."""
    packages = {path.parent.name for path in (ROOT / 'chainer/functions').glob('*/__init__.py')}
    paths = [
        f'{module}: {ast.unparse(node)}'
        for module, path in sorted(_modules().items())
        if '.namespace import F' in (text := path.read_text(encoding='utf-8'))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ('F', 'm')
        if node.attr in packages
    ]
    assert packages and not paths


def test_private_names_of_the_compiled_core_are_listed():
    """A change in the core shows there whom it concerns."""
    users = [
        f'{path.relative_to(ROOT)}: {ast.unparse(node)}'
        for package in ('chainer', 'chainermn', 'onnx_chainer')
        for path in sorted((ROOT / package).rglob('*.py'))
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
        if (isinstance(node, ast.Attribute) and ast.unparse(node) == 'chainerx._core')
        or (isinstance(node, ast.ImportFrom) and 'chainerx import _core' in ast.unparse(node))
    ]
    assert not users


def test_no_import_cycle():
    edges = {module: _imports(module) & _modules().keys() for module in _modules()}
    done, path = set(), []

    def visit(module):
        assert module not in path, ' -> '.join([*path[path.index(module) :], module])
        if module in done:
            return
        path.append(module)
        for target in sorted(edges[module]):
            visit(target)
        done.add(path.pop())

    for module in sorted(edges):
        visit(module)


def _reached(edges, start):
    found, waiting = set(), [start]
    while waiting:
        new = edges[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def test_annotations_tie_few_modules_together():
    """Of modules that need each other, if only for annotations, a reader needs all at once."""
    modules = _modules().keys()
    edges = {module: _imports(module, for_types=True) & modules for module in modules}
    reached = {module: _reached(edges, module) for module in modules}
    circles = {frozenset(m for m in reached[module] if module in reached[m]) for module in modules}
    largest = max(circles, key=len)
    assert len(largest) <= 5, sorted(largest)


def test_layers_name_each_folder_of_the_core():
    core = ROOT / 'chainer' / '_core'
    assert [path.name for path in core.glob('*.py')] == ['__init__.py']
    folders = {f'chainer._core.{path.parent.name}' for path in core.glob('*/__init__.py')}
    assert folders <= RANKS.keys()
    assert RANKS.keys() == {_place(module) for module in _modules()}


def test_loading_a_function_changes_nothing_else():
    """Functions and links load at their first use, so no program may depend on which are loaded."""
    for package in 'functions', 'links':
        for file in (ROOT / 'chainer' / package).rglob('*.py'):
            for statement in ast.parse(file.read_text()).body:
                targets = getattr(statement, 'targets', [])
                outside = [target for target in targets if isinstance(target, ast.Attribute)]
                called = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
                if (outside or called) and file.name != '__init__.py':
                    # The operators of variables, which `import chainer` loads
                    assert file.name in ('basic_math.py', 'get_item.py'), ast.unparse(statement)
