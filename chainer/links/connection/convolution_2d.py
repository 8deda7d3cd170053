from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import functions, variable
from chainer._core.names import hints
from chainer.functions._arguments import pair
from chainer.links.connection import _convolution
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


@hints.explain_arguments
class Convolution2D(_convolution.ConvolutionBase):
    """Two-dimensional convolution layer.

    Args:
        in_channels (int or None): Number of channels of inputs. If ``None`` or
            omitted, as in ``Convolution2D(out_channels, ksize)``, it is
            inferred from the first input.
        out_channels (int): Number of channels of outputs.
        ksize (int or pair of ints): Size of the filter.
        stride (int or pair of ints): Stride of the filter.
        pad (int or pair of ints): Width of the zeros around inputs.
        nobias (bool): If ``True``, there is no bias.
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
            ``(out_channels, in_channels / groups, height, width)``.
        b (~chainer.Parameter): Bias of the shape ``(out_channels,)``, or
            ``None``.

    .. seealso:: :func:`chainer.functions.convolution_2d`

    .. admonition:: Example

        >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> L.Convolution2D(1, 1, 3, initialW=1)(x)  # sums of 3x3 windows
        variable([[[[45., 54.],
                    [81., 90.]]]])
        >>> conv = L.Convolution2D(None, 4, ksize=5, stride=2, pad=2)
        >>> conv(np.zeros((1, 3, 10, 10), np.float32)).shape
        (1, 4, 5, 5)
        >>> conv.W.shape, conv.b.shape
        ((4, 3, 5, 5), (4,))

    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: int | Sequence[int] | None = None,
        stride: int | Sequence[int] = 1,
        pad: int | Sequence[int] = 0,
        nobias: bool = False,
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
        self.in_channels: int | None = in_channels
        self.out_channels: int = out_channels
        self.ksize: int | Sequence[int] | None = ksize
        self.stride: tuple[int, ...] = pair('stride', stride)
        self.pad: tuple[int, ...] = pair('pad', pad)
        self.dilate: tuple[int, ...] = pair('dilate', dilate)
        self.groups: int = int(groups)
        # Chainer 7 has its choice of cuDNN's memory layout here. All arrays have the usual one.
        self.cudnn_fast: bool = False
        self.x_layout: Any = None
        self._make_params(in_channels, out_channels, nobias, initialW, initial_bias)

    @classmethod
    def from_params(
        cls,
        W: VariableLike,
        b: VariableLike | None = None,
        stride: int | Sequence[int] = 1,
        pad: int | Sequence[int] = 0,
        nobias: bool = False,
        **kwargs: Any,
    ) -> Self:
        """Makes a link with given parameters.

        Args:
            W (:ref:`ndarray` or ~chainer.Variable): Filter.
            b (:ref:`ndarray` or ~chainer.Variable): Bias, or ``None``.
            stride, pad, nobias, dilate, groups: See the constructor.

        Returns:
            ~chainer.links.Convolution2D: New link with copies of the arrays.

        """
        dilate, groups = argument.parse_kwargs(kwargs, ('dilate', 1), ('groups', 1))
        out_channels, in_channels, kh, kw = W.shape
        sizes = in_channels * groups, out_channels, (kh, kw)
        arrays = variable.as_array(W), variable.as_array(b)
        return cls(*sizes, stride, pad, nobias or b is None, *arrays, dilate=dilate, groups=groups)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        yield 'in_channels', self.in_channels
        yield 'out_channels', self.out_channels
        yield 'ksize', self.ksize
        yield 'stride', self.stride
        yield 'pad', self.pad
        yield 'nobias', self.b is None
        yield 'dilate', self.dilate
        yield 'groups', self.groups

    def forward(self, x: VariableLike) -> Variable:
        """Applies the convolution.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of images of the shape
                ``(batch size, in_channels, height, width)``.

        Returns:
            ~chainer.Variable: Batch of images.

        """
        self._initialize_for(x)
        return functions.convolution_2d(
            x, self.W, self.b, self.stride, self.pad, dilate=self.dilate, groups=self.groups
        )
