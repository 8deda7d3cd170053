"""Programs written for names that NumPy and Python have removed run as they are."""

import importlib.util
import subprocess
import sys

import pytest

from chainer.legacy import _distutils
from tests.helpers.programs import run_python

PROGRAM = """
import collections, fractions, imp, inspect, sys, threading, time, unittest
import xml.etree.cElementTree as ET
from collections import Iterable, Mapping
from distutils.spawn import find_executable
from distutils.util import strtobool
from distutils.version import LooseVersion, StrictVersion
import numpy as np

assert (np.float, np.int, np.object, np.str, np.complex) == (float, int, object, str, complex)
assert np.zeros(2, np.bool).dtype == bool and np.float_ is np.float64
assert np.unicode_ is np.str_ and np.string_ is np.bytes_ and np.int0 is np.intp
assert np.bool8 is np.bool_ and np.complex_ is np.complex128 and np.longfloat is np.longdouble
assert np.NaN != np.NaN and np.Inf == np.PINF == -np.NINF == np.infty == float('inf')
assert np.asscalar(np.array([[3]])) == 3
assert np.product([2, 3]) == 6 and np.alltrue([1, 1]) and not np.sometrue([0])
assert np.cumproduct([1, 2, 3]).tolist() == [1, 2, 6]
assert np.in1d([[1, 2], [3, 4]], [2, 3], invert=True).tolist() == [True, False, False, True]
assert np.row_stack([[1], [2]]).tolist() == np.msort([[2], [1]]).tolist() == [[1], [2]]
assert np.trapz([1, 2, 3]) == 4 and np.round_(1.26, 1) == 1.3 and np.math.sqrt(4) == 2
assert np.asfarray([1], 'f').dtype == 'f' and np.asfarray([1], 'i').dtype == 'd'
assert np.find_common_type(['f'], ['d']) == 'f' and np.find_common_type(['i'], ['f']) == 'd'
assert np.find_common_type([], ['i', 'f']) == 'd' and np.find_common_type(['i', 'q'], []) == 'q'
assert np.cast['i'](2.7) == 2 and np.obj2sctype('f4') is np.float32
assert np.alen([[1], [2]]) == 2 and np.issubsctype('f', np.floating) and np.issubclass_(int, int)
assert not np.issubclass_(1, int) and np.fastCopyAndTranspose([[1, 2]]).shape == (2, 1)
assert issubclass(np.VisibleDeprecationWarning, UserWarning) and np.mat([1]).shape == (1, 1)
ragged = np.array([[1, 2], [3]])
assert ragged.dtype == object and ragged.tolist() == [[1, 2], [3]]
assert np.asarray([np.zeros(2), np.zeros(3)]).shape == (2,)
try:
    np.array([[1, 2], [3]], 'f')
except ValueError:
    pass
else:
    raise AssertionError

assert isinstance([], Iterable) and isinstance({}, collections.Mapping)
assert fractions.gcd(4, 6) == 2 and time.clock() <= time.clock()
assert not threading.Thread().isAlive() and ET.fromstring('<a/>').tag == 'a'
assert inspect.getargspec(lambda a, b=1, *c, **d: 0) == (['a', 'b'], 'c', 'd', (1,))
unittest.TestCase().assertEquals(1, 1)
assert LooseVersion('1.10') > LooseVersion('1.9') and strtobool('yes') == 1

import chainer
import chainer.links as L
try:
    chainer.dataset.concat_examples([np.zeros(2), np.zeros(3)])
except ValueError:
    pass
else:
    raise AssertionError
print(sys.argv, __name__, L.Linear(2, 3)(np.ones((1, 2), np.float32)).shape)
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / 'program.py'
    path.write_text(PROGRAM)
    (tmp_path / 'beside.py').write_text('value = 3\n')
    return path


def launch(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, '-m', 'chainer.legacy', *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=100,
    )


def test_script(script):
    result = launch(script, '--gpu', '-1')
    assert result.returncode == 0, result.stderr
    assert result.stdout.split("', ", 1)[1] == "'--gpu', '-1'] __main__ (1, 3)\n"


def test_script_as_it_is_needs_the_names(script):
    result = run_python(PROGRAM, status=1)
    assert 'ImportError' in result.stderr or 'ModuleNotFoundError' in result.stderr


def test_module_and_modules_beside_it(script):
    script.with_name('other.py').write_text('import beside\nprint(__name__, beside.value)')
    for arguments in (['-m', 'other'], ['other.py']):
        result = launch(*arguments, cwd=script.parent)
        assert result.stdout == '__main__ 3\n', result.stderr


def test_processes_that_a_program_starts(script):
    child = 'import chainer, numpy; print(numpy.float)'
    script.write_text(
        f'import subprocess, sys\nsubprocess.run([sys.executable, "-c", {child!r}], check=True)'
    )
    assert launch(script).stdout == "<class 'float'>\n"


def test_import_answers_for_numpy():
    run_python(
        """
        import warnings
        import numpy as np, collections
        import chainer
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter('always')
            assert np.zeros(2, np.int).dtype == int and np.asscalar(np.ones(1)) == 1
        assert [w.category for w in found] == [DeprecationWarning] * 2
        assert 'NumPy has removed `np.int`' in str(found[0].message)
        assert found[0].filename == '<string>' and found[0].lineno == 7, found[0]
        assert 'int' not in vars(np) and not hasattr(np, 'no_such_name')
        assert not hasattr(collections, 'Iterable') and np.linalg.norm([3, 4]) == 5
        try:
            np.array([[1], [2, 3]])
        except ValueError:
            pass
        else:
            raise AssertionError
        """
    )


def test_nothing_if_so_wanted():
    run_python(
        """
        import warnings
        import chainer, numpy
        warnings.simplefilter('ignore')  # NumPy's own for some names
        assert not hasattr(numpy, 'float') and not hasattr(numpy, 'int')
        """,
        CHAINER_LEGACY='0',
    )


def test_names_that_are_there_stay():
    run_python(
        """
        import collections, numpy
        before = {**vars(numpy)}
        import chainer.legacy
        chainer.legacy.install()
        chainer.legacy.install()
        wrapped = {'array', 'asarray', 'asanyarray', '__getattr__'}
        assert all(getattr(numpy, name) is value for name, value in before.items() if name not in wrapped)
        assert numpy.array.__wrapped__ is before['array'] and numpy.array.__name__ == 'array'
        """
    )


def test_errors_of_programs(script):
    script.write_text('raise SystemExit(7)')
    assert launch(script).returncode == 7
    script.write_text('import chainer\nunknown')
    result = launch(script)
    assert result.returncode == 1 and 'NameError' in result.stderr


@pytest.mark.parametrize('arguments', [[], ['-m'], ['--help']])
def test_usage(arguments):
    result = launch(*arguments)
    assert result.returncode == 1
    assert result.stderr.startswith('usage: python -m chainer.legacy')


def test_distutils_of_its_own(monkeypatch):
    for name in [name for name in sys.modules if name.split('.')[0] == 'distutils']:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
    _distutils.install()
    modules = {name for name in sys.modules if name.split('.')[0] == 'distutils'}
    try:
        from distutils import spawn, util, version
    finally:
        for name in modules:
            del sys.modules[name]
    assert spawn.find_executable('no such program') is None
    assert util.strtobool('Yes') == 1 and util.strtobool('off') == 0
    with pytest.raises(ValueError, match="but 'maybe' was given"):
        util.strtobool('maybe')
    new = version.LooseVersion
    assert new('1.10') > new('1.9') and new('1.2rc1') >= '1.2' and new('1.2') < '1.2.1'
    assert new('1.2') == '1.2' and new('1.2') != new('1.3') and new('1.2') <= new('1.2')
    assert str(new('2.0')) == '2.0' and new('1.2rc1').version == [1, 2, 'rc', 1]
    assert version.StrictVersion('1.10') >= version.StrictVersion('1.9')


MOVED_NAMES = {
    'functions.activation.lstm': 'LSTM lstm',
    'functions.activation.slstm': 'SLSTM slstm',
    'functions.activation.tree_lstm': 'TreeLSTM tree_lstm',
    'functions.connection.n_step_gru': 'n_step_gru n_step_bigru',
    'functions.connection.n_step_lstm': 'n_step_lstm n_step_bilstm',
    'functions.connection.n_step_rnn': 'n_step_rnn n_step_birnn',
    'links.connection.gru': 'GRU StatefulGRU StatelessGRU',
    'links.connection.lstm': 'LSTM StatelessLSTM',
    'links.connection.mgu': 'StatefulMGU StatelessMGU',
    'links.connection.n_step_gru': 'NStepBiGRU NStepGRU',
    'links.connection.n_step_lstm': 'NStepBiLSTM NStepLSTM',
    'links.connection.n_step_rnn': 'NStepBiRNNReLU NStepRNNTanh',
    'links.connection.peephole': 'StatefulPeepholeLSTM',
    'links.connection.tree_lstm': 'ChildSumTreeLSTM NaryTreeLSTM',
    'links.connection.zoneoutlstm': 'StatefulZoneoutLSTM',
    'functions.pooling.max_pooling_2d': 'MaxPooling2D max_pooling_2d',
}


def test_modules_that_chainer_moved(tmp_path):
    lines = [
        f'from chainer.{module} import {name}'
        for module, names in MOVED_NAMES.items()
        for name in names.split()
    ]
    program = tmp_path / 'program.py'
    program.write_text(
        '\n'.join(lines)
        + """
import numpy as np
import chainer
from chainer.links.connection import n_step_lstm as links
from chainer.utils import type_check
assert type_check.argname is type_check.expect_arguments
assert NStepLSTM is links.NStepLSTM is chainer.links.NStepLSTM
x = chainer.Variable(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
pool = MaxPooling2D(2, 2)
y, = pool.apply((x,))
chainer.functions.sum(y).backward()
assert y.array.tolist() == [[[[5, 7], [13, 15]]]] and pool.indexes.tolist() == [[[[3, 3], [3, 3]]]]
assert x.grad.sum() == 4 and x.grad[0, 0, 1, 1] == 1 and (pool.kh, pool.sx, pool.ph) == (2, 2, 0)
print(y.creator.label, type(pool).__module__)
"""
    )
    result = launch(program)
    assert result.returncode == 0, result.stderr
    assert result.stdout == 'MaxPooling2D chainer.functions.pooling.max_pooling_2d\n'
    assert 'ModuleNotFoundError' in run_python(lines[0], status=1).stderr
