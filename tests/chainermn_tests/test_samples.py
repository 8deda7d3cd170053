"""Samples of an epoch that are divided again between other ranks."""

import numpy
import pytest

from chainermn._checkpoints import samples


class Ranks:
    """Stands for a communicator of one of several ranks."""

    def __init__(self, rank, size):
        self.rank = rank
        self.size = size


def lengths_of(total, n_ranks, equal):
    intervals = [samples.interval(total, Ranks(rank, n_ranks), equal) for rank in range(n_ranks)]
    return [end - begin for begin, end in intervals], intervals


def make_progress(total, n_ranks, equal, n_steps, batch_size, draw):
    """Ranks that have shuffled their parts and returned some batches."""
    order = draw.permutation(total)
    lengths, intervals = lengths_of(total, n_ranks, equal)
    progress = []
    for length, (begin, end) in zip(lengths, intervals):
        part = draw.permutation(order[begin:end])
        position, epoch = n_steps * batch_size, 3
        if position >= length:  # a shorter part may be in the next epoch
            position, epoch = position - length, 4
        progress.append(samples.Progress(part, position, epoch, batch_size, total))
    return progress


def returned(progress):
    """Samples of the epoch that the ranks have returned, and steps of the others."""
    epoch = min([p.epoch for p in progress])
    positions = [p.position if p.epoch == epoch else p.samples.size for p in progress]
    seen = [p.samples[:position] for p, position in zip(progress, positions)]
    rest = [p.samples[position:] for p, position in zip(progress, positions)]
    return set(numpy.concatenate(seen).tolist()), rest


def steps_of(parts, batch_size):
    n_steps = max([-(-len(part) // batch_size) for part in parts])
    starts = range(0, n_steps * batch_size, batch_size)
    return [sorted(sum([p[i : i + batch_size].tolist() for p in parts], [])) for i in starts]


@pytest.mark.parametrize('equal', [True, False])
@pytest.mark.parametrize('total', [1, 2, 7, 24, 30, 97])
@pytest.mark.parametrize('n_old, n_new', [(1, 3), (2, 5), (3, 2), (4, 1), (4, 3), (5, 5)])
def test_each_sample_comes_once(total, n_old, n_new, equal):
    draw = numpy.random.RandomState(total)
    for n_steps in range(-(-total // n_old) // 2 + 1):
        old = make_progress(total, n_old, equal, n_steps, 2, draw)
        seen, _ = returned(old)
        lengths, _ = lengths_of(total, n_new, equal)
        new = samples.divide(old, lengths, 3)
        assert [part.size for part, _ in new] == lengths
        tails = numpy.concatenate([part[position:] for part, position in new]).tolist()
        assert set(tails) >= set(range(total)) - seen
        # Later epochs have all samples.
        assert set(numpy.concatenate([part for part, _ in new]).tolist()) == set(range(total))
        if len(set(lengths)) == 1:  # the ranks end the epoch together
            assert len({position for _, position in new}) == 1
            assert len(tails) - (total - len(seen)) < n_new
        else:
            assert sorted(tails) == sorted(set(range(total)) - seen)


@pytest.mark.parametrize('n_old, n_new', [(4, 3), (3, 2), (2, 4), (1, 4), (4, 1), (3, 3)])
def test_order_of_the_samples(n_old, n_new):
    """Steps of as many samples have the same samples, also in later epochs."""
    draw = numpy.random.RandomState(0)
    old = make_progress(48, n_old, True, 2, 12 // n_old, draw)
    lengths, _ = lengths_of(48, n_new, True)
    new = samples.divide(old, lengths, 12 // n_new)
    _, rest = returned(old)
    tails = [part[position:] for part, position in new]
    assert steps_of(tails, 12 // n_new) == steps_of(rest, 12 // n_old)
    whole = steps_of([part for part, _ in new], 12 // n_new)
    assert whole == steps_of([p.samples for p in old], 12 // n_old)
