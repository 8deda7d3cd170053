import os
import stat
import time
from unittest import mock

import numpy
import pytest

import chainer
from chainer import serializers, testing, training


@pytest.fixture
def trainer(tmp_path):
    trainer = testing.get_trainer_with_mock_updater((3, 'iteration'), iter_per_epoch=2)
    trainer.out = str(tmp_path / 'out')
    return trainer


class Recorder(training.Extension):
    def __init__(self, log, label):
        self.log = log
        self.label = label

    def __call__(self, trainer):
        self.log.append((self.label, trainer.updater.iteration))

    def initialize(self, trainer):
        self.log.append((self.label, 'initialize'))

    def finalize(self):
        self.log.append((self.label, 'finalize'))

    def on_error(self, trainer, exc, tb):
        self.log.append((self.label, exc))


class TestExtend:
    def test_names(self, trainer):
        def function(trainer):
            pass

        class Ext(training.Extension):
            pass

        class Named(training.Extension):
            name = 'own'

        exts = [Ext(), Ext(), Named(), function]
        for ext in exts:
            trainer.extend(ext)
        trainer.extend(function, name='given')
        assert [
            trainer.get_extension(name) for name in ('Ext', 'Ext_1', 'own', 'function', 'given')
        ] == [*exts, function]
        assert exts[1].name == 'Ext_1'
        with pytest.raises(ValueError, match='extension x not found'):
            trainer.get_extension('x')

    def test_errors(self, trainer):
        with pytest.raises(ValueError, match='prohibited'):
            trainer.extend(Recorder([], 0), name='training')
        with pytest.raises(TypeError, match='name is not given'):
            trainer.extend(mock.Mock(spec=['__call__']))
        with pytest.raises(ValueError, match='invoke_before_training'):
            trainer.extend(Recorder([], 0), invoke_before_training=True)
        with pytest.raises(TypeError, match='invoke'):
            trainer.extend(Recorder([], 0), invoke=True)

    def test_constructor(self):
        def function(trainer):
            pass

        ext = Recorder([], 0)
        trainer = testing.get_trainer_with_mock_updater(
            extensions=[ext, (function, 'name', (2, 'epoch'), 7)]
        )
        assert trainer.get_extension('Recorder') is ext
        entry = trainer._extensions['name']
        assert (entry.extension, entry.priority) == (function, 7)
        assert str(entry.trigger) == "IntervalTrigger(2, 'epoch')"


class TestRun:
    def test_order(self, trainer):
        log = []
        trainer.extend(Recorder(log, 'reader'))
        trainer.extend(Recorder(log, 'low'), priority=-1)
        trainer.extend(Recorder(log, 'reader2'), trigger=(2, 'iteration'))
        trainer.extend(Recorder(log, 'writer'), priority=training.PRIORITY_WRITER)
        trainer.extend(Recorder(log, 'editor'), priority=training.PRIORITY_EDITOR)
        trainer.run()
        labels = ['writer', 'editor', 'reader', 'reader2', 'low']
        assert log == (
            [(label, 'initialize') for label in labels]
            + [(label, i) for i in (1, 2, 3) for label in labels if i == 2 or label != 'reader2']
            + [(label, 'finalize') for label in labels]
        )
        assert trainer.updater.update_core.call_count == 3
        trainer.updater.finalize.assert_called_once_with()
        assert os.path.isdir(trainer.out)

    def test_twice(self, trainer):
        trainer.run()
        with pytest.raises(RuntimeError, match='multiple times'):
            trainer.run()

    def test_call_before_training(self, trainer):
        log = []
        trainer.extend(Recorder(log, 'a'), trigger=(3, 'iteration'), call_before_training=True)
        trainer.extend(Recorder(log, 'b'), trigger=(3, 'iteration'))
        assert trainer.is_before_training
        trainer.run()
        assert [entry for entry in log if isinstance(entry[1], int)] == [
            ('a', 0),
            ('a', 3),
            ('b', 3),
        ]
        assert not trainer.is_before_training

    def test_no_call_when_resumed(self, trainer):
        log = []
        trainer.extend(Recorder(log, 'a'), trigger=(3, 'iteration'), call_before_training=True)
        trainer.updater.iteration = 2
        trainer.run()
        assert [entry[1] for entry in log] == ['initialize', 3, 'finalize']

    def test_observation(self, trainer):
        seen = []

        @training.make_extension(priority=training.PRIORITY_WRITER)
        def report(trainer):
            chainer.report({'x': trainer.updater.iteration})

        trainer.extend(report)
        trainer.extend(lambda trainer: seen.append(trainer.observation), name='see')
        trainer.run()
        assert seen == [{'x': 1}, {'x': 2}, {'x': 3}]

    def test_finished_trigger_is_not_initialized(self, trainer):
        log = []
        trigger = training.triggers.OnceTrigger()
        trigger(trainer)
        trainer.extend(Recorder(log, 'a'), trigger=trigger)
        trainer.run()
        assert log == [('a', 'finalize')]

    def test_elapsed_time(self, trainer):
        with pytest.raises(RuntimeError, match='not been started'):
            trainer.elapsed_time
        times = []
        trainer.extend(lambda trainer: times.append(trainer.elapsed_time), name='time')
        trainer.run()
        assert 0 < times[0] < times[1] < times[2] < trainer.elapsed_time
        end = trainer.elapsed_time
        time.sleep(0.001)
        assert trainer.elapsed_time == end

    @pytest.mark.skipif(os.name == 'nt' or os.getuid() == 0, reason='root may write anywhere')
    def test_read_only_out(self, trainer, tmp_path):
        tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
        try:
            with pytest.raises(PermissionError, match='out'):
                trainer.run()
        finally:
            tmp_path.chmod(stat.S_IRWXU)
        assert trainer.updater.update_core.call_count == 0

    def test_out_is_a_file(self, trainer, tmp_path):
        (tmp_path / 'out').touch()
        with pytest.raises(FileExistsError):
            trainer.run()
        assert trainer.updater.update_core.call_count == 0


