"""Three blocks of convolution, batch normalization and ReLU; average pooling; linear."""

import numpy

from workloads.base import Training, normal

EPS = 2e-5


class CNN(Training):
    def __init__(self, name, channels, size, batch, measure_memory=False):
        super().__init__(
            name,
            '3 conv+BN+ReLU, {} channels, {}x{}, batch {}'.format(
                '-'.join(map(str, channels)), size, size, batch
            ),
        )
        self.channels = (3, *channels)
        self.shape = (batch, 3, size, size)
        self.measure_memory = measure_memory

    def data(self):
        rng = numpy.random.default_rng(0)
        x = rng.standard_normal(self.shape).astype('f')
        return x, rng.integers(0, 10, len(x)).astype('i')

    def parameters(self):
        rng = numpy.random.default_rng(1)
        params = []
        for c_in, c_out in zip(self.channels, self.channels[1:]):
            params += [
                normal(rng, (c_out, c_in, 3, 3), 9 * c_in),
                numpy.ones(c_out, 'f'),
                numpy.zeros(c_out, 'f'),
            ]
        c = self.channels[-1]
        return [*params, normal(rng, (10, c), c), numpy.zeros(10, 'f')]

    def chainer_model(self):
        import chainer
        import chainer.functions as F
        import chainer.links as L

        class Model(chainer.Chain):
            def __init__(self, channels):
                super().__init__()
                with self.init_scope():
                    self.convs = chainer.ChainList(
                        *(
                            L.Convolution2D(c_in, c_out, 3, pad=1, nobias=True)
                            for c_in, c_out in zip(channels, channels[1:])
                        )
                    )
                    self.norms = chainer.ChainList(
                        *(L.BatchNormalization(c, eps=EPS) for c in channels[1:])
                    )
                    self.fc = L.Linear(channels[-1], 10)

            def forward(self, x):
                for conv, norm in zip(self.convs, self.norms):
                    x = F.relu(norm(conv(x)))
                return self.fc(F.mean(x, axis=(2, 3)))

        model = Model(self.channels)
        params = [
            p
            for conv, norm in zip(model.convs, model.norms)
            for p in (conv.W, norm.gamma, norm.beta)
        ]
        return model, [*params, model.fc.W, model.fc.b]

    def torch_model(self):
        from torch import nn

        class Model(nn.Module):
            def __init__(self, channels):
                super().__init__()
                layers = []
                for c_in, c_out in zip(channels, channels[1:]):
                    layers += [
                        nn.Conv2d(c_in, c_out, 3, padding=1, bias=False),
                        nn.BatchNorm2d(c_out, eps=EPS),
                        nn.ReLU(),
                    ]
                self.features = nn.Sequential(*layers)
                self.fc = nn.Linear(channels[-1], 10)

            def forward(self, x):
                return self.fc(self.features(x).mean((2, 3)))

        model = Model(self.channels)
        return model, list(model.parameters())

    def bare(self):
        import chainerx

        self.running = [
            (chainerx.zeros((c,), 'float32'), chainerx.ones((c,), 'float32'))
            for c in self.channels[1:]
        ]
        return super().bare()

    def bare_forward(self, x, params):
        import chainerx

        for i, (mean, var) in enumerate(self.running):
            w, gamma, beta = params[3 * i : 3 * i + 3]
            x = chainerx.conv(x, w, None, 1, 1)
            x = chainerx.relu(chainerx.batch_norm(x, gamma, beta, mean, var, EPS, 0.9))
        return chainerx.linear(x.mean((2, 3)), params[-2], params[-1])


WORKLOADS = [
    CNN('cnn-tiny', (4, 8, 16), 8, 1),
    CNN('cnn', (32, 64, 128), 32, 32, measure_memory=True),
]
