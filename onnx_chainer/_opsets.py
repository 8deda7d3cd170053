"""Versions of the operator set that an export may have."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import onnx

if TYPE_CHECKING:
    from onnx import ModelProto

MINIMUM_OPSET_VERSION = 9
MAXIMUM_OPSET_VERSION = 26

# Operators of which ONNX Runtime 1.32 runs older forms only, and the last opset that has these. Its
# optimizer gives copies of QuantizeLinear to int8 zero points of uint8, which opset 21 refuses.
_RUNS_UNTIL = {'MaxRoiPool': 21, 'QuantizeLinear': 20, 'RoiAlign': 21}


def newest() -> int:
    """The newest version that this package and the installed onnx know."""
    return min(onnx.defs.onnx_opset_version(), MAXIMUM_OPSET_VERSION)


def newest_that_runs(model: ModelProto) -> int:
    """The newest version in which ONNX Runtime runs the operators of a model."""
    names = {node.op_type for node in model.graph.node if not node.domain}
    return min([newest(), *[until for name, until in _RUNS_UNTIL.items() if name in names]])


def checked(opset_version: int) -> int:
    """The version of the export for the one that is asked for."""
    if opset_version < MINIMUM_OPSET_VERSION:
        warnings.warn(
            f'opset_version={opset_version} is not supported: the model is exported with '
            f'opset_version={MINIMUM_OPSET_VERSION}, which all runtimes read',
            stacklevel=3,
        )
        return MINIMUM_OPSET_VERSION
    if opset_version > newest():
        raise ValueError(
            f'opset_version must be from {MINIMUM_OPSET_VERSION} to {newest()}, not {opset_version}'
        )
    return int(opset_version)
