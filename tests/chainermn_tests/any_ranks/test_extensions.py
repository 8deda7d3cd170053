"""Extensions of the trainer on several ranks."""

import os
import shutil
import warnings

import numpy
import pytest

import chainer
import chainer.links as L
import chainermn
import chainerx
from chainer import iterators, testing, training
from chainer.training import extensions


class Model(chainer.Chain):
    """Reports the mean of what it gets."""

    def forward(self, x):
        chainer.report({'mean': x.mean(), 'more': chainer.Variable(numpy.asarray(x.max()))}, self)


@pytest.mark.parametrize('lengths', [lambda n: n * 4, lambda n: n * 4 + 1, lambda n: 1])
def test_evaluator(comm, lengths):
    """No example counts twice, and ranks without examples take part."""
    total = lengths(comm.size)
    data = numpy.random.RandomState(0).uniform(0, 1, total).astype('float32')
    part = chainermn.scatter_dataset(data, comm, force_equal_length=False)
    iterator = iterators.SerialIterator(part, 100, repeat=False, shuffle=False)
    evaluator = extensions.Evaluator(iterator, Model())
    assert chainermn.create_multi_node_evaluator(evaluator, comm) is evaluator
    for _ in range(2):
        result = evaluator()
        assert result['main/mean'] == pytest.approx(data.mean(), rel=1e-6)
        assert comm.allgather_obj(result) == [result] * comm.size


def test_evaluator_of_batches(comm):
    part = numpy.full(2, comm.rank, 'float32')
    iterator = iterators.SerialIterator(part, 1, repeat=False, shuffle=False)
    evaluator = chainermn.create_multi_node_evaluator(extensions.Evaluator(iterator, Model()), comm)
    evaluator.name = 'test'
    reporter = chainer.Reporter()
    observation = {}
    reporter.add_observer('test/main', evaluator.get_target('main'))
    with reporter.scope(observation):
        evaluator()
    assert observation['test/main/more'] == (comm.size - 1) / 2


class Everything(chainermn.extensions.GenericMultiNodeEvaluator):
    def calc_local(self, x):
        assert not chainer.config.train and not chainer.config.enable_backprop
        return self.target(x)

    def aggregate(self, results):
        return {'all': [value for values in results for value in values]}


def test_generic_evaluator(comm):
    root = comm.size - 1
    iterator = iterators.SerialIterator(
        numpy.arange(comm.rank + 1) + 10 * comm.rank, 2, repeat=False, shuffle=False
    )
    evaluator = Everything(comm, iterator, lambda x: x.tolist(), root=root)
    evaluator.name = 'validation'
    for _ in range(2):
        observation = {}
        with chainer.Reporter().scope(observation):
            evaluator(None)
        expected = [10 * rank + i for rank in range(comm.size) for i in range(rank + 1)]
        assert observation == ({'validation/all': expected} if comm.rank == root else {})


@pytest.mark.parametrize(
    'methods, expected',
    [
        ({}, lambda values: values),
        ({'calc_local': lambda self, x: int(x[0])}, lambda values: values),
        ({'aggregate': lambda self, results: sum(results)}, sum),
        ({'aggregate': lambda self, results: None}, lambda values: None),
        ({'aggregate': lambda self, results: {'sum': sum(results)}}, lambda v: {'sum': sum(v)}),
    ],
)
def test_defaults_of_the_generic_evaluator(comm, methods, expected):
    """It calls the target, returns what the calls have returned, and reports a dict only."""
    kind = type('Own', (chainermn.extensions.GenericMultiNodeEvaluator,), methods)
    iterator = iterators.SerialIterator([comm.rank + 0.5, comm.rank + 10.5], 1, False, False)
    evaluator = kind(comm, iterator, lambda x: float(x[0]))
    values = [value for rank in range(comm.size) for value in (rank + 0.5, rank + 10.5)]
    if 'calc_local' in methods:
        values = [int(value) for value in values]
    result = None if comm.rank else expected(values)
    observation = {}
    with chainer.Reporter().scope(observation):
        assert evaluator(None) == result
    assert observation == (result if isinstance(result, dict) else {})


def run(comm, folder, n, *entries, observe):
    trainer = testing.get_trainer_with_mock_updater((n, 'iteration'), iter_per_epoch=2)
    trainer.out = f'{folder}/{comm.rank}'
    original = trainer.updater.update

    def update():
        original()
        chainer.report(observe(trainer.updater.iteration))

    trainer.updater.update = update
    seen = []
    for entry in entries:
        trainer.extend(entry, trigger=(1, 'iteration'))
    trainer.extend(lambda t: seen.append(dict(t.observation)), name='see', trigger=(1, 'iteration'))
    trainer.run()
    return seen


