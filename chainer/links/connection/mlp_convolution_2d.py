from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import link
from chainer.functions.activation import relu
from chainer.links.connection import _convolution, convolution_2d
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


class MLPConvolution2D(link.ChainList):
    """Convolution layer followed by a multi-layer perceptron at every pixel.

    The first layer is a convolution with filter size ``ksize``, the other
    layers have filter size one. See M. Lin et al., `Network In Network
    <https://arxiv.org/abs/1312.4400>`_.

    Args:
        in_channels (int or None): Number of channels of inputs. If ``None`` or
            omitted, as in ``MLPConvolution2D(out_channels, ksize)``, it is
            inferred from the first input.
        out_channels (tuple of ints): Numbers of channels of the layers.
        ksize (int or pair of ints): Size of the first filter.
        stride (int or pair of ints): Stride of the first filter.
        pad (int or pair of ints): Width of the zeros around inputs.
        activation (callable): Activation function between the layers, not after
            the last one.
        conv_init (initializer): Initializer of the filters. The default is
            :class:`~chainer.initializers.LeCunNormal`. Keyword-only, like
            ``bias_init``.
        bias_init (initializer): Initializer of the biases. The default is zero.

    Raises:
        TypeError: There are more positional arguments.
        AssertionError: ``out_channels`` is empty.

    .. admonition:: Example

        >>> mlpconv = L.MLPConvolution2D(3, (16, 8, 4), ksize=5, pad=2)
        >>> mlpconv(np.zeros((1, 3, 8, 8), np.float32)).shape
        (1, 4, 8, 8)
        >>> [layer.ksize for layer in mlpconv]
        [5, 1, 1]

    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: tuple[int, ...],
        ksize: int | Sequence[int] | None = None,
        stride: int | Sequence[int] = 1,
        pad: int | Sequence[int] = 0,
        activation: Callable[..., Any] = relu.relu,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        if args:
            raise TypeError(
                'arguments after activation must be given by name: '
                f'{len(args)} more positional argument(s) were given'
            )
        conv_init, bias_init = argument.parse_kwargs(
            kwargs,
            ('conv_init', None),
            ('bias_init', None),
            wscale='wscale is not supported anymore. Use conv_init and bias_init argument to '
            'change the scale of initial parameters.',
        )
        in_channels, out_channels, ksize = _convolution.shift_sizes(
            in_channels, out_channels, ksize
        )
        assert out_channels, 'out_channels must have one element at least'
        first = convolution_2d.Convolution2D(
            in_channels,
            out_channels[0],
            ksize,
            stride,
            pad,
            initialW=conv_init,
            initial_bias=bias_init,
        )
        super().__init__(
            first,
            *[
                convolution_2d.Convolution2D(
                    n_in, n_out, 1, initialW=conv_init, initial_bias=bias_init
                )
                for n_in, n_out in zip(out_channels, out_channels[1:])
            ],
        )
        self.activation = activation

    def forward(self, x: VariableLike) -> Variable:
        """Applies the layers.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of images of the shape
                ``(batch size, in_channels, height, width)``.

        Returns:
            ~chainer.Variable: Batch of images.

        """
        for layer in self[:-1]:
            x = self.activation(layer(x))
        return self[-1](x)
