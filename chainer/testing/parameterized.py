from __future__ import annotations

import functools
import inspect
import itertools
import re
import types
import unittest
from typing import TYPE_CHECKING, Any

import numpy

from chainer.testing import _bundle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_PARAM_MAXLEN = 100
_PARAMS_MAXLEN = 5000


def _shorten(text, maxlen):
    return text if len(text) <= maxlen else text[: maxlen - 3] + '...'


# Names of tests are those of NumPy 1: 0.5, not np.float32(0.5).
_print_options: dict[str, Any] = {} if numpy.__version__.startswith('1.') else {'legacy': '1.25'}


def _param_to_str(value):
    if isinstance(value, (type, types.FunctionType)):
        return value.__name__
    if isinstance(value, numpy.ndarray):
        return f'array(shape={value.shape}, dtype={value.dtype})'
    if isinstance(value, (set, frozenset)) and value:
        # Their order differs between processes, which must agree on the names of tests.
        return '{' + ', '.join(sorted(map(_param_to_str, value))) + '}'
    with numpy.printoptions(**_print_options):
        text = repr(value)
    return re.sub(r' at 0x[0-9A-Fa-f]+', '', text)  # addresses differ, too


def _params_to_str(param):
    return ', '.join(
        f'{name}={_shorten(_param_to_str(value), _PARAM_MAXLEN)}'
        for name, value in sorted(param.items())
    )


def _explain_failure(method, base_name, param):
    """Makes a test method that names the parameters in failures."""

    @functools.wraps(method)
    def wrapper(*args, **kwargs):
        try:
            return method(*args, **kwargs)
        except unittest.SkipTest:
            raise
        except Exception as e:
            explained = _explained(e, f'{base_name}.{method.__name__}', param)
            raise explained.with_traceback(e.__traceback__) from e

    return wrapper


def _explained(error, method_name, param):
    """Returns an error of the same class, if possible, that shows the parameters."""
    lines = [
        'Parameterized test failed.',
        '',
        f'Base test method: {method_name}',
        'Test parameters:',
    ]
    lines += [f'  {name}: {value!r}' for name, value in sorted(param.items())]
    message = '\n'.join(lines) + f'\n\n{type(error).__name__}: {error}'
    try:
        return type(error)(message)
    except Exception:  # its constructor takes something else
        return AssertionError(message)


def _make_case(base, i, param):
    def __str__(self):
        return f'{base.__str__(self)}  parameter: {param}'

    members = {'__str__': __str__, '__module__': base.__module__}
    for name, value in param.items():
        # A function is a value here, not a method.
        members[name] = staticmethod(value) if isinstance(value, types.FunctionType) else value
    for name in dir(base):
        method = inspect.getattr_static(base, name)
        if name.startswith('test') and isinstance(method, types.FunctionType):
            members[name] = _explain_failure(method, base.__name__, param)
    name = f'{base.__name__}_param_{i}_{{{_shorten(_params_to_str(param), _PARAMS_MAXLEN)}}}'
    return type(base)(name, (base,), members)


def parameterize(*params: dict[str, Any]) -> Callable[..., Any]:
    """Makes a class decorator that generates a test class per set of parameters.

    Each generated class is a subclass of the decorated one with the parameters as attributes. It
    is in the same module, with a name like ``TestName_param_0_{dtype=float32}``, which is the
    same in all processes. The decorators of this package stack in any order.

    Args:
        params (dict): Sets of parameters, from names to values.

    Returns:
        A decorator of test classes.

    .. admonition:: Example

       >>> import unittest
       >>> from chainer import testing
       >>> @testing.parameterize(*testing.product({
       ...     'shape': [(2, 3), ()], 'dtype': ['float32', 'float64']}))
       ... class TestZeros(unittest.TestCase):
       ...     def test_zeros(self):
       ...         x = np.zeros(self.shape, self.dtype)
       ...         assert x.shape == self.shape

    """
    # Chainer 7 keeps the space of 'a, b', but no test can use such a name.
    params = tuple([{name.strip(): value for name, value in row.items()} for row in params])

    def generate(base):
        return [_make_case(base, i, param) for i, param in enumerate(params)]

    return lambda target: _bundle.expand(target, generate)