def test_observation_aggregator(comm, folder):
    aggregator = chainermn.extensions.ObservationAggregator(
        comm, 'x', 'y', comm_trigger=(2, 'iteration')
    )
    largest = chainermn.extensions.ObservationAggregator(
        comm, 'x', aggregator=lambda values: max(map(max, values))
    )
    seen = run(
        comm, folder, 4, aggregator, largest, observe=lambda i: {'x': float(10 * comm.rank + i)}
    )
    ranks = range(comm.size)
    assert [o.get('y') for o in seen] == [
        None, numpy.mean([10 * r + i for r in ranks for i in (1, 2)]),
        None, numpy.mean([10 * r + i for r in ranks for i in (3, 4)]),
    ]  # fmt: skip
    assert [o['x'] for o in seen] == [10 * (comm.size - 1) + i for i in (1, 2, 3, 4)]


@pytest.mark.parametrize('dtype, mean_dtype', [('f', 'f'), ('d', 'd'), ('e', 'e'), ('i', 'd')])
@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
def test_observation_aggregator_of_variables(comm, dtype, mean_dtype, device):
    """The mean of variables is a variable, and an own function gets variables."""
    if device == 'native:0' and not chainerx.is_available():
        pytest.skip('needs ChainerX')
    device = chainer.get_device(device)
    trainer = testing.get_trainer_with_mock_updater()
    aggregators = [
        chainermn.extensions.ObservationAggregator(
            comm, 'x', 'mean', comm_trigger=(2, 'iteration')
        ),
        chainermn.extensions.ObservationAggregator(
            comm,
            'x',
            'sum',
            comm_trigger=(2, 'iteration'),
            aggregator=lambda parts: sum([sum(part) for part in parts]),
        ),
    ]
    expected = [rank + i for rank in range(comm.size) for i in (1, 2)]
    for i in 1, 2:
        trainer.updater.update()
        x = device.send(numpy.array(comm.rank + i, dtype))
        trainer.observation = {'x': chainer.Variable(x, requires_grad=False)}
        for aggregator in aggregators:
            aggregator(trainer)
    mean, total = trainer.observation['mean'], trainer.observation['sum']
    assert isinstance(mean, chainer.Variable) and isinstance(total, chainer.Variable)
    assert mean.array == numpy.mean(expected) and mean.dtype == mean_dtype
    assert total.array == sum(expected)
    summary = chainer.DictSummary()  # that of LogReport
    summary.add(trainer.observation)
    assert summary.compute_mean()['mean'] == numpy.mean(expected)


def test_early_stopping(comm):
    trainer = testing.get_trainer_with_mock_updater()
    trigger = chainermn.extensions.MultiNodeEarlyStoppingTrigger(
        comm, check_trigger=(1, 'iteration'), monitor='x', patience=2, max_trigger=(9, 'iteration')
    )
    assert trigger.get_training_length() == (9, 'iteration')
    answers = []
    # Only the mean over the ranks gets worse after the second one.
    for value in 3, 2, 4, 5:
        trainer.updater.update()
        own = value * comm.size if comm.rank == 0 else 0
        trainer.observation = {'x': own}
        answers.append(trigger(trainer))
        assert trainer.observation['x_aggregated'] == value
    assert answers == [False, False, False, True]


def test_allreduce_persistent(comm):
    model = chainer.Sequential(L.BatchNormalization(2), L.Linear(2, 2))
    model[0].avg_mean[...] = comm.rank
    model[0].N = comm.rank
    chainermn.extensions.AllreducePersistent(model, comm)()
    assert (model[0].avg_mean == (comm.size - 1) / 2).all() and (model[0].avg_var == 1).all()
    assert model[0].N == comm.rank


# -- checkpoints and snapshots


def make_trainer(comm, folder, n, shuffle=True):
    """Trains with dropout, shuffling and Adam, so that resuming needs every state."""
    numpy.random.seed(7)
    model = L.Classifier(
        chainer.Sequential(L.Linear(64, 20), chainer.functions.dropout, L.Linear(20, 10))
    )
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), comm).setup(model)
    digits = chainer.datasets.get_digits()[0][:120]
    part = chainermn.scatter_dataset(digits, comm, shuffle=True, seed=1)
    iterator = iterators.SerialIterator(part, 10, shuffle=shuffle)
    updater = training.StandardUpdater(iterator, optimizer)
    return training.Trainer(updater, (n, 'iteration'), out=folder)


