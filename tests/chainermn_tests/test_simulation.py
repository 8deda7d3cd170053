"""Simulated steps, against closed forms of their times."""

import dataclasses

import pytest

import chainermn
from chainermn.simulation import Cluster, Coding, Connection, Prediction, Step

MIB = 1 << 20
PIECE = 1 << 18  # bytes of a message
FREE = Connection(0.0, 1e30)
NETWORK = Connection(latency=1e-3, bandwidth=1e8, overhead=1e-4)


def predict(gradients, cluster, forward=0.0, backward=0.0, update=0.0, ready=None, **options):
    step = Step(forward, backward, update, gradients, ready)
    return chainermn.simulate(step, cluster, **options)


def phase(n_bytes, messages, rounds=1):
    """Seconds of one exchange over the network, with nothing else to do."""
    return messages * 1e-4 + rounds * 1e-3 + n_bytes / 1e8


@pytest.mark.parametrize('hosts', [2, 3, 8, 1000])
def test_one_bucket_of_one_rank_on_each_host(hosts):
    n_bytes = hosts * MIB
    result = predict([n_bytes], Cluster(hosts, 1, FREE, NETWORK))
    messages = (hosts - 1) * MIB // PIECE
    assert result.total == pytest.approx(2 * phase((hosts - 1) * MIB, messages))
    assert result.exposed == result.total and result.compute == result.hidden == 0
    assert result.messages == 2 * messages
    assert result.network_bytes == 2 * (hosts - 1) * MIB
    assert result.efficiency == 0


@pytest.mark.parametrize('ranks', [2, 8])
def test_ranks_share_the_card_of_their_host(ranks):
    n_bytes = 2 * ranks * 1000 * 512
    result = predict([n_bytes], Cluster(2, ranks, FREE, NETWORK), algorithm='direct')
    there, pieces = ranks * n_bytes / 2, 2  # of 512000 bytes
    assert result.network_bytes == 2 * there
    assert result.messages == 2 * (2 * ranks - 1) * pieces
    assert result.total == pytest.approx(2 * phase(there, ranks * pieces))


@pytest.mark.parametrize(
    ('algorithm', 'messages', 'rounds', 'sent'),
    [
        # 4 ranks on each of 3 hosts, of 12 * 1000 bytes
        ('direct', 11, 1, 4 * 8000),
        ('ring', 11, 11, 11000),
        ('hierarchy', 2, 1, 8000),
    ],
)
def test_algorithms(algorithm, messages, rounds, sent):
    cluster = Cluster(3, 4, FREE, NETWORK)
    result = predict([12000], cluster, algorithm=algorithm)
    assert result.network_bytes == pytest.approx(2 * sent)
    over_network = 8 if algorithm == 'direct' else messages
    assert result.total == pytest.approx(2 * phase(sent, over_network, rounds))
    # Before and after, a message to each other rank of the host
    assert result.messages == 2 * messages + 6 * (algorithm == 'hierarchy')


@pytest.mark.parametrize(('hosts', 'ranks', 'name'), [(3, 4, 'hierarchy'), (3, 1, 'direct')])
@pytest.mark.parametrize('dtype', [None, 'bfloat16', 'int8'])
def test_default_algorithm(hosts, ranks, name, dtype):
    options = [12000] * 3, Cluster(hosts, ranks, NETWORK, NETWORK)
    result = predict(*options, allreduce_grad_dtype=dtype)
    assert result == predict(*options, allreduce_grad_dtype=dtype, algorithm=name)
    direct = predict(*options, allreduce_grad_dtype=dtype, algorithm='direct')
    assert (result == direct) == (name == 'direct' or dtype == 'int8')


@pytest.mark.parametrize('algorithm', ['direct', 'ring', 'hierarchy'])
def test_algorithms_agree_on_two_ranks(algorithm):
    result = predict([2 * MIB], Cluster(2, 1, FREE, NETWORK), algorithm=algorithm)
    assert result.total == pytest.approx(2 * phase(MIB, 4))


def test_shared_memory():
    memory = Connection(latency=1e-5, bandwidth=1e9, overhead=1e-6)
    n_bytes = 4 * MIB
    result = predict([n_bytes], Cluster(1, 4, memory))
    # Each rank reads and writes as many bytes as its array has; three messages, twice.
    assert result.total == pytest.approx(2 * (1e-5 + 3e-6) + 2 * 4 * n_bytes / 1e9)
    assert result.network_bytes == 0 and result.messages == 6


