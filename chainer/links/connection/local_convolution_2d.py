from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import functions, initializers, link, variable
from chainer.functions._arguments import pair
from chainer.links.connection import _bias
from chainer.utils import argument, conv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Parameter, Variable


class LocalConvolution2D(link.Link):
    """Two-dimensional convolution layer with a separate filter at every position.

    Args:
        in_channels (int or None): Number of channels of inputs.
        out_channels (int): Number of channels of outputs.
        in_size (int or pair of ints): Height and width of inputs. If this or
            ``in_channels`` is ``None``, both are inferred from the first input.
        ksize (int or pair of ints): Size of the filters.
        stride (int or pair of ints): Stride of the filters.
        nobias (bool): If ``True``, there is no bias.
        initialW (initializer or :ref:`ndarray`): Initializer of the filters.
            The default is :class:`~chainer.initializers.LeCunNormal`.
        initial_bias (initializer or :ref:`ndarray`): Initializer of the biases.
            The default is zero.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or has
            another number of channels than the filter takes.

    Attributes:
        W (~chainer.Parameter): Filters of the shape
            ``(out_channels, output height, output width, in_channels, height,
            width)``.
        b (~chainer.Parameter): Biases of the shape
            ``(out_channels, output height, output width)``, or ``None``.

    .. seealso:: :func:`chainer.functions.local_convolution_2d`

    .. admonition:: Example

        >>> conv = L.LocalConvolution2D(3, 4, in_size=8, ksize=3)
        >>> conv(np.zeros((1, 3, 8, 8), np.float32)).shape
        (1, 4, 6, 6)
        >>> conv.W.shape, conv.b.shape
        ((4, 6, 6, 3, 3, 3), (4, 6, 6))

    """

    b: Parameter | None

    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        in_size: int | Sequence[int] | None = None,
        ksize: int | Sequence[int] | None = None,
        stride: int | Sequence[int] = 1,
        nobias: bool = False,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        argument.assert_kwargs_empty(kwargs)
        if ksize is None:
            raise TypeError('ksize must be given')
        self.ksize = ksize
        self.stride: tuple[int, ...] = pair('stride', stride)
        self.nobias = nobias
        self.out_channels = out_channels
        with self.init_scope():
            self.W = variable.Parameter(initializers.get_initializer(initialW))
            self.b = _bias.make_bias(nobias, initial_bias)
        if in_channels is not None and in_size is not None:
            self._initialize_params(in_channels, in_size)

    def _initialize_params(self, in_channels, in_size):
        kernel = pair('ksize', self.ksize)
        out_size = [
            conv.get_conv_outsize(size, k, s, 0)
            for size, k, s in zip(pair('in_size', in_size), kernel, self.stride)
        ]
        self.W.initialize((self.out_channels, *out_size, in_channels, *kernel))
        if self.b is not None:
            self.b.initialize((self.out_channels, *out_size))

    def forward(self, x: VariableLike) -> Variable:
        """Applies the local convolution.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of images of the shape
                ``(batch size, in_channels, height, width)``.

        Returns:
            ~chainer.Variable: Batch of images.

        """
        if self.W.array is None:
            self._initialize_params(x.shape[1], x.shape[2:])
        return functions.local_convolution_2d(x, self.W, self.b, self.stride)
