"""C++ programs outside of the tree, built against an installed ChainerX: the examples and the tutorial."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import chainerx
from chainer.compilation import SavedPlan

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / 'build' / 'chainerx'
EXAMPLES = ROOT / 'chainerx_cc' / 'examples'


def _program(name):
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)


pytestmark = [
    pytest.mark.slow,
    pytest.mark.chainerx,
    pytest.mark.skipif(
        not (BUILD / 'cmake_install.cmake').exists() or not _program('cmake'),
        reason='needs CMake and the build folder of ChainerX',
    ),
]


def run(*command, **variables):
    result = subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, env={**os.environ, **variables}
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope='module')
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp('prefix')
    run(_program('cmake'), '--install', BUILD, '--component', 'cpp', '--prefix', folder)
    return folder


def build(source, folder, prefix):
    run(_program('cmake'), '-S', source, '-B', folder, f'-DCMAKE_PREFIX_PATH={prefix}')
    run(_program('cmake'), '--build', folder, '--parallel', '2')


def test_mnist_with_the_package(tmp_path):
    """As in a wheel, where chainerx.get_cmake_dir() names the folder."""
    for component in 'python', 'development':
        run(_program('cmake'), '--install', BUILD, '--component', component, '--prefix', tmp_path)
    (tmp_path / 'build').mkdir()
    build(EXAMPLES / 'mnist', tmp_path / 'build', tmp_path / 'chainerx' / 'cmake')
    digits = ROOT / 'chainer' / 'datasets' / '_digits' / 'digits.bin'
    lines = run(tmp_path / 'build' / 'train_mnist', digits).splitlines()
    assert float(lines[-1].split()[-1]) >= 0.96


def test_mnist(prefix, tmp_path):
    build(EXAMPLES / 'mnist', tmp_path, prefix)
    program = tmp_path / 'train_mnist'
    lines = run(program, ROOT / 'chainer' / 'datasets' / '_digits' / 'digits.bin').splitlines()
    assert len(lines) == 21
    assert float(lines[-1].split()[-1]) >= 0.96

    missing = subprocess.run([program, tmp_path / 'missing'], capture_output=True, text=True)
    assert missing.returncode == 1
    assert 'missing' in missing.stderr


def test_plan(prefix, tmp_path):
    """A training that goes on in C++ has the bits of one that is all in Python."""
    example = EXAMPLES / 'plan'
    build(example, tmp_path, prefix)
    out = tmp_path / 'result'
    printed = run(sys.executable, example / 'train.py', '-o', out, PYTHONPATH=str(ROOT))
    program = tmp_path / 'continue_training'
    files = out / 'step.plan', out / 'batches.bin', out / 'trained.plan'
    lines = run(program, *files)
    assert lines == printed
    assert len(lines.splitlines()) == 11
    plan = SavedPlan(files[2])
    with np.load(out / 'trained.npz') as expected:
        assert len(expected) == 4
        for name, value in expected.items():
            assert chainerx.to_numpy(plan.arrays[name]).tobytes() == value.tobytes(), name
    assert 'python' not in run('ldd', program).lower()

    files[0].write_bytes(files[0].read_bytes()[:-1])
    damaged = subprocess.run([program, *files], capture_output=True, text=True)
    assert damaged.returncode == 1
    assert 'its checksum is wrong' in damaged.stderr


def test_onnx(prefix, tmp_path):
    """The program prints what Python printed, and links no Python."""
    pytest.importorskip('onnx')
    example = ROOT / 'examples' / 'onnx'
    out = tmp_path / 'result'
    script = [sys.executable, example / 'train_and_export.py', '-e', '1', '-o', out]
    printed = run(*script, PYTHONPATH=str(ROOT)).split('label: ')[1].splitlines()[1:]
    assert len(printed) == 10
    shutil.copytree(example / 'cpp', tmp_path / 'source')
    build(tmp_path / 'source', tmp_path / 'build', prefix)
    program = tmp_path / 'build' / 'classify'
    lines = run(program, out / 'model.onnx', out / 'image.bin').splitlines()
    for line, expected in zip(lines, printed, strict=True):
        digit, value = line.split(': ')
        assert expected.startswith(f'{digit}: ')
        assert abs(float(value) - float(expected.split(': ')[1])) <= 1.01e-4
    assert 'python' not in run('ldd', program).lower()

    missing = subprocess.run([program, 'missing', 'image'], capture_output=True, text=True)
    assert missing.returncode == 1
    assert "'missing' cannot be opened" in missing.stderr


USE_SAMPLE = """
import chainerx
x = chainerx.array([1., 2.], device='sample:0').require_grad()
(x * x).sum().backward()
print(x.grad.tolist())
"""


def test_sample_backend(prefix, tmp_path):
    build(EXAMPLES / 'sample_backend', tmp_path, prefix)
    assert run(sys.executable, '-c', USE_SAMPLE, CHAINERX_PATH=str(tmp_path)) == '[2.0, 4.0]\n'


def test_backend_for_another_version(prefix, tmp_path):
    other = tmp_path / 'prefix'
    shutil.copytree(prefix, other)
    header = other / 'include' / 'chainerx' / 'core' / 'backend.h'
    text = header.read_text()
    header.write_text(re.sub(r'kAbiVersion = \d+', 'kAbiVersion = 9999', text))
    assert header.read_text() != text
    build(EXAMPLES / 'sample_backend', tmp_path / 'build', other)
    result = subprocess.run(
        [sys.executable, '-c', USE_SAMPLE],
        capture_output=True,
        text=True,
        env={**os.environ, 'CHAINERX_PATH': str(tmp_path / 'build')},
    )
    assert result.returncode == 1
    assert 'BackendError' in result.stderr
    assert 'compiled for another version of ChainerX' in result.stderr


FRAME = """
#include <iostream>
#include <thread>
#include <vector>
#include "chainerx/chainerx.h"
namespace cx = chainerx;
%s
int main() {
    cx::Context context;
    cx::ContextScope scope{context};
    {
%s
    }
}
"""


def test_tutorial(prefix, tmp_path):
    """Each block of C++ compiles, alone or in the frame that the page describes, and prints what it says."""
    page = (ROOT / 'docs' / 'chainerx_cpp.rst').read_text()
    cmake = next(block for block in _blocks(page, 'cmake') if 'find_package' in block)
    cmake = cmake[: cmake.index('add_executable')]
    programs = {}
    for i, block in enumerate(_blocks(page, 'cpp')):
        if 'int main()' not in block:
            declared = block.startswith('extern')
            block = FRAME % ((block, '') if declared else ('', block))
        programs[f'block{i}'] = block
        (tmp_path / (f'block{i}.cc')).write_text(block)
        cmake += f"""add_executable(block{i} block{i}.cc)
