"""Blocks of ResNet."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

from chainer import functions, link
from chainer._core.names.set_module import set_module
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.links.normalization.batch_normalization import BatchNormalization

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


class _Bottleneck(link.Chain):
    """Three convolutions with batch normalization and a shortcut."""

    def __init__(
        self, in_channels: int, mid_channels: int, out_channels: int, strides: Any, initialW: Any
    ) -> None:
        super().__init__()
        conv = functools.partial(Convolution2D, initialW=initialW, nobias=True)
        with self.init_scope():
            self.conv1: Convolution2D = conv(in_channels, mid_channels, 1, strides[0])
            self.bn1: BatchNormalization = BatchNormalization(mid_channels)
            self.conv2: Convolution2D = conv(mid_channels, mid_channels, 3, strides[1], 1)
            self.bn2: BatchNormalization = BatchNormalization(mid_channels)
            self.conv3: Convolution2D = conv(mid_channels, out_channels, 1)
            self.bn3: BatchNormalization = BatchNormalization(out_channels)
            if strides[2] is not None:
                self.conv4: Convolution2D = conv(in_channels, out_channels, 1, strides[2])
                self.bn4: BatchNormalization = BatchNormalization(out_channels)

    def _shortcut(self, x):
        return x

    def forward(self, x: VariableLike) -> Variable:
        """Applies the block.

        Args:
            x (~chainer.Variable): Batch of images.

        Returns:
            ~chainer.Variable: Batch of images.

        """
        h = functions.relu(self.bn1(self.conv1(x)))
        h = functions.relu(self.bn2(self.conv2(h)))
        h = self.bn3(self.conv3(h))
        return functions.relu(h + self._shortcut(x))


@set_module('chainer.links.model.vision.resnet')
class BottleneckA(_Bottleneck):
    """Bottleneck block that may change the size, with a convolution as the shortcut.

    Args:
        in_channels (int): Number of channels of inputs.
        mid_channels (int): Number of channels in between.
        out_channels (int): Number of channels of outputs.
        stride (int or pair of ints): Stride of the block.
        initialW (initializer): Initializer of the filters.
        downsample_fb (bool): If ``True``, the 3x3 convolution has the stride,
            as in Facebook's models. If ``False``, the first convolution has it,
            as in the original models.

    .. admonition:: Example

        >>> from chainer.links.model.vision import resnet
        >>> block = resnet.BottleneckA(4, 2, 8, stride=2)
        >>> block(np.zeros((1, 4, 6, 6), np.float32)).shape
        (1, 8, 3, 3)

    """

    def __init__(
        self,
        in_channels: int,
        mid_channels: int,
        out_channels: int,
        stride: int | Sequence[int] = 2,
        initialW: InitializerSpec | None = None,
        downsample_fb: bool = False,
    ) -> None:
        first, second = (1, stride) if downsample_fb else (stride, 1)
        super().__init__(in_channels, mid_channels, out_channels, (first, second, stride), initialW)

    def _shortcut(self, x):
        return self.bn4(self.conv4(x))


@set_module('chainer.links.model.vision.resnet')
class BottleneckB(_Bottleneck):
    """Bottleneck block that keeps the size.

    Args:
        in_channels (int): Number of channels of inputs and outputs.
        mid_channels (int): Number of channels in between.
        initialW (initializer): Initializer of the filters.

    .. admonition:: Example

        >>> from chainer.links.model.vision import resnet
        >>> block = resnet.BottleneckB(4, 2)
        >>> block(np.zeros((1, 4, 6, 6), np.float32)).shape
        (1, 4, 6, 6)

    """

    def __init__(
        self, in_channels: int, mid_channels: int, initialW: InitializerSpec | None = None
    ) -> None:
        super().__init__(in_channels, mid_channels, in_channels, (1, 1, None), initialW)


@set_module('chainer.links.model.vision.resnet')
class BuildingBlock(link.Chain):
    """Sequence of bottleneck blocks, ``a``, ``b1``, ``b2``, ...; the first block has a stride.

    Args:
        n_layers (int): Number of blocks.
        in_channels (int): Number of channels of inputs.
        mid_channels (int): Number of channels in between.
        out_channels (int): Number of channels of outputs.
        stride (int or pair of ints): Stride of the first block.
        initialW (initializer): Initializer of the filters.
        downsample_fb (bool): See :class:`BottleneckA`.

    .. admonition:: Example

        >>> from chainer.links.model.vision import resnet
        >>> block = resnet.BuildingBlock(3, 4, 2, 8, stride=2)
        >>> block(np.zeros((1, 4, 6, 6), np.float32)).shape
        (1, 8, 3, 3)
        >>> sorted(child.name for child in block.children())
        ['a', 'b1', 'b2']

    """

    def __init__(
        self,
        n_layers: int | None = None,
        in_channels: int | None = None,
        mid_channels: int | None = None,
        out_channels: int | None = None,
        stride: int | Sequence[int] | None = None,
        initialW: InitializerSpec | None = None,
        downsample_fb: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        n = _take_n_layers(n_layers, kwargs)
        # The arguments have defaults since there was another name of the first one.
        sizes: tuple[Any, Any, Any] = in_channels, mid_channels, out_channels
        options: tuple[Any, Any, Any] = stride, initialW, downsample_fb
        with self.init_scope():
            self.a: BottleneckA = BottleneckA(*sizes, *options)
            self._forward = ['a']
            for i in range(1, n):
                name = f'b{i}'
                setattr(self, name, BottleneckB(sizes[2], sizes[1], initialW))
                self._forward.append(name)

    def forward(self, x: VariableLike) -> Variable:
        """Applies the blocks.

        Args:
            x (~chainer.Variable): Batch of images.

        Returns:
            ~chainer.Variable: Batch of images.

        """
        h: Any = x
        for name in self._forward:
            h = self[name](h)
        return h


def _take_n_layers(n_layers, kwargs):
    """Returns the number of blocks, which has an old name, too."""
    if 'n_layer' in kwargs:
        warnings.warn(
            'Argument `n_layer` is deprecated. Please use `n_layers` instead',
            DeprecationWarning,
            stacklevel=3,
        )
        n_layers = kwargs.pop('n_layer')
    if kwargs:
        raise TypeError(
            'BuildingBlock() got unexpected keyword argument(s) ' + ', '.join(sorted(kwargs))
        )
    return n_layers
