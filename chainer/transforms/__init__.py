"""Transforms of functions: derivatives of functions as functions, and mapping over an axis."""

from chainer.transforms._derivatives import hvp as hvp, jacobian as jacobian, jvp as jvp
