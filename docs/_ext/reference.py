"""Writes the reference: one page for each public namespace, with what the namespace holds.

The pages are made anew for each build, so that a name is in the reference as soon as it exists.
"""
import importlib
import inspect
from pathlib import Path

NAMESPACES = [
    'chainer',
    'chainer.functions',
    'chainer.links',
    'chainer.initializers',
    'chainer.optimizers',
    'chainer.optimizer_hooks',
    'chainer.serializers',
    'chainer.function_hooks',
    'chainer.link_hooks',
    'chainer.dataset',
    'chainer.datasets',
    'chainer.iterators',
    'chainer.training',
    'chainer.training.extensions',
    'chainer.training.triggers',
    'chainer.training.updaters',
    'chainer.distributions',
    'chainer.backend',
    'chainer.backends.cuda',
    'chainer.computational_graph',
    'chainer.gradient_check',
    'chainer.testing',
    'chainer.utils',
    'chainer.utils.type_check',
    'chainerx',
    'chainerx.linalg',
    'chainerx.random',
    'chainerx.testing',
]


def _members(module):
    """Returns the names of the public classes and functions that belong to the project."""
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


def _page(module, described):
    """Returns the text of a page; ``described`` collects what has a description by now."""
    lines = [module.__name__, '=' * len(module.__name__), '']
    if module.__doc__:
        lines += [inspect.cleandoc(module.__doc__), '']
    lines += ['.. currentmodule:: ' + module.__name__, '']
    for title, names, directive in zip(
            ('Classes', 'Functions'), _members(module), ('autoclass', 'autofunction')):
        if not names:
            continue
        lines += [title, '-' * len(title), '', '.. autosummary::', '']
        lines += ['   ' + name for name in names] + ['']
        for name in names:
            value = getattr(module, name)
            if value not in described:
                described.append(value)
                lines += ['.. %s:: %s' % (directive, name), '']
    return '\n'.join(lines)


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
    index = ['Reference', '=========', '', '.. toctree::', '   :maxdepth: 1', '']
    (folder / 'index.rst').write_text('\n'.join(index + ['   ' + name for name in names]) + '\n')


def setup(app):
    app.connect('builder-inited', write_pages)
    return {'parallel_read_safe': True}
