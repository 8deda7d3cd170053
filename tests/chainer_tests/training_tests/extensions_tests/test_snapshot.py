import os
import pickle
import threading
import zipfile

import numpy
import pytest
from helpers.file_formats import npy
from helpers.writers import WRITERS

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators, optimizers, serializers, training
from chainer.training import extensions
from chainer.training.extensions import _snapshot, snapshot_writers


class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l = L.Linear(3, 2)  # noqa: E741

    def forward(self, x):
        # Dropout uses random numbers.
        loss = F.sum(F.dropout(self.l(x)) ** 2)
        chainer.report({'loss': loss}, self)
        return loss


DATA = numpy.random.RandomState(0).rand(10, 3).astype('f')


def make_trainer(out, n_epochs=4, optimizer=None, iterator=iterators.SerialIterator, **kwargs):
    model = Model()
    optimizer = (optimizer or optimizers.Adam)().setup(model)
    updater = training.StandardUpdater(iterator(DATA, 4, **kwargs), optimizer)
    return training.Trainer(updater, (n_epochs, 'epoch'), out=str(out))


def plain(arrays):
    return {
        key: value.tolist()
        for key, value in arrays.items()
        if 'elapsed_time' not in key and '/_log' not in key
    }


def state(trainer):
    with chainer.using_config('exact_resume', 'always'):
        return plain(serializers.npz.serialize(trainer))


def read(path):
    # The files are our own; None is stored as an object.
    with numpy.load(path, allow_pickle=True) as npz:
        return dict(npz)


class TestSnapshot:
    def test_files(self, tmp_path):
        trainer = make_trainer(tmp_path)
        extension = extensions.snapshot()
        assert (extension.priority, extension.trigger) == (-100, (1, 'epoch'))
        trainer.extend(extension)
        trainer.run()
        assert sorted(os.listdir(tmp_path)) == [
            'snapshot_iter_10',
            'snapshot_iter_3',
            'snapshot_iter_5',
            'snapshot_iter_8',
        ]
        model = trainer.updater.get_optimizer('main').target
        with numpy.load(tmp_path / 'snapshot_iter_10') as npz:
            numpy.testing.assert_array_equal(npz['updater/model:main/l/W'], model.l.W.array)
            assert npz['updater/iteration'] == 10

    def test_object(self, tmp_path):
        trainer = make_trainer(tmp_path, 2)
        model = trainer.updater.get_optimizer('main').target
        trainer.extend(extensions.snapshot_object(model, 'm_{.updater.epoch}.npz'))
        trainer.extend(
            extensions.snapshot(
                target=model, filename=lambda trainer: f'f_{trainer.updater.iteration}'
            )
        )
        trainer.run()
        assert sorted(os.listdir(tmp_path)) == ['f_3', 'f_5', 'm_1.npz', 'm_2.npz']
        for name in 'f_5', 'm_2.npz':
            other = Model()
            serializers.load_npz(tmp_path / name, other)
            numpy.testing.assert_array_equal(other.l.W.array, model.l.W.array)

    def test_savefun(self, tmp_path):
        saved = []

        def savefun(path, target):
            saved.append(sorted(target))
            with open(path, 'w') as f:
                f.write('x')

        trainer = make_trainer(tmp_path, 1)
        model = trainer.updater.get_optimizer('main').target
        trainer.extend(extensions.snapshot_object(model, 'm', savefun))
        trainer.run()
        assert saved == [['l/W', 'l/b']]
        assert (tmp_path / 'm').read_text() == 'x'
        with pytest.raises(TypeError, match='savefun and writer'):
            extensions.snapshot(savefun, writer=snapshot_writers.SimpleWriter())

    def test_hdf5(self, tmp_path):
        pytest.importorskip('h5py')
        trainer = make_trainer(tmp_path, 1)
        model = trainer.updater.get_optimizer('main').target
        trainer.extend(extensions.snapshot_object(model, 'm', serializers.save_hdf5))
        trainer.run()
        other = Model()
        serializers.load_hdf5(str(tmp_path / 'm'), other)
        numpy.testing.assert_array_equal(other.l.W.array, model.l.W.array)

    def test_condition(self, tmp_path):
        trainer = make_trainer(tmp_path)
        answers = iter([True, False, False, True])
        trainer.extend(extensions.snapshot(condition=lambda: next(answers)))
        trainer.run()
        assert sorted(os.listdir(tmp_path)) == ['snapshot_iter_10', 'snapshot_iter_3']

    @pytest.mark.parametrize('on_error', [True, False])
    def test_on_error(self, tmp_path, on_error):
        trainer = make_trainer(tmp_path)
        trainer.extend(extensions.snapshot(snapshot_on_error=on_error))

        def fail(trainer):
            if trainer.updater.iteration == 4:
                raise ZeroDivisionError

        trainer.extend(fail)
        with pytest.raises(ZeroDivisionError):
            trainer.run(show_loop_exception_msg=False)
        assert sorted(os.listdir(tmp_path)) == ['snapshot_iter_3'] + ['snapshot_iter_4'] * on_error

    def test_retains(self, tmp_path):
        (tmp_path / 'snapshot_iter_x').touch()
        trainer = make_trainer(tmp_path)
        trainer.extend(extensions.snapshot(n_retains=2))
        trainer.run()
        assert sorted(os.listdir(tmp_path)) == [
            'snapshot_iter_10',
            'snapshot_iter_8',
            'snapshot_iter_x',
        ]

    def test_failing_savefun_leaves_no_file(self, tmp_path):
        def savefun(path, target):
            with open(path, 'w') as f:
                f.write('half')
            raise OSError('disk full')

        trainer = make_trainer(tmp_path)
        trainer.extend(extensions.snapshot(savefun))
        with pytest.raises(OSError, match='disk full'):
            trainer.run(show_loop_exception_msg=False)
        assert os.listdir(tmp_path) == []


