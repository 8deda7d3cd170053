"""Products of 8-bit integers, in the C++ runner and in the importer, beside NumPy and ONNX Runtime."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

onnx = pytest.importorskip('onnx')
onnxruntime = pytest.importorskip('onnxruntime')
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx_chainer_tests import helpers_of_runtime  # noqa: E402
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented  # noqa: A004, E402

import chainerx  # noqa: E402
import onnx_chainer  # noqa: E402

needs_chainerx = pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built')
pytestmark = pytest.mark.chainerx

SHAPES = [
    ((1, 1), (1, 1)),
    ((1, 130), (130, 3)),
    ((2, 3), (3, 5)),
    ((7, 129), (129, 31)),
    ((17, 64), (64, 48)),
    ((33, 65), (65, 130)),
    ((100, 1), (1, 100)),
    ((130, 4), (4, 1)),
    ((64, 128), (128, 130)),
    ((2, 3, 5, 7), (7, 4)),
    ((2, 1, 3, 4), (3, 4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 3, 4), (2, 4, 6)),
    ((4,), (4, 3)),
    ((2, 3, 4), (4,)),
]
EMPTY = [((0, 4), (4, 3)), ((3, 0), (0, 4)), ((3, 4), (4, 0)), ((0, 3, 4), (0, 4, 5))]
DTYPES = list(itertools.product(['uint8', 'int8'], repeat=2))
ENGINES = [pytest.param('runner', marks=needs_chainerx), 'importer']


def numbers(shape, dtype, seed=0):
    """Integers of the dtype, of which the least and the largest are frequent."""
    random = np.random.RandomState(seed)
    limits = np.iinfo(dtype)
    x = random.randint(limits.min, limits.max + 1, shape)
    x = np.where(random.rand(*shape) < 0.2, random.choice([limits.min, limits.max], shape), x)
    return x.astype(dtype)


def model_of(nodes, inputs, outputs, constants, opset=21):
    """A file with nodes; ``inputs`` are arrays by name, ``outputs`` dtypes by name."""
    graph = helper.make_graph(
        nodes,
        'graph',
        [
            helper.make_tensor_value_info(
                name,
                helper.np_dtype_to_tensor_dtype(x.dtype),
                [f'{name}{i}' for i in range(x.ndim)],
            )
            for name, x in inputs.items()
        ],
        [helper.make_tensor_value_info(name, dtype, None) for name, dtype in outputs.items()],
        [numpy_helper.from_array(x, name) for name, x in constants.items()],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=10
    ).SerializeToString()


def runtime(model, inputs):
    """What ONNX Runtime gives; ``None`` if its version has no such operator for these types."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(model, options, ['CPUExecutionProvider'])
    except NotImplemented:
        return None
    return session.run(None, inputs)


def ours(engine, model, inputs):
    """What the C++ runner or the importer gives."""
    if engine == 'runner':
        ys = chainerx.onnx.load(model)(*map(chainerx.array, inputs.values()))
        return [chainerx.to_numpy(y) for y in (ys if isinstance(ys, (list, tuple)) else [ys])]
    ys = onnx_chainer.load(model)(*inputs.values())
    return [getattr(y, 'array', y) for y in (ys if isinstance(ys, (list, tuple)) else [ys])]


def product(a, b, a_zero=None, b_zero=None, constant=True):
    """A file with MatMulInteger, and its inputs."""
    arrays = {'a': a, 'b': b, 'a_zero': a_zero, 'b_zero': b_zero}
    names = [name if x is not None else '' for name, x in arrays.items()]
    arrays = {name: x for name, x in arrays.items() if x is not None}
    fed = ['a', 'a_zero'] if constant else list(arrays)
    inputs = {name: arrays[name] for name in fed if name in arrays}
    constants = {name: x for name, x in arrays.items() if name not in inputs}
    node = helper.make_node('MatMulInteger', names, ['y'])
    return model_of([node], inputs, {'y': TensorProto.INT32}, constants), inputs


def expected_product(a, b, a_zero=0, b_zero=0):
    return np.matmul(a.astype('q') - a_zero, b.astype('q') - b_zero).astype('i')


