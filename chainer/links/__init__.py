"""Links: parameterized parts of models."""

from chainer._core.names import lazy as _lazy

_exports = _lazy.exports_of_stub(__name__)
__all__ = list(_exports)
_lazy.attach(__name__, _exports)