class TestErrors:
    @pytest.mark.parametrize('show', [True, False])
    def test_failing_update(self, trainer, capsys, show):
        log = []
        error = ZeroDivisionError('reason')
        trainer.extend(Recorder(log, 'a'))
        trainer.updater.update_core.side_effect = [None, error]
        with pytest.raises(ZeroDivisionError, match='reason'):
            trainer.run(show_loop_exception_msg=show)
        assert log == [('a', 'initialize'), ('a', 1), ('a', error), ('a', 'finalize')]
        trainer.updater.finalize.assert_called_once_with()
        lines = capsys.readouterr().err.splitlines()
        if show:
            assert lines[:2] == [
                'Exception in main training loop: reason',
                'Traceback (most recent call last):',
            ]
            assert lines[-1] == (
                'Will finalize trainer extensions and updater before reraising the exception.'
            )
        else:
            assert lines == []

    def test_failing_extension(self, trainer):
        log = []
        trainer.extend(Recorder(log, 'a'))

        @training.make_extension(trigger=(2, 'iteration'))
        def fail(trainer):
            raise KeyError('x')

        trainer.extend(fail)
        with pytest.raises(KeyError):
            trainer.run()
        assert [entry[1] for entry in log if entry[1] != 'initialize'][:2] == [1, 2]
        assert log[-1] == ('a', 'finalize')

    def test_failing_handler(self, trainer, capsys):
        log = []

        class Bad(Recorder):
            def on_error(self, trainer, exc, tb):
                raise RuntimeError('handler')

        trainer.extend(Bad(log, 'bad'))
        trainer.extend(Recorder(log, 'good'))
        error = ValueError('first')
        trainer.updater.update_core.side_effect = error
        with pytest.raises(ValueError, match='first'):
            trainer.run()
        assert ('good', error) in log
        assert 'Exception in error handler: handler\n' in capsys.readouterr().err

    def test_failing_finalizer(self, trainer):
        log = []

        class Bad(Recorder):
            def finalize(self):
                raise RuntimeError('finalizer')

        trainer.extend(Bad(log, 'bad'))
        trainer.extend(Recorder(log, 'good'))
        with pytest.raises(RuntimeError, match='finalizer'):
            trainer.run()
        assert log[-1] == ('good', 'finalize')
        trainer.updater.finalize.assert_called_once_with()

    def test_failing_update_and_finalizer(self, trainer):
        trainer.updater.update_core.side_effect = ValueError('first')
        trainer.updater.finalize.side_effect = RuntimeError('second')
        with pytest.raises(ValueError, match='first'):
            trainer.run(show_loop_exception_msg=False)

    def test_keyboard_interrupt(self, trainer, capsys):
        log = []
        trainer.extend(Recorder(log, 'a'))
        trainer.updater.update_core.side_effect = KeyboardInterrupt
        with pytest.raises(KeyboardInterrupt):
            trainer.run()
        assert log == [('a', 'initialize'), ('a', 'finalize')]
        assert capsys.readouterr().err == ''

    @pytest.mark.parametrize('error', [KeyboardInterrupt, ValueError])
    def test_run_again(self, trainer, error, monkeypatch):
        """What was interrupted, e.g. in a notebook, goes on."""
        now = [0.0]
        monkeypatch.setattr(training.trainer.time, 'perf_counter', lambda: now[0])

        def tick(trainer):
            now[0] += 1
            if trainer.updater.iteration == 2 and not interrupted:
                interrupted.append(True)
                raise error

        interrupted = []
        trainer.extend(tick)
        with pytest.raises(error):
            trainer.run(show_loop_exception_msg=False)
        assert trainer.elapsed_time == trainer.updater.iteration == 2
        now[0] += 100
        trainer.run()
        assert trainer.elapsed_time == trainer.updater.iteration == 3
        with pytest.raises(RuntimeError, match='multiple times'):
            trainer.run()


