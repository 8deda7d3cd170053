import chainer
import chainer.functions as F
import chainer.links as L


class Auxiliary(chainer.Chain):
    """Auxiliary classifier that brings gradients to the middle of the network."""

    def __init__(self, n_classes):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(None, 128, 1)
            self.fc1 = L.Linear(None, 1024)
            self.fc2 = L.Linear(None, n_classes)

    def forward(self, x):
        h = F.average_pooling_2d(x, 5, stride=3)
        h = F.relu(self.conv(h))
        return self.fc2(F.relu(self.fc1(h)))


class GoogLeNet(chainer.Chain):
    """GoogLeNet.

    Source: C. Szegedy et al., Going Deeper with Convolutions, 2014.
    """

    insize = 224

    def __init__(self, n_classes=1000):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(None, 64, 7, stride=2, pad=3)
            self.conv2_reduce = L.Convolution2D(None, 64, 1)
            self.conv2 = L.Convolution2D(None, 192, 3, stride=1, pad=1)
            self.inc3a = L.Inception(None, 64, 96, 128, 16, 32, 32)
            self.inc3b = L.Inception(None, 128, 128, 192, 32, 96, 64)
            self.inc4a = L.Inception(None, 192, 96, 208, 16, 48, 64)
            self.inc4b = L.Inception(None, 160, 112, 224, 24, 64, 64)
            self.inc4c = L.Inception(None, 128, 128, 256, 24, 64, 64)
            self.inc4d = L.Inception(None, 112, 144, 288, 32, 64, 64)
            self.inc4e = L.Inception(None, 256, 160, 320, 32, 128, 128)
            self.inc5a = L.Inception(None, 256, 160, 320, 32, 128, 128)
            self.inc5b = L.Inception(None, 384, 192, 384, 48, 128, 128)
            self.loss3_fc = L.Linear(None, n_classes)
            self.loss1 = Auxiliary(n_classes)
            self.loss2 = Auxiliary(n_classes)

    def forward(self, x, t):
        h = F.relu(self.conv1(x))
        h = F.local_response_normalization(F.max_pooling_2d(h, 3, stride=2), n=5)
        h = F.relu(self.conv2_reduce(h))
        h = F.local_response_normalization(F.relu(self.conv2(h)), n=5)
        h = F.max_pooling_2d(h, 3, stride=2)
        h = self.inc3b(self.inc3a(h))
        h = F.max_pooling_2d(h, 3, stride=2)
        middle1 = self.inc4a(h)
        middle2 = self.inc4d(self.inc4c(self.inc4b(middle1)))
        h = self.inc4e(middle2)
        h = F.max_pooling_2d(h, 3, stride=2)
        h = self.inc5b(self.inc5a(h))
        y = self.loss3_fc(F.dropout(F.mean(h, axis=(2, 3)), 0.4))

        loss1 = F.softmax_cross_entropy(self.loss1(middle1), t)
        loss2 = F.softmax_cross_entropy(self.loss2(middle2), t)
        loss3 = F.softmax_cross_entropy(y, t)
        loss = 0.3 * (loss1 + loss2) + loss3
        chainer.report(
            {
                'loss': loss,
                'loss1': loss1,
                'loss2': loss2,
                'loss3': loss3,
                'accuracy': F.accuracy(y, t),
            },
            self,
        )
        return loss
