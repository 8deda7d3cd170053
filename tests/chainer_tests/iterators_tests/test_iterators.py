"""What Serial-, Multithread- and MultiprocessIterator have in common."""

import copy
import pickle

import numpy
import pytest

import chainer
from chainer import iterators, serializers


def _serial(dataset, batch_size, **kwargs):
    return iterators.SerialIterator(dataset, batch_size, **kwargs)


def _thread(dataset, batch_size, **kwargs):
    return iterators.MultithreadIterator(dataset, batch_size, n_threads=2, **kwargs)


def _process(dataset, batch_size, **kwargs):
    return iterators.MultiprocessIterator(
        dataset, batch_size, n_processes=2, n_prefetch=3, **kwargs
    )


@pytest.fixture(params=[_serial, _thread, _process])
def make(request):
    made = []

    def make(*args, **kwargs):
        it = request.param(*args, **kwargs)
        made.append(it)
        return it

    yield make
    for it in made:
        it.finalize()


def status(it):
    return it.epoch, it.is_new_epoch, it.current_position, it.epoch_detail


class TestRepeat:
    def test_even(self, make):
        it = make([1, 2, 3, 4], 2, shuffle=False)
        assert it.repeat is True
        assert it.previous_epoch_detail is None
        assert status(it) == (0, False, 0, 0.0)
        assert it.next() == [1, 2]
        assert status(it) == (0, False, 2, 0.5)
        assert it.previous_epoch_detail == 0
        assert it.next() == [3, 4]
        assert status(it) == (1, True, 0, 1.0)
        assert it.previous_epoch_detail == 0.5
        assert it.next() == [1, 2]
        assert status(it) == (1, False, 2, 1.5)

    def test_odd(self, make):
        it = make([1, 2, 3, 4, 5], 2, shuffle=False)
        batches = [it.next() for _ in range(3)]
        assert batches == [[1, 2], [3, 4], [5, 1]]
        assert status(it) == (1, True, 1, 1.2)

    def test_shuffled_epochs_are_permutations(self, make):
        data = list(range(10))
        it = make(data, 4)
        sequence = sum((it.next() for _ in range(5)), [])
        assert sorted(sequence[:10]) == sorted(sequence[10:]) == data
        assert it.epoch == 2

    def test_large_batch(self, make):
        it = make([1, 2, 3], 8, shuffle=False)
        assert it.next() == [1, 2, 3, 1, 2, 3, 1, 2]
        assert status(it) == (2, True, 2, pytest.approx(2 + 2 / 3))

    def test_empty(self, make):
        with pytest.raises(ValueError, match='empty'):
            make([], 2).next()

    def test_empty_batch(self):
        with pytest.warns(UserWarning, match='batch_size must be'):
            it = iterators.SerialIterator([1, 2], 0)
        assert it.next() == []
        assert status(it) == (0, False, 0, 0.0)


class TestNoRepeat:
    @pytest.mark.parametrize('n,sizes', [(4, [2, 2]), (5, [2, 2, 1]), (1, [1]), (0, [])])
    def test_sizes(self, make, n, sizes):
        it = make(list(range(n)), 2, repeat=False)
        assert it.repeat is False
        batches = list(it)
        assert [len(batch) for batch in batches] == sizes
        assert sorted(sum(batches, [])) == list(range(n))
        for _ in range(2):
            with pytest.raises(StopIteration):
                it.next()

    def test_end(self, make):
        it = make([1, 2, 3], 2, repeat=False, shuffle=False)
        it.next()
        assert it.next() == [3]
        assert status(it) == (1, True, 0, 1.0)
        assert it.previous_epoch_detail == 2 / 3
        for _ in range(2):
            with pytest.raises(StopIteration):
                it.next()
            assert it.previous_epoch_detail == 1.0
        assert status(it) == (1, True, 0, 1.0)

    def test_orders(self, make):
        # The end of an epoch draws an order, and so does reset.
        r = numpy.random.RandomState(2)
        orders = [r.permutation(7).tolist() for _ in range(3)]
        numpy.random.seed(2)
        it = make(list(range(7)), 3, repeat=False)
        assert sum(it, []) == orders[0]
        it.reset()
        assert sum(it, []) == orders[2]

    def test_reset(self, make):
        it = make([1, 2, 3], 2, repeat=False)
        for _ in range(3):
            assert sorted(sum(it, [])) == [1, 2, 3]
            it.reset()
            assert status(it) == (0, False, 0, 0.0)
            assert it.previous_epoch_detail is None
        it.next()
        it.reset()
        assert sorted(sum(it, [])) == [1, 2, 3]