class TestAutoload:
    def save(self, tmp_path):
        trainer = make_trainer(tmp_path, 2)
        trainer.extend(extensions.LogReport())
        trainer.extend(extensions.snapshot())
        trainer.run()
        return plain(read(tmp_path / 'snapshot_iter_5'))

    def load(self, tmp_path):
        trainer = make_trainer(tmp_path, 2)
        trainer.extend(extensions.LogReport())
        extension = extensions.snapshot(autoload=True)
        trainer.extend(extension)
        extension.initialize(trainer)
        return trainer

    def test_latest(self, tmp_path, capsys):
        expected = self.save(tmp_path)
        trainer = self.load(tmp_path)
        trainer._done, trainer._final_elapsed_time = True, 0.0
        assert state(trainer) == expected
        assert trainer.updater.iteration == 5
        assert capsys.readouterr().out == 'Snapshot loaded from {}\n'.format(
            tmp_path / 'snapshot_iter_5'
        )

    def test_nothing(self, tmp_path, capsys):
        trainer = self.load(tmp_path / 'new')
        assert trainer.updater.iteration == 0
        assert capsys.readouterr().out == (
            'No snapshot file that matches snapshot_iter_{.updater.iteration} was found\n'
        )

    @pytest.mark.parametrize('damage', ['truncate', 'flip', 'empty', 'foreign', 'other model'])
    def test_fallback(self, tmp_path, damage):
        self.save(tmp_path)
        path = tmp_path / 'snapshot_iter_5'
        content = bytearray(path.read_bytes())
        if damage == 'truncate':
            path.write_bytes(content[: len(content) // 2])
        elif damage == 'flip':
            for i in range(200, len(content), 500):
                content[i] ^= 255
            path.write_bytes(content)
        elif damage == 'empty':
            path.write_bytes(b'')
        elif damage == 'foreign':
            path.write_text('hello')
        else:
            serializers.save_npz(path, L.Linear(2, 2))
        with pytest.warns(UserWarning, match='snapshot_iter_5 cannot be loaded'):
            trainer = self.load(tmp_path)
        assert trainer.updater.iteration == 3

    @pytest.mark.parametrize(
        'name,content',
        [
            ('updater/iteration', npy('(1000000000000000,)')),
            ('updater/iteration', npy('-' * 9000 + '()')),
            ('extensions/LogReport/_log', numpy.asarray('[' * 100000)),
            ('extensions/LogReport/_log', numpy.asarray('{"epoch": 1}')),
            ('extensions/LogReport/_log', numpy.asarray('[1]')),
            ('extensions/LogReport/_summary/_names', numpy.asarray('[1]')),
            ('_observation', numpy.asarray('[1]')),
            ('_random_state/numpy/position', numpy.asarray(10**6)),
            ('_random_state/numpy/position', numpy.asarray(-1)),
            ('updater/optimizer:main/t', numpy.asarray([1, 2])),
        ],
        ids=lambda value: value if isinstance(value, str) else '',
    )
    def test_fallback_from_hostile_values(self, tmp_path, name, content):
        self.save(tmp_path)
        path = tmp_path / 'snapshot_iter_5'
        arrays = read(path)
        assert name in arrays
        if isinstance(content, bytes):
            del arrays[name]
            serializers.save_npz(path, arrays)
            with zipfile.ZipFile(path, 'a') as archive:
                archive.writestr(name + '.npy', content)
        else:
            serializers.save_npz(path, {**arrays, name: content})
        with pytest.warns(UserWarning, match='snapshot_iter_5 cannot be loaded'):
            trainer = self.load(tmp_path)
        assert trainer.updater.iteration == 3

    def test_fallback_from_any_error(self, tmp_path, monkeypatch):
        self.save(tmp_path)
        load_npz = serializers.load_npz

        def load(path, target):
            if path.endswith('5'):
                raise MemoryError
            load_npz(path, target)

        monkeypatch.setattr(serializers, 'load_npz', load)
        with pytest.warns(UserWarning, match='MemoryError'):
            trainer = self.load(tmp_path)
        assert trainer.updater.iteration == 3

    def test_only_broken_files(self, tmp_path, capsys):
        (tmp_path / 'snapshot_iter_5').write_text('hello')
        with pytest.warns(UserWarning, match='cannot be loaded'):
            trainer = self.load(tmp_path)
        assert trainer.updater.iteration == 0
        assert 'No snapshot' in capsys.readouterr().out

    def test_a_failing_load_changes_nothing(self, tmp_path):
        self.save(tmp_path)
        arrays = read(tmp_path / 'snapshot_iter_5')
        del arrays['_snapshot_elapsed_time']
        trainer = make_trainer(tmp_path, 2)
        trainer.extend(extensions.snapshot())
        trainer.extend(extensions.LogReport())
        trainer.updater.update()
        trainer._done, trainer._final_elapsed_time = True, 0.0
        before = state(trainer)
        random_state = numpy.random.get_state()[1].tolist()
        numpy.savez(tmp_path / 'x.npz', **arrays)
        with pytest.raises(KeyError):
            serializers.load_npz(tmp_path / 'x.npz', trainer)
        assert state(trainer) == before
        assert numpy.random.get_state()[1].tolist() == random_state

    def test_find(self, tmp_path):
        for i, name in enumerate(['s_10_1.0', 's_9_2.0', 's_9_10.0', 's_x_1.0', 'as_1_1.0']):
            (tmp_path / name).touch()
            os.utime(tmp_path / name, (1000, 1000 + (i == 1)))
        fmt = 's_{.updater.iteration}_{.updater.epoch_detail}'
        names = [name for _, name in _snapshot._find_snapshot_files(fmt, str(tmp_path))]
        assert names == ['s_9_10.0', 's_10_1.0', 's_9_2.0']
        assert _snapshot._find_latest_snapshot(fmt, str(tmp_path)) == 's_9_2.0'
        assert _snapshot._find_stale_snapshots(fmt, str(tmp_path), 1) == names[:2]
        assert _snapshot._find_stale_snapshots(fmt, str(tmp_path), 5) == []
        assert _snapshot._find_latest_snapshot(fmt, str(tmp_path / 'x')) is None


class TestResume:
    @pytest.mark.parametrize(
        'optimizer', [optimizers.SGD, optimizers.MomentumSGD, optimizers.Adam, optimizers.RMSprop]
    )
    @pytest.mark.parametrize(
        'iterator',
        [
            iterators.SerialIterator,
            iterators.MultithreadIterator,
            lambda *args: iterators.MultiprocessIterator(*args, n_processes=1, n_prefetch=3),
        ],
    )
    @pytest.mark.parametrize('iteration', [2, 5])
    def test_bit_identical(self, tmp_path, optimizer, iterator, iteration):
        def run(folder, n_iterations, resume):
            trainer = make_trainer(tmp_path / folder, optimizer=optimizer, iterator=iterator)
            trainer.stop_trigger = training.triggers.EarlyStoppingTrigger(
                (1, 'iteration'), patience=100, max_trigger=(n_iterations, 'iteration')
            )
            trainer.extend(extensions.LogReport(trigger=(3, 'iteration')))
            trainer.extend(extensions.observe_value('alpha', lambda trainer: 1.0))
            trainer.extend(
                extensions.ExponentialShift(
                    'eps' if optimizer in (optimizers.Adam, optimizers.RMSprop) else 'lr', 0.9
                )
            )
            trainer.extend(
                extensions.snapshot(filename='best'),
                trigger=training.triggers.MinValueTrigger('main/loss', (2, 'iteration')),
            )
            trainer.extend(extensions.snapshot(filename='last'), trigger=(1, 'iteration'))
            if resume is not None:
                serializers.load_npz(resume, trainer)
            trainer.run()
            return (plain(read(tmp_path / folder / 'last')), trainer.get_extension('LogReport').log)

        numpy.random.seed(0)
        expected, log = run('whole', 9, None)
        numpy.random.seed(0)
        run('part', iteration, None)
        numpy.random.seed(1)
        actual, resumed_log = run('rest', 9, tmp_path / 'part' / 'last')
        assert actual == expected
        for entry in log + resumed_log:
            del entry['elapsed_time']
        assert resumed_log == log


def _fail(path, target):
    raise OSError('disk full')


def _slow_save(path, target):
    import time

    time.sleep(0.05)
    serializers.save_npz(path, target)


class TestWriters:
    @pytest.mark.parametrize('writer', WRITERS)
    def test_write(self, tmp_path, writer):
        w = writer()
        for i in range(3):
            array = numpy.full(3, i)
            w(f'file{i}', str(tmp_path), _snapshot._SerializedObject(x=array))
            if writer is not snapshot_writers.SimpleWriter:
                array[...] = -1  # training goes on
        w.finalize()
        w.finalize()
        assert sorted(os.listdir(tmp_path)) == ['file0', 'file1', 'file2']
        for i in range(3):
            with numpy.load(tmp_path / (f'file{i}')) as npz:
                assert npz['x'].tolist() == [i] * 3

    @pytest.mark.parametrize('writer', WRITERS)
    def test_in_trainer(self, tmp_path, writer):
        trainer = make_trainer(tmp_path)
        trainer.extend(extensions.snapshot(writer=writer(_slow_save), n_retains=2))
        trainer.run()
        names = os.listdir(tmp_path)
        assert 'snapshot_iter_10' in names
        if writer is not snapshot_writers.ProcessQueueWriter:
            assert len(names) == 2
        assert len(names) <= 3

    @pytest.mark.filterwarnings('ignore')
    @pytest.mark.parametrize('writer', WRITERS)
    def test_failure_is_not_lost(self, tmp_path, writer, capfd):
        w = writer(_fail)
        with pytest.raises((OSError, RuntimeError), match='disk full|exit code 1'):
            w('file', str(tmp_path), _snapshot._SerializedObject(x=numpy.zeros(1)))
            w.finalize()
        assert os.listdir(tmp_path) == []

    def test_task_that_cannot_be_pickled(self):
        with pytest.raises((AttributeError, pickle.PicklingError), match='pickle'):
            snapshot_writers.ProcessQueueWriter(lambda path, target: None)

    def test_task(self, tmp_path):
        done = []
        w = snapshot_writers.ThreadQueueWriter(
            task=lambda *args: done.append(
                (args, threading.current_thread() is threading.main_thread())
            )
        )
        w('file', 'out', {'x': numpy.zeros(1)})
        w.finalize()
        assert done[0][0][:2] == ('file', 'out') and done[0][1] is False

    def test_options(self, tmp_path):
        w = snapshot_writers.SimpleWriter(compression=False)
        target = _snapshot._SerializedObject(x=numpy.zeros(10000))
        w('big', str(tmp_path), target)
        snapshot_writers.SimpleWriter()('small', str(tmp_path), target)
        assert os.path.getsize(tmp_path / 'big') > 80000 > os.path.getsize(tmp_path / 'small')

    def test_abstract(self):
        for call in (
            lambda: snapshot_writers.Writer()('f', 'o', {}),
            lambda: snapshot_writers.StandardWriter()('f', 'o', {}),
            snapshot_writers.QueueWriter,
        ):
            with pytest.raises(NotImplementedError):
                call()
