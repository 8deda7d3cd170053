import chainer
import chainer.functions as F
import chainer.links as L


class Bottleneck(chainer.Chain):
    """1x1, 3x3 and 1x1 convolutions with a residual connection.

    Args:
        channels (int): Number of inner channels; the output has four times as many.
        stride (int): Stride of the 3x3 convolution.
        project (bool): Whether a 1x1 convolution projects the input; required if the shapes of
            input and output differ.

    """

    def __init__(self, channels, stride=1, project=False):
        super().__init__()
        initialW = chainer.initializers.HeNormal()
        self.project = project
        with self.init_scope():
            self.conv1 = L.Convolution2D(None, channels, 1, nobias=True, initialW=initialW)
            self.bn1 = L.BatchNormalization(channels)
            self.conv2 = L.Convolution2D(
                channels, channels, 3, stride, 1, nobias=True, initialW=initialW
            )
            self.bn2 = L.BatchNormalization(channels)
            self.conv3 = L.Convolution2D(channels, 4 * channels, 1, nobias=True, initialW=initialW)
            self.bn3 = L.BatchNormalization(4 * channels)
            if project:
                self.conv4 = L.Convolution2D(
                    None, 4 * channels, 1, stride, nobias=True, initialW=initialW
                )
                self.bn4 = L.BatchNormalization(4 * channels)

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = F.relu(self.bn2(self.conv2(h)))
        h = self.bn3(self.conv3(h))
        shortcut = self.bn4(self.conv4(x)) if self.project else x
        return F.relu(h + shortcut)


class ResNet50(chainer.Chain):
    """ResNet with 50 layers for small images; its first layers do not downsample.

    Args:
        class_labels (int): Number of classes.
        width (int): Number of channels of the first layer.

    """

    def __init__(self, class_labels=10, width=64):
        super().__init__()
        blocks = [
            Bottleneck(width * 2**stage, stride=2 if stage > 0 and i == 0 else 1, project=i == 0)
            for stage, depth in enumerate((3, 4, 6, 3))
            for i in range(depth)
        ]
        with self.init_scope():
            self.conv1 = L.Convolution2D(
                None, width, 3, pad=1, nobias=True, initialW=chainer.initializers.HeNormal()
            )
            self.bn1 = L.BatchNormalization(width)
            self.blocks = chainer.Sequential(*blocks)
            self.fc = L.Linear(None, class_labels)

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = self.blocks(h)
        return self.fc(F.mean(h, axis=(2, 3)))
