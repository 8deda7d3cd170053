"""Repetition of tests that may fail randomly."""

from __future__ import annotations

import functools
import unittest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class QuietTestRunner:
    """Runner that runs a test suite without printing.

    .. admonition:: Example

        >>> import unittest
        >>> from chainer.testing import condition
        >>> class TestSum(unittest.TestCase):
        ...     def test_sum(self):
        ...         self.assertEqual(1 + 1, 2)
        >>> condition.QuietTestRunner().run(TestSum('test_sum')).wasSuccessful()
        True

    """

    def run(self, suite: Any) -> Any:
        """Runs a suite and returns its :class:`unittest.TestResult`."""
        result = unittest.TestResult()
        suite(result)
        return result


def _run_once(f, instance, args, kwargs):
    """Runs the test method, on an instance of its own if it has a set-up and a tear-down.

    Returns:
        The failures.

    """
    fixtures = {}
    if isinstance(instance, unittest.TestCase):
        # Those of `instance` itself run around all repetitions.
        instance = type(instance)(instance._testMethodName)
        fixtures = {'setUp': instance.setUp, 'tearDown': instance.tearDown}
    case = unittest.FunctionTestCase(lambda: f(instance, *args, **kwargs), **fixtures)
    if fixtures:
        case.addCleanup(instance.doCleanups)
    result = QuietTestRunner().run(unittest.TestSuite([case]))
    if result.skipped:
        raise unittest.SkipTest(result.skipped[0][1])
    return result.errors + result.failures


def repeat_with_success_at_least(times: int, min_success: int) -> Callable[..., Any]:
    """Makes a decorator that runs a test several times and requires some successes.

    The runs stop as soon as the outcome is certain. A skipped run skips the test.

    Args:
        times (int): Maximum number of runs.
        min_success (int): Required number of successful runs.

    Returns:
        A decorator of test methods.

    Raises:
        AssertionError: If there are fewer successes, or ``min_success`` exceeds ``times``.

    .. admonition:: Example

        >>> from chainer.testing import condition
        >>> class TestChance:
        ...     outcomes = iter([False, True, True])
        ...     @condition.repeat_with_success_at_least(3, 2)
        ...     def test(self):
        ...         assert next(self.outcomes)
        >>> TestChance().test()

    """
    assert times >= min_success, (
        f'min_success must not exceed times: times={times}, min_success={min_success}'
    )

    def decorate(f):
        @functools.wraps(f)
        def wrapper(instance, *args, **kwargs):
            run = functools.partial(_run_once, f, instance, args, kwargs)
            _require_successes(run, times, min_success)

        return wrapper

    return decorate


def _require_successes(run, times, min_success):
    successes = 0
    failures: list[Any] = []
    for _ in range(times):
        new_failures = run()
        successes += not new_failures
        failures += new_failures
        if successes >= min_success or len(failures) > times - min_success:
            break
    if successes < min_success:
        raise AssertionError(_describe(successes, failures))


def _describe(successes, failures):
    message = f'\nFail: {len(failures)}, Success: {successes}'
    if failures:
        message += f'\n\nThe first error message:\n{failures[0][1]}'
    return message


def repeat(times: int) -> Callable[..., Any]:
    """Makes a decorator that requires success in all ``times`` runs of a test.

    Args:
        times (int): Number of runs.

    Returns:
        A decorator of test methods.

    .. admonition:: Example

        >>> from chainer.testing import condition
        >>> class TestOften:
        ...     @condition.repeat(3)
        ...     def test(self):
        ...         print('run')
        >>> TestOften().test()
        run
        run
        run

    """
    return repeat_with_success_at_least(times, times)


def retry(times: int) -> Callable[..., Any]:
    """Makes a decorator that requires one success in at most ``times`` runs of a test.

    Args:
        times (int): Number of runs at most.

    Returns:
        A decorator of test methods.

    .. admonition:: Example

        >>> from chainer.testing import condition
        >>> class TestChance:
        ...     outcomes = iter([False, True])
        ...     @condition.retry(3)
        ...     def test(self):
        ...         assert next(self.outcomes)
        >>> TestChance().test()

    """
    return repeat_with_success_at_least(times, 1)
