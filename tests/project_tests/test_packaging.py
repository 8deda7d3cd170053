"""The build's settings agree with each other, and its failures are plain."""

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import chainer

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / 'tools'


def run_python(code, **variables):
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in ('CXX', 'CUDACXX', 'CUDA_PATH', 'CUDA_HOME')
    }
    env.update(variables)
    return subprocess.run(
        [sys.executable, '-c', code], cwd=TOOLS, env=env, capture_output=True, text=True
    )


def test_version():
    try:
        installed = metadata.version('chainer')
    except metadata.PackageNotFoundError:
        pytest.skip('chainer is imported from the sources, not installed')
    assert installed == chainer.__version__


def test_build_requirements_agree():
    text = (ROOT / 'pyproject.toml').read_text()
    extra = re.findall('"(.*)"', re.search(r'^build = \[(.*?)^\]', text, re.M | re.S).group(1))
    pytest.importorskip('setuptools')
    result = run_python('import build_backend; print(*build_backend.CHAINERX_REQUIREMENTS)')
    assert result.stdout.split() == [name for name in extra if not name.startswith('setuptools')]


@pytest.mark.parametrize(('flag', 'asked'), [('', False), ('0', False), ('1', True)])
def test_requirements_only_with_flag(flag, asked):
    pytest.importorskip('setuptools')
    result = run_python(
        'import build_backend; print(*build_backend._chainerx_requirements())',
        CHAINER_BUILD_CHAINERX=flag,
    )
    assert ('pybind11' in result.stdout) is asked, result.stderr


@pytest.mark.parametrize(
    ('variables', 'message'),
    [
        ({'CXX': 'no-such-compiler'}, 'no C++ compiler was found (tried no-such-compiler)'),
        (
            {'CXX': sys.executable, 'CHAINERX_BUILD_CUDA': 'yes'},
            "CHAINERX_BUILD_CUDA must be 0 or 1, not 'yes'",
        ),
    ],
)
def test_build_stops_with_one_message(variables, message):
    result = run_python(
        'import build\ntry: build.build_chainerx(".")\nexcept build.BuildError as e: print(e)',
        **variables,
    )
    assert result.returncode == 0, result.stderr
    assert message in result.stdout
    assert len(result.stdout.splitlines()) == 1


def test_missing_cuda_compiler():
    result = run_python(
        'import build, shutil\nshutil.which = lambda *a, **k: None\n'
        'try: build._check_cuda()\nexcept build.BuildError as e: print(e)'
    )
    assert 'needs the CUDA compiler nvcc' in result.stdout


@pytest.mark.parametrize('name', ['train', 'test'])
def test_readme_commands(name):
    command = subprocess.check_output(
        [sys.executable, str(TOOLS / 'readme_command.py'), name], text=True
    )
    assert command.startswith('python3 -m venv')
