"""Checks of gradients by numerical ones. :mod:`chainer.gradient_check` is the public module."""
