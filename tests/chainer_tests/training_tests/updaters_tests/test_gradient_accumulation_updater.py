import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators, optimizers, serializers, training
from chainer.training import extensions, updaters
from tests.helpers.devices import CHX

RNG = numpy.random.RandomState(0)
DATA = list(zip(RNG.rand(24, 3).astype('f'), RNG.rand(24, 2).astype('f')))
WEIGHTS = RNG.rand(2, 3).astype('f')


class Model(chainer.Chain):
    def __init__(self, lazy=False):
        super().__init__()
        with self.init_scope():
            # Parameters that are drawn late would be drawn on the device.
            self.l = L.Linear(None if lazy else 3, 2, initialW=WEIGHTS)  # noqa: E741

    def forward(self, x, y):
        loss = F.mean_squared_error(self.l(x), y)
        chainer.report(
            {'loss': loss, 'n': len(x), 'first': x[0].sum().item(), 'text': str(len(x))}, self
        )
        return loss


def make(
    steps,
    batch_size,
    lazy=False,
    optimizer=optimizers.Adam,
    dtype='f',
    scaling=None,
    repeat=True,
    shuffle=False,
    **kwargs,
):
    numpy.random.seed(0)
    with chainer.using_config('dtype', numpy.dtype(dtype)):
        model = Model(lazy)
    optimizer = optimizer().setup(model)
    if scaling is not None:
        optimizer.loss_scaling(**scaling)
    data = [(x.astype(dtype), y.astype(dtype)) for x, y in DATA]
    iterator = iterators.SerialIterator(data, batch_size, repeat=repeat, shuffle=shuffle)
    updater = updaters.GradientAccumulationUpdater(iterator, optimizer, steps, **kwargs)
    return model, updater


def send(model):
    return {
        name: chainer.get_device('@numpy').send(param.array) for name, param in model.namedparams()
    }


def assert_equal_models(actual, expected, **kwargs):
    actual, expected = send(actual), send(expected)
    assert actual.keys() == expected.keys()
    for name in actual:
        numpy.testing.assert_allclose(actual[name], expected[name], **kwargs)


@pytest.mark.parametrize('lazy', [False, True])
@pytest.mark.parametrize(
    'device',
    [
        '@numpy',
        pytest.param(CHX[0], marks=pytest.mark.chainerx),
        pytest.param('@cupy:0', marks=pytest.mark.gpu),
    ],
)
def test_equals_one_large_batch(device, lazy):
    model, updater = make(4, 3, lazy, device=device)
    reference, large = make(1, 12, lazy)
    standard = training.StandardUpdater(large.get_iterator('main'), large.get_optimizer('main'))
    for _ in range(5):
        for u in updater, standard:
            u.update()
        assert_equal_models(model, reference, rtol=1e-5, atol=1e-6)
        for name in ('iteration', 'epoch', 'epoch_detail', 'is_new_epoch', 'previous_epoch_detail'):
            assert getattr(updater, name) == getattr(standard, name), name
        assert updater.get_optimizer('main').t == standard.get_optimizer('main').t
        assert updater.get_optimizer('main').epoch == standard.get_optimizer('main').epoch


@pytest.mark.parametrize(
    'dtype,scaling,tolerance',
    [('f4', {'scale': 128.0}, 1e-6), ('f4', {'interval': 2}, 1e-6), ('f2', {'scale': 128.0}, 2e-3)],
)
def test_loss_scaling(dtype, scaling, tolerance):
    sgd = lambda: optimizers.SGD(0.1)
    model, updater = make(4, 3, optimizer=sgd, dtype=dtype, scaling=scaling)
    reference, standard = make(1, 12, optimizer=sgd)
    for _ in range(3):
        updater.update()
        standard.update()
    assert next(model.params()).dtype == dtype
    assert_equal_models(model, reference, rtol=tolerance, atol=tolerance)
    assert all(param._loss_scale is None for param in model.params())


def test_loss_scale_argument():
    model, updater = make(4, 3, loss_scale=64.0)
    reference, standard = make(1, 12)
    updater.update()
    standard.update()
    assert updater.get_optimizer('main')._loss_scale == 64.0
    assert_equal_models(model, reference, rtol=1e-5)


