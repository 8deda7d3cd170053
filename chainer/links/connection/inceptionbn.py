from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import functions, link
from chainer.links.connection import convolution_2d
from chainer.links.normalization import batch_normalization

if TYPE_CHECKING:
    from chainer.types import DTypeSpec, InitializerSpec, VariableLike
    from chainer.variable import Variable


class InceptionBN(link.Chain):
    """Inception module with batch normalization, as in Inception-v2.

    Unlike :class:`~chainer.links.Inception`, it has two 3x3 convolutions
    instead of the 5x5 one, applies batch normalization after every convolution,
    and can shrink images. See S. Ioffe and C. Szegedy, `Batch Normalization
    <https://arxiv.org/abs/1502.03167>`_.

    Args:
        in_channels (int or None): Number of channels of inputs. If ``None``, it
            is inferred from the first input.
        out1 (int): Number of channels of the 1x1 convolution. Zero omits it.
        proj3 (int): Number of channels of the projection before 3x3.
        out3 (int): Number of channels of the 3x3 convolution.
        proj33 (int): Number of channels of the projection before the double 3x3.
        out33 (int): Number of channels of the double 3x3 convolution.
        pooltype (str): ``'max'`` or ``'avg'``.
        proj_pool (int): Number of channels of the projection after pooling.
            ``None`` omits it.
        stride (int): Stride of the last convolutions and the pooling.
        conv_init (initializer): Initializer of the filters.
        dtype: Data type of the batch normalization.

    Raises:
        NotImplementedError: ``pooltype`` is unknown.
        AssertionError: A 1x1 convolution is combined with a stride, or with pooling
            without projection.

    .. admonition:: Example

        >>> module = L.InceptionBN(3, out1=0, proj3=2, out3=4, proj33=2, out33=4, pooltype='max',
        ...                        proj_pool=2, stride=2)
        >>> module(np.zeros((2, 3, 8, 8), np.float32)).shape
        (2, 10, 4, 4)

    """

    def __init__(
        self,
        in_channels: int | None,
        out1: int,
        proj3: int,
        out3: int,
        proj33: int,
        out33: int,
        pooltype: str,
        proj_pool: int | None = None,
        stride: int = 1,
        conv_init: InitializerSpec | None = None,
        dtype: DTypeSpec = None,
    ) -> None:
        super().__init__()
        if pooltype not in ('max', 'avg'):
            raise NotImplementedError(
                f"pooltype should be either 'max' or 'avg', but is {pooltype!r}"
            )
        if out1 > 0 and (stride != 1 or proj_pool is None):
            raise AssertionError(
                'a 1x1 convolution (out1 > 0) needs stride 1 and proj_pool, but '
                f'out1={out1}, stride={stride} and proj_pool={proj_pool} were given'
            )
        self.out1 = out1
        self.proj_pool = proj_pool
        self.stride = stride
        self.pooltype = pooltype

        def conv(n_in, n_out, ksize, pad=0, stride=1):
            return convolution_2d.Convolution2D(
                n_in, n_out, ksize, pad=pad, stride=stride, nobias=True, initialW=conv_init
            )

        def norm(size):
            return batch_normalization.BatchNormalization(size, dtype=dtype)

        with self.init_scope():
            self.proj3: convolution_2d.Convolution2D = conv(in_channels, proj3, 1)
            self.conv3: convolution_2d.Convolution2D = conv(proj3, out3, 3, 1, stride)
            self.proj33: convolution_2d.Convolution2D = conv(in_channels, proj33, 1)
            self.conv33a: convolution_2d.Convolution2D = conv(proj33, out33, 3, 1)
            self.conv33b: convolution_2d.Convolution2D = conv(out33, out33, 3, 1, stride)
            self.proj3n: batch_normalization.BatchNormalization = norm(proj3)
            self.conv3n: batch_normalization.BatchNormalization = norm(out3)
            self.proj33n: batch_normalization.BatchNormalization = norm(proj33)
            self.conv33an: batch_normalization.BatchNormalization = norm(out33)
            self.conv33bn: batch_normalization.BatchNormalization = norm(out33)
            if out1 > 0:
                self.conv1: convolution_2d.Convolution2D = conv(in_channels, out1, 1)
                self.conv1n: batch_normalization.BatchNormalization = norm(out1)
            if proj_pool is not None:
                self.poolp: convolution_2d.Convolution2D = conv(in_channels, proj_pool, 1)
                self.poolpn: batch_normalization.BatchNormalization = norm(proj_pool)

    def forward(self, x: VariableLike) -> Variable:
        """Applies the module.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of images of the shape
                ``(batch size, in_channels, height, width)``.

        Returns:
            ~chainer.Variable: Batch of images with
            ``out1 + out3 + out33 + proj_pool`` channels.

        """
        relu = functions.relu
        outs = []
        if self.out1 > 0:
            outs.append(relu(self.conv1n(self.conv1(x))))

        h = relu(self.proj3n(self.proj3(x)))
        outs.append(relu(self.conv3n(self.conv3(h))))

        h = relu(self.proj33n(self.proj33(x)))
        h = relu(self.conv33an(self.conv33a(h)))
        outs.append(relu(self.conv33bn(self.conv33b(h))))

        outs.append(self._pool(x))
        return functions.concat(outs, axis=1)

    def _pool(self, x):
        if self.pooltype == 'max':
            p = functions.max_pooling_2d(x, 3, stride=self.stride, pad=1, cover_all=False)
        else:
            p = functions.average_pooling_2d(x, 3, stride=self.stride, pad=1)
        return p if self.proj_pool is None else functions.relu(self.poolpn(self.poolp(p)))
