"""Models of every example, and large ones, with a dynamic batch where their code has one."""

import contextlib
import importlib
import pathlib
import sys

import numpy as np
import pytest
from onnx_chainer_tests import helpers_of_export

import chainer
import chainer.functions as F
import chainer.links as L

EXAMPLES = pathlib.Path(__file__).parents[2] / 'examples'


@contextlib.contextmanager
def example(folder):
    """Imports modules of an example, and forgets them: names repeat in the examples."""
    before = set(sys.modules)
    sys.path.insert(0, str(EXAMPLES / folder))
    try:
        yield lambda name: importlib.import_module(name)
    finally:
        sys.path.remove(str(EXAMPLES / folder))
        for name in set(sys.modules) - before:
            if str(EXAMPLES) in str(getattr(sys.modules[name], '__file__', '')):
                del sys.modules[name]


def f32(*shape):
    return np.random.RandomState(len(shape)).uniform(-1, 1, shape).astype('f')


def ints(*shape, n=5):
    return np.random.RandomState(1).randint(1, n, shape).astype('i')


def _glance(load):
    return load('glance').MLP(5, 2), f32(2, 4)


def _mlp(load):
    return load('_common').MLP(5, 3), f32(2, 4)


def _reinforcement(load):
    common = load('ddpg_pendulum')
    return common.QFunction(4), [f32(2, 3), f32(2, 1)]


def _captions(load):
    model = load('model').ImageCaptionModel(9, 'small', 'lstm', 0.0, 6)
    return model, [f32(2, 3, 16, 16), ints(2, 4)]


def _vae(load):
    net = load('net')
    encoder, decoder = net.Encoder(6, 2, 4), net.Decoder(6, 2, 4, binary=True)
    return chainer.Sequential(lambda x: encoder(x).mean, lambda z: decoder(z).distribution.p), f32(
        2, 6
    )


def _word2vec(load):
    module = load('train_word2vec')
    loss = module.SoftmaxCrossEntropyLoss(4, 9)
    loss.out.W.array[...] = f32(9, 4)
    return module.ContinuousBoW(9, 4, loss), [ints(3), ints(3, 4)]


def _crf(load):
    model = load('train_pos').CRF(9, 3)

    def loss(*values):
        hs = [model.feature(x) for x in values[:2]]
        return model.crf(hs, values[2:], transpose=True)

    return loss, [ints(3), ints(2), ints(3, n=3), ints(2, n=3)]


def _tree(load):
    net = load('_common').RecursiveNet(9, 4, 3)

    def label(left, right):
        return net.w(net.node(net.leaf(left), net.leaf(right)))

    return label, [ints(2), ints(2)]


def _seq2seq(load):
    model = load('seq2seq').Seq2seq(2, 9, 8, 4)
    return model, {'xs': [ints(4), ints(2)], 'ys': [ints(3), ints(2)]}


def _text(load, encoder):
    nets = load('nets')
    model = nets.TextClassifier(getattr(nets, encoder)(1, 9, 6), 3)
    return model.score, [[ints(5), ints(4)]]


def _pix2pix(load):
    net = load('net')
    encoder, decoder = net.Encoder(3, 8, 4), net.Decoder(3, 8, 4)
    return chainer.Sequential(encoder, decoder), f32(1, 3, 8, 8)


