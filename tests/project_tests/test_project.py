"""The files about the project agree with each other: workflows, scripts, versions, recipes, policies."""

import os
import re
import subprocess
from pathlib import Path

import pytest

import chainer

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / '.github' / 'workflows').glob('*.yml'))
SCRIPTS = sorted(path for path in (ROOT / '.ci').iterdir() if not path.suffix)
SUPPORTED = re.findall(
    r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / 'pyproject.toml').read_text()
)


def read(name):
    return (ROOT / name).read_text()


def constant(name, pattern):
    (value,) = re.findall(pattern, read(name), re.M)
    return value


def test_there_are_workflows_and_scripts():
    assert {path.stem for path in WORKFLOWS} >= {'lint', 'tests', 'docs', 'wheels', 'weekly'}
    assert {path.name for path in SCRIPTS} >= {'run', 'setup', 'lint', 'test', 'docs', 'wheels'}


@pytest.mark.parametrize('path', WORKFLOWS, ids=lambda path: path.stem)
def test_steps_call_scripts(path):
    """What a workflow runs is one script, which a person can run, too."""
    commands = re.findall(r'^ *(?:- )?run: *(.*)$', path.read_text(), re.M)
    assert commands
    for command in commands:
        script = ROOT / command.split()[0]
        assert script in SCRIPTS, command


@pytest.mark.parametrize('path', SCRIPTS, ids=lambda path: path.name)
def test_scripts(path):
    assert os.access(path, os.X_OK)
    text = path.read_text()
    assert text.startswith('#!/usr/bin/env bash\n# ') and '"$(dirname "$0")/common.sh"' in text
    for script in re.findall(r'(?<![\w/])(?:\.ci/\w+|(?:tools|benchmarks)/\w+\.py)(?:\.sh)?', text):
        assert (ROOT / script).exists(), script
    assert subprocess.run(['bash', '-n', path]).returncode == 0


def test_every_script_is_called_and_described():
    workflows = ''.join(path.read_text() for path in WORKFLOWS)
    scripts = ''.join(path.read_text() for path in SCRIPTS)
    for path in SCRIPTS:
        command = re.compile(rf'\.ci/{path.name}\b')
        assert command.search(read('docs/project/testing.rst'))
        assert path.name == 'run' or command.search(workflows + scripts)


@pytest.mark.parametrize('path', WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned(path):
    """A tag of an action may move to other code, a commit does not."""
    uses = re.findall(r'uses: *(.*)', path.read_text())
    assert uses
    assert [
        each for each in uses if not re.fullmatch(r'[\w/-]+@[0-9a-f]{40}  # v[\d.]+', each)
    ] == []


def test_pythons_agree():
    oldest, newest = SUPPORTED[0], SUPPORTED[-1]
    minors = [int(version.partition('.')[2]) for version in SUPPORTED]
    assert minors == list(range(minors[0], minors[-1] + 1))
    assert f'requires-python = ">={oldest}"' in read('pyproject.toml')
    assert f'target-version = "py{oldest.replace(".", "")}"' in read('pyproject.toml')
    for name in 'README.md', 'docs/install.rst', 'docs/project/versions.rst':
        ranges = re.findall(r'Python\s+(3\.\d+)\s+to\s+(3\.\d+)', read(name))
        assert set(ranges) == {(oldest, newest)}, name


def test_workflows_test_every_python():
    for versions in re.findall(r'^ *python: \[(.*)\]', read('.github/workflows/tests.yml'), re.M):
        assert re.findall(r'3\.\d+', versions) == SUPPORTED
    others = [path for path in WORKFLOWS if path.stem not in ('tests', 'wheels')]
    for path in others:
        assert set(re.findall(r"python-version: '(.*?)'", path.read_text())) <= set(SUPPORTED)
    wheels = re.findall(r'^ *(3\.\d+)$', read('.github/workflows/wheels.yml'), re.M)
    assert set(wheels) >= set(SUPPORTED)


def test_numpys_agree():
    oldest = constant('pyproject.toml', r'^    "numpy>=(.*)",')
    (versions,) = re.findall(r'^ *numpy: \[(.*)\]', read('.github/workflows/tests.yml'), re.M)
    assert re.findall("'(.*?)'", versions) == [oldest, '2']
    assert f' {oldest}\n' in read('.ci/run')
    for name in 'README.md', 'docs/install.rst', 'docs/project/versions.rst':
        assert f'NumPy {oldest}' in read(name), name


def test_architectures_of_gpus_agree():
    released = constant(
        'chainerx_cc/chainerx/backends/cuda/CMakeLists.txt', r'CMAKE_CUDA_ARCHITECTURES (\d.*)\)'
    )
    assert re.findall(r'sm_(\d+)', read('.ci/cuda')) == re.findall(r'\d+', released)


def test_versions_agree():
    version = chainer.__version__
    assert constant('CITATION.cff', '^version: (.*)') == version
    released = re.sub(r'(a|b|rc)\d+$', '', version)
    assert constant('chainerx_cc/CMakeLists.txt', r'^project\(chainerx VERSION (\S+)') == released
    assert re.search(r'^## (\S+)', read('CHANGELOG.md'), re.M).group(1) == version


def test_name_of_the_license():
    assert constant('CITATION.cff', '^license: (.*)') == constant(
        'pyproject.toml', '^license = "(.*)"'
    )


@pytest.mark.parametrize(
    'name',
    [
        'CONTRIBUTING.md',
        'CODE_OF_CONDUCT.md',
        'MAINTAINERS.md',
        'SECURITY.md',
        '.github/PULL_REQUEST_TEMPLATE.md',
        'docs/project/testing.rst',
        'docs/project/chainerx_recipes.rst',
    ],
)
def test_named_files_exist(name):
    """Links and paths lead somewhere, but for those with placeholders and in results of commands."""
    text = read(name)
    paths = re.findall(r'\]\((?!https?:)([^)#]+)', text)
    folders = 'benchmarks|chainer|chainerx_cc|docs|examples|tests|tools|\\.ci|\\.github'
    paths += re.findall(rf'(?<![\w/.<])((?:{folders})/[\w./]*\w)', text)
    assert paths
    made_up = {'tests/example_tests/test_sine.py'}
    missing = [path for path in paths if not (ROOT / path).exists() and path not in made_up]
    assert not missing
