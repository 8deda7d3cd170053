"""Calls of operators: rows for values on all devices, and for gradients.

A row has the operator, its inputs, its attributes, the opset, the number of outputs, what to
expect (a function of the inputs, ``None`` for ONNX Runtime, or ``...`` for NumPy's results, where
only ONNX's suite and newer versions of ONNX Runtime have others), and the numbers of the inputs whose
gradients are checked.
"""

from typing import Any, NamedTuple

import numpy as np

RNG = np.random.RandomState(0)


class Row(NamedTuple):
    op: str
    inputs: list
    attributes: dict
    opset: int
    outputs: int
    expected: Any
    gradients: tuple

    def __str__(self):
        words = [f'{k}={v}' for k, v in self.attributes.items() if not isinstance(v, (list, tuple, np.ndarray))]
        return '-'.join([self.op, str(self.opset), *words])


ROWS = []


def row(op, inputs, opset=18, outputs=1, expected=None, gradients=(0,), **attributes):
    ROWS.append(Row(op, inputs, attributes, opset, outputs, expected, gradients))


def real(*shape):
    """Numbers between -1 and 1 that keep away from 0 and from each other."""
    count = int(np.prod(shape))
    values = (RNG.permutation(count) + 0.5) / max(count, 1) * 2 - 1
    return np.where(abs(values) < 0.02, 0.3, values).reshape(shape)


def i64(*values):
    return np.array(values, np.int64)


X = real(2, 3, 4)
POSITIVE = abs(real(2, 3, 4)) + 0.2
IMAGE = real(2, 4, 5, 6)

# Elements.
for name in 'Neg', 'Exp', 'Sin', 'Cos', 'Tan', 'Asin', 'Acos', 'Atan', 'Sinh', 'Cosh', 'Asinh', 'Atanh', 'Erf', 'Abs':
    row(name, [X * 0.9])
for name in 'Log', 'Sqrt', 'Reciprocal':
    row(name, [POSITIVE])
row('Acosh', [POSITIVE + 1])
for name in 'Floor', 'Ceil', 'Round', 'Sign':
    row(name, [X * 3], gradients=())
for name in 'Add', 'Sub', 'Mul', 'Div':
    row(name, [X, POSITIVE[0, :, :1]], gradients=(0, 1))
    row(name, [np.array([[7, -7], [5, -9]], np.int32), np.array([2, 3], np.int32)], gradients=())
row('Add', [X, real(3)], 6, broadcast=1, axis=1, expected=lambda x, b: x + b[:, None], gradients=(0, 1))
row('Mul', [X, real(2, 3)], 6, broadcast=1, axis=0, expected=lambda x, b: x * b[..., None])
row('Pow', [POSITIVE, np.array(2.5)])
row('Pow', [POSITIVE, real(4)], gradients=(0, 1))
row('Pow', [np.array([2, 3], np.int64), np.array([3.0, 2.0])], gradients=(), expected=lambda a, b: np.array([8, 9]))
row('Mod', [np.array([-7, 7]), np.array([3, -3])], gradients=())
row('Mod', [real(4) * 5, real(4) * 2], fmod=1)
row('Max', [X, X[::-1].copy(), real(4) + 0.011], gradients=(0, 1, 2))
row('Min', [X, X[::-1].copy()], gradients=(0, 1))
row('Sum', [X, real(4), real(3, 1)], gradients=(0, 1, 2))
row('Mean', [X, real(2, 3, 4)], gradients=(0, 1))
row('Clip', [X, np.array(-0.51), np.array(0.37)])
row('Clip', [X], 6, min=-0.51, max=0.37, expected=lambda x: x.clip(-0.51, 0.37))
row('Clip', [X, None, np.array(0.37)])
row('Where', [X > 0, X, real(4)], gradients=(1, 2))
row('Cast', [X * 5], to=7, gradients=())
row('Cast', [X > 0], to=1, gradients=())
row('BitShift', [np.array([200, 3], np.uint8), np.array([1, 9], np.uint8)], direction='LEFT', gradients=(), expected=lambda a, b: np.array([144, 0], np.uint8))

# Activations.
for name in 'Relu', 'LeakyRelu', 'Elu', 'Selu', 'Celu', 'Sigmoid', 'Tanh', 'HardSigmoid', 'HardSwish', 'Softplus', 'Softsign', 'Mish', 'ThresholdedRelu', 'Shrink':
    row(name, [X * 2.0])
