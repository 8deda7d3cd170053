from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from chainer import functions, initializers
from chainer.dataset import download
from chainer.links.caffe import caffe_function
from chainer.links.connection import linear
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.links.model.vision import _image_model
from chainer.links.model.vision._resnet_blocks import (
    BottleneckA as BottleneckA,
    BottleneckB as BottleneckB,
    BuildingBlock as BuildingBlock,
)
from chainer.links.normalization.batch_normalization import BatchNormalization
from chainer.serializers import npz

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy


_N_BLOCKS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


def prepare(image: Any, size: Sequence[int] = (224, 224)) -> numpy.ndarray:
    """Converts an image to the input of the ResNet models.

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

        >>> from chainer.links.model.vision import resnet
        >>> x = resnet.prepare(np.zeros((3, 48, 64), np.uint8), size=None)
        >>> x.shape, round(float(x[0, 0, 0]), 3)
        ((3, 48, 64), -103.063)

    """
    return _image_model.prepare_image(image, size, (103.063, 115.903, 123.152))


def _global_average_pooling_2d(x):
    return functions.reshape(functions.average_pooling_2d(x, x.shape[2:], stride=1), x.shape[:2])


class _ResNet(_image_model.ImageModel):
    """Layers of the networks, whatever weights they get."""

    _default_layer = 'pool5'

    # Programs see the name of the function: Chainer 7 has a lambda.
    _pool = staticmethod(lambda x: functions.max_pooling_2d(x, ksize=3, stride=2))

    def _add_layers(self, n_layers, initialW, downsample_fb, n_classes=1000, nobias=False):
        if n_layers not in _N_BLOCKS:
            raise ValueError(
                f'The n_layers argument should be either 50, 101, or 152, but {n_layers} was given.'
            )
        n_blocks = _N_BLOCKS[n_layers]
        options = initialW, downsample_fb
        self.conv1: Convolution2D = Convolution2D(3, 64, 7, 2, 3, nobias=nobias, initialW=initialW)
        self.bn1: BatchNormalization = BatchNormalization(64)
        self.res2: BuildingBlock = BuildingBlock(n_blocks[0], 64, 64, 256, 1, *options)
        self.res3: BuildingBlock = BuildingBlock(n_blocks[1], 256, 128, 512, 2, *options)
        self.res4: BuildingBlock = BuildingBlock(n_blocks[2], 512, 256, 1024, 2, *options)
        self.res5: BuildingBlock = BuildingBlock(n_blocks[3], 1024, 512, 2048, 2, *options)
        self.fc6: linear.Linear = linear.Linear(2048, n_classes)

    @property
    def functions(self) -> dict[str, list[Callable[..., Any]]]:
        return {
            'conv1': [self.conv1, self.bn1, functions.relu],
            'pool1': [self._pool],
            'res2': [self.res2],
            'res3': [self.res3],
            'res4': [self.res4],
            'res5': [self.res5],
            'pool5': [_global_average_pooling_2d],
            'fc6': [self.fc6],
            'prob': [functions.softmax],
        }


