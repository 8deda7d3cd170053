"""Nodes with attributes and inputs that no operator can have, and what an error has to name.

Both loaders refuse each: when they load it or when they run it.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np


@dataclasses.dataclass
class HostileNode:
    """A node."""

    op: str
    inputs: list[Any]
    attributes: dict[str, Any]
    opset: int
    n_outputs: int

    @property
    def name(self) -> str:
        """The operator, its small inputs but the first, and its attributes."""
        values = {
            f'input {i}': x.tolist()
            for i, x in enumerate(self.inputs)
            if i and x is not None and x.size < 6
        }
        text = ', '.join(f'{k}={v}' for k, v in (values | self.attributes).items())
        return f'{self.op} of opset {self.opset}: {text}'


ROWS: list[HostileNode] = []


def add(op, *inputs, opset=18, n_outputs=1, **attributes):
    arrays = [x if x is None or isinstance(x, np.ndarray) else np.array(x) for x in inputs]
    ROWS.append(HostileNode(op, arrays, attributes, opset, n_outputs))


def f32(*shape):
    return np.linspace(-1, 1, int(np.prod(shape)), dtype='f').reshape(shape)


X = f32(2, 3, 4)
IMAGE, KERNEL = f32(1, 4, 5, 5), f32(4, 4, 2, 2)
HUGE = 2**62

# -- windows -------------------------------------------------------------------------------------

WINDOWS = [
    *({'strides': [0, 1]}, {'strides': [1, -1]}, {'strides': [1]}, {'strides': [1, 1, 1]}),
    *({'dilations': [0, 1]}, {'dilations': [1, -1]}, {'dilations': [1]}),
    *({'pads': [0, 0, 0]}, {'pads': [-1, 0, 0, 0]}, {'pads': [0, 0, 0, -9]}),
    *({'strides': [HUGE, 1]}, {'dilations': [1, HUGE]}, {'pads': [HUGE, 0, 0, 0]}),
    {'auto_pad': 'SAME'},
]
CONVOLUTIONS = [
    *({'group': 0}, {'group': -1}, {'group': 3}, {'group': HUGE}),
    *({'kernel_shape': [3, 3]}, {'kernel_shape': [2]}, {'kernel_shape': [2, 2, 1]}, {'kernel_shape': [0, 2]}),
]  # fmt: skip
INTEGERS = np.ones((1, 4, 5, 5), 'u1'), np.ones((4, 4, 2, 2), 'u1')
SCALE, ZERO = np.array(0.5, 'f'), np.array(0, 'u1')
for attributes in WINDOWS + CONVOLUTIONS:
    add('Conv', IMAGE, KERNEL, **attributes)
    add('ConvTranspose', IMAGE, KERNEL, **attributes)
    add('ConvInteger', *INTEGERS, **attributes)
    add(
        'QLinearConv', INTEGERS[0], SCALE, ZERO, INTEGERS[1], SCALE, ZERO, SCALE, ZERO, **attributes
    )
    if 'auto_pad' not in attributes:
        add('DeformConv', IMAGE, KERNEL, np.zeros((1, 8, 4, 4), 'f'), opset=19, **attributes)
for attributes in (
    {'output_padding': [-1, 0]},
    {'output_padding': [0]},
    {'output_shape': [5]},
    {'output_shape': [-1, 6]},
):
    add('ConvTranspose', IMAGE, KERNEL, **attributes)
for attributes in {'offset_group': 0}, {'offset_group': 3}, {'offset_group': -1}:
    add('DeformConv', IMAGE, KERNEL, np.zeros((1, 8, 4, 4), 'f'), opset=19, **attributes)
POOLINGS = [
    *({'kernel_shape': [0, 2]}, {'kernel_shape': [2, -1]}, {'kernel_shape': [2]}),
    *({'kernel_shape': [2, 2, 2]}, {'kernel_shape': []}, {'kernel_shape': [9, 2]}, {'kernel_shape': [HUGE, 2]}),
]  # fmt: skip
for op in 'MaxPool', 'AveragePool', 'LpPool':
    for attributes in WINDOWS:
        if op == 'MaxPool' or 'dilations' not in attributes:
            add(op, IMAGE, **{'kernel_shape': [2, 2], **attributes})
    for attributes in POOLINGS:
        add(op, IMAGE, **attributes)
add('LpPool', IMAGE, kernel_shape=[2, 2], p=0)
add('GlobalLpPool', IMAGE, p=0)
for attributes in (
    *POOLINGS[:5],
    {'kernel_shape': [2, 2], 'strides': [0, 2]},
    {'kernel_shape': [2, 2], 'pads': [-1, 0, 0, 0]},
):
    add('MaxUnpool', f32(1, 1, 2, 2), np.zeros((1, 1, 2, 2), 'l'), **attributes)
for attributes in (
    {'strides': [0, 1]},
    {'dilations': [0, 1]},
    {'pads': [-1, 0, 0, 0]},
    {'strides': [1]},
):
    add('Col2Im', f32(1, 4, 4), [3, 3], [2, 2], **attributes)
for block in [0, 2], [-2, -2], [2], [2, 2, 2]:
    add('Col2Im', f32(1, 4, 4), [3, 3], block)
REGIONS = np.array([[0, 0, 0, 3, 3]], 'f')
for shape in [0, 2], [-1, 2], [2], [2, 2, 2], [HUGE, 2]:
    add('MaxRoiPool', IMAGE, REGIONS, pooled_shape=shape)
for attributes in (
    {'output_height': 0},
    {'output_width': -1},
    {'sampling_ratio': -1},
    {'output_height': HUGE},
    {'mode': 'best'},
):
    add('RoiAlign', IMAGE, REGIONS[:, 1:], [0], **attributes)
add('RoiAlign', IMAGE, REGIONS[:, 1:], [7])
add('RoiAlign', IMAGE, REGIONS[:, 1:], [-1])

# -- axes ----------------------------------------------------------------------------------------

for axis in 3, -4, 77, HUGE, -HUGE:
    for op in ('ArgMax', 'ArgMin', 'Softmax', 'LogSoftmax', 'Hardmax', 'LpNormalization'):
        add(op, X, axis=axis)
    if axis != 3:
        add('Flatten', X, axis=axis)
    add('Concat', X, X, axis=axis)
    add('Gather', X, [0], axis=axis)
    add('GatherElements', X, np.zeros((2, 3, 4), 'l'), axis=axis)
    for op in 'ScatterElements', 'Scatter':
        add(op, X, np.zeros((2, 3, 4), 'l'), X, axis=axis, opset=18 if op != 'Scatter' else 9)
    add('Compress', X, np.array([True, False]), axis=axis)
    add('Unique', X, axis=axis)
    add('Split', X, axis=axis, num_outputs=2, n_outputs=2)
    add('TopK', X, [1], axis=axis, n_outputs=2)
    add('LayerNormalization', X, np.ones(4, 'f'), axis=axis)
    add('RMSNormalization', X, np.ones(4, 'f'), axis=axis, opset=23)
    add('QuantizeLinear', X, np.ones(4, 'f'), np.zeros(4, 'u1'), axis=axis)
    add('DequantizeLinear', X.astype('u1'), np.ones(4, 'f'), np.zeros(4, 'u1'), axis=axis)
    add('CumSum', X, np.array(axis))
    if axis not in (3, -4):
        add('OneHot', np.zeros((2, 3), 'l'), np.array(3), np.array([0, 1], 'f'), axis=axis)
    add('SplitToSequence', X, axis=axis)
    for op in 'ReduceSum', 'ReduceMax', 'ReduceMean', 'ReduceL2', 'ReduceLogSumExp', 'ReduceProd':
        add(op, X, [axis])
    add('ReduceSum', X, axes=[axis], opset=11)
    add('Squeeze', X[:1], [axis])
    add('Squeeze', X[:1], axes=[axis], opset=11)
    if axis not in (3, -4):
        add('Unsqueeze', X, [axis])
        add('Unsqueeze', X, axes=[axis], opset=11)
    add('Slice', X, [0], [1], [axis])
    add('Slice', X, axes=[axis], starts=[0], ends=[1], opset=9)
    add('Pad', X, [1, 1], None, [axis])
    add('CenterCropPad', X, [1], axes=[axis])
    add('Resize', X, None, None, [2], axes=[axis])
    add('MeanVarianceNormalization', X, axes=[axis])
    add('Transpose', X, perm=[0, 1, axis])
    add('DFT', f32(1, 4, 1), axis=axis, opset=17)
    if axis not in (3, -4):  # the cache has four axes
        add('TensorScatter', f32(2, 3, 4, 2), f32(2, 3, 1, 2), [0, 0], axis=axis, opset=24)
add('Unsqueeze', X, [1, 1])
add('Unsqueeze', X, [0, -5])
add('Squeeze', X, [0])
add('ReduceSum', X, [0, 0])
add('ReduceSum', X, [0, -3])
for axes in (
    {'batch_axis': 2},
    {'time_axis': 2},
    {'batch_axis': 0, 'time_axis': 0},
    {'batch_axis': -1},
):
    add('ReverseSequence', X, [1, 1], **axes)
for lengths in [5, 1], [-1, 1], [1], [1, 1, 1]:
    add('ReverseSequence', f32(3, 2), lengths)
for perm in [0, 1], [0, 1, 1], [0, 1, 2, 3], [0, 1, -1], []:
    add('Transpose', X, perm=perm)

# -- sizes ---------------------------------------------------------------------------------------

for split in [1, 1], [2, 3], [-1, 4], [4, -1], [3, 0, 1]:
    add('Split', X, split, axis=1, n_outputs=len(split))
    add('Split', X, split=split, axis=1, n_outputs=len(split), opset=11)
    add('SplitToSequence', X, split, axis=1)
add('Split', X, [1, 2], axis=1, n_outputs=3)
add('SplitToSequence', X, np.array(0), axis=1)
add('SplitToSequence', X, np.array(-1), axis=1)
for number in 0, -1, 3, HUGE:
    add('Split', X, axis=1, num_outputs=number, n_outputs=2)
for size in 0, -1, 3, HUGE:
    add('DepthToSpace', IMAGE, blocksize=size)
    add('SpaceToDepth', IMAGE, blocksize=size)
    add('LRN', IMAGE, size=size if size != 3 else -3)
    add('GroupNormalization', IMAGE, np.ones(4, 'f'), np.zeros(4, 'f'), num_groups=size, opset=21)
for k in -1, 5, HUGE:
    add('TopK', X, [k], n_outputs=2)
add('TopK', X, [1, 1], n_outputs=2)
for repeats in [-1, 1, 1], [1, 1], [1, 1, 1, 1], [HUGE, 1, 1]:
    add('Tile', X, repeats)
for shape in [2, 3, 5], [-1, 3, 4], [HUGE, 2, 3, 4]:
    add('Expand', X, shape)
for shape in [-2, 12], [-1, -1], [5, 5], [0, 0, 0, 0], [HUGE, 4]:
    add('Reshape', X, shape)
for pads in [0, 0, 0], [0, 0, 0, 0, 0, -9], [HUGE, 0, 0, 0, 0, 0], [-9, 0, 0, 0, 0, 0]:
    add('Pad', X, pads)
add('Pad', X, [3, 0, 0, 0, 0, 0], mode='best')
add('Slice', X, [0], [1], [0], [0])
add('Slice', X, [0, 0], [1], [0])
add('Slice', X, [0, 0], [1, 1], [0, 0])
for shape in [-1], [2**31, 2**31], [HUGE, 4]:
    add('ConstantOfShape', shape)
for depth in -1, HUGE:
    add('OneHot', np.zeros((2, 3), 'l'), np.array(depth), np.array([0, 1], 'f'))
add('OneHot', np.zeros((2, 3), 'l'), np.array([3, 3]), np.array([0, 1], 'f'))
add('OneHot', np.zeros((2, 3), 'l'), np.array(3), np.array([0], 'f'))
for limits in (0, 4, 0), (0, HUGE, 1), (0, -HUGE, -1):
    add('Range', *map(np.array, limits))
for shape in [-1, 2], [2**31, 2**31], [HUGE, 4]:
    add('RandomNormal', shape=shape)
    add('RandomUniform', shape=shape)
add('Multinomial', f32(1, 3), sample_size=-1)
add('Multinomial', f32(1, 3), sample_size=HUGE)
for op in 'HannWindow', 'HammingWindow', 'BlackmanWindow':
    add(op, np.array(HUGE))
add(
    'MelWeightMatrix',
    np.array(-1),
    np.array(8),
    np.array(8000),
    np.array(0.0, 'f'),
    np.array(4000.0, 'f'),
)
add(
    'MelWeightMatrix',
    np.array(4),
    np.array(HUGE),
    np.array(8000),
    np.array(0.0, 'f'),
    np.array(4000.0, 'f'),
)
add('DFT', f32(1, 4, 1), np.array(-1), opset=17)
add('DFT', f32(1, 4, 1), np.array(0), opset=17)
add('DFT', f32(1, 4, 1), np.array(HUGE), opset=17)
for step in 0, -1:
    add('STFT', f32(1, 16, 1), np.array(step), None, np.array(4), opset=17)
for length in 0, -1, 99:
    add('STFT', f32(1, 16, 1), np.array(1), None, np.array(length), opset=17)
add('EyeLike', X)
add('Upsample', IMAGE, np.array([1, 1, 0, 1], 'f'), opset=9)
for scales in [1, 1, 0, 1], [1, 1, -1, 1], [1, 1, 2], [1, 1, 1e30, 1], [1, 1, np.nan, 1]:
    add('Resize', IMAGE, None, np.array(scales, 'f'))
for sizes in [1, 4, -1, 5], [1, 4, 5], [1, 4, HUGE, 5], [1, 4, 0, 5]:
    add('Resize', IMAGE, None, None, sizes)
add('Resize', IMAGE)
add('Resize', IMAGE, None, np.ones(4, 'f'), mode='best')
add('Resize', IMAGE, None, np.ones(4, 'f'), coordinate_transformation_mode='best')
add('CenterCropPad', X, [HUGE, 3, 4])
add('GridSample', IMAGE, f32(1, 3, 3, 3))
add('GridSample', IMAGE, f32(1, 3, 3, 2), mode='best')
add('GridSample', IMAGE, f32(1, 3, 3, 2), padding_mode='best')
add('AffineGrid', f32(1, 2, 3), [1, 1, -1, 2], opset=20)
add('AffineGrid', f32(1, 2, 3), [1, 1, HUGE, 2], opset=20)

# -- indices -------------------------------------------------------------------------------------

for i in 2, -3, HUGE:
    add('Gather', X, [i])
    add('GatherElements', X, np.full((1, 3, 4), i))
    add('GatherND', X, [[i]])
    add('ScatterElements', X, np.full((1, 3, 4), i), X[:1])
    add('ScatterND', X, [[i]], X[:1])
add('GatherND', X, [[0]], batch_dims=3)
add('GatherND', X, [[0]], batch_dims=-1)
add('GatherND', X, np.zeros((2, 4), 'l'))
add('ScatterND', X, [[0]], f32(1, 3, 3))
add('ScatterElements', X, np.zeros((1, 3, 4), 'l'), X)
add('ScatterElements', X, np.zeros((2, 3, 4), 'l'), X, reduction='best')
add('NegativeLogLikelihoodLoss', f32(2, 3), [0, 9])
add('SoftmaxCrossEntropyLoss', f32(2, 3), [0, 9])
add('NegativeLogLikelihoodLoss', f32(2, 3), [0, 1], reduction='best')
add('MaxUnpool', f32(1, 1, 2, 2), np.full((1, 1, 2, 2), 99), kernel_shape=[2, 2])

# -- products, normalizations, states --------------------------------------------------------------

add('Gemm', f32(2, 3), f32(2, 3))
add('Gemm', X, X)
add('MatMul', f32(2, 3), f32(2, 3))
for equation in 'ij,jk', 'ij->ik', 'i->', 'ij', '', 'ij,', '...ij->..', '?->?', 'ii':
    add('Einsum', X, equation=equation)
add('BatchNormalization', IMAGE, *[np.ones(3, 'f')] * 4)
add('InstanceNormalization', IMAGE, np.ones(3, 'f'), np.ones(3, 'f'))
add('LayerNormalization', X, np.ones(3, 'f'))
for attributes in (
    {'hidden_size': 0},
    {'hidden_size': -1},
    {'hidden_size': 7},
    {'direction': 'up'},
    {'activations': ['best']},
    {'layout': 2},
    {'hidden_size': HUGE},
):
    for op, n in ('RNN', 1), ('GRU', 3), ('LSTM', 4):
        add(
            op, f32(2, 1, 3), f32(1, n * 2, 3), f32(1, n * 2, 2), **{'hidden_size': 2, **attributes}
        )
for op, n in ('RNN', 1), ('GRU', 3), ('LSTM', 4):
    add(op, f32(2, 1, 3), f32(1, n * 2 + 1, 3), f32(1, n * 2, 2), hidden_size=2)
    add(op, f32(2, 1, 3), f32(1, n * 2, 3), f32(1, n * 2, 2), f32(1, 3), hidden_size=2)
Q = f32(1, 2, 3, 4)
add('Attention', f32(1, 3, 8), f32(1, 3, 8), f32(1, 3, 8), opset=23)
for heads in 0, -2, 3, HUGE:
    add('Attention', *[f32(1, 3, 8)] * 3, opset=23, q_num_heads=heads, kv_num_heads=2)
    add('Attention', *[f32(1, 3, 8)] * 3, opset=23, q_num_heads=2, kv_num_heads=heads)
for heads in -1, 3, HUGE:
    add('RotaryEmbedding', f32(1, 3, 8), f32(1, 3, 2), f32(1, 3, 2), opset=23, num_heads=heads)
add('RotaryEmbedding', Q, f32(1, 3, 2), f32(1, 3, 2), opset=23, rotary_embedding_dim=-2)
add('RotaryEmbedding', Q, f32(1, 3, 2), f32(1, 3, 2), opset=23, rotary_embedding_dim=9)
add('Cast', X, to=0)
add('Cast', X, to=999)
add('Add', f32(2), f32(3))
add('Where', np.array([True, False]), f32(3), f32(3))
add('Clip', X, f32(2))
add('BitShift', np.ones(2, 'u1'), np.ones(2, 'u1'), direction='UP')
add('QuantizeLinear', X, np.ones(3, 'f'), np.zeros(3, 'u1'), axis=2)
add('QuantizeLinear', X, np.ones((2, 3, 2), 'f'), block_size=-2, opset=21)
add('QuantizeLinear', X, np.ones((2, 3, 2), 'f'), block_size=3, opset=21)
add('DequantizeLinear', X.astype('u1'), np.ones((2, 3, 2), 'f'), block_size=-2, opset=21)
add('NonMaxSuppression', f32(1, 3, 3), f32(1, 1, 3), np.array([1]))
add('NonMaxSuppression', f32(1, 3, 4), f32(1, 1, 2), np.array([1]))

# -- strings and counts of grams -------------------------------------------------------------------

GRAMS = {
    'mode': 'TF',
    'min_gram_length': 1,
    'max_gram_length': 2,
    'max_skip_count': 0,
    'ngram_counts': [0, 2],
    'ngram_indexes': [0, 1, 2],
    'pool_int64s': [1, 2, 1, 2],
}
for change in (
    {'ngram_counts': [0]},  # four grams for three indexes, of which some are the same
    {'ngram_counts': [0, 9]},
    {'ngram_counts': [2, 0]},
    {'ngram_counts': [-1, 2]},
    {'ngram_indexes': [0, 1, -1]},
    {'ngram_indexes': [0, 1, HUGE]},
    {'min_gram_length': 0},
    {'min_gram_length': 3},
    {'max_skip_count': -1},
):
    add('TfIdfVectorizer', [1, 2, 1], **(GRAMS | change))
add('StringConcat', np.array(['a', 'b'], object), np.array(['a', 'b', 'c'], object))
add('StringNormalizer', np.full((2, 2), 'a', object))
add('StringNormalizer', np.array(['a'], object), case_change_action='TITLE')
