"""The table of ONNX's operators is what ``onnx`` says, and the importer's functions fit to it."""

import importlib.util
import inspect
import pathlib

import numpy as np
import pytest

onnx = pytest.importorskip('onnx')
from onnx import helper  # noqa: E402
from onnx_chainer_tests.helpers_of_import import any_output, info, model_of  # noqa: E402

import chainerx  # noqa: E402
from onnx_chainer._schemas import schema_at, schemas_of  # noqa: E402
from onnx_chainer.importing import _domains, registry  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]


def test_table_is_that_of_onnx():
    path = ROOT / 'tools' / 'onnx_schemas.py'
    spec = importlib.util.spec_from_file_location('onnx_schemas', path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    text = tool.FILE.read_text()
    if f'with onnx {onnx.__version__}.\n' not in text:
        pytest.skip('the table is of another version of onnx')
    assert text == tool.content()


@pytest.mark.parametrize(
    'name,opset,inputs,least,most,attributes',
    [
        ('Softmax', 12, ('input',), 1, 1, {'axis': ('i', False, 1)}),
        ('Softmax', 13, ('input',), 1, 1, {'axis': ('i', False, -1)}),
        ('Squeeze', 11, ('data',), 1, 1, {'axes': ('I', False, None)}),
        ('Squeeze', 13, ('data', 'axes'), 1, 2, {}),
        ('Concat', 13, ('inputs',), 1, float('inf'), {'axis': ('i', True, None)}),
        ('LpNormalization', 1, ('input',), 1, 1, {'axis': ('i', False, -1), 'p': ('i', False, 2)}),
        ('Loop', 13, ('M', 'cond', 'v_initial'), 0, float('inf'), {'body': ('g', True, None)}),
        ('Erf', 1, ('input',), 1, 1, {}),  # older than the operator
    ],
)
def test_forms(name, opset, inputs, least, most, attributes):
    schema = schema_at(schemas_of('', name), opset)
    assert (schema.inputs, schema.least, schema.most) == (inputs, least, most)
    assert schema.attributes == attributes


def test_defaults():
    (schema, *_) = schemas_of('', 'RNN')
    assert schema.attributes['activations'].default == ['Tanh', 'Tanh']
    assert schema.attributes['direction'].default == 'forward'
    assert schemas_of('', 'BatchNormalization')[-1].attributes['epsilon'].default == 1e-5
    assert schemas_of('', 'MeanVarianceNormalization')[0].attributes['axes'].default == [0, 2, 3]
    assert schemas_of('', 'MaxPool')[0].types == ('def',)
    assert schemas_of('their', 'MaxPool') == ()


def test_values_are_of_attributes_of_onnx():
    kinds = {}
    domains = sorted({domain for domain, _ in registry.names()})
    for (op, name), values in _domains._domains().items():
        schemas = next(filter(None, (schemas_of(domain, op) for domain in domains)))
        found = {s.attributes[name].kind for s in schemas if name in s.attributes}
        assert found, (op, name)
        kinds.setdefault(isinstance(values, _domains._Range), set()).update(found)
        for schema in schemas:
            attribute = schema.attributes.get(name)
            if attribute is not None and attribute.default is not None:
                _domains.check(op, name, attribute.default)
    assert kinds == {True: {'i', 'I', 'f'}, False: {'s'}}


@pytest.mark.parametrize('key', registry.names(), ids='.'.join)
def test_functions_take_what_operators_have(key):
    row = registry.find(*key)
    assert row.schemas == schemas_of(*key) != ()
    attributes = {name for schema in row.schemas for name in schema.attributes}
    assert (row.keywords or set()) <= attributes
    assert row.arity <= max(schema.most for schema in row.schemas)
    if row.keywords is not None:
        assert row.keywords.isdisjoint(row.form(1).places)
    for numbers in row.host, row.statistics, row.trained:
        assert all(i < max(schema.most for schema in row.schemas) for i in numbers)


@pytest.mark.chainerx
@pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built')
def test_table_has_the_operators_of_the_runner():
    for name in chainerx.onnx.operators():
        domain, _, op = name.rpartition('.')
        assert schemas_of(domain, op), name


def test_functions_of_other_domains_say_what_they_take():
    @registry.operator('Once', domain='test.schemas')
    def once(node, x, y=None, /, *, scale, shift=0): ...

    row = registry.find('test.schemas', 'Once')
    del registry._TABLE['test.schemas', 'Once']
    (schema,) = row.schemas
    assert (schema.least, schema.most) == (1, 2)
    assert schema.attributes == {'scale': ('', True, None), 'shift': ('', False, 0)}
    assert list(inspect.signature(row.function).parameters) == ['node', 'x', 'y', 'scale', 'shift']


def test_inputs_as_python_values():
    @registry.operator('Mixed', domain='test.schemas', scalars=(1,), lists=(2,))
    def mixed(node, x, k=5, axes=None, /):
        return x, k, axes

    row = registry.find('test.schemas', 'Mixed')
    del registry._TABLE['test.schemas', 'Mixed']
    assert row.host == {1, 2}
    assert row.function(None, 'x', np.array([3]), np.array([[1, 2]], np.uint8)) == ('x', 3, [1, 2])
    assert row.function(None, 'x', None, np.array(4)) == ('x', 5, [4])
    assert row.function(None, 'x') == ('x', 5, None)
    with pytest.raises(ValueError, match=r'expected one element, and the shape is \(2,\)'):
        row.function(None, 'x', np.array([3, 4]))


def test_attributes_of_some_operators_of_a_function():
    assert registry.find('', 'Scatter').keywords == {'axis'}
    assert registry.find('', 'ScatterElements').keywords == {'axis', 'reduction'}


@pytest.mark.parametrize(
    'op,opset,inputs,attributes,message',
    [
        ('Concat', 13, ['x'], {}, "its attribute 'axis' is missing"),
        ('Slice', 9, ['x'], {'ends': [1]}, "its attribute 'starts' is missing"),
        ('MaxPool', 13, ['x'], {}, "its attribute 'kernel_shape' is missing"),
        ('Relu', 13, ['x', 'x'], {}, 'it has 2 inputs, and the operator takes 1 to 1'),
        ('Sin', 13, ['x'], {'consumed_inputs': [1]}, "there is no attribute 'consumed_inputs'"),
        ('Add', 13, ['x', ''], {}, 'its input 1 is missing'),
    ],
)
def test_nodes_that_the_table_refuses(loader, op, opset, inputs, attributes, message):
    node = helper.make_node(op, inputs, ['y'], name='culprit', **attributes)
    model = model_of([node], [info('x')], [any_output('y')], opset=opset)
    with pytest.raises(loader.error, match=f"^node 'culprit' .*: {message}$"):
        loader.load(model.SerializeToString())