@pytest.mark.parametrize('engine', ENGINES)
@pytest.mark.parametrize(('a_shape', 'b_shape'), SHAPES)
def test_products_are_those_of_onnx_runtime(engine, a_shape, b_shape):
    for a_dtype, b_dtype in DTYPES:
        a, b = numbers(a_shape, a_dtype), numbers(b_shape, b_dtype, 1)
        a_zero, b_zero = numbers((), a_dtype, 2), numbers((), b_dtype, 3)
        columns = numbers(b_shape[-1:], b_dtype, 4) if b.ndim > 1 else b_zero
        for zeros in (None, None), (a_zero, b_zero), (a_zero, columns), (None, columns):
            if zeros[1] is columns and b.ndim > 2:
                continue  # ONNX Runtime wants them in another shape
            for constant in True, False:
                model, inputs = product(a, b, *zeros, constant)
                y = ours(engine, model, inputs)[0]
                exact = [0 if z is None else z.astype('q') for z in zeros]
                np.testing.assert_array_equal(y, expected_product(a, b, *exact))
                assert y.dtype == np.int32
                expected = runtime(model, inputs)
                if expected is not None and helpers_of_runtime.is_exact(a, b):
                    np.testing.assert_array_equal(y, expected[0])


@pytest.mark.parametrize('engine', ENGINES)
@pytest.mark.parametrize(('a_shape', 'b_shape'), EMPTY)
def test_empty_products(engine, a_shape, b_shape):
    for constant in True, False:
        a, b = numbers(a_shape, 'uint8'), numbers(b_shape, 'int8')
        model, inputs = product(a, b, np.uint8(3)[()] * np.ones((), 'B'), None, constant)
        y = ours(engine, model, inputs)[0]
        np.testing.assert_array_equal(y, expected_product(a, b, 3))
        assert y.dtype == np.int32


@pytest.mark.parametrize('engine', ENGINES)
@pytest.mark.parametrize('dtype', ['uint8', 'int8'])
def test_zero_points_of_rows_and_stacks(engine, dtype):
    a, b = numbers((2, 3, 4), dtype), numbers((2, 4, 5), dtype, 1)
    rows, columns = numbers((3,), dtype, 2), numbers((5,), dtype, 3)
    model, inputs = product(a, b, rows, columns, False)
    y = expected_product(a, b, rows[:, None].astype('q'), columns.astype('q'))
    np.testing.assert_array_equal(ours(engine, model, inputs)[0], y)
    rows, columns = numbers((2, 3, 1), dtype, 4), numbers((2, 1, 5), dtype, 5)
    model, inputs = product(a, b, rows, columns, False)
    y = expected_product(a, b, rows.astype('q'), columns.astype('q'))
    np.testing.assert_array_equal(ours(engine, model, inputs)[0], y)


@needs_chainerx
def test_sums_wrap_around():
    a, b = np.full((2, 1 << 17), 255, 'B'), np.full((1 << 17, 3), 127, 'b')
    model, inputs = product(a, b)
    y = ours('runner', model, inputs)[0]
    np.testing.assert_array_equal(y, expected_product(a, b))
    if helpers_of_runtime.is_exact(a, b):
        np.testing.assert_array_equal(y, runtime(model, inputs)[0])


HASH = """
import hashlib, numpy, chainerx
hash = hashlib.sha256()
random = numpy.random.RandomState(0)
for a, b in [(a, b) for a in 'Bb' for b in 'Bb']:
    for m, k, n in (1, 784, 100), (7, 129, 31), (33, 66, 130), (100, 3, 17):
        x, w = [chainerx.array(random.randint(0, 256, s).astype('B').astype(t))
                for s, t in (((m, k), a), ((k, n), b))]
        zeros = [chainerx.array(random.randint(0, 100, s).astype(t)) for s, t in (((), a), (n, b))]
        hash.update(chainerx.to_numpy(chainerx._core._integer_matmul(x, w, *zeros)).tobytes())
    x = chainerx.array(random.normal(0, 3, 1003).astype('f'))
    for y in chainerx._core._quantize_dynamically(x):
        hash.update(chainerx.to_numpy(y).tobytes())
print(hash.hexdigest())
"""


