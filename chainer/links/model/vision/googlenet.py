from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import functions, initializers
from chainer.dataset import download
from chainer.links.caffe import caffe_function
from chainer.links.connection import inception, linear
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.links.model.vision import _image_model
from chainer.serializers import npz

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy

# A checksum makes up for plain http.
_CAFFEMODEL_URL = 'http://dl.caffe.berkeleyvision.org/bvlc_googlenet.caffemodel'
_CHECKSUM = 'sha256:6f7101e3a2183738a7125a0c5021ba82a1feb4228c5ca0924d991b6daf6f6fad'

# Arguments of the inception modules.
_INCEPTIONS = {
    '3a': (192, 64, 96, 128, 16, 32, 32),
    '3b': (256, 128, 128, 192, 32, 96, 64),
    '4a': (480, 192, 96, 208, 16, 48, 64),
    '4b': (512, 160, 112, 224, 24, 64, 64),
    '4c': (512, 128, 128, 256, 24, 64, 64),
    '4d': (512, 112, 144, 288, 32, 64, 64),
    '4e': (528, 256, 160, 320, 32, 128, 128),
    '5a': (832, 256, 160, 320, 32, 128, 128),
    '5b': (832, 384, 192, 384, 48, 128, 128),
}

# Names of the convolutions in a module and in the Caffe model.
_INCEPTION_LAYERS = {
    'conv1': '1x1',
    'proj3': '3x3_reduce',
    'conv3': '3x3',
    'proj5': '5x5_reduce',
    'conv5': '5x5',
    'projp': 'pool_proj',
}

_CAFFE_LAYERS = {
    'conv1': 'conv1/7x7_s2',
    'conv2_reduce': 'conv2/3x3_reduce',
    'conv2': 'conv2/3x3',
    'loss1_conv': 'loss1/conv',
    'loss1_fc1': 'loss1/fc',
    'loss1_fc2': 'loss1/classifier',
    'loss2_conv': 'loss2/conv',
    'loss2_fc1': 'loss2/fc',
    'loss2_fc2': 'loss2/classifier',
    'loss3_fc': 'loss3/classifier',
}


def prepare(image: Any, size: Sequence[int] = (224, 224)) -> numpy.ndarray:
    """Converts an image to the input of GoogLeNet.

    Args:
        image (PIL.Image or numpy.ndarray): Image. An array has the shape
            ``(height, width)``, ``(height, width, channels)`` or
            ``(channels, height, width)``, and its channels are RGB.
        size (pair of ints): Width and height to scale to. If ``None``, the
            image keeps its size.

    Returns:
        numpy.ndarray: BGR planes minus their means, of the shape
        ``(3, height, width)``.

    Raises:
        ImportError: Pillow is not installed.

    .. admonition:: Example

        >>> from chainer.links.model.vision import googlenet
        >>> image = np.zeros((3, 48, 64), np.uint8)
        >>> x = googlenet.prepare(image)
        >>> x.shape, float(x[0, 0, 0])
        ((3, 224, 224), -104.0)

    """
    return _image_model.prepare_image(image, size, (104.0, 117.0, 123.0))


def _max_pooling_2d(x):
    return functions.max_pooling_2d(x, ksize=3, stride=2)


def _local_response_normalization(x):
    return functions.local_response_normalization(x, n=5, k=1, alpha=1e-4 / 5)


def _average_pooling_2d_k5(x):
    return functions.average_pooling_2d(x, ksize=5, stride=3)


def _average_pooling_2d_k7(x):
    return functions.average_pooling_2d(x, ksize=7, stride=1)


def _dropout(x):
    return functions.dropout(x, ratio=0.4)