class TestOrder:
    def test_global_random_state(self, make):
        numpy.random.seed(1)
        expected = numpy.random.permutation(6).tolist()
        expected += numpy.random.permutation(6).tolist()
        numpy.random.seed(1)
        it = make(list(range(6)), 4)
        assert sum((it.next() for _ in range(3)), []) == expected

    def test_order_sampler(self, make):
        calls = []

        def sampler(order, position):
            calls.append((list(order), position))
            return order[::-1]

        it = make([10, 11, 12], 2, order_sampler=sampler)
        assert [it.next() for _ in range(3)] == [[12, 11], [10, 10], [11, 12]]
        assert calls[:2] == [([0, 1, 2], 0), ([2, 1, 0], 2)]

    def test_sampled_subset(self, make):
        it = make(list(range(100)), 2, order_sampler=lambda order, _: numpy.array([7, 3, 5]))
        assert it.next() == [7, 3]
        assert it.epoch_detail == pytest.approx(2 / 3)
        assert it.next() == [5, 7]

    def test_wrong_size(self, make):
        it = make([1, 2, 3], 2, order_sampler=lambda order, _: order[:-1])
        with pytest.raises(ValueError, match='size of order'):
            for _ in range(2):
                it.next()

    def test_conflict(self, make):
        with pytest.raises(ValueError, match='order_sampler'):
            make([1], 1, shuffle=True, order_sampler=lambda order, _: order)

    def test_shuffle_order_sampler(self):
        sampler = iterators.ShuffleOrderSampler(numpy.random.RandomState(0))
        expected = numpy.random.RandomState(0).permutation(5)
        numpy.testing.assert_array_equal(sampler(numpy.arange(5), 0), expected)
        copied = pickle.loads(pickle.dumps(sampler))
        numpy.testing.assert_array_equal(copied(numpy.arange(5), 0), sampler(numpy.arange(5), 0))
        with pytest.raises(NotImplementedError):
            iterators.OrderSampler()(numpy.arange(1), 0)


class _Range:
    def __init__(self, n, without):
        self.n = n
        self.without = without

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i == self.without:
            raise KeyError(i)
        return i


class Sometimes:
    """Dataset whose examples fail when a file exists."""

    def __init__(self, path):
        self.path = path

    def __len__(self):
        return 6

    def __getitem__(self, i):
        if i == 3 and self.path.exists():
            raise KeyError(f'example {i}')
        return i


class TestErrors:
    @pytest.mark.parametrize('make', [_thread, _process], indirect=True)
    def test_the_batch_can_be_tried_again(self, make, tmp_path):
        path = tmp_path / 'fail'
        path.touch()
        numpy.random.seed(3)
        it = make(Sometimes(path), 4)
        sequence = []
        n_errors = 0
        while len(sequence) < 24:
            before = status(it)
            try:
                sequence += it.next()
            except KeyError as e:
                assert 'example 3' in str(e)
                assert status(it) == before
                n_errors += 1
                path.unlink()
        assert n_errors == 1
        for start in range(0, 24, 6):
            assert sorted(sequence[start : start + 6]) == list(range(6))

    def test_serial_iterator_goes_on_after_an_error(self):
        it = iterators.SerialIterator(_Range(5, without=3), 2, shuffle=False)
        assert it.next() == [0, 1]
        with pytest.raises(KeyError):
            it.next()
        assert status(it) == (0, False, 4, 0.8)
        assert it.next() == [4, 0]


