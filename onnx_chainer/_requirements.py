"""The package onnx, which all of this package needs: importing this module checks it."""

from __future__ import annotations

import importlib.util
import re
from importlib import metadata

# The first version whose arrays of the narrow floats have dtypes of their own.
LEAST_ONNX = 1, 19


def check_onnx() -> None:
    """Checks that onnx is installed, in a version that fits.

    Raises:
        ImportError: If it is not. The message says what to install.

    """
    least = '.'.join(map(str, LEAST_ONNX))
    install = 'install it by: pip install --upgrade "chainer[onnx]"'
    if importlib.util.find_spec('onnx') is None:
        raise ImportError(f'onnx_chainer needs the package onnx, {least} or newer: {install}')
    try:
        version = metadata.version('onnx')
    except metadata.PackageNotFoundError:
        return  # a copy without a record of its version
    if tuple(map(int, re.findall(r'\d+', version)[:2])) < LEAST_ONNX:
        raise ImportError(
            f'onnx_chainer needs onnx {least} or newer, and onnx {version} is installed: {install}'
        )


check_onnx()
