from unittest import mock

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators, optimizers, serializers, training
from chainer.training.updaters import multiprocess_parallel_updater
from tests.helpers.devices import CHX

X = numpy.random.RandomState(0).rand(12, 3).astype('f')
Y = numpy.random.RandomState(1).rand(12, 2).astype('f')


class Regressor(chainer.Chain):
    def __init__(self, lazy=False):
        super().__init__()
        with self.init_scope():
            self.l = L.Linear(None if lazy else 3, 2)  # noqa: E741

    def forward(self, x, y):
        loss = F.mean_squared_error(self.l(x), y)
        chainer.report({'loss': loss}, self)
        return loss


def make_iterator(batch_size=4, **kwargs):
    data = list(zip(X, Y))
    return iterators.SerialIterator(data, batch_size, shuffle=False, **kwargs)


def params(model):
    return {
        name: chainer.get_device('@numpy').send(param.array) for name, param in model.namedparams()
    }


def assert_equal_params(a, b, **kwargs):
    a, b = params(a), params(b)
    assert set(a) == set(b)
    for name in a:
        numpy.testing.assert_allclose(a[name], b[name], **kwargs)


def saved(updater):
    return {key: value.copy() for key, value in serializers.npz.serialize(updater).items()}


class TestStandardUpdater:
    def test_update(self):
        model = Regressor()
        reference = model.copy(mode='copy')
        optimizer = optimizers.SGD(0.1).setup(model)
        updater = training.StandardUpdater(make_iterator(), optimizer)
        assert updater.iteration == 0
        updater.update()
        # by hand
        loss = reference(X[:4], Y[:4])
        reference.cleargrads()
        loss.backward()
        for param in reference.params():
            param.array -= 0.1 * param.grad
        assert_equal_params(model, reference, rtol=1e-6)
        assert updater.iteration == 1
        assert (updater.epoch, updater.is_new_epoch) == (0, False)
        assert updater.epoch_detail == pytest.approx(1 / 3)
        assert updater.previous_epoch_detail == 0

    def test_attributes(self):
        iterator = make_iterator()
        optimizer = optimizers.SGD().setup(Regressor())
        updater = training.StandardUpdater(
            {'main': iterator, 'other': iterator}, {'main': optimizer}
        )
        assert updater.get_iterator('other') is iterator
        assert updater.get_optimizer('main') is optimizer
        assert updater.get_all_optimizers() == {'main': optimizer}
        assert updater.device is None and updater.input_device is None
        with pytest.raises(KeyError):
            updater.get_iterator('x')
        with pytest.raises(TypeError, match='devise'):
            training.StandardUpdater(iterator, optimizer, devise=0)

    @pytest.mark.parametrize('converted', [(1, 2), {'a': 1, 'b': 2}, numpy.zeros(1), [1, 2]])
    @pytest.mark.parametrize('own_loss', [True, False])
    def test_arguments(self, converted, own_loss):
        optimizer = mock.Mock()
        loss_func = mock.Mock() if own_loss else None
        updater = training.StandardUpdater(
            make_iterator(),
            optimizer,
            converter=lambda batch, device: converted,
            loss_func=loss_func,
        )
        updater.update()
        (func, *args), kwargs = optimizer.update.call_args
        assert func is (loss_func or optimizer.target)
        if isinstance(converted, tuple):
            assert (tuple(args), kwargs) == (converted, {})
        elif isinstance(converted, dict):
            assert (args, kwargs) == ([], converted)
        else:
            assert args[0] is converted

    @pytest.mark.parametrize('auto', [True, False])
    def test_new_epoch(self, auto):
        optimizer = optimizers.SGD().setup(Regressor())
        updater = training.StandardUpdater(make_iterator(), optimizer, auto_new_epoch=auto)
        for _ in range(6):
            updater.update()
        assert optimizer.epoch == (2 if auto else 0)

    def test_loss_scale(self):
        results = []
        for scale in None, 64.0:
            numpy.random.seed(0)
            model = Regressor()
            optimizer = optimizers.SGD(0.1).setup(model)
            training.StandardUpdater(make_iterator(), optimizer, loss_scale=scale).update()
            results.append(model)
        assert_equal_params(*results, rtol=1e-5)

    @pytest.mark.parametrize(
        'device',
        [
            '@numpy',
            -1,
            pytest.param(CHX[1], marks=pytest.mark.chainerx),
            pytest.param(0, marks=pytest.mark.gpu),
        ],
    )
    def test_device(self, device):
        model = Regressor()
        optimizer = optimizers.SGD().setup(model)
        updater = training.StandardUpdater(make_iterator(), optimizer, device=device)
        expected = chainer.get_device(device)
        assert updater.device == updater.input_device == model.device == expected
        updater.update()

    @pytest.mark.chainerx
    def test_input_device(self):
        model = Regressor()
        seen = []
        updater = training.StandardUpdater(
            make_iterator(),
            optimizers.SGD().setup(model),
            input_device=CHX[1],
            loss_func=lambda x, y: (
                seen.append(x) or model(*chainer.get_device('@numpy').send((x, y)))
            ),
        )
        updater.update()
        assert model.device == chainer.get_device('@numpy')
        assert chainer.backend.get_device_from_array(seen[0]) == chainer.get_device(CHX[1])

    def test_finalize(self):
        iterator = mock.Mock()
        training.StandardUpdater(iterator, mock.Mock()).finalize()
        iterator.finalize.assert_called_once_with()

    def test_serialize(self):
        def new():
            optimizer = optimizers.MomentumSGD().setup(Regressor())
            return training.StandardUpdater(make_iterator(), optimizer)

        updater = new()
        for _ in range(4):
            updater.update()
        target = saved(updater)
        assert {
            'iteration',
            'iterator:main/epoch',
            'model:main/l/W',
            'optimizer:main/t',
            'optimizer:main/l/W/v',
        } <= set(target)
        resumed = new()
        resumed.serialize(serializers.NpzDeserializer(target))
        assert (resumed.iteration, resumed.epoch) == (4, 1)
        for u in updater, resumed:
            u.update()
        assert_equal_params(
            updater.get_optimizer('main').target, resumed.get_optimizer('main').target, rtol=0
        )


