"""Convolutions between pairs of QuantizeLinear and DequantizeLinear, which the runner does in integers."""

import contextlib

import numpy as np
import pytest
from helpers.mutations import mutations

import chainerx

onnx = pytest.importorskip('onnx')
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from onnx_chainer_tests.test_integer_convolutions import expected_convolution  # noqa: E402

pytestmark = [
    pytest.mark.chainerx,
    pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built'),
]

OUT = 6
# Shapes of images and filters, and attributes
CASES = [
    ((2, 8, 9, 11), (OUT, 8, 3, 3), {'pads': [1, 1, 1, 1]}),
    ((2, 8, 9, 11), (OUT, 8, 3, 3), {'pads': [0, 2, 1, 0], 'strides': [2, 3]}),
    ((2, 8, 9, 11), (OUT, 8, 1, 1), {}),
    ((1, 8, 9, 11), (OUT, 8, 1, 1), {'strides': [2, 2]}),
    ((1, 8, 9, 11), (OUT, 4, 3, 3), {'group': 2, 'dilations': [2, 1]}),
    ((1, 8, 9, 11), (OUT, 8, 2, 3), {'dilations': [3, 2], 'strides': [2, 2]}),
    ((2, 6, 9, 11), (OUT, 1, 3, 3), {'group': 6, 'pads': [1, 1, 1, 1]}),
    ((2, 3, 9, 11), (OUT, 1, 3, 3), {'group': 3, 'strides': [2, 2]}),
    ((1, 3, 20, 18), (OUT, 3, 7, 7), {'pads': [3, 3, 3, 3], 'strides': [2, 2]}),
    ((2, 5, 17), (OUT, 5, 4), {'pads': [1, 2]}),
    ((1, 3, 5, 6, 7), (OUT, 3, 2, 3, 2), {'pads': [1, 0, 1, 0, 1, 0], 'strides': [1, 2, 1]}),
]


class Pair:
    """A model of one convolution, as lists that tests change."""

    def __init__(
        self,
        x_shape=(2, 8, 9, 11),
        w_shape=(OUT, 8, 3, 3),
        attributes=None,
        kind='uint8',
        zeros='none',
        per_channel=True,
        bias=True,
        after=(),
        result='int8',
        opset=21,
    ):
        random = np.random.RandomState(0)
        self.opset = opset
        self.attributes = attributes or {}
        self.x_shape = x_shape
        channels = (OUT,) if per_channel else ()
        self.arrays = {
            'x_scale': np.array(0.02, 'f'),
            'x_zero': np.array(131 if kind == 'uint8' else -3, kind),
            'w': random.randint(-127, 128, w_shape).astype('b'),
            'w_scale': np.asarray(random.uniform(0.001, 0.01, channels), 'f'),
        }
        if zeros == 'one':
            self.arrays['w_zero'] = np.full(channels, -7, 'b')
        elif zeros == 'each':
            self.arrays['w_zero'] = np.asarray(random.randint(-9, 9, channels), 'b')
        elif zeros == 'unsigned':
            self.arrays['w'] = (self.arrays['w'].astype('i') + 128).astype('B')
            self.arrays['w_zero'] = np.full(channels, 128, 'B')
        if bias:
            self.arrays['b'] = random.normal(size=OUT).astype('f')
        w = ['w', 'w_scale', *sorted({'w_zero'} & set(self.arrays))]
        axis = {'axis': 0} if per_channel else {}
        self.nodes = [
            node('QuantizeLinear', ['x', 'x_scale', 'x_zero'], 'q'),
            node('DequantizeLinear', ['q', 'x_scale', 'x_zero'], 'dx'),
            node('DequantizeLinear', w, 'dw', **axis),
            node('Conv', ['dx', 'dw', *(['b'] if bias else [])], 'v0', **self.attributes),
        ]
        self.count = 0
        for op, inputs, more in after:
            self.add(op, *inputs, **more)
        if result is not None:
            self.arrays['y_scale'] = np.array(0.013, 'f')
            self.arrays['y_zero'] = np.array(100 if result == 'uint8' else 5, result)
            self.add('QuantizeLinear', 'y_scale', 'y_zero')
        self.result = result

    def add(self, op, *inputs, **attributes):
        """Appends a node to the end of the chain; inputs may be arrays."""
        names = [f'v{self.count}']
        for i, each in enumerate(inputs):
            name = each if isinstance(each, str) else f'c{self.count}_{i}'
            if not isinstance(each, str):
                self.arrays[name] = each
            names.append(name)
        self.count += 1
        self.nodes.append(node(op, names, f'v{self.count}', **attributes))

    def model(self, outputs=()):
        y = helper.make_tensor_value_info(f'v{self.count}', kind_of(self.result), None)
        graph = helper.make_graph(
            self.nodes,
            'pairs',
            [helper.make_tensor_value_info('x', TensorProto.FLOAT, self.x_shape)],
            [y, *outputs],
            [numpy_helper.from_array(value, name) for name, value in self.arrays.items()],
        )
        opsets = [helper.make_opsetid('', self.opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def x(self):
        return np.random.RandomState(1).uniform(-3, 3, self.x_shape).astype('f')

    def numbers(self):
        """What the integers mean by the formulas of the operators in float32, with exact sums."""
        zero = self.arrays['x_zero']
        q = quantized(self.x(), self.arrays['x_scale'], zero).astype('q') - int(zero)
        w = self.arrays['w'].astype('q')
        columns = (-1,) + (1,) * (w.ndim - 1)
        if 'w_zero' in self.arrays:
            w = w - self.arrays['w_zero'].astype('q').reshape(columns)
        scale = (self.arrays['x_scale'] * self.arrays['w_scale']).reshape(columns[:-1])
        y = expected_convolution(q, w, self.attributes).astype('f') * scale
        return y + self.arrays['b'].reshape(columns[:-1]) if 'b' in self.arrays else y


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs, [output], **attributes)


def kind_of(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype or 'f'))


