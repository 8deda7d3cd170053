"""Arguments of ``export`` and ``export_testcase``, and what they write."""

import importlib
import io
import os

import numpy as np
import pytest
from onnx_chainer_tests import helpers_of_export

import chainer
import chainer.functions as F
import chainer.links as L
import onnx_chainer
from onnx_chainer import onnx_helper
from onnx_chainer.replace_func import as_funcnode, fake_as_funcnode
from onnx_chainer.testing import test_onnxruntime as checks
from onnx_chainer.testing.get_test_data_set import gen_test_data_set

# The function has the name of the module.
export_module = importlib.import_module('onnx_chainer.export')


def f32(*shape):
    return np.random.RandomState(len(shape)).uniform(-1, 1, shape).astype('f')


class MLP(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 4)
            self.bn = L.BatchNormalization(4)
            self.l2 = L.Linear(None, 2)

    def forward(self, x, y=None):
        h = F.relu(self.bn(self.l1(x)))
        return self.l2(h if y is None else h + y)


def names(infos):
    return [info.name for info in infos]


# -- names -----------------------------------------------------------------------------------


def test_default_names():
    model = onnx_chainer.export(MLP(), f32(2, 3))
    assert names(model.graph.input) == ['Input_0']
    assert names(model.graph.output) == ['LinearFunction_1']
    params = {t.name for t in model.graph.initializer}
    assert params == {
        *('param_l1_W', 'param_l1_b', 'param_l2_W', 'param_l2_b', 'param_bn_gamma'),
        *('param_bn_beta', 'param_bn_avg_mean', 'param_bn_avg_var'),
    }
    assert [n.op_type for n in model.graph.node] == ['Gemm', 'BatchNormalization', 'Relu', 'Gemm']


@pytest.mark.parametrize(
    ('args', 'given'),
    [
        ([f32(2, 3), f32(2, 4)], ['a', 'b']),
        ({'x': f32(2, 3), 'y': f32(2, 4)}, {'x': 'a', 'y': 'b'}),
        ((chainer.Variable(f32(2, 3)), f32(2, 4)), ['a', 'b']),
    ],
)
def test_given_names(args, given):
    model, inputs, outputs = onnx_chainer.export(
        MLP(), args, input_names=given, output_names=['z'], return_named_inout=True
    )
    assert names(model.graph.input) == ['a', 'b'] == list(inputs)
    assert names(model.graph.output) == ['z'] == list(outputs)


def test_outputs_by_key():
    def model(x):
        return {'p': F.relu(x), 'q': F.exp(x)}

    exported = onnx_chainer.export(model, f32(2), output_names={'q': 'Q', 'p': 'P'})
    assert names(exported.graph.output) == ['P', 'Q']


@pytest.mark.parametrize('option', ['input_names', 'output_names'])
@pytest.mark.parametrize('given', [['a', 'a'], ['a', 'b', 'c'], {'no': 'a'}])
def test_wrong_names(option, given):
    with pytest.raises(ValueError, match='name'):
        onnx_chainer.export(lambda x, y: (x + y, x - y), [f32(2), f32(2)], **{option: given})


@pytest.mark.parametrize(
    'model',
    [
        lambda x: x,
        lambda x: (x, x),
        lambda x: (F.relu(x),) * 2,
        lambda x: F.identity(x),
        lambda x: F.cast(x, 'f'),
        lambda x: F.relu(F.cast(F.exp(x), 'f')),
        lambda x: [F.relu(x), {'y': x, 'z': F.identity(F.relu(x))}],
    ],
)
@pytest.mark.parametrize('named', [False, True])
def test_outputs_that_are_inputs_or_outputs(model, named):
    n = len(list(onnx_chainer._trace._flatten_outputs(model(chainer.Variable(f32(2))))))
    given = [f'y{i}' for i in range(n)] if named else None
    exported = helpers_of_export.check(model, f32(2), output_names=given)
    if named:
        assert names(exported.graph.output) == given


def test_values_that_leave_the_graph_as_arrays():
    def model(x):
        largest = F.argmax(x, axis=1)
        return F.select_item(F.relu(x).array, largest.array)

    exported = helpers_of_export.check(model, f32(3, 4), others=[f32(3, 4)[::-1].copy()])
    assert not exported.graph.initializer or all(
        np.prod(t.dims) < 3 for t in exported.graph.initializer
    )


