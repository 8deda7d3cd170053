"""Transforms of functions: derivatives of functions as functions, and mapping over an axis."""

from chainer.transforms._derivatives import hvp as hvp, jacobian as jacobian, jvp as jvp
from chainer.transforms._mapping import VmapLoopWarning as VmapLoopWarning
from chainer.transforms._per_sample import per_sample_grad as per_sample_grad
from chainer.transforms._vmap import vmap as vmap
