"""Reads a model from where a program has it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError
from onnx import ModelProto

from .errors import ModelError

# Of a message of protocol buffers. What is larger is external data.
MOST_BYTES = 2**31 - 1


def read(source: Any) -> tuple[ModelProto, Path | None]:
    """The model of a path, bytes, a binary file or a model, and the folder of external data."""
    if isinstance(source, ModelProto):
        return source, None
    folder = None
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        folder = path.absolute().parent
        with path.open('rb') as file:
            if os.fstat(file.fileno()).st_size > MOST_BYTES:
                raise ModelError(f'{source} is no ONNX model: it has more than 2 GiB')
            data = file.read()
    else:
        data = source.read() if hasattr(source, 'read') else bytes(source)
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except (DecodeError, RuntimeError) as error:
        raise ModelError(f'{source if folder else "the data"} is no ONNX model: {error}') from error
    if not model.HasField('graph') or not (model.opset_import or model.ir_version):
        raise ModelError(f'{source if folder else "the data"} is no ONNX model: it has no graph')
    return model, folder
