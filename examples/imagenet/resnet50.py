import chainer
import chainer.functions as F
import chainer.links as L


class Bottleneck(chainer.Chain):
    """1x1, 3x3 and 1x1 convolutions with a residual connection.

    Args:
        ch (int): Number of inner channels.
        out_size (int): Number of output channels.
        stride (int): Stride of the 3x3 convolution.
        groups (int): Number of groups of the 3x3 convolution.
        project (bool): Whether a 1x1 convolution projects the input.

    """

    def __init__(self, ch, out_size, stride=1, groups=1, project=False):
        super().__init__()
        initialW = chainer.initializers.HeNormal()
        self.project = project

        def conv(out_channels, ksize, stride=1, pad=0, groups=1):
            return L.Convolution2D(
                None,
                out_channels,
                ksize,
                stride,
                pad,
                nobias=True,
                initialW=initialW,
                groups=groups,
            )

        with self.init_scope():
            self.conv1 = conv(ch, 1)
            self.bn1 = L.BatchNormalization(ch)
            self.conv2 = conv(ch, 3, stride, 1, groups)
            self.bn2 = L.BatchNormalization(ch)
            self.conv3 = conv(out_size, 1)
            self.bn3 = L.BatchNormalization(out_size)
            if project:
                self.conv4 = conv(out_size, 1, stride)
                self.bn4 = L.BatchNormalization(out_size)

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = F.relu(self.bn2(self.conv2(h)))
        h = self.bn3(self.conv3(h))
        shortcut = self.bn4(self.conv4(x)) if self.project else x
        return F.relu(h + shortcut)


class ResNet50(chainer.Chain):
    """ResNet with 50 layers.

    Source: K. He et al., Deep Residual Learning for Image Recognition, 2016.
    """

    insize = 224
    groups = 1
    width = 64  # number of inner channels of the first blocks

    def __init__(self, n_classes=1000):
        super().__init__()
        blocks = [
            Bottleneck(
                self.width * 2**stage,
                256 * 2**stage,
                groups=self.groups,
                stride=2 if stage > 0 and i == 0 else 1,
                project=i == 0,
            )
            for stage, depth in enumerate((3, 4, 6, 3))
            for i in range(depth)
        ]
        with self.init_scope():
            self.conv1 = L.Convolution2D(
                None, 64, 7, 2, 3, nobias=True, initialW=chainer.initializers.HeNormal()
            )
            self.bn1 = L.BatchNormalization(64)
            self.res = chainer.Sequential(*blocks)
            self.fc = L.Linear(None, n_classes)

    def forward(self, x, t):
        h = F.relu(self.bn1(self.conv1(x)))
        h = self.res(F.max_pooling_2d(h, 3, stride=2))
        h = self.fc(F.mean(h, axis=(2, 3)))

        loss = F.softmax_cross_entropy(h, t)
        chainer.report({'loss': loss, 'accuracy': F.accuracy(h, t)}, self)
        return loss
