import chainer
import chainer.functions as F
import chainer.links as L


class NIN(chainer.Chain):
    """Network in network: convolutions followed by 1x1 convolutions, no fully connected layer.

    Source: M. Lin, Q. Chen, S. Yan, Network In Network, 2014.
    """

    insize = 227

    def __init__(self, n_classes=1000):
        super().__init__()
        w = chainer.initializers.HeNormal()

        def mlpconv(channels, ksize, stride=1, pad=0):
            return L.MLPConvolution2D(None, channels, ksize, stride=stride, pad=pad, conv_init=w)

        with self.init_scope():
            self.mlpconv1 = mlpconv((96, 96, 96), 11, stride=4)
            self.mlpconv2 = mlpconv((256, 256, 256), 5, pad=2)
            self.mlpconv3 = mlpconv((384, 384, 384), 3, pad=1)
            self.mlpconv4 = mlpconv((1024, 1024, n_classes), 3, pad=1)

    def forward(self, x, t):
        h = F.max_pooling_2d(F.relu(self.mlpconv1(x)), 3, stride=2)
        h = F.max_pooling_2d(F.relu(self.mlpconv2(h)), 3, stride=2)
        h = F.max_pooling_2d(F.relu(self.mlpconv3(h)), 3, stride=2)
        h = F.mean(self.mlpconv4(F.dropout(h)), axis=(2, 3))

        loss = F.softmax_cross_entropy(h, t)
        chainer.report({'loss': loss, 'accuracy': F.accuracy(h, t)}, self)
        return loss
