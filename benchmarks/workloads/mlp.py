"""Fully connected layers with ReLU."""

import numpy

from workloads.base import Training, normal


class MLP(Training):
    engines = ('torch', 'hand', 'numpy', 'chainerx', 'compiled', 'bare', 'cupy')

    def __init__(self, name, sizes, batch, measure_memory=False):
        super().__init__(name, '{}, batch {}'.format('-'.join(map(str, sizes)), batch))
        self.sizes = sizes
        self.batch = batch
        self.measure_memory = measure_memory

    def data(self):
        rng = numpy.random.default_rng(0)
        x = rng.standard_normal((self.batch, self.sizes[0])).astype('f')
        return x, rng.integers(0, self.sizes[-1], self.batch).astype('i')

    def parameters(self):
        rng = numpy.random.default_rng(1)
        params = []
        for n_in, n_out in zip(self.sizes, self.sizes[1:]):
            params += [normal(rng, (n_out, n_in), n_in), numpy.zeros(n_out, 'f')]
        return params

    def chainer_model(self):
        import chainer
        import chainer.functions as F
        import chainer.links as L

        class Model(chainer.Chain):
            def __init__(self, sizes):
                super().__init__()
                with self.init_scope():
                    self.layers = chainer.ChainList(*map(L.Linear, sizes, sizes[1:]))

            def forward(self, x):
                *hidden, last = self.layers
                for layer in hidden:
                    x = F.relu(layer(x))
                return last(x)

        model = Model(self.sizes)
        return model, [p for layer in model.layers for p in (layer.W, layer.b)]

    def torch_model(self):
        from torch import nn

        layers = []
        for n_in, n_out in zip(self.sizes, self.sizes[1:]):
            layers += [nn.Linear(n_in, n_out), nn.ReLU()]
        model = nn.Sequential(*layers[:-1])
        return model, list(model.parameters())

    def bare_forward(self, x, params):
        import chainerx

        for i in range(0, len(params) - 2, 2):
            x = chainerx.relu(chainerx.linear(x, params[i], params[i + 1]))
        return chainerx.linear(x, params[-2], params[-1])

    def hand(self):
        """Returns the same step with hand-written gradients, as a bound for NumPy."""
        lr = self.lr
        x, t = self.data()
        params = self.parameters()
        weights, biases = params[::2], params[1::2]
        rows = numpy.arange(self.batch)

        def step():
            inputs = [x]
            for w, b in zip(weights[:-1], biases[:-1]):
                h = inputs[-1] @ w.T
                h += b
                inputs.append(numpy.maximum(h, 0, out=h))
            y = inputs[-1] @ weights[-1].T
            y += biases[-1]

            # The softmax p; the gradient of the loss -mean(log p[t]) is (p - onehot(t)) / n.
            y -= y.max(axis=1, keepdims=True)
            p = numpy.exp(y)
            total = p.sum(axis=1, keepdims=True)
            loss = (numpy.log(total[:, 0]) - y[rows, t]).mean()
            p /= total
            p[rows, t] -= 1
            p /= len(rows)

            g = p
            for i in reversed(range(len(weights))):
                h = inputs[i]
                gw = g.T @ h
                gb = g.sum(axis=0)
                if i:
                    g = g @ weights[i]
                    g *= h > 0
                gw *= lr
                gb *= lr
                weights[i] -= gw
                biases[i] -= gb
            return loss

        return step


WORKLOADS = [
    MLP('mlp-tiny', (784, 16, 16, 10), 1),
    MLP('mlp', (784, 1000, 1000, 10), 100, measure_memory=True),
]
