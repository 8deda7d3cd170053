import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L


class Generator(chainer.Chain):
    """Generates images from random vectors; each layer doubles the image size.

    Args:
        n_hidden (int): Length of the random vectors.
        bottom_width (int): Size of the image after the first layer; an eighth of the result.
        ch (int): Number of channels of the first layer.
        out_channels (int): Number of colours.

    """

    def __init__(self, n_hidden, bottom_width=4, ch=512, out_channels=3, wscale=0.02):
        super().__init__()
        self.n_hidden = n_hidden
        self.ch = ch
        self.bottom_width = bottom_width
        w = chainer.initializers.Normal(wscale)
        n_bottom = bottom_width * bottom_width * ch
        with self.init_scope():
            self.l0 = L.Linear(n_hidden, n_bottom, initialW=w)
            self.bn0 = L.BatchNormalization(n_bottom)
            self.dc1 = L.Deconvolution2D(ch, ch // 2, 4, 2, 1, initialW=w)
            self.bn1 = L.BatchNormalization(ch // 2)
            self.dc2 = L.Deconvolution2D(ch // 2, ch // 4, 4, 2, 1, initialW=w)
            self.bn2 = L.BatchNormalization(ch // 4)
            self.dc3 = L.Deconvolution2D(ch // 4, ch // 8, 4, 2, 1, initialW=w)
            self.bn3 = L.BatchNormalization(ch // 8)
            self.dc4 = L.Deconvolution2D(ch // 8, out_channels, 3, 1, 1, initialW=w)

    def make_hidden(self, batchsize):
        """Draws random vectors."""
        return np.random.uniform(-1, 1, (batchsize, self.n_hidden, 1, 1)).astype(np.float32)

    def forward(self, z):
        h = F.relu(self.bn0(self.l0(z)))
        h = F.reshape(h, (len(z), self.ch, self.bottom_width, self.bottom_width))
        h = F.relu(self.bn1(self.dc1(h)))
        h = F.relu(self.bn2(self.dc2(h)))
        h = F.relu(self.bn3(self.dc3(h)))
        return F.sigmoid(self.dc4(h))


def add_noise(h, sigma=0.2):
    """Adds noise in training, so that the discriminator does not memorize images."""
    if not chainer.config.train:
        return h
    h = chainer.as_variable(h)
    noise = np.random.normal(scale=sigma, size=h.shape).astype(np.float32)
    return h + h.device.send(noise)


class Discriminator(chainer.Chain):
    """Returns the log odds that images are real."""

    def __init__(self, bottom_width=4, ch=512, in_channels=3, wscale=0.02):
        super().__init__()
        w = chainer.initializers.Normal(wscale)
        with self.init_scope():
            self.c0_0 = L.Convolution2D(in_channels, ch // 8, 3, 1, 1, initialW=w)
            self.c0_1 = L.Convolution2D(ch // 8, ch // 4, 4, 2, 1, initialW=w)
            self.bn0_1 = L.BatchNormalization(ch // 4, use_gamma=False)
            self.c1_0 = L.Convolution2D(ch // 4, ch // 4, 3, 1, 1, initialW=w)
            self.bn1_0 = L.BatchNormalization(ch // 4, use_gamma=False)
            self.c1_1 = L.Convolution2D(ch // 4, ch // 2, 4, 2, 1, initialW=w)
            self.bn1_1 = L.BatchNormalization(ch // 2, use_gamma=False)
            self.c2_0 = L.Convolution2D(ch // 2, ch // 2, 3, 1, 1, initialW=w)
            self.bn2_0 = L.BatchNormalization(ch // 2, use_gamma=False)
            self.c2_1 = L.Convolution2D(ch // 2, ch, 4, 2, 1, initialW=w)
            self.bn2_1 = L.BatchNormalization(ch, use_gamma=False)
            self.c3_0 = L.Convolution2D(ch, ch, 3, 1, 1, initialW=w)
            self.bn3_0 = L.BatchNormalization(ch, use_gamma=False)
            self.l4 = L.Linear(bottom_width * bottom_width * ch, 1, initialW=w)

    def forward(self, x):
        h = F.leaky_relu(add_noise(self.c0_0(add_noise(x))))
        for name in '0_1', '1_0', '1_1', '2_0', '2_1', '3_0':
            h = F.leaky_relu(add_noise(self['bn' + name](self['c' + name](h))))
        return self.l4(h)
