"""Test cases against MXNet, which has ended: it runs on no Python that this package runs on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def check_model_expect(
    test_path: str,
    input_names: Sequence[str] | None = None,
    rtol: float = 1e-05,
    atol: float = 1e-05,
) -> None:
    """Always raises an error: use :mod:`onnx_chainer.testing.test_onnxruntime`.

    Args:
        test_path (str): Folder of the test case.
        input_names (list of str): Names of the inputs.
        rtol (float): Relative tolerance.
        atol (float): Absolute tolerance.

    Raises:
        RuntimeError: Always.

    """
    raise RuntimeError(
        'MXNet has ended and does not run here: use '
        'onnx_chainer.testing.test_onnxruntime.check_model_expect'
    )