def train(comm, folder, n, keeps=5, gc=5, load=True, trigger=2):
    trainer = make_trainer(comm, folder, n)
    checkpointer = chainermn.create_multi_node_checkpointer('run', comm, keeps, gc)
    trainer.extend(checkpointer, trigger=(trigger, 'iteration'))
    if load:
        checkpointer.maybe_load(trainer)
    start = trainer.updater.iteration
    trainer.run()
    model = trainer.updater.get_optimizer('main').target
    return start, {path: param.array for path, param in sorted(model.namedparams())}


def assert_same(actual, expected):
    for path in expected:
        numpy.testing.assert_array_equal(actual[path], expected[path], err_msg=path)


def files_of(folder):
    return sorted(os.listdir(folder))


def test_checkpointer_resumes_to_the_bit(comm, folder):
    _, expected = train(comm, folder + '/whole', 9)
    train(comm, folder, 5)
    # The checkpoint of the last rank is lost, and a file is cut.
    comm.mpi_comm.Barrier()
    if comm.rank == comm.size - 1:
        with open(f'{folder}/run.6.{comm.rank}.of.{comm.size}', 'w') as f:
            f.write('not complete')
    for rank in range(comm.size):
        if comm.rank == rank < comm.size - 1:
            with open(f'{folder}/run.8.{rank}.of.{comm.size}', 'w'):
                pass
            with open(f'{folder}/run.6.{rank}.of.{comm.size}', 'w') as f:
                f.write('not complete')
    comm.mpi_comm.Barrier()
    with pytest.warns(UserWarning, match='checkpoint of iteration 6 cannot be loaded'):
        start, actual = train(comm, folder, 9)
    assert start == 4
    assert_same(actual, expected)


def test_checkpointer_cleans_up(comm, folder):
    train(comm, folder, 12, keeps=2, gc=3)
    comm.mpi_comm.Barrier()
    iterations = {int(name.split('.')[1]) for name in files_of(folder) if name.startswith('run')}
    assert iterations == {10, 12}
    assert len([n for n in files_of(folder) if n.startswith('run')]) == 2 * comm.size


def test_checkpointer_with_fewer_ranks(comm, folder):
    train(comm, folder, 4)
    comm.mpi_comm.Barrier()
    single = comm.split(comm.rank, 0)
    if comm.rank == 0:
        trainer = make_trainer(single, folder, 8)
        checkpointer = chainermn.create_multi_node_checkpointer('run', single)
        checkpointer.maybe_load(trainer)
        assert trainer.updater.iteration == 4
        trainer.run()
    comm.mpi_comm.Barrier()


def test_checkpointer_reads_names_of_chainer_7(comm, folder):
    _, expected = train(comm, folder + '/whole', 9)
    train(comm, folder, 5)
    comm.mpi_comm.Barrier()
    if comm.rank == 0:
        for name in files_of(folder):
            if name.startswith('run'):
                os.rename(f'{folder}/{name}', f'{folder}/{name.partition(".of.")[0]}')
        # More processes wrote this one.
        for rank in range(comm.size + 1):
            shutil.copy(f'{folder}/run.4.0', f'{folder}/run.6.{rank}')
    comm.mpi_comm.Barrier()
    start, actual = train(comm, folder, 9)
    assert start == 4
    assert_same(actual, expected)


def test_checkpointer_errors(comm, folder):
    with pytest.raises(ValueError, match='gc_interval must be positive, but is 0'):
        chainermn.create_multi_node_checkpointer('run', comm, gc_interval=0)
    with open(f'{folder}/run.2.{comm.rank}.of.{comm.size}', 'w'):
        pass
    comm.mpi_comm.Barrier()
    with pytest.raises(RuntimeError, match='no checkpoint of run'), warnings.catch_warnings():
        warnings.simplefilter('ignore')
        train(comm, folder, 4)


class Mark(training.Extension):
    """State that tells which rank has written it, and when."""

    def __init__(self, rank):
        self.rank = rank
        self.count = 0

    def __call__(self, trainer):
        self.count += 1

    def serialize(self, serializer):
        self.rank = serializer('rank', self.rank)
        self.count = serializer('count', self.count)


def make_snapshot_trainer(comm, folder, n, sets, **options):
    trainer = make_trainer(comm, folder, n)
    mark = Mark(comm.rank)
    trainer.extend(mark, trigger=(1, 'iteration'))
    snapshot = extensions.snapshot(autoload=True, **options)
    extension = chainermn.extensions.multi_node_snapshot(comm, snapshot, sets)
    trainer.extend(extension, trigger=(2, 'iteration'))
    return trainer, mark, extension


