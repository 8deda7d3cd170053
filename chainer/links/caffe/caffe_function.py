from __future__ import annotations

import functools
import os
import warnings
from typing import TYPE_CHECKING, Any

import numpy

from chainer import functions, link
from chainer.configuration import using_config
from chainer.links.caffe._schema import OLD_LAYER_TYPES, caffe_pb
from chainer.links.connection import convolution_2d, deconvolution_2d, linear, scale
from chainer.links.normalization import batch_normalization
from chainer.utils import _damaged_file, argument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chainer.types import VariableLike
    from chainer.variable import Variable

available = True  # needs no library of Protocol Buffers

# How to set up a layer, by its type and, for old files, by the number of its type.
_type_to_method: dict[str, Callable[..., Any]] = {}
_oldname_to_method: dict[str, Callable[..., Any]] = {}


def _layer(typ, oldname):
    """Registers a function that sets up layers of a type.

    The function takes the :class:`CaffeFunction` and the layer. It adds a
    callable for the layer to ``forwards``, and the layer to ``layers`` with
    ``_add_layer``.
    """

    def decorator(meth):
        _type_to_method[typ] = meth
        if oldname is not None:
            _oldname_to_method[OLD_LAYER_TYPES[oldname]] = meth
        return meth

    return decorator


class CaffeFunction(link.Chain):
    r"""A model of Caffe, read from a ``.caffemodel`` file.

    Layers with parameters become child links of the same name:
    ``model['conv1']``. It supports these types of layers: BatchNorm, Concat,
    Convolution, Data, Deconvolution, Dropout, Eltwise, InnerProduct, Input, LRN, Pooling,
    ReLU, Reshape, Scale, Sigmoid, Slice, Softmax, SoftmaxWithLoss, Split and TanH.
    It skips other layers with a warning, and the layers that need their outputs.

    Caffe's average pooling may include windows that reach over the border;
    this link omits them.

    Args:
        model_path (str): Path of the file.

    Raises:
        ValueError: The file is damaged or not a Caffe model.
        RuntimeError: A layer has unsupported arguments.

    Attributes:
        forwards (dict): Callables by the names of the layers.

    .. admonition:: Example

        >>> import os, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = os.path.join(folder.name, 'relu.caffemodel')
        >>> with open(path, 'wb') as f:  # one layer of the type ReLU, from the blob x to the blob y
        ...     size = f.write(b'\xa2\x06\x12' + b'\n\x04relu\x12\x04ReLU\x1a\x01x"\x01y')
        >>> func = L.caffe.CaffeFunction(path)
        >>> func({'x': np.array([-1, 2], np.float32)}, outputs=['y'])
        (variable([0., 2.]),)
        >>> folder.cleanup()

    """

    def __init__(self, model_path: str) -> None:
        super().__init__()
        with open(os.fspath(model_path), 'rb') as f:
            data = f.read()
        with _damaged_file.reading(model_path, 'a Caffe model', keep=(RuntimeError,)):
            self._read(data)

    def _read(self, data):
        net = caffe_pb.NetParameter()
        net.MergeFromString(data)
        self.forwards: dict[str, Callable[..., Any]] = {}
        self.split_map: dict[str, str] = {}
        self.layers: list[Any] = []
        for methods, layers in ((_type_to_method, net.layer), (_oldname_to_method, net.layers)):
            for layer in layers:
                method = methods.get(layer.type)
                if method is None:
                    warnings.warn(
                        f'Skip the layer "{layer.name}", since CaffeFunction does not support '
                        f'{layer.type} layer'
                    )
                else:
                    method(self, layer)
            if layers:
                break
        else:
            raise ValueError('it has no layers')

    def forward(
        self,
        inputs: dict[str, Any],
        outputs: Iterable[str],
        disable: Iterable[str] = (),
        **kwargs: Any,
    ) -> tuple[Variable, ...]:
        """Computes blobs of the model.

        Args:
            inputs (dict): Variables by the name of the blob.
            outputs (iterable of str): Names of the blobs to return.
            disable (iterable of str): Names of layers to skip.

        Returns:
            tuple of ~chainer.Variable: The blobs.

        Raises:
            KeyError: The inputs do not determine a blob.

        """
        argument.check_unexpected_kwargs(
            kwargs, train='train argument is not supported anymore. Use chainer.using_config'
        )
        argument.assert_kwargs_empty(kwargs)
        variables = dict(inputs)
        disable = set(disable)
        for name, bottom, top in self.layers:
            if (
                name in disable
                or name not in self.forwards
                or any(blob not in variables for blob in bottom)
            ):
                continue
            func = self.forwards[name]
            args = [variables[blob] for blob in bottom]
            results = func(self[name], *args) if isinstance(func, _ChildLink) else func(*args)
            if not isinstance(results, (tuple, list)):
                results = (results,)
            variables.update(zip(top, results))

        self.variables = variables
        missing = [blob for blob in outputs if blob not in variables]
        if missing:
            raise KeyError(f'blob(s) {missing} cannot be computed from the inputs {sorted(inputs)}')
        return tuple([variables[blob] for blob in outputs])

    def _add_layer(self, layer):
        bottom = [self.split_map.get(blob, blob) for blob in layer.bottom]
        self.layers.append((layer.name, bottom, list(layer.top)))

    def _add_function(self, layer, func):
        self.forwards[layer.name] = func
        self._add_layer(layer)

    def _add_child(self, layer, child, test_mode=False):
        self.add_link(layer.name, child)
        self._add_function(layer, _ChildLink(test_mode))

    @_layer('BatchNorm', None)
    def _setup_batchnorm(self, layer):
        param = layer.batch_norm_param
        mean, var, *factors = (array.ravel() for array in _get_arrays(layer, 2))
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

    @_layer('Concat', 'CONCAT')
    def _setup_concat(self, layer):
        param = layer.concat_param
        axis = param.concat_dim if param.axis == 1 else param.axis
        self._add_function(layer, functools.partial(_concat, axis=axis))

    @_layer('Convolution', 'CONVOLUTION')
    def _setup_convolution(self, layer):
        param = layer.convolution_param
        W, b = _get_weights(layer, param.bias_term)
        W = _expand_groups(W, param.group)
        self._add_child(
            layer,
            convolution_2d.Convolution2D(
                W.shape[1],
                W.shape[0],
                W.shape[2:],
                _get_stride(param),
                _get_pad(param),
                nobias=b is None,
                initialW=W,
                initial_bias=b,
                dilate=_get_dilation(param),
            ),
        )

    @_layer('Input', None)
    @_layer('Data', 'DATA')
    def _setup_data(self, layer):
        pass  # the user gives the data

    @_layer('Deconvolution', 'DECONVOLUTION')
    def _setup_deconvolution(self, layer):
        param = layer.convolution_param
        W, b = _get_weights(layer, param.bias_term)
        W = _expand_groups(W, param.group)
        self._add_child(
            layer,
            deconvolution_2d.Deconvolution2D(
                W.shape[0],
                W.shape[1],
                W.shape[2:],
                _get_stride(param),
                _get_pad(param),
                nobias=b is None,
                initialW=W,
                initial_bias=b,
                dilate=_get_dilation(param),
            ),
        )

    @_layer('Dropout', 'DROPOUT')
    def _setup_dropout(self, layer):
        self._add_function(
            layer, functools.partial(functions.dropout, ratio=layer.dropout_param.dropout_ratio)
        )

    @_layer('Eltwise', 'ELTWISE')
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

    @_layer('InnerProduct', 'INNER_PRODUCT')
    def _setup_inner_product(self, layer):
        param = layer.inner_product_param
        if param.axis != 1:
            raise RuntimeError('Non-default axis in InnerProduct is not supported')
        W, b = _get_weights(layer, param.bias_term)
        W = W.reshape(W.shape[-2:])
        if param.transpose:
            W = W.T
        self._add_child(
            layer,
            linear.Linear(W.shape[1], W.shape[0], nobias=b is None, initialW=W, initial_bias=b),
        )

    @_layer('LRN', 'LRN')
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

    @_layer('Pooling', 'POOLING')
    def _setup_pooling(self, layer):
        param = layer.pooling_param
        if param.pool == param.MAX:
            func = functions.max_pooling_2d
        elif param.pool == param.AVE:
            func = functions.average_pooling_2d
        else:
            raise RuntimeError('Stochastic pooling is not supported')
        stride, pad = _get_stride(param), _get_pad(param)
        if param.global_pooling:
            func = functools.partial(_pool_globally, func, stride, pad)
        else:
            func = functools.partial(func, ksize=_get_ksize(param), stride=stride, pad=pad)
        self._add_function(layer, func)

    @_layer('ReLU', 'RELU')
    def _setup_relu(self, layer):
        slope = layer.relu_param.negative_slope
        self._add_function(
            layer,
            functions.relu if slope == 0 else functools.partial(functions.leaky_relu, slope=slope),
        )

    @_layer('Reshape', None)
    def _setup_reshape(self, layer):
        param = layer.reshape_param
        if param.axis != 0 or param.num_axes != -1:
            raise RuntimeError('Reshape of some axes only is not supported')
        self._add_function(layer, functools.partial(_reshape, dims=tuple(param.shape.dim)))

    @_layer('Scale', None)
    def _setup_scale(self, layer):
        param = layer.scale_param
        # The second bottom, if there is one, is the scale.
        has_weight = len(layer.bottom) == 1
        arrays = _get_arrays(layer, has_weight + param.bias_term)
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

    @_layer('Sigmoid', 'SIGMOID')
    def _setup_sigmoid(self, layer):
        self._add_function(layer, functions.sigmoid)

    @_layer('Slice', 'SLICE')
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

    @_layer('Softmax', 'SOFTMAX')
    def _setup_softmax(self, layer):
        _check_softmax_axis(layer)
        self._add_function(layer, functions.softmax)

    @_layer('SoftmaxWithLoss', 'SOFTMAX_LOSS')
    def _setup_softmax_with_loss(self, layer):
        _check_softmax_axis(layer)
        self._add_function(layer, functions.softmax_cross_entropy)

    @_layer('Split', 'SPLIT')
    def _setup_split(self, layer):
        for top in layer.top:
            self.split_map[top] = layer.bottom[0]

    @_layer('TanH', 'TANH')
    def _setup_tanh(self, layer):
        self._add_function(layer, functions.tanh)


