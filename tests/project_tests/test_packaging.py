"""The build's settings agree with each other, and its failures are plain."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
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


@pytest.fixture
def make_environment(tmp_path):
    """Makes virtual environments, which have what a build needs in folders of their own."""
    needed = [pytest.importorskip(name) for name in ('pybind11', 'scipy_openblas32')]
    programs = str(Path(sys.executable).parent), os.environ['PATH']
    for name in 'cmake', 'ninja', os.environ.get('CXX', 'c++'):
        if shutil.which(name, path=os.pathsep.join(programs)) is None:
            pytest.skip(f'needs {name}')

    def make(name):
        venv.create(tmp_path / name, symlinks=True)
        (site,) = tmp_path.glob(f'{name}/lib/python*/site-packages')
        for folder in {Path(module.__file__).parents[1] for module in needed}:
            for path in [*folder.glob('*pybind11*'), *folder.glob('*scipy_openblas32*')]:
                (site / path.name).symlink_to(path)
        return tmp_path / name / 'bin'

    def configure(python, **variables):
        code = 'import build, pathlib, sys; build.configure(pathlib.Path(sys.argv[1]))'
        result = subprocess.run(
            [python, '-c', code, tmp_path / 'build'],
            cwd=TOOLS,
            env={**os.environ, 'PATH': os.pathsep.join(programs), **variables},
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return json.loads((tmp_path / 'build' / 'compile_commands.json').read_text())

    return make, configure, tmp_path / 'build'


@pytest.mark.slow
def test_build_folder_stays_current(make_environment):
    """Neither another name of the interpreter nor another environment makes Ninja compile again."""
    make, configure, folder = make_environment
    first, second = make('first'), make('second')
    commands = configure(first / 'python3')
    assert len(commands) > 100
    objects = [folder / command['output'] for command in commands]
    for path in objects:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for python in first / 'python', second / 'python3':
        assert configure(python) == commands
        assert all(path.exists() for path in objects)
        assert f'Python_EXECUTABLE:FILEPATH={python}\n' in (folder / 'CMakeCache.txt').read_text()
        assert python.parents[1] in Path(os.readlink(folder / 'pybind11')).parents
        shutil.rmtree(python.parents[1])  # as pip does with its environments


@pytest.mark.slow
def test_build_folder_follows_the_interpreter(make_environment):
    """What depends on the version of Python is found again, and nothing else is compiled again."""
    make, configure, folder = make_environment
    before = configure(make('first') / 'python')
    cache = folder / 'CMakeCache.txt'
    include, suffix = sysconfig.get_path('include'), sysconfig.get_config_var('EXT_SUFFIX')
    other = cache.read_text().replace(include, '/other/include').replace(suffix, '.other.so')
    cache.write_text(other)
    (folder / 'interpreter.txt').write_text('another one')
    assert configure(make('second') / 'python') == before
    assert '/other/include' not in cache.read_text() and '.other.so' not in cache.read_text()


@pytest.mark.slow
@pytest.mark.parametrize('launcher', ['', 'ccache'])
def test_ccache_keeps_what_is_compiled(make_environment, launcher):
    """It keeps nothing that was compiled with a precompiled header."""
    make, configure, _ = make_environment
    arguments = f'-DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_COMPILER_LAUNCHER={launcher}'
    commands = configure(make('first') / 'python', CMAKE_ARGS=arguments, CCACHE_DISABLE='1')
    assert any('unity_0' in command['file'] for command in commands)
    assert any('cmake_pch' in command['command'] for command in commands) is not bool(launcher)


WHEEL = """
import build, build_backend, pathlib, sys
def fake(prefix, development):
    core = pathlib.Path(prefix) / 'chainerx' / '_core.so'
    core.write_text('compiled')
    return [str(core)]
build.build_chainerx = fake
folder = sys.argv[1]
name = build_backend.prepare_metadata_for_build_wheel(folder + '/metadata')
print(build_backend.build_wheel(folder, metadata_directory=folder + '/metadata/' + name))
print(build_backend.build_sdist(folder))
"""


@pytest.mark.parametrize('flag', ['0', '1'])
def test_licences_of_wheels(tmp_path, flag):
    """A wheel with ChainerX has the licences of the code in it, another and the sources do not."""
    for name in 'setuptools', 'pybind11', 'scipy_openblas32':
        pytest.importorskip(name)
    sources = tmp_path / 'sources'
    for name in (
        'LICENSE MANIFEST.in README.md pyproject.toml setup.py tools/build.py tools/build_backend.py '
        'chainer/__init__.py chainer/_version.py chainerx/__init__.py chainer/datasets/_digits/README.md '
        'chainerx_cc/third_party/pocketfft/LICENSE.md'
    ).split():
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, sources / name)
    (tmp_path / 'metadata').mkdir()
    result = subprocess.run(
        [sys.executable, '-c', WHEEL, tmp_path],
        cwd=sources,
        env={**os.environ, 'CHAINER_BUILD_CHAINERX': flag, 'PYTHONPATH': str(sources / 'tools')},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    (path,), (archive,) = tmp_path.glob('*.whl'), tmp_path.glob('*.tar.gz')
    licences = {'LICENSE', 'chainer/datasets/_digits/README.md'}
    compiled = {f'chainerx/LICENSE.{name}.txt' for name in ('openblas', 'pocketfft', 'pybind11')}
    expected = licences | compiled if flag == '1' else licences
    with zipfile.ZipFile(path) as wheel:
        (info,) = {name.split('/')[0] for name in wheel.namelist() if '.dist-info/' in name}
        start = f'{info}/licenses/'
        files = {name for name in wheel.namelist() if name.startswith(start)}
        assert files == {start + name for name in expected}
        description = wheel.read(f'{info}/METADATA').decode()
        assert set(re.findall('^License-File: (.*)', description, re.M)) == expected
        assert description == (tmp_path / 'metadata' / info / 'METADATA').read_text()
        texts = [wheel.read(start + name).decode() for name in sorted(expected & compiled)]
    assert all('Redistribution and use in source and binary forms' in text for text in texts)
    with tarfile.open(archive) as tar:
        assert not any('chainerx/LICENSE.' in name for name in tar.getnames())


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
