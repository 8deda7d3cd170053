"""Local steps with means of parameters equal a simulation of all ranks in NumPy."""

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainermn
from chainer import optimizers

DEVICES = ['@numpy', pytest.param('native:0', marks=pytest.mark.chainerx)]
LR, MOMENTUM = 0.1, 0.9


class Regression(chainer.Chain):
    """Linear map with a matrix that travels alone, and another that may not be used."""

    def __init__(self, n_in=7, n_out=5, dtype='float32'):
        super().__init__()
        generator = numpy.random.default_rng(0)
        with self.init_scope():
            self.W = chainer.Parameter(generator.standard_normal((n_out, n_in)).astype(dtype))
            self.b = chainer.Parameter(numpy.zeros(n_out, dtype))
            self.rare = chainer.Parameter(numpy.ones((3, 0), dtype))
            self.scale = chainer.Parameter(numpy.array(1, dtype))
        self.add_persistent('calls', numpy.zeros(1))

    def forward(self, x, t):
        self.calls[0] += 1
        return F.sum((F.linear(x, self.W, self.b) - t) ** 2) / x.size


def data_of(rank, step, n_in=7, n_out=5):
    generator = numpy.random.default_rng([rank, step])
    x = generator.standard_normal((4, n_in)).astype('float32')
    return x, generator.standard_normal((4, n_out)).astype('float32')


class Simulation:
    """All ranks, in float64."""

    def __init__(self, n_ranks, momentum=0.0, averages_states=False):
        model = Regression()
        self.params = [
            [p.array.astype('float64') for p in (model.W, model.b)] for _ in range(n_ranks)
        ]
        self.states = [[numpy.zeros_like(p) for p in params] for params in self.params]
        self._momentum = momentum
        self._averages_states = averages_states

    def step(self, number, averages):
        for rank, ((w, b), (vw, vb)) in enumerate(zip(self.params, self.states)):
            x, t = data_of(rank, number)
            gy = 2 * (x @ w.T + b - t) / x.size
            for p, v, g in (w, vw, gy.T @ x), (b, vb, gy.sum(axis=0)):
                v *= self._momentum
                v -= LR * g
                p += v
        if averages:
            self._average(self.params)
            if self._averages_states:
                self._average(self.states)

    def _average(self, values):
        for arrays in zip(*values):
            mean = sum(arrays) / len(arrays)
            for array in arrays:
                array[...] = mean


def to_host(array):
    return chainer.get_device('@numpy').send(array)


def create(comm, optimizer, model, **options):
    return chainermn.create_multi_node_optimizer(optimizer, comm, **options).setup(model)


def update(multi, model, comm, number):
    multi.update(model, *map(model.device.send, data_of(comm.rank, number)))


def assert_rank_equals(model, simulation, comm, tolerance=1e-6):
    for param, expected in zip((model.W, model.b), simulation.params[comm.rank]):
        numpy.testing.assert_allclose(to_host(param.array), expected, 0, tolerance)


def assert_equal_on_all(comm, arrays):
    own = [to_host(array) for array in arrays]
    for other in comm.allgather_obj(own):
        for one, two in zip(own, other):
            numpy.testing.assert_array_equal(one, two)


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('steps', [1, 3])
@pytest.mark.parametrize('momentum', [0, MOMENTUM])
@pytest.mark.parametrize('averages_states', [False, True])
def test_equals_simulation(comm, averages_states, momentum, steps, device):
    model = Regression()
    if comm.rank:
        model.W.array[...] = 9  # the first update gives it that of rank 0
    model.to_device(device)
    optimizer = optimizers.MomentumSGD(LR, momentum) if momentum else optimizers.SGD(LR)
    options = {'local_steps': steps, 'average_states': averages_states}
    multi = create(comm, optimizer, model, **options)
    simulation = Simulation(comm.size, momentum, averages_states)
    update(multi, model, comm, 99)
    assert_rank_equals(model, simulation, comm, 0)
    for i in range(8):
        update(multi, model, comm, i)
        simulation.step(i, averages=(i + 1) % steps == 0)
        assert_rank_equals(model, simulation, comm)
        if (i + 1) % steps == 0:
            assert_equal_on_all(comm, [param.array for param in model.params()])
    if momentum:
        for param, expected in zip((model.W, model.b), simulation.states[comm.rank]):
            actual = to_host(param.update_rule.state['v'])
            numpy.testing.assert_allclose(actual, expected, 0, 1e-6)
    assert model.calls[0] == 9
    assert multi.t == 8