def test_warns_of_values_computed_by_numpy():
    with pytest.warns(UserWarning, match='input 1 of Add is random, or it is computed from'):
        onnx_chainer.export(lambda x: x + np.exp(x.array), f32(2))
    with pytest.warns(UserWarning, match='condition of Where is random, or it is computed from'):
        onnx_chainer.export(lambda x: F.where(x.array > 0, x, -x), np.array([1, -1], 'f'))
    with pytest.warns(UserWarning, match='other functions for other values'):
        onnx_chainer.export(
            lambda x: F.relu(x) if x.array[0] > 0 else F.exp(x), np.array([1, -1], 'f')
        )


# -- state and devices ----------------------------------------------------------------------


def test_model_is_unchanged():
    model = chainer.Sequential(L.Linear(2, 3), L.LSTM(3, 4), L.BatchNormalization(4))
    model(f32(5, 2))
    before = {k: np.copy(v) for k, v in _arrays(model).items()}
    h = model[1].h
    onnx_chainer.export(model, f32(5, 2), train=True, input_shapes=(5, 2))
    assert model[1].h is h
    for key, value in _arrays(model).items():
        np.testing.assert_array_equal(value, before[key])


def _arrays(model):
    target = {}
    chainer.serializers.DictionarySerializer(target).save(model)
    return target


@pytest.mark.gpu
def test_model_on_cupy():
    model = chainer.Sequential(L.Linear(3, 4), L.BatchNormalization(4), F.relu).to_device('@cupy:0')
    model(model.device.send(f32(2, 3)))
    x = model.device.send(f32(2, 3))
    helpers_of_export.check(model, x, input_shapes=('n', 3))
    assert model.device.name == '@cupy:0'


@pytest.mark.chainerx
@pytest.mark.parametrize('output_grad', [False, True])
def test_model_on_chainerx(output_grad, tmp_path):
    model = chainer.Sequential(L.Linear(3, 4), L.BatchNormalization(4), F.relu, L.LSTM(4, 2))
    model(f32(2, 3))
    model[3].reset_state()
    model.to_device('native:0')
    x = model.device.send(f32(2, 3))
    addresses = {path: p.array.data_ptr for path, p in model.namedparams()}
    onnx_chainer.export_testcase(
        *(model, x, str(tmp_path)),
        output_grad=output_grad,
        input_shapes=('n', 3),
        opset_version=helpers_of_export.newest_opset(),
    )
    checks.check_model_expect(str(tmp_path))
    assert {path: p.array.data_ptr for path, p in model.namedparams()} == addresses
    assert model[1].device.name == 'native:0'
    assert model[1].avg_mean.device.name == 'native:0'
    model(x)
    if output_grad:
        model.cleargrads()
        model[3].reset_state()
        with chainer.using_config('train', False):
            F.sum(model(x)).backward()
        for name, gradient in _gradients(tmp_path).items():
            expected = next(
                p.grad
                for path, p in model.namedparams()
                if onnx_helper.cleanse_param_name(path) == name
            )
            np.testing.assert_allclose(gradient, chainer.cuda.to_cpu(expected), rtol=1e-5)


# -- files -----------------------------------------------------------------------------------


def test_files(tmp_path):
    import onnx

    path = tmp_path / 'model.onnx'
    model = onnx_chainer.export(MLP(), f32(2, 3), path, save_text=True, graph_name='MLP')
    assert onnx.load(path) == model
    assert model.graph.name == 'MLP'
    assert 'op_type: "Gemm"' in (tmp_path / 'model.onnx.txt').read_text()
    file = io.BytesIO()
    link = MLP()
    onnx_chainer.export(link, f32(2, 3), file)
    assert onnx.load_model_from_string(file.getvalue()).graph.node[0].op_type == 'Gemm'


def test_large_parameters_are_external(tmp_path, monkeypatch):
    monkeypatch.setattr(export_module, '_MOST_BYTES', 100_000)
    model, x = L.Linear(300, 200), f32(2, 300)
    path = tmp_path / 'model.onnx'
    options = {'opset_version': helpers_of_export.newest_opset()}
    _, inputs, outputs = onnx_chainer.export(
        model, x, str(path), return_named_inout=True, **options
    )
    assert (tmp_path / 'model.onnx.data').stat().st_size >= 240_000
    assert path.stat().st_size < 10_000
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=['CPUExecutionProvider'])
    (actual,) = session.run(None, helpers_of_export.arrays(inputs))
    np.testing.assert_allclose(actual, next(iter(outputs.values())).array, rtol=1e-4, atol=1e-5)
    # A second export replaces the data.
    onnx_chainer.export(model, x, str(path))
    assert (tmp_path / 'model.onnx.data').stat().st_size < 300_000


