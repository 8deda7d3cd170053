from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import functions
from chainer.functions._arguments import pair
from chainer.links.connection import _convolution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


class DilatedConvolution2D(_convolution.ConvolutionBase):
    """Two-dimensional convolution layer with a dilated filter.

    It equals :class:`~chainer.links.Convolution2D` with ``dilate``. See
    F. Yu and V. Koltun, `Multi-Scale Context Aggregation by Dilated
    Convolutions <https://arxiv.org/abs/1511.07122>`_.

    Args:
        in_channels (int or None): Number of channels of inputs. If ``None`` or
            omitted, as in ``DilatedConvolution2D(out_channels, ksize)``, it is
            inferred from the first input.
        out_channels (int): Number of channels of outputs.
        ksize (int or pair of ints): Size of the filter.
        stride (int or pair of ints): Stride of the filter.
        pad (int or pair of ints): Width of the zeros around inputs.
        dilate (int or pair of ints): Distance of the elements of the filter.
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
            ``(out_channels, in_channels, height, width)``.
        b (~chainer.Parameter): Bias of the shape ``(out_channels,)``, or
            ``None``.

    .. seealso:: :func:`chainer.functions.dilated_convolution_2d`

    .. admonition:: Example

        >>> x = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5)
        >>> L.DilatedConvolution2D(1, 1, 3, dilate=2, initialW=1)(x)  # of every second pixel
        variable([[[[108.]]]])

    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: int | Sequence[int] | None = None,
        stride: int | Sequence[int] = 1,
        pad: int | Sequence[int] = 0,
        dilate: int | Sequence[int] = 1,
        nobias: bool = False,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        in_channels, out_channels, ksize = _convolution.shift_sizes(
            in_channels, out_channels, ksize
        )
        self.out_channels: int = out_channels
        self.ksize: int | Sequence[int] | None = ksize
        self.stride: tuple[int, ...] = pair('stride', stride)
        self.pad: tuple[int, ...] = pair('pad', pad)
        self.dilate: tuple[int, ...] = pair('dilate', dilate)
        self._make_params(in_channels, out_channels, nobias, initialW, initial_bias)

    def forward(self, x: VariableLike) -> Variable:
        """Applies the convolution.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of images of the shape
                ``(batch size, in_channels, height, width)``.

        Returns:
            ~chainer.Variable: Batch of images.

        """
        self._initialize_for(x)
        return functions.dilated_convolution_2d(
            x, self.W, self.b, self.stride, self.pad, self.dilate
        )
