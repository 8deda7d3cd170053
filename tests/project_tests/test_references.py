"""The documentation leads each name to the page of what it means where it stands."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import chainer
import chainer.functions as F
import chainermn

pytest.importorskip('sphinx')
DOCS = Path(__file__).resolve().parents[2] / 'docs'


@pytest.fixture(scope='module')
def ext():
    """The extensions, which import each other."""
    sys.path.insert(0, str(DOCS / '_ext'))
    names = 'reference', 'references', 'external_names', 'hosting'
    yield SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    sys.path.remove(str(DOCS / '_ext'))


@pytest.fixture(scope='module')
def pages(ext):
    return ext.reference.make_pages()


@pytest.fixture(scope='module')
def resolve(ext, pages):
    """A function of a namespace, the object that a page describes, and a name in it."""
    methods = ['chainer.Variable.backward', 'chainer.FunctionNode.forward_cpu']
    described = {
        *pages._names.values(),
        *methods,
        'chainer',
        'chainermn.means',
        'chainer.types.Axis',
    }
    env = SimpleNamespace(domains={'py': SimpleNamespace(objects=dict.fromkeys(described))})
    resolver = ext.references.Resolver(env, pages)

    def resolve(namespace, value, name):
        for owner, path, found in ext.references.Scope(namespace, value, None).find(name):
            described = resolver.described_as(owner, path, found)
            if described is not None:
                return described
        return None

    return resolve


@pytest.mark.parametrize(
    'namespace, value, name, expected',
    [
        # What only a type checker imports, and the name of a type.
        ('chainer.functions', F.relu, 'VariableLike', 'chainer.types.VariableLike'),
        ('chainer.functions', F.relu, 'Variable', 'chainer.Variable'),
        # Methods of the class and of its bases.
        ('chainer', chainer.Variable, 'backward', 'chainer.Variable.backward'),
        (None, F.activation.relu.ReLU, 'forward_cpu', 'chainer.FunctionNode.forward_cpu'),
        # Names of the namespace, of the packages around it, and absolute ones.
        ('chainer.training', None, 'extensions.Evaluator', 'chainer.training.extensions.Evaluator'),
        ('chainer.exporters.caffe', None, 'no_backprop_mode', 'chainer.no_backprop_mode'),
        ('chainermn', None, 'chainer.links.Linear', 'chainer.links.Linear'),
        # Objects that are neither classes nor functions, and their attributes.
        ('chainer.dataset', None, 'concat_examples', 'chainer.dataset.concat_examples'),
        (None, None, 'chainer.config.train', 'chainer.config'),
        # A class without a page, and a module without one.
        (
            'chainer',
            None,
            'chainer._core.autograd.variable_state.VariableState',
            'chainer.Variable',
        ),
        (None, chainermn.means, 'chainermn.means.buckets', 'chainermn.means'),
        ('chainer.functions', F.relu, 'nothing', None),
    ],
    ids=lambda value: value if isinstance(value, str) else '',
)
def test_names(resolve, namespace, value, name, expected):
    assert resolve(namespace, value, name) == expected


@pytest.mark.parametrize(
    'path, expected',
    [
        ('numpy.ndarray', 'https://numpy.org/doc/stable/reference/generated/numpy.ndarray.html'),
        ('np.dot', 'https://numpy.org/doc/stable/reference/generated/numpy.dot.html'),
        ('numpy', 'https://numpy.org/doc/stable/reference/index.html'),
        ('builtins.int', 'https://docs.python.org/3/library/stdtypes.html#int'),
        ('builtins.open', 'https://docs.python.org/3/library/functions.html#open'),
        ('builtins.KeyError', 'https://docs.python.org/3/library/exceptions.html#KeyError'),
        ('os.PathLike', 'https://docs.python.org/3/library/os.html#os.PathLike'),
        (
            'collections.abc.Sequence',
            'https://docs.python.org/3/library/collections.abc.html#collections.abc.Sequence',
        ),
        (
            'cupy.cuda.Stream',
            'https://docs.cupy.dev/en/stable/reference/generated/cupy.cuda.Stream.html',
        ),
        ('onnx.NodeProto', 'https://onnx.ai/onnx/api/'),
        ('chainer.functions.no_such', None),
        ('nothing', None),
    ],
)
def test_names_of_others(ext, path, expected):
    assert ext.external_names.url_of(path, None) == expected


def test_modules_of_others(ext):
    import json

    url = ext.external_names.url_of('json', json)
    assert url == 'https://docs.python.org/3/library/json.html#module-json'


def test_pages_lead_to_their_sources(ext, pages, monkeypatch):
    sources = {
        'index': 'docs/index.rst',
        'guides/compile': 'docs/guides/compile.rst',
        'tutorial/1_arrays': 'docs/_tutorial/1_arrays.py',
        'gallery/2_vae': 'docs/_gallery/2_vae.py',
        'reference/generated/chainer.functions/relu': 'chainer/functions/activation/relu.py',
        'reference/generated/index': None,
        'search': None,
    }
    app = SimpleNamespace(reference_pages=pages)
    for page, source in sources.items():
        monkeypatch.setenv('CHAINER_DOCS_EDIT', 'https://example.org/edit/main/')
        monkeypatch.setenv('CHAINER_DOCS_VERSIONS', '8.0 8.1')
        ext.hosting.add_links(app, page, 'page.html', context := {}, None)
        expected = f'https://example.org/edit/main/{source}' if source else None
        assert context.get('theme_source_edit_link') == expected, page
        assert context['other_versions'] == ['8.0', '8.1']
        monkeypatch.delenv('CHAINER_DOCS_EDIT')
        monkeypatch.delenv('CHAINER_DOCS_VERSIONS')
        ext.hosting.add_links(app, page, 'page.html', context := {}, None)
        assert context == {'other_versions': []}


def test_all_references_have_to_resolve():
    """The build, whose warnings are errors, allows no name without a description."""
    configuration = (DOCS / 'conf.py').read_text()
    assert '\nnitpicky = True' in configuration
    assert 'nitpick_ignore' not in configuration and 'suppress_warnings' not in configuration
    assert ' -W ' in (DOCS.parent / '.ci' / 'docs').read_text()