@pytest.mark.filterwarnings('ignore:Non finite number')
def test_overflow_of_one_batch_skips_the_update():
    model, updater = make(2, 3, scaling={'interval': 10})
    before = send(model)
    updater.converter = chainer.dataset.converter()(
        lambda batch, device: tuple(
            array * 1e30 for array in chainer.dataset.concat_examples(batch, device)
        )
    )
    with numpy.errstate(over='ignore', invalid='ignore'):
        updater.update()
    numpy.testing.assert_array_equal(send(model)['/l/W'], before['/l/W'])


def test_gradient_clipping_sees_the_mean():
    model, updater = make(4, 3)
    reference, standard = make(1, 12)
    for u in updater, standard:
        u.get_optimizer('main').add_hook(chainer.optimizer_hooks.GradientClipping(0.05))
    updater.update()
    standard.update()
    assert_equal_models(model, reference, rtol=1e-5)


def test_batches_of_different_sizes():
    """24 examples by 7: the last update has one batch of 7 and one of 3."""
    model, updater = make(2, 7, repeat=False)
    reference, standard = make(1, 14, repeat=False)
    for _ in range(2):
        updater.update()
        standard.update()
    assert_equal_models(model, reference, rtol=1e-5)
    assert updater.epoch == 1 and updater.is_new_epoch
    with pytest.raises(StopIteration):
        updater.update()


def test_end_of_an_epoch_within_an_update():
    _, updater = make(4, 5)  # 20 examples for an update, 24 for an epoch
    optimizer = updater.get_optimizer('main')
    assert updater.previous_epoch_detail is None
    seen = []
    for _ in range(3):
        updater.update()
        seen.append((updater.is_new_epoch, optimizer.epoch, updater.previous_epoch_detail))
    assert seen == [(False, 0, 0), (True, 1, 20 / 24), (True, 2, pytest.approx(40 / 24))]

    _, updater = make(5, 12)  # several epochs in one update
    updater.update()
    assert updater.get_optimizer('main').epoch == updater.epoch == 2
    _, updater = make(5, 12, auto_new_epoch=False)
    updater.update()
    assert updater.get_optimizer('main').epoch == 0


def test_reported_values_are_averaged(tmp_path):
    _, updater = make(2, 8, repeat=False)
    _, large = make(1, 16, repeat=False)
    seen = []
    for u in updater, large:
        trainer = training.Trainer(u, (1, 'iteration'), out=str(tmp_path))
        trainer.extend(lambda trainer: seen.append(dict(trainer.observation)), name='look')
        trainer.run()
    assert seen[0]['main/loss'] == pytest.approx(seen[1]['main/loss'])
    assert seen[0]['main/n'] == 8
    assert seen[0]['main/first'] == pytest.approx((DATA[0][0].sum() + DATA[8][0].sum()) / 2)
    assert seen[0]['main/text'] == '8'


def test_arguments():
    with pytest.raises(ValueError, match='accumulation_steps must be positive, but is 0'):
        make(0, 3)
    with pytest.raises(TypeError, match='devise'):
        make(1, 3, devise=0)


@pytest.mark.parametrize('scaling', [None, {'interval': 3}])
def test_resume(tmp_path, scaling):
    def run(folder, n_iterations, resume=None):
        model, updater = make(3, 5, scaling=scaling, shuffle=True)
        trainer = training.Trainer(updater, (n_iterations, 'iteration'), out=str(tmp_path / folder))
        trainer.extend(extensions.LogReport(trigger=(2, 'iteration')))
        trainer.extend(extensions.snapshot(filename='last'), trigger=(1, 'iteration'))
        if resume is not None:
            serializers.load_npz(resume, trainer)
        trainer.run()
        return {key: value.tolist() for key, value in serializers.npz.serialize(updater).items()}

    expected = run('whole', 7)
    run('part', 4)
    assert run('rest', 7, tmp_path / 'part' / 'last') == expected


def test_snapshot_of_a_standard_updater(tmp_path):
    _, large = make(1, 12)
    standard = training.StandardUpdater(large.get_iterator('main'), large.get_optimizer('main'))
    standard.update()
    serializers.save_npz(tmp_path / 'x', standard)
    model, updater = make(4, 3)
    serializers.load_npz(tmp_path / 'x', updater)
    assert updater.iteration == 1 and updater.epoch_detail == 0.5
    assert updater.previous_epoch_detail == 0 and not updater.is_new_epoch
    updater.update()
    standard.update()
    assert_equal_models(model, standard.get_optimizer('main').target, rtol=1e-5)