def test_without_parameters(tmp_path):
    model = onnx_chainer.export(MLP(), f32(2, 3), export_params=False)
    assert 'param_l1_W' in names(model.graph.input)
    assert not any(t.name.startswith('param') for t in model.graph.initializer)
    onnx_chainer.export_testcase(MLP(), f32(2, 3), tmp_path, export_params=False)
    assert len(list((tmp_path / 'test_data_set_0').glob('input_*.pb'))) == 7


def _gradients(folder):
    from onnx import TensorProto, numpy_helper

    found = {}
    for path in sorted((folder / 'test_data_set_0').glob('gradient_*.pb')):
        tensor = TensorProto()
        tensor.ParseFromString(path.read_bytes())
        found[tensor.name] = numpy_helper.to_array(tensor)
    return found


@pytest.mark.parametrize('output_grad', [False, True, 'dummy'])
def test_testcase(tmp_path, output_grad):
    model = MLP()
    onnx_chainer.export_testcase(
        *(model, [f32(2, 3), f32(2, 4)], tmp_path, output_grad),
        opset_version=helpers_of_export.newest_opset(),
    )
    checks.check_model_expect(str(tmp_path), ['Input_0', 'Input_1'])
    gradients = _gradients(tmp_path)
    assert bool(gradients) == bool(output_grad)
    for path, param in model.namedparams():
        if output_grad is True:
            np.testing.assert_array_equal(
                gradients[onnx_helper.cleanse_param_name(path)], param.grad
            )
        elif output_grad:
            assert (gradients[onnx_helper.cleanse_param_name(path)] == 1).all()


def test_data_set_of_onnx_chainer_testing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = gen_test_data_set(MLP(), f32(2, 3), 'mlp', 11, train=False)
    assert path == os.path.join('out', 'opset11', 'mlp')
    checks.check_model_expect(path)


# -- versions --------------------------------------------------------------------------------


def test_opset_versions():
    from onnx.defs import onnx_opset_version

    newest = min(onnx_opset_version(), onnx_chainer.MAXIMUM_OPSET_VERSION)
    assert onnx_chainer.export(MLP(), f32(2, 3)).opset_import[0].version == newest
    for version in 9, 15, newest:
        model = onnx_chainer.export(MLP(), f32(2, 3), opset_version=version)
        assert model.opset_import[0].version == version
    assert onnx_chainer.export(MLP(), f32(2, 3), opset_version=9).ir_version == 4
    with pytest.warns(UserWarning, match='exported with opset_version=9'):
        model = onnx_chainer.export(MLP(), f32(2, 3), opset_version=7)
    assert model.opset_import[0].version == 9
    with pytest.raises(ValueError, match='opset_version must be from 9 to'):
        onnx_chainer.export(MLP(), f32(2, 3), opset_version=99)


# -- converters ------------------------------------------------------------------------------


class Twice(chainer.FunctionNode):
    def __init__(self, factor):
        self.factor = factor

    def forward(self, inputs):
        return (inputs[0] * self.factor,)


def test_function_without_converter():
    with pytest.raises(ValueError, match="Twice has no converter .* external_converters={'Twice'"):
        onnx_chainer.export(lambda x: Twice(2).apply((x,))[0], f32(2))


def test_external_converter():
    def convert(params):
        factor = params.context.add_const(np.array(params.func.factor, 'f'), 'factor')
        assert factor == 'Twice_0_const_factor'
        return (onnx_helper.make_node('Mul', [*params.input_names, factor], params.output_names),)

    helpers_of_export.check(
        lambda x: F.relu(Twice(3).apply((x,))[0]), f32(2), external_converters={'Twice': convert}
    )


def test_old_style_function():
    class Old(chainer.Function):
        def forward(self, inputs):
            return (inputs[0] + 1,)

    def convert(params):
        assert isinstance(params.func, Old)
        one = params.context.add_const(np.array(1, 'f'), 'one')
        return (onnx_helper.make_node('Add', [*params.input_names, one], params.output_names),)

    helpers_of_export.check(lambda x: Old()(x), f32(2), external_converters={'Old': convert})


