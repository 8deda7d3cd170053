from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import functions
from chainer._core.names import hints
from chainer.functions._arguments import pair
from chainer.links.connection import _convolution
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


@hints.explain_arguments
class Deconvolution2D(_convolution.DeconvolutionBase):
    """Two-dimensional transposed convolution layer.

    Args:
        in_channels (int or None): Number of channels of inputs. If ``None`` or
            omitted, as in ``Deconvolution2D(out_channels, ksize)``, it is
            inferred from the first input.
        out_channels (int): Number of channels of outputs.
        ksize (int or pair of ints): Size of the filter.
        stride (int or pair of ints): Stride of the filter.
        pad (int or pair of ints): Width that is cut from the borders of outputs.
        nobias (bool): If ``True``, there is no bias.
        outsize (pair of ints): Height and width of outputs. If ``None``, they
            follow from the input and the filter.
        initialW (initializer or :ref:`ndarray`): Initializer of the filter. The
            default is :class:`~chainer.initializers.LeCunNormal`.
        initial_bias (initializer or :ref:`ndarray`): Initializer of the bias.
            The default is zero.
        dilate (int or pair of ints): Distance of the elements of the filter.
        groups (int): Number of groups of channels, each convolved separately.

    Raises:
        ValueError: The numbers of channels are not multiples of ``groups``.

    Attributes:
        W (~chainer.Parameter): Filter of the shape
            ``(in_channels, out_channels / groups, height, width)``.
        b (~chainer.Parameter): Bias of the shape ``(out_channels,)``, or
            ``None``.

    .. seealso:: :func:`chainer.functions.deconvolution_2d`

    .. admonition:: Example

        >>> x = np.array([[[[1, 2], [3, 4]]]], np.float32)
        >>> L.Deconvolution2D(1, 1, ksize=2, stride=2, initialW=1)(x)
        variable([[[[1., 1., 2., 2.],
                    [1., 1., 2., 2.],
                    [3., 3., 4., 4.],
                    [3., 3., 4., 4.]]]])
        >>> deconv = L.Deconvolution2D(None, 8, ksize=4, stride=2, pad=1)
        >>> deconv(np.zeros((1, 3, 5, 5), np.float32)).shape
        (1, 8, 10, 10)

    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: int | Sequence[int] | None = None,
        stride: int | Sequence[int] = 1,
        pad: int | Sequence[int] = 0,
        nobias: bool = False,
        outsize: Sequence[int] | None = None,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        dilate, groups = argument.parse_kwargs(
            kwargs, ('dilate', 1), ('groups', 1), deterministic=_convolution.SEE_CUDNN_CONFIG
        )
        in_channels, out_channels, ksize = _convolution.shift_sizes(
            in_channels, out_channels, ksize
        )
        self.out_channels: int = out_channels
        self.ksize: int | Sequence[int] | None = ksize
        self.stride: tuple[int, ...] = pair('stride', stride)
        self.pad: tuple[int, ...] = pair('pad', pad)
        self.dilate: tuple[int, ...] = pair('dilate', dilate)
        self.outsize: Sequence[int | None] = (None, None) if outsize is None else outsize
        self.groups: int = int(groups)
        self._make_params(in_channels, out_channels, nobias, initialW, initial_bias)

    def forward(self, x: VariableLike) -> Variable:
        """Applies the transposed convolution.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of images of the shape
                ``(batch size, in_channels, height, width)``.

        Returns:
            ~chainer.Variable: Batch of images.

        """
        self._initialize_for(x)
        return functions.deconvolution_2d(
            x,
            self.W,
            self.b,
            self.stride,
            self.pad,
            self.outsize,
            dilate=self.dilate,
            groups=self.groups,
        )
