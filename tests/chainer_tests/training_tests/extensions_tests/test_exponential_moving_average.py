import numpy
import pytest
from helpers.functions import GPUS

import chainer
import chainer.links as L
from chainer import iterators, optimizers, serializers, testing, training
from chainer.serializers import _storage
from chainer.training import extensions
from tests.helpers.devices import CHX

DEVICES = [
    '@numpy',
    pytest.param(CHX[0], marks=pytest.mark.chainerx),
    *GPUS,
]


class Model(chainer.Chain):
    """Reports its parameter."""

    def __init__(self, n_in=2):
        super().__init__()
        with self.init_scope():
            self.l = L.Linear(n_in, 1)  # noqa: E741

    def forward(self, x):
        chainer.report({'w': self.l.W.array[0, 0].copy()}, self)
        return chainer.functions.sum(self.l(x))


def numbers(array):
    return chainer.get_device('@numpy').send(array)


def set_all(model, value):
    for param in model.params():
        with chainer.using_device(param.device):
            param.array[...] = value


@pytest.mark.parametrize('device', DEVICES)
def test_values(device):
    model = Model()
    model.to_device(device)
    extension = extensions.ExponentialMovingAverage(model, 0.75)
    assert extension.averages == {}
    expected = None
    for value in 1.0, 5.0, -2.0, 0.0:
        set_all(model, value)
        extension()
        expected = value if expected is None else 0.75 * expected + 0.25 * value
        assert extension.averages.keys() == {'/l/W', '/l/b'}
        for name, param in model.namedparams():
            average = extension.averages[name]
            assert param.device.is_array_supported(average)
            numpy.testing.assert_allclose(
                numbers(average), numpy.full(param.shape, expected), rtol=1e-6
            )
            assert (numbers(param.array) == value).all()
    assert expected == 0.75 * (0.75 * 2 - 0.25 * 2)


