"""What programs and tests for Chainer 7 expect of the export."""

import subprocess
import sys

import numpy as np
import pytest
from onnx_chainer_tests import helpers_of_export

import chainer
import chainer.functions as F
import chainer.links as L
import onnx_chainer
from onnx_chainer import onnx_helper
from onnx_chainer.testing import test_onnxruntime as checks


def f32(*shape):
    return np.random.RandomState(len(shape)).uniform(-1, 1, shape).astype('f')


# -- versions of the operator set and of onnx ---------------------------------------------------


def test_default_opset_is_that_of_the_operators(monkeypatch):
    """Operators that onnxruntime has in an old form only choose the opset, unless it is given."""
    regions = np.array([[0, 0, 0, 4, 4]], 'f')

    def model(x, rois):
        return F.relu(F.roi_pooling_2d(x, rois, 2, 2, 1.0)) + 1

    def version(**options):
        exported = onnx_chainer.export(model, [f32(1, 3, 8, 8), regions], **options)
        return exported.opset_import[0].version

    assert version() == 21
    assert version(opset_version=22) == 22
    monkeypatch.setattr(onnx_chainer._opsets, 'MAXIMUM_OPSET_VERSION', 18)
    assert version() == 18


@pytest.mark.parametrize(
    ('installed', 'message'),
    [('1.18.0', 'needs onnx 1.19 or newer, and onnx 1.18.0 is installed'), (None, 'needs the package onnx')],
)  # fmt: skip
def test_import_says_what_to_install(installed, message):
    program = f"""
import importlib.metadata, importlib.util
version = importlib.metadata.version
find_spec = importlib.util.find_spec
importlib.metadata.version = lambda name: {installed!r} if name == 'onnx' else version(name)
if {installed!r} is None:
    importlib.util.find_spec = lambda name, *args: None if name == 'onnx' else find_spec(name, *args)
try:
    import onnx_chainer
except ImportError as error:
    print(error)
"""
    text = subprocess.run(
        [sys.executable, '-c', program], capture_output=True, text=True, check=True
    ).stdout
    assert message in text
    assert 'pip install --upgrade "chainer[onnx]"' in text


@pytest.mark.parametrize('version', ['1.19.0', '1.23.2', '1.100.0rc1', '2.0'])
def test_versions_of_onnx_that_fit(version, monkeypatch):
    from onnx_chainer import _requirements

    monkeypatch.setattr(_requirements.metadata, 'version', lambda name: version)
    _requirements.check_onnx()


# -- converters ----------------------------------------------------------------------------------


class Twice(chainer.FunctionNode):
    def forward(self, inputs):
        return (inputs[0] * 2,)


def _old(func, opset_version, input_names, output_names):
    assert isinstance(func, Twice)
    assert opset_version == 17
    return (onnx_helper.make_node('Add', input_names * 2, output_names),)


def _with_context(func, opset_version, input_names, output_names, context):
    two = context.add_const(np.array(2, 'f'), 'two')
    return (onnx_helper.make_node('Mul', [*input_names, two], output_names),)


class _Converters:
    def old(self, func, opset_version, input_names, output_names):
        return _old(func, opset_version, input_names, output_names)

    def new(self, params):
        return _old(params.func, params.opset_version, params.input_names, params.output_names)


@pytest.mark.parametrize(
    'convert',
    [_old, _with_context, _Converters().old, _Converters().new],
    ids=['four', 'five', 'method-of-four', 'method-of-one'],
)
def test_converters_of_every_signature(convert):
    helpers_of_export.check(
        lambda x: F.relu(Twice().apply((x,))[0]),
        f32(2, 3),
        external_converters={'Twice': convert},
        opset_version=17,
    )


def test_converter_of_another_signature():
    with pytest.raises(TypeError, match=r'converter of Twice must take .* takes \(a, b\)'):
        onnx_chainer.export(F.relu, f32(2), external_converters={'Twice': lambda a, b: None})


# -- constants -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('call', 'op_type', 'value'),
    [
        (lambda x: x + 2, 'Add', 2),
        (lambda x: 2 + x, 'Add', 2),
        (lambda x: x - 2, 'Add', -2),
        (lambda x: 2 - x, 'Sub', 2),
        (lambda x: x * 2, 'Mul', 2),
        (lambda x: x / 2, 'Mul', 0.5),
        (lambda x: 2 / x, 'Div', 2),
        (lambda x: x**3, 'Pow', 3),
        (lambda x: 2**x, 'Pow', 2),
        (lambda x: F.clip(x, -0.5, np.inf), 'Clip', -0.5),
    ],
)
@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
def test_scalars_are_constant_nodes(call, op_type, value, dtype):
    from onnx import numpy_helper

    model = helpers_of_export.check(call, f32(2, 3).astype(dtype), opset_version=17)
    assert not model.graph.initializer
    constant, *_, node = model.graph.node
    assert constant.op_type == 'Constant'
    assert node.op_type == op_type
    assert constant.output[0] in node.input
    array = numpy_helper.to_array(constant.attribute[0].t)
    assert array.dtype == dtype
    assert array == value


def test_arrays_that_functions_take_are_initializers():
    """So are large constants, which files can keep beside the graph."""
    big = np.arange(2000) % 3

    def model(x):
        return x[big] + np.array([1, 2], 'f')

    exported = helpers_of_export.check(model, f32(3, 2))
    assert [n.op_type for n in exported.graph.node] == ['Gather', 'Add']
    assert sorted(tuple(t.dims) for t in exported.graph.initializer) == [(2,), (2000,)]


def test_nodes_come_after_their_constants():
    import onnx

    def model(x):
        return [F.relu(x + 1) * 2 + 1, x[:, 1:], np.ones(3, 'f')]

    exported = helpers_of_export.check(model, f32(2, 3))
    onnx.checker.check_model(exported, full_check=True)
    values = [n for n in exported.graph.node if n.op_type == 'Constant']
    assert len({n.output[0] for n in values}) == len(values)


# -- test cases ----------------------------------------------------------------------------------


def test_names_of_a_testcase_are_compared_sorted(tmp_path):
    onnx_chainer.export_testcase(
        lambda x, y: x - y, [f32(2), f32(2)], tmp_path, input_names=['b', 'a'], opset_version=17
    )
    checks.check_model_expect(str(tmp_path), input_names=['a', 'b'])
    checks.check_model_expect(str(tmp_path), input_names=('b', 'a'))
    for wrong in ['a'], ['a', 'c'], ['a', 'a'], ['a', 'b', 'c']:
        with pytest.raises(AssertionError):
            checks.check_model_expect(str(tmp_path), input_names=wrong)


# -- links ---------------------------------------------------------------------------------------


class Partial(chainer.Chain):
    """Calls one of two links."""

    def __init__(self, size):
        super().__init__()
        with self.init_scope():
            self.used = L.Linear(None, 4)
            self.unused = L.Linear(size, 4)

    def forward(self, x):
        return F.relu(self.used(x))


def test_warns_of_links_without_parameters():
    with pytest.warns(UserWarning, match='does not use .* parameters, .* not exported: /unused/W'):
        model = onnx_chainer.export(Partial(None), f32(2, 3))
    assert sorted(t.name for t in model.graph.initializer) == ['param_used_W', 'param_used_b']
    # One that has its parameters may be for training.
    onnx_chainer.export(Partial(3), f32(2, 3))
