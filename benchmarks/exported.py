"""The models of ``inference.py``, as files."""

from typing import Any

import numpy as np

#: Recurrent layers of 256 units over 64 steps: the operator, its directions and the batch
RECURRENT = {
    f'{prefix}{op.lower()}-{batch}': (op, directions, batch)
    for op in ('LSTM', 'GRU')
    for prefix, directions in (('', 1), ('bi', 2))
    for batch in (1, 16)
}
UNITS, STEPS = 256, 64

#: Blocks of MobileNetV2 (Sandler et al., 2018): expansion, channels, number and first stride
BLOCKS = [
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
]


def image():
    return np.random.RandomState(0).uniform(-1, 1, (1, 3, 224, 224)).astype('f')


def resnet50():
    """Returns ResNet-50 with random weights, and an image."""
    import chainer
    import chainer.links as L

    model = L.ResNet50Layers(pretrained_model=None)

    class Prob(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.model = model

        def forward(self, x):
            return self.model(x, layers=['prob'])['prob']

    return Prob(), image()


def mobilenet():
    """Returns MobileNetV2 with random weights, and an image."""
    import chainer
    import chainer.functions as F
    import chainer.links as L

    def unit(c_in, c_out, ksize, stride=1, groups=1, is_limited=True):
        conv = L.Convolution2D(
            c_in, c_out, ksize, stride, ksize // 2, nobias=True, groups=groups,
            initialW=chainer.initializers.HeNormal(),
        )  # fmt: skip
        return chainer.Sequential(
            conv, L.BatchNormalization(c_out), F.relu6 if is_limited else F.identity
        )

    class Block(chainer.Chain):
        def __init__(self, c_in, c_out, expansion, stride):
            super().__init__()
            c = c_in * expansion
            units = [unit(c_in, c, 1)] if expansion > 1 else []
            units += [unit(c, c, 3, stride, c), unit(c, c_out, 1, is_limited=False)]
            self.is_residual = stride == 1 and c_in == c_out
            with self.init_scope():
                self.units = chainer.Sequential(*units)

        def forward(self, x):
            y = self.units(x)
            return x + y if self.is_residual else y

    model, c_in = chainer.Sequential(unit(3, 32, 3, 2)), 32
    for expansion, c_out, count, first_stride in BLOCKS:
        for i in range(count):
            model.append(Block(c_in, c_out, expansion, 1 if i else first_stride))
            c_in = c_out
    model.append(unit(c_in, 1280, 1))
    model.append(lambda x: F.mean(x, axis=(2, 3)))
    model.append(L.Linear(1280, 1000))
    return model, image()


def write_recurrent(op, directions, batch, path):
    """Writes a recurrent layer with random weights, and returns its input."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.RandomState(0)
    rows = {'LSTM': 4, 'GRU': 3}[op] * UNITS
    shapes = {'w': (rows, UNITS), 'r': (rows, UNITS), 'b': (2 * rows,)}
    weights = [
        numpy_helper.from_array(random.uniform(-0.06, 0.06, (directions, *s)).astype('f'), name)
        for name, s in shapes.items()
    ]
    more: dict[str, Any] = {'linear_before_reset': 1} if op == 'GRU' else {}
    direction = 'bidirectional' if directions == 2 else 'forward'
    node = helper.make_node(
        op, ['x', *shapes], ['y'], hidden_size=UNITS, direction=direction, **more
    )
    x = random.normal(size=(STEPS, batch, UNITS)).astype('f')
    graph = helper.make_graph(
        [node],
        op,
        [helper.make_tensor_value_info('x', TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)],
        weights,
    )
    opset = helper.make_opsetid('', 17)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=8), path)
    return x


def export(name, path):
    """Writes a model as a file, and returns the input."""
    from workloads import WORKLOADS

    import chainer
    import onnx_chainer

    if name in RECURRENT:
        return write_recurrent(*RECURRENT[name], path)
    if name == 'resnet50':
        model, x = resnet50()
    elif name == 'mobilenet':
        model, x = mobilenet()
    else:
        model, x, _ = WORKLOADS[name].chainer_parts('@numpy')
    with chainer.using_config('train', False):
        onnx_chainer.export(model, x, filename=path)
    return x
