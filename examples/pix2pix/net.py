import math

import chainer
import chainer.functions as F
import chainer.links as L


class Block(chainer.Chain):
    """Convolution that halves or doubles the image size, with normalization and activation.

    Args:
        in_channels (int), out_channels (int): Numbers of channels.
        sample (str): ``'down'`` or ``'up'``.
        bn (bool): Whether to use batch normalization.
        activation: Function applied last.
        dropout (bool): Whether to use dropout.

    """

    def __init__(
        self, in_channels, out_channels, sample='down', bn=True, activation=F.relu, dropout=False
    ):
        super().__init__()
        self.activation = activation
        self.dropout = dropout
        convolution = L.Convolution2D if sample == 'down' else L.Deconvolution2D
        with self.init_scope():
            self.c = convolution(
                in_channels, out_channels, 4, 2, 1, initialW=chainer.initializers.Normal(0.02)
            )
            self.bn = L.BatchNormalization(out_channels) if bn else None

    def forward(self, x):
        h = self.c(x)
        if self.bn is not None:
            h = self.bn(h)
        if self.dropout:
            h = F.dropout(h)
        return self.activation(h)


def n_channels(size, ch):
    """Returns the channels of each layer while an image shrinks from ``size`` to 2 pixels."""
    return [min(ch * 2**i, ch * 8) for i in range(int(math.log2(size)) - 1)]


class Encoder(chainer.Chain):
    """Shrinks images to 2x2 pixels and returns the outputs of all layers."""

    def __init__(self, in_ch, size=256, ch=64):
        super().__init__()
        channels = [in_ch] + n_channels(size, ch)
        with self.init_scope():
            self.blocks = chainer.ChainList(
                *[
                    Block(*channels[i : i + 2], bn=i > 0, activation=F.leaky_relu)
                    for i in range(len(channels) - 1)
                ]
            )

    def forward(self, x):
        hs = []
        for block in self.blocks:
            x = block(x)
            hs.append(x)
        return hs


class Decoder(chainer.Chain):
    """Makes images from the outputs of the encoder (U-Net)."""

    def __init__(self, out_ch, size=256, ch=64):
        super().__init__()
        channels = n_channels(size, ch)[::-1] + [out_ch]
        last = len(channels) - 2
        with self.init_scope():
            self.blocks = chainer.ChainList(
                *[
                    Block(
                        channels[i] * (1 if i == 0 else 2),
                        channels[i + 1],
                        sample='up',
                        bn=i < last,
                        dropout=i < 3 and i < last,
                        activation=F.relu if i < last else F.tanh,
                    )
                    for i in range(last + 1)
                ]
            )

    def forward(self, hs):
        h = None
        for block, skip in zip(self.blocks, reversed(hs)):
            h = block(skip if h is None else F.concat([h, skip]))
        return h


class Discriminator(chainer.Chain):
    """Scores for each patch of a pair of images whether the pair is real."""

    def __init__(self, in_ch, out_ch, ch=64):
        super().__init__()
        w = chainer.initializers.Normal(0.02)
        with self.init_scope():
            self.c0_0 = Block(in_ch, ch // 2, bn=False, activation=F.leaky_relu)
            self.c0_1 = Block(out_ch, ch // 2, bn=False, activation=F.leaky_relu)
            self.c1 = Block(ch, ch * 2, activation=F.leaky_relu)
            self.c2 = Block(ch * 2, ch * 4, activation=F.leaky_relu)
            self.c3 = L.Convolution2D(ch * 4, 1, 3, 1, 1, initialW=w)

    def forward(self, x_0, x_1):
        h = F.concat([self.c0_0(x_0), self.c0_1(x_1)])
        return self.c3(self.c2(self.c1(h)))
