"""Every public name of ChainerX is documented: its arguments, what it returns, an example that runs."""

import doctest
import inspect
import re

import numpy
import pytest

import chainer
import chainerx

NAMES = {'np': numpy, 'chainer': chainer, 'chainerx': chainerx}
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
#: What describes itself.
TRIVIAL = {
    'Backend.name',
    'Backend.context',
    'Device.name',
    'Device.backend',
    'Device.context',
    'Device.index',
    'BackpropId.name',
    'BackpropId.context',
    'DeviceScope.device',
    'Stream.device',
}


def _public(owner):
    return {name: value for name, value in vars(owner).items() if not name.startswith('_')}


def _collect():
    """Returns what has to be documented, by name; one name for each object."""
    found = {}
    modules = chainerx, chainerx.linalg, chainerx.random, chainerx.testing
    for module in *modules, chainerx.array_api, chainerx.array_api.linalg:
        for name, value in _public(module).items():
            home = getattr(value, '__module__', None) or ''
            if not callable(value) or not home.startswith('chainerx'):
                continue
            name = f'{module.__name__}.{name}'.replace('chainerx.', '', 1)
            if not inspect.isclass(value):
                found.setdefault(id(value), (name, value))
            elif not issubclass(value, Exception):
                found.setdefault(id(value), (name, value))
                for member, descriptor in _public(value).items():
                    found.setdefault(id(descriptor), (f'{value.__name__}.{member}', descriptor))
    return dict(found.values())


OBJECTS = _collect()


def _parameters(value):
    """The names of the parameters, as far as Python knows them."""
    if inspect.isclass(value) or inspect.isdatadescriptor(value):
        return []
    try:
        parameters = inspect.signature(value).parameters
    except ValueError:  # takes separate arguments or one tuple
        return []
    return [name for name, p in parameters.items() if name != 'self' and p.kind != p.VAR_KEYWORD]


def _described(doc):
    """The names in the section of arguments."""
    section = re.search(r'^Args:\n((?:    .*\n|\n)+)', doc, re.MULTILINE)
    entries = re.findall(r'^    (\S.*?)(?: \(|:)', section[1], re.MULTILINE) if section else []
    return [name.lstrip('*') for entry in entries for name in entry.split(', ')]


@pytest.mark.parametrize('name', sorted(OBJECTS))
def test_documentation(name):
    value = OBJECTS[name]
    doc = inspect.getdoc(value) or ''
    assert re.match(r'[^\n]+(\n[^\n]+)*\.(\n\n|$| )', doc), 'no summary'
    assert set(_parameters(value)) <= set(_described(doc)) | {'optimize'}
    if name in TRIVIAL:
        return
    example = doctest.DocTestParser().get_doctest(doc, dict(NAMES), name, None, None)
    assert example.examples, 'no example'
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    report = []
    runner.run(example, out=report.append)
    assert not runner.failures, ''.join(report)


@pytest.mark.parametrize(
    'name', [name for name, value in sorted(OBJECTS.items()) if inspect.isbuiltin(value)]
)
def test_says_whether_it_is_differentiable(name):
    families = {op['name']: op['family'] for op in chainerx._core._ops()}
    if families.get(name, 'creation') != 'creation':
        assert re.search(r'ifferentiable', OBJECTS[name].__doc__)


def test_method_has_no_argument_for_the_array():
    assert 'Args:' not in chainerx.ndarray.ravel.__doc__
    assert _described(inspect.getdoc(chainerx.ndarray.sum)) == ['axis', 'keepdims', 'out']
