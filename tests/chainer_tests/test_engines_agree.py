"""Training gives the same bits on NumPy arrays and on ChainerX's native device.

Sums and means over axes are the exception: NumPy adds its arrays itself, in another order.
"""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx

if not chainerx.is_available():
    pytest.skip('ChainerX is not built', allow_module_level=True)


class Perceptron(chainer.Sequential):
    shape = (100, 300)

    def __init__(self):
        super().__init__(L.Linear(300, 200), F.relu, L.Linear(200, 10))


class Convolutional(chainer.Sequential):
    shape = (8, 3, 20, 20)

    def __init__(self):
        super().__init__(
            L.Convolution2D(3, 16, 3, pad=1),
            L.BatchNormalization(16),
            F.relu,
            L.DepthwiseConvolution2D(16, 1, 3),
            lambda x: F.max_pooling_2d(x, 2),
            L.Linear(None, 10),
        )


class Recurrent(chainer.Chain):
    shape = (8, 12, 20)

    def __init__(self, rnn):
        super().__init__()
        with self.init_scope():
            self.rnn = rnn(2, 20, 64, 0)
            self.out = L.Linear(64, 10)

    def __call__(self, x):
        h, *_ = self.rnn(None, *[None] * (self.rnn.n_cells - 1), list(x))
        return self.out(h[-1])


class Lstm(Recurrent):
    def __init__(self):
        super().__init__(L.NStepLSTM)


class Gru(Recurrent):
    def __init__(self):
        super().__init__(L.NStepBiGRU)


class Transformer(chainer.Chain):
    shape = (8, 16, 64)

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.norm = L.LayerNormalization(64)
            self.qkv = L.Linear(64, 192)
            self.hidden = L.Linear(64, 256)
            self.out = L.Linear(256 * 16, 10)

    def __call__(self, x):
        batch, length, width = x.shape
        z = self.qkv(self.norm(F.reshape(x, (-1, width))))
        z = F.transpose(F.reshape(z, (batch, length, 3, 4, 16)), (2, 0, 3, 1, 4))
        weight = F.softmax(F.matmul(z[0], z[1], transb=True) / 4, axis=-1)
        y = F.reshape(F.transpose(F.matmul(weight, z[2]), (0, 2, 1, 3)), (-1, width))
        y = F.tanh(self.hidden(y + F.reshape(x, (-1, width))))
        return self.out(F.reshape(y, (batch, -1)))


def train(make, device, dtype):
    np.random.seed(0)
    device = chainer.get_device(device)
    with chainer.using_config('dtype', np.dtype(dtype)):
        model = L.Classifier(make())
        model.to_device(device)
        x = device.send(np.random.randn(*make.shape).astype(dtype))
        t = device.send(np.arange(len(x)) % 10)
        optimizer = chainer.optimizers.Adam().setup(model)
        for _ in range(3):
            optimizer.update(model, x, t)
    return {name: chainer.get_device('@numpy').send(p.array) for name, p in model.namedparams()}


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize('make', [Perceptron, Convolutional, Lstm, Gru, Transformer])
def test_training_gives_the_same_bits(make, dtype):
    expected = train(make, '@numpy', dtype)
    actual = train(make, 'native:0', dtype)
    assert [name for name in expected if actual[name].tobytes() != expected[name].tobytes()] == []
