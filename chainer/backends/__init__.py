from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainer.backends import cuda as cuda, intel64 as intel64
