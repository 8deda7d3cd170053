"""Links that normalize activations."""

from chainer._core import lazy as _lazy

_lazy.attach_submodules(__name__)
