import chainer
import chainer.functions as F
import chainer.links as L


class Alex(chainer.Chain):
    """AlexNet, on one device.

    Source: A. Krizhevsky, I. Sutskever, G. Hinton, ImageNet Classification with Deep
    Convolutional Neural Networks, 2012.
    """

    insize = 227

    def __init__(self, n_classes=1000):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(None, 96, 11, stride=4)
            self.conv2 = L.Convolution2D(None, 256, 5, pad=2)
            self.conv3 = L.Convolution2D(None, 384, 3, pad=1)
            self.conv4 = L.Convolution2D(None, 384, 3, pad=1)
            self.conv5 = L.Convolution2D(None, 256, 3, pad=1)
            self.fc6 = L.Linear(None, 4096)
            self.fc7 = L.Linear(None, 4096)
            self.fc8 = L.Linear(None, n_classes)

    def forward(self, x, t):
        h = F.local_response_normalization(F.relu(self.conv1(x)))
        h = F.max_pooling_2d(h, 3, stride=2)
        h = F.local_response_normalization(F.relu(self.conv2(h)))
        h = F.max_pooling_2d(h, 3, stride=2)
        h = F.relu(self.conv3(h))
        h = F.relu(self.conv4(h))
        h = F.max_pooling_2d(F.relu(self.conv5(h)), 3, stride=2)
        h = F.dropout(F.relu(self.fc6(h)))
        h = F.dropout(F.relu(self.fc7(h)))
        h = self.fc8(h)

        loss = F.softmax_cross_entropy(h, t)
        chainer.report({'loss': loss, 'accuracy': F.accuracy(h, t)}, self)
        return loss