class ResNetLayers(_ResNet):
    """ResNet pretrained on ImageNet.

    See K. He et al., `Deep Residual Learning for Image Recognition
    <https://arxiv.org/abs/1512.03385>`_. Layers are ``conv1``, ``pool1``,
    ``res2`` to ``res5``, ``pool5``, ``fc6`` and ``prob``.

    Args:
        pretrained_model (str): Path of an npz file with the parameters. The
            name of a Caffe model, ending in ``.caffemodel``, refers to
            ``pfnet/chainer/models`` in the dataset folder, which also stores
            the converted parameters. With ``None``, parameters are
            initialized randomly.
        n_layers (int): Number of layers, 50, 101 or 152.
        downsample_fb (bool): Position of the stride in a block; see
            :class:`BottleneckA`.

    Raises:
        ValueError: ``n_layers`` is not one of these numbers.
        OSError: The Caffe model does not exist; there is no automatic download.

    .. admonition:: Example

        >>> from chainer.links.model.vision import resnet
        >>> resnet.ResNetLayers(pretrained_model=None, n_layers=34)
        Traceback (most recent call last):
            ...
        ValueError: The n_layers argument should be either 50, 101, or 152, but 34 was given.

    """

    _prepare = staticmethod(prepare)

    def __init__(
        self, pretrained_model: str | None, n_layers: int, downsample_fb: bool = False
    ) -> None:
        super().__init__()
        # Skip the random initialization of parameters that are loaded next.
        initialW = 0 if pretrained_model else initializers.HeNormal(scale=1.0)
        with self.init_scope():
            self._add_layers(n_layers, initialW, downsample_fb)
        if pretrained_model and str(pretrained_model).endswith('.caffemodel'):
            _load_caffemodel(pretrained_model, n_layers, self)
        elif pretrained_model:
            npz.load_npz(pretrained_model, self)

    @classmethod
    def convert_caffemodel_to_npz(
        cls, path_caffemodel: str, path_npz: str, n_layers: int = 50
    ) -> None:
        """Converts a Caffe model to an npz file for ``pretrained_model``.

        Args:
            path_caffemodel (str): Path of the Caffe model.
            path_npz (str): Path of the npz file to write.
            n_layers (int): Number of layers, 50, 101 or 152.

        """
        source = caffe_function.CaffeFunction(path_caffemodel)
        model = ResNetLayers(pretrained_model=None, n_layers=n_layers)
        _copy_model(source, model, n_layers)
        npz.save_npz(path_npz, model, compression=False)


def _load_caffemodel(name, n_layers, model):
    def make(path_npz):
        root = download.get_dataset_directory('pfnet/chainer/models/')
        path = os.path.join(root, name)
        if not os.path.exists(path):
            raise OSError(
                'The pre-trained caffemodel does not exist. Please download it from '
                "'https://github.com/KaimingHe/deep-residual-networks', and place it on "
                f'{path}'
            )
        sys.stderr.write('Now loading caffemodel (usually it may take few minutes)\n')
        ResNetLayers.convert_caffemodel_to_npz(path, path_npz, n_layers)

    _image_model.load_from_cache(f'ResNet-{n_layers}-model.npz', make, model)


def _copy_model(source, model, n_layers):
    model.conv1.W.copydata(source['conv1'].W)
    if source['conv1'].b is not None:
        model.conv1.b.copydata(source['conv1'].b)
    _copy_normalization(source, 'bn_conv1', 'scale_conv1', model.bn1)
    for stage, n_blocks in zip((2, 3, 4, 5), _N_BLOCKS[n_layers]):
        # Long stages of the deep models number their blocks, others use letters.
        if n_layers > 50 and stage in (3, 4):
            names = ['a', *[f'b{i}' for i in range(1, n_blocks)]]
        else:
            names = list('abcdef'[:n_blocks])
        blocks = model[f'res{stage}']
        for name, block in zip(names, (blocks[key] for key in blocks._forward)):
            _copy_block(source, f'{stage}{name}', block)
    model.fc6.copyparams(source['fc1000'])


def _copy_block(source, name, block):
    branches = ['branch2a', 'branch2b', 'branch2c']
    if isinstance(block, BottleneckA):
        branches.append('branch1')
    for i, branch in enumerate(branches, start=1):
        block[f'conv{i}'].W.copydata(source[f'res{name}_{branch}'].W)
        _copy_normalization(source, f'bn{name}_{branch}', f'scale{name}_{branch}', block[f'bn{i}'])


def _copy_normalization(source, norm_name, scale_name, norm):
    norm.avg_mean[...] = source[norm_name].avg_mean
    norm.avg_var[...] = source[norm_name].avg_var
    norm.gamma.copydata(source[scale_name].W)
    norm.beta.copydata(source[scale_name].bias.b)


