"""Export of models to Caffe."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import numpy

from chainer.backend import get_device
from chainer.configuration import using_config
from chainer.function import force_backprop_mode
from chainer.function_hook import FunctionHook
from chainer.links.caffe._schema import caffe_pb
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer.function_node import FunctionNode
    from chainer.types import NdArray

# -- messages of Caffe: dictionaries of fields, where lists repeat a field ---------


def _quote(text):
    """Returns a string of the text format of protocol buffers."""
    text = text.encode().decode()  # raises an error for what no file can hold
    return '"' + re.sub(r'["\\\0-\x1f\x7f]', lambda match: f'\\{ord(match[0]):03o}', text) + '"'


def _text(fields, message, indent=''):
    """Returns the lines of fields of a kind of message in the text format."""
    lines = []
    for name, value in fields.items():
        kind = message.kind_of(name)
        for v in value if isinstance(value, list) else [value]:
            if isinstance(v, dict):
                lines += [f'{indent}{name} {{', *_text(v, kind, indent + '  '), indent + '}']
            elif isinstance(v, bool):
                lines.append(f'{indent}{name}: {str(v).lower()}')
            else:
                lines.append(f'{indent}{name}: {_quote(v) if kind == "string" else v}')
    return lines


def _fill(message, fields):
    """Sets fields of a message and returns it. Enumerators are given by their names."""
    for name, value in fields.items():
        if isinstance(value, dict):
            _fill(getattr(message, name), value)
        elif isinstance(value, list):
            repeated = getattr(message, name)
            for v in value:
                _fill(repeated.add(), v) if isinstance(v, dict) else repeated.append(v)
        elif isinstance(value, str) and message.kind_of(name) != 'string':
            setattr(message, name, getattr(message, value))
        else:
            setattr(message, name, value)
    return message


# -- layers -------------------------------------------------------------------------------


def _convolution(func, params, kind):
    W = params[0]
    groups = getattr(func, 'groups', 1)
    n_out = W.shape[0] if kind == 'Convolution' else W.shape[1] * groups
    options = dict(
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
    options = dict(
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
    options = dict(num_output=params[0].shape[0], bias_term=len(params) > 1)
    return [('InnerProduct', {'inner_product_param': options}, params)]


def _batch_normalization(func, params):
    gamma, beta, mean, var = params
    normalize = dict(use_global_stats=True, eps=float(func.eps))
    scale = dict(axis=1, bias_term=True)
    return [
        ('BatchNorm', {'batch_norm_param': normalize}, [mean, var, numpy.ones(1, 'f')]),
        ('Scale', {'scale_param': scale}, [gamma, beta]),
    ]


def _lrn(func, params):
    options = dict(
        local_size=func.n,
        alpha=float(func.alpha * func.n),
        beta=float(func.beta),
        norm_region='ACROSS_CHANNELS',
        k=float(func.k),
    )
    return [('LRN', {'lrn_param': options}, [])]


def _reshape(func, params):
    old, new = func.inputs[0].shape, func.outputs[0]().shape
    # Zero keeps the batch size, which may be another one in Caffe.
    shape = dict(dim=[0 if new[:1] == old[:1] else new[0], *new[1:]])
    return [('Reshape', {'reshape_param': dict(shape=shape)}, [])]


def _leaky_relu(func, params):
    return [('ReLU', {'relu_param': dict(negative_slope=float(func.slope))}, [])]


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
    'Softmax': lambda f, p: [('Softmax', {'softmax_param': dict(axis=f.axis)}, [])],
    'Concat': lambda f, p: [('Concat', {'concat_param': dict(axis=f.axis)}, [])],
    'Add': _plain('Eltwise', eltwise_param=dict(operation='SUM')),
    'Mul': _plain('Eltwise', eltwise_param=dict(operation='PROD')),
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
    """Keeps input arrays of functions that the graph itself may drop."""

    name = 'chainer.exporters.caffe'

    def __init__(self) -> None:
        self.inputs: dict[Any, Any] = {}

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[NdArray, ...]) -> None:
        self.inputs[id(function)] = function, in_data


def _functions_in_order(outputs):
    found, stack = {}, [y.creator_node for y in reversed(outputs)]
    while stack:
        func = stack.pop()
        if func is None or id(func) in found:
            continue
        found[id(func)] = func
        stack.extend(x.creator_node for x in reversed(func.inputs))
    return sorted(found.values(), key=lambda f: f.rank)


def _layers(args, outputs, recorder):
    """Yields the layers as a message and its list of parameter arrays."""
    tops = {}
    for i, x in enumerate(args):
        name = 'data' if i == 0 else f'data_{i}'
        tops[id(x.node)] = name
        shape = dict(dim=[int(n) for n in x.shape])
        yield dict(name=name, type='Input', top=[name], input_param=dict(shape=[shape])), []
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
            yield dict(name=name, type=layer, bottom=bottoms, top=[name], **options), blobs
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
    if isinstance(outputs, dict):
        outputs = list(outputs.values())
    elif isinstance(outputs, Variable):
        outputs = [outputs]
    layers = list(_layers(args, outputs, recorder))
    fields = {'name': graph_name, 'layer': [layer for layer, _ in layers]}
    network = _fill(caffe_pb.NetParameter(), fields)
    text = '\n'.join(_text(fields, network)) + '\n'
    if directory is not None:
        with open(os.path.join(directory, 'chainer_model.prototxt'), 'w', encoding='utf-8') as f:
            f.write(text)
        if export_params:
            for layer, (_, arrays) in zip(network.layer, layers):
                for array in arrays:
                    _fill(layer.blobs.add(), {'shape': {'dim': list(array.shape)}}).data = array
            with open(os.path.join(directory, 'chainer_model.caffemodel'), 'wb') as f:
                f.write(network.SerializeToString())
    return text
