"""What trainers save: the state that Chainer 7 saves, and on request all that exact resumption needs."""

import json
import pickle

import numpy
import pytest

import chainer
import chainer.links as L
from chainer import iterators, optimizers, serializers, training
from chainer.training import extensions, triggers

EVERY = (1, 'iteration')
INTERVAL = {'previous_iteration': 'int64', 'previous_epoch_detail': 'float64'}
SUMMARY = {'_summaries/0/_n': 'int64', '_summaries/0/_x': 'float64', '_summaries/0/_x2': 'float64'}
NAMES = {'_names': 'str'}


def prefixed(prefix, keys):
    return {prefix + key: dtype for key, dtype in keys.items()}


def make_trainer(n_iterations=3):
    model = L.Classifier(L.Linear(3, 2))
    optimizer = optimizers.SGD(0.1).setup(model)
    data = [(numpy.full(3, i, 'f'), numpy.int32(i % 2)) for i in range(8)]
    updater = training.StandardUpdater(iterators.SerialIterator(data, 2, shuffle=False), optimizer)
    return training.Trainer(updater, (n_iterations, 'iteration'))


def make_best():
    trigger = triggers.MinValueTrigger('main/loss', (2, 'iteration'))
    return lambda trainer: None, trigger


def make_plain(trigger):
    return lambda: (lambda trainer: None, trigger())


def make(extension, **kwargs):
    return lambda: (getattr(extensions, extension)(**kwargs), EVERY)


# The extension and its trigger, their state in Chainer 7, and further state.
ROWS = {
    'interval': (make_plain(lambda: training.IntervalTrigger(2, 'epoch')), {}, INTERVAL, {}),
    'manual': (
        make_plain(lambda: triggers.ManualScheduleTrigger([2], 'iteration')),
        {},
        {**INTERVAL, 'finished': 'bool'},
        {},
    ),
    'once': (make_plain(triggers.OnceTrigger), {}, {'_flag_first': 'bool'}, {}),
    'time': (make_plain(lambda: triggers.TimeTrigger(9.0)), {}, {'next_time': 'float64'}, {}),
    'best': (
        make_best,
        {},
        {
            'best_value': 'float64',
            **prefixed('interval_trigger/', INTERVAL),
            **prefixed('summary/', {**SUMMARY, **NAMES}),
        },
        {},
    ),
    'early stopping': (
        make_plain(lambda: triggers.EarlyStoppingTrigger((2, 'iteration'))),
        {},
        {},
        {
            'extension_triggers/x/' + key: dtype
            for key, dtype in {
                'best': 'float64',
                'count': 'int64',
                **prefixed('summary/', {**SUMMARY, **NAMES}),
                **prefixed('max_trigger/', INTERVAL),
                **prefixed('interval_trigger/', INTERVAL),
            }.items()
        },
    ),
    'LogReport': (
        make('LogReport', trigger=EVERY, filename=None),
        {'_log': 'str', '_summary/_names': 'str', **prefixed('_trigger/', INTERVAL)},
        INTERVAL,
        {},
    ),
    'MicroAverage': (
        make('MicroAverage', numerator_key='main/loss', denominator_key='n', result_key='m'),
        {'_numerator': 'int64', '_denominator': 'int64'},
        INTERVAL,
        prefixed('extensions/x/_trigger/', INTERVAL),
    ),
    'ParameterStatistics': (
        make('ParameterStatistics', links=[], trigger=EVERY),
        {},
        INTERVAL,
        prefixed('extensions/x/', {'_summary/_names': 'str', **prefixed('_trigger/', INTERVAL)}),
    ),
    'ExponentialShift': (
        make('ExponentialShift', attr='lr', rate=0.5),
        {'_t': 'int64', '_last_value': 'float64'},
        INTERVAL,
        {'extensions/x/_init': 'float64'},
    ),
    'MultistepShift': (
        make('MultistepShift', attr='lr', gamma=0.5, step_value=[1], init=None),
        {'_t': 'int64', '_current_step': 'int64'},
        INTERVAL,
        {'extensions/x/_init': 'float64'},
    ),
    'WarmupShift': (
        make('WarmupShift', attr='lr', warmup_start=0.1, warmup_iter=2, init=None),
        {'_t': 'int64'},
        INTERVAL,
        {'extensions/x/_init': 'float64'},
    ),
    'FailOnNonNumber': (make('FailOnNonNumber'), {}, INTERVAL, {}),
    'observe_lr': (make('observe_lr'), {}, INTERVAL, {}),
}

