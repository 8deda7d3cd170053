"""Comparison of arrays."""

from __future__ import annotations

from chainer.utils._allclose import assert_allclose  # noqa: F401