row('Gelu', [X], 20)
row('Gelu', [X], 20, approximate='tanh')
row('Swish', [X], 24, alpha=0.5, expected=lambda x: x / (1 + np.exp(-0.5 * x)))
row('PRelu', [X, real(3, 1)], gradients=(0, 1))
row('PRelu', [X, real(3)], 6, expected=lambda x, a: np.where(x > 0, x, x * a[:, None]), gradients=(0, 1))
row('Softmax', [X], 13, axis=1)
row('Softmax', [X], 11, axis=1, expected=lambda x: (lambda e: (e / e.sum(1, keepdims=True)).reshape(x.shape))(np.exp(x.reshape(2, 12))))
row('LogSoftmax', [X], 13)
row('LogSoftmax', [X], 11, expected=lambda x: (lambda a: (a - np.log(np.exp(a).sum(1, keepdims=True))).reshape(x.shape))(x.reshape(2, 12)))
row('Hardmax', [X], axis=1, gradients=())
row('Dropout', [X], 10)

# Matrices.
row('MatMul', [X, real(4, 5)], gradients=(0, 1))
row('MatMul', [real(4), real(2, 4, 3)], gradients=(0, 1))
row('MatMul', [real(2, 1, 3, 4), real(3, 4, 2)], gradients=(0, 1))
row('MatMul', [real(2, 3, 4), real(4)], gradients=(0, 1))
row('Gemm', [real(3, 2), real(4, 3), real(4)], transA=1, transB=1, alpha=0.5, beta=2.0, gradients=(0, 1, 2))
row('Gemm', [real(2, 3), real(4, 3), real(4)], transB=1, gradients=(0, 1, 2))
row('Einsum', [X, real(4, 5)], equation='bij, jk -> bik', gradients=(0, 1))
row('Det', [real(2, 3, 3) + 2 * np.eye(3)])