DEVICES = [
    {'main': '@numpy', 'second': '@numpy'},
    {'first': '@numpy', 'main': '@numpy', 'last': '@numpy'},
    pytest.param({'main': CHX[0], 'second': CHX[1]}, marks=pytest.mark.chainerx),
    pytest.param({'main': '@numpy', 'second': CHX[3]}, marks=pytest.mark.chainerx),
    pytest.param({'main': 0, 'second': 1}, marks=pytest.mark.multi_gpu(2)),
]


class TestParallelUpdater:
    def reference(self, model, n, n_updates, lr):
        """Updates with the sum of the losses of the parts, on one device."""
        model = model.copy(mode='copy')
        optimizer = optimizers.SGD(lr).setup(model)
        iterator = make_iterator(5)
        for _ in range(n_updates):
            batch = iterator.next()
            xs, ys = zip(*batch)
            x, y = numpy.stack(xs), numpy.stack(ys)
            optimizer.update(lambda x=x, y=y: sum(model(x[i::n], y[i::n]) for i in range(n)))
        return model

    @pytest.mark.parametrize('devices', DEVICES)
    def test_update(self, devices):
        model = Regressor()
        expected = self.reference(model, len(devices), 5, 0.1)
        optimizer = optimizers.SGD(0.1).setup(model)
        updater = training.updaters.ParallelUpdater(make_iterator(5), optimizer, devices=devices)
        for _ in range(5):
            updater.update()
        for name, copy in updater._models.items():
            assert copy.device == chainer.get_device(devices[name])
            assert_equal_params(copy, expected, rtol=1e-5)
        assert updater._models['main'] is model
        assert updater.iteration == 5 and optimizer.epoch == 2

    def test_equal_parts_give_the_result_of_one_device(self):
        model = Regressor()
        single = model.copy(mode='copy')
        updaters = [
            training.ParallelUpdater(
                make_iterator(),
                optimizers.SGD(0.1 / 2).setup(model),
                devices={'main': '@numpy', 'second': '@numpy'},
            ),
            training.StandardUpdater(make_iterator(), optimizers.SGD(0.1).setup(single)),
        ]
        for _ in range(4):
            for updater in updaters:
                updater.update()
        assert_equal_params(model, single, rtol=1e-5)

    def test_uninitialized(self):
        # The first update must see the same initial parameters everywhere.
        model = Regressor(lazy=True)
        updater = training.ParallelUpdater(
            make_iterator(5),
            optimizers.SGD(0.0).setup(model),
            devices={'a': '@numpy', 'main': '@numpy'},
        )
        seen = []
        for copy in updater._models.values():
            copy.forward = lambda x, y, copy=copy: (
                seen.append((copy, copy.l(x).shape)) or F.sum(copy.l.W.array - copy.l.W)
            )
        updater.update()
        assert [copy for copy, _ in seen][0] is model
        assert_equal_params(*updater._models.values(), rtol=0)

    def test_resumed(self):
        def new():
            numpy.random.seed(len(made))
            made.append(
                training.ParallelUpdater(
                    make_iterator(),
                    optimizers.SGD(0.1).setup(Regressor()),
                    devices={'main': '@numpy', 'second': '@numpy'},
                )
            )
            return made[-1]

        made = []
        updater = new()
        updater.update()
        target = saved(updater)
        resumed = new()
        resumed.serialize(serializers.NpzDeserializer(target))
        for u in made:
            u.update()
        assert_equal_params(made[0]._models['second'], made[1]._models['second'], rtol=0)

    def test_small_batch(self):
        model = Regressor()
        expected = self.reference(model, 1, 0, 0.1)
        updater = training.ParallelUpdater(
            make_iterator(1),
            optimizers.SGD(0.1).setup(model),
            devices={'main': '@numpy', 'second': '@numpy'},
        )
        optimizer = optimizers.SGD(0.1).setup(expected)
        updater.update()
        optimizer.update(expected, X[:1], Y[:1])
        assert_equal_params(model, expected, rtol=1e-6)

    def test_loss_func_and_models(self):
        main, other = Regressor(), Regressor()
        losses = []

        def loss_func(x, y):
            losses.append(len(x))
            return main(x, y)

        training.ParallelUpdater(
            make_iterator(),
            optimizers.SGD().setup(main),
            models={'main': main, 'b': other},
            loss_func=loss_func,
        ).update()
        assert losses == [2, 2]
        assert_equal_params(main, other, rtol=0)

    def test_reports(self, tmp_path):
        updater = training.ParallelUpdater(
            make_iterator(),
            optimizers.SGD().setup(Regressor()),
            devices={'main': '@numpy', 'second': '@numpy'},
        )
        trainer = training.Trainer(updater, (1, 'iteration'), out=str(tmp_path))
        trainer.run()
        assert set(trainer.observation) == {'main/loss', 'second/loss'}

    def test_errors(self):
        optimizer = optimizers.SGD().setup(Regressor())
        for models in None, {}:
            with pytest.raises(ValueError, match='either models or devices'):
                training.ParallelUpdater(make_iterator(), optimizer, models=models)
            training.ParallelUpdater(
                make_iterator(), optimizer, models=models, devices={'main': -1}
            ).update()
        with pytest.raises(KeyError, match='main'):
            training.ParallelUpdater(make_iterator(), optimizer, devices={'a': -1})
        with pytest.raises(KeyError, match='main'):
            training.ParallelUpdater(make_iterator(), optimizer, models={'a': Regressor()})
        with pytest.raises(KeyError, match='no device is given for the models: b'):
            training.ParallelUpdater(
                make_iterator(),
                optimizer,
                devices={'main': -1},
                models={'main': optimizer.target, 'b': Regressor()},
            )


