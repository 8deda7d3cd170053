"""Links: the parts of a model with parameters."""

from chainer._core.models.chain import Chain, ChainList
from chainer._core.models.link import Link

__all__ = ['Chain', 'ChainList', 'Link']
