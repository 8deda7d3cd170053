"""What a simulation measures: the step of a rank, and what connects the ranks."""

import numpy
import pytest

import chainer
import chainer.links as L
import chainermn
from chainermn import simulation


@pytest.fixture
def comm(world):
    return chainermn.create_communicator('naive', world)


def test_cluster(world, comm):
    cluster = simulation.measure_cluster(comm, rounds=2)
    assert cluster.size == world.size
    assert (cluster.hosts, cluster.ranks_per_host) == (comm.inter_size, comm.intra_size)
    assert comm.allgather_obj(cluster) == [cluster] * world.size
    assert cluster.memory.bandwidth > 0
    assert (cluster.memory.latency > 0) == (comm.intra_size > 1)


def test_connection_of_any_ranks(world, comm):
    if world.size == 1:
        pytest.skip('needs two ranks')
    connection = simulation.measure_connection(comm, world.size - 1, 0, n_bytes=3, rounds=1)
    assert comm.allgather_obj(connection) == [connection] * world.size
    assert connection.latency > 0 and connection.bandwidth > 0 and connection.overhead >= 0


@pytest.mark.parametrize(
    ('ranks', 'options', 'error', 'match'),
    [
        ((-1, 0), {}, ValueError, 'source must be a rank from 0'),
        ((0, 99), {}, ValueError, 'target must be a rank from 0'),
        ((0, 0), {}, ValueError, 'two ranks, not both 0'),
    ],
)
def test_bad_ranks(comm, ranks, options, error, match):
    with pytest.raises(error, match=match):
        simulation.measure_connection(comm, *ranks, **options)


@pytest.mark.parametrize('name', ['n_bytes', 'rounds'])
@pytest.mark.parametrize(('value', 'error'), [(0, ValueError), (1.5, TypeError)])
def test_bad_counts(world, comm, name, value, error):
    if world.size == 1:
        pytest.skip('needs two ranks')
    with pytest.raises(error, match=f'{name} must be'):
        simulation.measure_connection(comm, **{name: value})
    if name == 'rounds':
        with pytest.raises(error, match='rounds must be'):
            simulation.measure_cluster(comm, rounds=value)


class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.first = L.Linear(3, 5, nobias=True)
            self.last = L.Linear(5, 2, nobias=True)

    def forward(self, x):
        return self.last(self.first(x))


@pytest.mark.parametrize('device', ['@numpy', pytest.param('native:0', marks=pytest.mark.chainerx)])
def test_step(device):
    model = L.Classifier(Model())
    model.to_device(device)
    optimizer = chainer.optimizers.SGD().setup(model)
    x, t = map(model.device.send, (numpy.ones((4, 3), 'f'), numpy.zeros(4, 'i')))
    step = simulation.measure_step(optimizer, model, x, t, rounds=2)
    assert optimizer.t == 3
    assert min(step.forward, step.backward, step.update) > 0
    # Backward tells of the last layer first.
    assert step.gradients == (40, 60)
    assert 0 < step.ready[0] < step.ready[1] <= step.backward


def test_bad_steps():
    optimizer = chainer.optimizers.SGD()
    with pytest.raises(RuntimeError, match='call its `setup`'):
        simulation.measure_step(optimizer, None)
    with pytest.raises(ValueError, match='rounds must be at least 1, not 0'):
        simulation.measure_step(optimizer, None, rounds=0)
    with pytest.raises(TypeError, match='GradientMethod, not int'):
        simulation.measure_step(3, None)