def from_pytest_parameterize(
    names: str | Sequence[str], values: Sequence[Any]
) -> list[dict[str, Any]]:
    """Converts arguments of ``pytest.mark.parametrize`` to those of :func:`parameterize`.

    Args:
        names (str or sequence of str): Parameter names; a string is split at commas.
        values (sequence): Tuples of values for several names, or values for a single name.

    Returns:
        list of dict: Sets of parameters.

    Raises:
        ValueError: If there are more or fewer values than names.

    .. admonition:: Example

        >>> from chainer import testing
        >>> testing.from_pytest_parameterize('a,b', [(1, 2), (3, 4)])
        [{'a': 1, 'b': 2}, {'a': 3, 'b': 4}]

    """
    if isinstance(names, str):
        names = [name for name in names.split(',') if name.strip()]
    params = []
    for value in values:
        row = (value,) if len(names) == 1 else tuple(value)
        if len(row) != len(names):
            raise ValueError(f'{len(names)} values are needed for {names}, got {value!r}')
        params.append(dict(zip(names, row)))
    return params


def parameterize_pytest(names: str | Sequence[str], values: Sequence[Any]) -> Callable[..., Any]:
    """:func:`parameterize` with the arguments of ``pytest.mark.parametrize``.

    Args:
        names (str or sequence of str): Parameter names; a string is split at commas.
        values (sequence): Tuples of values for several names, or values for a single name.

    Returns:
        A decorator of test classes.

    .. admonition:: Example

        >>> import unittest
        >>> from chainer import testing
        >>> @testing.parameterize_pytest('n,expected', [(1, 1), (3, 6)])
        ... class TestFactorial(unittest.TestCase):
        ...     def test(self):
        ...         self.assertEqual(int(np.prod(np.arange(1, self.n + 1))), self.expected)
        >>> len(TestFactorial.cases)
        2

    """
    return parameterize(*from_pytest_parameterize(names, values))


def product(parameter: dict[str, Any] | list[Any]) -> list[dict[str, Any]]:
    """Makes all combinations of parameters.

    Args:
        parameter (dict or list): A dictionary from names to sequences of values, or a list of the
            arguments of :func:`product_dict`. Several names, separated by commas, stand for
            parameters that vary together; their values are tuples.

    Returns:
        list of dict: Sets of parameters.

    Raises:
        TypeError: If the argument is neither.

    .. admonition:: Example

        >>> from chainer import testing
        >>> testing.product({'a': [1, 2], 'b': [3]})
        [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
        >>> testing.product({'a': [1], 'b,c': [(2, 3), (4, 5)]})
        [{'a': 1, 'b': 2, 'c': 3}, {'a': 1, 'b': 4, 'c': 5}]

    """
    if isinstance(parameter, dict):
        return product_dict(
            *[from_pytest_parameterize(names, parameter[names]) for names in sorted(parameter)]
        )
    if isinstance(parameter, list):
        if not all(
            isinstance(group, list) and all(isinstance(param, dict) for param in group)
            for group in parameter
        ):
            raise TypeError('parameter must be list of lists of dicts')
        return product_dict(*parameter)
    raise TypeError(f'parameter must be either dict or list. Actual: {type(parameter)}')


def product_dict(*parameters: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Combines each set of parameters of one list with each of the others.

    Args:
        parameters (sequence of dict): Lists of sets of parameters.

    Returns:
        list of dict: Merged sets of parameters.

    .. admonition:: Example

        >>> from chainer import testing
        >>> testing.product_dict([{'a': 1}, {'a': 2}], [{'b': 3}])
        [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]

    """
    return [
        {name: value for param in params for name, value in param.items()}
        for params in itertools.product(*parameters)
    ]
