"""Tools for testing code that uses Chainer, with pytest or :mod:`unittest`."""

from __future__ import annotations

from chainer.testing import (
    array,
    attr,
    backend,
    distribution_test,
    function_link,
    helper,
    matrix,
    parameterized,
    random,
    serializer,
    training,
    unary_math_function_test,
)
from chainer.testing.array import assert_allclose
from chainer.testing.backend import BackendConfig, inject_backend_tests
from chainer.testing.distribution_test import distribution_unittest
from chainer.testing.function_link import (
    FunctionTestCase,
    FunctionTestError,
    InitializerArgument,
    LinkInitializersTestCase,
    LinkTestCase,
    LinkTestError,
)
from chainer.testing.helper import assert_warns, patch, with_requires, without_requires
from chainer.testing.matrix import generate_matrix
from chainer.testing.parameterized import (
    from_pytest_parameterize,
    parameterize,
    parameterize_pytest,
    product,
    product_dict,
)
from chainer.testing.random import fix_random, generate_seed
from chainer.testing.serializer import save_and_load, save_and_load_hdf5, save_and_load_npz
from chainer.testing.training import get_trainer_with_mock_updater
from chainer.testing.unary_math_function_test import unary_math_function_unittest

__all__ = [
    'BackendConfig',
    'FunctionTestCase',
    'FunctionTestError',
    'InitializerArgument',
    'LinkInitializersTestCase',
    'LinkTestCase',
    'LinkTestError',
    'array',
    'assert_allclose',
    'assert_warns',
    'attr',
    'backend',
    'distribution_test',
    'distribution_unittest',
    'fix_random',
    'from_pytest_parameterize',
    'function_link',
    'generate_matrix',
    'generate_seed',
    'get_trainer_with_mock_updater',
    'helper',
    'inject_backend_tests',
    'matrix',
    'parameterize',
    'parameterize_pytest',
    'parameterized',
    'patch',
    'product',
    'product_dict',
    'random',
    'run_module',
    'save_and_load',
    'save_and_load_hdf5',
    'save_and_load_npz',
    'serializer',
    'training',
    'unary_math_function_test',
    'unary_math_function_unittest',
    'with_requires',
    'without_requires',
]


def run_module(name: str, file: str) -> None:
    """Runs the tests of a file that is executed as a script.

    Put ``testing.run_module(__name__, __file__)`` at the end of a test file; ``python FILE`` then
    runs pytest on it, stops at the first failure and, on a terminal, opens the debugger there.

    Args:
        name (str): ``__name__`` of the caller. Does nothing unless it is ``'__main__'``.
        file (str): ``__file__`` of the caller.

    Raises:
        SystemExit: With pytest's exit code, if a test failed.

    .. admonition:: Example

        >>> from chainer import testing
        >>> testing.run_module('my_package.test_func', 'test_func.py')  # imported: nothing happens

    """
    if name != '__main__':
        return
    import sys

    import pytest

    options = ['--pdb'] if sys.stdin is not None and sys.stdin.isatty() else []
    code = pytest.main([file, '-vvs', '-x'] + options)
    if code:
        sys.exit(int(code))
