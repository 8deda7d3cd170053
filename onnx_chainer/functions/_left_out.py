"""Functions without a converter, and why."""

from __future__ import annotations

_RANDOM = 'it draws at random'
_SPECIAL = 'ONNX has no such special function'
_DATA = 'its windows or paths depend on the values of its input, for which ONNX has no operator'

#: Reasons by the names of functions of ``chainer.functions`` that are not exported.
NOT_EXPORTED = {
    'gaussian': _RANDOM,
    'gumbel_softmax': _RANDOM,
    'negative_sampling': _RANDOM,
}
