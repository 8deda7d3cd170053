from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy

from chainer import functions, initializers
from chainer.links.model import _config, _names, pretrained
from chainer.links.model.vision import _image_model, resnet, vgg
from chainer.links.normalization.batch_normalization import BatchNormalization
from chainer.serializers.name_table import NameTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from chainer.types import InitializerSpec

_MEANS = 0.485, 0.456, 0.406
_DEVIATIONS = 0.229, 0.224, 0.225


def prepare(image: Any, size: Sequence[int] = (224, 224)) -> numpy.ndarray:
    """Converts an image to the input of torchvision's models.

    Args:
        image (PIL.Image or numpy.ndarray): Image. An array has the shape
            ``(height, width)``, ``(height, width, channels)`` or
            ``(channels, height, width)``, and its channels are RGB from 0 to 255.
        size (pair of ints): Width and height to scale to. If ``None``, the
            image keeps its size.

    Returns:
        numpy.ndarray: RGB planes minus the means of ImageNet, divided by its standard deviations,
        of the shape ``(3, height, width)``.

    Raises:
        ImportError: Pillow is not installed.

    .. admonition:: Example

        >>> from chainer.links.model.vision import torchvision
        >>> x = torchvision.prepare(np.zeros((3, 48, 64), np.uint8), size=(32, 32))
        >>> x.shape, round(float(x[0, 0, 0]), 3)
        ((3, 32, 32), -2.118)

    """
    rgb = _image_model.prepare_image(image, size, (0, 0, 0))[::-1]
    means, deviations = (
        numpy.array(values, rgb.dtype)[:, None, None] for values in (_MEANS, _DEVIATIONS)
    )
    return (rgb / 255 - means) / deviations


@dataclasses.dataclass
class _Config(_config.PretrainedConfig):
    n_layers: int
    n_classes: int


@dataclasses.dataclass
class _ResNetConfig(_Config):
    model_type: ClassVar[str] = 'torchvision_resnet'
    architecture: ClassVar[str] = 'ResNet'


@dataclasses.dataclass
class _VGGConfig(_Config):
    model_type: ClassVar[str] = 'torchvision_vgg'
    architecture: ClassVar[str] = 'VGG'


class _Model(pretrained.Pretrained):
    """What the models of torchvision share."""

    config: _Config
    _prepare = staticmethod(prepare)

    @classmethod
    def _from_config(cls, config: Any, **kwargs: Any) -> Self:
        return cls(config.n_layers, config.n_classes, **kwargs)  # type: ignore[call-arg]


def _resnet_rows():
    yield from _names.rows(_names.WEIGHT, {'conv1': 'conv1'})
    yield from _names.rows(_names.BATCH_NORMALIZATION, {'bn1': 'bn1'})
    yield from _names.rows(_names.LINEAR, {'fc': 'fc6'})
    for stage in 1, 2, 3, 4:
        for theirs, ours in ('0', 'a'), ('{i}', 'b{i}'):
            theirs, ours = f'layer{stage}.{theirs}', f'res{stage + 1}/{ours}'
            convolutions = {'downsample.0': 'conv4', 'conv{j}': 'conv{j}'}
            normalizations = {'downsample.1': 'bn4', 'bn{j}': 'bn{j}'}
            for kind, names in (
                (_names.WEIGHT, convolutions),
                (_names.BATCH_NORMALIZATION, normalizations),
            ):
                layers = {f'{theirs}.{key}': f'{ours}/{name}' for key, name in names.items()}
                yield from _names.rows(kind, layers)


