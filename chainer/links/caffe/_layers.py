"""How each type of Caffe's layers becomes a function or a child link."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

from chainer import functions, link
from chainer.configuration import using_config
from chainer.links.caffe import _blobs
from chainer.links.caffe._schema import OLD_LAYER_TYPES
from chainer.links.connection import convolution_2d, deconvolution_2d, linear, scale
from chainer.links.normalization import batch_normalization

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.types import VariableLike
    from chainer.variable import Variable

_T = TypeVar('_T', bound='Callable[..., Any]')

# How to set up a layer, by its type and, for old files, by the number of its type.
BY_TYPE: dict[str, Callable[..., Any]] = {}
BY_OLD_NUMBER: dict[int, Callable[..., Any]] = {}


def layer_type(typ: str, oldname: str | None) -> Callable[[_T], _T]:
    """Registers a function that sets up layers of a type.

    The function takes the :class:`Layers` and the layer. It adds a
    callable for the layer to ``forwards``, and the layer to ``layers`` with
    ``_add_layer``.
    """

    def decorator(meth):
        BY_TYPE[typ] = meth
        if oldname is not None:
            BY_OLD_NUMBER[OLD_LAYER_TYPES[oldname]] = meth
        return meth

    return decorator


class Layers(link.Chain):
    """Functions and child links of a model.

    Attributes:
        forwards (dict): Callables by the names of the layers.
        layers (list): Name, inputs and outputs of each layer.
        split_map (dict): Blobs by the names of their copies.

    """

    def __init__(self) -> None:
        super().__init__()
        self.forwards: dict[str, Callable[..., Any]] = {}
        self.split_map: dict[str, str] = {}
        self.layers: list[Any] = []

    def _add_layer(self, layer):
        bottom = [self.split_map.get(blob, blob) for blob in layer.bottom]
        self.layers.append((layer.name, bottom, list(layer.top)))

    def _add_function(self, layer, func):
        self.forwards[layer.name] = func
        self._add_layer(layer)

    def _add_child(self, layer, child, test_mode=False):
        self.add_link(layer.name, child)
        self._add_function(layer, ChildLink(test_mode))

    def _add_convolution(self, layer, cls, n_in, n_out):
        """Adds a link; ``n_in`` and ``n_out`` are the axes of the filters with the channels."""
        param = layer.convolution_param
        W, b = _blobs.get_weights(layer, param.bias_term)
        W = _blobs.expand_groups(W, param.group)
        child = cls(
            W.shape[n_in],
            W.shape[n_out],
            W.shape[2:],
            _blobs.get_stride(param),
            _blobs.get_pad(param),
            nobias=b is None,
            initialW=W,
            initial_bias=b,
            dilate=_blobs.get_dilation(param),
        )
        self._add_child(layer, child)

    @layer_type('BatchNorm', None)
    def _setup_batchnorm(self, layer):
        param = layer.batch_norm_param
        mean, var, *factors = (array.ravel() for array in _blobs.get_arrays(layer, 2))
        if factors:
            # Caffe stores sums and the factor they are to be divided by.
            factor = factors[0][0]
            factor = 0 if factor == 0 else 1 / factor
            mean, var = mean * factor, var * factor
        child = batch_normalization.BatchNormalization(
            len(mean),
            decay=param.moving_average_fraction,
            eps=param.eps,
            use_gamma=False,
            use_beta=False,
            initial_avg_mean=mean,
            initial_avg_var=var,
        )
        self._add_child(layer, child, param.use_global_stats)

    @layer_type('Concat', 'CONCAT')
    def _setup_concat(self, layer):
        param = layer.concat_param
        axis = param.concat_dim if param.axis == 1 else param.axis
        self._add_function(layer, functools.partial(_concat, axis=axis))

    @layer_type('Convolution', 'CONVOLUTION')
    def _setup_convolution(self, layer):
        self._add_convolution(layer, convolution_2d.Convolution2D, 1, 0)

    @layer_type('Input', None)
    @layer_type('Data', 'DATA')
    def _setup_data(self, layer):
        pass  # the user gives the data

    @layer_type('Deconvolution', 'DECONVOLUTION')
    def _setup_deconvolution(self, layer):
        self._add_convolution(layer, deconvolution_2d.Deconvolution2D, 0, 1)

    @layer_type('Dropout', 'DROPOUT')
    def _setup_dropout(self, layer):
        self._add_function(
            layer, functools.partial(functions.dropout, ratio=layer.dropout_param.dropout_ratio)
        )

    @layer_type('Eltwise', 'ELTWISE')
    def _setup_eltwise(self, layer):
        param = layer.eltwise_param
        coeffs = [float(c) for c in param.coeff]
        if param.operation not in (param.PROD, param.SUM, param.MAX):
            raise RuntimeError(
                f'Operation {param.operation} of the Eltwise layer "{layer.name}" is not supported'
            )
        self._add_function(
            layer, functools.partial(_eltwise, operation=param.operation, coeffs=coeffs)
        )

    @layer_type('InnerProduct', 'INNER_PRODUCT')
    def _setup_inner_product(self, layer):
        param = layer.inner_product_param
        if param.axis != 1:
            raise RuntimeError('Non-default axis in InnerProduct is not supported')
        W, b = _blobs.get_weights(layer, param.bias_term)
        W = W.reshape(W.shape[-2], W.shape[-1])
        if param.transpose:
            W = W.T
        self._add_child(
            layer,
            linear.Linear(W.shape[1], W.shape[0], nobias=b is None, initialW=W, initial_bias=b),
        )

    @layer_type('LRN', 'LRN')
    def _setup_lrn(self, layer):
        param = layer.lrn_param
        if param.norm_region != param.ACROSS_CHANNELS:
            raise RuntimeError('Within-channel LRN is not supported')
        self._add_function(
            layer,
            functools.partial(
                functions.local_response_normalization,
                n=param.local_size,
                k=param.k,
                alpha=param.alpha / param.local_size,
                beta=param.beta,
            ),
        )

    @layer_type('Pooling', 'POOLING')
    def _setup_pooling(self, layer):
        param = layer.pooling_param
        pool: Callable[..., Variable]
        if param.pool == param.MAX:
            pool = functions.max_pooling_2d
        elif param.pool == param.AVE:
            pool = functions.average_pooling_2d
        else:
            raise RuntimeError('Stochastic pooling is not supported')
        stride, pad = _blobs.get_stride(param), _blobs.get_pad(param)
        if param.global_pooling:
            func = functools.partial(_pool_globally, pool, stride, pad)
        else:
            func = functools.partial(pool, ksize=_blobs.get_ksize(param), stride=stride, pad=pad)
        self._add_function(layer, func)

    @layer_type('ReLU', 'RELU')
    def _setup_relu(self, layer):
        slope = layer.relu_param.negative_slope
        self._add_function(
            layer,
            functions.relu if slope == 0 else functools.partial(functions.leaky_relu, slope=slope),
        )

    @layer_type('Reshape', None)
    def _setup_reshape(self, layer):
        param = layer.reshape_param
        if param.axis != 0 or param.num_axes != -1:
            raise RuntimeError('Reshape of some axes only is not supported')
        self._add_function(layer, functools.partial(_reshape, dims=tuple(param.shape.dim)))

    @layer_type('Scale', None)
    def _setup_scale(self, layer):
        param = layer.scale_param
        # The second bottom, if there is one, is the scale.
        has_weight = len(layer.bottom) == 1
        arrays = _blobs.get_arrays(layer, has_weight + param.bias_term)
        W = arrays.pop(0) if has_weight else None
        b = arrays.pop(0) if param.bias_term else None
        child = scale.Scale(
            param.axis,
            None if W is None else W.shape,
            param.bias_term,
            None if b is None else b.shape,
        )
        if W is not None:
            child.W.array[...] = W
        if b is not None:
            child.bias.b.array[...] = b
        self._add_child(layer, child)

    @layer_type('Sigmoid', 'SIGMOID')
    def _setup_sigmoid(self, layer):
        self._add_function(layer, functions.sigmoid)

    @layer_type('Slice', 'SLICE')
    def _setup_slice(self, layer):
        param = layer.slice_param
        axis = param.slice_dim if param.axis == 1 else param.axis
        self._add_function(
            layer,
            functools.partial(
                functions.split_axis,
                indices_or_sections=list(param.slice_point) or len(layer.top),
                axis=axis,
            ),
        )

    @layer_type('Softmax', 'SOFTMAX')
    def _setup_softmax(self, layer):
        _check_softmax_axis(layer)
        self._add_function(layer, functions.softmax)

    @layer_type('SoftmaxWithLoss', 'SOFTMAX_LOSS')
    def _setup_softmax_with_loss(self, layer):
        _check_softmax_axis(layer)
        self._add_function(layer, functions.softmax_cross_entropy)

    @layer_type('Split', 'SPLIT')
    def _setup_split(self, layer):
        for top in layer.top:
            self.split_map[top] = layer.bottom[0]

    @layer_type('TanH', 'TANH')
    def _setup_tanh(self, layer):
        self._add_function(layer, functions.tanh)


class ChildLink:
    """Entry of ``forwards`` that calls the child link with the layer's name."""

    def __init__(self, test_mode: bool) -> None:
        self.test_mode = test_mode

    def __call__(self, child: Callable[..., Any], *xs: VariableLike) -> Any:
        if not self.test_mode:
            return child(*xs)
        with using_config('train', False):
            return child(*xs)


def _concat(*xs, axis):
    return functions.concat(xs, axis=axis)


def _eltwise(*xs, operation, coeffs):
    if operation == 0:
        return functools.reduce(lambda x, y: x * y, xs)
    if operation == 2:
        return functools.reduce(functions.maximum, xs)
    if coeffs:
        xs = tuple([x * c for x, c in zip(xs, coeffs)])
    return sum(xs[1:], xs[0])


def _pool_globally(func, stride, pad, x):
    return func(x, x.shape[2:], stride, pad)


def _reshape(x, dims):
    return functions.reshape(x, tuple([n or x.shape[i] for i, n in enumerate(dims)]))


def _check_softmax_axis(layer):
    if layer.softmax_param.axis != 1:
        raise RuntimeError('Softmax along non-channel axis is not supported')