MODELS = {
    'cifar-VGG': ('cifar', lambda load: (load('models').VGG(10, 2), f32(1, 3, 32, 32)), ('n', 3, 32, 32)),
    'cifar-ResNet50': (
        *('cifar', lambda load: (load('models').ResNet50(10, 4), f32(1, 3, 32, 32))),
        ('n', 3, 32, 32),
    ),
    'dcgan-generator': (
        *('dcgan', lambda load: (load('net').Generator(6, 2, 16), f32(1, 6, 1, 1))),
        ('n', 6, 1, 1),
    ),
    'dcgan-discriminator': (
        *('dcgan', lambda load: (load('net').Discriminator(2, 16), f32(2, 3, 16, 16))),
        ('n', 3, 16, 16),
    ),
    'glance': ('glance', _glance, ('n', 4)),
    'image_captioning': ('image_captioning', _captions, [('n', 3, 16, 16), ('n', 4)]),
    'memnn': (
        'memnn',
        lambda load: (load('memnn').MemNN(4, 9, 5, 2), [ints(2, 3, 4), ints(2, 4)]),
        [('n', 3, 4), ('n', 4)],
    ),
    'mnist': ('mnist', _mlp, ('n', 4)),
    'pix2pix': ('pix2pix', _pix2pix, ('n', 3, 8, 8)),
    'pos': ('pos', _crf, None),
    'ptb': ('ptb', lambda load: (load('_common').RNNForLM(9, 4), ints(2)), ('n',)),
    'reinforcement_learning': ('reinforcement_learning', _reinforcement, [('n', 3), ('n', 1)]),
    'sentiment': ('sentiment', _tree, [('n',), ('n',)]),
    'seq2seq': ('seq2seq', _seq2seq, None),
    'text_classification-RNN': ('text_classification', lambda load: _text(load, 'RNNEncoder'), None),
    'text_classification-CNN': ('text_classification', lambda load: _text(load, 'CNNEncoder'), None),
    'text_classification-BOW': ('text_classification', lambda load: _text(load, 'BOWEncoder'), None),
    'wavenet': (
        'wavenet',
        lambda load: (load('net').ResidualBlock(2, 4, 3), [f32(1, 4, 9, 1), f32(1, 5, 7, 1)]),
        [('n', 4, 9, 1), ('n', 5, 7, 1)],
    ),
    'wavenet-upsampling': (
        'wavenet',
        lambda load: (load('net').UpsampleNet(3, (2, 2)), f32(1, 5, 3)),
        ('n', 5, 't'),
    ),
    'vae': ('vae', _vae, ('n', 6)),
    'word2vec': ('word2vec', _word2vec, [('n',), ('n', 4)]),
}  # fmt: skip


def _repeated(args):
    """Arguments with a larger batch."""
    double = [
        np.concatenate([a, a[:1], a[::-1]]) for a in (args if isinstance(args, list) else [args])
    ]
    return double if isinstance(args, list) else double[0]


@pytest.mark.parametrize('name', MODELS)
def test_example(name):
    folder, make, shapes = MODELS[name]
    np.random.seed(0)
    with example(folder) as load:
        model, args = make(load)
        others = [] if shapes is None else [_repeated(args)]
        helpers_of_export.check(
            *(model, args, 1e-4, 1e-5),
            others=others,
            input_shapes=shapes,
            opset_version=20,
        )


@pytest.mark.parametrize('insize', [227, 224])
def test_alex_and_nin_of_imagenet(insize):
    with example('imagenet') as load:
        model = load('alex').Alex(10) if insize == 227 else load('nin').NIN(10)
        args = [f32(1, 3, insize, insize), ints(1)]
        helpers_of_export.check(model, args, 1e-3, 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ('make', 'size'),
    [
        (lambda: L.ResNet50Layers(pretrained_model=None), 64),
        (lambda: L.GoogLeNet(pretrained_model=None), 224),
        (lambda: L.VGG16Layers(pretrained_model=None), 224),
        (lambda: L.TorchvisionResNet(50), 64),
        (lambda: L.TorchvisionVGG(16), 224),
    ],
    ids=['ResNet50', 'GoogLeNet', 'VGG16', 'TorchvisionResNet', 'TorchvisionVGG'],
)
def test_large_model(make, size):
    np.random.seed(0)
    model = make()
    exported = helpers_of_export.check(
        *(model, f32(1, 3, size, size), 1e-3, 1e-5),
        others=[f32(3, 3, size, size)],
        input_shapes=('batch', 3, size, size),
    )
    (y,) = exported.graph.output
    assert y.type.tensor_type.shape.dim[0].dim_param == 'batch'


def test_training_mode():
    """Statistics are those of the batch, and stay as they were in the model."""
    model = chainer.Sequential(L.Convolution2D(3, 4, 3), L.BatchNormalization(4), F.relu)
    model(f32(2, 3, 6, 6))
    mean = model[1].avg_mean.copy()
    helpers_of_export.check(model, f32(2, 3, 6, 6), train=True)
    np.testing.assert_array_equal(model[1].avg_mean, mean)
