from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import functions, initializers
from chainer.dataset import download
from chainer.links.caffe import caffe_function
from chainer.links.connection import linear
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.links.model.vision import _image_model
from chainer.serializers import npz

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy

_CAFFEMODEL_URL = (
    'https://www.robots.ox.ac.uk/%7Evgg/software/very_deep/caffe/VGG_ILSVRC_{}_layers.caffemodel'
)
_CHECKSUMS = {
    16: 'sha256:a6196bc498e45ea4cb2637114ae8db9410cf1556fd60a55ae93272371beba197',
    19: 'sha256:31b4c627c40c6ee151325f079b7ac557fddbd1f79af932888796127a4f4f6954',
}

# Channels of the image and of each stage, and the convolutions per stage.
_CHANNELS = (3, 64, 128, 256, 512, 512)
_N_CONVOLUTIONS = {16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


def prepare(image: Any, size: Sequence[int] = (224, 224)) -> numpy.ndarray:
    """Converts an image to the input of the VGG models.

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

        >>> from chainer.links.model.vision import vgg
        >>> x = vgg.prepare(np.zeros((3, 48, 64), np.uint8), size=(32, 32))
        >>> x.shape, round(float(x[0, 0, 0]), 3)
        ((3, 32, 32), -103.939)

    """
    return _image_model.prepare_image(image, size, (103.939, 116.779, 123.68))


def _max_pooling_2d(x):
    return functions.max_pooling_2d(x, ksize=2)


class _VGG(_image_model.ImageModel):
    """Layers of the networks, whatever weights they get."""

    _default_layer = 'fc7'
    _n_layers: int

    def _add_layers(self, n_layers, initialW, n_classes=1000):
        if n_layers not in _N_CONVOLUTIONS:
            raise ValueError(
                f'The n_layers argument should be either 16 or 19, but {n_layers} was given.'
            )
        self._n_layers = n_layers
        kwargs: dict[str, Any] = {'initialW': initialW, 'initial_bias': 0}

        def add_convolution(stage, i):
            sizes = _CHANNELS[stage - 1 if i == 1 else stage], _CHANNELS[stage]
            setattr(self, f'conv{stage}_{i}', Convolution2D(*sizes, 3, 1, 1, **kwargs))

        for stage, n in enumerate(_N_CONVOLUTIONS[16], start=1):
            for i in range(1, n + 1):
                add_convolution(stage, i)
        self.fc6: linear.Linear = linear.Linear(512 * 7 * 7, 4096, **kwargs)
        self.fc7: linear.Linear = linear.Linear(4096, 4096, **kwargs)
        self.fc8: linear.Linear = linear.Linear(4096, n_classes, **kwargs)
        if n_layers == 19:
            for stage in 3, 4, 5:
                add_convolution(stage, 4)

    @property
    def functions(self) -> dict[str, list[Callable[..., Any]]]:
        relu, dropout = functions.relu, functions.dropout
        layers = {}
        for stage, n in enumerate(_N_CONVOLUTIONS[self._n_layers], start=1):
            for i in range(1, n + 1):
                layers[f'conv{stage}_{i}'] = [self[f'conv{stage}_{i}'], relu]
            layers[f'pool{stage}'] = [_max_pooling_2d]
        layers['fc6'] = [self.fc6, relu, dropout]
        layers['fc7'] = [self.fc7, relu, dropout]
        layers['fc8'] = [self.fc8]
        layers['prob'] = [functions.softmax]
        return layers


class VGGLayers(_VGG):
    """VGG convolutional network pretrained on ImageNet.

    See K. Simonyan and A. Zisserman, `Very Deep Convolutional Networks for
    Large-Scale Image Recognition <https://arxiv.org/abs/1409.1556>`_.

    Args:
        pretrained_model (str): Path of an npz file with the parameters. With
            ``'auto'``, loads them from the dataset folder; the first use
            downloads and converts the authors' Caffe model. With
            ``None``, they are initialized randomly.
        n_layers (int): Number of layers, 16 or 19.

    Raises:
        ValueError: ``n_layers`` is neither 16 nor 19.

    .. admonition:: Example

        >>> from chainer.links.model.vision import vgg
        >>> vgg.VGGLayers(pretrained_model=None, n_layers=11)
        Traceback (most recent call last):
            ...
        ValueError: The n_layers argument should be either 16 or 19, but 11 was given.

    """

    _prepare = staticmethod(prepare)

    def __init__(self, pretrained_model: str | None = 'auto', n_layers: int = 16) -> None:
        super().__init__()
        with self.init_scope():
            # Skip the random initialization of parameters that are loaded next.
            self._add_layers(n_layers, 0 if pretrained_model else initializers.Normal(0.01))
        if pretrained_model == 'auto':
            self._download()
        elif pretrained_model:
            npz.load_npz(pretrained_model, self)

    def _download(self):
        n = self._n_layers
        url, checksum = _CAFFEMODEL_URL.format(n), _CHECKSUMS[n]

        def convert(path):
            self.convert_caffemodel_to_npz(download.cached_download(url, checksum=checksum), path)

        _image_model.load_from_cache(f'VGG_ILSVRC_{n}_layers.npz', convert, self)

    @classmethod
    def convert_caffemodel_to_npz(cls, path_caffemodel: str, path_npz: str) -> None:
        """Converts a Caffe model to an npz file for ``pretrained_model``.

        Args:
            path_caffemodel (str): Path of the Caffe model.
            path_npz (str): Path of the npz file to write.

        """
        npz.save_npz(path_npz, caffe_function.CaffeFunction(path_caffemodel), compression=False)


class VGG16Layers(VGGLayers):
    """VGG network with 16 layers.

    See :class:`VGGLayers <chainer.links.model.vision.vgg.VGGLayers>`; layers
    are ``conv1_1`` to ``conv5_3``, ``pool1`` to ``pool5``, ``fc6``, ``fc7``,
    ``fc8`` and ``prob``.

    Args:
        pretrained_model (str): Path of an npz file with the parameters,
            ``'auto'`` or ``None``.

    Raises:
        FileNotFoundError: The file ``pretrained_model`` does not exist.
        ValueError: The file is damaged, or a call asks for layers that the model does not have.
        ~chainer.utils.type_check.InvalidType: The images of a call are not floating point or have
            not three channels.

    .. admonition:: Example

        >>> from PIL import Image
        >>> image = Image.open('cat.jpg')  # doctest: +SKIP
        >>> model = L.VGG16Layers()  # doctest: +SKIP
        >>> model.extract([image])['fc7'].shape  # doctest: +SKIP
        (1, 4096)

    """

    def __init__(self, pretrained_model: str | None = 'auto') -> None:
        super().__init__(pretrained_model, 16)


class VGG19Layers(VGGLayers):
    """VGG network with 19 layers.

    See :class:`VGGLayers <chainer.links.model.vision.vgg.VGGLayers>`; layers
    are ``conv1_1`` to ``conv5_4``, ``pool1`` to ``pool5``, ``fc6``, ``fc7``,
    ``fc8`` and ``prob``.

    Args:
        pretrained_model (str): Path of an npz file with the parameters,
            ``'auto'`` or ``None``.

    Raises:
        FileNotFoundError: The file ``pretrained_model`` does not exist.
        ValueError: The file is damaged, or a call asks for layers that the model does not have.
        ~chainer.utils.type_check.InvalidType: The images of a call are not floating point or have
            not three channels.

    .. admonition:: Example

        >>> from PIL import Image
        >>> image = Image.open('cat.jpg')  # doctest: +SKIP
        >>> model = L.VGG19Layers()  # doctest: +SKIP
        >>> model.extract([image], layers=['pool5'])['pool5'].shape  # doctest: +SKIP
        (1, 512, 7, 7)

    """

    def __init__(self, pretrained_model: str | None = 'auto') -> None:
        super().__init__(pretrained_model, 19)
