"""Modules import each other in one direction, down the layers of the architecture page."""

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = 'chainer', 'chainerx', 'chainermn', 'onnx_chainer'

# From the bottom up: a module imports modules of its own layer and of those above it in this list.
# A name stands for the module and all below it, unless a longer name is in another layer.
LAYERS = {
    'arrays': ('chainerx',),
    'settings': (
        'chainer._version',
        'chainer.warnings',
        'chainer.types',
        'chainer.configuration',
        'chainer._core',
        'chainer._core.debug',
        'chainer._core.dtype',
        'chainer._core.elsewhere',
        'chainer._core.elsewhere.arguments',
        'chainer._core.elsewhere.methods',
        'chainer._core.elsewhere.modules',
        'chainer._core.elsewhere.row',
        'chainer._core.environment',
        'chainer._core.fallback_report',
        'chainer._core.forks',
        'chainer._core.hints',
        'chainer._core.lazy',
        'chainer._core.mixed16',
        'chainer._core.names_elsewhere',
        'chainer._core.namespace',
        'chainer._core.profile_report',
        'chainer._core.representation',
        'chainer._core.plan_data',
        'chainer._core.start_method',
        'chainer._core.temporary_folder',
        'chainer.function_hook',
        'chainer.link_hook',
        'chainer.serializer',
    ),
    'devices': (
        'chainer.backends',
        'chainer.backend',
        'chainer.cuda',
        'chainer._core.array_types',
        'chainer._core.device',
        'chainer._core.layouts',
        'chainer._core.runtime_info',
        'chainer._core.variable_text',
    ),
    'utilities': ('chainer.utils', 'chainer.initializer', 'chainer.initializers'),
    'tape': (
        'chainer._core.array_namespace',
        'chainer._core.backprop',
        'chainer._core.changes',
        'chainer._core.engines.arrays',
        'chainer._core.fallback',
        'chainer._core.fresh_gradients',
        'chainer._core.gradients',
        'chainer._core.tape',
        'chainer._core.variable_node',
    ),
    'variables': (
        'chainer._core.conversions',
        'chainer._core.operators',
        'chainer._core.parameter',
        'chainer._core.variable',
        'chainer.variable',
    ),
    'engines': ('chainer._core.engines',),
    'function nodes': (
        'chainer.function',
        'chainer.function_node',
        'chainer.memory_layouts',
        'chainer.utils.sparse',
    ),
    'functions': ('chainer.functions',),
    'models': (
        'chainer._core.chain',
        'chainer._core.flops',
        'chainer._core.graph_svg',
        'chainer._core.link',
        'chainer._core.link_errors',
        'chainer._core.link_html',
        'chainer._core.model_summary',
        'chainer.device_resident',
        'chainer.utils._allclose',
        'chainer.utils.walker_alias',
        'chainer.reporter',
        'chainer.distribution',
        'chainer.distributions',
        'chainer.link',
        'chainer.sequential',
        'chainer.gradient_check',
        'chainer.computational_graph',
    ),
    'optimizers': (
        'chainer._core.optimizer_hooks',
        'chainer._core.step',
        'chainer._core.update',
        'chainer._core.update_rule',
        'chainer.optimizer_hooks',
        'chainer.optimizer',
        'chainer.optimizers',
    ),
    'data': (
        'chainer._core.random_state',
        'chainer.dataset',
        'chainer.datasets',
        'chainer.iterators',
        'chainer.serializers',
    ),
    'tools': (
        'chainer.compilation',
        'chainer.exporters',
        'chainer.function_hooks',
        'chainer.graph_optimizations',
        'chainer.link_hooks',
        'chainer.links',
        'chainer.testing',
        'chainer.training',
    ),
    'root': ('chainer',),
    'several ranks': ('chainermn',),
    'ONNX': ('onnx_chainer',),
}
RANKS = {name: rank for rank, names in enumerate(LAYERS.values()) for name in names}

# Modules that are imported at their first use because few programs need them.
ON_FIRST_USE = {
    'chainer.iterators._worker_pool',
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


def _statements(body, inside_functions=False):
    """Import statements that run with the module, or those inside of its functions."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if not inside_functions:
                yield node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if inside_functions:
                yield from _statements(node.body)
        elif not _is_for_types(node):
            for field in ('body', 'orelse', 'finalbody', 'handlers'):
                yield from _statements(getattr(node, field, ()), inside_functions)


def _imports(module, inside_functions=False):
    tree = ast.parse(_modules()[module].read_text(encoding='utf-8'))
    return {
        target
        for node in _statements(tree.body, inside_functions)
        for target in _targets(module, node)
    } - {module}


def _rank(module):
    while module not in RANKS:
        module = module.rpartition('.')[0]
    return RANKS[module]


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


def test_every_module_is_in_a_layer():
    used = set()
    for module in _modules():
        while module not in RANKS:
            module = module.rpartition('.')[0]
        used.add(module)
    assert RANKS.keys() == used
    core = {module for module in _modules() if module.startswith('chainer._core.')}
    engines = {module for module in core if module.startswith('chainer._core.engines')}
    assert core - engines <= RANKS.keys()


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