class TestMultiprocessParallelUpdater:
    @pytest.mark.skipif(
        training.updaters.MultiprocessParallelUpdater.available(), reason='NCCL is there'
    )
    def test_unavailable(self):
        with pytest.raises(RuntimeError, match='NCCL is not enabled'):
            training.updaters.MultiprocessParallelUpdater(
                [make_iterator()], optimizers.SGD().setup(Regressor()), devices=[0]
            )

    @pytest.mark.parametrize(
        ('devices', 'message'),
        [
            (None, 'devices must be specified'),
            ([], 'devices must be specified'),
            (['@numpy'], 'GPUs of CuPy.*CpuDevice'),
            pytest.param(['native:0'], 'GPUs of CuPy.*native:0', marks=pytest.mark.chainerx),
            pytest.param([0, 1], '1 iterators are given for 2 devices', marks=pytest.mark.gpu),
        ],
    )
    def test_wrong_devices(self, devices, message, monkeypatch):
        monkeypatch.setattr(multiprocess_parallel_updater, '_nccl', lambda: True)
        with pytest.raises(ValueError, match=message):
            training.updaters.MultiprocessParallelUpdater(
                [make_iterator()], optimizers.SGD().setup(Regressor()), devices=devices
            )

    @pytest.mark.parametrize(
        'device',
        [
            '@numpy',
            pytest.param(CHX[0], marks=pytest.mark.chainerx),
            pytest.param('@cupy:0', marks=pytest.mark.gpu),
        ],
    )
    def test_gather_scatter(self, device):
        module = multiprocess_parallel_updater
        model, other = Regressor(), Regressor()
        for link in model, other:
            link.to_device(device)
        other.cleargrads()
        model.cleargrads()
        model(*chainer.get_device(device).send((X, Y))).backward()
        assert module.size_num_grads(model) == (8, 2)
        assert module.gather_params(model).shape == (8,)
        module.scatter_params(other, module.gather_params(model))
        module.scatter_grads(other, module.gather_grads(model))
        assert_equal_params(model, other, rtol=0)
        cpu = chainer.get_device('@numpy')
        for a, b in zip(model.params(), other.params()):
            numpy.testing.assert_array_equal(cpu.send(a.grad), cpu.send(b.grad))
        with pytest.raises(ValueError, match=r'shape \(8,\)'):
            module.scatter_params(other, module.gather_params(model)[:3])
