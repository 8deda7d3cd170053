"""Checkpoints and snapshots of trainers on several ranks."""

import os
import shutil

import numpy
import pytest

import chainer
import chainer.links as L
import chainermn
from chainer import iterators, training
from chainer.training import extensions
from chainermn._checkpoints import memory


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


def train(comm, folder, n, keeps=5, gc=5, load=True, trigger=2, copies=0):
    trainer = make_trainer(comm, folder, n)
    checkpointer = chainermn.create_multi_node_checkpointer('run', comm, keeps, gc)
    trainer.extend(checkpointer, trigger=(trigger, 'iteration'))
    if copies:
        trainer.extend(checkpointer.in_memory, trigger=(copies, 'iteration'))
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
    """A damaged checkpoint, and one that is not complete, are passed over."""
    _, expected = train(comm, folder + '/whole', 9)
    train(comm, folder, 7)
    comm.mpi_comm.Barrier()
    if comm.rank == comm.size - 1:
        with open(f'{folder}/run.6.{comm.rank}.of.{comm.size}.safetensors', 'r+b') as f:
            f.truncate(1000)
        shutil.copy(
            f'{folder}/run.4.0.of.{comm.size}.safetensors', f'{folder}/run.8.0.of.9.safetensors'
        )
    comm.mpi_comm.Barrier()
    message = rf'iteration 6 cannot be loaded.*\.{comm.size - 1}\..* is truncated or damaged: 1000 bytes, expected'
    with pytest.warns(UserWarning, match=message):
        start, actual = train(comm, folder, 9)
    assert start == 4
    assert_same(actual, expected)


def test_checkpointer_cleans_up(comm, folder):
    train(comm, folder, 12, keeps=2, gc=3)
    comm.mpi_comm.Barrier()
    iterations = {int(name.split('.')[1]) for name in files_of(folder) if name.startswith('run')}
    assert iterations == {10, 12}
    assert len([n for n in files_of(folder) if n.startswith('run')]) == 2 * (comm.size + 1)


def lose(comm, folder, ranks):
    """Makes ranks those of new processes."""
    if comm.rank in ranks:
        memory.memory_of(folder, 'run')._parts.clear()


def test_copies_in_memory(comm, folder, capsys):
    """Ranks that are new get their parts, and copies of others', from the rest, or from disk."""
    _, expected = train(comm, folder + '/whole', 9, load=False)
    with memory.kept():
        train(comm, folder, 7, trigger=4, copies=2)
        for lost in [(), *[(rank,) for rank in range(comm.size) if comm.size > 1]]:
            lose(comm, folder, lost)
            start, actual = train(comm, folder, 9, trigger=100)
            assert start == 6
            assert_same(actual, expected)
        assert not capsys.readouterr().err
        lose(comm, folder, (1, 2))
        start, actual = train(comm, folder, 9, trigger=100)
    is_lost = comm.size > 2
    assert start == (4 if is_lost else 6)
    assert_same(actual, expected)
    message = 'memory lacks the parts of ranks 1 of the state of iteration 6, so the latest'
    assert (message in capsys.readouterr().err) == (is_lost and comm.rank == 0)


def test_copies_that_nobody_uses(comm, folder):
    """Without ``run_elastic``, none are made."""
    trainer = make_trainer(comm, folder, 2)
    checkpointer = chainermn.create_multi_node_checkpointer('run', comm)
    trainer.extend(checkpointer.in_memory, trigger=(1, 'iteration'))
    trainer.run()
    with memory.kept():
        assert memory.memory_of(folder, 'run').find(comm) == []
    checkpointer.maybe_load(make_trainer(comm, folder, 2))
    assert not [name for name in files_of(folder) if name.startswith('run')]


def test_damaged_copy(comm, folder):
    with memory.kept():
        train(comm, folder, 4, trigger=3, copies=4)
        kept = memory.memory_of(folder, 'run')
        for parts in kept._parts.values():
            for number, (file, data) in parts.items():
                parts[number] = file, bytes(len(data))
        with pytest.warns(UserWarning, match='iteration 4 cannot be loaded.* in memory is damaged'):
            start, _ = train(comm, folder, 4)
    assert start == 3


def test_iterators_over_data_of_their_own(comm, folder):
    """With another number of ranks, their epoch starts over."""

    def make(comm):
        model = L.Classifier(L.Linear(64, 10))
        optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(), comm)
        data = chainer.datasets.get_digits()[0][: 24 * comm.size][comm.rank :: comm.size]
        updater = training.StandardUpdater(
            iterators.SerialIterator(data, 10), optimizer.setup(model)
        )
        trainer = training.Trainer(updater, (4, 'iteration'), out=folder)
        checkpointer = chainermn.create_multi_node_checkpointer('run', comm)
        trainer.extend(checkpointer, trigger=(2, 'iteration'))
        return trainer, checkpointer

    trainer, _ = make(comm)
    trainer.run()
    comm.mpi_comm.Barrier()
    single = comm.split(comm.rank, 0)
    trainer, checkpointer = make(single)
    checkpointer.maybe_load(trainer)
    assert trainer.updater.iteration == 4 and trainer.updater.epoch == 1
    assert trainer.updater.get_iterator('main').current_position == (16 if comm.size == 1 else 0)
    single.finalize()


