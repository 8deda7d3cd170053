"""Export of models to Caffe."""

from __future__ import annotations

import os
import re
import struct
from typing import TYPE_CHECKING, Any

import numpy

from chainer.backend import get_device
from chainer.configuration import using_config
from chainer.function import force_backprop_mode
from chainer.function_hook import FunctionHook
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer.function_node import FunctionNode
    from chainer.types import NdArray

# -- protocol buffers: only the forms for Caffe networks ---------------------------


def _varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number, payload):
    """Length-delimited field."""
    if isinstance(payload, str):
        payload = payload.encode()
    return _varint(number << 3 | 2) + _varint(len(payload)) + payload


def _quote(text):
    """Returns a string of the text format of protocol buffers."""
    text = text.encode().decode()  # raises an error for what no file can hold
    return '"' + re.sub(r'["\\\0-\x1f\x7f]', lambda match: f'\\{ord(match[0]):03o}', text) + '"'


class _Message(dict):
    """Fields of a message by name; lists repeat a field. Written as text and as bytes."""

    def text(self, schema: Any, indent: int = 0) -> str:
        lines = []
        for name, value in self.items():
            _, kind = schema[name]
            for v in value if isinstance(value, list) else [value]:
                if isinstance(v, _Message):
                    lines += [f'{name} {{', v.text(kind, 1), '}']
                elif isinstance(v, bool):
                    lines.append(f'{name}: {str(v).lower()}')
                elif kind == 'string':
                    lines.append(f'{name}: {_quote(v)}')
                else:
                    lines.append(f'{name}: {v}')
        return '\n'.join('  ' * indent + line for block in lines for line in block.split('\n'))

    def encode(self, schema: Any) -> bytes:
        out = b''
        for name, value in self.items():
            number, kind = schema[name]
            for v in value if isinstance(value, list) else [value]:
                if isinstance(v, _Message):
                    out += _field(number, v.encode(kind))
                elif kind == 'float':
                    out += _varint(number << 3 | 5) + struct.pack('<f', v)
                elif kind == 'string':
                    out += _field(number, v)
                else:
                    out += _varint(number << 3) + _varint(
                        kind.get(v, v) if isinstance(kind, dict) else int(v)
                    )
        return out


# Field numbers of caffe.proto.
_CONVOLUTION = {
    'num_output': (1, int),
    'bias_term': (2, int),
    'group': (5, int),
    'pad_h': (9, int),
    'pad_w': (10, int),
    'kernel_h': (11, int),
    'kernel_w': (12, int),
    'stride_h': (13, int),
    'stride_w': (14, int),
    'dilation': (18, int),
}
_SHAPE = {'dim': (1, int)}
_LAYER = {
    'name': (1, 'string'),
    'type': (2, 'string'),
    'bottom': (3, 'string'),
    'top': (4, 'string'),
    'concat_param': (104, {'axis': (2, int)}),
    'convolution_param': (106, _CONVOLUTION),
    'dropout_param': (108, {'dropout_ratio': (1, 'float')}),
    'eltwise_param': (110, {'operation': (1, {'PROD': 0, 'SUM': 1, 'MAX': 2})}),
    'inner_product_param': (117, {'num_output': (1, int), 'bias_term': (2, int)}),
    'lrn_param': (
        118,
        {
            'local_size': (1, int),
            'alpha': (2, 'float'),
            'beta': (3, 'float'),
            'norm_region': (4, {'ACROSS_CHANNELS': 0}),
            'k': (5, 'float'),
        },
    ),
    'pooling_param': (
        121,
        {
            'pool': (1, {'MAX': 0, 'AVE': 1}),
            'kernel_h': (5, int),
            'kernel_w': (6, int),
            'stride_h': (7, int),
            'stride_w': (8, int),
            'pad_h': (9, int),
            'pad_w': (10, int),
        },
    ),
    'relu_param': (123, {'negative_slope': (1, 'float')}),
    'softmax_param': (125, {'axis': (2, int)}),
    'reshape_param': (133, {'shape': (1, _SHAPE)}),
    'batch_norm_param': (139, {'use_global_stats': (1, int), 'eps': (3, 'float')}),
    'scale_param': (142, {'axis': (1, int), 'bias_term': (4, int)}),
    'input_param': (143, {'shape': (1, _SHAPE)}),
}
_NETWORK = {'name': (1, 'string'), 'layer': (100, _LAYER)}


