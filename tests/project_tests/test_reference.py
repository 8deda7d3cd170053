"""The reference has a page for each public name, and pages have descriptions and a short sidebar."""

import importlib
import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import chainer
import chainerx
from chainer._core.names import lazy

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / 'docs'
PACKAGES = 'chainer', 'chainermn', 'chainerx', 'onnx_chainer'

pytest.importorskip('sphinx')


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = load(DOCS / '_ext' / 'reference.py')


@pytest.fixture(scope='module')
def pages():
    return reference.make_pages()


@pytest.fixture(scope='module')
def texts(pages, tmp_path_factory):
    folder = tmp_path_factory.mktemp('reference')
    (folder / 'old.rst').write_text('a name that is gone')
    pages.write(folder)
    return {
        path.relative_to(folder).with_suffix('').as_posix(): path.read_text()
        for path in folder.rglob('*.rst')
    }


def promised_names():
    return load(ROOT / 'tools' / 'check_api.py').read_promises()


@pytest.mark.parametrize(
    'name',
    [
        'chainer.Variable',
        'chainer.datasets.get_mnist',
        'chainer.distributions.Normal',
        'chainer.functions.relu',
        'chainer.initializers.HeNormal',
        'chainer.iterators.SerialIterator',
        'chainer.links.LSTM',
        'chainer.optimizers.Adam',
        'chainer.serializers.save_npz',
        'chainer.training.Trainer',
        'chainer.training.extensions.Evaluator',
        'chainermn.create_communicator',
        pytest.param('chainerx.tanh', marks=pytest.mark.chainerx),
        'onnx_chainer.export',
    ],
)
def test_page_of_a_name(pages, texts, name):
    module, _, short = name.rpartition('.')
    if module not in texts:
        pytest.skip(f'{module} cannot be imported')
    assert pages.name_of(getattr(importlib.import_module(module), short)) == name
    page = texts[f'{module}/{short}']
    assert page.startswith(name + '\n') and re.search(rf'auto(class|function):: {short}\n', page)
    assert f'   {short}\n' in texts[module] and f'   {short} <{module}/{short}>\n' in texts[module]


@pytest.mark.parametrize('namespace', reference.NAMESPACES)
def test_public_names_have_pages(pages, texts, namespace):
    """All that is public in a namespace has a page, under the name that is public."""
    if namespace not in texts:
        pytest.skip(f'{namespace} cannot be imported')
    module = importlib.import_module(namespace)
    promised = {name for name in promised_names().get(namespace, ()) if '.' not in name}
    exported = set(getattr(module, '__all__', ()))
    for name in sorted(promised | exported):
        value = getattr(module, name, None)
        home = (getattr(value, '__module__', None) or '').split('.')[0]
        if not (inspect.isclass(value) or inspect.isroutine(value)) or home not in PACKAGES:
            continue
        described = pages.name_of(value)
        assert described is not None, name
        package, _, short = described.rpartition('.')
        assert package in reference.NAMESPACES, f'{name} is described as {described}'
        assert f'{package}/{short}' in texts
        shown = f'   {name}\n' if described == f'{namespace}.{name}' else described
        assert shown in texts[namespace]


@pytest.mark.parametrize('package', [chainer.functions, chainer.links])
def test_lazy_packages_list_all_names(texts, package):
    exports = [
        name
        for name, module in lazy.exports_of_stub(package.__name__).items()
        if module != f'{package.__name__}.{name}' and not inspect.ismodule(getattr(package, name))
    ]
    text = texts[package.__name__]
    table = set(re.findall(r'^   (?:~[\w.]+\.)?(\w+)$', text, re.M))
    table |= set(re.findall(r'^- ``(\w+)``: another name of', text, re.M))
    assert table == set(exports)


def test_pages_are_in_the_contents(texts):
    """Each page is in the sidebar, at one place."""
    entries = []
    for text in texts.values():
        for tree in re.findall(r'^\.\. toctree::\n(?:   :.*\n)*\n((?:   .*\n)*)', text, re.M):
            entries += [re.sub(r'.*<(.*)>', r'\1', line.strip()) for line in tree.splitlines()]
    assert sorted(entries) == sorted(set(texts) - {'index'})
    assert ':orphan:' not in ''.join(texts.values())
    assert len(texts) > 1000 and 'old' not in texts


@pytest.mark.chainerx
def test_other_names(pages):
    assert pages.name_of(chainerx.max) == 'chainerx.amax'
    summary = reference._summary(pages, chainerx, ['amax', 'max'])
    assert summary[3:] == [
        '   amax',
        '',
        '- ``max``: another name of :obj:`chainerx.amax`',
        '',
    ]


def test_description():
    from docutils import nodes

    descriptions = load(DOCS / '_ext' / 'descriptions.py')
    document = nodes.section('', nodes.note('', nodes.paragraph('', 'Download it.')))
    context = {'metatags': '<meta name="other" />'}
    for text in 'A part of chainer.links.', 'Says "a"\n < b. ' + 'More ' * 40, 'The end.':
        document += nodes.paragraph('', text)
    descriptions.describe(None, 'page', 'page.html', context, document)
    found = re.fullmatch(
        r'<meta name="other" /><meta name="description" content="(.*)" />', context['metatags']
    )
    assert found[1].startswith('Says &quot;a&quot; &lt; b. More More') and found[1].endswith(
        'More ...'
    )
    assert len(found[1]) < 180
    context = {}
    descriptions.describe(None, 'search', 'search.html', context, None)
    descriptions.describe(None, 'empty', 'page.html', context, nodes.section())
    assert context == {}


def test_sidebar():
    context = {'toctree': lambda **options: options}
    load(DOCS / '_ext' / 'sidebar.py').collapse(None, 'page', 'page.html', context, None)
    assert context['toctree'](collapse=False, maxdepth=-1) == {'collapse': True, 'maxdepth': -1}


def test_configuration_names_files():
    """What the pages show is there, and comes with the source distribution."""
    text = (DOCS / 'conf.py').read_text()
    (icon,) = re.findall(r"^html_favicon = '(.*)'", text, re.M)
    assert (DOCS / icon).read_text().startswith('<svg ')
    (suffixes,) = re.findall(
        '^recursive-include docs (.*)', (ROOT / 'MANIFEST.in').read_text(), re.M
    )
    assert {f'*{path.suffix}' for path in (DOCS / '_static').iterdir()} <= set(suffixes.split())
    extensions = re.findall(r"^    '(\w+)',$", text[: text.index(']')], re.M)
    sources = {path.stem: path.read_text() for path in (DOCS / '_ext').glob('*.py')}
    local = {name for name, source in sources.items() if '\ndef setup(app):' in source}
    assert local and local <= set(extensions)
