import numpy
import pytest

import chainer
from chainer import serializers, testing, training
from chainer.training import triggers


def make_trainer(iter_per_epoch=4):
    return testing.get_trainer_with_mock_updater(None, iter_per_epoch)


def run(trainer, trigger, n, values=None):
    """Returns whether the trigger fired at each of n iterations."""
    fired = []
    for i in range(n):
        trainer.updater.update()
        trainer.observation = {} if values is None else {'x': values[i]}
        fired.append(bool(trigger(trainer)))
    return fired


def fires(*iterations, n):
    return [i in iterations for i in range(1, n + 1)]


def reload(trigger, new):
    new.serialize(serializers.NpzDeserializer(serializers.npz.serialize(trigger)))
    return new


class TestInterval:
    @pytest.mark.parametrize(
        'period,unit,expected',
        [
            (1, 'iteration', range(1, 9)),
            (3, 'iteration', (3, 6)),
            (1, 'epoch', (4, 8)),
            (2, 'epoch', (8,)),
            (0.5, 'epoch', (2, 4, 6, 8)),
            (100, 'epoch', ()),
        ],
    )
    @pytest.mark.parametrize('resume_at', range(0, 8, 3))
    def test_fires(self, period, unit, expected, resume_at):
        trainer = make_trainer()
        trigger = triggers.IntervalTrigger(period, unit)
        fired = run(trainer, trigger, resume_at)
        trigger = reload(trigger, triggers.IntervalTrigger(period, unit))
        fired += run(trainer, trigger, 8 - resume_at)
        assert fired == fires(*expected, n=8)

    def test_sparse_calls(self):
        trainer = make_trainer()
        trigger = triggers.IntervalTrigger(3, 'iteration')
        fired = []
        for i in range(1, 11):
            trainer.updater.update()
            if i in (1, 4, 5, 10):
                fired.append(trigger(trainer))
        assert fired == [False, True, False, True]

    def test_old_snapshot(self):
        trainer = make_trainer()
        run(trainer, lambda trainer: False, 2)
        for unit in 'iteration', 'epoch':
            trigger = triggers.IntervalTrigger(4 if unit == 'iteration' else 1, unit)
            with pytest.warns(UserWarning, match='is not saved'):
                trigger.serialize(serializers.NpzDeserializer({}))
            trainer.updater.iteration, trainer.updater.epoch_detail = 3, 0.75
            trainer.updater.previous_epoch_detail = 0.5
            assert not trigger(trainer)
            trainer.updater.iteration, trainer.updater.epoch_detail = 4, 1.0
            assert trigger(trainer)

    def test_attributes(self):
        trigger = triggers.IntervalTrigger(5, 'epoch')
        assert str(trigger) == "IntervalTrigger(5, 'epoch')"
        assert trigger.get_training_length() == (5, 'epoch')
        assert (trigger.period, trigger.unit) == (5, 'epoch')

    @pytest.mark.parametrize('cls', [triggers.IntervalTrigger, triggers.ManualScheduleTrigger])
    def test_unit(self, cls):
        with pytest.raises(ValueError, match="'epoch' or 'iteration'"):
            cls(1, 'second')


class TestManualSchedule:
    @pytest.mark.parametrize(
        'points,unit,expected',
        [
            ([2, 5], 'iteration', (2, 5)),
            (3, 'iteration', (3,)),
            ([1, 1.5], 'epoch', (4, 6)),
            ([0.3], 'epoch', (2,)),
        ],
    )
    @pytest.mark.parametrize('resume_at', range(0, 8, 2))
    def test_fires(self, points, unit, expected, resume_at):
        trainer = make_trainer()
        trigger = triggers.ManualScheduleTrigger(points, unit)
        fired = run(trainer, trigger, resume_at)
        assert trigger.finished == (resume_at >= max(expected))
        trigger = reload(trigger, triggers.ManualScheduleTrigger(points, unit))
        assert trigger.finished == (resume_at >= max(expected))
        fired += run(trainer, trigger, 8 - resume_at)
        assert fired == fires(*expected, n=8)
        assert trigger.finished


class TestOnce:
    @pytest.mark.parametrize('call_on_resume', [False, True])
    def test_fires(self, call_on_resume):
        trainer = make_trainer()
        trigger = triggers.OnceTrigger(call_on_resume)
        assert not trigger.finished
        assert run(trainer, trigger, 3) == [True, False, False]
        assert trigger.finished
        trigger = reload(trigger, triggers.OnceTrigger(call_on_resume))
        assert trigger.finished == (not call_on_resume)
        assert run(trainer, trigger, 2) == [call_on_resume, False]

    @pytest.mark.parametrize('call_on_resume', [False, True])
    def test_file_without_it(self, call_on_resume):
        trigger = triggers.OnceTrigger(call_on_resume)
        with pytest.warns(UserWarning, match='The flag is not saved'):
            trigger.serialize(chainer.serializers.NpzDeserializer({}))
        assert trigger.finished == (not call_on_resume)