def _blob(array):
    array = numpy.ascontiguousarray(array, '<f4')
    dims = b''.join(_varint(n) for n in array.shape)
    return _field(7, _field(7, _field(1, dims)) + _field(5, array.tobytes()))


# -- layers -------------------------------------------------------------------------------


def _convolution(func, params, kind):
    W = params[0]
    groups = getattr(func, 'groups', 1)
    n_out = W.shape[0] if kind == 'Convolution' else W.shape[1] * groups
    options = _Message(
        num_output=n_out,
        bias_term=len(params) > 1,
        group=groups,
        pad_h=func.ph,
        pad_w=func.pw,
        kernel_h=W.shape[2],
        kernel_w=W.shape[3],
        stride_h=func.sy,
        stride_w=func.sx,
    )
    if getattr(func, 'dy', 1) != 1 or getattr(func, 'dx', 1) != 1:
        options['dilation'] = [func.dy, func.dx]
    return [(kind, {'convolution_param': options}, params)]


def _pooling(pool, ksize, stride, pad):
    if len(ksize) != 2:
        raise ValueError(
            f'pooling in {len(ksize)} dimensions cannot be exported to Caffe, only in two'
        )
    options = _Message(
        pool=pool,
        kernel_h=ksize[0],
        kernel_w=ksize[1],
        stride_h=stride[0],
        stride_w=stride[1],
        pad_h=pad[0],
        pad_w=pad[1],
    )
    return [('Pooling', {'pooling_param': options}, [])]


def _linear(func, params):
    options = _Message(num_output=params[0].shape[0], bias_term=len(params) > 1)
    return [('InnerProduct', {'inner_product_param': options}, params)]


def _batch_normalization(func, params):
    gamma, beta, mean, var = params
    normalize = _Message(use_global_stats=True, eps=float(func.eps))
    scale = _Message(axis=1, bias_term=True)
    return [
        ('BatchNorm', {'batch_norm_param': normalize}, [mean, var, numpy.ones(1, 'f')]),
        ('Scale', {'scale_param': scale}, [gamma, beta]),
    ]


def _lrn(func, params):
    options = _Message(
        local_size=func.n,
        alpha=float(func.alpha * func.n),
        beta=float(func.beta),
        norm_region='ACROSS_CHANNELS',
        k=float(func.k),
    )
    return [('LRN', {'lrn_param': options}, [])]


def _reshape(func, params):
    shape = _Message(dim=[0, *func.outputs[0]().shape[1:]])
    return [('Reshape', {'reshape_param': _Message(shape=shape)}, [])]


def _leaky_relu(func, params):
    return [('ReLU', {'relu_param': _Message(negative_slope=float(func.slope))}, [])]


def _plain(kind, **options):
    return lambda func, params: [(kind, dict(options), [])]


_CONVERTERS = {
    'Convolution2DFunction': lambda f, p: _convolution(f, p, 'Convolution'),
    'Deconvolution2DFunction': lambda f, p: _convolution(f, p, 'Deconvolution'),
    'LinearFunction': _linear,
    'MaxPoolingND': lambda f, p: _pooling('MAX', f.ksize, f.stride, f.pad),
    'AveragePooling2D': lambda f, p: _pooling('AVE', (f.kh, f.kw), (f.sy, f.sx), (f.ph, f.pw)),
    'FixedBatchNormalization': _batch_normalization,
    'LocalResponseNormalization': _lrn,
    'ReLU': _plain('ReLU'),
    'LeakyReLU': _leaky_relu,
    'Sigmoid': _plain('Sigmoid'),
    'Tanh': _plain('TanH'),
    'Softmax': lambda f, p: [('Softmax', {'softmax_param': _Message(axis=f.axis)}, [])],
    'Concat': lambda f, p: [('Concat', {'concat_param': _Message(axis=f.axis)}, [])],
    'Add': _plain('Eltwise', eltwise_param=_Message(operation='SUM')),
    'Mul': _plain('Eltwise', eltwise_param=_Message(operation='PROD')),
    'Reshape': _reshape,
}
# Further inputs of these functions are parameters.
_WITH_PARAMETERS = (
    'Convolution2DFunction',
    'Deconvolution2DFunction',
    'LinearFunction',
    'FixedBatchNormalization',
)


