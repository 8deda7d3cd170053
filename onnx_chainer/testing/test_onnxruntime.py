"""Test cases against onnxruntime."""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


def load_test_data(
    data_dir: str, input_names: Sequence[str], output_names: Sequence[str]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Reads the inputs and outputs of a test case.

    Args:
        data_dir (str): Folder with ``input_0.pb``, ``output_0.pb``, ...
        input_names (list of str): Names of the inputs of the graph.
        output_names (list of str): Names of its outputs.

    Returns:
        tuple: Dictionaries of inputs and of outputs by name.

    """
    from onnx import TensorProto, numpy_helper

    result = []
    for kind, names in ('input', input_names), ('output', output_names):
        found = {}
        for path in glob.glob(os.path.join(data_dir, f'{kind}_*.pb')):
            tensor = TensorProto()
            with open(path, 'rb') as f:
                tensor.ParseFromString(f.read())
            if tensor.name not in names:
                raise ValueError(f'{path} has {tensor.name!r}, which is no {kind} of the graph')
            found[tensor.name] = numpy_helper.to_array(tensor)
        result.append(found)
    return result[0], result[1]


def check_model_expect(
    test_path: str,
    input_names: Sequence[str] | None = None,
    rtol: float = 1e-05,
    atol: float = 1e-05,
) -> None:
    """Runs the model of a test case by onnxruntime, and compares the outputs.

    Args:
        test_path (str): Folder of the test case; see :func:`~onnx_chainer.export_testcase`.
        input_names (list of str): Names that the inputs of the graph must have, in any order.
        rtol (float): Relative tolerance.
        atol (float): Absolute tolerance.

    Raises:
        AssertionError: If the outputs or names differ.

    """
    import onnxruntime

    session = onnxruntime.InferenceSession(
        os.path.join(test_path, 'model.onnx'), providers=['CPUExecutionProvider']
    )
    names = [info.name for info in session.get_inputs()]
    if input_names is not None:
        assert sorted(names) == sorted(input_names)
    output_names = [info.name for info in session.get_outputs()]
    folders = sorted(glob.glob(os.path.join(test_path, 'test_data_set_*')))
    assert folders, f'{test_path} has no test data'
    for folder in folders:
        inputs, outputs = load_test_data(folder, names, output_names)
        actual = session.run(output_names, inputs)
        for name, value in zip(output_names, actual):
            np.testing.assert_allclose(value, outputs[name], rtol, atol, err_msg=name)