def test_small_gradients_are_joined():
    memory = Connection(0.0, 1e9)
    alone, joined = (predict(g, Cluster(1, 2, memory)).total for g in ([2 * PIECE], [1024] * 512))
    copies = 2 * (2 * 2 * 2 * PIECE) / 1e9  # read and written, by two ranks, before and after
    assert joined == pytest.approx(alone + copies)


def test_16_bit_messages():
    memory = Connection(0.0, 1e9)
    cluster = Cluster(2, 1, memory, NETWORK)
    result = predict([2 * MIB], cluster, allreduce_grad_dtype='bfloat16')
    rounding = 2 * (2 * MIB + MIB) / 1e9
    mean = (MIB + 2 * MIB / 2) / 1e9
    assert result.total == pytest.approx(2 * phase(MIB / 2, 2) + rounding + mean)
    assert result.network_bytes == MIB


def test_8_bit_messages():
    memory = Connection(0.0, 1e9)
    cluster = Cluster(2, 1, memory, NETWORK, Coding(encode=1e8, decode=2e8))
    result = predict([2 * MIB], cluster, allreduce_grad_dtype='int8')
    sent = 2 * MIB * 260 // 1024  # an integer for each number, and a scale for 256 of them
    # A rank encodes the part of the other and the mean of its own one, and decodes three parts.
    coding = 2 * MIB / 1e8 + 3 * MIB / 2e8
    assert result.total == pytest.approx(2 * phase(sent / 2, 2) + coding)
    assert result.network_bytes == sent
    by_memory = dataclasses.replace(cluster, coding=None)
    result = predict([2 * MIB], by_memory, allreduce_grad_dtype='int8')
    moved = 2 * MIB * 5.25 + 3 * MIB * 1.25
    assert result.total == pytest.approx(2 * phase(sent / 2, 2) + moved / 1e9)
    one_host = Cluster(1, 2, memory)
    exact = predict([2 * MIB], one_host)
    assert predict([2 * MIB], one_host, allreduce_grad_dtype='int8') == exact


def test_overlap_hides_all_but_the_last_bucket():
    cluster = Cluster(2, 1, FREE, Connection(0.0, 1e8))
    seconds = 8 * MIB / 1e8  # of both exchanges of a bucket
    last = 1024
    sizes = [8 * MIB, 8 * MIB, 64 * last]
    # Each bucket has the time of two gradients, as its second exchange waits for the next one.
    ready = [seconds, 2 * seconds, 4 * seconds]
    result = predict(sizes, cluster, backward=4 * seconds, ready=ready)
    assert result.compute == 4 * seconds
    exposed = 8 * MIB / 2 / 1e8 + 2 * 32 * last / 1e8
    assert result.exposed == pytest.approx(exposed)
    assert result.hidden == pytest.approx(1.5 * seconds)


def test_overlap_hides_nothing_after_backward():
    cluster = Cluster(2, 1, FREE, NETWORK)
    after = predict([2 * MIB] * 2, cluster, backward=1.0, bucket_bytes=None)
    assert after.hidden == 0
    # Of four exchanges on the card, the two in the middle follow others without a pause.
    assert after.total == pytest.approx(1 + 2 * phase(MIB, 4) + 2 * MIB / 1e8)
    overlapped = predict([2 * MIB] * 2, cluster, backward=1.0, bucket_bytes=0)
    assert overlapped.exposed < after.exposed
    assert overlapped.hidden > 0


def test_sharded_update():
    cluster = Cluster(4, 1, FREE, NETWORK)
    whole = predict([4000], cluster, update=0.4)
    sharded = predict([4000], cluster, update=0.4, sharded=True)
    assert sharded.compute == pytest.approx(0.1)
    assert sharded.exposed == pytest.approx(whole.exposed + phase(3000, 3))
    assert sharded.messages == whole.messages + 3


