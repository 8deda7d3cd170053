"""Functions that the core calls by name.

Gradient rules and methods of variables call functions, which are made of what the core offers. The
core cannot import them, so :mod:`chainer.functions` hands them over when it is loaded. This is the
one dependency that points upward.
"""

from __future__ import annotations


class Functions:
    """Namespace of :mod:`chainer.functions`, for gradient rules that are recorded."""

    @staticmethod
    def apply(func, inputs):
        """Applies a function node; :class:`~chainer._core.array_namespace.Arrays` has the same."""
        return func.apply(inputs)


class Operators:
    """Functions behind the operators of variables, by the names of :mod:`operator`."""


F = Functions()
operators = Operators()