class GoogLeNet(_image_model.ImageModel):
    """GoogLeNet pretrained on ImageNet.

    See C. Szegedy et al., `Going Deeper with Convolutions
    <https://arxiv.org/abs/1409.4842>`_. Layers are ``conv1``, ``pool1``,
    ``conv2_reduce``, ``conv2``, ``pool2``, ``inception_3a`` to
    ``inception_5b``, ``pool3`` to ``pool5``, ``loss3_fc``, ``prob``, and the
    auxiliary classifiers ``loss1_fc2`` and ``loss2_fc2``.

    Args:
        pretrained_model (str): Path of an npz file with the parameters. With
            ``'auto'``, loads them from the dataset folder; the first use
            downloads and converts the BVLC Caffe model. With
            ``None``, they are initialized randomly.

    Raises:
        FileNotFoundError: The file ``pretrained_model`` does not exist.
        ValueError: The file is damaged, or a call asks for layers that the model does not have.
        ~chainer.utils.type_check.InvalidType: The images of a call are not floating point or have
            not three channels.

    .. admonition:: Example

        >>> from PIL import Image
        >>> image = Image.open('cat.jpg')  # doctest: +SKIP
        >>> model = L.GoogLeNet()  # doctest: +SKIP
        >>> model.extract([image], layers=['pool5'])['pool5'].shape  # doctest: +SKIP
        (1, 1024, 1, 1)
        >>> model.predict([image]).shape  # doctest: +SKIP
        (1, 1000)

    """

    _default_layer = 'pool5'
    _branches = {'loss1_fc2': 'inception_4a', 'loss2_fc2': 'inception_4d'}
    _prepare = staticmethod(prepare)

    def __init__(self, pretrained_model: str | None = 'auto') -> None:
        super().__init__()
        with self.init_scope():
            if pretrained_model:
                # Skip the random initialization of parameters that are loaded next.
                self._add_layers(0, conv_init=0, bias_init=0)
            else:
                self._add_layers(initializers.LeCunUniform())
        if pretrained_model == 'auto':
            self._download()
        elif pretrained_model:
            npz.load_npz(pretrained_model, self)

    def _add_layers(self, initialW, **inception_kwargs):
        kwargs: dict[str, Any] = {'initialW': initialW, 'initial_bias': 0}
        conv, fc = Convolution2D, linear.Linear
        self.conv1: Convolution2D = conv(3, 64, 7, stride=2, pad=3, **kwargs)
        self.conv2_reduce: Convolution2D = conv(64, 64, 1, **kwargs)
        self.conv2: Convolution2D = conv(64, 192, 3, stride=1, pad=1, **kwargs)
        for name, sizes in _INCEPTIONS.items():
            setattr(self, f'inc{name}', inception.Inception(*sizes, **inception_kwargs))
        self.loss3_fc: linear.Linear = fc(1024, 1000, **kwargs)
        self.loss1_conv: Convolution2D = conv(512, 128, 1, **kwargs)
        self.loss1_fc1: linear.Linear = fc(2048, 1024, **kwargs)
        self.loss1_fc2: linear.Linear = fc(1024, 1000, **kwargs)
        self.loss2_conv: Convolution2D = conv(528, 128, 1, **kwargs)
        self.loss2_fc1: linear.Linear = fc(2048, 1024, **kwargs)
        self.loss2_fc2: linear.Linear = fc(1024, 1000, **kwargs)

    def _download(self):
        def convert(path):
            source = download.cached_download(_CAFFEMODEL_URL, checksum=_CHECKSUM)
            self.convert_caffemodel_to_npz(source, path)

        _image_model.load_from_cache('bvlc_googlenet.npz', convert, self)

    @property
    def functions(self) -> dict[str, list[Callable[..., Any]]]:
        relu = functions.relu
        layers: dict[str, list[Callable[..., Any]]] = {
            'conv1': [self.conv1, relu],
            'pool1': [_max_pooling_2d, _local_response_normalization],
            'conv2_reduce': [self.conv2_reduce, relu],
            'conv2': [self.conv2, relu, _local_response_normalization],
            'pool2': [_max_pooling_2d],
        }
        for name in _INCEPTIONS:
            layers[f'inception_{name}'] = [self[f'inc{name}']]
            if name in ('3b', '4e'):
                layers['pool3' if name == '3b' else 'pool4'] = [_max_pooling_2d]
        layers['pool5'] = [_average_pooling_2d_k7]
        layers['loss3_fc'] = [_dropout, self.loss3_fc]
        layers['prob'] = [functions.softmax]
        # The auxiliary classifiers come last, because most calls stop before them.
        return layers | {f'loss{i}_fc2': self._auxiliary_classifier(i) for i in (1, 2)}

    def _auxiliary_classifier(self, i):
        conv, fc1, fc2 = [self[f'loss{i}_{name}'] for name in ('conv', 'fc1', 'fc2')]
        return [_average_pooling_2d_k5, conv, functions.relu, fc1, functions.relu, fc2]

    @classmethod
    def convert_caffemodel_to_npz(cls, path_caffemodel: str, path_npz: str) -> None:
        """Converts a Caffe model to an npz file for ``pretrained_model``.

        Args:
            path_caffemodel (str): Path of the Caffe model.
            path_npz (str): Path of the npz file to write.

        """
        source = caffe_function.CaffeFunction(path_caffemodel)
        model = cls(pretrained_model=None)
        for name, caffe_name in _CAFFE_LAYERS.items():
            model[name].copyparams(source[caffe_name])
        for name in _INCEPTIONS:
            for layer, caffe_layer in _INCEPTION_LAYERS.items():
                model[f'inc{name}'][layer].copyparams(source[f'inception_{name}/{caffe_layer}'])
        npz.save_npz(path_npz, model, compression=False)
