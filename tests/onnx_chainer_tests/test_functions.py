"""Every function against onnxruntime, at the first and last opset and at some between."""

import inspect

import numpy as np
import pytest
from onnx_chainer_tests import function_table, helpers_of_export

import chainer.functions as F
import onnx_chainer
from onnx_chainer import _opsets
from onnx_chainer.functions import CONVERTERS, NOT_EXPORTED

# Functions of Chainer 7 that warn.
pytestmark = pytest.mark.filterwarnings('ignore::DeprecationWarning')

ROWS = function_table.ROWS
NAMES = [f'{i}-{row.name}' for i, row in enumerate(ROWS)]


def test_table_has_every_function():
    names = {name for name in F.__all__ if not inspect.ismodule(getattr(F, name))}
    rows = {row.name for row in ROWS}
    assert rows.isdisjoint(NOT_EXPORTED)
    assert rows | set(NOT_EXPORTED) == names
    assert len(rows) >= 200


@pytest.mark.parametrize('row', ROWS, ids=NAMES)
def test_function(row):
    until = min(row.until, helpers_of_export.newest_opset())
    opsets = {v for v in (row.since, 17, until) if row.since <= v <= until}
    for opset in sorted(opsets):
        helpers_of_export.check(
            row.call, list(row.args), row.rtol, opset_version=opset, train=row.train
        )


@pytest.mark.parametrize('row', ROWS, ids=NAMES)
def test_function_of_other_values(row, monkeypatch):
    """By default, the graph runs. What it holds does not depend on the values at the export."""
    monkeypatch.setattr(_opsets, 'MAXIMUM_OPSET_VERSION', helpers_of_export.newest_opset())
    others = [np.ascontiguousarray(a.ravel()[::-1]).reshape(a.shape) for a in row.args]
    if row.name == 'roi_pooling_2d':
        others[1] = row.args[1][::-1]  # other values are no regions
    model, inputs, _ = onnx_chainer.export(
        row.call, list(row.args), return_named_inout=True, train=row.train
    )
    expected = function_table.run(function_table.Row(row.name, row.call, others, train=row.train))
    actual = helpers_of_export.run_onnx(model, dict(zip(inputs, others)))
    helpers_of_export.assert_outputs(actual, expected, 5 * row.rtol, 1e-5)


def test_first_opset_is_least():
    """A function that an older opset can have says so in its error."""
    for row in ROWS:
        if row.since > onnx_chainer.MINIMUM_OPSET_VERSION:
            with pytest.raises(RuntimeError, match='needs opset'):
                onnx_chainer.export(row.call, list(row.args), opset_version=row.since - 1)


def test_converters_are_used(monkeypatch):
    """Every converter has a row, but for those that programs use by wrapped functions."""
    from onnx_chainer import graph

    used = set()
    create = graph.Graph.create_node

    def record(self, name, *args):
        used.add(name)
        return create(self, name, *args)

    monkeypatch.setattr(graph.Graph, 'create_node', record)
    for row in ROWS:
        onnx_chainer.export(row.call, list(row.args), opset_version=row.until, train=row.train)
    by_wrapping = {'MaxPooling2D', 'RsqrtGPU', 'Selu', 'Shape', 'n_step_gru'}
    in_training = {'Dropout', 'Zoneout'}
    of_links = {'BinaryHierarchicalSoftmaxFunction'}
    of_loops = {'Scan'}
    of_quantized_models = {'QuantizeLinear', 'DequantizeLinear', 'QuantizedLinear'}
    of_others = of_links | of_loops | of_quantized_models
    assert set(CONVERTERS) - used == by_wrapping | in_training | of_others
