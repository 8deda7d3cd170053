"""Nodes that no operator can have are refused by both loaders, with the name of the node."""

import pytest

onnx = pytest.importorskip('onnx')
from onnx import helper, numpy_helper  # noqa: E402
from onnx_chainer_tests import hostile_nodes  # noqa: E402
from onnx_chainer_tests.helpers_of_import import any_output, info, model_of  # noqa: E402

assert len(hostile_nodes.ROWS) > 500
BY_OPERATOR: dict[str, list[hostile_nodes.HostileNode]] = {}
for _row in hostile_nodes.ROWS:
    BY_OPERATOR.setdefault(_row.op, []).append(_row)


def _model(row, n_given):
    """A model of a node whose first inputs a run gives; the others are constants."""
    names = ['' if x is None else f'x{i}' for i, x in enumerate(row.inputs)]
    outputs = [f'y{i}' for i in range(row.n_outputs)]
    node = helper.make_node(row.op, names, outputs, name='culprit')
    for name, value in row.attributes.items():
        kind = onnx.AttributeProto.INTS if value == [] else None
        node.attribute.append(helper.make_attribute(name, value, attr_type=kind))
    arrays = [(name, x) for name, x in zip(names, row.inputs) if name]
    infos = [info(name, x.shape, x.dtype) for name, x in arrays[:n_given]]
    model = model_of([node], infos, [any_output(y) for y in outputs], opset=row.opset)
    model.graph.initializer.extend(numpy_helper.from_array(x, n) for n, x in arrays[n_given:])
    model.ir_version = 9
    return model.SerializeToString(), [x for _, x in arrays[:n_given]]


@pytest.mark.parametrize('op', BY_OPERATOR)
def test_both_loaders_refuse(op, loader):
    for row in BY_OPERATOR[op]:
        for n_given in {1, len(row.inputs)}:
            data, xs = _model(row, n_given)
            with pytest.raises(loader.error) as info:
                loader.load(data)(*xs)
                pytest.fail(f'{loader.name} runs {row.name}')
            assert "node 'culprit'" in str(info.value), row.name