def test_warmup():
    model = Model()
    extension = extensions.ExponentialMovingAverage(model, 0.4, warmup=True)
    expected = None
    for t in range(10):
        set_all(model, t)
        extension()
        decay = min(0.4, (1 + t) / (10 + t))
        expected = t if expected is None else decay * expected + (1 - decay) * t
        assert extension.averages['/l/b'][0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize('device', DEVICES)
def test_applied(device):
    model = Model()
    model.to_device(device)
    extension = extensions.ExponentialMovingAverage(model, 0.5)
    set_all(model, 3)
    with extension.applied():  # no average yet
        assert (numbers(model.l.W.array) == 3).all()
    extension()
    set_all(model, 1)
    extension()
    model.l.W.grad = (model.l.W * 7).array
    with extension.applied():
        assert (numbers(model.l.W.array) == 2).all()
        with extension.applied():
            assert (numbers(model.l.W.array) == 2).all()
        assert (numbers(model.l.W.array) == 2).all()
    assert (numbers(model.l.W.array) == 1).all()
    assert (numbers(model.l.W.grad) == 7).all()
    with pytest.raises(ZeroDivisionError), extension.applied():
        raise ZeroDivisionError
    assert (numbers(model.l.W.array) == 1).all()
    # Training goes on with the parameters.
    optimizer = optimizers.SGD(1.0).setup(model)
    x = model.device.send(numpy.ones((1, 2), 'f'))
    optimizer.update(model, x)
    assert (numbers(model.l.W.array) == 0).all()


def test_float16_is_averaged_in_float32():
    with chainer.using_config('dtype', numpy.float16):
        model = Model()
    extension = extensions.ExponentialMovingAverage(model, 0.9999)
    set_all(model, 1)
    extension()
    set_all(model, 2)
    for _ in range(10):
        extension()
    assert extension.averages['/l/W'].dtype == numpy.float32
    assert extension.averages['/l/W'][0, 0] == pytest.approx(2 - 0.9999**10)
    with extension.applied():
        assert model.l.W.dtype == numpy.float16


def test_parameters_initialized_late():
    model = Model(None)
    extension = extensions.ExponentialMovingAverage(model, 0.5)
    extension()
    assert extension.averages.keys() == {'/l/b'}
    model.l.W.initialize((1, 2))
    model.l.W.array[...] = 6
    with extension.applied():
        assert (model.l.W.array == 6).all()
    extension()
    assert (extension.averages['/l/W'] == 6).all()


def test_shared_parameters():
    model = chainer.Chain()
    with model.init_scope():
        model.a = Model()
        model.b = model.a
    extension = extensions.ExponentialMovingAverage(model, 0.5)
    set_all(model, 0)
    extension()
    set_all(model, 4)
    extension()
    with extension.applied():
        assert (model.b.l.W.array == 2).all()
    assert (model.a.l.W.array == 4).all()


@pytest.mark.parametrize('decay', [-0.1, 1, 2.0, float('nan')])
def test_bad_decay(decay):
    with pytest.raises(ValueError, match='decay must be'):
        extensions.ExponentialMovingAverage(Model(), decay)


def make_trainer(out, n_iterations, device='@numpy'):
    numpy.random.seed(0)
    model = Model()
    data = numpy.random.RandomState(1).rand(8, 2).astype('f')
    updater = training.StandardUpdater(
        iterators.SerialIterator(data, 2), optimizers.Adam().setup(model), device=device
    )
    trainer = training.Trainer(updater, (n_iterations, 'iteration'), out=str(out))
    average = extensions.ExponentialMovingAverage(model, 0.5)
    trainer.extend(average)

    def evaluator():
        return extensions.Evaluator(
            iterators.SerialIterator(data, 4, repeat=False, shuffle=False), model, device=device
        )

    trainer.extend(evaluator(), trigger=(1, 'iteration'))
    trainer.extend(average.wrap(evaluator()), name='average', trigger=(1, 'iteration'))
    trainer.extend(
        average.wrap(extensions.snapshot_object(model, 'average')), trigger=(1, 'iteration')
    )
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    trainer.extend(extensions.snapshot(filename='last'), trigger=(1, 'iteration'))
    return trainer, model, average


@pytest.mark.parametrize('device', DEVICES)
def test_in_trainer(tmp_path, device):
    trainer, model, average = make_trainer(tmp_path, 4, device)
    trainer.run()
    expected = None
    for entry in trainer.get_extension('LogReport').log:
        w = entry['validation/main/w']
        expected = w if expected is None else (expected + w) / 2
        assert entry['average/main/w'] == pytest.approx(expected, rel=1e-5)
    assert expected != w
    saved = Model()
    serializers.load_npz(tmp_path / 'average', saved)
    numpy.testing.assert_array_equal(saved.l.W.array, numbers(average.averages['/l/W']))
    assert numbers(model.l.W.array)[0, 0] == pytest.approx(w)


@pytest.mark.parametrize('device', DEVICES)
def test_resume(tmp_path, device):
    trainer, _, average = make_trainer(tmp_path / 'whole', 6, device)
    trainer.run()
    expected = {name: numbers(array) for name, array in average.averages.items()}
    make_trainer(tmp_path / 'part', 3, device)[0].run()
    resumed, _, average = make_trainer(tmp_path / 'rest', 6, device)
    serializers.load_npz(tmp_path / 'part' / 'last', resumed)
    resumed.run()
    for name, array in average.averages.items():
        numpy.testing.assert_array_equal(numbers(array), expected[name])


def test_load_before_the_first_call(tmp_path):
    model = Model()
    serializers.save_npz(tmp_path / 'x', extensions.ExponentialMovingAverage(model))
    extension = extensions.ExponentialMovingAverage(model)
    extension()
    serializers.load_npz(tmp_path / 'x', extension)
    assert extension.averages == {}


def test_a_failing_load_changes_nothing(tmp_path):
    trainer, _, average = make_trainer(tmp_path, 2)
    trainer.run()
    with numpy.load(tmp_path / 'last', allow_pickle=True) as npz:
        arrays = dict(npz)
    del arrays['_snapshot_elapsed_time']
    trainer, _, average = make_trainer(tmp_path, 2)
    average()
    before = average.averages['/l/W'].copy()
    with pytest.raises(KeyError):
        _storage.load_all_or_nothing(serializers.NpzDeserializer(arrays), trainer)
    numpy.testing.assert_array_equal(average.averages['/l/W'], before)


def test_wrap_any_extension(tmp_path):
    calls = []
    model = Model()
    average = extensions.ExponentialMovingAverage(model, 0.5)
    set_all(model, 2)
    average()
    set_all(model, 1)

    class Base(training.Extension):
        trigger = 3, 'iteration'
        priority = 7

        def __call__(self, trainer):
            calls.append(('call', model.l.b.array[0]))

        def initialize(self, trainer):
            calls.append('initialize')

        def finalize(self):
            calls.append('finalize')

        def on_error(self, trainer, exc, tb):
            calls.append(('on_error', model.l.b.array[0]))

        def serialize(self, serializer):
            calls.append(serializer('x', 1))

    wrapped = average.wrap(Base())
    assert (wrapped.trigger, wrapped.priority, wrapped.default_name) == (
        (3, 'iteration'),
        7,
        'Base',
    )
    wrapped.initialize(None)
    wrapped(None)
    wrapped.on_error(None, None, None)
    wrapped.serialize(serializers.DictionarySerializer())
    wrapped.finalize()
    assert calls == ['initialize', ('call', 2), ('on_error', 2), 1, 'finalize']

    def function(trainer):
        calls.append(model.l.b.array[0])

    wrapped = average.wrap(function)
    trainer = testing.get_trainer_with_mock_updater((1, 'iteration'))
    trainer.out = str(tmp_path)
    trainer.extend(wrapped)
    trainer.run()
    assert calls[-1] == 2
    assert trainer.get_extension('function') is wrapped