def quantized(x, scale, zero):
    limits = np.iinfo(zero.dtype)
    return np.clip(np.rint(x / scale) + int(zero), limits.min, limits.max).astype(zero.dtype)


def run(model, x):
    load = chainerx.onnx.load(model.SerializeToString())
    ys = load(x)
    ys = ys if isinstance(ys, (list, tuple)) else [ys]
    return [chainerx.to_numpy(y) for y in ys], load.steps


@pytest.mark.parametrize('result', [None, 'uint8', 'int8'])
@pytest.mark.parametrize('case', range(len(CASES)))
def test_sums_are_exact(case, result):
    """Each result has the bits of the formulas, in two steps."""
    for more in (
        {},
        {'kind': 'int8', 'bias': False},
        {'per_channel': False, 'zeros': 'one'},
        {'zeros': 'each', 'kind': 'int8'},
        {'zeros': 'unsigned'},
    ):
        pair = Pair(*CASES[case], result=result, **more)
        (y,), steps = run(pair.model(), pair.x())
        assert len(steps) == 2
        expected = pair.numbers()
        if result is not None:
            expected = quantized(expected, pair.arrays['y_scale'], pair.arrays['y_zero'])
            assert len(np.unique(y)) > 8
        assert y.dtype == expected.dtype
        np.testing.assert_array_equal(y, expected)


LIMITS = np.array(-0.5, 'f'), np.array(0.75, 'f')
AFTER = {
    'Relu': ([('Relu', [], {})], lambda y: np.maximum(y, 0)),
    'Clip': ([('Clip', LIMITS, {})], lambda y: np.clip(y, *LIMITS)),
    'Clip from below': ([('Clip', LIMITS[:1], {})], lambda y: np.maximum(y, LIMITS[0])),
    'Clip from above': ([('Clip', ['', LIMITS[1]], {})], lambda y: np.minimum(y, LIMITS[1])),
}


@pytest.mark.parametrize('result', [None, 'uint8', 'int8'])
@pytest.mark.parametrize('name', AFTER)
def test_activations_are_joined(name, result):
    after, formula = AFTER[name]
    pair = Pair(after=after, result=result)
    (y,), steps = run(pair.model(), pair.x())
    assert len(steps) == 2
    expected = formula(pair.numbers())
    if result is not None:
        expected = quantized(expected, pair.arrays['y_scale'], pair.arrays['y_zero'])
    np.testing.assert_array_equal(y, expected)


def test_limits_that_are_attributes():
    pair = Pair(
        after=[('Clip', [], {'min': -0.5, 'max': 0.75})], result=None, per_channel=False, opset=10
    )
    (y,), steps = run(pair.model(), pair.x())
    assert len(steps) == 2
    np.testing.assert_array_equal(y, np.clip(pair.numbers(), *LIMITS))


