import chainer
import chainer.functions as F
import chainer.links as L


class Auxiliary(chainer.Chain):
    """Auxiliary classifier that brings gradients to the middle of the network."""

    def __init__(self, n_classes):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(None, 128, 1, nobias=True)
            self.norm = L.BatchNormalization(128)
            self.fc1 = L.Linear(None, 1024, nobias=True)
            self.norm1 = L.BatchNormalization(1024)
            self.fc2 = L.Linear(None, n_classes)

    def forward(self, x):
        h = F.average_pooling_2d(x, 5, stride=3)
        h = F.relu(self.norm(self.conv(h)))
        return self.fc2(F.relu(self.norm1(self.fc1(h))))


class GoogLeNetBN(chainer.Chain):
    """GoogLeNet with batch normalization.

    Source: S. Ioffe, C. Szegedy, Batch Normalization: Accelerating Deep Network Training by
    Reducing Internal Covariate Shift, 2015.
    """

    insize = 224

    def __init__(self, n_classes=1000):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(None, 64, 7, stride=2, pad=3, nobias=True)
            self.norm1 = L.BatchNormalization(64)
            self.conv2 = L.Convolution2D(None, 192, 3, pad=1, nobias=True)
            self.norm2 = L.BatchNormalization(192)
            self.inc3a = L.InceptionBN(None, 64, 64, 64, 64, 96, 'avg', 32)
            self.inc3b = L.InceptionBN(None, 64, 64, 96, 64, 96, 'avg', 64)
            self.inc3c = L.InceptionBN(None, 0, 128, 160, 64, 96, 'max', stride=2)
            self.inc4a = L.InceptionBN(None, 224, 64, 96, 96, 128, 'avg', 128)
            self.inc4b = L.InceptionBN(None, 192, 96, 128, 96, 128, 'avg', 128)
            self.inc4c = L.InceptionBN(None, 128, 128, 160, 128, 160, 'avg', 128)
            self.inc4d = L.InceptionBN(None, 64, 128, 192, 160, 192, 'avg', 128)
            self.inc4e = L.InceptionBN(None, 0, 128, 192, 192, 256, 'max', stride=2)
            self.inc5a = L.InceptionBN(None, 352, 192, 320, 160, 224, 'avg', 128)
            self.inc5b = L.InceptionBN(None, 352, 192, 320, 192, 224, 'max', 128)
            self.out = L.Linear(None, n_classes)
            self.aux1 = Auxiliary(n_classes)
            self.aux2 = Auxiliary(n_classes)

    def forward(self, x, t):
        h = F.relu(self.norm1(self.conv1(x)))
        h = F.max_pooling_2d(h, 3, stride=2, pad=1)
        h = F.relu(self.norm2(self.conv2(h)))
        h = F.max_pooling_2d(h, 3, stride=2, pad=1)
        middle1 = self.inc3c(self.inc3b(self.inc3a(h)))
        middle2 = self.inc4d(self.inc4c(self.inc4b(self.inc4a(middle1))))
        h = self.inc5b(self.inc5a(self.inc4e(middle2)))
        y = self.out(F.mean(h, axis=(2, 3)))

        loss1 = F.softmax_cross_entropy(self.aux1(middle1), t)
        loss2 = F.softmax_cross_entropy(self.aux2(middle2), t)
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
