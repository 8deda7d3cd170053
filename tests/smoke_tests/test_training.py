"""The shortest way through the whole product: data, model, training loop, snapshot, resume."""

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions
from tests.helpers.devices import CHX

pytestmark = pytest.mark.smoke

DEVICES = [
    '@numpy',
    pytest.param(CHX[0], marks=pytest.mark.chainerx),
    pytest.param('@cupy:0', marks=pytest.mark.gpu),
]


class MLP(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(None, 32)
            self.l2 = L.Linear(32, 10)

    def forward(self, x):
        return self.l2(F.relu(self.l1(x)))


def make_trainer(device, out, epochs):
    numpy.random.seed(0)
    if isinstance(device, chainer.backend.GpuDevice):
        device.xp.random.seed(0)  # draws the weights that the first batch makes
    train, test = chainer.datasets.get_digits()
    model = L.Classifier(MLP())
    model.to_device(device)
    device.use()
    optimizer = chainer.optimizers.Adam(alpha=0.01).setup(model)
    train_iter = chainer.iterators.SerialIterator(train, 32)
    test_iter = chainer.iterators.SerialIterator(test, 64, repeat=False, shuffle=False)
    updater = training.StandardUpdater(train_iter, optimizer, device=device)
    trainer = training.Trainer(updater, (epochs, 'epoch'), out=str(out))
    trainer.extend(extensions.Evaluator(test_iter, model, device=device))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.snapshot(filename='snapshot'))
    return trainer, model


@pytest.fixture
def device(request):
    device = chainer.get_device(request.param)
    with chainer.using_device(device):
        yield device


@pytest.mark.parametrize('device', DEVICES, indirect=True)
def test_train_and_resume(device, tmp_path):
    whole, model = make_trainer(device, tmp_path / 'whole', 4)
    whole.run()
    assert whole.get_extension('LogReport').log[-1]['validation/main/accuracy'] > 0.85

    first_half, _ = make_trainer(device, tmp_path / 'halves', 2)
    first_half.run()
    second_half, resumed = make_trainer(device, tmp_path / 'halves', 4)
    chainer.serializers.load_npz(str(tmp_path / 'halves' / 'snapshot'), second_half)
    second_half.run()
    resumed.to_device('@numpy')
    model.to_device('@numpy')
    for (name, param), expected in zip(resumed.namedparams(), model.params()):
        numpy.testing.assert_array_equal(param.array, expected.array, name)