MODEL = {'predictor/W': 'float32', 'predictor/b': 'float32'}
TRAINER = {
    '_snapshot_elapsed_time': 'float64',
    **prefixed('stop_trigger/', INTERVAL),
    'updater/iteration': 'int64',
    'updater/iterator:main/current_position': 'int64',
    'updater/iterator:main/epoch': 'int64',
    'updater/iterator:main/is_new_epoch': 'bool',
    'updater/iterator:main/previous_epoch_detail': 'float64',
    **prefixed('updater/model:main/', MODEL),
    'updater/optimizer:main/epoch': 'int64',
    'updater/optimizer:main/t': 'int64',
    'updater/optimizer:main/predictor/W/t': 'int64',
    'updater/optimizer:main/predictor/b/t': 'int64',
}
RANDOM = {
    '_random_state/numpy/keys': 'uint32',
    '_random_state/numpy/position': 'int64',
    '_random_state/numpy/has_gauss': 'int64',
    '_random_state/numpy/gauss': 'float64',
    '_random_state/python/version': 'int64',
    '_random_state/python/state': 'uint32',
    '_random_state/python/gauss': 'object',
}


def kinds(arrays):
    return {key: 'str' if a.dtype.kind == 'U' else a.dtype.name for key, a in arrays.items()}


def expected_keys(row, exact):
    _, extension, trigger, extras = row
    keys = {
        **TRAINER,
        **prefixed('extensions/x/', extension),
        **prefixed('extension_triggers/x/', trigger),
    }
    return {**keys, **RANDOM, '_observation': 'str', **extras} if exact else keys


def extended(row, n_iterations=3):
    trainer = make_trainer(n_iterations)
    extension, trigger = row[0]()
    trainer.extend(extension, 'x', trigger)
    return trainer


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize('setting,exact', [('auto', False), ('never', False), ('always', True)])
@pytest.mark.parametrize('name', ROWS)
def test_keys(name, setting, exact):
    trainer = extended(ROWS[name])
    trainer.run()
    with chainer.using_config('exact_resume', setting):
        arrays = serializers.npz.serialize(trainer)
    assert kinds(arrays) == expected_keys(ROWS[name], exact)


@pytest.mark.parametrize('setting,exact', [('auto', True), ('never', False), ('always', True)])
@pytest.mark.parametrize('name', ['interval', 'early stopping', 'ExponentialShift'])
def test_keys_of_snapshots(name, setting, exact, tmp_path):
    trainer = extended(ROWS[name])
    trainer.extend(extensions.snapshot(filename='s'), 's', triggers.TimeTrigger(0))
    with chainer.using_config('exact_resume', setting):
        trainer.run()
    with numpy.load(tmp_path / 'result' / 's', allow_pickle=True) as arrays:
        expected = expected_keys(ROWS[name], exact)
        assert kinds(arrays) == {**expected, 'extension_triggers/s/next_time': 'int64'}


@pytest.mark.parametrize('load', [serializers.load_npz, serializers.load_hdf5])
@pytest.mark.parametrize('setting', ['never', 'always'])
@pytest.mark.parametrize('name', ROWS)
def test_loads_silently(name, setting, load, tmp_path):
    save = serializers.save_npz
    if load is serializers.load_hdf5:
        pytest.importorskip('h5py')
        save = serializers.save_hdf5
    trainer = extended(ROWS[name])
    trainer.run()
    with chainer.using_config('exact_resume', setting):
        save(tmp_path / 'file', trainer)
        other = extended(ROWS[name], n_iterations=5)
        load(tmp_path / 'file', other)
    assert other.updater.iteration == 3
    other.run()
    assert other.updater.iteration == 5


def test_hdf5_snapshot(tmp_path):
    h5py = pytest.importorskip('h5py')
    trainer = extended(ROWS['LogReport'])
    trainer.extend(extensions.snapshot(serializers.save_hdf5, 's'), trigger=(3, 'iteration'))
    trainer.run()
    keys = []
    with h5py.File(tmp_path / 'result' / 's') as file:
        file.visititems(lambda name, item: keys.append(name) if hasattr(item, 'shape') else None)
    expected = expected_keys(ROWS['LogReport'], exact=True)
    assert set(keys) == {*expected, *prefixed('extension_triggers/_Snapshot/', INTERVAL)}
    other = extended(ROWS['LogReport'])
    other.extend(extensions.snapshot(), trigger=(3, 'iteration'))
    serializers.load_hdf5(tmp_path / 'result' / 's', other)
    assert other.updater.iteration == 3
    assert other.get_extension('x').log == trainer.get_extension('x').log


