"""Writes the reference: a page for each public namespace, and one for each function and class.

One more page per package lists names that are public in a submodule but not in the package.

Each build regenerates the pages, so new names appear automatically.
"""

import importlib
import inspect
import itertools
import pkgutil
from pathlib import Path

import chainer
import chainermn
import onnx_chainer

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
    'chainer.profiler',
    'chainer.quantization',
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
    'chainer.backends.einops',
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
    'chainerx.array_api',
    'chainerx.array_api.fft',
    'chainerx.array_api.linalg',
    'chainerx.fft',
    'chainerx.linalg',
    'chainerx.onnx',
    'chainerx.random',
    'chainerx.testing',
    'chainermn',
    'chainermn.communicators',
    'chainermn.means',
    'chainermn.optimizers',
    'chainermn.datasets',
    'chainermn.iterators',
    'chainermn.extensions',
    'chainermn.functions',
    'chainermn.links',
    'chainermn.global_except_hook',
    'chainermn.run',
    'chainermn.testing',
    'onnx_chainer',
    'onnx_chainer.replace_func',
    'onnx_chainer.functions.converter',
    'onnx_chainer.functions.opset_version',
    'onnx_chainer.onnx_helper',
    'onnx_chainer.context',
    'onnx_chainer.mapping',
    'onnx_chainer.testing.get_test_data_set',
    'onnx_chainer.testing.input_generator',
    'onnx_chainer.testing.test_onnxruntime',
]

_PACKAGES = 'chainer', 'chainerx', 'chainermn', 'onnx_chainer'

# Large namespaces, whose pages have a section for each subpackage.
DIVIDED = {'chainer.functions', 'chainer.links'}


def _members(module):
    """Returns the names of the project's public classes and functions in the module."""
    classes, functions = [], []
    for name in dir(module):  # packages load many names at their first use
        if name.startswith('_'):
            continue
        value = getattr(module, name)
        home = getattr(value, '__module__', None) or ''
        if home.split('.')[0] not in _PACKAGES:
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


class _Pages:
    """The pages by their paths, and the names that they describe."""

    def __init__(self):
        self._texts = {}
        self._names = {}  # by the ids of objects: some cannot be hashed

    def add(self, path, lines):
        self._texts[path] = '\n'.join(lines) + '\n'

    def name_of(self, value):
        """Returns the name under which an object has a page, or ``None``."""
        return self._names.get(id(value))

    def describe(self, module, name, parent):
        """Adds the page of an object; returns whether no other name has one already."""
        value = getattr(module, name)
        if self.name_of(value):
            return False
        title = self._names[id(value)] = f'{module.__name__}.{name}'
        directive = 'autoclass' if inspect.isclass(value) else 'autofunction'
        self.add(
            f'{module.__name__}/{name}',
            [*_title(title), f'A part of :doc:`/reference/generated/{parent}`.', '']
            + ['.. currentmodule:: ' + module.__name__, '', f'.. {directive}:: {name}']
            + (['   :inherited-members:'] if _has_private_base(value) else []),
        )
        return True

    def write(self, folder):
        """Writes the pages that changed, so that Sphinx reads those only, and removes others."""
        wanted = {folder / (path + '.rst'): text for path, text in self._texts.items()}
        for old in set(folder.rglob('*.rst')) - set(wanted):
            old.unlink()
        for path, text in wanted.items():
            if not path.exists() or path.read_text() != text:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)


def _has_private_base(value):
    """Whether a class has members from a private class, which has no page of its own."""
    bases = getattr(value, '__bases__', ())
    return any(base.__module__.startswith('chainer._core.') for base in bases)


def _title(text, line='='):
    return [text, line * len(text), '']


