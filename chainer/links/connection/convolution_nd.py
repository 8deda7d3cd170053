from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import functions, variable
from chainer._core.names import hints
from chainer.links.connection import _convolution
from chainer.utils import argument, conv_nd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


@hints.explain_arguments
class ConvolutionND(_convolution.ConvolutionBase):
    """Convolution layer over any number of axes.

    Args:
        ndim (int): Number of spatial axes.
        in_channels (int or None): Number of channels of inputs. If ``None`` or
            omitted, as in ``ConvolutionND(ndim, out_channels, ksize)``, it is
            inferred from the first input.
        out_channels (int): Number of channels of outputs.
        ksize (int or tuple of ints): Size of the filter.
        stride (int or tuple of ints): Stride of the filter.
        pad (int or tuple of ints): Width of the zeros around inputs.
        nobias (bool): If ``True``, there is no bias.
        initialW (initializer or :ref:`ndarray`): Initializer of the filter. The
            default is :class:`~chainer.initializers.LeCunNormal`.
        initial_bias (initializer or :ref:`ndarray`): Initializer of the bias.
            The default is zero.
        cover_all (bool): If ``True``, outputs cover all elements
            of inputs and may be larger.
        dilate (int or tuple of ints): Distance of the elements of the filter.
        groups (int): Number of groups of channels, each convolved separately.

    Raises:
        ValueError: The numbers of channels are not multiples of ``groups``.

    Attributes:
        W (~chainer.Parameter): Filter of the shape
            ``(out_channels, in_channels / groups, k_1, ..., k_N)``.
        b (~chainer.Parameter): Bias of the shape ``(out_channels,)``, or
            ``None``.

    .. seealso:: :func:`chainer.functions.convolution_nd`

    .. admonition:: Example

        >>> L.ConvolutionND(3, 2, 4, ksize=3)(np.zeros((1, 2, 5, 6, 7), np.float32)).shape
        (1, 4, 3, 4, 5)
        >>> conv = L.ConvolutionND(1, 1, 1, ksize=2, initialW=1)
        >>> conv(np.array([[[1, 2, 3, 4]]], np.float32))
        variable([[[3., 5., 7.]]])

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
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
        cover_all: bool = False,
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
        self.cover_all = cover_all
        self.dilate: tuple[int, ...] = conv_nd.as_tuple(dilate, ndim)
        self.groups: int = int(groups)
        self._make_params(in_channels, out_channels, nobias, initialW, initial_bias)

    def _kernel(self):
        return self.ksize

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
            stride, pad, nobias, cover_all, dilate, groups: See the constructor.

        Returns:
            ~chainer.links.ConvolutionND: New link with copies of the arrays.

        """
        options = ('cover_all', False), ('dilate', 1), ('groups', 1)
        cover_all, dilate, groups = argument.parse_kwargs(kwargs, *options)
        out_channels, in_channels, *ksize = W.shape
        # Subclasses with a fixed number of axes do not take ndim.
        ndim = () if issubclass(cls, (Convolution1D, Convolution3D)) else (len(ksize),)
        make: Callable[..., Self] = cls
        sizes = *ndim, in_channels * groups, out_channels, tuple(ksize), stride, pad
        arrays = variable.as_array(W), variable.as_array(b)
        return make(*sizes, nobias or b is None, *arrays, cover_all, dilate, groups)

    def forward(self, x: VariableLike) -> Variable:
        """Applies the convolution.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of arrays of the shape
                ``(batch size, in_channels, d_1, ..., d_N)``.

        Returns:
            ~chainer.Variable: Batch of arrays with as many axes.

        """
        self._initialize_for(x)
        return functions.convolution_nd(
            x,
            self.W,
            self.b,
            self.stride,
            self.pad,
            cover_all=self.cover_all,
            dilate=self.dilate,
            groups=self.groups,
        )


@hints.explain_arguments
class Convolution1D(ConvolutionND):
    """One-dimensional convolution layer.

    A :class:`~chainer.links.ConvolutionND` with ``ndim`` of one. Inputs have the
    shape ``(batch size, in_channels, length)``. Unlike there,
    ``in_channels`` is required, but may be ``None``.

    Args:
        in_channels (int or None): Number of channels of inputs. If ``None``, it
            is inferred from the first input.
        out_channels (int): Number of channels of outputs.
        ksize (int or tuple of ints): Length of the filter.
        stride (int or tuple of ints): Stride of the filter.
        pad (int or tuple of ints): Width of the zeros around inputs.
        nobias (bool): If ``True``, there is no bias.
        initialW (initializer or :ref:`ndarray`): Initializer of the filter. The
            default is :class:`~chainer.initializers.LeCunNormal`.
        initial_bias (initializer or :ref:`ndarray`): Initializer of the bias.
            The default is zero.
        cover_all (bool): If ``True``, outputs cover all elements
            of inputs and may be larger.
        dilate (int or tuple of ints): Distance of the elements of the filter.
        groups (int): Number of groups of channels, each convolved separately.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or has
            another number of channels than the filter takes.

    .. admonition:: Example

        >>> x = np.array([[[1, 2, 4, 8]]], np.float32)
        >>> L.Convolution1D(1, 1, 2, initialW=np.array([[[-1, 1]]], np.float32))(x)
        variable([[[1., 2., 4.]]])

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
        cover_all: bool = False,
        dilate: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> None:
        sizes = in_channels, out_channels, ksize, stride, pad
        options = initialW, initial_bias, cover_all, dilate, groups
        super().__init__(1, *sizes, nobias, *options)


@hints.explain_arguments
class Convolution3D(ConvolutionND):
    """Three-dimensional convolution layer.

    A :class:`~chainer.links.ConvolutionND` with ``ndim`` of three. Inputs have the
    shape ``(batch size, in_channels, depth, height, width)``. Unlike there,
    ``in_channels`` is required, but may be ``None``.

    Args:
        in_channels (int or None): Number of channels of inputs. If ``None``, it
            is inferred from the first input.
        out_channels (int): Number of channels of outputs.
        ksize (int or tuple of ints): Depth, height and width of the filter.
        stride (int or tuple of ints): Stride of the filter.
        pad (int or tuple of ints): Width of the zeros around inputs.
        nobias (bool): If ``True``, there is no bias.
        initialW (initializer or :ref:`ndarray`): Initializer of the filter. The
            default is :class:`~chainer.initializers.LeCunNormal`.
        initial_bias (initializer or :ref:`ndarray`): Initializer of the bias.
            The default is zero.
        cover_all (bool): If ``True``, outputs cover all elements
            of inputs and may be larger.
        dilate (int or tuple of ints): Distance of the elements of the filter.
        groups (int): Number of groups of channels, each convolved separately.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or has
            another number of channels than the filter takes.

    .. admonition:: Example

        >>> x = np.zeros((1, 2, 8, 8, 8), np.float32)
        >>> L.Convolution3D(2, 4, ksize=3, stride=2, pad=1)(x).shape
        (1, 4, 4, 4, 4)

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
        cover_all: bool = False,
        dilate: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> None:
        sizes = in_channels, out_channels, ksize, stride, pad
        options = initialW, initial_bias, cover_all, dilate, groups
        super().__init__(3, *sizes, nobias, *options)