@pytest.mark.parametrize('name', ROWS)
def test_hdf5_without_empty_groups(name, tmp_path):
    """Chainer 7 writes no group for what has no state, such as functions."""
    h5py = pytest.importorskip('h5py')
    trainer = extended(ROWS[name])
    trainer.run()
    with h5py.File(tmp_path / 'file', 'w') as file:
        for key, array in serializers.npz.serialize(trainer).items():
            file[key] = array if array.dtype.kind != 'U' else str(array)
    other = extended(ROWS[name])
    serializers.load_hdf5(tmp_path / 'file', other)
    assert other.updater.iteration == 3


def test_missing_hdf5_group(tmp_path):
    pytest.importorskip('h5py')
    trainer = make_trainer()
    trainer.run()
    serializers.save_hdf5(tmp_path / 'file', trainer)
    other = extended(ROWS['ExponentialShift'])
    with pytest.raises(KeyError, match='x/_t'):
        serializers.load_hdf5(tmp_path / 'file', other)
    assert other.updater.iteration == 0


def test_plot_report():
    pytest.importorskip('matplotlib')

    def new(*keys):
        trainer = make_trainer(2)
        trainer.extend(extensions.PlotReport(keys, trigger=EVERY, filename='p.png'), 'x')
        return trainer

    trainer = new('main/loss')
    trainer.run()
    arrays = serializers.npz.serialize(trainer.get_extension('x'))
    assert list(arrays) == ['_plot_p.png']
    (points,) = json.loads(str(arrays['_plot_p.png'])).values()
    assert [x for x, y in points] == [1, 2]
    other = new('main/loss', 'main/accuracy').get_extension('x')
    other.serialize(serializers.NpzDeserializer(arrays))
    assert other._data == {'main/loss': points, 'main/accuracy': []}
    with chainer.using_config('exact_resume', 'always'):
        arrays = serializers.npz.serialize(trainer.get_extension('x'))
    assert set(arrays) == {
        '_plot_p.png',
        '_summary/_names',
        *prefixed('_trigger/', INTERVAL),
    }


def test_progress_of_iteration_triggers():
    def state(trigger):
        return {key: float(a) for key, a in serializers.npz.serialize(trigger).items()}

    trainer = make_trainer(7)
    seen = {}
    trigger = training.IntervalTrigger(2, 'iteration')
    trainer.extend(
        lambda trainer: seen.setdefault(
            trainer.updater.iteration, (state(trigger), state(trainer.stop_trigger))
        ),
        'save',
        trigger,
    )
    trainer.run()
    # The stop trigger comes before the update.
    assert seen == {
        2 * i: (
            {'previous_iteration': 2 * i, 'previous_epoch_detail': i / 2},
            {'previous_iteration': 2 * i - 1, 'previous_epoch_detail': (2 * i - 1) / 4},
        )
        for i in (1, 2, 3)
    }
    expected = {'previous_iteration': 7, 'previous_epoch_detail': 1.75}
    assert state(trainer.stop_trigger) == expected
    assert trainer.stop_trigger.count == 0  # epochs alone are counted
    other = pickle.loads(pickle.dumps(trainer.stop_trigger))
    assert state(other) == expected
    trigger.serialize(serializers.NpzDeserializer(expected))
    assert state(trigger) == expected


def test_iteration_triggers_of_updaters_without_epochs():
    class Updater(training.Updater):
        iteration = 0

        def get_all_optimizers(self):
            return {}

        def update(self):
            self.iteration += 1

        def serialize(self, serializer):
            pass

    trainer = training.Trainer(Updater(), (2, 'iteration'))
    trainer.run()
    state = serializers.npz.serialize(trainer.stop_trigger)
    assert state == {'previous_iteration': 2, 'previous_epoch_detail': -1}


def test_sums_of_integers_load_other_numbers():
    summary = chainer.Summary()
    summary.serialize(serializers.NpzDeserializer({'_x': 3.5, '_x2': 7.0, '_n': 2.5}))
    assert summary.compute_mean() == 1.4
    average = extensions.MicroAverage('a', 'b', 'c')
    average.serialize(serializers.NpzDeserializer({'_numerator': 0.5, '_denominator': 2}))
    assert (average._numerator, average._denominator) == (0.5, 2)
