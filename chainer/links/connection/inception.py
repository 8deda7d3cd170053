from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import functions, link
from chainer.links.connection import convolution_2d

if TYPE_CHECKING:
    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


class Inception(link.Chain):
    """Inception module of GoogLeNet.

    The channels of four branches are concatenated: a 1x1 convolution, a 3x3 and
    a 5x5 convolution after projections by 1x1 convolutions, and a projection
    after 3x3 max pooling. See C. Szegedy et al., `Going Deeper with
    Convolutions <https://arxiv.org/abs/1409.4842>`_.

    Args:
        in_channels (int or None): Number of channels of inputs. If ``None``, it
            is inferred from the first input.
        out1 (int): Number of channels of the 1x1 convolution.
        proj3 (int): Number of channels of the projection before 3x3.
        out3 (int): Number of channels of the 3x3 convolution.
        proj5 (int): Number of channels of the projection before 5x5.
        out5 (int): Number of channels of the 5x5 convolution.
        proj_pool (int): Number of channels of the projection after pooling.
        conv_init (initializer): Initializer of the filters.
        bias_init (initializer): Initializer of the biases.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or has
            another number of channels than the filter takes.

    .. admonition:: Example

        >>> module = L.Inception(3, out1=4, proj3=2, out3=8, proj5=2, out5=2, proj_pool=2)
        >>> module(np.zeros((1, 3, 8, 8), np.float32)).shape
        (1, 16, 8, 8)

    """

    def __init__(
        self,
        in_channels: int | None,
        out1: int,
        proj3: int,
        out3: int,
        proj5: int,
        out5: int,
        proj_pool: int,
        conv_init: InitializerSpec | None = None,
        bias_init: InitializerSpec | None = None,
    ) -> None:
        super().__init__()

        def conv(n_in, n_out, ksize, pad=0):
            return convolution_2d.Convolution2D(
                n_in, n_out, ksize, pad=pad, initialW=conv_init, initial_bias=bias_init
            )

        with self.init_scope():
            self.conv1: convolution_2d.Convolution2D = conv(in_channels, out1, 1)
            self.proj3: convolution_2d.Convolution2D = conv(in_channels, proj3, 1)
            self.conv3: convolution_2d.Convolution2D = conv(proj3, out3, 3, 1)
            self.proj5: convolution_2d.Convolution2D = conv(in_channels, proj5, 1)
            self.conv5: convolution_2d.Convolution2D = conv(proj5, out5, 5, 2)
            self.projp: convolution_2d.Convolution2D = conv(in_channels, proj_pool, 1)

    def forward(self, x: VariableLike) -> Variable:
        """Applies the module.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of images of the shape
                ``(batch size, in_channels, height, width)``.

        Returns:
            ~chainer.Variable: Batch of images of the same height and width with
            ``out1 + out3 + out5 + proj_pool`` channels.

        """
        relu = functions.relu
        out1 = self.conv1(x)
        out3 = self.conv3(relu(self.proj3(x)))
        out5 = self.conv5(relu(self.proj5(x)))
        pool = self.projp(functions.max_pooling_2d(x, 3, stride=1, pad=1))
        return relu(functions.concat((out1, out3, out5, pool), axis=1))
