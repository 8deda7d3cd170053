import os
import subprocess
import sys
import unittest
import warnings

import numpy
import pytest

import chainer
from chainer import testing
from chainer.backends import cuda
from chainer.testing import attr, doctest_helper


def is_run(decorator):
    """Tells whether a decorated test runs (or is skipped)."""
    try:
        return decorator(lambda: True)()
    except unittest.SkipTest:
        return False


@pytest.mark.parametrize(
    'requirements,satisfied',
    [
        ((), True),
        (('numpy',), True),
        (('numpy>=1.26', 'numpy<1000'), True),
        (('numpy>1000',), False),
        (('numpy', 'no-such-distribution-anywhere'), False),
        (('no-such-distribution-anywhere; python_version < "3"',), True),
    ],
)
def test_requires(requirements, satisfied):
    assert is_run(testing.with_requires(*requirements)) is satisfied
    assert is_run(testing.without_requires(*requirements)) is not satisfied


def test_requires_of_class():
    @testing.with_requires('numpy>1000')
    class Case(unittest.TestCase):
        def test(self):
            raise AssertionError

    result = unittest.TestResult()
    Case('test').run(result)
    ((_, reason),) = result.skipped
    assert reason == 'requires: numpy>1000'


@pytest.mark.parametrize(
    'decorator,skip',
    [
        (testing.with_requires('numpy>1000'), True),
        (testing.with_requires('numpy'), False),
        (testing.without_requires('numpy'), True),
        (attr.multi_gpu(1000), True),
    ],
)
def test_skip_of_plain_class_and_bundle(decorator, skip):
    def make():
        return type('Case', (), {'__module__': __name__})

    bundle = decorator(testing.parameterize({'a': 1}, {'a': 2})(make()))
    for case in bundle.cases:
        delattr(sys.modules[__name__], case.__name__)
    for case in (decorator(make()), *bundle.cases):
        # pytest reads the mark, unittest the attribute.
        (condition,) = [mark.args[0] for mark in case.pytestmark if mark.name == 'skipif']
        assert condition is skip
        assert getattr(case, '__unittest_skip__', False) is skip


def test_marks_of_bundle():
    bundle = attr.slow(testing.parameterize({'a': 1})(type('C', (), {'__module__': __name__})))
    (case,) = bundle.cases
    delattr(sys.modules[__name__], case.__name__)
    assert [mark.name for mark in case.pytestmark] == ['slow']
    assert isinstance(attr.slow(reason='x'), pytest.MarkDecorator)


def test_assert_warns():
    with testing.assert_warns(DeprecationWarning):
        warnings.warn('x', DeprecationWarning)
    with testing.assert_warns(Warning):
        warnings.warn('x', UserWarning)
    with testing.assert_warns((UserWarning, FutureWarning)):
        warnings.warn('a', FutureWarning)
        warnings.warn('b', DeprecationWarning)


def test_assert_warns_failure():
    with pytest.raises(AssertionError, match='DeprecationWarning'):
        with testing.assert_warns(DeprecationWarning):
            warnings.warn('x', UserWarning)


def test_assert_warns_lets_errors_through():
    with pytest.raises(ZeroDivisionError):
        with testing.assert_warns(UserWarning):
            raise ZeroDivisionError


class Patched:
    def method(self, x):
        return self, x


def test_patch():
    with testing.patch('numpy.linalg.norm', return_value=3) as mock:
        assert numpy.linalg.norm([1]) == 3
    mock.assert_called_once_with([1])
    assert numpy.linalg.norm([1]) == 1


def test_patch_wraps_method():
    target = Patched()
    original = Patched.method
    with testing.patch(
        f'{Patched.__module__}.Patched.method', autospec=True, wraps=original
    ) as mock:
        assert target.method(1) == (target, 1)
        with pytest.raises(TypeError):
            target.method()
    assert mock.call_count == 1


@testing.patch('numpy.linalg.norm')
def test_patch_decorator(mock):
    assert numpy.linalg.norm is mock


@pytest.mark.parametrize('name', ['slow', 'cudnn', 'ideep', 'chainerx'])
def test_marks(name):
    def f():
        pass

    marked = getattr(attr, name)(f)
    assert marked is f
    assert [m.name for m in f.pytestmark] == [name]


def test_gpu_mark():
    @attr.gpu
    def f():
        return True

    assert 'gpu' in {m.name for m in f.pytestmark}
    assert is_run(lambda _: f) is cuda.available


def test_gpu_limit(monkeypatch):
    monkeypatch.setenv('CHAINER_TEST_GPU_LIMIT', '1')
    decorator = attr.multi_gpu(2)
    assert is_run(decorator) is False

    @decorator
    def f():
        pass

    marks = {m.name: m for m in f.pytestmark}
    assert marks['multi_gpu'].args == (2,)
    assert 'gpu' in marks


def test_attr_available():
    assert attr.is_available()
    assert attr.get_error() is None
    attr.check_available()


def test_doctest_helper():
    doctest_helper.skipif(False)
    with pytest.raises(pytest.skip.Exception):
        doctest_helper.skipif(True)
    with pytest.raises(pytest.skip.Exception):
        doctest_helper.skipif_requires_satisfied('numpy')
    doctest_helper.skipif_requires_satisfied('numpy>1000')
    doctest_helper.skipif_not_enough_cuda_devices(0)
    with pytest.raises(pytest.skip.Exception):
        doctest_helper.skipif_not_enough_cuda_devices(1000)


def run_python(*args, **kwargs):
    """Runs Python on the same packages as this process."""
    root = os.path.dirname(os.path.dirname(chainer.__file__))
    path = os.pathsep.join([root, *filter(None, [os.environ.get('PYTHONPATH')])])
    return subprocess.run(
        [sys.executable, *args],
        env={**os.environ, 'PYTHONPATH': path},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        **kwargs,
    )


def test_run_module_of_imported_file():
    assert testing.run_module('test_x', 'no-such-file') is None


@pytest.mark.slow
@pytest.mark.parametrize('body,code', [('pass', 0), ('raise ValueError', 1)])
def test_run_module(tmp_path, body, code):
    path = tmp_path / 'test_script.py'
    path.write_text(
        'from chainer import testing\n'
        f'def test_a():\n    {body}\n'
        'testing.run_module(__name__, __file__)\n'
    )
    done = run_python(str(path), cwd=tmp_path)
    assert done.returncode == code
    assert 'test_a' in done.stdout


def test_import_is_lazy():
    code = (
        'import sys, chainer; '
        'assert "pytest" not in sys.modules; assert "chainer.testing" not in sys.modules; '
        'import chainer.testing; chainer.testing.parameterize'
    )
    done = run_python('-c', code)
    assert done.returncode == 0, done.stderr