class _Recorder(FunctionHook):
    """Keeps input arrays of functionsthat the graph itself may drop."""

    name = 'chainer.exporters.caffe'

    def __init__(self) -> None:
        self.inputs: dict[Any, Any] = {}

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[NdArray, ...]) -> None:
        self.inputs[id(function)] = function, in_data


def _functions_in_order(outputs):
    found, stack = {}, [y.creator_node for y in outputs]
    while stack:
        func = stack.pop()
        if func is None or id(func) in found:
            continue
        found[id(func)] = func
        stack.extend(x.creator_node for x in func.inputs)
    return sorted(found.values(), key=lambda f: f.rank)


def _layers(args, outputs, recorder):
    """Yields the layers as a message and its list of parameter arrays."""
    tops = {}
    for i, x in enumerate(args):
        name = 'data' if i == 0 else f'data_{i}'
        tops[id(x.node)] = name
        shape = _Message(dim=[int(n) for n in x.shape])
        yield _Message(name=name, type='Input', top=name, input_param=_Message(shape=shape)), []
    for number, func in enumerate(_functions_in_order(outputs), 1):
        kind = type(func).__name__
        if kind not in _CONVERTERS:
            raise ValueError(
                f'function {kind} (label {func.label}, rank {func.rank}) cannot be '
                'exported to Caffe'
            )
        n_bottoms = 1 if kind in _WITH_PARAMETERS else len(func.inputs)
        try:
            bottoms = [tops[id(x)] for x in func.inputs[:n_bottoms]]
        except KeyError:
            raise ValueError(
                f'an input of function {kind} (rank {func.rank}) is neither an '
                'argument of the model nor a result of a function'
            ) from None
        params = [
            numpy.asarray(get_device('@numpy').send(a))
            for a in recorder.inputs[id(func)][1][n_bottoms:]
        ]
        for part, (layer, options, blobs) in enumerate(_CONVERTERS[kind](func, params)):
            name = f'{layer.lower()}{number}' + (f'_{part}' if part else '')
            yield _Message(name=name, type=layer, bottom=bottoms, top=name, **options), blobs
            bottoms = [name]
        tops[id(func.outputs[0]())] = name


def export(
    model: Callable[..., Any],
    args: Sequence[Variable],
    directory: str | None = None,
    export_params: bool = True,
    graph_name: str = 'Graph',
) -> str:
    """Exports the computation of a model to Caffe's file formats.

    Runs the model once in test mode and writes its functions as layers to
    ``chainer_model.prototxt`` and, with the parameters, to ``chainer_model.caffemodel``.

    Args:
        model (callable): Model, such as a :class:`~chainer.Chain`.
        args (list or tuple of ~chainer.Variable): Arguments of one call.
        directory (str or None): Folder of the files (``None``: no files).
        export_params (bool): Whether to write ``chainer_model.caffemodel``.
        graph_name (str): Name of the network.

    Returns:
        str: Text of the network definition.

    Raises:
        AssertionError: If ``args`` is not a list or tuple of variables.
        ValueError: If the model uses a function that Caffe lacks.
        OSError: If the files cannot be written.

    .. admonition:: Example

        >>> from chainer.exporters import caffe
        >>> model = chainer.Sequential(L.Linear(3, 2), F.relu)
        >>> text = caffe.export(model, [chainer.Variable(np.zeros((1, 3), np.float32))])
        >>> [line.strip() for line in text.splitlines() if 'type:' in line]
        ['type: "Input"', 'type: "InnerProduct"', 'type: "ReLU"']

    """
    if not isinstance(args, (list, tuple)) or not all(isinstance(x, Variable) for x in args):
        raise AssertionError('args must be a list or tuple of variables')
    recorder = _Recorder()
    with using_config('train', False), force_backprop_mode(), recorder:
        outputs = model(*args)
    if isinstance(outputs, Variable):
        outputs = [outputs]
    layers = list(_layers(args, outputs, recorder))
    network = _Message(name=graph_name, layer=[layer for layer, _ in layers])
    text = network.text(_NETWORK) + '\n'
    if directory is not None:
        with open(os.path.join(directory, 'chainer_model.prototxt'), 'w', encoding='utf-8') as f:
            f.write(text)
        if export_params:
            with open(os.path.join(directory, 'chainer_model.caffemodel'), 'wb') as f:
                f.write(_field(1, graph_name))
                for layer, blobs in layers:
                    f.write(_field(100, layer.encode(_LAYER) + b''.join(_blob(b) for b in blobs)))
    return text