def _summary(pages, module, names):
    """Returns a table of names, and a list of those that are described by another name."""
    found = {name: pages.name_of(getattr(module, name)) for name in names}
    others = {name: title for name, title in found.items() if title.rpartition('.')[2] != name}
    table = [
        f'   {name}' if title == f'{module.__name__}.{name}' else f'   ~{title}'
        for name, title in found.items()
        if name not in others
    ]
    return [
        *(['.. autosummary::', '', *table, ''] if table else []),
        *[f'- ``{name}``: another name of :obj:`{title}`' for name, title in others.items()],
        '',
    ]


def _contents(module, names):
    """Returns the entries of pages in the sidebar."""
    entries = [f'   {name} <{module.__name__}/{name}>' for name in names]
    return ['.. toctree::', '   :hidden:', '', *entries, ''] if names else []


def _add_namespace(pages, module):
    """Adds the page of a namespace and those of its objects."""
    lines = [*_title(module.__name__), '.. currentmodule:: ' + module.__name__, '']
    if module.__doc__:
        from sphinx.ext import napoleon  # tests read the lists of this module without it

        config = napoleon.Config(napoleon_use_ivar=False)  # its attributes are listed only here
        doc = inspect.cleandoc(module.__doc__)
        lines += [str(napoleon.GoogleDocstring(doc, config, what='module')), '']
    described = []
    for title, names in _sections(module).items():
        # Of several names of an object, that in its definition is described.
        own = sorted(names, key=lambda name: getattr(module, name).__name__ != name)
        described += [name for name in own if pages.describe(module, name, module.__name__)]
        if names:
            lines += _title(title, '-') + _summary(pages, module, names)
    pages.add(module.__name__, lines + _contents(module, sorted(described)))


def _public_modules():
    """Returns the public modules of all packages but ChainerX, sorted by name."""
    found = []
    packages = chainermn, onnx_chainer, chainer
    for info in itertools.chain.from_iterable(
        [pkgutil.walk_packages(p.__path__, p.__name__ + '.') for p in packages]
    ):
        if not any(part.startswith('_') for part in info.name.split('.')):
            try:
                found.append(importlib.import_module(info.name))
            except ImportError:  # The module wraps a library that is not installed.
                continue
    return found


def _add_submodules(pages):
    """Adds pages of the objects that no namespace describes; returns the names of their lists."""
    lists = {}
    for module in _public_modules():
        root, _, rest = module.__name__.partition('.')
        parts = [root] if root != 'chainer' else [root, rest.split('.')[0]]
        package = '.'.join([*parts, 'submodules'])
        names = [
            name
            for name in sum(_members(module), [])
            if getattr(module, name).__module__ == module.__name__
            and pages.describe(module, name, package)
        ]
        if names:
            lists.setdefault(package, []).extend(
                [*_title(module.__name__, '-'), '.. currentmodule:: ' + module.__name__, '']
                + _summary(pages, module, names)
                + _contents(module, names)
            )
    for name, lines in lists.items():
        package = name.removesuffix('.submodules')
        about = (
            f'Names that only the submodules of ``{package}`` export: classes that implement its '
            'functions, base classes and helpers.'
        )
        pages.add(name, [*_title('Submodules of ' + package), about, '', *lines])
    return list(lists)


def make_pages():
    """Returns the pages of the reference."""
    names, pages = [], _Pages()
    for name in NAMESPACES:
        try:
            module = importlib.import_module(name)
        except ImportError:  # It needs ChainerX or a library that is not there.
            continue
        if any(_members(module)):
            _add_namespace(pages, module)
            names.append(name)
    names += _add_submodules(pages)
    about = (
        'In the examples ``np`` is NumPy, ``F`` is :mod:`chainer.functions` and ``L`` is '
        ':mod:`chainer.links`.'
    )
    contents = ['.. toctree::', '   :maxdepth: 1', '', *['   ' + name for name in names]]
    pages.add('index', [*_title('Reference'), about, '', *contents])
    return pages


def write_pages(app):
    make_pages().write(Path(app.srcdir) / 'reference' / 'generated')


def setup(app):
    app.connect('builder-inited', write_pages)
    return {'parallel_read_safe': True}