class TorchvisionResNet(_Model, resnet._ResNet):
    """ResNet with the weights of torchvision.

    See K. He et al., `Deep Residual Learning for Image Recognition
    <https://arxiv.org/abs/1512.03385>`_. It computes what ``resnet50``, ``resnet101`` and
    ``resnet152`` of torchvision do, and loads and saves their weights. They differ from
    :class:`ResNet50Layers`, whose weights come from Caffe: the 3x3 convolution of a block has the
    stride, the first convolution has no bias, pooling pads, ``eps`` is 1e-5, and images are RGB.

    Layers are ``conv1``, ``pool1``, ``res2`` to ``res5``, ``pool5``, ``fc6`` (the scores of the
    classes) and ``prob``.

    Args:
        n_layers (int): Number of layers, 50, 101 or 152.
        n_classes (int): Number of classes.
        initialW (initializer): Initializer of the filters. The default is that of torchvision,
            :class:`~chainer.initializers.HeNormal` by the number of outputs.

    Raises:
        ValueError: ``n_layers`` is not one of these numbers.

    .. admonition:: Example

        >>> model = L.TorchvisionResNet(50)
        >>> model.load_weights('resnet50-11ad3fa6.pth')  # doctest: +SKIP
        >>> with chainer.using_config('train', False), chainer.no_backprop_mode():
        ...     y = model(np.zeros((1, 3, 64, 64), np.float32), layers=['pool5', 'fc6'])
        >>> y['pool5'].shape, y['fc6'].shape
        ((1, 2048), (1, 1000))

    """

    config: _ResNetConfig
    _config_class = _ResNetConfig

    def __init__(
        self, n_layers: int = 50, n_classes: int = 1000, initialW: InitializerSpec | None = None
    ) -> None:
        super().__init__()
        self.config = _ResNetConfig(n_layers, n_classes)
        if initialW is None:
            initialW = initializers.HeNormal(fan_option='fan_out')
        with self.init_scope():
            self._add_layers(n_layers, initialW, True, n_classes, nobias=True)
        for child in self.links():
            if isinstance(child, BatchNormalization):
                child.eps = 1e-5

    def _table(self):
        return NameTable(_resnet_rows())

    @staticmethod
    def _pool(x):
        return functions.max_pooling_2d(x, ksize=3, stride=2, pad=1, cover_all=False)


def _vgg_rows(model):
    """Yields rows for layers that are numbered, all of them."""
    position = 0
    for name, layer in model.functions.items():
        if name.startswith('conv'):
            yield from _names.rows(_names.LINEAR, {f'features.{position}': name})
        position += len(layer)
    names = {'classifier.0': 'fc6', 'classifier.3': 'fc7', 'classifier.6': 'fc8'}
    yield from _names.rows(_names.LINEAR, names)


class TorchvisionVGG(_Model, vgg._VGG):
    """VGG network with the weights of torchvision.

    See K. Simonyan and A. Zisserman, `Very Deep Convolutional Networks for Large-Scale Image
    Recognition <https://arxiv.org/abs/1409.1556>`_. It computes what ``vgg16`` and ``vgg19`` of
    torchvision do for images of 224 pixels, and loads and saves their weights. They differ from
    :class:`VGG16Layers`, whose weights come from Caffe, in that images are RGB.

    Layers are ``conv1_1`` to ``conv5_3`` or ``conv5_4``, ``pool1`` to ``pool5``, ``fc6``, ``fc7``,
    ``fc8`` (the scores of the classes) and ``prob``.

    Args:
        n_layers (int): Number of layers, 16 or 19.
        n_classes (int): Number of classes.
        initialW (initializer): Initializer of the weights. The default is
            :class:`~chainer.initializers.Normal` with the scale 0.01.

    Raises:
        ValueError: ``n_layers`` is neither 16 nor 19.

    .. admonition:: Example

        >>> model = L.TorchvisionVGG(16, n_classes=10, initialW=0)
        >>> model.load_weights('vgg16-397923af.pth')  # doctest: +SKIP
        >>> model.fc8.W.shape
        (10, 4096)

    """

    config: _VGGConfig
    _config_class = _VGGConfig

    def __init__(
        self, n_layers: int = 16, n_classes: int = 1000, initialW: InitializerSpec | None = None
    ) -> None:
        super().__init__()
        self.config = _VGGConfig(n_layers, n_classes)
        with self.init_scope():
            self._add_layers(
                n_layers, initializers.Normal(0.01) if initialW is None else initialW, n_classes
            )

    def _table(self):
        return NameTable(_vgg_rows(self))
