"""Means of which each rank keeps its part, by messages and in memory that the ranks share."""

import errno
import os
from pathlib import Path

import numpy
import pytest

from chainermn import means
from chainermn.means import shared_memory, staging


@pytest.fixture
def make_reducer(world, make_channel):
    def make(shares):
        channel = make_channel(shares and world.size > 1)
        reducer = means.Reducer(channel, means.OverHost(channel))
        reducer.prepare_own_means()
        return reducer

    return make


def make_arrays(sizes, dtype, rank):
    rng = numpy.random.RandomState(rank)
    return [rng.uniform(-1, 1, size).astype(dtype) for size in sizes]


def cut_at(bounds):
    return [slice(a, b) for a, b in zip(bounds, bounds[1:])]


DIVISIONS = {
    'equal': lambda size, n: [size * i // n for i in range(n + 1)],
    'all of the first': lambda size, n: [0] + [size] * n,
    'all of the last': lambda size, n: [0] * n + [size],
    'one of the second': lambda size, n: [0, *[min(1, size)] * (n - 1), size],
}
SIZES = [0, 1, 2, 7, 15, 16, 17, 33, 500]


def own_means(reducer, world, sizes, dtype, divide, seed=0):
    """Starts means; returns them and what they must be."""
    everywhere = [make_arrays(sizes, dtype, seed + rank) for rank in range(world.size)]
    parts = [cut_at(divide(size, world.size)) for size in sizes]
    expected = [
        numpy.mean([array.astype('float64') for array in of_ranks], axis=0)[part[world.rank]]
        for of_ranks, part in zip(zip(*everywhere), parts)
    ]
    return reducer.own_means(everywhere[world.rank], parts), expected


CASES = [  # dtypes, and tolerances
    ('float32', None, 1e-6),
    ('float64', None, 1e-14),
    ('float16', None, 1e-3),
    ('float16', 'float64', 1e-3),
    ('float32', 'bfloat16', 1e-2),
]


@pytest.mark.parametrize('dtype, setting, tolerance', CASES)
@pytest.mark.parametrize('division', DIVISIONS)
@pytest.mark.parametrize('alone', [40, 1 << 20])
def test_values(world, make_reducer, monkeypatch, alone, division, dtype, setting, tolerance):
    """Memory that the ranks share and messages make the same bits."""
    monkeypatch.setattr(staging, 'PIECE', 64)
    monkeypatch.setattr(staging, 'N_SLOTS', 2)
    monkeypatch.setattr(means.own_means, 'ALONE', alone)
    found = []
    for shares in True, False:
        reducer = make_reducer(shares)
        reducer.dtype = setting
        pending, expected = own_means(reducer, world, SIZES, dtype, DIVISIONS[division])
        actual = pending.wait()
        for a, b in zip(actual, expected):
            assert a.dtype == dtype and a.shape == b.shape
            numpy.testing.assert_allclose(a, b, tolerance, tolerance)
        found.append([array.tobytes() for array in actual])
    assert found[0] == found[1]


@pytest.mark.parametrize('shares', [True, False])
@pytest.mark.parametrize('order', ['first to last', 'last to first', 'tests', 'each rank its own'])
def test_many_at_once(world, make_reducer, monkeypatch, order, shares):
    """The ranks may wait in different orders, and test at different times."""
    monkeypatch.setattr(staging, 'PIECE', 64)
    monkeypatch.setattr(staging, 'N_SLOTS', 2)
    reducer = make_reducer(shares)
    divide = DIVISIONS['equal']
    started = []
    for i in range(8):
        started.append(own_means(reducer, world, [9 * i], 'float32', divide, 10 * i))
        if order == 'tests' and i % 3 == world.rank:
            for pending, _ in started:
                pending.test()
    if order == 'last to first' or (order == 'each rank its own' and world.rank % 2):
        started.reverse()
    for pending, expected in started:
        for a, b in zip(pending.wait(), expected):
            numpy.testing.assert_allclose(a, b, 1e-6, 1e-6)


def test_arrays_may_change_after_the_mean(world, make_reducer):
    reducer = make_reducer(True)
    arrays = make_arrays([100000], 'float32', world.rank)
    parts = [cut_at(DIVISIONS['equal'](100000, world.size))]
    (first,) = reducer.own_means(arrays, parts).wait()
    before = first.copy()
    arrays[0] += 1
    (second,) = reducer.own_means(arrays, parts).wait()
    if world.size > 1:  # one rank keeps its array
        numpy.testing.assert_array_equal(first, before)
        numpy.testing.assert_allclose(second, before + 1, 1e-5, 1e-6)


def test_memory_is_that_of_a_few_pieces(world, make_reducer, monkeypatch):
    if world.size == 1:
        pytest.skip('one rank shares with nobody')
    asked = []
    make_rows = shared_memory.make_rows
    monkeypatch.setattr(
        shared_memory,
        'make_rows',
        lambda comm, specs: asked.append(specs) or make_rows(comm, specs),
    )
    reducer = make_reducer(True)
    own_means(reducer, world, [1 << 22], 'float32', DIVISIONS['equal'])[0].wait()
    # It has no name, so the system frees it however the ranks end.
    maps = Path('/proc/self/maps').read_text().splitlines()
    names = [line for line in maps if f'{shared_memory._FOLDER}/chainermn-' in line]
    assert names and all([name.endswith('(deleted)') for name in names])
    assert [sum([size for size, _ in specs]) for specs in asked] == [8 << 20]


def test_messages_where_memory_is_too_small(world, make_reducer, monkeypatch):
    def fail(*args):
        raise OSError(errno.ENOSPC, 'No space left on device')

    monkeypatch.setattr(os, 'posix_fallocate', fail)
    reducer = make_reducer(True)
    assert reducer._staging is None
    pending, expected = own_means(reducer, world, [1000], 'float32', DIVISIONS['equal'])
    numpy.testing.assert_allclose(pending.wait()[0], expected[0], 1e-6, 1e-6)
