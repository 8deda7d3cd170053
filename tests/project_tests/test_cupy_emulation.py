"""The stand-in for CuPy has the names and parameters of CuPy, and all that Chainer uses."""

import ast
import importlib.metadata
import json
import os
import pathlib
import re
import runpy
import subprocess
import sys
import venv

import pytest

_ROOT = pathlib.Path(__file__).parents[2]
_STAND_IN = _ROOT / 'tests' / 'helpers' / 'cupy_emulation'
_tool = runpy.run_path(str(_ROOT / 'tools' / 'record_cupy_api.py'))
RECORDED = _tool['read']()
_signature = runpy.run_path(str(_STAND_IN / 'cupy' / '_api.py'))['signature']


def _describe(version):
    """What the stand-in defines itself, in the terms of the record."""
    done = subprocess.run(
        [sys.executable, _ROOT / 'tools' / 'record_cupy_api.py', '--print', '--defined'],
        capture_output=True,
        text=True,
        env={**os.environ, 'PYTHONPATH': str(_STAND_IN), 'CUPY_EMULATION_VERSION': version},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _parameters(kind):
    return kind.partition(': ')[2]


@pytest.mark.parametrize('version', sorted(RECORDED))
def test_defines_only_what_cupy_has(version):
    defined = _describe(version)
    assert len(defined) > 150
    recorded = RECORDED[version]
    unknown = sorted(defined.keys() - recorded.keys())
    assert not unknown
    # A method of the newer version may have an option more than that of the older one.
    others = [RECORDED[v] for v in RECORDED]
    different = {
        name: (kind, recorded[name])
        for name, kind in defined.items()
        # Programs do not make ufuncs, nor call this method by its name.
        if name not in ('cupy.ufunc', 'cupy.ndarray.__matmul__')
        and not any(vague in text for vague in ('?', '*args') for text in (kind, recorded[name]))
        and kind.partition(':')[0] in ('function', 'class', 'module')
        and not any(_parameters(kind) == _parameters(r.get(name, '')) for r in others)
    }
    assert not different


def _cupy_name(node):
    """``'cupy.a.b'`` for an expression such as ``xp.a.b`` or ``cuda.cupy.a.b``, else ``None``."""
    chain = []
    while isinstance(node, ast.Attribute):
        chain.insert(0, node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        chain.insert(0, node.id)
        for module in 'xp', 'cupy', 'cupyx':
            if module in chain[:-1] and not chain[-1].startswith('__'):
                names = chain[chain.index(module) + 1 :]
                return '.'.join(['cupyx' if module == 'cupyx' else 'cupy', *names])
    return None


def _uses():
    """Expressions with names of CuPy in the sources that run on it: (name, place, node)."""
    paths = [_ROOT / 'tests/conftest.py']
    for folder in 'chainer', 'chainermn', 'onnx_chainer', 'examples', 'benchmarks':
        paths += (_ROOT / folder).rglob('*.py')
    for path in sorted(paths):
        for node in ast.walk(ast.parse(path.read_text())):
            name = _cupy_name(node.func if isinstance(node, ast.Call) else node)
            if name is not None:
                yield name, f'{path.relative_to(_ROOT)}:{node.lineno}', node


USES = list(_uses())


def _is_recorded(name, recorded):
    """Whether ``import cupy`` brings a name, the start of one, or an object with the rest."""
    parts = name.split('.')
    if any(recorded.get('.'.join(parts[:n])) == 'module: import' for n in range(len(parts) + 1)):
        return False
    return (
        name in recorded
        or any(other.startswith(f'{name}.') for other in recorded)
        or (len(parts) > 2 and recorded.get('.'.join(parts[:-1]), '').startswith('ufunc'))
    )


@pytest.mark.parametrize('version', sorted(RECORDED))
def test_cupy_has_what_chainer_uses(version):
    used = {name: place for name, place, _ in USES}
    assert len(used) > 100
    missing = {n: place for n, place in used.items() if not _is_recorded(n, RECORDED[version])}
    assert not missing


@pytest.mark.parametrize('version', sorted(RECORDED))
def test_cupy_takes_the_arguments_that_chainer_gives(version):
    refused, checked = {}, 0
    for name, place, node in USES:
        kind = RECORDED[version].get(name, '')
        signature = _signature(kind) if kind.startswith(('function', 'class')) else None
        if not isinstance(node, ast.Call) or signature is None:
            continue
        keywords = {keyword.arg for keyword in node.keywords}
        if None in keywords or any(isinstance(x, ast.Starred) for x in node.args):
            continue
        checked += 1
        try:
            signature.bind(*node.args, **dict.fromkeys(keywords))
        except TypeError as error:
            refused[place] = f'{name}: {error}'
    assert checked > 100
    assert not refused


def _installed():
    for distribution in importlib.metadata.distributions():
        name = (distribution.metadata['Name'] or '').lower()
        if name == 'cupy' or name.startswith('cupy-cuda'):
            return distribution.version
    return None


def _agree(kind, other):
    """Whether two kinds are the same; versions of Python do not know the same parameters."""
    if kind.endswith('?') or other.endswith('?'):
        kind, other = kind.partition(': ')[0], other.partition(': ')[0]
    return kind == other


def _check_record(major, python):
    """The CuPy of an interpreter has what is recorded of the names that matter."""
    environment = {**os.environ, 'PYTHONPATH': ''}
    done = subprocess.run(
        [python, _ROOT / 'tools' / 'record_cupy_api.py', '--print'],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    recorded = RECORDED[major]
    different = {
        name: (recorded[name], found.get(name))
        for name in [*_describe(major), *(name for name, *_ in USES)]
        if name in recorded and not _agree(recorded[name], found.get(name, ''))
    }
    assert not different


@pytest.mark.skipif(not _installed(), reason='CuPy is not installed')
def test_record_is_of_the_installed_cupy():
    _check_record(_installed().split('.')[0], sys.executable)


@pytest.fixture(scope='module', params=['13', '14'])
def released(request, tmp_path_factory):
    """A major version of CuPy, and the interpreter of an environment that has it."""
    if not os.environ.get('CHAINER_TEST_INSTALL_CUPY'):
        pytest.skip('CHAINER_TEST_INSTALL_CUPY=1 installs CuPy (300 MB) to compare')
    packages = {
        '13': ['cupy-cuda12x<14', *'nccl-cu12 cuda-nvrtc-cu12 cuda-runtime-cu12'.split()],
        '14': ['cupy-cuda13x<15', *'nccl-cu13 cuda-nvrtc<14 cuda-runtime<14'.split()],
    }[request.param]
    packages = [name if 'cupy' in name else f'nvidia-{name}' for name in packages]
    folder = tmp_path_factory.mktemp('cupy')
    venv.create(folder, with_pip=True)
    python = folder / 'bin' / 'python'
    subprocess.run([python, '-m', 'pip', 'install', '-q', *packages, 'scipy'], check=True)
    return request.param, python


@pytest.mark.timeout(900)
def test_record_is_of_released_cupy(released):
    _check_record(*released)


_METHODS_OF_UFUNCS = """
import sys

import cupy

for name in sys.argv[1:]:
    for method in 'accumulate', 'at', 'reduce', 'reduceat':
        arguments = [object(), [0], 1][: {'at': 3, 'reduceat': 2}.get(method, 1)]
        try:
            getattr(getattr(cupy, name), method)(*arguments)
        except NotImplementedError:
            continue
        except Exception:
            pass
        print(f'{name}.{method}')
"""


def _methods_of_ufuncs(python, **variables):
    """The methods of CuPy's functions that do anything."""
    names = 'add subtract multiply divide power maximum minimum fmax hypot'.split()
    names += [f'{kind}_{name}' for kind in ('bitwise', 'logical') for name in ('and', 'or', 'xor')]
    command = [python, '-c', _METHODS_OF_UFUNCS, *names]
    environment = {**os.environ, 'PYTHONPATH': '', **variables}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return set(done.stdout.split())


def test_methods_of_ufuncs():
    methods = _methods_of_ufuncs(sys.executable, PYTHONPATH=str(_STAND_IN))
    assert {'add.at', 'add.reduce', 'maximum.at'} <= methods
    assert not {'maximum.reduce', 'maximum.accumulate', 'multiply.at'} & methods


@pytest.mark.timeout(900)
def test_methods_of_ufuncs_are_those_of_released_cupy(released):
    version, python = released
    variables = {'PYTHONPATH': str(_STAND_IN), 'CUPY_EMULATION_VERSION': version}
    assert _methods_of_ufuncs(sys.executable, **variables) == _methods_of_ufuncs(python)


def _files_with_kernels():
    kernels = re.compile(r'cuda\.(elementwise|reduce|raw)\(|(Raw|Elementwise|Reduction)Kernel\(')
    for path in sorted((_ROOT / 'tests').glob('*_tests/**/test_*.py')):
        if kernels.search(path.read_text()) and path != pathlib.Path(__file__):
            yield path


@pytest.mark.timeout(900)
def test_kernels_compile(released, tmp_path):
    """NVRTC compiles what CuPy makes of the kernels that the tests run."""
    kernels = tmp_path / 'kernels'
    environment = {
        **os.environ,
        'CHAINER_TEST_CUPY': 'emulated',
        'CUPY_EMULATION_KERNELS': str(kernels),
        'CUPY_EMULATION_VERSION': released[0],
    }
    pytest_command = [sys.executable, '-m', 'pytest', '-q', '-p', 'no:xdist', '-m', 'gpu']
    subprocess.run([*pytest_command, *_files_with_kernels()], check=True, env=environment)
    names = {json.loads(line)['kind'] for line in kernels.read_text().splitlines()}
    assert names == {'ElementwiseKernel', 'RawKernel', 'ReductionKernel'}
    done = subprocess.run(
        [released[1], _ROOT / 'tools' / 'compile_cupy_kernels.py', kernels],
        capture_output=True,
        text=True,
        env={**os.environ, 'PYTHONPATH': ''},
    )
    assert done.returncode == 0, done.stderr
