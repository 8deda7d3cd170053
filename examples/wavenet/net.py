import numpy as np
from sound import HOP

import chainer
import chainer.functions as F
import chainer.links as L


class UpsampleNet(chainer.Chain):
    """Upsamples a spectrogram to one column per sample."""

    def __init__(self, channels, factors=(16, 16)):
        super().__init__()
        with self.init_scope():
            self.layers = chainer.ChainList(
                *[
                    L.Deconvolution2D(None, channels, (factor, 1), stride=(factor, 1))
                    for factor in factors
                ]
            )

    def forward(self, condition):
        h = condition[:, :, :, None]
        for layer in self.layers:
            h = F.relu(layer(h))
        return h


class ResidualBlock(chainer.Chain):
    """Combines the current sample and the one ``dilation`` samples earlier."""

    def __init__(self, dilation, r_channels, s_channels):
        super().__init__()
        self.dilation = dilation
        with self.init_scope():
            self.conv = L.Convolution2D(r_channels, 2 * r_channels, (2, 1), dilate=(dilation, 1))
            self.condition = L.Convolution2D(None, 2 * r_channels, 1)
            self.res = L.Convolution2D(r_channels, r_channels, 1)
            self.skip = L.Convolution2D(r_channels, s_channels, 1)

    def forward(self, x, condition):
        """Computes outputs from the samples and the ``dilation`` samples before them.

        Args:
            x: Input, ``(batch, r_channels, dilation + length, 1)``.
            condition: Condition, ``(batch, channels, length, 1)``.

        Returns:
            tuple: Residual and skip output, ``(batch, channels, length, 1)``.

        """
        a, b = F.split_axis(self.conv(x) + self.condition(condition), 2, axis=1)
        z = F.tanh(a) * F.sigmoid(b)
        return self.res(z) + x[:, :, self.dilation :], self.skip(z)


class WaveNet(chainer.Chain):
    """Predicts each sample from the previous ones and a spectrogram.

    Source: A. van den Oord et al., WaveNet: A Generative Model for Raw Audio, 2016.

    Args:
        n_loop (int): Number of repetitions of the dilations 1, 2, 4, ...
        n_layer (int): Number of dilations.
        a_channels (int): Number of quantization levels of samples.
        r_channels (int): Number of residual channels of the blocks.
        s_channels (int): Number of skip channels of the blocks.
        use_embed_tanh (bool): Whether to apply tanh to the vectors of the samples.

    """

    def __init__(self, n_loop, n_layer, a_channels, r_channels, s_channels, use_embed_tanh):
        super().__init__()
        self.use_embed_tanh = use_embed_tanh
        with self.init_scope():
            self.upsample = UpsampleNet(r_channels)
            self.embed = L.EmbedID(a_channels, r_channels)
            self.blocks = chainer.ChainList(
                *[
                    ResidualBlock(2**i, r_channels, s_channels)
                    for _ in range(n_loop)
                    for i in range(n_layer)
                ]
            )
            self.proj1 = L.Convolution2D(s_channels, s_channels, 1)
            self.proj2 = L.Convolution2D(s_channels, a_channels, 1)

    def _compute(self, x, condition, get_past):
        h = F.transpose(self.embed(x), (0, 2, 1))[:, :, :, None]
        if self.use_embed_tanh:
            h = F.tanh(h)
        total = 0
        for block in self.blocks:
            h, skip = block(F.concat([get_past(block, h), h], axis=2), condition)
            total = total + skip
        return self.proj2(F.relu(self.proj1(F.relu(total))))[:, :, :, 0]

    def forward(self, x, condition, t):
        """Returns the loss for samples ``x`` and the next ones ``t``, ``(batch, length)``."""

        def silence(block, h):
            return self.xp.zeros((*h.shape[:2], block.dilation, 1), h.dtype)

        y = self._compute(x, self.upsample(condition)[:, :, : x.shape[1]], silence)
        loss = F.softmax_cross_entropy(y, t)
        chainer.report({'loss': loss, 'accuracy': F.accuracy(y, t)}, self)
        return loss

    def generate(self, condition, random):
        """Generates samples one by one and returns them as an int32 array.

        The length of the condition sets their number. Each block caches past values.

        Args:
            condition: Spectrogram, ``(1, n_mels, frames)``.
            random (numpy.random.RandomState): Random numbers.

        """
        queues = {}

        def past(block, h):
            queue = queues.get(id(block))
            if queue is None:
                queue = self.xp.zeros((*h.shape[:2], block.dilation, 1), h.dtype)
            queues[id(block)] = F.concat([queue, h], axis=2).array[:, :, 1:]
            return queue

        send_back = chainer.get_device('@numpy').send
        samples = np.zeros(condition.shape[2] * HOP, np.int32)
        sample = self.embed.W.shape[0] // 2
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            condition = self.upsample(condition).array
            for i in range(len(samples)):
                x = self.device.send(np.array([[sample]], np.int32))
                y = self._compute(x, condition[:, :, i : i + 1], past)
                p = send_back(F.softmax(y).array)[0, :, 0].astype(np.float64)
                samples[i] = sample = random.choice(len(p), p=p / p.sum())
        return samples


def make_model(args):
    return WaveNet(
        args.n_loop,
        args.n_layer,
        args.a_channels,
        args.r_channels,
        args.s_channels,
        args.use_embed_tanh,
    )


def add_arguments(parser):
    """Adds the options of the model."""
    parser.add_argument(
        '--n_loop', type=int, default=4, help='Number of repetitions of all dilations'
    )
    parser.add_argument('--n_layer', type=int, default=10, help='Number of dilations')
    parser.add_argument(
        '--a_channels', type=int, default=256, help='Number of quantization levels of samples'
    )
    parser.add_argument(
        '--r_channels', type=int, default=64, help='Number of residual channels of the blocks'
    )
    parser.add_argument(
        '--s_channels', type=int, default=256, help='Number of skip channels of the blocks'
    )
    parser.add_argument(
        '--use_embed_tanh', action='store_true', help='Apply tanh to the vectors of samples'
    )
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    group = parser.add_argument_group('deprecated arguments')
    group.add_argument(
        '--gpu',
        '-g',
        dest='device',
        type=int,
        nargs='?',
        const=0,
        help='GPU number (negative value indicates CPU)',
    )