def test_time():
    class Trainer:
        elapsed_time = 0

    trainer = Trainer()
    trigger = triggers.TimeTrigger(10)
    fired = []
    for elapsed in 1, 10.5, 12, 21, 22:
        trainer.elapsed_time = elapsed
        fired.append(trigger(trainer))
    assert fired == [False, True, False, True, False]
    trigger = reload(trigger, triggers.TimeTrigger(10))
    assert not trigger(trainer)
    trainer.elapsed_time = 31
    assert trigger(trainer)


class TestBestValue:
    @pytest.mark.parametrize(
        'cls,expected', [(triggers.MaxValueTrigger, (2, 6)), (triggers.MinValueTrigger, (2, 8))]
    )
    @pytest.mark.parametrize('resume_at', range(8))
    @pytest.mark.parametrize(
        'wrap', [float, numpy.float32, lambda v: chainer.Variable(numpy.array(v, 'f'))]
    )
    def test_fires(self, cls, expected, resume_at, wrap):
        # Means of two: 1, 1, 4, 0
        values = [wrap(v) for v in (0, 2, 2, 0, 7, 1, 1, -1)]
        trainer = make_trainer()
        trigger = cls('x', (2, 'iteration'))
        fired = run(trainer, trigger, resume_at, values)
        trigger = reload(trigger, cls('x', (2, 'iteration')))
        fired += run(trainer, trigger, 8 - resume_at, values[resume_at:])
        assert fired == fires(*expected, n=8)

    def test_compare(self):
        trigger = triggers.BestValueTrigger(
            'x', lambda best, new: new == best + 1, (1, 'iteration')
        )
        assert run(make_trainer(), trigger, 5, [3, 5, 4, 4, 5]) == [True, False, True, False, True]

    def test_missing(self):
        with pytest.raises(KeyError):
            run(make_trainer(), triggers.MinValueTrigger('y', (1, 'iteration')), 1, [1])


class TestEarlyStopping:
    @pytest.mark.parametrize(
        'mode,monitor,values',
        [
            ('min', 'x', [3, 2, 2.5, 1, 1, 2, 0, 0]),
            ('auto', 'x', [3, 2, 2.5, 1, 1, 2, 0, 0]),
            ('max', 'x', [-3, -2, -2.5, -1, -1, -2, 0, 0]),
        ],
    )
    @pytest.mark.parametrize('resume_at', [0, 3, 5])
    def test_fires(self, mode, monitor, values, resume_at):
        def new():
            return triggers.EarlyStoppingTrigger((1, 'iteration'), monitor, patience=2, mode=mode)

        trainer = make_trainer()
        trigger = new()
        fired = run(trainer, trigger, resume_at, values)
        with chainer.using_config('exact_resume', 'always'):
            trigger = reload(trigger, new())
        fired += run(trainer, trigger, 6 - resume_at, values[resume_at:])
        assert fired == fires(6, n=6)

    def test_accuracy(self, capsys):
        trigger = triggers.EarlyStoppingTrigger(monitor='main/accuracy', verbose=True)
        assert trigger.best == -float('inf')
        assert trigger.patience == 3
        assert capsys.readouterr().out == 'early stopping: operator is greater\n'

    def test_max_trigger(self):
        trigger = triggers.EarlyStoppingTrigger((1, 'iteration'), 'x', max_trigger=(2, 'iteration'))
        assert run(make_trainer(), trigger, 2, [1, 0]) == [False, True]
        assert trigger.get_training_length() == (2, 'iteration')

    def test_missing(self):
        trigger = triggers.EarlyStoppingTrigger((1, 'iteration'), 'y')
        with pytest.warns(UserWarning, match='y is not in observation'):
            assert run(make_trainer(), trigger, 1, [1]) == [False]

    def test_verbose(self, capsys):
        trigger = triggers.EarlyStoppingTrigger((1, 'iteration'), 'x', patients=1, verbose=True)
        with pytest.raises(TypeError, match="alias 'patients'"):
            triggers.EarlyStoppingTrigger(patience=1, patients=1)
        run(make_trainer(1), trigger, 2, [1, 2])
        assert capsys.readouterr().out == (
            'early stopping: operator is less\nEpoch 2: early stopping\n'
        )


def test_get_trigger():
    assert training.get_trigger(None)(None) is False
    assert training.get_trigger(len) is len
    trigger = training.get_trigger((2, 'epoch'))
    assert isinstance(trigger, training.IntervalTrigger)
    assert trigger.get_training_length() == (2, 'epoch')
    # Old module paths
    from chainer.training import trigger as old

    assert old.get_trigger is training.get_trigger
    assert old.IntervalTrigger is training.IntervalTrigger
