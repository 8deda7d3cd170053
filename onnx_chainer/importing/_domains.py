"""Attributes with values that no node can have, whatever its inputs are.

``chainerx_onnx/domains.cc`` has the same numbers, and one test is for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .errors import ModelError

_MOST = 2**31 - 1  # sums and products of two sizes do not overflow


class _Range(NamedTuple):
    """The least and the largest integer, and whether a list of them may be empty."""

    least: int
    most: int = _MOST
    may_be_empty: bool = True


_Domains = dict[str, _Range | tuple[str, ...]]

_POSITIVE, _NOT_NEGATIVE, _FLAG = _Range(1), _Range(0), _Range(0, 1)
_STEPS: _Domains = {'strides': _POSITIVE, 'dilations': _POSITIVE, 'pads': _NOT_NEGATIVE}
_AUTO_PAD: _Domains = {'auto_pad': ('NOTSET', 'SAME_UPPER', 'SAME_LOWER', 'VALID', '')}
_CONVOLUTION: _Domains = {
    **_STEPS,
    **_AUTO_PAD,
    'kernel_shape': _POSITIVE,
    'group': _POSITIVE,
    'offset_group': _POSITIVE,
    'output_padding': _NOT_NEGATIVE,
    'output_shape': _POSITIVE,
}
_POOLING: _Domains = {
    **_STEPS,
    **_AUTO_PAD,
    'kernel_shape': _Range(1, may_be_empty=False),
    'p': _POSITIVE,
}
_RECURRENT: _Domains = {
    'hidden_size': _POSITIVE,
    'layout': _FLAG,
    'direction': ('forward', 'reverse', 'bidirectional'),
}
_LOSS: _Domains = {'reduction': ('none', 'sum', 'mean')}
_SCATTER: _Domains = {'reduction': ('none', 'add', 'mul', 'max', 'min')}
_BLOCKS: _Domains = {'blocksize': _POSITIVE, 'mode': ('DCR', 'CRD')}
_QUANTIZED: _Domains = {'block_size': _NOT_NEGATIVE}

# For an operator and an attribute, a range of integers or a tuple of words.
_DOMAINS: dict[str, _Domains] = {
    **dict.fromkeys(('Conv', 'ConvInteger', 'ConvTranspose'), _CONVOLUTION),
    **dict.fromkeys(('DeformConv', 'QLinearConv'), _CONVOLUTION),
    **dict.fromkeys(('AveragePool', 'GlobalLpPool', 'LpPool', 'MaxPool', 'MaxUnpool'), _POOLING),
    **dict.fromkeys(('GRU', 'LSTM', 'RNN'), _RECURRENT),
    **dict.fromkeys(('NegativeLogLikelihoodLoss', 'SoftmaxCrossEntropyLoss'), _LOSS),
    **dict.fromkeys(('ScatterElements', 'ScatterND'), _SCATTER),
    **dict.fromkeys(('DepthToSpace', 'SpaceToDepth'), _BLOCKS),
    **dict.fromkeys(('DequantizeLinear', 'QuantizeLinear'), _QUANTIZED),
    'Attention': {'q_num_heads': _POSITIVE, 'kv_num_heads': _POSITIVE},
    'BitShift': {'direction': ('LEFT', 'RIGHT')},
    'Col2Im': dict(_STEPS),
    'GatherND': {'batch_dims': _NOT_NEGATIVE},
    'GridSample': {
        'mode': ('linear', 'nearest', 'cubic', 'bilinear', 'bicubic'),
        'padding_mode': ('zeros', 'border', 'reflection'),
    },
    'GroupNormalization': {'num_groups': _POSITIVE},
    'LRN': {'size': _POSITIVE},
    'LpNormalization': {'p': _Range(1, 2)},
    'MaxRoiPool': {'pooled_shape': _POSITIVE},
    'Multinomial': {'sample_size': _POSITIVE},
    'Pad': {'mode': ('constant', 'reflect', 'edge', 'wrap')},
    'Resize': {
        'mode': ('nearest', 'linear', 'cubic'),
        'nearest_mode': ('round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil'),
        'keep_aspect_ratio_policy': ('stretch', 'not_larger', 'not_smaller'),
    },
    'ReverseSequence': {'batch_axis': _FLAG, 'time_axis': _FLAG},
    'RoiAlign': {
        'output_height': _POSITIVE,
        'output_width': _POSITIVE,
        'sampling_ratio': _NOT_NEGATIVE,
        'mode': ('avg', 'max'),
        'coordinate_transformation_mode': ('half_pixel', 'output_half_pixel'),
    },
    'RotaryEmbedding': {'num_heads': _NOT_NEGATIVE, 'rotary_embedding_dim': _NOT_NEGATIVE},
    'Split': {'num_outputs': _POSITIVE, 'split': _Range(0, 2**63 - 1)},
    'TensorScatter': {'mode': ('linear', 'circular')},
}


def check(op_type: str, name: str, value: Any) -> None:
    """Checks an attribute of a standard operator.

    Raises:
        ModelError: It has a value that no node can have. The message names it.
    """
    domain = _DOMAINS.get(op_type, {}).get(name)
    if domain is None:
        return
    if not isinstance(domain, _Range):
        if isinstance(value, str) and value not in domain:
            raise ModelError(f'its attribute {name!r} is {value!r}, not one of {domain}')
        return
    values = value if isinstance(value, Sequence) else [value]
    if not (values or domain.may_be_empty):
        raise ModelError(f'its attribute {name!r} is empty')
    for each in values:
        if isinstance(each, int) and not domain.least <= each <= domain.most:
            raise ModelError(
                f'its attribute {name!r} has the value {each}, not one from {domain.least} to '
                f'{domain.most}'
            )
