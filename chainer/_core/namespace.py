"""Chainer's functions by name, for the modules that :mod:`chainer.functions` is built on.

Gradient rules and the methods of variables call functions, and all functions import them. This
namespace turns that one dependency around: :mod:`chainer.functions` fills it at the end of its
import.
"""


class _Functions:
    """Namespace that shares the names of :mod:`chainer.functions`, so ``F.relu`` works here too."""


F = _Functions()
