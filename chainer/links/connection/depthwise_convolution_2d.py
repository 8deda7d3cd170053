from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import functions
from chainer.functions._arguments import pair
from chainer.links.connection import _convolution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


class DepthwiseConvolution2D(_convolution.ConvolutionBase):
    """Two-dimensional convolution layer that convolves each channel separately.

    See L. Sifre, `Rigid-motion scattering for image classification
    <https://arxiv.org/abs/1403.1687>`_.

    Args:
        in_channels (int or None): Number of channels of inputs. If ``None``, it
            is inferred from the first input.
        channel_multiplier (int): Number of outputs of each channel.
        ksize (int or pair of ints): Size of the filter.
        stride (int or pair of ints): Stride of the filter.
        pad (int or pair of ints): Width of the zeros around inputs.
        nobias (bool): If ``True``, there is no bias.
        initialW (initializer or :ref:`ndarray`): Initializer of the filter. The
            default is :class:`~chainer.initializers.LeCunNormal`.
        initial_bias (initializer or :ref:`ndarray`): Initializer of the bias.
            The default is zero.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or has
            another number of channels than the filter takes.

    Attributes:
        W (~chainer.Parameter): Filter of the shape
            ``(channel_multiplier, in_channels, height, width)``.
        b (~chainer.Parameter): Bias of the shape
            ``(in_channels * channel_multiplier,)``, or ``None``.

    .. seealso:: :func:`chainer.functions.depthwise_convolution_2d`

    .. admonition:: Example

        >>> conv = L.DepthwiseConvolution2D(3, channel_multiplier=2, ksize=3, pad=1)
        >>> conv(np.zeros((1, 3, 8, 8), np.float32)).shape
        (1, 6, 8, 8)
        >>> conv.W.shape
        (2, 3, 3, 3)

    """

    def __init__(
        self,
        in_channels: int | None,
        channel_multiplier: int,
        ksize: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        pad: int | Sequence[int] = 0,
        nobias: bool = False,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        self.ksize = ksize
        self.stride: tuple[int, ...] = pair('stride', stride)
        self.pad: tuple[int, ...] = pair('pad', pad)
        self.channel_multiplier = channel_multiplier
        self.nobias = nobias
        self._make_params(None, None, nobias, initialW, initial_bias)
        if in_channels is not None:
            self._initialize_params(in_channels)

    def _initialize_params(self, in_channels):
        self.W.initialize((self.channel_multiplier, in_channels, *self._kernel()))
        if self.b is not None:
            self.b.initialize(self.channel_multiplier * in_channels)

    def forward(self, x: VariableLike) -> Variable:
        """Applies the convolution.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of images of the shape
                ``(batch size, in_channels, height, width)``.

        Returns:
            ~chainer.Variable: Batch of images with
            ``in_channels * channel_multiplier`` channels.

        """
        self._initialize_for(x)
        return functions.depthwise_convolution_2d(x, self.W, self.b, self.stride, self.pad)
