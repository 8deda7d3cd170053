from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import functions, link
from chainer.functions._arguments import pair
from chainer.links.connection import _convolution, convolution_2d

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


class DeformableConvolution2D(link.Chain):
    """Two-dimensional convolution layer with a filter deformed by learned offsets.

    For every output pixel, a convolution computes the read position of each
    filter element of a second convolution. See J. Dai et al., `Deformable
    Convolutional Networks <https://arxiv.org/abs/1703.06211>`_.

    Args:
        in_channels (int or None): Number of channels of inputs. If ``None``, it
            is inferred from the first input.
        out_channels (int): Number of channels of outputs.
        ksize (int or pair of ints): Size of the filter.
        stride (int or pair of ints): Stride of the filter.
        pad (int or pair of ints): Width of the zeros around inputs.
        offset_nobias (bool): If ``True``, ``offset_conv`` has no bias.
        offset_initialW (initializer or :ref:`ndarray`): Initializer of
            ``offset_conv.W``.
        offset_initial_bias (initializer or :ref:`ndarray`): Initializer of
            ``offset_conv.b``.
        deform_nobias (bool): If ``True``, ``deform_conv`` has no bias.
        deform_initialW (initializer or :ref:`ndarray`): Initializer of
            ``deform_conv.W``. The default is zero.
        deform_initial_bias (initializer or :ref:`ndarray`): Initializer of
            ``deform_conv.b``.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or has
            another number of channels than the filter takes.

    Attributes:
        offset_conv (~chainer.links.Convolution2D): Convolution that computes
            the offsets.
        deform_conv: Convolution at the offsets.

    .. seealso:: :func:`chainer.functions.deformable_convolution_2d_sampler`

    .. admonition:: Example

        >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> conv = L.DeformableConvolution2D(1, 1, 3, offset_initialW=0, deform_initialW=1)
        >>> conv(x)  # without offsets, an ordinary convolution
        variable([[[[45., 54.],
                    [81., 90.]]]])
        >>> conv.offset_conv(x).shape
        (1, 18, 2, 2)

    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        pad: int | Sequence[int] = 0,
        offset_nobias: bool = False,
        offset_initialW: InitializerSpec | None = None,
        offset_initial_bias: InitializerSpec | None = None,
        deform_nobias: bool = False,
        deform_initialW: InitializerSpec | None = None,
        deform_initial_bias: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        kh, kw = pair('ksize', ksize)
        with self.init_scope():
            self.offset_conv: convolution_2d.Convolution2D = convolution_2d.Convolution2D(
                in_channels,
                2 * kh * kw,
                ksize,
                stride,
                pad,
                offset_nobias,
                offset_initialW,
                offset_initial_bias,
            )
            self.deform_conv: DeformableConvolution2DSampler = DeformableConvolution2DSampler(
                in_channels,
                out_channels,
                ksize,
                stride,
                pad,
                deform_nobias,
                deform_initialW,
                deform_initial_bias,
            )

    def forward(self, x: VariableLike) -> Variable:
        """Applies the convolutions.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of images of the shape
                ``(batch size, in_channels, height, width)``.

        Returns:
            ~chainer.Variable: Batch of images.

        """
        return self.deform_conv(x, self.offset_conv(x))


class DeformableConvolution2DSampler(_convolution.ConvolutionBase):
    """The second convolution of :class:`DeformableConvolution2D`.

    Args:
        in_channels (int or None): Number of channels of inputs. If ``None``, it
            is inferred from the first input.
        out_channels (int): Number of channels of outputs.
        ksize (int or pair of ints): Size of the filter.
        stride (int or pair of ints): Stride of the filter.
        pad (int or pair of ints): Width of the zeros around inputs.
        nobias (bool): If ``True``, there is no bias.
        initialW (initializer or :ref:`ndarray`): Initializer of the filter. The
            default is zero.
        initial_bias (initializer or :ref:`ndarray`): Initializer of the bias.
            The default is zero.

    Attributes:
        W (~chainer.Parameter): Filter of the shape
            ``(out_channels, in_channels, height, width)``.
        b (~chainer.Parameter): Bias of the shape ``(out_channels,)``, or
            ``None``.

    .. admonition:: Example

        >>> from chainer.links.connection import deformable_convolution_2d as deformable
        >>> x = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
        >>> sampler = deformable.DeformableConvolution2DSampler(1, 1, 1, initialW=1)
        >>> offset = np.full((1, 2, 3, 3), 0.5, np.float32)  # half a pixel right and down
        >>> float(sampler(x, offset).array[0, 0, 0, 0])
        2.0

    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        pad: int | Sequence[int] = 0,
        nobias: bool = False,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        self.out_channels = out_channels
        self.ksize = ksize
        self.stride: tuple[int, ...] = pair('stride', stride)
        self.pad: tuple[int, ...] = pair('pad', pad)
        initialW = 0 if initialW is None else initialW
        self._make_params(in_channels, out_channels, nobias, initialW, initial_bias)

    def forward(self, x: VariableLike, offset: VariableLike) -> Variable:
        """Applies the convolution.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of images of the shape
                ``(batch size, in_channels, height, width)``.
            offset (~chainer.Variable or :ref:`ndarray`): Offsets of the shape
                ``(batch size, 2 * kernel height * kernel width, output height,
                output width)``.

        Returns:
            ~chainer.Variable: Batch of images.

        """
        self._initialize_for(x)
        return functions.deformable_convolution_2d_sampler(
            x, offset, self.W, self.b, self.stride, self.pad
        )
