"""Links: the parts of a model with parameters."""

from chainer._core.chain import Chain, ChainList
from chainer._core.link import Link

__all__ = ['Chain', 'ChainList', 'Link']