@pytest.mark.parametrize('suffix', ['', '.of.{}'])
def test_checkpointer_reads_earlier_files(comm, folder, suffix):
    """Those of Chainer 7 do not tell the number of ranks."""
    suffix = suffix.format(comm.size)
    _, expected = train(comm, folder + '/whole', 9)
    trainer = make_trainer(comm, folder, 4)
    other = chainermn.create_multi_node_checkpointer('run', comm, path=folder + '/other')
    trainer.extend(other, trigger=(2, 'iteration'))
    trainer.run()
    with chainer.using_config('exact_resume', 'always'):
        chainer.serializers.save_npz(f'{folder}/run.4.{comm.rank}{suffix}', trainer)
    comm.mpi_comm.Barrier()
    if comm.rank == 0 and not suffix:  # more processes wrote this one
        for rank in range(comm.size + 1):
            shutil.copy(f'{folder}/run.4.0', f'{folder}/run.6.{rank}')
    comm.mpi_comm.Barrier()
    start, actual = train(comm, folder, 9)
    assert start == 4
    assert_same(actual, expected)


def test_checkpointer_errors(comm, folder):
    with pytest.raises(ValueError, match='gc_interval must be positive, but is 0'):
        chainermn.create_multi_node_checkpointer('run', comm, gc_interval=0)
    with open(f'{folder}/run.2.of.{comm.size}.json', 'w') as f:
        f.write('{"format": "chainermn')
    comm.mpi_comm.Barrier()
    message = 'no checkpoint of run.* can be loaded'
    with (
        pytest.raises(RuntimeError, match=message),
        pytest.warns(UserWarning, match='json is damaged'),
    ):
        train(comm, folder, 4)


def append_byte(path):
    with open(path, 'ab') as f:
        f.write(b'x')


def flip_byte(path):
    with open(path, 'r+b') as f:
        f.seek(-1, os.SEEK_END)
        last = f.read(1)[0]
        f.seek(-1, os.SEEK_END)
        f.write(bytes([last ^ 1]))


@pytest.mark.parametrize(
    'damage, message',
    [
        (os.remove, 'is missing: [0-9]+ bytes are expected'),
        (flip_byte, 'is damaged: its SHA-256 is not [0-9a-f]{64}, as expected'),
        (append_byte, 'is truncated or damaged: [0-9]+ bytes, expected'),
    ],
    ids=['missing', 'flipped', 'longer'],
)
def test_damaged_checkpoints(comm, folder, damage, message):
    """All ranks say which file is damaged."""
    train(comm, folder, 2)
    comm.mpi_comm.Barrier()
    name = f'run.2.{comm.size - 1}.of.{comm.size}.safetensors'
    if comm.rank == 0:
        damage(f'{folder}/{name}')
    comm.mpi_comm.Barrier()
    with pytest.raises(RuntimeError, match='can be loaded'):
        with pytest.warns(UserWarning, match=f'{name} {message}'):
            train(comm, folder, 4)


def test_checkpoint_that_cannot_be_written(comm, folder):
    """All ranks raise the error of one, and nothing is complete."""
    trainer = make_trainer(comm, folder, 3)
    checkpointer = chainermn.create_multi_node_checkpointer('run', comm)
    trainer.extend(checkpointer, trigger=(2, 'iteration'))
    if comm.rank == comm.size - 1:
        os.makedirs(f'{folder}/run.2.{comm.rank}.of.{comm.size}.safetensors')
    with pytest.raises(
        RuntimeError, match=rf'run\.2\..* was not written: rank {comm.size - 1}: IsADirectoryError'
    ):
        trainer.run()
    comm.mpi_comm.Barrier()
    assert not [name for name in files_of(folder) if name.endswith(('.json', '.tmp'))]


class Sum(chainer.Chain):
    """Its gradients are sums of whole numbers, which are exact in any order."""

    def __init__(self, n_ranks):
        super().__init__()
        self.n_ranks = n_ranks
        with self.init_scope():
            self.W = chainer.Parameter(numpy.ones((3, 5), 'f'))
            self.b = chainer.Parameter(numpy.ones(2, 'f'))

    def forward(self, x):
        # The mean over the ranks divides by their number.
        return (self.W.sum() * x.sum() + self.b[0] * (x * x).sum()) * self.n_ranks


BATCH_SIZE = 12  # of all ranks


