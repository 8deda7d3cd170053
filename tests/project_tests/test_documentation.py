"""The programs of the documentation run, and the tools of its build work."""

import importlib.util
import inspect
import re
import runpy
import sys
from collections import namedtuple
from pathlib import Path

import pytest

import chainer.functions

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / 'README.md').read_text()
PROGRAMS = sorted([*ROOT.glob('docs/_tutorial/*.py'), *ROOT.glob('docs/_gallery/*.py')])


def load(path):
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_readme_links():
    links = re.findall(r'\]\((?!https?:)([^)#]+)\)|src="([^"]+)"', README)
    assert len(links) > 10
    assert [link for link in map(''.join, links) if not (ROOT / link).exists()] == []


def test_texts_count_functions():
    pytest.importorskip('onnx')
    from onnx_chainer.functions import NOT_EXPORTED

    names = [name for name in dir(chainer.functions) if name[0] != '_']
    total = sum(inspect.isfunction(getattr(chainer.functions, name)) for name in names)
    exported = total - len(NOT_EXPORTED)
    claims = {
        'README.md': [
            f'all {total} functions run natively',
            f'{exported} of {total} functions and all links',
        ],
        'CHANGELOG.md': [f'All {total} functions of Chainer run natively'],
        'docs/guides/transforms.rst': [f'Of the {total} functions'],
    }
    missing = [(f, c) for f, cs in claims.items() for c in cs if c not in (ROOT / f).read_text()]
    assert not missing


@pytest.mark.parametrize(
    'page',
    [
        'CONTRIBUTING.md',
        'docs/architecture.rst',
        'docs/one_step.rst',
        'docs/project/chainerx_recipes.rst',
    ],
)
def test_named_files_exist(page):
    """A page names a file by the end of its path."""
    names = re.findall(r'`([\w/.-]+\.(?:py|h|cc|cu|inc|md|rst))`', (ROOT / page).read_text())
    folders = 'benchmarks chainer* docs examples onnx_chainer tests tools'.split()
    files = [*ROOT.iterdir(), *(path for f in folders for path in ROOT.glob(f'{f}/**/*'))]
    paths = [f'/{path.relative_to(ROOT)}' for path in files]
    assert names
    assert [name for name in names if not any(path.endswith(f'/{name}') for path in paths)] == []


def test_programs_are_found():
    assert len(PROGRAMS) >= 11


@pytest.mark.slow
@pytest.mark.parametrize('path', PROGRAMS, ids=lambda path: f'{path.parent.name[1:]}-{path.stem}')
def test_program(path, capsys):
    """The build of the documentation runs these programs and shows their plots."""
    matplotlib = pytest.importorskip('matplotlib')
    matplotlib.use('Agg')
    from matplotlib import pyplot

    pyplot.close('all')
    try:
        runpy.run_path(str(path), run_name='__main__')
        assert pyplot.get_fignums()
    finally:
        pyplot.close('all')


def test_broken_links(tmp_path):
    pytest.importorskip('sphinx')
    check_html = load('docs/_ext/check_html.py')
    (tmp_path / 'a').mkdir()
    (tmp_path / 'a' / 'b.html').write_text('<h1 id="top">B</h1><a href="../index.html#here">up</a>')
    (tmp_path / 'index.html').write_text(
        '<p id="here"><a href="a/b.html#top">1</a> <a href="#here">2</a> <a href="mailto:x@y">3</a>'
        '<a href="https://example.org">4</a> <img src="data:image/png;base64,x">'
    )
    assert list(check_html.problems(tmp_path)) == []
    (tmp_path / 'bad.html').write_text(
        '<a href="no.html">1</a> <a href="a/b.html#no">2</a> <script src="https://example.org/x.js">'
    )
    assert list(check_html.problems(tmp_path)) == [
        ('bad.html', 'links to a/b.html#no, which has no such anchor'),
        ('bad.html', 'loads https://example.org/x.js from the network'),
        ('bad.html', 'links to no.html, which does not exist'),
    ]


