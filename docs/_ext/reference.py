"""Writes the reference: one page for each public namespace.

One more page per package lists names that are public in a submodule but not in the package.

Each build regenerates the pages, so new names appear automatically.
"""

import importlib
import inspect
import pkgutil
from pathlib import Path

import chainer

NAMESPACES = [
    'chainer',
    'chainer.functions',
    'chainer.links',
    'chainer.links.caffe',
    'chainer.links.model.vision.googlenet',
    'chainer.links.model.vision.resnet',
    'chainer.links.model.vision.vgg',
    'chainer.initializer',
    'chainer.initializers',
    'chainer.optimizer',
    'chainer.optimizers',
    'chainer.optimizer_hooks',
    'chainer.serializer',
    'chainer.serializers',
    'chainer.serializers.npz',
    'chainer.function_hooks',
    'chainer.link_hooks',
    'chainer.reporter',
    'chainer.variable',
    'chainer.dataset',
    'chainer.dataset.tabular',
    'chainer.datasets',
    'chainer.iterators',
    'chainer.training',
    'chainer.training.extensions',
    'chainer.training.extensions.snapshot_writers',
    'chainer.training.triggers',
    'chainer.training.updaters',
    'chainer.distributions',
    'chainer.exporters.caffe',
    'chainer.configuration',
    'chainer.backend',
    'chainer.backends.cuda',
    'chainer.backends.intel64',
    'chainer.device_resident',
    'chainer.memory_layouts',
    'chainer.computational_graph',
    'chainer.gradient_check',
    'chainer.graph_optimizations',
    'chainer.testing',
    'chainer.testing.attr',
    'chainer.testing.condition',
    'chainer.utils',
    'chainer.utils.conv',
    'chainer.utils.conv_nd',
    'chainer.utils.type_check',
    'chainer.utils.walker_alias',
    'chainer.types',
    'chainer.warnings',
    'chainerx',
    'chainerx.linalg',
    'chainerx.random',
    'chainerx.testing',
]

# Large namespaces, whose pages have a section for each subpackage.
DIVIDED = {'chainer.functions', 'chainer.links'}


def _members(module):
    """Returns the names of the project's public classes and functions in the module."""
    classes, functions = [], []
    for name, value in sorted(vars(module).items()):
        home = getattr(value, '__module__', None) or ''
        if name.startswith('_') or home.split('.')[0] not in ('chainer', 'chainerx'):
            continue
        if inspect.isclass(value):
            classes.append(name)
        elif inspect.isroutine(value):
            functions.append(name)
    return classes, functions


def _sections(module):
    """Returns the sections of a page, as titles and names."""
    classes, functions = _members(module)
    if module.__name__ not in DIVIDED:
        return {'Classes': classes, 'Functions': functions}
    sections = {}
    prefix = module.__name__ + '.'
    for name in sorted(classes + functions):
        package = getattr(module, name).__module__.removeprefix(prefix).split('.')[0]
        title = inspect.getdoc(importlib.import_module(prefix + package)).splitlines()[0]
        sections.setdefault(title.rstrip('.'), []).append(name)
    return dict(sorted(sections.items()))


def _page(module, described):
    """Returns the text of a page; ``described`` collects the objects described so far."""
    lines = [module.__name__, '=' * len(module.__name__), '']
    if module.__doc__:
        lines += [inspect.cleandoc(module.__doc__), '']
    lines += ['.. currentmodule:: ' + module.__name__, '']
    for title, names in _sections(module).items():
        if not names:
            continue
        lines += [title, '-' * len(title), '', '.. autosummary::', '']
        lines += ['   ' + name for name in names] + ['']
        for name in names:
            value = getattr(module, name)
            if value not in described:
                described.append(value)
                directive = 'autoclass' if inspect.isclass(value) else 'autofunction'
                lines += [f'.. {directive}:: {name}', '']
    return '\n'.join(lines)


def _public_modules():
    """Returns Chainer's public modules, sorted by name."""
    found = []
    for info in pkgutil.walk_packages(chainer.__path__, 'chainer.'):
        if not any(part.startswith('_') for part in info.name.split('.')):
            try:
                found.append(importlib.import_module(info.name))
            except ImportError:  # The module wraps a library that is not installed.
                continue
    return found


def _submodule_pages(described):
    """Returns pages by name, with the objects that the pages of their packages do not describe."""
    pages = {}
    for module in _public_modules():
        lines = []
        for names, directive in zip(_members(module), ('autoclass', 'autofunction')):
            for name in names:
                value = getattr(module, name)
                if value.__module__ == module.__name__ and value not in described:
                    described.append(value)
                    lines += [f'.. {directive}:: {name}', '']
        if lines:
            package = '.'.join(module.__name__.split('.')[:2])
            title = 'Submodules of ' + package
            page = pages.setdefault(
                package + '.submodules',
                [
                    title,
                    '=' * len(title),
                    '',
                    f'Names that only the submodules of ``{package}`` export: classes that '
                    'implement its functions, base classes and helpers.',
                    '',
                ],
            )
            page += [
                module.__name__,
                '-' * len(module.__name__),
                '',
                '.. currentmodule:: ' + module.__name__,
                '',
            ] + lines
    return pages


def write_pages(app):
    folder = Path(app.srcdir) / 'reference' / 'generated'
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob('*.rst'):
        old.unlink()
    names, described = [], []
    for name in NAMESPACES:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        if any(_members(module)):
            (folder / (name + '.rst')).write_text(_page(module, described))
            names.append(name)
    submodules = _submodule_pages(described)
    for name, page in submodules.items():
        (folder / (name + '.rst')).write_text('\n'.join(page))
    index = [
        'Reference',
        '=========',
        '',
        'In the examples ``np`` is NumPy, ``F`` is :mod:`chainer.functions` and ``L`` is '
        ':mod:`chainer.links`.',
        '',
        '.. toctree::',
        '   :maxdepth: 1',
        '',
    ]
    index += ['   ' + name for name in names + list(submodules)]
    (folder / 'index.rst').write_text('\n'.join(index) + '\n')


def setup(app):
    app.connect('builder-inited', write_pages)
    return {'parallel_read_safe': True}