class _ChildLink:
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
        xs = [x * c for x, c in zip(xs, coeffs)]
    return sum(xs[1:], xs[0])


def _pool_globally(func, stride, pad, x):
    return func(x, x.shape[2:], stride, pad)


def _reshape(x, dims):
    return functions.reshape(x, tuple([n or x.shape[i] for i, n in enumerate(dims)]))


def _check_softmax_axis(layer):
    if layer.softmax_param.axis != 1:
        raise RuntimeError('Softmax along non-channel axis is not supported')


# The four sizes of a blob, which old files store as such.


def _get_num(blob):
    return blob.num if blob.num > 0 else blob.shape.dim[0]


def _get_channels(blob):
    return blob.channels if blob.channels > 0 else blob.shape.dim[1]


def _get_height(blob):
    return blob.height if blob.height > 0 else blob.shape.dim[-2]


def _get_width(blob):
    return blob.width if blob.width > 0 else blob.shape.dim[-1]


def _get_array(blob):
    data = numpy.asarray(blob.data if len(blob.data) else blob.double_data, numpy.float32)
    if blob.HasField('shape'):
        shape = tuple(blob.shape.dim)
    else:
        shape = blob.num, blob.channels, blob.height, blob.width
    return data.reshape(shape)


def _get_arrays(layer, n):
    """Returns the blobs of a layer, at least ``n``."""
    if len(layer.blobs) < n:
        raise ValueError(f'layer "{layer.name}" has {len(layer.blobs)} blobs, but {n} are expected')
    arrays = [_get_array(blob) for blob in layer.blobs]
    if any(array.size == 0 for array in arrays):
        raise ValueError(f'layer "{layer.name}" has an empty blob')
    return arrays