@needs_chainerx
def test_same_bits_on_all_instruction_sets_and_threads():
    variables = [{'CHAINERX_ISA': isa} for isa in ('base', 'v3', 'v4')]
    variables += [{'CHAINERX_NUM_THREADS': str(n)} for n in (1, 2, 3)]
    command = [sys.executable, '-c', HASH]
    hashes = {
        subprocess.check_output(command, text=True, env={**os.environ, **each})
        for each in variables
    }
    assert len(hashes) == 1


def test_runtime_multiplies_bytes_without_a_sign():
    """So that the other tests compare with it."""
    model, inputs = product(numbers((2, 3), 'uint8'), numbers((3, 4), 'int8'))
    assert runtime(model, inputs) is not None


@needs_chainerx
@pytest.mark.parametrize(
    ('arrays', 'message'),
    [
        ([np.ones((2, 3), 'B'), np.ones((4, 5), 'b')], 'does not fit'),
        ([np.ones((2, 2, 3), 'B'), np.ones((3, 3, 5), 'b')], 'broadcast'),
        ([np.ones((), 'B'), np.ones((4, 5), 'b')], 'does not fit'),
        ([np.ones((2, 3), 'f'), np.ones((3, 5), 'b')], 'a has dtype float32'),
        ([np.ones((2, 3), 'B'), np.ones((3, 5), 'i')], 'b has dtype int32'),
        ([np.ones((2, 3), 'B'), np.ones((3, 5), 'b'), np.ones((), 'b')], 'a_zero has dtype int8'),
        ([np.ones((2, 3), 'B'), np.ones((3, 5), 'b'), np.ones(3, 'B')], 'a_zero of shape'),
        ([np.ones((2, 3), 'B'), np.ones((3, 5), 'b'), None, np.ones(3, 'b')], 'b_zero of shape'),
        ([np.ones((2, 3), 'B'), np.ones((3, 5), 'b'), None, np.ones(0, 'b')], 'b_zero of shape'),
    ],
)
def test_wrong_operands(arrays, message):
    arrays = [None if x is None else chainerx.array(x) for x in arrays]
    with pytest.raises(chainerx.ChainerxError, match=message):
        chainerx._core._integer_matmul(*arrays)


@pytest.mark.parametrize('engine', ENGINES)
@pytest.mark.parametrize(
    'x',
    [
        np.random.RandomState(0).normal(0, 3, (7, 145)).astype('f'),
        np.arange(-3, 17, dtype='f').reshape(4, 5) / 2,  # halves, which are rounded to even
        np.array([2, 0.5, 1.5, 255], 'f'),
        np.array([-128, -1.5, 0.5, 127], 'f'),
        np.zeros((3, 2), 'f'),
        np.full((2, 9), -3, 'f'),
        np.full(1, 7, 'f'),
        np.array([1e-36, -1e-37], 'f'),
        np.array([3e38, -1], 'f'),
    ],
)
def test_dynamic_quantization(engine, x):
    node = helper.make_node('DynamicQuantizeLinear', ['x'], ['y', 'scale', 'zero'])
    outputs = {'y': TensorProto.UINT8, 'scale': TensorProto.FLOAT, 'zero': TensorProto.UINT8}
    model = model_of([node], {'x': x}, outputs, {})
    for y, expected in zip(ours(engine, model, {'x': x}), runtime(model, {'x': x}), strict=True):
        np.testing.assert_array_equal(y, expected)
        assert y.dtype == expected.dtype


@needs_chainerx
def test_dynamic_quantization_of_no_numbers_and_no_finite_ones():
    quantize = chainerx._core._quantize_dynamically
    y, scale, zero = map(chainerx.to_numpy, quantize(chainerx.zeros((0, 3), 'f')))
    assert (y.shape, scale, zero) == ((0, 3), 1, 0)
    for bad in np.nan, np.inf, -np.inf:
        x = np.array([1, bad, 2], 'f')
        scale = chainerx.to_numpy(quantize(chainerx.array(x))[1])
        assert not np.isfinite(scale)  # so what comes of the numbers is not finite, either