def test_speed_table(tmp_path, monkeypatch):
    tool = load('tools/update_speed_table.py')
    harness = (ROOT / 'benchmarks' / 'harness.py').read_text()
    assert all(f"('{title}'," in harness for title in tool.ENGINES)
    machine = 'A processor, 2 cores; 1 thread; torch 2'
    names = 'PyTorch', 'hand-written NumPy', *list(tool.ENGINES)[1:]
    cells = '2 ms (1.00x)', '9 ms (9x)', '1 ms (0.50x)', '1 ms (0.50x)', '1 ms (0.50x)', '-'
    table = [['one step', *names], ['`mlp`', *cells], ['`add`', *['1 us'] * 6]]
    lines = [machine, '', *['| {} |'.format(' | '.join(row)) for row in table]]
    output = tmp_path / 'output.txt'
    output.write_text('\n'.join(lines))
    monkeypatch.setattr(tool, 'README', tmp_path / 'README.md')
    monkeypatch.setattr(tool, 'PAGE', tmp_path / 'speed.inc')
    monkeypatch.setattr(sys, 'argv', ['update_speed_table.py', str(output)])
    tool.README.write_text('before\n<!-- speed -->\nold\n<!-- end of speed -->\nafter\n')
    tool.main()
    assert tool.README.read_text() == (
        'before\n<!-- speed -->\n'
        '| one training step | PyTorch | Chainer on NumPy | Chainer on ChainerX | compiled | ChainerX alone |\n'
        '| --- | ---: | ---: | ---: | ---: | ---: |\n'
        '| perceptron, 784-1000-1000-10, batch of 100 | 2 ms (1.00x) | 1 ms (0.50x) | 1 ms (0.50x) | 1 ms (0.50x) | - |\n'
        '\ncompiled: Chainer on ChainerX, the step under [`chainer.compile`](docs/guides/compile.rst); '
        'ChainerX alone: the step written with ChainerX, without Chainer.\n'
        '\nA processor, 2 cores; 1 thread; torch 2.\n<!-- end of speed -->\nafter\n'
    )
    assert tool.PAGE.read_text().count('1 ms (0.50x)') == 3
    for line, column in (lines[0], 'torch'), (lines[2], 'the same, compiled'):
        output.write_text('\n'.join(lines).replace(line, line.replace(column, 'none')))
        with pytest.raises(ValueError, match='not the output of benchmarks/run.py --compiled'):
            tool.main()


def test_speed_table_of_the_documentation():
    """Both tables are written by one command from one run."""
    table = re.search(r'<!-- speed -->\n(.*)<!-- end of speed -->', README, re.DOTALL).group(1)
    page = (ROOT / 'docs' / 'guides' / 'speed.inc').read_text()
    cells = r'\d\S* [mu]?s \([\d.]+x\)'
    assert re.findall(cells, table) == re.findall(cells, page) != []


def test_names_elsewhere():
    pytest.importorskip('sphinx')
    directive = load('docs/_ext/names_elsewhere.py')
    row = namedtuple('row', 'owner theirs ours remark')
    names = [
        row('Link', 'parameters', 'model.params()', ''),
        row('chainer', 'cat', 'F.concat(xs, axis)', 'x * y along `axis`'),
    ]
    assert list(directive.tables(names, {'chainer': 'torch', 'Link': 'torch.nn.Module'}))[9:] == [
        '   * - ``cat``',
        '     - :obj:`F.concat(xs, axis) <chainer.functions.concat>`',
        r'     - x \* y along ``axis``',
        '',
        '.. rubric:: ``torch.nn.Module``',
        '',
        '.. list-table::',
        '   :header-rows: 1',
        '   :widths: 25 40 35',
        '',
        '   * - PyTorch',
        '     - Chainer',
        '     -',
        '   * - ``parameters``',
        '     - ``model.params()``',
        '     - ',
        '',
    ]
