"""Training on four devices gives the parameters that training on one of them gives."""

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators, optimizers, training
from chainer.dataset import concat_examples
from tests.helpers.devices import CHX

N_UPDATES = 6
DEVICES = [
    pytest.param(['@numpy'] * 4, id='numpy'),
    pytest.param(CHX, id='native', marks=pytest.mark.chainerx),
    pytest.param([CHX[0], '@numpy', CHX[3], '@numpy'], id='mixed', marks=pytest.mark.chainerx),
    pytest.param([f'@cupy:{i}' for i in range(4)], id='gpu', marks=pytest.mark.multi_gpu(4)),
]


def clipped_sgd(model):
    optimizer = optimizers.SGD(0.1).setup(model)
    # The hook has to see the gradient of the whole batch.
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(0.2))
    return optimizer


OPTIMIZERS = {
    'SGD': lambda model: optimizers.SGD(0.1).setup(model),
    'MomentumSGD': lambda model: optimizers.MomentumSGD(0.1).setup(model),
    'Adam': lambda model: optimizers.Adam(0.01).setup(model),
    'clipped': clipped_sgd,
}


def make_iterator(batch_size):
    train, _ = chainer.datasets.get_digits()
    return iterators.SerialIterator(train, batch_size, shuffle=False)


def make_model(batch_size=None):
    """Makes a classifier; its loss is the sum divided by the size of the whole batch, if given."""

    def lossfun(y, t):
        if batch_size is None:
            return F.softmax_cross_entropy(y, t)
        return F.sum(F.softmax_cross_entropy(y, t, reduce='no')) / batch_size

    return L.Classifier(chainer.Sequential(L.Linear(64, 20), F.tanh, L.Linear(20, 10)), lossfun)


def parameters(model):
    send = chainer.get_device('@numpy').send
    return {name: send(param.array) for name, param in model.namedparams()}


def assert_trained_as_on_one_device(model, single, optimizer, batch_size, device):
    initial = parameters(single.copy('copy'))
    updater = training.StandardUpdater(make_iterator(batch_size), optimizer, device=device)
    for _ in range(N_UPDATES):
        updater.update()
    actual, expected = parameters(model), parameters(single)
    for name in expected:
        assert numpy.abs(expected[name] - initial[name]).max() > 1e-3, 'nothing was learned'
        numpy.testing.assert_allclose(actual[name], expected[name], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize('devices', DEVICES)
@pytest.mark.parametrize('batch_size', [40, 42])
@pytest.mark.parametrize('optimizer', OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_parallel_updater(devices, batch_size, optimizer):
    """Losses that are divided by the size of the whole batch; the parts may have any sizes."""
    model = make_model(batch_size)
    single = model.copy('copy')
    updater = training.ParallelUpdater(
        make_iterator(batch_size),
        optimizer(model),
        devices=dict(zip(('main', 'b', 'c', 'd'), devices)),
    )
    for _ in range(N_UPDATES):
        updater.update()
    for copy in updater._models.values():
        numpy.testing.assert_equal(parameters(copy), parameters(model))
    assert_trained_as_on_one_device(model, single, optimizer(single), batch_size, devices[0])


@pytest.mark.parametrize('devices', DEVICES)
def test_parallel_updater_of_mean_losses(devices):
    """The gradients of mean losses are added, so the learning rate is divided."""
    model = make_model()
    single = model.copy('copy')
    updater = training.ParallelUpdater(
        make_iterator(40),
        optimizers.SGD(0.1 / len(devices)).setup(model),
        devices=dict(zip(('main', 'b', 'c', 'd'), devices)),
    )
    for _ in range(N_UPDATES):
        updater.update()
    assert_trained_as_on_one_device(
        model, single, optimizers.SGD(0.1).setup(single), 40, devices[0]
    )


@pytest.mark.parametrize('devices', DEVICES)
@pytest.mark.parametrize('batch_size', [40, 42])
@pytest.mark.parametrize('optimizer', OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_by_hand(devices, batch_size, optimizer):
    devices = [chainer.get_device(device) for device in devices]
    main = make_model()
    single = main.copy('copy')
    models = [main, *(main.copy('copy') for _ in devices[1:])]
    for model, device in zip(models, devices):
        model.to_device(device)
    main_optimizer = optimizer(main)
    iterator = make_iterator(batch_size)
    for _ in range(N_UPDATES):
        batch = iterator.next()
        for i, (model, device) in enumerate(zip(models, devices)):
            part = batch[i :: len(models)]
            with chainer.using_device(device):
                loss = model(*concat_examples(part, device)) * (len(part) / len(batch))
                model.cleargrads()
                loss.backward()
        for model in models[1:]:
            main.addgrads(model)
        main_optimizer.update()
        for model in models[1:]:
            model.copyparams(main)
    assert_trained_as_on_one_device(main, single, optimizer(single), batch_size, devices[0])