def dynamic_perceptron(sizes, bias=True, weight_dtype='int8', symmetric=True):
    """Layers as ONNX Runtime's ``quantize_dynamic`` writes them."""
    nodes, constants = [], {}
    name = 'x'
    random = np.random.RandomState(0)
    for i, (k, n) in enumerate(itertools.pairwise(sizes)):
        per_column = i % 2 == 1
        constants[f'w{i}'] = helpers_of_runtime.in_range(numbers((k, n), weight_dtype, i))
        constants[f'zero{i}'] = numbers((n,) if per_column else (), weight_dtype, 9)
        if symmetric:
            constants[f'zero{i}'] = np.zeros_like(constants[f'zero{i}'])
        constants[f'scale{i}'] = random.uniform(0.001, 0.002, (n,) if per_column else ()).astype(
            'f'
        )
        constants[f'bias{i}'] = random.normal(0, 1, n).astype('f')
        nodes += [
            helper.make_node('DynamicQuantizeLinear', [name], [f'q{i}', f's{i}', f'z{i}']),
            helper.make_node('MatMulInteger', [f'q{i}', f'w{i}', f'z{i}', f'zero{i}'], [f'i{i}']),
            helper.make_node('Cast', [f'i{i}'], [f'f{i}'], to=TensorProto.FLOAT),
            helper.make_node('Mul', [f's{i}', f'scale{i}'], [f'm{i}']),
            helper.make_node('Mul', [f'f{i}', f'm{i}'], [f'p{i}']),
        ]
        name = f'p{i}'
        if bias:
            nodes.append(helper.make_node('Add', [f'bias{i}', name], [f'a{i}']))
            name = f'a{i}'
        nodes.append(helper.make_node('Relu', [name], [f'r{i}']))
        name = f'r{i}'
    nodes.append(helper.make_node('Identity', [name], ['y']))
    return nodes, constants


@pytest.mark.parametrize('engine', ENGINES)
@pytest.mark.parametrize('shape', [(1, 20), (9, 20), (2, 3, 20), (0, 20)])
@pytest.mark.parametrize(
    ('bias', 'dtype', 'symmetric'), [(True, 'int8', True), (False, 'uint8', False)]
)
def test_models_of_dynamic_quantization(engine, shape, bias, dtype, symmetric):
    x = np.random.RandomState(0).normal(0, 1, shape).astype('f')
    nodes, constants = dynamic_perceptron([20, 33, 50, 7], bias, dtype, symmetric)
    model = model_of(nodes, {'x': x}, {'y': TensorProto.FLOAT}, constants)
    y = ours(engine, model, {'x': x})[0]
    if 0 in shape:
        assert y.shape == (*shape[:-1], 7)
        return
    expected = runtime(model, {'x': x})[0]
    # The last bit of a sum may move one number of the next layer to the next integer.
    np.testing.assert_allclose(y, expected, atol=2e-3 * abs(expected).max())


@needs_chainerx
@pytest.mark.parametrize('bias', [True, False])
def test_layers_become_two_steps(bias):
    nodes, constants = dynamic_perceptron([20, 33, 7], bias)
    x = np.ones((1, 20), 'f')
    model = chainerx.onnx.load(model_of(nodes, {'x': x}, {'y': TensorProto.FLOAT}, constants))
    assert [step.split('(')[-1] for step in model.steps] == [
        'DynamicQuantizeLinear)',
        'MatMulInteger)',
    ] * 2


@needs_chainerx
@pytest.mark.parametrize('what', ['i0', 'f0', 'm0', 'p0'])
def test_values_in_between_stay(what):
    """A value that is an output, too, is not joined."""
    nodes, constants = dynamic_perceptron([20, 33])
    x = np.random.RandomState(0).normal(0, 1, (3, 20)).astype('f')
    kind = TensorProto.INT32 if what == 'i0' else TensorProto.FLOAT
    model = model_of(nodes, {'x': x}, {'y': TensorProto.FLOAT, what: kind}, constants)
    for y, expected in zip(ours('runner', model, {'x': x}), runtime(model, {'x': x}), strict=True):
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)