class ResNet50Layers(ResNetLayers):
    """ResNet with 50 layers.

    See :class:`ResNetLayers <chainer.links.model.vision.resnet.ResNetLayers>`.

    Args:
        pretrained_model (str): Path of an npz file with the parameters, or
            ``None``. ``'auto'`` means ``'ResNet-50-model.caffemodel'``.
        downsample_fb (bool): Where the stride of a block is.

    Raises:
        FileNotFoundError: The file ``pretrained_model`` does not exist.
        ValueError: The file is damaged, or a call asks for layers that the model does not have.
        ~chainer.utils.type_check.InvalidType: The images of a call are not floating point or have
            not three channels.

    .. admonition:: Example

        >>> from PIL import Image
        >>> image = Image.open('cat.jpg')  # doctest: +SKIP
        >>> model = L.ResNet50Layers()  # doctest: +SKIP
        >>> model.extract([image])['pool5'].shape  # doctest: +SKIP
        (1, 2048)

    """

    def __init__(self, pretrained_model: str | None = 'auto', downsample_fb: bool = False) -> None:
        if pretrained_model == 'auto':
            pretrained_model = 'ResNet-50-model.caffemodel'
        super().__init__(pretrained_model, 50, downsample_fb)


class ResNet101Layers(ResNetLayers):
    """ResNet with 101 layers.

    See :class:`ResNetLayers <chainer.links.model.vision.resnet.ResNetLayers>`.

    Args:
        pretrained_model (str): Path of an npz file with the parameters, or
            ``None``. ``'auto'`` means ``'ResNet-101-model.caffemodel'``.
        downsample_fb (bool): Where the stride of a block is.

    Raises:
        FileNotFoundError: The file ``pretrained_model`` does not exist.
        ValueError: The file is damaged, or a call asks for layers that the model does not have.
        ~chainer.utils.type_check.InvalidType: The images of a call are not floating point or have
            not three channels.

    .. admonition:: Example

        >>> from PIL import Image
        >>> image = Image.open('cat.jpg')  # doctest: +SKIP
        >>> model = L.ResNet101Layers()  # doctest: +SKIP
        >>> model.extract([image], layers=['res5'])['res5'].shape  # doctest: +SKIP
        (1, 2048, 7, 7)

    """

    def __init__(self, pretrained_model: str | None = 'auto', downsample_fb: bool = False) -> None:
        if pretrained_model == 'auto':
            pretrained_model = 'ResNet-101-model.caffemodel'
        super().__init__(pretrained_model, 101, downsample_fb)


class ResNet152Layers(ResNetLayers):
    """ResNet with 152 layers.

    See :class:`ResNetLayers <chainer.links.model.vision.resnet.ResNetLayers>`.

    Args:
        pretrained_model (str): Path of an npz file with the parameters, or
            ``None``. ``'auto'`` means ``'ResNet-152-model.caffemodel'``.
        downsample_fb (bool): Where the stride of a block is.

    Raises:
        FileNotFoundError: The file ``pretrained_model`` does not exist.
        ValueError: The file is damaged, or a call asks for layers that the model does not have.
        ~chainer.utils.type_check.InvalidType: The images of a call are not floating point or have
            not three channels.

    .. admonition:: Example

        >>> from PIL import Image
        >>> image = Image.open('cat.jpg')  # doctest: +SKIP
        >>> model = L.ResNet152Layers()  # doctest: +SKIP
        >>> model.predict([image], oversample=False).shape  # doctest: +SKIP
        (1, 1000)

    """

    def __init__(self, pretrained_model: str | None = 'auto', downsample_fb: bool = False) -> None:
        if pretrained_model == 'auto':
            pretrained_model = 'ResNet-152-model.caffemodel'
        super().__init__(pretrained_model, 152, downsample_fb)
