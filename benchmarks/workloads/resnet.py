"""ResNet-18 for CIFAR, with a 3x3 stem and no max pooling (He et al., 2015)."""

import numpy

from workloads.base import Training, normal

EPS = 2e-5


def conv_shapes():
    """Yields ``(in, out, ksize, stride)`` of each convolution; a block's shortcut comes last."""
    yield 3, 64, 3, 1
    c_in = 64
    for c_out, first_stride in (64, 1), (128, 2), (256, 2), (512, 2):
        for stride in first_stride, 1:
            yield c_in, c_out, 3, stride
            yield c_out, c_out, 3, 1
            if c_in != c_out:
                yield c_in, c_out, 1, stride
            c_in = c_out


def resnet_forward(unit, relu, shapes, x):
    """Applies the network; ``unit(i, x)`` is the i-th convolution with its normalization."""
    x = relu(unit(0, x))
    i = 1
    while i < len(shapes):
        h = unit(i + 1, relu(unit(i, x)))
        has_shortcut = shapes[i][0] != shapes[i][1]
        x = relu(h + (unit(i + 2, x) if has_shortcut else x))
        i += 3 if has_shortcut else 2
    return x


class ResNet18(Training):
    def __init__(self, name, size, batch):
        super().__init__(name, f'CIFAR form, {size}x{size}, batch {batch}')
        self.shapes = list(conv_shapes())
        self.shape = (batch, 3, size, size)

    def data(self):
        rng = numpy.random.default_rng(0)
        x = rng.standard_normal(self.shape).astype('f')
        return x, rng.integers(0, 10, len(x)).astype('i')

    def parameters(self):
        rng = numpy.random.default_rng(1)
        params = []
        for c_in, c_out, ksize, _ in self.shapes:
            params += [
                normal(rng, (c_out, c_in, ksize, ksize), c_in * ksize**2),
                numpy.ones(c_out, 'f'),
                numpy.zeros(c_out, 'f'),
            ]
        return [*params, normal(rng, (10, 512), 512), numpy.zeros(10, 'f')]

    def chainer_model(self):
        import chainer
        import chainer.functions as F
        import chainer.links as L

        class Model(chainer.Chain):
            def __init__(self, shapes):
                super().__init__()
                self.shapes = shapes
                with self.init_scope():
                    self.convs = chainer.ChainList(
                        *(
                            L.Convolution2D(c_in, c_out, k, stride=s, pad=k // 2, nobias=True)
                            for c_in, c_out, k, s in shapes
                        )
                    )
                    self.norms = chainer.ChainList(
                        *(L.BatchNormalization(c_out, eps=EPS) for _, c_out, _, _ in shapes)
                    )
                    self.fc = L.Linear(512, 10)

            def forward(self, x):
                def unit(i, x):
                    return self.norms[i](self.convs[i](x))

                return self.fc(F.mean(resnet_forward(unit, F.relu, self.shapes, x), axis=(2, 3)))

        model = Model(self.shapes)
        params = [
            p
            for conv, norm in zip(model.convs, model.norms)
            for p in (conv.W, norm.gamma, norm.beta)
        ]
        return model, [*params, model.fc.W, model.fc.b]

    def torch_model(self):
        import torch
        from torch import nn

        class Model(nn.Module):
            def __init__(self, shapes):
                super().__init__()
                self.shapes = shapes
                self.units = nn.ModuleList(
                    nn.Sequential(
                        nn.Conv2d(c_in, c_out, k, s, k // 2, bias=False),
                        nn.BatchNorm2d(c_out, eps=EPS),
                    )
                    for c_in, c_out, k, s in shapes
                )
                self.fc = nn.Linear(512, 10)

            def forward(self, x):
                def unit(i, x):
                    return self.units[i](x)

                return self.fc(resnet_forward(unit, torch.relu, self.shapes, x).mean((2, 3)))

        model = Model(self.shapes)
        return model, list(model.parameters())

    def bare(self):
        import chainerx

        self.running = [
            (chainerx.zeros((c,), 'float32'), chainerx.ones((c,), 'float32'))
            for _, c, _, _ in self.shapes
        ]
        return super().bare()

    def bare_forward(self, x, params):
        import chainerx

        def unit(i, x):
            w, gamma, beta = params[3 * i : 3 * i + 3]
            _, _, k, s = self.shapes[i]
            mean, var = self.running[i]
            return chainerx.batch_norm(
                chainerx.conv(x, w, None, s, k // 2), gamma, beta, mean, var, EPS, 0.9
            )

        x = resnet_forward(unit, chainerx.relu, self.shapes, x)
        return chainerx.linear(x.mean((2, 3)), params[-2], params[-1])


WORKLOADS = [ResNet18('resnet18', 64, 8)]
