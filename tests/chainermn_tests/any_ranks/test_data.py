"""Division of data between ranks, and iterators that agree."""

import numpy
import pytest

import chainer
import chainermn
from chainer import iterators
from chainermn.datasets import scatter


@pytest.mark.parametrize('n', [0, 1, 5, 8, 10])
@pytest.mark.parametrize('equal', [True, False])
@pytest.mark.parametrize('shuffle', [True, False])
def test_scatter_dataset(comm, n, equal, shuffle):
    root = comm.size - 1
    dataset = [10 * i for i in range(n)] if comm.rank == root else None
    part = chainermn.scatter_dataset(dataset, comm, root, shuffle, seed=3, force_equal_length=equal)
    assert isinstance(part, chainer.datasets.SubDataset)
    parts = comm.allgather_obj(list(part))
    order = numpy.random.RandomState(3).permutation(n) if shuffle else range(n)
    everything = [10 * i for i in order]
    if equal:
        assert {len(p) for p in parts} == {-(-n // comm.size)}
        assert {x for p in parts for x in p} == set(everything)
    else:
        assert [x for p in parts for x in p] == everything
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_scatter_index(comm):
    total = 7 if comm.rank == 0 else None
    begin, end = chainermn.scatter_index(total, comm, force_equal_length=False)
    intervals = comm.allgather_obj((begin, end))
    assert [i for a, b in intervals for i in range(a, b)] == list(range(7))
    begin, end = chainermn.scatter_index(total, comm)
    assert 0 <= begin and end <= 7 and end - begin == -(-7 // comm.size)


def test_scatter_needs_a_dataset(comm):
    if comm.size == 1:
        with pytest.raises(ValueError, match='dataset must be given on the root, rank 0'):
            chainermn.scatter_dataset(None, comm)


def test_epochs_of_parts_of_different_length(comm):
    dataset = range(10 * (comm.rank + 1))
    with pytest.warns(DeprecationWarning, match='deprecated'):
        n = scatter.get_n_iterations_for_one_epoch(dataset, 3, comm)
    assert n == -(-10 * comm.size // 3)
    with pytest.warns(DeprecationWarning, match='deprecated'):
        assert scatter.get_epoch_trigger(2, dataset, 3, comm) == (2 * n, 'iteration')


def test_empty_dataset():
    assert chainermn.datasets.create_empty_dataset(range(3)) == [(), (), ()]
    assert issubclass(chainermn.DataSizeError, RuntimeError)


STATE = 'current_position', 'epoch', 'is_new_epoch', 'epoch_detail', 'previous_epoch_detail'


def state_of(iterator):
    return [getattr(iterator, name) for name in STATE]


@pytest.mark.parametrize('repeat', [True, False])
def test_multi_node_iterator(comm, repeat, folder):
    master = comm.size - 1

    def make():
        actual = None
        if comm.rank == master:
            actual = iterators.SerialIterator(list('abcde'), 2, repeat, shuffle=False)
        return chainermn.iterators.create_multi_node_iterator(actual, comm, master)

    iterator = make()
    reference = iterators.SerialIterator(list('abcde'), 2, repeat, shuffle=False)
    for _ in range(6):
        batch = next(reference, None)
        assert next(iterator, None) == batch
        assert state_of(iterator) == state_of(reference)
    iterator.reset()
    reference.reset()
    assert iterator.next() == reference.next()
    chainer.serializers.save_npz(f'{folder}/{comm.rank}', iterator)
    other = make()
    chainer.serializers.load_npz(f'{folder}/{comm.rank}', other)
    assert state_of(other) == state_of(reference)
    assert other.next() == reference.next()
    assert other.repeat is repeat
    iterator.finalize()


def test_multi_node_iterator_needs_a_master(comm):
    if comm.size == 1:
        with pytest.raises(ValueError, match='must be given on the master, rank 0'):
            chainermn.iterators.create_multi_node_iterator(None, comm)


@pytest.mark.parametrize('kind', [iterators.SerialIterator, iterators.MultithreadIterator])
def test_synchronized_iterator(comm, kind):
    numpy.random.seed(comm.rank)
    iterator = kind(list(range(100)), 30)
    iterator = chainermn.iterators.create_synchronized_iterator(iterator, comm)
    batches = comm.allgather_obj([iterator.next() for _ in range(8)])
    assert all(b == batches[0] for b in batches)
    assert sorted(sum(batches[0], [])[:100]) == list(range(100)) != sum(batches[0], [])[:100]
    iterator.finalize()


def test_synchronized_iterator_without_a_known_order(comm):
    def sampler(order, position):
        return order

    plain = iterators.SerialIterator([1, 2], 1, shuffle=False)
    assert chainermn.iterators.create_synchronized_iterator(plain, comm) is plain
    with pytest.raises(ValueError, match='ShuffleOrderSampler, but has function'):
        chainermn.iterators.create_synchronized_iterator(
            iterators.SerialIterator([1, 2], 1, order_sampler=sampler), comm
        )


class DictSerializer(chainer.serializer.Serializer):
    """Writes all values into one dict, as serializers of other programs do."""

    def __init__(self, target, path=''):
        self.target, self.path = target, path

    def __getitem__(self, key):
        return DictSerializer(self.target, f'{self.path}{key}/')

    def __call__(self, key, value):
        self.target[self.path + key] = numpy.asarray(value).copy()
        return value


class DictDeserializer(chainer.serializer.Deserializer):
    def __init__(self, target, path=''):
        self.target, self.path = target, path

    def __getitem__(self, key):
        return DictDeserializer(self.target, f'{self.path}{key}/')

    def __call__(self, key, value):
        stored = self.target[self.path + key]
        if isinstance(value, numpy.ndarray):
            value[...] = stored
            return value
        return stored if value is None else type(value)(stored)


@pytest.mark.parametrize('repeat', [True, False])
@pytest.mark.parametrize('shuffle', [True, False])
@pytest.mark.parametrize('kind', [iterators.SerialIterator, iterators.MultithreadIterator])
@pytest.mark.parametrize('source', ['own', 'master', 'plain', 'old'])
def test_serialized_multi_node_iterator(comm, repeat, shuffle, kind, source):
    """Each rank reads what it wrote, what the master wrote, and what the actual iterator writes."""
    master = comm.size - 1
    n_batches = 3 if repeat else 2

    def make():
        return kind(list(range(7)), 3, repeat, shuffle)

    iterator = chainermn.iterators.create_multi_node_iterator(make(), comm, master)
    seen = sum([iterator.next() for _ in range(n_batches)], [])
    target = {}
    if comm.rank == master and source in ('plain', 'old'):
        iterator.actual_iterator.serialize(DictSerializer(target))
    else:
        iterator.serialize(DictSerializer(target))
    if source != 'own':
        target = comm.bcast_obj(target, root=master)
    if source == 'old':  # of Chainer 2
        del target['previous_epoch_detail']
    other = chainermn.iterators.create_multi_node_iterator(make(), comm, master)
    other.serialize(DictDeserializer(target))
    expected = state_of(iterator)
    if source == 'old':
        expected[-1] = comm.bcast_obj(other.previous_epoch_detail, root=master)
        if comm.rank != master:
            expected[-1] = None
    assert state_of(other) == pytest.approx(expected)
    seen += other.next()
    assert sorted(seen[:7]) == list(range(7))
    assert state_of(other) == comm.bcast_obj(state_of(other), root=master)
    assert next(other, None) is None or repeat
    for it in iterator, other:
        it.finalize()