@pytest.mark.parametrize('algorithm', ['direct', 'ring', 'hierarchy'])
@pytest.mark.parametrize('gradients', [[], [0], [0, 0]])
@pytest.mark.parametrize('bucket_bytes', [None, 0, MIB])
def test_zero_bytes(algorithm, gradients, bucket_bytes):
    cluster = Cluster(2, 4, NETWORK, NETWORK)
    options = {'algorithm': algorithm, 'bucket_bytes': bucket_bytes}
    result = predict(gradients, cluster, 1.0, 2.0, 3.0, sharded=True, **options)
    assert result.total == result.compute == 3 + 3 / 8
    assert result.messages == result.network_bytes == result.exposed == 0


def test_one_rank():
    result = predict([MIB], Cluster(1, 1, NETWORK), 1.0, 2.0, 3.0)
    assert result == Prediction(6.0, 0.0, 0.0, 0.0, 0)
    assert result.efficiency == 1
    assert Prediction(0.0, 0.0, 0.0, 0.0, 0).efficiency == 1


def test_step():
    step = Step(1.0, 4.0, 0.5, [10, 0, 30])
    assert step.ready == (1.0, 1.0, 4.0)
    assert step.compute == 5.5
    assert Step(0, 2, 0, [0, 0]).ready == (2, 2)
    assert dataclasses.replace(step, forward=2.0).compute == 6.5


GOOD = Step(0, 1, 0, [8])
TWO = Cluster(2, 1, FREE, FREE)


@pytest.mark.parametrize(
    ('call', 'error', 'match'),
    [
        (lambda: Connection(-1, 1), ValueError, 'latency must be a nonneg.* not -1'),
        (lambda: Connection(0, 0), ValueError, 'bandwidth must be a positive .* not 0'),
        (lambda: Connection(0, float('inf')), ValueError, 'bandwidth .* not inf'),
        (lambda: Connection(0, 1, float('nan')), ValueError, 'overhead .* not nan'),
        (lambda: Connection('1 ms', 1), TypeError, "latency must be a number, not '1 ms'"),
        (lambda: Cluster(1, 1, FREE, None, 1.0), TypeError, 'coding must be a Coding, not 1.0'),
        (lambda: Coding(0.0, 1.0), ValueError, 'encode must be'),
        (lambda: Coding(1.0, 'x'), TypeError, 'decode must be'),
        (lambda: Cluster(0, 1, FREE), ValueError, 'hosts must be at least 1, not 0'),
        (lambda: Cluster(1, 1.5, FREE), TypeError, 'ranks_per_host must be an integer'),
        (lambda: Cluster(1, 1, 1e9), TypeError, 'memory must be a Connection'),
        (lambda: Cluster(1, 1, FREE, 1e9), TypeError, 'network must be a Connection or None'),
        (lambda: Cluster(2, 1, FREE), ValueError, 'network must be .* there are 2 hosts'),
        (lambda: Step(0, -1, 0, []), ValueError, 'backward must be'),
        (lambda: Step(0, 1, 0, [1, -1]), ValueError, r'gradients\[1\] must be'),
        (lambda: Step(0, 1, 0, [1.5]), TypeError, r'gradients\[0\] must be an integer, not 1.5'),
        (lambda: Step(0, 1, 0, [1], [0, 1]), ValueError, 'ready must have .* of 1 .* not 2'),
        (lambda: Step(0, 1, 0, [1], [2]), ValueError, r'ready\[0\] must be from 0 to 1'),
        (lambda: Step(0, 1, 0, [1, 1], [1, 0.5]), ValueError, r'ready\[1\] must be from 1'),
        (lambda: chainermn.simulate(1, TWO), TypeError, 'step must be a Step, not 1'),
        (lambda: chainermn.simulate(GOOD, 2), TypeError, 'cluster must be a Cluster, not 2'),
        (
            lambda: chainermn.simulate(GOOD, TWO, algorithm='tree'),
            ValueError,
            "one of direct, ring, hierarchy, not 'tree'",
        ),
        (
            lambda: chainermn.simulate(GOOD, TWO, allreduce_grad_dtype='int4'),
            ValueError,
            "None, float32, float16, bfloat16, int8, not 'int4'",
        ),
        (
            lambda: chainermn.simulate(GOOD, TWO, bucket_bytes=-1),
            ValueError,
            'bucket_bytes must be .* not -1',
        ),
        (
            lambda: chainermn.simulate(GOOD, TWO, bucket_bytes='4MB'),
            TypeError,
            "bucket_bytes must be an integer, not '4MB'",
        ),
    ],
)
def test_bad_input(call, error, match):
    with pytest.raises(error, match=match):
        call()
