"""``chainer.per_sample_grad`` against backward passes of one sample at a time."""

import numpy as np
import pytest
from helpers.functions import devices

import chainer
from chainer import functions as F, links as L


class _Images(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(2, 4, 3, pad=1)
            self.deconv = L.Deconvolution2D(4, 4, 2, groups=2)
            self.norm = L.GroupNormalization(2, 4)
            self.last = L.Linear(None, 3)
            self.unused = L.Linear(2, 2)

    def forward(self, x, t):
        h = F.relu(self.norm(self.deconv(self.conv(x))))
        return F.softmax_cross_entropy(self.last(F.max_pooling_2d(h, 2)), t)


class _Words(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(5, 4)
            self.norm = L.LayerNormalization(4)
            self.layers = chainer.Sequential(L.Linear(4, 6), F.tanh, L.Linear(6, 3))

    def forward(self, x, t):
        return F.softmax_cross_entropy(self.layers(F.mean(self.norm_of(self.embed(x)), 1)), t)

    def norm_of(self, h):
        return F.reshape(self.norm(F.reshape(h, (-1, 4))), h.shape)


IMAGES = np.random.RandomState(0).rand(5, 2, 4, 4).astype('f')
WORDS = np.random.RandomState(0).randint(0, 5, (5, 3)).astype('i')
LABELS = np.array([0, 2, 1, 1, 0], 'i')


def _numpy(array):
    return chainer.get_device('@numpy').send(array)


@pytest.mark.parametrize('device', devices())
@pytest.mark.parametrize(
    'make, x',
    [
        (_Images, IMAGES),
        (_Words, WORDS),
        (lambda: L.Classifier(L.Linear(None, 3)), IMAGES),
        (lambda: L.Classifier(chainer.Sequential(L.Linear(None, 4), F.relu, L.Linear(3))), IMAGES),
    ],
)
def test_gradients(make, x, device):
    model = make()
    with chainer.no_backprop_mode():
        model(x, LABELS)
    model.to_device(device)
    x, t = [chainer.get_device(device).send(a) for a in (x, LABELS)]
    before = dict(model.namedparams())
    grads = chainer.per_sample_grad(model, x, t)
    assert all(param is before[name] for name, param in model.namedparams())
    assert grads.keys() == before.keys()
    for i in range(len(LABELS)):
        model.cleargrads()
        model(x[i : i + 1], t[i : i + 1]).backward()
        for name, param in model.namedparams():
            expected = np.zeros(param.shape) if param.grad is None else _numpy(param.grad)
            np.testing.assert_allclose(_numpy(grads[name])[i], expected, 1e-4, 1e-6)


def test_loss_function_and_shared_parameters():
    layer = L.Linear(3, 3)
    model = chainer.ChainList(layer, layer)
    x = np.random.RandomState(1).rand(4, 3).astype('f')
    grads = chainer.per_sample_grad(
        model, x, lossfun=lambda x: F.sum(model[1](F.tanh(model[0](x))) ** 2)
    )
    for i in range(4):
        model.cleargrads()
        F.sum(layer(F.tanh(layer(x[i : i + 1]))) ** 2).backward()
        for name, param in model.namedparams():
            np.testing.assert_allclose(grads[name][i], param.grad, 1e-4, 1e-6)


def test_works_without_backprop_mode_and_keeps_gradients():
    model = L.Classifier(L.Linear(2, 3))
    model.cleargrads()
    with chainer.no_backprop_mode():
        grads = chainer.per_sample_grad(model, np.ones((2, 2), 'f'), np.array([0, 1]))
    assert grads['/predictor/b'].shape == (2, 3) and grads['/predictor/b'].any()
    assert all(param.grad is None for param in model.params())


def test_frozen_parameters_have_none():
    model = L.Classifier(L.Linear(2, 3))
    model.predictor.W._requires_grad = False
    grads = chainer.per_sample_grad(model, np.ones((2, 2), 'f'), np.array([0, 1]))
    assert list(grads) == ['/predictor/b']


X, T = np.ones((2, 2), 'f'), np.array([0, 1])


@pytest.mark.parametrize(
    'arguments, options, error, message',
    [
        ((L.Linear(None, 3), X), {}, ValueError, 'parameter /W has no array as yet'),
        ((L.Linear(2, 3), X), {}, ValueError, r'loss must have the shape \(\), not \(1, 3\)'),
        ((L.Linear(2, 3), X), {'lossfun': lambda x: 1}, TypeError, 'loss must be a variable'),
        ((L.Linear(2, 3), X, T[:1]), {}, ValueError, 'one number of samples'),
        ((L.Linear(2, 3),), {}, ValueError, 'nothing is mapped'),
    ],
    ids=['uninitialized', 'axes', 'number', 'lengths', 'empty'],
)
def test_errors(arguments, options, error, message):
    link = arguments[0]
    before = link.W
    with pytest.raises(error, match=message):
        chainer.per_sample_grad(*arguments, **options)
    assert link.W is before