@pytest.mark.parametrize('device', DEVICES)
def test_one_step_equals_means_of_gradients(comm, device):
    models = []
    for options in {'local_steps': 1}, {}:
        models.append(Regression())
        models[-1].to_device(device)
        multi = create(comm, optimizers.SGD(LR), models[-1], **options)
        for i in range(5):
            update(multi, models[-1], comm, i)
    for one, two in zip(models[0].params(), models[1].params()):
        numpy.testing.assert_allclose(to_host(one.array), to_host(two.array), 0, 1e-6)


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('setting', [None, 'bfloat16'])
def test_large_parameters_keep_their_dtype(comm, setting, device):
    """Whatever gradients are sent in, parameters do not lose bits."""
    comm.set_config('allreduce_grad_dtype', setting)
    model = Regression(300, 301)
    model.to_device(device)
    multi = create(comm, optimizers.SGD(0), model, local_steps=1)
    for i in range(3):
        multi.update(lambda: F.sum(model.W))
        start = numpy.arange(model.W.size, dtype='float32').reshape(model.W.shape)
        model.W.array = model.device.send(start + comm.rank + i)
    multi.update(lambda: F.sum(model.W))
    expected = start + 2 + (comm.size - 1) / 2
    numpy.testing.assert_allclose(to_host(model.W.array), expected, 1e-6)


HALVES = [
    ('float16', '@numpy'),
    pytest.param('float16', 'native:0', marks=pytest.mark.chainerx),
    pytest.param('bfloat16', 'native:0', marks=pytest.mark.chainerx),
]


@pytest.mark.parametrize('dtype, device', HALVES)
@pytest.mark.parametrize('has_master', [False, True])
def test_halves(comm, has_master, dtype, device):
    """The mean is computed in float32, and is that of the float32 copies if there are some."""
    model = L.Linear(3, 1, nobias=True, initialW=1)
    model.to_device(device)
    model.W.array = model.W.array.astype(dtype)
    optimizer = optimizers.SGD(1)
    optimizer.use_fp32_update(has_master)
    multi = create(comm, optimizer, model, local_steps=4)
    step = 2.0**-10 * (comm.rank + 1)  # less than the precision of bfloat16
    for _ in range(9):
        multi.update(lambda: F.sum(F.cast(model.W, 'float32')) * step)
    if has_master:
        expected = 1 - 8 * 2.0**-10 * (comm.size + 1) / 2
        master = to_host(model.W.update_rule._fp32_param.array)
        numpy.testing.assert_allclose(master, numpy.full((1, 3), expected), 1e-6)
        actual = to_host(model.W.array.astype('float32'))
        numpy.testing.assert_array_equal(actual, master.astype(model.W.dtype))
    assert model.W.dtype == dtype
    assert_equal_on_all(comm, [model.W.array.astype('float32')])


@pytest.mark.filterwarnings('ignore:Non finite number')
@pytest.mark.parametrize('averages_states', [False, True])
def test_some_ranks_may_skip_updates(comm, averages_states):
    """Infinite gradients of one rank only leave out its updates, not its means."""
    model = L.Linear(3, 1, nobias=True, initialW=1)
    model.W.array = model.W.array.astype('float16')
    optimizer = optimizers.MomentumSGD(0.25)
    optimizer.use_fp32_update()
    multi = create(comm, optimizer, model, local_steps=2, average_states=averages_states)
    multi.loss_scaling()
    for _ in range(3):
        factor = numpy.float32(numpy.inf if comm.rank == 1 else 1)
        multi.update(lambda factor: F.sum(F.cast(model.W, 'float32')) * factor, factor)
    moved = 0.25 * (1 + 1.9) * (comm.size - (comm.size > 1)) / comm.size
    numpy.testing.assert_allclose(model.W.array, numpy.full((1, 3), 1 - moved), 2e-3)
    assert multi.t == (0 if comm.rank == 1 else 2)


def test_parameters_that_come_later(comm):
    model = L.Linear(None, 2, nobias=True)
    multi = create(comm, optimizers.SGD(1), model, local_steps=2)
    multi.update()
    model(numpy.ones((1, 3), 'float32'))
    model.W.array[...] = comm.rank
    model.cleargrads()
    multi.update()
    assert (model.W.array == 0).all()
    for _ in range(2):
        multi.update(lambda: F.sum(model.W) * comm.rank)
    numpy.testing.assert_allclose(model.W.array, -(comm.size - 1), 1e-6)


def test_calls_between_means(comm):
    """Means can come at other times, and their distance can change."""
    model = Regression()
    multi = create(comm, optimizers.SGD(LR), model, local_steps=1)
    simulation = Simulation(comm.size)
    update(multi, model, comm, 99)
    for i in range(7):
        if i == 2:
            multi.local_steps = 3
        update(multi, model, comm, i)
        simulation.step(i, averages=i in (0, 1, 2, 3, 5))
        if i == 3:
            multi.average_params()
        assert_rank_equals(model, simulation, comm)
    multi.setup(model)
    for i in range(4):  # the first one makes parameters equal
        update(multi, model, comm, i)
    assert_equal_on_all(comm, [model.W.array])
    assert multi.local_steps == 3 and not hasattr(multi.actual_optimizer, 'local_steps')