@pytest.mark.parametrize('bias', [False, True])
def test_batch_normalization_is_joined(bias):
    random = np.random.RandomState(3)
    constants = [random.uniform(0.5, 2, OUT).astype('f') for _ in range(4)]
    pair = Pair(
        after=[('BatchNormalization', constants, {}), ('Relu', [], {})], bias=bias, result=None
    )
    (y,), steps = run(pair.model(), pair.x())
    assert len(steps) == 2
    gamma, beta, mean, var = (each.astype('d').reshape(-1, 1, 1) for each in constants)
    expected = np.maximum((pair.numbers() - mean) / np.sqrt(var + 1e-5) * gamma + beta, 0)
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


def as_expected(pair, outputs=(), inputs=None, steps=None, tolerance=1):
    """Compares with the operators one after the other, whose sums are rounded."""
    model = pair.model([helper.make_tensor_value_info(n, k, None) for n, k in outputs])
    ys, seen = run(model, pair.x())
    expected = ReferenceEvaluator(model).run(None, {'x': pair.x(), **(inputs or {})})
    for y, e in zip(ys, expected, strict=True):
        assert y.dtype == e.dtype
        if e.dtype == np.float32:
            np.testing.assert_allclose(y, e, rtol=1e-4, atol=1e-4)
        else:
            assert abs(y.astype('i') - e).max() <= tolerance
    if steps is not None:
        assert len(seen) == steps


@pytest.mark.parametrize('name', ['v0', 'v1', 'q', 'dx', 'dw'])
def test_outputs_in_the_middle(name):
    """A value that the graph gives is not joined away."""
    kind = TensorProto.UINT8 if name == 'q' else TensorProto.FLOAT
    as_expected(Pair(after=[('Relu', [], {})]), [(name, kind)])


def test_numbers_that_are_used_twice():
    """The rounded input, the weights, and the result of a convolution, each by two nodes."""
    pair = Pair((2, OUT, 9, 11), (OUT, OUT, 3, 3), {'pads': [1, 1, 1, 1]}, result=None)
    pair.nodes.append(node('Relu', ['v0'], 'r'))
    pair.add('Add', 'r')
    pair.add('Add', 'dx')
    pair.nodes.append(node('Conv', ['v2', 'dw'], 'again', pads=[1, 1, 1, 1]))
    pair.add('Add', 'again')
    as_expected(pair)


def test_result_that_is_another_input_of_what_follows():
    """The next node has it twice, or not as its first input."""
    pair = Pair(result=None)
    pair.add('Clip', 'v0')
    pair.nodes.pop()
    pair.count = 0
    pair.add('Mul', 'v0')
    as_expected(pair)
    pair = Pair(result=None)
    pair.nodes.append(node('QuantizeLinear', ['k', 'one'], 'far'))
    pair.arrays.update(k=np.ones(3, 'f'), one=np.ones((), 'f'))
    as_expected(pair, [('far', TensorProto.UINT8)])


def changed(change):
    """A model whose convolution is not of integers, or does not end in them."""
    if change == 'scales of another axis':
        pair = Pair()
        pair.arrays['w_scale'] = np.full(8, 0.01, 'f')
        pair.nodes[2] = node('DequantizeLinear', ['w', 'w_scale'], 'dw', axis=1)
    elif change == 'blocks':
        pair = Pair(per_channel=False)
        pair.arrays['w_scale'] = np.full((OUT, 2, 3, 3), 0.01, 'f')
        pair.nodes[2] = node('DequantizeLinear', ['w', 'w_scale'], 'dw', axis=1, block_size=4)
    elif change == 'scales of the input':
        pair = Pair()
        pair.arrays.update(x_scale=np.full(8, 0.02, 'f'), x_zero=np.full(8, 131, 'B'))
        for i, (op, value) in enumerate([('QuantizeLinear', 'x'), ('DequantizeLinear', 'q')]):
            names = [value, 'x_scale', 'x_zero']
            pair.nodes[i] = node(op, names, pair.nodes[i].output[0], axis=1)
    elif change == '16 bits':
        pair = Pair()
        pair.arrays['w'] = pair.arrays['w'].astype('h')
    elif change == 'no zero point':
        pair = Pair()
        pair.nodes[1] = node('DequantizeLinear', ['q', 'x_scale'], 'dx')
    elif change == 'scale and zero point of the input of the graph':
        pair = Pair()
        for name in 'x_scale', 'w_scale':
            pair.arrays['c' + name] = pair.arrays.pop(name)
            pair.nodes.insert(0, node('Mul', ['c' + name, 'unit'], name))
        pair.nodes.insert(0, node('ReduceMax', ['sized'], 'unit', keepdims=0))
        pair.nodes.insert(0, node('Exp', ['nothing'], 'sized'))
        pair.nodes.insert(0, node('Mul', ['x', 'zero'], 'nothing'))
        pair.arrays['zero'] = np.zeros((), 'f')
    elif change == 'results of channels':
        pair = Pair(result=None)
        pair.result = 'int8'
        scale, zero = np.full(OUT, 0.02, 'f'), np.arange(OUT, dtype='b')
        pair.add('QuantizeLinear', scale, zero, axis=1)
    elif change == 'results of 16 bits':
        pair = Pair(result=None)
        pair.result = 'int16'
        pair.add('QuantizeLinear', np.array(0.001, 'f'), np.array(3, 'h'))
    elif change == 'bias that is computed':
        pair = Pair(bias=False)
        pair.nodes.insert(3, node('ReduceMean', ['x', 'axes'], 'b', keepdims=0))
        pair.nodes[4].input.append('b')
        pair.arrays['axes'] = np.array([0, 2, 3])
        pair.x_shape = (2, OUT, 9, 11)
        pair.arrays['w'] = pair.arrays['w'][:, :OUT]
    elif change == 'limits that are computed':
        pair = Pair()
        pair.nodes.insert(0, node('ReduceMin', ['x'], 'least', keepdims=0))
        pair.nodes[-1] = node('Clip', ['v0', 'least'], 'v1')
        pair.result = None
    return pair