@pytest.mark.parametrize(
    'sets, groups',
    [
        (lambda size: [], lambda size: [range(size)]),
        (lambda size: [range(size)], lambda size: [range(size)]),
        (lambda size: [0], lambda size: [[0], range(1, size)]),
        (lambda size: [[0]], lambda size: [[0], range(1, size)]),
        (lambda size: [range(1, size)], lambda size: [[0], range(1, size)]),
        (lambda size: list(range(size)), lambda size: [[rank] for rank in range(size)]),
        (lambda size: [{size - 1, 0}], lambda size: [{0, size - 1}, range(1, size - 1)]),
    ],
)
def test_snapshot(comm, folder, sets, groups):
    """The lowest rank of each set writes, and the others of the set get what it loads."""
    sets = sets(comm.size)
    own = next(group for group in map(list, groups(comm.size)) if comm.rank in group)
    writers = [min(group) for group in map(list, groups(comm.size)) if group]
    for n in 2, 4:
        trainer, mark, extension = make_snapshot_trainer(comm, folder, n, sets)
        assert extension.is_master == (comm.rank == min(own))
        assert extension.snapshot.filename.endswith(f'.{comm.rank}')
        trainer.run()
        comm.mpi_comm.Barrier()
        snapshots = [name for name in files_of(folder) if f'iter_{n}' in name]
        assert snapshots == [f'snapshot_iter_{n}.{rank}' for rank in sorted(writers)]
        assert mark.rank == min(own) and mark.count == n
        comm.mpi_comm.Barrier()


def test_snapshot_with_a_function_of_the_name(comm, folder):
    trainer, _, extension = make_snapshot_trainer(
        comm, folder, 2, [], filename=lambda trainer: f'at_{trainer.updater.iteration}'
    )
    trainer.run()
    comm.mpi_comm.Barrier()
    assert extension.snapshot.filename(trainer) == f'at_2.{comm.rank}'
    assert [name for name in files_of(folder) if name.startswith('at')] == ['at_2.0']
    comm.mpi_comm.Barrier()


@pytest.mark.parametrize('kind', ['multi_node', 'synchronized'])
def test_snapshot_of_iterators_that_agree(comm, folder, kind):
    """One rank writes the positions of all; the training goes on with the same examples."""

    def run(n, out):
        numpy.random.seed(comm.rank)
        optimizer = chainer.optimizers.SGD().setup(L.Classifier(L.Linear(1, 2)))
        data = [(numpy.array([i], 'f'), i % 2) for i in range(7)]
        make = getattr(chainermn.iterators, f'create_{kind}_iterator')
        iterator = make(iterators.SerialIterator(data, 3), comm)
        updater = training.StandardUpdater(iterator, optimizer)
        trainer = training.Trainer(updater, (n, 'iteration'), out=out)
        snapshot = extensions.snapshot(autoload=True)
        snapshot = chainermn.extensions.multi_node_snapshot(comm, snapshot, [])
        trainer.extend(snapshot, trigger=(1, 'iteration'))
        seen = []

        def see(trainer):
            names = 'epoch', 'current_position', 'is_new_epoch', 'epoch_detail'
            seen.append([getattr(iterator, name) for name in (*names, 'previous_epoch_detail')])

        trainer.extend(see, trigger=(1, 'iteration'))
        trainer.run()
        comm.mpi_comm.Barrier()
        weights = optimizer.target.predictor.W.array.tolist()
        assert comm.allgather_obj((seen, weights)) == [(seen, weights)] * comm.size
        return seen, weights

    whole, weights = run(9, f'{folder}/whole')
    parts = [run(n, f'{folder}/parts') for n in (2, 5, 9)]
    assert sum([seen for seen, _ in parts], []) == whole
    assert parts[-1][1] == weights


def test_snapshot_errors(comm):
    with pytest.raises(ValueError, match='a rank in two sets'):
        chainermn.extensions.multi_node_snapshot(comm, extensions.snapshot(), [0, [0]])
    with pytest.raises(ValueError, match='must have ranks from 0'):
        chainermn.extensions.multi_node_snapshot(comm, extensions.snapshot(), [99])
    with pytest.raises(ValueError, match='must have ranks from 0'):
        chainermn.extensions.multi_node_snapshot(comm, extensions.snapshot(), [[-1]])
