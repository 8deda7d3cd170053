"""Writes the reference: a page for each public namespace, and one for each function and class.

One more page per package lists names that are public in a submodule but not in the package.

Each build regenerates the pages, so new names appear automatically.
"""

import functools
import importlib
import inspect
import itertools
import pkgutil
import re
import sys
from pathlib import Path

import chainer
import chainermn
import onnx_chainer

sys.path.insert(0, str(Path(__file__).parent))
from namespaces import GROUPS, INTERNAL_TYPES, INTERNALS  # noqa: E402

NAMESPACES = [name for names in GROUPS.values() for name in names]

_PACKAGES = 'chainer', 'chainerx', 'chainermn', 'onnx_chainer'

# What the names of types are made of, and how users know it.
WRITTEN = {
    r"<class 'module'>|'?\bModuleType\b'?": 'types.ModuleType',
    r'_cupy_absent\.': 'cupy.cuda.',
    r'\btp\.': 'typing.',
    r'(?<![.\w])Device\b': 'chainer.backend.Device',
    r'(?<![.\w])Variable\b': 'chainer.Variable',
    r'\b_Mixed16\b': 'chainer.mixed16',
    r'\bNoneType\b': 'None',
}

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
        self._objects = {}

    def add(self, path, lines):
        self._texts[path] = '\n'.join(lines) + '\n'

    def name_of(self, value):
        """Returns the name under which an object is described, or ``None``."""
        return self._names.get(id(value))

    def object_of(self, docname):
        """Returns the object that a page describes, or ``None``."""
        return self._objects.get(docname.removeprefix('reference/generated/'))

    def derived(self, base):
        """Returns the name of the nearest class with a page that derives from one without."""
        if base.__module__.split('.')[0] not in _PACKAGES:
            return None
        classes = [value for value in self._objects.values() if inspect.isclass(value)]
        found = [value for value in classes if base in value.__mro__]
        return self.name_of(min(found, key=lambda value: len(value.__mro__))) if found else None

    def name(self, value, name):
        """Notes the name under which an object without a page is described."""
        if not isinstance(value, int | float | str):  # of which there may be others
            self._names.setdefault(id(value), name)

    def describe(self, module, name, parent):
        """Adds the page of an object; returns whether no other name has one already."""
        value = getattr(module, name)
        if self.name_of(value):
            return False
        title = self._names[id(value)] = f'{module.__name__}.{name}'
        self._objects[f'{module.__name__}/{name}'] = value
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
        *(['.. autosummary::', '   :nosignatures:', '', *table, ''] if table else []),
        *[f'- ``{name}``: another name of :obj:`{title}`' for name, title in others.items()],
        '',
    ]


def _contents(module, names):
    """Returns the entries of pages in the sidebar."""
    entries = [f'   {name} <{module.__name__}/{name}>' for name in names]
    return ['.. toctree::', '   :hidden:', '', *entries, ''] if names else []


def _add_namespace(pages, module):
    """Adds the page of a namespace and those of its objects."""
    lines = [*_title(module.__name__), '.. module:: ' + module.__name__, '']
    if module.__doc__:
        lines += [_google(module.__doc__, 'module'), '']
    described = []
    for title, names in _sections(module).items():
        # Of several names of an object, that in its definition is described.
        own = sorted(names, key=lambda name: getattr(module, name).__name__ != name)
        described += [name for name in own if pages.describe(module, name, module.__name__)]
        if names:
            lines += _title(title, '-') + _summary(pages, module, names)
    if module is chainer.types:
        lines += _aliases(pages)
    else:
        lines += _data(pages, module)
    pages.add(module.__name__, lines + _contents(module, sorted(described)))


def _is_data(module, name):
    """Whether a name is neither a class nor a function nor a module, nor described elsewhere."""
    value = getattr(module, name)
    if name[0] == '_' or inspect.isclass(value) or inspect.isroutine(value):
        return False
    if re.search(rf'^    {name}\b.*: ', inspect.getdoc(module) or '', re.M):
        return False  # the docstring of the module describes it
    is_own = type(value).__module__.split('.')[0] in _PACKAGES
    return is_own or isinstance(value, int | float | str) and name != 'TYPE_CHECKING'


