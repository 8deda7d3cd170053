"""ResNet-18 for CIFAR, with a 3x3 stem and no max pooling, and ResNet-50 (He et al., 2015)."""

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


def resnet_forward(unit, relu, pool, shapes, x):
    """Applies the network; ``unit(i, x)`` is the i-th convolution with its normalization."""
    x = relu(unit(0, x))
    i = 1
    while i < len(shapes):
        h = unit(i + 1, relu(unit(i, x)))
        has_shortcut = shapes[i][0] != shapes[i][1]
        x = relu(h + (unit(i + 2, x) if has_shortcut else x))
        i += 3 if has_shortcut else 2
    return x


def bottleneck_shapes(width):
    """The same for ResNet-50, whose first convolution has ``width`` outputs, by 64."""
    yield 3, width, 7, 2
    c_in = width
    for stage, n_blocks in enumerate((3, 4, 6, 3)):
        c = width * 2**stage
        for block in range(n_blocks):
            stride = 2 if stage and not block else 1
            yield c_in, c, 1, 1
            yield c, c, 3, stride
            yield c, 4 * c, 1, 1
            if not block:
                yield c_in, 4 * c, 1, stride
            c_in = 4 * c


def bottleneck_forward(unit, relu, pool, shapes, x):
    """The same for ResNet-50."""
    x = pool(relu(unit(0, x)))
    i = 1
    while i < len(shapes):
        h = unit(i + 2, relu(unit(i + 1, relu(unit(i, x)))))
        has_shortcut = i + 3 < len(shapes) and shapes[i + 3][1] == shapes[i + 2][1]
        x = relu(h + (unit(i + 3, x) if has_shortcut else x))
        i += 4 if has_shortcut else 3
    return x


class ResNet18(Training):
    classes = 10
    apply = staticmethod(resnet_forward)
    measure_memory = True

    def __init__(self, name, size, batch, about='CIFAR form'):
        super().__init__(name, f'{about}, {size}x{size}, batch {batch}')
        self.shapes = list(conv_shapes())
        self.features = 512
        self.shape = (batch, 3, size, size)

    def data(self):
        rng = numpy.random.default_rng(0)
        x = rng.standard_normal(self.shape).astype('f')
        return x, rng.integers(0, self.classes, len(x)).astype('i')

    def parameters(self):
        rng = numpy.random.default_rng(1)
        params = []
        for c_in, c_out, ksize, _ in self.shapes:
            params += [
                normal(rng, (c_out, c_in, ksize, ksize), c_in * ksize**2),
                numpy.ones(c_out, 'f'),
                numpy.zeros(c_out, 'f'),
            ]
        n = self.features
        return [*params, normal(rng, (self.classes, n), n), numpy.zeros(self.classes, 'f')]

    def chainer_model(self):
        import chainer
        import chainer.functions as F
        import chainer.links as L

        class Model(chainer.Chain):
            def __init__(self, sizes):
                super().__init__()
                self.sizes = sizes
                with self.init_scope():
                    self.convs = chainer.ChainList(
                        *(
                            L.Convolution2D(c_in, c_out, k, stride=s, pad=k // 2, nobias=True)
                            for c_in, c_out, k, s in sizes.shapes
                        )
                    )
                    self.norms = chainer.ChainList(
                        *(L.BatchNormalization(c_out, eps=EPS) for _, c_out, _, _ in sizes.shapes)
                    )
                    self.fc = L.Linear(sizes.features, sizes.classes)

            def forward(self, x):
                def unit(i, x):
                    return self.norms[i](self.convs[i](x))

                def pool(x):
                    return F.max_pooling_2d(x, 3, 2, 1, cover_all=False)

                sizes = self.sizes
                h = sizes.apply(unit, F.relu, pool, sizes.shapes, x)
                return self.fc(F.mean(h, axis=(2, 3)))

        model = Model(self)
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
            def __init__(self, sizes):
                super().__init__()
                self.sizes = sizes
                self.units = nn.ModuleList(
                    nn.Sequential(
                        nn.Conv2d(c_in, c_out, k, s, k // 2, bias=False),
                        nn.BatchNorm2d(c_out, eps=EPS),
                    )
                    for c_in, c_out, k, s in sizes.shapes
                )
                self.fc = nn.Linear(sizes.features, sizes.classes)

            def forward(self, x):
                def unit(i, x):
                    return self.units[i](x)

                def pool(x):
                    return nn.functional.max_pool2d(x, 3, 2, 1)

                sizes = self.sizes
                h = sizes.apply(unit, torch.relu, pool, sizes.shapes, x)
                return self.fc(h.mean((2, 3)))

        model = Model(self)
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

        def pool(x):
            return chainerx.max_pool(x, 3, 2, 1, False)

        x = self.apply(unit, chainerx.relu, pool, self.shapes, x)
        return chainerx.linear(x.mean((2, 3)), params[-2], params[-1])


class ResNet50(ResNet18):
    classes = 1000
    apply = staticmethod(bottleneck_forward)
    on_cpu = measure_memory = False

    def __init__(self, name, size, batch, precision='float32', width=64):
        super().__init__(name, size, batch, f'ResNet-50, {precision}')
        self.shapes = list(bottleneck_shapes(width))
        self.features = 32 * width
        self.precision = precision
        if precision != 'float32':
            self.tolerance = 2e-2
            self.engines = 'torch', 'chainerx'

    def parameters(self):
        params = super().parameters()
        # Each block starts as its shortcut (Goyal et al., 2017), so rounding does not grow in it.
        for i, (before, _) in enumerate(zip(self.shapes[1:], self.shapes[2:]), 2):
            if before[2] == 3:
                params[3 * i + 1][...] = 0
        return params


WORKLOADS = [
    ResNet18('resnet18', 64, 8),
    ResNet50('resnet50-tiny', 64, 4, width=4),
    ResNet50('resnet50-tiny-mixed16', 64, 4, 'mixed16', width=4),
    ResNet50('resnet50', 224, 64),
    ResNet50('resnet50-tf32', 224, 64, 'tf32'),
    ResNet50('resnet50-mixed16', 224, 64, 'mixed16'),
]
