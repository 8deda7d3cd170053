"""Models in ONNX files, run by the C++ library that programs without Python use, too.

To train such a model, load it with :func:`onnx_chainer.load` instead.
"""

from __future__ import annotations

import os

from chainerx import _core, _internal
from chainerx._core import ModelError as ModelError, _OnnxModel as Model

__all__ = ['Model', 'ModelError', 'load', 'operators']


def load(source: str | os.PathLike[str] | bytes, device: _core.Device | str | None = None) -> Model:
    """Loads an ONNX file.

    The model is checked and simplified: what depends on no input is computed now, batch
    normalization becomes part of convolutions, and so on.

    Args:
        source: A path, or the bytes of a file. Data outside of the file is read from the folder
            of the path, and from nowhere else.
        device (str or ~chainerx.Device): Where the model runs; the default device if nothing is
            given.

    Returns:
        Model: The model. Call it with the inputs.

    Raises:
        ~chainerx.ModelError: The file is broken, or has an operator, a type or an attribute that
            is not supported. The message names the node or tensor.

    .. admonition:: Example

        >>> import chainerx.onnx
        >>> model = chainerx.onnx.load('model.onnx')  # doctest: +SKIP
        >>> y = model(x)  # doctest: +SKIP

    """
    if isinstance(source, (str, os.PathLike)):
        return _internal.load_onnx(os.fsdecode(source), device)
    return _internal.load_onnx_bytes(source, '', device)


def operators() -> tuple[str, ...]:
    """Returns the names of the operators that models can have.

    Those of other domains than ONNX's own are written ``domain.name``.
    """
    return _internal.onnx_operators()