def _data(pages, module):
    """Returns descriptions of the data of a module."""
    lines = []
    for name in filter(functools.partial(_is_data, module), dir(module)):
        value = getattr(module, name)
        described = pages.name_of(value)
        pages.name(value, f'{module.__name__}.{name}')
        if hasattr(value, '__wrapped__'):
            lines += _callable(name, value)
        elif isinstance(value, int | float | str):
            lines += [f'.. py:data:: {name}', f'   :value: {value!r}', '']
        else:
            about = f'The same as :data:`{described}`.' if described else _first_line(type(value))
            lines += [f'.. py:data:: {name}', '', f'   {about}', '']
    return [*_title('Data', '-'), *lines] if lines else []


def _first_line(value):
    return (inspect.getdoc(value) or '').partition('\n')[0]


def _callable(name, value):
    """Returns the description of an object that stands for a function."""
    signature = inspect.signature(value.__wrapped__)
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    plain = signature.replace(parameters=parameters, return_annotation=signature.empty)
    lines = _google(value.__doc__, 'function').splitlines()
    return [f'.. py:function:: {name}{plain}', '', *['   ' + line for line in lines], '']


def _google(doc, what):
    """Returns a docstring as Sphinx writes it."""
    from sphinx.ext import napoleon  # tests read the lists of this module without it

    # Attributes of a module are listed only here.
    config = napoleon.Config(napoleon_use_ivar=what != 'module')
    return str(napoleon.GoogleDocstring(inspect.cleandoc(doc), config, what=what))


def _aliases(pages):
    """Returns descriptions of the names of types, and of names in signatures of internals."""
    lines = _title('Names of types', '-')
    for name in sorted(vars(chainer.types)):
        value = getattr(chainer.types, name)
        if name[0].isupper() and name != 'Callable' and pages.name_of(value) is None:
            if not inspect.isclass(value):  # a class stays what it is
                pages.name(value, f'chainer.types.{name}')
            lines += _alias(name, value)
    lines += [*_title('Other names in signatures', '-'), '.. currentmodule:: None', '']
    for path in INTERNAL_TYPES:
        module, _, name = path.rpartition('.')
        value = getattr(importlib.import_module(module), name)
        pages.name(value, path)
        if inspect.isclass(value):
            private = name.startswith('_') or '._core.' in path
            lines += [f'.. autoclass:: {path}', *['   :no-members:'] * private, '']
        else:
            lines += _alias(path, value)
    return [*lines, '.. currentmodule:: chainer.types', '']


def _alias(name, value):
    """Returns the description of the name of a type, which stands in a comment above it."""
    canonical = re.sub(r"ForwardRef\('(.*?)'\)", r'\1', str(value))
    for written, public in WRITTEN.items():
        canonical = re.sub(written, public, canonical)
    short = name.rpartition('.')[2]
    comments = ''.join(path.read_text() for path in Path(chainer.__file__).parent.rglob('*.py'))
    found = re.search(rf'^((?:#: .*\n)+){short}\b.*=', comments, re.M)
    text = found.group(1).replace('#: ', ' ').replace('\n', '').strip() if found else ''
    return [f'.. py:type:: {name}', f'   :canonical: {canonical}', '', f'   {text}', '']


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
    submodules = _add_submodules(pages)
    about = (
        'In the examples ``np`` is NumPy, ``F`` is :mod:`chainer.functions` and ``L`` is '
        ':mod:`chainer.links`.'
    )
    lines = [*_title('Reference'), about, '']
    for title, members in [*GROUPS.items(), (INTERNALS, submodules)]:
        lines += _group(title, [name for name in members if name in {*names, *submodules}])
    pages.add('index', lines)
    return pages


def _group(title, names):
    """Returns a section of the first page: a table with a line for each namespace."""
    lines = [*_title(title, '-'), '.. list-table::', '   :widths: 40 60', '']
    for name in names:
        lines += [f'   * - :doc:`{name}`', f'     - {_about(name)}']
    return [*lines, '', '.. toctree::', '   :hidden:', '', *['   ' + name for name in names], '']


def _about(name):
    package = name.removesuffix('.submodules')
    if package != name:
        return f'What only submodules of ``{package}`` export'
    doc = inspect.getdoc(importlib.import_module(name))
    return doc.splitlines()[0].rstrip('.') if doc else 'Models of this name, trained with Caffe'


def write_pages(app):
    app.reference_pages = make_pages()
    app.reference_pages.write(Path(app.srcdir) / 'reference' / 'generated')


def setup(app):
    app.connect('builder-inited', write_pages)
    return {'parallel_read_safe': True}