def _get_weights(layer, bias_term):
    W, *rest = _get_arrays(layer, 2 if bias_term else 1)
    return W, rest[0].ravel() if bias_term else None


def _expand_groups(W, groups):
    """Returns the equivalent filter without groups."""
    if W.ndim != 4:
        raise RuntimeError(f'filters over {W.ndim - 2} axes are not supported')
    if groups == 1:
        return W
    if groups < 1 or W.shape[0] % groups != 0:
        raise ValueError(f'{W.shape[0]} filters cannot be in {groups} groups')
    n, m = W.shape[0] // groups, W.shape[1]
    dense = numpy.zeros((W.shape[0], m * groups, *W.shape[2:]), W.dtype)
    for i in range(groups):
        dense[i * n : (i + 1) * n, i * m : (i + 1) * m] = W[i * n : (i + 1) * n]
    return dense


def _get_ksize(param):
    return _get_sizes(param, 'kernel', 'kernel_size', 0)


def _get_stride(param):
    return _get_sizes(param, 'stride', 'stride', 1)


def _get_pad(param):
    return _get_sizes(param, 'pad', 'pad', 0)


def _get_sizes(param, name, common_name, default):
    """Returns one size or a pair; Caffe has fields for both axes and for each."""
    h, w = getattr(param, name + '_h'), getattr(param, name + '_w')
    if h > 0 or w > 0:
        return h, w
    return _first_or_all(getattr(param, common_name), default)


def _get_dilation(param):
    return _first_or_all(param.dilation, 1)


def _first_or_all(value, default):
    if isinstance(value, int):
        return value
    if not value:
        return default
    return value[0] if len(value) == 1 else tuple(value)
