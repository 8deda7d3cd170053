"""Docstrings of the packages: their examples run, and those of functions say what they must."""

import ast
import doctest
import importlib
import importlib.util
import inspect
import re
from pathlib import Path

import numpy
import pytest
from helpers import mpi

import chainer
import chainermn
import chainerx
import onnx_chainer


def _modules():
    for package in chainer, chainermn, chainerx, onnx_chainer:
        folder = Path(package.__file__).parent
        for path in folder.rglob('*.py'):
            parts = path.relative_to(folder.parent).with_suffix('').parts
            yield '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


NAMES = {
    'np': numpy,
    'numpy': numpy,
    'chainer': chainer,
    'chainermn': chainermn,
    'chainerx': chainerx,
    'onnx_chainer': onnx_chainer,
    'F': chainer.functions,
    'L': chainer.links,
}


def _names_of_examples(module):
    """What examples of a module use without an import."""
    names = dict(NAMES)
    if module.startswith(('chainer.training.', 'chainermn.extensions.')):
        # The docstring of the package has the program that these examples begin after.
        for example in doctest.DocTestParser().get_examples(chainer.training.__doc__):
            exec(example.source, names)
    return names


@pytest.mark.parametrize('name', sorted(_modules()))
def test_examples(name, tmp_path, monkeypatch):
    if 'chainerx' in name and not chainerx.is_available():
        pytest.skip('ChainerX is not built')
    if 'chainermn' in name and mpi.reason_to_skip():
        pytest.skip(mpi.reason_to_skip())
    if 'onnx' in name and importlib.util.find_spec('onnx') is None:
        pytest.skip('needs onnx')
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    tests = [test for test in doctest.DocTestFinder().find(module) if test.examples]
    for i, test in enumerate(tests):
        folder = tmp_path / str(i)
        folder.mkdir()
        monkeypatch.chdir(folder)
        test.globs.update(_names_of_examples(name))
        runner.run(test)
    result = runner.summarize()
    assert not result.failed, f'{result.failed} of {result.attempted} examples failed'


def test_examples_train_models():
    """Examples with mock updaters show nobody how to use an extension."""
    for name in _modules():
        if not name.startswith('chainer.testing'):
            source = inspect.getsource(importlib.import_module(name))
            assert 'mock_updater' not in source, name


FUNCTIONS = {
    name: getattr(chainer.functions, name)
    for name in dir(chainer.functions)
    if inspect.isfunction(getattr(chainer.functions, name)) and not name.startswith('_')
}


@pytest.mark.parametrize('name', sorted(FUNCTIONS))
def test_description_of_function(name):
    function = FUNCTIONS[name]
    text = inspect.getdoc(function)
    assert '\nReturns:\n' in text and '>>> ' in text
    described = re.findall(r'^    (\w+) \(.*?\):|^    (\w+): ', text, re.MULTILINE)
    missing = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind is not p.VAR_KEYWORD and not any(p.name in names for names in described)
    ]
    assert not missing, 'not described: {}'.format(', '.join(missing))


@pytest.mark.parametrize(
    'name', sorted(n for n in _modules() if n.startswith('chainer.functions.'))
)
def test_description_of_classes(name):
    for key, value in vars(importlib.import_module(name)).items():
        if inspect.isclass(value) and value.__module__ == name:
            assert vars(value).get('__doc__'), key


def test_no_signature_beside_overloads():
    """Overloads are the signature: Sphinx before 9 takes another one in the docstring for text."""
    n_overloads = 0
    for folder in [Path(package.__file__).parent for package in (chainer, chainermn, onnx_chainer)]:
        for path in folder.rglob('*.py'):
            functions = [
                node
                for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
                if isinstance(node, ast.FunctionDef)
            ]
            overloaded = {
                node.name
                for node in functions
                if any('overload' in ast.unparse(decorator) for decorator in node.decorator_list)
            }
            n_overloads += len(overloaded)
            for node in functions:
                if node.name in overloaded:
                    doc = ast.get_docstring(node) or ''
                    assert not doc.startswith(f'{node.name}('), f'{path}: {node.name}'
    assert n_overloads >= 10


LINKS = {
    name: value
    for name in dir(chainer.links)
    if inspect.isclass(value := getattr(chainer.links, name)) and issubclass(value, chainer.Link)
}


@pytest.mark.parametrize('name', sorted(FUNCTIONS))
def test_function_says_what_it_raises_and_what_shape_it_returns(name):
    text = inspect.getdoc(FUNCTIONS[name])
    assert '\nRaises:\n    ' in text
    (returns,) = re.findall(r'^Returns:\n((?:    .*\n|\n)+)', text + '\n', re.MULTILINE)
    assert re.search(r'shape|[Ss]calar|\bax[ie]s\b|``\(', returns)


@pytest.mark.parametrize('name', sorted(LINKS))
def test_link_says_what_it_raises_and_its_shapes(name):
    text = inspect.getdoc(LINKS[name])
    assert '\nRaises:\n    ' in text
    assert re.search(r'[Ss]hape|dimensions', text)


@pytest.mark.parametrize(
    'cls',
    [
        *[getattr(chainer.optimizers, name) for name in chainer.optimizers.__all__],
        *[
            x
            for x in vars(chainer.initializers).values()
            if inspect.isclass(x) and issubclass(x, chainer.Initializer)
        ],
    ],
)
def test_optimizer_or_initializer_says_what_it_raises(cls):
    assert '\nRaises:\n    ' in inspect.getdoc(cls)
