from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

from chainer.links.caffe import _blobs, _layers
from chainer.links.caffe._schema import caffe_pb as caffe_pb
from chainer.utils import _damaged_file, _old_arguments, argument

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chainer.variable import Variable

available = True  # needs no library of Protocol Buffers

# Names of Chainer 7, for programs that add types of layers.
_layer = _layers.layer_type
_type_to_method = _layers.BY_TYPE
_oldname_to_method = _layers.BY_OLD_NUMBER
_get_num = _blobs.get_num
_get_channels = _blobs.get_channels
_get_height = _blobs.get_height
_get_width = _blobs.get_width
_get_array = _blobs.get_array


class CaffeFunction(_layers.Layers):
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
        if not (net.layer or net.layers):
            raise ValueError('it has no layers')
        # Only old files have layers whose types are numbers.
        methods = _layers.BY_TYPE if net.layer else _layers.BY_OLD_NUMBER
        for layer in net.layer or net.layers:
            method = methods.get(layer.type)
            if method is None:
                warnings.warn(
                    f'Skip the layer "{layer.name}", since CaffeFunction does not support '
                    f'{layer.type} layer'
                )
            else:
                method(self, layer)

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
        argument.parse_kwargs(kwargs, train=_old_arguments.TRAIN)
        variables, disable = dict(inputs), set(disable)
        for name, bottom, top in self.layers:
            if name not in disable and name in self.forwards and variables.keys() >= set(bottom):
                results = self._call(name, [variables[blob] for blob in bottom])
                variables.update(zip(top, results))
        self.variables = variables
        missing = [blob for blob in outputs if blob not in variables]
        if missing:
            raise KeyError(f'blob(s) {missing} cannot be computed from the inputs {sorted(inputs)}')
        return tuple([variables[blob] for blob in outputs])

    def _call(self, name, args):
        """Returns the outputs of a layer."""
        func = self.forwards[name]
        results = func(self[name], *args) if isinstance(func, _layers.ChildLink) else func(*args)
        return results if isinstance(results, (tuple, list)) else (results,)
