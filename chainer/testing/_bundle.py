"""Code shared by the class decorators that generate test cases from a class."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class _ParameterizedTestCaseBundle:
    """Test cases generated from one class.

    It replaces the decorated class in its module, so that pytest does not collect the class
    itself, and passes the generated classes to further decorators.
    """

    __test__ = False  # prevent pytest from collecting this class by name

    def __init__(self, cases: Sequence[type]) -> None:
        self.cases = cases


def decorate(decorator: Callable[[Any], Any], target: Any) -> Any:
    """Applies a decorator of tests to ``target``, or to each case if that is a bundle."""
    if isinstance(target, _ParameterizedTestCaseBundle):
        return _ParameterizedTestCaseBundle([decorator(case) for case in target.cases])
    return decorator(target)


def expand(target, generate):
    """Replaces each class of ``target`` with the classes that ``generate(cls)`` yields.

    Args:
        target (type or bundle): Decorated class, or the result of another decorator.
        generate (callable): Function from a class to an iterable of its subclasses.

    Returns:
        _ParameterizedTestCaseBundle: All new classes, which are also in the module of their base
        by name.
    """
    bases: Sequence[type] = [target]
    if isinstance(target, _ParameterizedTestCaseBundle):
        bases = target.cases
        for base in bases:
            # They are intermediate steps now and must not run themselves.
            delattr(sys.modules[base.__module__], base.__name__)
    cases = []
    for base in bases:
        for case in generate(base):
            setattr(sys.modules[base.__module__], case.__name__, case)
            cases.append(case)
    return _ParameterizedTestCaseBundle(cases)