@pytest.mark.parametrize(
    'change',
    [
        'scales of another axis',
        'blocks',
        'scales of the input',
        '16 bits',
        'no zero point',
        'scale and zero point of the input of the graph',
        'results of channels',
        'results of 16 bits',
        'bias that is computed',
        'limits that are computed',
    ],
)
def test_other_convolutions(change):
    as_expected(changed(change))


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('w_scale', np.ones(5, 'f')),
        ('w_scale', np.ones((2, 2), 'f')),
        ('w_scale', np.ones(0, 'f')),
        ('w_zero', np.zeros(5, 'b')),
        ('b', np.zeros(5, 'f')),
        ('x_zero', np.zeros(2, 'B')),
        ('y_scale', np.ones(3, 'f')),
        ('y_zero', np.zeros(3, 'b')),
        ('w', np.ones((OUT, 7, 3, 3), 'b')),
        ('w', np.ones((OUT, 8, 3), 'b')),
    ],
)
def test_shapes_that_do_not_fit(name, value):
    """A hostile file is refused when it is loaded or run."""
    pair = Pair(zeros='each')
    pair.arrays[name] = value
    with pytest.raises(chainerx.ChainerxError):
        run(pair.model(), pair.x())


def test_integers_of_another_dtype_than_their_zero_point():
    pair = Pair()
    pair.nodes[0] = node('Cast', ['x'], 'q', to=TensorProto.INT32)
    with pytest.raises(chainerx.ChainerxError):
        run(pair.model(), pair.x())


@pytest.mark.parametrize('scale', [0.0, -0.01, np.inf, np.nan, 1e-44, 1e38])
@pytest.mark.parametrize('name', ['x_scale', 'w_scale', 'y_scale'])
def test_scales_that_are_no_scales(name, scale):
    """There are no errors, and the results are those of the formulas where they are numbers."""
    pair = Pair(after=[('Relu', [], {})])
    pair.arrays[name] = np.full_like(pair.arrays[name], scale)
    if name == 'x_scale':
        run(pair.model(), pair.x())
        return
    with np.errstate(all='ignore'):
        y = np.maximum(pair.numbers(), 0) / pair.arrays['y_scale']
        zero = int(pair.arrays['y_zero'])
        # NaN is the least integer here; others leave it open.
        y = np.where(np.isnan(y), -128 - zero, np.clip(y, -128 - zero, 127 - zero))
    expected = (np.rint(y) + zero).astype('b')
    np.testing.assert_array_equal(run(pair.model(), pair.x())[0][0], expected)


@pytest.mark.parametrize('case', range(0, len(CASES), 3))
def test_damaged_files(case):
    """Errors of the loader, or results, but nothing else."""
    pair = Pair(*CASES[case], zeros='each', after=[('Relu', [], {})])
    ran = 0
    for damaged in mutations(pair.model().SerializeToString(), case, 100):
        with contextlib.suppress(chainerx.ChainerxError, MemoryError):
            chainerx.onnx.load(damaged)(pair.x())
            ran += 1
    assert ran > 0
