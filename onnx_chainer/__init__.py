"""Models to ONNX files and back.

:func:`export` writes a model with the functions it calls; :func:`export_testcase` adds inputs and
outputs. :func:`load` gives a link that computes what a file describes, and :func:`scan` is a loop
that stays one in a file. All need the package ``onnx``: ``pip install "chainer[onnx]"``.
"""

from __future__ import annotations

from onnx_chainer import (
    _requirements as _requirements,  # first: it says what to install
    functions as functions,
    mapping as mapping,
    onnx_helper as onnx_helper,
    replace_func as replace_func,
)
from onnx_chainer._scan import scan as scan
from onnx_chainer.export import (
    MAXIMUM_OPSET_VERSION as MAXIMUM_OPSET_VERSION,
    MINIMUM_OPSET_VERSION as MINIMUM_OPSET_VERSION,
    convert_parameter as convert_parameter,
    export as export,
)
from onnx_chainer.export_testcase import export_testcase as export_testcase
from onnx_chainer.importing import load as load