"""
        cmake += f"""target_link_libraries(block{i} PRIVATE ChainerX::chainerx Threads::Threads)
"""
    assert len(programs) >= 6
    (tmp_path / 'CMakeLists.txt').write_text(
        cmake.replace('find_package', 'find_package(Threads REQUIRED)\nfind_package', 1)
    )
    build(tmp_path, tmp_path / 'build', prefix)
    for name, program in programs.items():
        output = run(tmp_path / 'build' / name)
        assert output.splitlines() == re.findall('// prints (.*)', program), program


def test_overview_of_the_header(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / 'docs' / '_ext')
    import cpp_overview

    names = []
    for title, headers in cpp_overview.topics():
        declared = [name for header in headers for name, _ in cpp_overview.declarations(header)]
        assert declared, title
        names += declared
    # One of each kind of declaration.
    for start in (
        'Context',
        'BackendError',
        'Exp(x)',
        'Array Dot(',
        'void Fill(',
        'void Backward(const std::vector<Array>& outputs',
        'std::vector<Array> Grad(',
        'void RecordFunction(',
        'Saved',
        'BackwardOptions',
        'CellOutput Lstm(',
    ):
        assert any(name.startswith(start) for name in names), start
    assert not [name for name in names if 'public' in name or 'internal' in name]


def _blocks(page, language):
    pattern = rf'^\.\. code-block:: {language}\n\n((?:   .*\n|\n)+)'
    return [textwrap.dedent(block).strip() + '\n' for block in re.findall(pattern, page, re.M)]
