"""Converters of functions to ONNX.

The converter of the function ``X`` is ``convert_X(func, opset_version, input_names, output_names,
context)``, which returns nodes.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from onnx_chainer.functions import (
    activation as activation,
    array as array,
    connection as connection,
    converter as converter,
    evaluation as evaluation,
    loss as loss,
    math as math,
    noise as noise,
    normalization as normalization,
    opset_version as opset_version,
    pooling as pooling,
    quantization as quantization,
    rnn as rnn,
    special as special,
)
from onnx_chainer.functions._declare import CONVERTERS as CONVERTERS
from onnx_chainer.functions._left_out import (
    NODES_NOT_EXPORTED as NODES_NOT_EXPORTED,
    NOT_EXPORTED as NOT_EXPORTED,
)

for _converter in CONVERTERS.values():
    for _module in (__name__, _converter.convert.__module__):
        setattr(sys.modules[_module], _converter.convert.__name__, _converter.convert)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