class TestSerialize:
    @pytest.mark.parametrize('n_before', range(6))
    @pytest.mark.parametrize('random_state', [False, True])
    def test_resume(self, make, n_before, random_state):
        def new():
            if random_state:
                return make(
                    list(range(7)),
                    3,
                    order_sampler=iterators.ShuffleOrderSampler(numpy.random.RandomState(5)),
                )
            return make(list(range(7)), 3)

        it = new()
        for _ in range(n_before):
            it.next()
        target = serializers.npz.serialize(it)
        state = numpy.random.get_state()
        expected = [(it.next(), status(it), it.previous_epoch_detail) for _ in range(8)]

        resumed = new()
        resumed.next()
        resumed.serialize(serializers.NpzDeserializer(target))
        numpy.random.set_state(state)
        assert expected == [
            (resumed.next(), status(resumed), resumed.previous_epoch_detail) for _ in range(8)
        ]

    @pytest.mark.parametrize('shuffle', [False, True])
    def test_keys(self, make, shuffle):
        it = make(list(range(7)), 3, shuffle=shuffle)
        for _ in range(4):
            it.next()
        target = serializers.npz.serialize(it)
        is_thread = isinstance(it, iterators.MultithreadIterator)
        names = ['current_position', 'epoch', 'is_new_epoch', 'previous_epoch_detail']
        order = ['_order' if is_thread else 'order'] if shuffle or is_thread else []
        assert sorted(target) == sorted(order + names)
        assert [target[name].item() for name in names] == [5, 1, False, 1 + 2 / 7]
        if order:
            assert target[order[0]].tolist() == (it._order.tolist() if shuffle else None)

    @pytest.mark.parametrize(
        'make,n_drawn', [(_serial, 1), (_thread, 2), (_process, 3)], indirect=['make']
    )
    def test_serializing_discards_prefetched_batches(self, make, n_drawn):
        r = numpy.random.RandomState(0)
        orders = [r.permutation(7).tolist() for _ in range(4)]
        numpy.random.seed(0)
        it = make(list(range(7)), 3)
        assert [it.next() for _ in range(2)] == [orders[0][:3], orders[0][3:6]]
        serializers.npz.serialize(it)
        assert it.next() == orders[0][6:] + orders[n_drawn][:2]

    @pytest.mark.parametrize('write', [_serial, _thread])
    def test_files_of_other_iterators(self, make, write):
        it = write(list(range(4)), 3)
        it.next()
        target = serializers.npz.serialize(it)
        other = make(list(range(4)), 3)
        other.serialize(serializers.NpzDeserializer(target))
        assert status(other) == status(it)
        assert other.next()[0] == it.next()[0]
        it.finalize()

    def test_sampler_without_state(self, make):
        # Chainer 7 does not save the generator of a sampler.
        target = serializers.npz.serialize(_serial(list(range(4)), 3))
        sampler = iterators.ShuffleOrderSampler(numpy.random.RandomState(5))
        other = make(list(range(4)), 3, order_sampler=sampler)
        other.serialize(serializers.NpzDeserializer(target))
        assert sorted(other.next() + other.next()[:1]) == [0, 1, 2, 3]

    def test_old_format(self, make):
        it = make(list(range(4)), 2)
        it.next()
        it.next()
        target = serializers.npz.serialize(it)
        del target['previous_epoch_detail']
        other = make(list(range(4)), 2)
        other.serialize(serializers.NpzDeserializer(target))
        assert status(other) == (1, True, 0, 1.0)
        assert other.previous_epoch_detail == 0.5

    def test_other_dataset(self, make):
        target = serializers.npz.serialize(make(list(range(4)), 2))
        other = make(list(range(5)), 2)
        with pytest.raises(ValueError, match='order'):
            other.serialize(serializers.NpzDeserializer(target))


def test_copies(make):
    it = make(list(range(5)), 2, shuffle=False)
    it.next()
    copies = [copy.copy(it), pickle.loads(pickle.dumps(it))]
    for other in copies:
        assert status(other) == (0, False, 2, 0.4)
        assert other.next() == [2, 3]
        other.finalize()
    assert it.next() == [2, 3]


def test_context_manager(make):
    with make([1, 2], 1, repeat=False, shuffle=False) as it:
        assert iter(it) is it
        assert list(it) == [[1], [2]]


class Pipeline:
    """What DaliIterator uses of a pipeline of DALI."""

    batch_size = 2

    def __init__(self):
        self.calls = []

    def build(self):
        self.calls.append('build')

    def epoch_size(self):
        return {'reader': 3}

    def run(self):
        self.calls.append('run')
        return 'batch'


def test_dali():
    pipeline = Pipeline()
    it = iterators.DaliIterator(pipeline, repeat=False)
    assert pipeline.calls == []
    with chainer.no_backprop_mode():
        assert list(it) == ['batch'] * 2
    assert pipeline.calls == ['build', 'run', 'run']
    assert status(it) == (1, True, 0, 1.0)
    assert it.previous_epoch_detail == 2 / 3
    assert (it.repeat, it.epoch_size, it.batch_size) == (False, 3, 2)
    it.reset()
    target = serializers.npz.serialize(it)
    assert sorted(target) == ['current_position', 'epoch', 'is_new_epoch', 'previous_epoch_detail']
    assert it.previous_epoch_detail is None


def test_shuffling_that_starts_later(make):
    """Iterators of speech toolkits give the examples by length first."""
    it = make(list(range(20)), 5, shuffle=False)
    assert [it.next() for _ in range(5)][-1] == [0, 1, 2, 3, 4]
    it.order_sampler = iterators.ShuffleOrderSampler()
    it._order = it.order_sampler(numpy.arange(20), 0)
    if hasattr(it, '_set_prefetch_state'):
        it._set_prefetch_state()
    assert it._epoch_size == 20
    # The rest of the epoch, and a whole one
    order = it._order.tolist()
    assert order != list(range(20))
    assert sum([it.next() for _ in range(3)], []) == order[5:]
    epoch = sum([it.next() for _ in range(4)], [])
    assert sorted(epoch) == list(range(20)) and epoch != order
    assert it.epoch == 3 and it.is_new_epoch


def test_order_that_is_set(make):
    it = make([10, 20, 30], 3, shuffle=False)
    it.next()
    it._order = [2, 0, 1]
    assert [it.next() for _ in range(2)] == [[30, 10, 20]] * 2
    it._order = None
    assert it.next() == [10, 20, 30]