def test_operator_of_another_domain():
    def convert(params):
        return (
            onnx_helper.make_node(
                'Twice', params.input_names, params.output_names, domain='mine', factor=2
            ),
        )

    model = onnx_chainer.export(
        lambda x: Twice(2).apply((x,))[0],
        f32(2),
        external_converters={'Twice': convert},
        external_opset_imports={'mine': 1},
    )
    assert model.graph.node[0].domain == 'mine'
    assert {o.domain: o.version for o in model.opset_import}['mine'] == 1


def test_converters_of_programs():
    """The converters are functions with the arguments of Chainer 7."""

    def convert(params):
        return onnx_chainer.functions.convert_ReLU(
            F.relu(chainer.Variable(f32(2))).creator,
            params.opset_version,
            params.input_names,
            params.output_names,
            params.context,
        )

    model = onnx_chainer.export(
        lambda x: Twice(1).apply((x,))[0], f32(2), external_converters={'Twice': convert}
    )
    assert [n.op_type for n in model.graph.node] == ['Relu']


def test_fake_as_funcnode():
    model = L.Linear(2, 2)
    fake = fake_as_funcnode(
        lambda x, c, *, d=3: F.exp(x) * c + d, 'Mine', [(1, 'c')], experimental_warning=False
    )
    found = []

    def convert(params):
        found.append((params.func.c, params.func.d))
        return (onnx_helper.make_node('Exp', params.input_names, params.output_names),)

    exported = onnx_chainer.export(
        lambda x: fake(model(x), 2.0), f32(1, 2), external_converters={'Mine': convert}
    )
    assert [n.op_type for n in exported.graph.node] == ['Gemm', 'Exp']
    assert found == [(2.0, 3)]


def test_as_funcnode():
    with pytest.warns(FutureWarning, match='experimental'):

        @as_funcnode('Pair', [('scale', 'alpha')])
        def pair(xs, scale):
            return {'a': xs[0] * scale, 'b': (xs[1], xs[0])}

        x, y = (chainer.Variable(f32(2)) for _ in range(2))
        result = pair([x, y], scale=2)
    node = result['a'].creator
    assert (node.label, node.alpha) == ('Pair', 2)
    assert result['b'][0].creator is node
    F.sum(result['a'] * 3 + result['b'][0]).backward()
    np.testing.assert_array_equal(x.grad, [6, 6])
    np.testing.assert_array_equal(y.grad, [1, 1])


def test_functions_are_patched_for_the_export_only():
    floor = F.floor
    onnx_chainer.export(lambda x: F.floor(x), f32(2))
    assert F.floor is floor
    with pytest.raises(ZeroDivisionError):
        onnx_chainer.export(lambda x: 1 / 0, f32(2))
    assert F.floor is floor
    assert F.floor(chainer.Variable(f32(2))).creator is None


def test_wrong_args():
    with pytest.raises(TypeError, match='args must be a list, tuple, dict'):
        onnx_chainer.export(MLP(), 3)
    with pytest.raises(TypeError, match='the model must return variables'):
        onnx_chainer.export(lambda x: 3, f32(2))


def test_dropout():
    model = onnx_chainer.export(lambda x: F.dropout(F.relu(x), 0.3), f32(2), train=True)
    assert helpers_of_export.op_types(model) == ['Relu', 'Dropout']
    model = onnx_chainer.export(lambda x: F.dropout(F.relu(x), 0.3), f32(2))
    assert [n.op_type for n in model.graph.node] == ['Relu']


# -- command line ----------------------------------------------------------------------------


def test_command_line(tmp_path, capsys):
    from onnx_chainer.__main__ import main

    path = str(tmp_path / 'model.onnx')
    opset = helpers_of_export.newest_opset()
    onnx_chainer.export(MLP(), f32(2, 3), path, input_shapes=('n', 3), opset_version=opset)
    assert main(['info', path]) == 0
    text = capsys.readouterr().out
    assert 'input: Input_0: float32 (n, 3)' in text
    assert 'Gemm: 2' in text
    assert main(['check', path]) == 0
    np.savez(tmp_path / 'in.npz', Input_0=f32(4, 3))
    saved = str(tmp_path / 'out.npz')
    assert main(['run', path, '--inputs', str(tmp_path / 'in.npz'), '--outputs', saved]) == 0
    assert np.load(saved)['LinearFunction_1'].shape == (4, 2)
    assert main(['run', path, '--length', '5']) == 0
    assert 'float32 (5, 2)' in capsys.readouterr().out
    (tmp_path / 'bad.onnx').write_bytes(b'no model')
    assert main(['check', str(tmp_path / 'bad.onnx')]) == 1
    assert 'Error' in capsys.readouterr().err