def make_scattered(comm, data, shuffle):
    part = chainermn.scatter_dataset(data, comm, shuffle=True, seed=1)
    return iterators.SerialIterator(part, BATCH_SIZE // comm.size, shuffle=shuffle)


def make_divided(comm, data, kind=iterators.SerialIterator):
    iterator = kind(data, BATCH_SIZE)
    return chainermn.iterators.create_synchronized_iterator(iterator, comm, divide=True)


ITERATORS = {
    'scattered': lambda comm, data: make_scattered(comm, data, False),
    'scattered-shuffled': lambda comm, data: make_scattered(comm, data, True),
    'divided': make_divided,
    'divided-threads': lambda comm, data: make_divided(comm, data, iterators.MultithreadIterator),
}


def run_ranks(world, folder, n_ranks, n, make_iterator, **options):
    """Trains on the first ranks; returns the samples of the steps of all, and the state."""
    comm = world.split(int(world.rank >= n_ranks), world.rank)
    numpy.random.seed(5)
    steps, state = [], None
    if world.rank < n_ranks:
        model = Sum(n_ranks)
        adam = chainer.optimizers.Adam(weight_decay_rate=0.1)
        optimizer = chainermn.create_multi_node_optimizer(adam, comm, **options).setup(model)
        iterator = make_iterator(comm, numpy.arange(N_SAMPLES, dtype='f'))
        updater = training.StandardUpdater(
            iterator,
            optimizer,
            converter=lambda batch, device: (steps.append(batch), numpy.array(batch))[1],
            loss_func=model,
        )
        trainer = training.Trainer(updater, (n, 'iteration'), out=folder)
        checkpointer = chainermn.create_multi_node_checkpointer('run', comm)
        trigger = training.triggers.ManualScheduleTrigger([n for _, n in STEPS], 'iteration')
        trainer.extend(checkpointer, trigger=trigger)
        checkpointer.maybe_load(trainer)
        trainer.run()
        iterator.finalize()
        steps = [sum(parts, []) for parts in zip(*comm.allgather_obj(steps))]
        with chainermn.gathered_parameters(model):
            state = [param.array.tobytes() for param in model.params()]
        state += [optimizer.t, iterator.epoch, round(iterator.epoch_detail, 9)]
    comm.finalize()
    return world.bcast_obj((steps, state))


N_SAMPLES = 60
#: Ranks that there are fewer of, and the iteration at which they stop: epochs have five.
STEPS = [(0, 2), (1, 3), (2, 7), (0, 12)]


@pytest.mark.parametrize(
    'kind, sharded',
    [
        ('scattered', True),
        ('scattered-shuffled', False),
        ('divided', False),
        ('divided', True),
        ('divided-threads', True),
        ('divided', 'gradients'),
        ('divided', 'parameters'),
    ],
)
def test_checkpoints_for_any_number_of_ranks(comm, folder, kind, sharded):
    """Fewer and more ranks go on as if nothing had happened, in the middle of epochs."""
    setting = {'make_iterator': ITERATORS[kind], 'sharded': sharded}
    expected, expected_state = run_ranks(comm, f'{folder}/whole', comm.size, 12, **setting)
    steps = []
    for fewer, n in STEPS:
        n_ranks = max(comm.size - fewer, 1)
        more, state = run_ranks(comm, f'{folder}/parts', n_ranks, n, **setting)
        steps += more
    for epoch in steps[:5], steps[5:10]:
        assert sorted(sum(epoch, [])) == list(range(N_SAMPLES))
    if kind != 'scattered-shuffled' or comm.size == 1:  # whose parts draw orders of their own
        assert [sorted(step) for step in steps] == [sorted(step) for step in expected]
        assert state == expected_state


class Values(chainer.Chain):
    """Persistent values of all kinds, and a parameter without elements."""

    def __init__(self, rank):
        super().__init__()
        self.add_persistent('text', f'rank {rank} é')
        self.add_persistent('complex', numpy.array([1 + 2j, rank]))
        self.add_persistent('none', None)
        self.add_persistent('flag', rank % 2 == 0)
        self.add_persistent('half', numpy.full((2, 0, 3), rank, 'float16'))
        self.add_persistent('fortran', numpy.asfortranarray(numpy.arange(6).reshape(2, 3) + rank))
        with self.init_scope():
            self.W = chainer.Parameter(numpy.ones((3, 2), 'f'))
            self.empty = chainer.Parameter(numpy.ones((0, 2), 'f'))

    def forward(self, x):
        return chainer.functions.sum(self.W) * float(x[0])


def test_checkpoints_hold_all_kinds_of_values(comm, folder):
    models = []
    for rank, n in (comm.rank, 2), (100, 3):
        optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), comm)
        optimizer.setup(Values(rank))
        iterator = iterators.SerialIterator([1.0, 2.0, 3.0], 1)
        updater = training.StandardUpdater(
            iterator, optimizer, converter=lambda batch, device: batch
        )
        trainer = training.Trainer(updater, (n, 'iteration'), out=folder)
        checkpointer = chainermn.create_multi_node_checkpointer('run', comm)
        trainer.extend(checkpointer, trigger=(2, 'iteration'))
        checkpointer.maybe_load(trainer)
        models.append(optimizer.target)
        if n == 2:
            trainer.run()
    for path, value in chainer.serializers.npz.serialize(models[0]).items():
        loaded = chainer.serializers.npz.serialize(models[1])[path]
        numpy.testing.assert_array_equal(loaded, value, err_msg=path)
        assert loaded.dtype == value.dtype, path


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
