"""Folders use those below them only, as ``docs/architecture.rst`` says."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CPP_ROOT = ROOT / 'chainerx_cc' / 'chainerx'

# The layers of C++, from the lowest: a folder or file, and what it may include besides itself.
# A file belongs to the most specific row.
CPP_LAYERS = {
    'core': [],
    'math': ['core/macro.h'],
    'autograd': ['core'],
    'ops': ['core', 'math', 'autograd'],
    'capture': ['core', 'autograd', 'ops'],
    'backends/native/kernels': ['core/macro.h', 'math'],
    'backends/native': ['core', 'math', 'ops', 'backends/native/kernels'],
    'backends/cuda': ['core', 'math', 'ops'],
    'testing/gradient_check': ['core', 'autograd', 'ops'],
    'chainerx.h': ['core', 'autograd', 'ops', 'capture/saved_plan', 'testing/gradient_check'],
    'testing': ['chainerx.h', 'core', 'ops', 'testing/gradient_check'],
    'python': ['core', 'autograd', 'ops', 'capture', 'backends/native', 'testing/gradient_check'],
}
# The folders beside them, and what they may include besides their own files.
CPP_NEIGHBOURS = {
    'cuda_emulation': [
        'chainerx/core/bfloat16.h',
        'chainerx/core/compute_type.h',
        'chainerx/core/float16.h',
        'chainerx/ops/window.h',
        'chainerx/backends/cuda/cublaslt_api.h',
        'chainerx/backends/cuda/cudnn_api.h',
        'chainerx/backends/native/kernels/blas.h',
    ],
    'chainerx_onnx': ['chainerx/core', 'chainerx/ops', 'chainerx/chainerx.h'],
    'examples': ['chainerx/chainerx.h'],
}
# Others' code, which no file includes but the one named after it.
THIRD_PARTY = {'pocketfft_hdronly.h': 'backends/native/fft.cc'}
# Objects of sources that are compiled for processors newer than the rest of the library.
ISA_OBJECTS = sorted((ROOT / 'build' / 'chainerx').rglob('*_v[34].dir/**/*.o'))
# Tests may also include this.
CPP_TEST_TOOLS = 'testing/context_fixture.h'

# In quotes, or files of the project in angle brackets
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]((?<=")[^"]+|chainerx[^>]*/[^>]+)[">]', re.MULTILINE)


def _is_below(path, prefix):
    """Whether a path lies in a folder, or is a file of this name with any suffix."""
    return path == prefix or path.startswith(prefix + '/') or path.rpartition('.')[0] == prefix


def _cpp_layer(path):
    """Returns the row of a file, given relative to ``chainerx_cc/chainerx``, or ``None``."""
    return max((row for row in CPP_LAYERS if _is_below(path, row)), key=len, default=None)


def _is_allowed(path, included):
    """Whether the file at a path may include another."""
    if path.endswith('_test.cc') and included == CPP_TEST_TOOLS:
        return True
    layer = _cpp_layer(path)
    return _cpp_layer(included) == layer or any(
        # A row that allows a folder does not allow more specific rows inside of it.
        _is_below(included, allowed) and _cpp_layer(included) in (allowed, _cpp_layer(allowed))
        for allowed in CPP_LAYERS[layer]
    )


def _cpp_includes(folder=CPP_ROOT):
    """Yields (path, what it includes) for the includes of all C++ files in a folder."""
    for file in sorted(folder.rglob('*')):
        if file.suffix in ('.h', '.cc', '.cu', '.cuh', '.inc'):
            path = file.relative_to(folder).as_posix()
            for included in INCLUDE.findall(file.read_text()):
                yield path, included


def _neighbour_is_allowed(folder, path, included):
    if included.startswith(folder + '/') or (CPP_ROOT.parent / folder / included).exists():
        return True
    if path.endswith('_test.cc') and included in ('gtest/gtest.h', f'chainerx/{CPP_TEST_TOOLS}'):
        return True
    return any(_is_below(included, allowed) for allowed in CPP_NEIGHBOURS[folder])


def test_cpp_includes_name_the_folder():
    # Includes relative to a file would hide where they lead.
    unclear = [(path, name) for path, name in _cpp_includes() if not name.startswith('chainerx/')]
    assert {name for path, name in unclear if path.startswith('python/')} == {
        'chainerx_onnx/error.h',
        'chainerx_onnx/onnx.h',
    }
    assert [(path, name) for path, name in unclear if not path.startswith('python/')] == []


@pytest.mark.parametrize('folder', CPP_NEIGHBOURS)
def test_cpp_neighbours(folder):
    includes = list(_cpp_includes(CPP_ROOT.parent / folder))
    assert [row for row in includes if not _neighbour_is_allowed(folder, *row)] == []
    used = {included for _, included in includes}
    for allowed in CPP_NEIGHBOURS[folder]:
        assert any(_is_below(included, allowed) for included in used), f'{allowed} is not used'


def test_every_cpp_file_is_checked():
    sources = [*CPP_ROOT.parent.rglob('*.cc'), *CPP_ROOT.parent.rglob('*.h')]
    folders = {file.relative_to(CPP_ROOT.parent).parts[0] for file in sources}
    assert folders == {CPP_ROOT.name, 'third_party', *CPP_NEIGHBOURS}


def test_third_party_code_is_included_once():
    # Each file that includes it compiles it again.
    headers = {file.name for file in (CPP_ROOT.parent / 'third_party').rglob('*.h')}
    assert headers == set(THIRD_PARTY)
    sources = [file for file in CPP_ROOT.parent.rglob('*.[ch]*') if 'third_party' not in file.parts]
    for header, includer in THIRD_PARTY.items():
        found = [file for file in sources if header in file.read_text(errors='replace')]
        assert found == [CPP_ROOT / includer]


@pytest.mark.parametrize(
    ('folder', 'path', 'included'),
    [
        ('cuda_emulation', 'runtime.cc', 'chainerx/core/array.h'),
        ('cuda_emulation', 'runtime.cc', 'chainerx/backends/cuda/memory.h'),
        ('chainerx_onnx', 'plan.cc', 'chainerx/autograd/graph.h'),
        ('chainerx_onnx', 'plan.cc', 'chainerx/testing/context_fixture.h'),
        ('examples', 'mnist/main.cc', 'chainerx/core/array.h'),
    ],
)
def test_cpp_wrong_edges_of_neighbours_are_found(folder, path, included):
    assert not _neighbour_is_allowed(folder, path, included)


@pytest.mark.parametrize(
    'line', ['#include "chainerx/core/array.h"', ' # include <chainerx/core/array.h>']
)
def test_includes_are_found(line):
    assert INCLUDE.findall(f'#include <vector>\n{line}\n') == ['chainerx/core/array.h']


def test_cpp_files_have_a_layer():
    files = {path for path, _ in _cpp_includes()}
    assert len(files) > 150
    assert [path for path in files if _cpp_layer(path) is None] == []


def test_cpp_layers_use_those_below():
    wrong = [
        f'{path} must not include {included}'
        for path, included in _cpp_includes()
        if not included.startswith('chainerx_onnx/')
        and not _is_allowed(path, included.removeprefix('chainerx/'))
    ]
    assert wrong == [], '\n'.join(wrong)


def test_cpp_layers_have_an_order():
    rows = list(CPP_LAYERS)
    for i, (row, allowed) in enumerate(CPP_LAYERS.items()):
        for name in allowed:
            assert rows.index(_cpp_layer(name)) < i, f'{row} uses {name}, which is not below it'


@pytest.mark.parametrize(
    'path, included',
    [
        ('core/array.cc', 'autograd/graph.h'),
        ('core/context.cc', 'backends/native/native_backend.h'),
        ('autograd/backward.cc', 'ops/arithmetic.h'),
        ('ops/math.h', 'backends/native/kernels/math_loops.h'),
        ('backends/native/reduce.cc', 'autograd/graph.h'),
        ('backends/native/kernels/gemm.cc', 'core/array.h'),
        ('backends/native/gemm.cc', 'python/ndarray.h'),
        ('ops/linalg.cc', 'testing/context_fixture.h'),
        ('math/pow.h', 'core/array.h'),
    ],
)
def test_cpp_wrong_edges_are_found(path, included):
    assert not _is_allowed(path, included)


def test_cpp_layers_are_documented():
    page = (ROOT / 'docs' / 'architecture.rst').read_text()
    folders = [row for row in CPP_LAYERS if (CPP_ROOT / row).is_dir()]
    paths = [*(f'chainerx/{row}' for row in folders), *CPP_NEIGHBOURS]
    assert [path for path in paths if f'``chainerx_cc/{path}/``' not in page] == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which('nvcc') is None, reason='needs the CUDA compiler')
def test_op_functors_compile_for_gpus(tmp_path):
    # What backends share must be free of any one backend's compiler.
    command = ['nvcc', '-std=c++17', '-arch=sm_90', '-cubin', '-Werror', 'all-warnings']
    command += ['-I', str(CPP_ROOT.parent), '-o', str(tmp_path / 'functors.cubin')]
    source = CPP_ROOT / 'testing' / 'op_functors.cu'
    result = subprocess.run([*command, str(source)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.skipif(
    not ISA_OBJECTS or shutil.which('nm') is None,
    reason='needs the build folder of ChainerX and nm',
)
def test_code_for_new_processors_is_not_shared():
    # The linker keeps any one of several functions of one name, and old processors would run it.
    command = ['nm', '--demangle', '--defined-only', *map(str, ISA_OBJECTS)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = re.findall(r'^[0-9a-f]+ [WVu] (.*)$', output, re.MULTILINE)
    own = re.compile(r'chainerx::native::v[34]::')
    assert any(own.search(name) for name in names)
    shared = {name for name in names if not own.search(name)}
    assert shared <= {'DW.ref.__gxx_personality_v0'}
