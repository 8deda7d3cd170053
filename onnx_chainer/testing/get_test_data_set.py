"""Folders of test cases."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onnx_chainer.export_testcase import export_testcase

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from chainer.types import VariableLike

#: Folder of the test cases.
TEST_OUT_DIR = 'out'


def gen_test_data_set(
    model: Callable[..., Any],
    args: VariableLike | Sequence[Any] | Mapping[str, Any],
    name: str,
    opset_version: int,
    **kwargs: Any,
) -> str:
    """Exports a model with a test case; returns its folder, ``out/opset<version>/<name>``.

    Args:
        model (~chainer.Link): Model.
        args: Its arguments.
        name (str): Name of the test case.
        opset_version (int): Version of the operator set.
        kwargs: Further arguments of :func:`~onnx_chainer.export_testcase`.

    """
    path = os.path.join(TEST_OUT_DIR, f'opset{opset_version}', name)
    export_testcase(model, args, path, opset_version=opset_version, **kwargs)
    return path
