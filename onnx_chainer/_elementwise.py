"""Functions of Chainer that are one operator of ONNX each, for exports and imports alike."""

from __future__ import annotations

# Operators by the names of function nodes; the functions have these names in lower case.
# fmt: off
UNARY = {
    'Arccos': 'Acos', 'Arcsin': 'Asin', 'Arctan': 'Atan', 'Arctanh': 'Atanh', 'Cos': 'Cos',
    'Cosh': 'Cosh', 'Erf': 'Erf', 'Exp': 'Exp', 'Log': 'Log', 'Sin': 'Sin', 'Sinh': 'Sinh',
    'Sqrt': 'Sqrt', 'Tan': 'Tan', 'ceil': 'Ceil', 'floor': 'Floor',
}
# fmt: on
