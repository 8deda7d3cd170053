"""The README's programs run where readers type them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import chainerx

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / 'README.md').read_text()
PACKAGES = 'chainer', 'chainermn', 'onnx_chainer'
# What `python -m sphinx` and `python -m pytest` run first
FIRST = 'docs/conf.py', 'tests/conftest.py'


def blocks(language):
    return re.findall(rf'```{language}\n(.*?)```', README, re.DOTALL)


@pytest.fixture(scope='module')
def clone(tmp_path_factory):
    """A copy of the repository after an install that is not editable, and what that installed.

    Links stand for the copies.
    """
    folder = tmp_path_factory.mktemp('clone')
    sources, site = folder / 'chainer', folder / 'site-packages'
    for root in sources, site:
        (root / 'chainerx').mkdir(parents=True)
        for package in PACKAGES:
            (root / package).symlink_to(ROOT / package)
        for path in (ROOT / 'chainerx').iterdir():
            if path.is_dir() or path.suffix in ('.py', '.pyi'):
                (root / 'chainerx' / path.name).symlink_to(path)
    (sources / 'chainerx_cc').symlink_to(ROOT / 'chainerx_cc')
    for name in FIRST:  # they follow links to themselves
        (sources / name).parent.mkdir()
        shutil.copy(ROOT / name, sources / name)
    if chainerx.is_available():
        for library in Path(chainerx._core.__file__).parent.glob('*.so*'):
            (site / 'chainerx' / library.name).symlink_to(library)
        (site / 'chainerx' / 'include').symlink_to(ROOT / 'chainerx_cc')
    return sources, site


def run_in(clone, code):
    """Runs lines that a reader types into Python, which was started in the copy."""
    sources, site = clone
    return subprocess.run(
        [sys.executable, '-W', 'error'],
        input=code,
        cwd=sources,
        env={**os.environ, 'PYTHONPATH': str(site)},
        capture_output=True,
        text=True,
    )


def test_programs(clone):
    """All in one session, as they build on each other."""
    programs = blocks('python')
    assert len(programs) == 2
    code = '\n'.join([*programs, 'print(chainer.__file__, device)'])
    if not chainerx.is_available():
        code = code.replace('native:0', '@numpy')
    result = run_in(clone, code)
    assert result.returncode == 0, result.stderr
    accuracy, last = result.stdout.splitlines()
    assert float(re.fullmatch(r'variable\((.*)\)', accuracy).group(1)) > 0.95
    device = 'native:0' if chainerx.is_available() else '@numpy'
    assert last == f'{clone[0] / "chainer" / "__init__.py"} {device}'


@pytest.mark.chainerx
@pytest.mark.parametrize('program', FIRST)
def test_pages_and_tests_find_chainerx(clone, program):
    code = f"""
import runpy
runpy.run_path({program!r})
import chainerx
print(chainerx.__file__, chainerx.is_available())
"""
    result = run_in(clone, code)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == [str(clone[0] / 'chainerx' / '__init__.py'), 'True']


def test_commands_name_files():
    """Paths in the commands exist; ``.ci/train`` and ``.ci/test`` run the long ones word for word."""
    text = '\n'.join(blocks('bash'))
    paths = re.findall(r'(?<![\w./-])((?:docs|examples|tools|tests|benchmarks)\b[\w./]*)', text)
    assert {'docs', 'examples/mnist/train_mnist.py', 'tools/build.py'} <= set(paths)
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_commands_keep_chainerx():
    """An install without the variable replaces one that has ChainerX."""
    lines = [
        line
        for line in '\n'.join(blocks('bash')).splitlines()
        if re.search(r"install.* '?\.", line)
    ]
    assert len(lines) >= 5
    without = [line for line in lines if 'CHAINER_BUILD_CHAINERX=1 pip' not in line]
    assert [line for line in without if not line.endswith('# without a compiler')] == []