def test_debug_mode_finds_other_numbers_of_steps(comm):
    if comm.size == 1:
        pytest.skip('needs ranks that differ')
    model = Regression()
    multi = create(comm, optimizers.SGD(LR), model, local_steps=1 if comm.rank == 0 else 2)
    with chainer.using_config('debug', True):
        update(multi, model, comm, 0)
        with pytest.raises(RuntimeError, match='rank 0: average_params after update 1'):
            for i in range(2):
                update(multi, model, comm, i)


def test_shared_links(comm):
    link = L.Linear(1, 1, nobias=True, initialW=comm.rank)
    model = chainer.ChainList(link, link)
    create(comm, optimizers.SGD(1), model, local_steps=1).average_params()
    numpy.testing.assert_allclose(link.W.array, (comm.size - 1) / 2)


@pytest.mark.parametrize('device', DEVICES)
def test_resumed_run_equals_unbroken_one(comm, folder, device):
    def make(seed):
        model = Regression()
        model.W.array[...] += seed
        model.to_device(device)
        return model, create(comm, optimizers.Adam(0.01), model, local_steps=4)

    model, multi = make(0)
    for i in range(3):  # two local updates
        update(multi, model, comm, i)
    for name, obj in ('model', model), ('optimizer', multi):
        chainer.serializers.save_npz(f'{folder}/{name}{comm.rank}', obj)
    other, loaded = make(comm.rank)
    for name, obj in ('model', other), ('optimizer', loaded):
        chainer.serializers.load_npz(f'{folder}/{name}{comm.rank}', obj)
    for i in range(3, 9):
        update(multi, model, comm, i)
        update(loaded, other, comm, i)
        for one, two in zip(model.params(), other.params()):
            numpy.testing.assert_array_equal(to_host(one.array), to_host(two.array))
        if i in (4, 8):
            assert_equal_on_all(comm, [param.array for param in other.params()])


def test_loads_states_of_other_optimizers(comm, folder):
    model = Regression()
    multi = create(comm, optimizers.Adam(0.01), model)
    for i in range(4):
        update(multi, model, comm, i)
    chainer.serializers.save_npz(f'{folder}/{comm.rank}', multi)
    local = create(comm, optimizers.Adam(0.01), model, local_steps=4)
    chainer.serializers.load_npz(f'{folder}/{comm.rank}', local)
    before = model.b.array.copy()
    update(local, model, comm, 4)  # the fourth, not one that makes parameters equal
    assert (model.b.array != before).any()
    assert_equal_on_all(comm, [model.b.array])


def test_checkpoint_between_means(comm, folder):
    """Each rank gets its own parameters back."""

    def train(n, name):
        model = Regression()
        multi = create(comm, optimizers.MomentumSGD(LR), model, local_steps=4)
        data = [data_of(comm.rank, i) for i in range(10)]
        iterator = chainer.iterators.SerialIterator(data, 1, shuffle=False)
        updater = chainer.training.StandardUpdater(
            iterator, multi, loss_func=model, converter=lambda batch, device: batch[0]
        )
        trainer = chainer.training.Trainer(updater, (n, 'iteration'), out=folder)
        checkpointer = chainermn.create_multi_node_checkpointer(name, comm, path=folder)
        trainer.extend(checkpointer, trigger=(3, 'iteration'))
        checkpointer.maybe_load(trainer)
        trainer.run()
        return [param.array for param in model.params()]

    train(3, 'a')
    for one, two in zip(train(8, 'a'), train(8, 'b')):
        numpy.testing.assert_array_equal(one, two)


@pytest.mark.parametrize('value', [0, -1, 1.5, True, '8'])
def test_bad_numbers_of_steps(comm, value):
    with pytest.raises(ValueError, match='local_steps must be a positive integer, not'):
        chainermn.create_multi_node_optimizer(optimizers.SGD(), comm, local_steps=value)
    multi = chainermn.create_multi_node_optimizer(optimizers.SGD(), comm, local_steps=2)
    with pytest.raises(ValueError, match='local_steps must be a positive integer, not'):
        multi.local_steps = value
    assert multi.local_steps == 2


@pytest.mark.parametrize(
    'options', [{'sharded': True}, {'sharded': 'parameters'}, {'double_buffering': True}], ids=str
)
def test_options_that_exclude_each_other(comm, options):
    with pytest.raises(ValueError, match='local_steps excludes sharded and double_buffering'):
        chainermn.create_multi_node_optimizer(optimizers.SGD(), comm, local_steps=2, **options)


def test_bad_arguments(comm):
    with pytest.raises(ValueError, match='average_states needs local_steps'):
        chainermn.create_multi_node_optimizer(optimizers.SGD(), comm, average_states=True)
    multi = chainermn.create_multi_node_optimizer(optimizers.SGD(), comm, local_steps=2)
    for call in multi.update, multi.average_params:
        with pytest.raises(RuntimeError, match='call `setup` method before'):
            call()
