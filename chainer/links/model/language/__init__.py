"""Models for texts."""

from chainer._core.names import lazy as _lazy

_lazy.attach_submodules(__name__)
