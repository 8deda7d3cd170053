"""Links that connect units, such as linear layers and convolutions."""

from chainer._core.names import lazy as _lazy

_lazy.attach_submodules(__name__)
