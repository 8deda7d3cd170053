"""Comparison of arrays."""

from chainer.utils._allclose import assert_allclose  # noqa: F401
