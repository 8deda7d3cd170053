"""Importing the package with and without its compiled core."""

import json
import math
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import chainerx

PACKAGE = Path(chainerx.__file__).parent
COMPILED = Path(chainerx._core.__file__).parent
BACKEND = 'chainerx/core/backend.h'

# An editable install finds the compiled core wherever the package itself lies.
PROLOGUE = """
import sys
sys.meta_path = [finder for finder in sys.meta_path if 'ditable' not in repr(finder)]
"""


def run(folder, code, *path):
    """Runs a program in a folder, as if nothing were installed but the packages in a path."""
    return subprocess.run(
        [sys.executable, '-W', 'error', '-c', PROLOGUE + textwrap.dedent(code)],
        cwd=folder,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def without_core(tmp_path):
    """A folder with the Python part of the package only."""
    for path in PACKAGE.rglob('*.py'):
        target = tmp_path / 'chainerx' / path.relative_to(PACKAGE)
        target.parent.mkdir(exist_ok=True)
        target.write_text(path.read_text())
    return tmp_path


def test_without_core(without_core):
    result = run(
        without_core,
        """
        import chainerx
        assert not chainerx.is_available()
        assert not isinstance(3, chainerx.ndarray)
        assert not hasattr(chainerx, 'array')
        for use in (lambda: chainerx.ndarray(), lambda: chainerx.array([1]), lambda: chainerx.zeros):
            try:
                use()
            except RuntimeError as error:
                assert 'CHAINER_BUILD_CHAINERX=1 pip install' in str(error), error
            else:
                raise AssertionError

        for name in 'onnx', 'random', 'linalg', 'fft', 'array_api':
            try:
                __import__('chainerx.' + name)
            except ImportError as error:
                assert 'CHAINER_BUILD_CHAINERX=1 pip install' in str(error), error
            else:
                raise AssertionError

        from chainerx import testing
        testing.assert_array_equal([1, 2], [1, 2])
        """,
    )
    assert result.returncode == 0, result.stderr


def test_broken_core(without_core):
    core = Path(chainerx._core.__file__).name
    (without_core / 'chainerx' / core).write_bytes(b'not a library')
    result = run(
        without_core,
        """
        import warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            import chainerx
        assert not chainerx.is_available()
        assert 'cannot be loaded' in str(caught[0].message), caught
        try:
            chainerx.array
        except RuntimeError as error:
            assert 'cannot be loaded' in str(error)
        """,
    )
    assert result.returncode == 0, result.stderr


def test_core_that_fails_while_it_starts(without_core):
    """Python would run its initialization once more at the next import, and crash."""
    for library in COMPILED.glob('*.so*'):
        if 'openblas' not in library.name:
            shutil.copy(library, without_core / 'chainerx')
    result = run(
        without_core,
        """
        import warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            import chainerx
        assert not chainerx.is_available()
        assert 'OpenBLAS cannot be loaded' in str(caught[0].message), caught
        try:
            import chainerx.onnx
        except ImportError as error:
            assert 'OpenBLAS cannot be loaded' in str(error)
        else:
            raise AssertionError
        """,
    )
    assert result.returncode == 0, result.stderr


@pytest.fixture
def clone(tmp_path, without_core):
    """Sources without the core, and an environment that has what was built from them."""
    sources, site = tmp_path, tmp_path / 'site-packages'
    for folder in sources / 'chainerx_cc', site / 'chainerx' / 'include':
        (folder / BACKEND).parent.mkdir(parents=True)
        shutil.copy(PACKAGE.parent / 'chainerx_cc' / BACKEND, folder / BACKEND)
    for folder in sources, site:
        (folder / 'chainer').mkdir()
        shutil.copy(PACKAGE.parent / 'chainer' / '_version.py', folder / 'chainer')
        shutil.copy(PACKAGE / '_core.pyi', folder / 'chainerx')
    for library in COMPILED.glob('*.so*'):
        (site / 'chainerx' / library.name).symlink_to(library)
    (site / 'chainerx' / 'cmake').mkdir()
    return sources, site


USE_INSTALLED = """
import json, os, pickle, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter('always')
    import chainerx
found = {'here': chainerx.__file__, 'warnings': [str(w.message) for w in caught]}
if chainerx.is_available():
    import chainerx._core
    x = pickle.loads(pickle.dumps(chainerx.ones(3, device='native:0')))
    found |= {
        'sum': float(x.sum()), 'core': chainerx._core.__file__, 'cmake': chainerx.get_cmake_dir(),
        'product': float(chainerx.dot(x, x)),
    }
else:
    try:
        chainerx.ones(3)
    except RuntimeError as error:
        found['error'] = str(error)
print(json.dumps(found))
"""


def run_sources(sources, *path):
    result = run(sources, USE_INSTALLED, *path)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found['here'] == str(sources / 'chainerx' / '__init__.py')
    return found


def test_sources_use_the_installed_core(clone):
    """``python`` in a copy of the repository after an install there that is not editable."""
    sources, site = clone
    found = run_sources(sources, sources / 'nowhere', site)
    assert found['warnings'] == []
    assert (found['sum'], found['product']) == (3, 3)
    assert Path(found['core']).parent == site / 'chainerx'
    assert found['cmake'] == str(site / 'chainerx' / 'cmake')


@pytest.mark.parametrize(
    'name', ['chainer/_version.py', 'chainerx/_core.pyi', f'chainerx/include/{BACKEND}']
)
@pytest.mark.parametrize('change', [lambda p: p.write_text('# other\n'), Path.unlink])
def test_sources_refuse_an_installed_core_of_others(clone, name, change):
    sources, site = clone
    change(site / name)
    found = run_sources(sources, site)
    (warning,) = found['warnings']
    for text in warning, found['error']:
        assert f'the core in {site / "chainerx"} was built from others' in text
    assert 'CHAINER_BUILD_CHAINERX=1 pip install' in found['error']


EDITABLE = """
import importlib.machinery, sys
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == 'chainerx._core':
            return importlib.machinery.PathFinder.find_spec(name, [sys.argv[1]])
sys.meta_path.append(Finder)
"""


@pytest.mark.parametrize('same', [True, False])
def test_core_of_an_editable_install_of_other_sources(clone, same):
    """Its finder answers for each package of the name."""
    sources, site = clone
    shutil.rmtree(site / 'chainerx' / 'include')
    shutil.copytree(sources / 'chainerx_cc', site / 'chainerx_cc')
    if not same:
        (site / 'chainerx_cc' / BACKEND).write_text('constexpr int kAbiVersion = 99;')
    code = EDITABLE.replace('sys.argv[1]', repr(str(site / 'chainerx'))) + USE_INSTALLED
    result = run(sources, code)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    if same:
        assert found['warnings'] == [] and found['sum'] == 3
    else:
        assert 'was built from others' in found['error'] + found['warnings'][0]


def test_only_sources_use_an_installed_core(clone):
    sources, site = clone
    shutil.rmtree(sources / 'chainerx_cc')
    found = run_sources(sources, site)
    assert found['warnings'] == [] and 'the compiled core is not there' in found['error']


def test_sources_hear_of_a_broken_installed_core(clone):
    sources, site = clone
    core = site / 'chainerx' / Path(chainerx._core.__file__).name
    core.unlink()
    core.write_bytes(b'not a library')
    found = run_sources(sources, site)
    assert ['cannot be loaded' in text for text in found['warnings']] == [True]


def test_import_is_light():
    result = run(
        PACKAGE.parent,
        """
        import sys
        import chainerx
        heavy = {'chainer', 'pytest', 'scipy', 'torch', 'cupy'} & set(sys.modules)
        assert not heavy, heavy
        """,
    )
    assert result.returncode == 0, result.stderr


def test_constants():
    for name in 'inf', 'Inf', 'Infinity', 'PINF', 'infty':
        assert getattr(chainerx, name) == math.inf
    assert chainerx.NINF == -math.inf
    for name in 'nan', 'NaN', 'NAN':
        assert math.isnan(getattr(chainerx, name))
    assert math.copysign(1, chainerx.PZERO) == 1 and math.copysign(1, chainerx.NZERO) == -1
    assert (chainerx.e, chainerx.pi, chainerx.newaxis) == (math.e, math.pi, None)
    assert chainerx.euler_gamma == np.euler_gamma
    assert chainerx.float32 is np.float32 and chainerx.dtype is np.dtype


def test_aliases():
    assert chainerx.abs is chainerx.absolute
    assert chainerx.max is chainerx.amax and chainerx.min is chainerx.amin
    assert chainerx.mod is chainerx.remainder and chainerx.true_divide is chainerx.divide


def test_other_spellings_of_arguments():
    x, w = chainerx.ones((2, 3)), chainerx.ones((4, 3))
    y = chainerx.linear(x, w)
    for kwargs in {'W': w}, {'w': w}, {'w': w, 'n_batch_axis': 1}, {'W': w, 'n_batch_axes': 1}:
        chainerx.testing.assert_array_equal(chainerx.linear(x, **kwargs), y)
    assert (
        bool(chainerx.all(a=x)) and bool(chainerx.all(x=x)) and bool(chainerx.any(a=x, axis=None))
    )
    with pytest.raises(TypeError, match='multiple values'):
        chainerx.all(x, a=x)
    assert chainerx.flip(m=x, axes=0).shape == chainerx.flip(x, axis=0).shape == (2, 3)
    assert x.transpose(axes=(1, 0)).shape == x.reshape(newshape=(3, 2)).shape == (3, 2)
    for call in (
        lambda: x.transpose(axis=(1, 0)),
        lambda: x.transpose(1, axes=0),
        lambda: x.reshape(newshape=6, order='C'),
    ):
        with pytest.raises(TypeError, match='unexpected keyword argument'):
            call()


def test_exceptions():
    for name in (
        'ContextError',
        'BackendError',
        'DeviceError',
        'DimensionError',
        'DtypeError',
        'GradientError',
        'GradientCheckError',
        'NotImplementedError',
    ):
        assert issubclass(getattr(chainerx, name), chainerx.ChainerxError)
    assert issubclass(chainerx.NotImplementedError, NotImplementedError)


def test_fix():
    x = chainerx.array([-1.5, 1.5])
    chainerx.testing.assert_array_equal(chainerx.fix(x), [-1, 1])
