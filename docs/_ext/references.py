"""Resolves the names in texts and signatures as Python does, so that all of them are links.

A docstring names what its module imports, and a signature what its type checker sees. The pages
describe these objects under their public names: a name is read in the class and the module where it
stands, and leads to the page of the object that it is. Names of other projects lead to their sites.
"""

import ast
import builtins
import functools
import importlib
import inspect
import re
import sys
import typing

from docutils import nodes
from external_names import url_of
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

PACKAGES = 'chainer', 'chainerx', 'chainermn', 'onnx_chainer'
NAME = re.compile(r'[A-Za-z_]\w*(\.[A-Za-z_]\w*)*')
MISSING = object()
# Where names of its texts are that its namespace has not.
CHAINERX = ['chainerx', 'chainerx.fft', 'chainerx.linalg']


@functools.cache
def _imports(module_name):
    """Returns where the names that a module imports come from, those for checkers included."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module_name]))
    except (KeyError, OSError, TypeError):  # a compiled module
        return {}
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f'{node.module}.{alias.name}'
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    found[alias.asname] = alias.name
    return found


@functools.cache
def _imported(path):
    """Returns the object at an absolute path, or ``MISSING``."""
    parts = path.split('.')
    if parts[0] not in PACKAGES and parts[0] not in sys.modules:
        return MISSING
    for end in range(len(parts), 0, -1):
        try:
            value = importlib.import_module('.'.join(parts[:end]))
        except ImportError:
            continue
        for name in parts[end:]:
            value = _attribute(value, name)
        return value
    return MISSING


def _attribute(value, name):
    if inspect.ismodule(value):  # packages load names at their first use
        return getattr(value, name, MISSING)
    return MISSING if value is MISSING else inspect.getattr_static(value, name, MISSING)


class Scope:
    """What names mean on a page: in a class, in the modules of its bases, and everywhere."""

    def __init__(self, module, described, class_path):
        self._module = module
        path = f'{module}.{class_path}' if module else class_path
        self._class = _imported(path) if class_path else MISSING
        self._bases = inspect.getmro(described) if inspect.isclass(described) else ()
        homes = [name for value in [described, *self._bases, self._class] for name in _homes(value)]
        self._modules = [name for name in dict.fromkeys(homes) if name in sys.modules]
        if (module or 'chainerx').split('.')[0] == 'chainerx':
            self._modules += CHAINERX  # texts for Python and C++

    def find(self, path):
        """Yields (class or ``None``, name in it or absolute path, object) of what a path may be."""
        first, _, rest = path.partition('.')
        if not rest:
            for owner in [self._class, *self._bases]:
                if owner is not MISSING and path in dir(owner):
                    yield owner, path, _attribute(owner, path)
        for name in [*self._modules, self._module]:
            if name is None:
                continue
            source = _imports(name).get(first)
            if source:
                yield from _walk(f'{source}.{rest}' if rest else source)
            yield from _walk(f'{name}.{path}')
        around = self._module or ''
        while '.' in around:
            around = around.rpartition('.')[0]
            yield from _walk(f'{around}.{path}')
        yield from _walk(path)


def _homes(value):
    """Yields the modules in which an object and its methods are written."""
    yield getattr(value, '__module__', None)
    parts = vars(value).values() if inspect.isclass(value) else [inspect.unwrap(value), value]
    for part in parts:
        yield getattr(part, '__globals__', {}).get('__name__')


def _walk(path):
    value = _imported(path)
    around, _, name = path.rpartition('.')
    owner = _imported(around) if around else None
    if inspect.isclass(owner):
        yield owner, name, value
    elif type(owner).__module__.split('.')[0] in PACKAGES:
        yield None, around, owner  # an attribute of an object such as chainer.config
    elif value is not MISSING or path.split('.')[0] not in PACKAGES:
        yield None, path, value


class Resolver:
    """Leads names to the objects and modules that the domain of Python describes."""

    def __init__(self, env, pages):
        self._objects = env.domains['py'].objects
        self._pages = pages

    def described_as(self, owner, path, value):
        """Returns the name under which the reference describes an object, or ``None``."""
        if owner is not None:
            for base in owner.__mro__:
                name = f'{self._pages.name_of(base)}.{path}'
                if name in self._objects:
                    return name
            derived = f'{self._pages.derived(owner)}.{path}'
            if derived in self._objects or value is MISSING:
                return derived if derived in self._objects else None
            return self._class_of(owner)  # it has no description of its own
        if inspect.ismodule(value):
            name = value.__name__
            while name not in self._objects and '.' in name:
                name = name.rpartition('.')[0]
            return name if name in self._objects else None
        if path in self._objects:
            return path
        name = self._pages.name_of(value)
        if name is None and inspect.isclass(value):
            name = self._class_of(value)
        return name if name in self._objects else None

    def _class_of(self, value):
        """Returns the name of a class with a page: of this one or what derives from it."""
        name = self._pages.name_of(value) or self._pages.derived(value)
        return name if name in self._objects else None


def _is_prose(node, target, content):
    """Whether a word stands in the type of an argument that is written in plain English."""
    around = node.parent
    while around is not None and not isinstance(around, nodes.field):
        around = around.parent
    in_field = around is not None and not isinstance(content, nodes.literal)
    return not NAME.fullmatch(target) or in_field and target.islower() and '.' not in target


def _module_around(node):
    """Returns the module of the description in whose signature a name stands, or ``None``."""
    while node is not None and not isinstance(node, addnodes.desc_signature):
        node = node.parent
    return node and node.get('module')


def _is_variable_of_types(value):
    return isinstance(value, typing.TypeVar | typing.ParamSpec)


class Resolve(SphinxPostTransform):
    default_priority = 5  # before Sphinx's own, which takes one of several ends of a name

    def run(self, **kwargs):
        pages = self.app.reference_pages
        resolver = Resolver(self.env, pages)
        described = pages.object_of(self.env.current_document.docname)
        for node in list(self.document.findall(addnodes.pending_xref)):
            if node.get('refdomain') == 'py':
                module = node.get('py:module') or _module_around(node)
                scope = Scope(module, described, node.get('py:class'))
                self._resolve(node, scope, resolver)

    def _resolve(self, node, scope, resolver):
        target = node['reftarget'].removeprefix('.')
        shown = next(iter(node.findall(addnodes.pending_xref_condition)), node)
        content = shown[0].deepcopy()
        if target in dir(builtins) and node['reftype'] in ('class', 'exc', 'obj'):
            node.replace_self(_external(f'builtins.{target}', content))
            return
        prose = _is_prose(node, target, content)
        for owner, path, value in scope.find(target):
            if prose and not inspect.isclass(value):
                continue
            name = resolver.described_as(owner, path, value)
            if name is not None:
                node.replace_self(self._link(node, name, content))
                return
            if _is_variable_of_types(value):
                node.replace_self(content)
                return
            link = _external(path if owner is None else _path_of(owner, path), content, value)
            if link is not None:
                node.replace_self(link)
                return
        if prose:
            node.replace_self(content)

    def _link(self, node, name, content):
        entry = self.env.domains['py'].objects[name]
        here = node.get('refdoc', self.env.current_document.docname)
        return make_refnode(self.app.builder, here, entry.docname, entry.node_id, content, name)


def _path_of(owner, name):
    return f'{owner.__module__}.{owner.__qualname__}.{name}'


def _external(path, content, value=MISSING):
    url = url_of(path, value)
    return url and nodes.reference('', '', content, internal=False, refuri=url)


def setup(app):
    app.add_post_transform(Resolve)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
