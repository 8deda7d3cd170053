from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import functions
from chainer._core.names import hints
from chainer.links.connection import _convolution
from chainer.utils import conv_nd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


@hints.explain_arguments
class DeconvolutionND(_convolution.DeconvolutionBase):
    """Transposed convolution layer over any number of axes.

    Args:
        ndim (int): Number of spatial axes.
        in_channels (int or None): Number of channels of inputs. If ``None`` or
            omitted, as in ``DeconvolutionND(ndim, out_channels, ksize)``, it
            is inferred from the first input.
        out_channels (int): Number of channels of outputs.
        ksize (int or tuple of ints): Size of the filter.
        stride (int or tuple of ints): Stride of the filter.
        pad (int or tuple of ints): Width that is cut from the borders of
            outputs.
        nobias (bool): If ``True``, there is no bias.
        outsize (tuple of ints): Spatial size of outputs. If ``None``, it
            follows from the input and the filter.
        initialW (initializer or :ref:`ndarray`): Initializer of the filter. The
            default is :class:`~chainer.initializers.LeCunNormal`.
        initial_bias (initializer or :ref:`ndarray`): Initializer of the bias.
            The default is zero.
        dilate (int or tuple of ints): Distance of the elements of the filter.
        groups (int): Number of groups of channels, each convolved separately.

    Raises:
        ValueError: The numbers of channels are not multiples of ``groups``.

    Attributes:
        W (~chainer.Parameter): Filter of the shape
            ``(in_channels, out_channels / groups, k_1, ..., k_N)``.
        b (~chainer.Parameter): Bias of the shape ``(out_channels,)``, or
            ``None``.

    .. seealso:: :func:`chainer.functions.deconvolution_nd`

    .. admonition:: Example

        >>> deconv = L.DeconvolutionND(1, 1, 1, ksize=2, stride=2, initialW=1)
        >>> deconv(np.array([[[1, 2, 3]]], np.float32))
        variable([[[1., 1., 2., 2., 3., 3.]]])

    """

    def __init__(
        self,
        ndim: int,
        in_channels: int | None,
        out_channels: int,
        ksize: int | Sequence[int] | None = None,
        stride: int | Sequence[int] = 1,
        pad: int | Sequence[int] = 0,
        nobias: bool = False,
        outsize: tuple[int, ...] | None = None,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
        dilate: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> None:
        super().__init__()
        in_channels, out_channels, ksize = _convolution.shift_sizes(
            in_channels, out_channels, ksize
        )
        self.out_channels: int = out_channels
        self.ksize: tuple[int, ...] = conv_nd.as_tuple(ksize, ndim)
        self.stride = stride
        self.pad = pad
        self.outsize = outsize
        self.dilate: tuple[int, ...] = conv_nd.as_tuple(dilate, ndim)
        self.groups: int = int(groups)
        self._make_params(in_channels, out_channels, nobias, initialW, initial_bias)

    def _kernel(self):
        return self.ksize

    def forward(self, x: VariableLike) -> Variable:
        """Applies the transposed convolution.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of arrays of the shape
                ``(batch size, in_channels, d_1, ..., d_N)``.

        Returns:
            ~chainer.Variable: Batch of arrays with as many axes.

        """
        self._initialize_for(x)
        return functions.deconvolution_nd(
            x,
            self.W,
            self.b,
            self.stride,
            self.pad,
            self.outsize,
            dilate=self.dilate,
            groups=self.groups,
        )


@hints.explain_arguments
class Deconvolution1D(DeconvolutionND):
    """One-dimensional transposed convolution layer.

    A :class:`~chainer.links.DeconvolutionND` with ``ndim`` of one. Inputs have the
    shape ``(batch size, in_channels, length)``. Unlike there,
    ``in_channels`` is required, but may be ``None``.

    Args:
        in_channels (int or None): Number of channels of inputs. If ``None``, it
            is inferred from the first input.
        out_channels (int): Number of channels of outputs.
        ksize (int or tuple of ints): Length of the filter.
        stride (int or tuple of ints): Stride of the filter.
        pad (int or tuple of ints): Width that is cut from the
            borders of outputs.
        nobias (bool): If ``True``, there is no bias.
        outsize (tuple of ints): Spatial size of outputs. If ``None``, it
            follows from the input and the filter.
        initialW (initializer or :ref:`ndarray`): Initializer of the filter. The
            default is :class:`~chainer.initializers.LeCunNormal`.
        initial_bias (initializer or :ref:`ndarray`): Initializer of the bias.
            The default is zero.
        dilate (int or tuple of ints): Distance of the elements of the filter.
        groups (int): Number of groups of channels, each convolved separately.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or has
            another number of channels than the filter takes.

    .. admonition:: Example

        >>> x = np.array([[[1, 2, 3]]], np.float32)
        >>> L.Deconvolution1D(1, 1, ksize=3, stride=2, pad=1, initialW=1)(x)
        variable([[[1., 3., 2., 5., 3.]]])

    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        pad: int | Sequence[int] = 0,
        nobias: bool = False,
        outsize: tuple[int, ...] | None = None,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
        dilate: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> None:
        sizes = in_channels, out_channels, ksize, stride, pad
        options = outsize, initialW, initial_bias, dilate, groups
        super().__init__(1, *sizes, nobias, *options)


@hints.explain_arguments
class Deconvolution3D(DeconvolutionND):
    """Three-dimensional transposed convolution layer.

    A :class:`~chainer.links.DeconvolutionND` with ``ndim`` of three. Inputs have the
    shape ``(batch size, in_channels, depth, height, width)``. Unlike there,
    ``in_channels`` is required, but may be ``None``.

    Args:
        in_channels (int or None): Number of channels of inputs. If ``None``, it
            is inferred from the first input.
        out_channels (int): Number of channels of outputs.
        ksize (int or tuple of ints): Depth, height and width of the filter.
        stride (int or tuple of ints): Stride of the filter.
        pad (int or tuple of ints): Width that is cut from the
            borders of outputs.
        nobias (bool): If ``True``, there is no bias.
        outsize (tuple of ints): Spatial size of outputs. If ``None``, it
            follows from the input and the filter.
        initialW (initializer or :ref:`ndarray`): Initializer of the filter. The
            default is :class:`~chainer.initializers.LeCunNormal`.
        initial_bias (initializer or :ref:`ndarray`): Initializer of the bias.
            The default is zero.
        dilate (int or tuple of ints): Distance of the elements of the filter.
        groups (int): Number of groups of channels, each convolved separately.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or has
            another number of channels than the filter takes.

    .. admonition:: Example

        >>> x = np.zeros((1, 2, 4, 4, 4), np.float32)
        >>> L.Deconvolution3D(2, 1, ksize=4, stride=2, pad=1)(x).shape
        (1, 1, 8, 8, 8)

    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        ksize: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        pad: int | Sequence[int] = 0,
        nobias: bool = False,
        outsize: tuple[int, ...] | None = None,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
        dilate: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> None:
        sizes = in_channels, out_channels, ksize, stride, pad
        options = outsize, initialW, initial_bias, dilate, groups
        super().__init__(3, *sizes, nobias, *options)
