"""Files that Chainer 7.8.1 wrote: models, optimizers and a trainer load and give its outputs."""

import io
import json
import pathlib
import warnings

import numpy as np
import pytest
from helpers.functions import devices
from helpers.link_row import digest, r

import chainer
from chainer import functions as F, links as L, optimizers, serializers, testing, training
from chainer.training import extensions, triggers

FILES = pathlib.Path(__file__).parent / 'chainer7_files'


class Model(chainer.Chain):
    """Children by name, and what a call does with them."""

    def __init__(self, call, **links):
        super().__init__(**links)
        self.call = call

    def forward(self, x):
        return self.call(self, x)


def mlp():
    return Model(lambda m, x: m.l2(F.relu(m.l1(x))), l1=L.Linear(3, 4), l2=L.Linear(4, 2))


def conv_bn():
    return Model(
        lambda m, x: m.fc(F.relu(m.bn(m.conv(x)))),
        conv=L.Convolution2D(2, 3, 2),
        bn=L.BatchNormalization(3),
        fc=L.Linear(None, 2),
    )


def rnn():
    return Model(
        lambda m, t: m.out(m.lstm(m.embed(t))),
        embed=L.EmbedID(5, 3),
        lstm=L.LSTM(3, 4),
        out=L.Linear(4, 2),
    )


def n_step():
    return Model(
        lambda m, x: F.concat([m.rnn(None, None, [x])[2][0], m.gru(None, [x])[1][0]]),
        rnn=L.NStepBiLSTM(2, 3, 4, 0.0),
        gru=L.NStepGRU(1, 3, 2, 0.0),
    )


def word2vec():
    return Model(
        lambda m, t: m.embed(t), embed=L.EmbedID(5, 3), ns=L.NegativeSampling(3, [3, 2, 2, 1, 1], 2)
    )


def misc():
    model = Model(
        lambda m, x: m.lnorm(m.hw(m.list[1](m.list[0](m.seq(x))))),
        seq=chainer.Sequential(L.Linear(3, 3), F.relu, L.Linear(3, 3)),
        list=chainer.ChainList(L.PReLU(), L.Scale(1, (3,), bias_term=True)),
        hw=L.Highway(3),
        lnorm=L.LayerNormalization(3),
        dbn=L.DecorrelatedBatchNormalization(3, groups=1),
    )
    with model.init_scope():
        model.W = chainer.Parameter(0, 2)
    model.add_persistent('stamp', 0)
    model.add_persistent('hist', np.zeros(3))
    return model


# file -> model, input, digest of the output
MODELS = {
    'MLP': (mlp, r(0, 2, 3), 0.20028),
    'ConvBN': (conv_bn, r(0, 2, 2, 3, 3), 0.193236),
    'RNN': (rnn, np.array([0, 4], 'i'), 0.018937),
    'NStep': (n_step, r(0, 4, 3), -0.046575),
    'W2V': (word2vec, np.array([1, 2], 'i'), 0.328678),
    'Misc': (misc, r(0, 4, 3), -0.483283),
}


def content(name):
    with np.load(FILES / f'{name}.npz') as file:
        return dict(file)


def written(obj):
    """What is in an npz file of the object."""
    file = io.BytesIO()
    serializers.save_npz(file, obj)
    file.seek(0)
    with np.load(file) as arrays:
        return dict(arrays)


def assert_same(actual, expected):
    assert {n: (a.dtype, a.shape) for n, a in actual.items()} == {
        n: (a.dtype, a.shape) for n, a in expected.items()
    }
    for name, array in expected.items():
        np.testing.assert_array_equal(actual[name], array, err_msg=name)


@pytest.fixture
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        yield