class TestSerialize:
    def test_random_states(self, trainer):
        trainer.updater.serialize = lambda serializer: None
        targets = []
        trainer.extend(
            lambda trainer: targets.append(serializers.npz.serialize(trainer)), name='save'
        )
        trainer.run()
        import random

        numpy.random.randn()  # leaves a cached number
        random.gauss(0, 1)
        with chainer.using_config('exact_resume', 'always'):
            target = serializers.npz.serialize(trainer)
        expected = numpy.random.randn(3).tolist(), random.gauss(0, 1), random.random()
        trainer.serialize(serializers.NpzDeserializer(target))
        assert (numpy.random.randn(3).tolist(), random.gauss(0, 1), random.random()) == expected

    def test_without_random_states(self, trainer):
        trainer.updater.serialize = lambda serializer: None
        trainer.run()
        target = serializers.npz.serialize(trainer)
        assert not any('random' in key for key in target)
        before = numpy.random.get_state()[1].tolist()
        for strict in True, False:
            trainer.serialize(serializers.NpzDeserializer(target, strict=strict))
        assert numpy.random.get_state()[1].tolist() == before

    def test_elapsed_time(self, trainer, tmp_path):
        trainer.updater.serialize = lambda serializer: None
        trainer.run()
        target = serializers.npz.serialize(trainer)
        target['_snapshot_elapsed_time'] = numpy.array(100.0)
        other = testing.get_trainer_with_mock_updater((1, 'iteration'))
        other.out = str(tmp_path)
        other.updater.serialize = lambda serializer: None
        other.serialize(serializers.NpzDeserializer(target))
        other.run()
        assert 100 < other.elapsed_time < 101


class TestExtension:
    def test_defaults(self):
        ext = training.Extension()
        assert (ext.trigger, ext.priority, ext.name) == ((1, 'iteration'), 100, None)
        assert ext.default_name == 'Extension'
        with pytest.raises(NotImplementedError):
            ext(None)
        with pytest.raises(NotImplementedError, match='invoke_before_training'):
            ext.invoke_before_training
        with pytest.raises(AttributeError, match='Extension object has no attribute x'):
            ext.x

    def test_make_extension(self):
        initializer, finalizer, on_error = object(), object(), object()

        @training.make_extension(
            trigger=(2, 'epoch'),
            default_name='name',
            priority=5,
            finalizer=finalizer,
            initializer=initializer,
            on_error=on_error,
        )
        def function(trainer):
            return 3

        assert (function.trigger, function.default_name, function.priority) == (
            (2, 'epoch'),
            'name',
            5,
        )
        assert function.initialize is initializer
        assert function.finalize is finalizer
        assert function.on_error is on_error
        assert function(None) == 3

    def test_make_extension_defaults(self):
        @training.make_extension()
        def function(trainer):
            pass

        assert (function.trigger, function.default_name, function.priority) == (
            (1, 'iteration'),
            'function',
            100,
        )
        with pytest.raises(ValueError, match='invoke_before_training'):
            training.make_extension(invoke_before_training=True)
        with pytest.raises(TypeError, match='other'):
            training.make_extension(other=True)