# Convolutions and pooling.
row('Conv', [IMAGE, real(6, 2, 3, 2), real(6)], group=2, strides=[2, 1], pads=[1, 0, 0, 2], gradients=(0, 1, 2))
row('Conv', [IMAGE, real(2, 4, 3, 3)], auto_pad='SAME_UPPER', strides=[2, 2], gradients=(0, 1))
row('Conv', [real(1, 2, 9), real(3, 2, 3)], dilations=[2], pads=[1, 1], gradients=(0, 1))
row('ConvTranspose', [IMAGE, real(4, 2, 3, 3), real(4)], group=2, strides=[2, 1], pads=[1, 0, 0, 1], output_padding=[1, 0], gradients=(0, 1, 2))
row('ConvTranspose', [IMAGE, real(4, 2, 3, 3)], strides=[2, 2], pads=[1, 1, 1, 1], gradients=(0, 1))
row('DeformConv', [real(1, 2, 4, 4), real(2, 2, 2, 2), real(1, 8, 3, 3) * 0.4, real(2), real(1, 4, 3, 3)], 19, expected=..., gradients=(0, 1, 2, 3, 4))
row('Col2Im', [real(1, 8, 6), i64(3, 4), i64(2, 2)], gradients=(0,))
row('MaxPool', [IMAGE], kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1])
row('MaxPool', [IMAGE], kernel_shape=[2, 2], dilations=[2, 1], ceil_mode=1, strides=[2, 2])
row('MaxPool', [IMAGE], kernel_shape=[2, 2], strides=[2, 2])
row('AveragePool', [IMAGE], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
row('AveragePool', [IMAGE], kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
row('AveragePool', [IMAGE], 19, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1, auto_pad='VALID')
row('LpPool', [IMAGE], kernel_shape=[2, 2], p=3, expected=lambda x: sum(abs(x[:, :, i : i + 4, j : j + 5]) ** 3 for i in (0, 1) for j in (0, 1)) ** (1 / 3))
row('GlobalAveragePool', [IMAGE])
row('GlobalMaxPool', [IMAGE])
row('GlobalLpPool', [IMAGE], expected=lambda x: np.sqrt((x * x).sum((2, 3), keepdims=True)))
row('MaxUnpool', [real(1, 1, 2, 2), np.array([[[[0, 3], [8, 15]]]])], kernel_shape=[2, 2], strides=[2, 2])

# Moving elements.
row('Reshape', [X, i64(0, -1)])
row('Reshape', [X], 1, shape=[4, -1], expected=lambda x: x.reshape(4, -1))
row('Flatten', [X], axis=2)
row('Transpose', [X], perm=[2, 0, 1])
row('Squeeze', [real(1, 3, 1), i64(0)])
row('Squeeze', [real(1, 3, 1)], 11, axes=[2])
row('Unsqueeze', [X, i64(0, -1)])
row('Unsqueeze', [X], 11, axes=[1])
row('Concat', [X, real(2, 1, 4)], axis=1, gradients=(0, 1))
row('Split', [X, i64(1, 3)], outputs=2, axis=2)
row('Split', [X], 18, outputs=2, axis=1, num_outputs=2)
row('Split', [X], 11, outputs=2, axis=2, split=[3, 1])
row('Slice', [X, i64(-1, 0), i64(-100, 2), i64(2, 1), i64(-2, 1)])
row('Slice', [X], 9, starts=[1], ends=[9], axes=[2], expected=lambda x: x[:, :, 1:])
row('Tile', [X, i64(1, 2, 1)])
row('Expand', [real(3, 1), i64(2, 1, 4)])
row('Pad', [X, i64(0, 1, -1, 0, 0, 2), np.array(1.5)])
row('Pad', [X, i64(1, 2), None, i64(2)], mode='reflect')
row('Pad', [X, i64(0, 1, 2, 0, 1, 0)], mode='edge')
row('Pad', [X], 2, pads=[0, 0, 1, 0, 0, 0], value=2.0, expected=lambda x: np.pad(x, ((0, 0), (0, 0), (1, 0)), constant_values=2.0))
row('DepthToSpace', [real(1, 8, 2, 3)], blocksize=2, mode='CRD')
row('SpaceToDepth', [real(1, 2, 4, 6)], blocksize=2)
row('Trilu', [real(2, 3, 4), np.array(1)], upper=0)
row('ReverseSequence', [real(4, 3), i64(1, 4, 2)], time_axis=0, batch_axis=1)
row('Gather', [real(5, 3), np.array([[0, -1], [2, 2]])])
row('Gather', [X, np.array(-1)], axis=1)
row('GatherElements', [X, RNG.randint(-3, 3, (2, 2, 4))], axis=1)
row('GatherND', [X, np.array([[[0, 1]], [[2, 3]]])], batch_dims=1)
row('ScatterElements', [X, np.array([[[0, 1, 2, 1]]]), real(1, 1, 4)], axis=1, gradients=(0, 2))
row('ScatterElements', [X, np.array([[[0, 0]]]), real(1, 1, 2)], axis=2, reduction='add', gradients=(0, 2))
row('ScatterND', [X, np.array([[0, 1], [1, 2]]), real(2, 4)], gradients=(0, 2))
row('ScatterND', [X, np.array([[0, 1], [1, 2]]), real(2, 4)], reduction='max', gradients=())
row('Compress', [X, np.array([True, False, True])], axis=1, gradients=())
row('OneHot', [i64(0, 5, -1), np.array(3), np.array([2.0, 4.0])], gradients=())
row('NonZero', [np.array([[1, 0], [0, 3]])], gradients=())
row('Shape', [X], start=1, gradients=())
row('Size', [X], gradients=())

# Reductions.
for name in 'ReduceSum', 'ReduceMean', 'ReduceMax', 'ReduceMin', 'ReduceProd', 'ReduceL1', 'ReduceL2', 'ReduceLogSumExp', 'ReduceSumSquare':
    row(name, [X, i64(0, -1)], keepdims=0)
    row(name, [X], 11, axes=[1])
row('ReduceLogSum', [POSITIVE, i64(1)])
row('ReduceSum', [X], noop_with_empty_axes=1, expected=lambda x: x)
row('ArgMax', [X], axis=1, keepdims=0, gradients=())
row('ArgMin', [np.array([1, 0, 0])], select_last_index=1, gradients=())
row('CumSum', [X, np.array(1)], exclusive=1, reverse=1)
row('CumProd', [X, np.array(2)], 26, expected=lambda x, axis: np.cumprod(x, 2))
row('TopK', [X, i64(2)], outputs=2, axis=1, gradients=(0,))
row('TopK', [X, i64(2)], outputs=2, axis=1, largest=0, gradients=())

# Normalizations.
row('BatchNormalization', [X, real(3), real(3), real(3), abs(real(3)) + 0.5], gradients=(0, 1, 2))
row('InstanceNormalization', [X, real(3), real(3)], gradients=(0, 1, 2))
row('LayerNormalization', [X, real(4), real(4)], gradients=(0, 1, 2))
row('LayerNormalization', [X, real(3, 4)], axis=1, gradients=(0, 1))
row('LpNormalization', [X], axis=1, p=1)
row('LRN', [real(1, 6, 2, 2)], size=3, alpha=0.5)
row('MeanVarianceNormalization', [IMAGE])

row('GroupNormalization', [real(2, 4, 3), real(4), real(4)], 21, num_groups=2, gradients=(0, 1, 2))
row('RMSNormalization', [X, real(4)], 23, expected=lambda x, s: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * s, gradients=(0, 1))

# Sampling.
row('Resize', [real(1, 1, 4, 5), None, np.array([1, 1, 2, 0.6], np.float32)], mode='linear')
row('Resize', [real(1, 1, 4, 5), None, None, i64(1, 1, 7, 3)], mode='cubic', coordinate_transformation_mode='align_corners')
row('Resize', [real(1, 1, 4, 5), None, None, i64(1, 1, 8, 3)], mode='nearest', nearest_mode='floor', coordinate_transformation_mode='asymmetric')
row('Upsample', [real(1, 1, 2, 2), np.array([1, 1, 2, 3], np.float32)], 9, expected=lambda x, s: x.repeat(2, 2).repeat(3, 3))
row('GridSample', [real(1, 2, 4, 5), real(1, 3, 3, 2) * 0.83], 20, mode='linear', gradients=(0, 1))
row('GridSample', [real(1, 2, 4, 5), real(1, 3, 3, 2) * 1.3], 20, mode='cubic', padding_mode='border', gradients=(0,))
row('GridSample', [real(1, 2, 4, 5), real(1, 3, 3, 2) * 1.3], 20, padding_mode='reflection', align_corners=1, gradients=(0,))
row('RoiAlign', [real(1, 2, 5, 5), np.array([[0.5, 0.5, 3.7, 4.1]]), i64(0)], output_height=2, output_width=2, sampling_ratio=2)
row('MaxRoiPool', [np.arange(16.0).reshape(1, 1, 4, 4), np.array([[0.0, 0, 0, 3, 3]])], pooled_shape=[2, 2], gradients=())

# Recurrent layers, attention, transforms.
row('RNN', [real(3, 2, 4), real(1, 5, 4), real(1, 5, 5), real(1, 10)], outputs=2, hidden_size=5, gradients=(0, 1, 2, 3))
row('GRU', [real(3, 2, 4), real(1, 15, 4), real(1, 15, 5), real(1, 30)], outputs=2, hidden_size=5, gradients=(0, 1, 2, 3))
row('GRU', [real(3, 2, 4), real(1, 15, 4), real(1, 15, 5), real(1, 30)], outputs=2, hidden_size=5, linear_before_reset=1, gradients=(0, 1, 2, 3))
row('LSTM', [real(3, 2, 4), real(1, 20, 4), real(1, 20, 5), real(1, 40), None, real(1, 2, 5), real(1, 2, 5), real(1, 15)], outputs=3, hidden_size=5, gradients=(0, 1, 2, 3, 5, 6, 7))
row('Attention', [real(1, 4, 3, 2), real(1, 2, 5, 2), real(1, 2, 5, 3)], 23, is_causal=1, gradients=(0, 1, 2))
row('Attention', [real(2, 3, 8), real(2, 3, 8), real(2, 3, 8), real(3, 3)], 23, q_num_heads=2, kv_num_heads=2, softcap=2.0, expected=..., gradients=(0, 1, 2))
row('CausalConvWithState', [real(2, 3, 5), real(3, 1, 4), real(3), real(2, 3, 3)], 27, outputs=2, expected=..., gradients=(0, 1, 2, 3))
row('TensorScatter', [real(2, 5, 3), real(2, 2, 3), i64(1, 3)], 24, axis=1, expected=..., gradients=(0, 1))
row('DFT', [real(1, 6, 2)], axis=1)
row('DFT', [real(1, 6, 1)], axis=1, onesided=1)
row('STFT', [real(1, 16, 1), np.array(4), np.hanning(8)], gradients=(0,))
