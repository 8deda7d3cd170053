import chainer
import chainer.functions as F
import chainer.links as L


class Block(chainer.Chain):
    """Convolution without bias, batch normalization and ReLU."""

    def __init__(self, out_channels, ksize=3):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(None, out_channels, ksize, pad=ksize // 2, nobias=True)
            self.bn = L.BatchNormalization(out_channels)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))


class VGG(chainer.Chain):
    """VGG16 for small images, with batch normalization and strong dropout.

    Two small fully connected layers replace the original three, which suit images of 224x224
    pixels.

    Args:
        class_labels (int): Number of classes.
        width (int): Number of channels of the first layers.

    """

    # (channels over width, dropout ratio after each layer but the last) of each stage
    stages = (1, (0.3,)), (2, (0.4,)), (4, (0.4, 0.4)), (8, (0.4, 0.4)), (8, (0.4, 0.4))

    def __init__(self, class_labels=10, width=64):
        super().__init__()
        with self.init_scope():
            self.blocks = chainer.ChainList(
                *[
                    Block(width * factor)
                    for factor, ratios in self.stages
                    for _ in range(len(ratios) + 1)
                ]
            )
            self.fc1 = L.Linear(None, 8 * width, nobias=True)
            self.bn_fc1 = L.BatchNormalization(8 * width)
            self.fc2 = L.Linear(8 * width, class_labels, nobias=True)

    def forward(self, x):
        h = x
        blocks = iter(self.blocks)
        for _, ratios in self.stages:
            for ratio in ratios:
                h = F.dropout(next(blocks)(h), ratio=ratio)
            h = F.max_pooling_2d(next(blocks)(h), ksize=2, stride=2)
        h = F.dropout(h, ratio=0.5)
        h = F.relu(self.bn_fc1(self.fc1(h)))
        h = F.dropout(h, ratio=0.5)
        return self.fc2(h)