@pytest.mark.parametrize('device', devices())
@pytest.mark.parametrize('name', MODELS)
def test_model(name, device, no_warnings):
    make, x, expected = MODELS[name]
    model = make()
    model.to_device(device)
    serializers.load_npz(FILES / f'{name}.npz', model)
    assert {p.device.name for p in model.params()} == {device}
    assert_same(written(model), content(name))
    with chainer.using_config('train', False):
        y = model(model.device.send(x))
    testing.assert_allclose(
        digest([chainer.get_device('@numpy').send(y.array)]), expected, atol=1e-4
    )


@pytest.mark.parametrize('device', devices())
@pytest.mark.parametrize('name', ['MLP', 'ConvBN', 'RNN', 'Misc'])
def test_optimizer(name, device, no_warnings):
    model = MODELS[name][0]()
    model.to_device(device)
    serializers.load_npz(FILES / f'{name}.npz', model)
    optimizer = optimizers.Adam().setup(model)
    serializers.load_npz(FILES / f'{name}_adam.npz', optimizer)
    assert optimizer.t == 1
    assert_same(written(optimizer), content(f'{name}_adam'))


@pytest.mark.parametrize('device', devices())
def test_hdf5(device, no_warnings):
    pytest.importorskip('h5py')
    model = mlp()
    model.to_device(device)
    serializers.load_hdf5(FILES / 'MLP.h5', model)
    assert_same(written(model), content('MLP'))


def make_trainer(out):
    np.random.seed(5)
    model = L.Classifier(mlp())
    optimizer = optimizers.Adam().setup(model)
    labels = [
        np.random.RandomState(seed).randint(0, 2, n).astype('i') for seed, n in ((2, 10), (4, 6))
    ]
    train, test = [
        chainer.datasets.TupleDataset(r(seed, len(t), 3), t) for seed, t in zip((1, 3), labels)
    ]
    iterator = chainer.iterators.SerialIterator(train, 4)
    updater = training.StandardUpdater(iterator, optimizer)
    trainer = training.Trainer(updater, (8, 'iteration'), out)
    test_iterator = chainer.iterators.SerialIterator(test, 4, repeat=False, shuffle=False)
    trainer.extend(extensions.Evaluator(test_iterator, model))
    trainer.extend(extensions.LogReport(trigger=(2, 'iteration')))
    trainer.extend(extensions.PrintReport(['iteration', 'main/loss'], out=io.StringIO()))
    trainer.extend(extensions.ExponentialShift('alpha', 0.5), trigger=(3, 'iteration'))
    trainer.extend(extensions.snapshot(), trigger=(4, 'iteration'))
    trainer.extend(
        lambda t: None,
        name='best',
        trigger=triggers.MinValueTrigger('main/loss', (2, 'iteration')),
    )
    return trainer


def test_trainer(tmp_path, no_warnings):
    """A run that Chainer 7 left after 4 iterations goes on exactly as there."""
    trainer = make_trainer(tmp_path)
    model = trainer.updater.get_optimizer('main').target
    state = np.random.get_state()[1]
    serializers.load_npz(FILES / 'trainer_snapshot_4.npz', trainer)
    np.testing.assert_array_equal(np.random.get_state()[1], state)
    assert trainer.updater.iteration == 4 and trainer.updater.epoch_detail == 1.6
    trainer.run()
    losses = [entry['main/loss'] for entry in json.loads((tmp_path / 'log').read_text())]
    testing.assert_allclose(losses, [0.66095683, 0.69907162, 0.64516029, 0.6844371], rtol=1e-5)
    digests = [digest([p.array]) for _, p in sorted(model.namedparams())]
    testing.assert_allclose(digests, [-1.051156, 0.0059911, -0.530251, -0.0016194], atol=1e-5)


def test_parts_of_a_snapshot(no_warnings):
    whole = content('trainer_snapshot_4')
    model = mlp()
    serializers.load_npz(
        FILES / 'trainer_snapshot_4.npz', model, path='updater/model:main/predictor/'
    )
    np.testing.assert_array_equal(model.l1.W.array, whole['updater/model:main/predictor/l1/W'])
