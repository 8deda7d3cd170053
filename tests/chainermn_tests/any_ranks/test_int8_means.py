"""Means of gradients that travel as 8-bit integers, against the formula in NumPy."""

import gc

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainermn
from chainermn import means
from chainermn.means import int8, shared_memory

DEVICES = ['@numpy', pytest.param('native:0', marks=pytest.mark.chainerx)]
# Small gradients are joined, and the large one travels alone.
SHAPES = [(), (0, 2), (300,), (300, 301), (7,), (2, 4)]
JOINED, ALONE = [0, 1, 2, 4, 5], [3]


def quantize(values):
    """What arrives of flat values: integers from -127 to 127, times a scale in 256 of them."""
    result = numpy.empty_like(values)
    for start in range(0, values.size, 256):
        block = values[start : start + 256]
        scale = numpy.abs(block).max() / numpy.float32(127)
        result[start : start + 256] = numpy.rint(block / (scale or 1)) * scale
    return result


class Formula:
    """All ranks in one, for the gradients of a bucket."""

    def __init__(self, n_ranks, size):
        self.residuals = numpy.zeros((n_ranks, size), 'float32')
        self._bounds = [size * i // n_ranks for i in range(n_ranks + 1)]

    def mean(self, grads):
        n_ranks = len(grads)
        result = numpy.empty_like(grads[0])
        for owner in range(n_ranks):
            part = slice(self._bounds[owner], self._bounds[owner + 1])
            given = numpy.array(grads)[:, part] + self.residuals[:, part]
            sent = numpy.array([u if i == owner else quantize(u) for i, u in enumerate(given)])
            self.residuals[:, part] = given - sent
            total = sent[0].copy()
            for array in sent[1:]:
                total += array
            total *= numpy.float32(1 / n_ranks)
            result[part] = quantize(total)
            self.residuals[owner, part] = n_ranks * (total - result[part])
        return result


def grads_of(rank, step):
    rng = numpy.random.RandomState(100 * rank + step)
    return [numpy.asarray(rng.uniform(-1, 1, shape), 'float32') for shape in SHAPES]


def flat(arrays, numbers):
    return numpy.concatenate([arrays[i].reshape(-1) for i in numbers])


def to_host(array):
    return chainer.get_device('@numpy').send(array)


@pytest.fixture
def make_reducer(world, make_channel):
    if world.size == 1:
        pytest.skip('one rank has nothing to send')
    reducers = []

    def make(is_one_host=False, setting='int8'):
        channel = make_channel(is_one_host)
        reducers.append(means.Reducer(channel, means.OverHost(channel)))
        reducers[-1].dtype = setting
        return reducers[-1]

    yield make
    for reducer in reducers:
        reducer.close()


def make_params(device='@numpy', shapes=SHAPES):
    params = [chainer.Parameter(numpy.zeros(shape, 'float32')) for shape in shapes]
    for param in params:
        param.to_device(device)
    return params


def average(reducer, params, grads):
    for param, grad in zip(params, grads):
        param.grad = param.device.send(grad.copy())
    reducer.average(params)
    return [to_host(param.grad) for param in params]


@pytest.mark.parametrize('device', DEVICES)
def test_equals_the_formula(world, make_reducer, device):
    """To the bit, on all ranks."""
    reducer = make_reducer()
    params = make_params(device)
    formulas = {}
    for step in range(4):
        everywhere = [grads_of(rank, step) for rank in range(world.size)]
        actual = average(reducer, params, everywhere[world.rank])
        for numbers in JOINED, ALONE:
            all_flat = [flat(grads, numbers) for grads in everywhere]
            formula = formulas.setdefault(len(numbers), Formula(world.size, all_flat[0].size))
            numpy.testing.assert_array_equal(flat(actual, numbers), formula.mean(all_flat))
            expected = formula.residuals[world.rank]
            residuals = [reducer.residuals.get(params[i]) for i in numbers]
            numpy.testing.assert_array_equal(numpy.concatenate(residuals), expected)


def test_errors_do_not_add_up(world, make_reducer):
    """After any number of steps, the sum of means lacks the residuals of one step only."""
    reducer = make_reducer()
    params = make_params()
    total, exact = numpy.zeros(300), numpy.zeros(300)
    errors = []
    for step in range(50):
        everywhere = [grads_of(rank, step % 2)[2] for rank in range(world.size)]
        exact += numpy.mean(everywhere, axis=0, dtype='float64')
        total += average(reducer, [params[2]], [everywhere[world.rank]])[0]
        errors.append(abs(total - exact).max())
    # Half a scale of what is sent, and half a scale of the mean; values are below 1 and a residual.
    bound = 1 / 127 * (1 + 1 / 127)
    assert 0.2 * bound < max(errors) < bound
    assert errors[-1] / len(errors) < bound / 50


@pytest.mark.parametrize('special', [numpy.nan, numpy.inf, -numpy.inf])
def test_numbers_that_are_not_finite(world, make_reducer, special):
    """Those of one rank arrive everywhere, and leave the next step alone."""
    reducer = make_reducer()
    params = make_params(shapes=[(600 * world.size,)])
    for step in range(3):
        grad = numpy.random.RandomState(step).uniform(-1, 1, 600 * world.size).astype('float32')
        is_bad = numpy.zeros(grad.shape, bool)
        if step == 1:
            if world.rank == 1:
                grad[[5, 900]] = special
            is_bad[:256] = is_bad[856:1112] = True  # blocks of the parts of ranks 0 and 1
        (mean,) = average(reducer, params, [grad])
        numpy.testing.assert_array_equal(numpy.isfinite(mean), ~is_bad)
        assert numpy.isfinite(reducer.residuals.get(params[0])).all()


def test_loss_scales_may_change(world, make_reducer):
    """Residuals have the scale of the gradients that they are added to."""
    reducer = make_reducer()
    (param,) = params = make_params(shapes=[(300,)])
    total, exact = numpy.zeros(300), numpy.zeros(300)
    for step in range(12):
        everywhere = [grads_of(rank, step)[2] for rank in range(world.size)]
        exact += numpy.mean(everywhere, axis=0, dtype='float64')
        scale = 2.0 ** (step % 3 * 8)
        param._loss_scale = scale
        (mean,) = average(reducer, params, [everywhere[world.rank] * numpy.float32(scale)])
        total += mean / scale
    assert abs(total - exact).max() < 1 / 127 * (1 + 1 / 127)


def test_residuals_move_to_other_buckets(world, make_reducer):
    """They belong to parameters: another division does not lose them."""
    reducer = make_reducer()
    params = make_params()
    total, exact = numpy.zeros(300), numpy.zeros(300)
    for step in range(20):
        everywhere = [grads_of(rank, step) for rank in range(world.size)]
        exact += numpy.mean([grads[2] for grads in everywhere], axis=0, dtype='float64')
        # Joined with others, or by itself, so that other ranks own the elements
        numbers = [2] if step % 2 else JOINED
        own = [everywhere[world.rank][i] for i in numbers]
        result = average(reducer, [params[i] for i in numbers], own)
        total += result[numbers.index(2)]
    # An owner that changes adds its residual, times the number of ranks, to what it sends.
    assert abs(total - exact).max() < 1.1 / 127


def test_residuals_end(world, make_reducer):
    """With their parameters, and when gradients are sent in another dtype."""
    reducer = make_reducer()
    params = make_params(shapes=[(300,)])
    average(reducer, params, [grads_of(world.rank, 0)[2]])
    assert reducer.residuals.get(params[0]).any()
    reducer.dtype = 'int8'
    assert reducer.residuals.get(params[0]) is None
    average(reducer, params, [grads_of(world.rank, 0)[2]])
    reducer._forget()  # buckets
    del params
    gc.collect()
    average(reducer, make_params(shapes=[(4,)]), [numpy.ones(4, 'float32')])
    assert len(reducer.residuals._residuals) == 1


def test_shared_memory_is_exact(world, make_reducer):
    """Within a host, no network is there to save."""
    reducer = make_reducer(is_one_host=True)
    params = make_params()
    everywhere = [grads_of(rank, 0) for rank in range(world.size)]
    for mean, *grads in zip(average(reducer, params, everywhere[world.rank]), *everywhere):
        numpy.testing.assert_allclose(mean, numpy.mean(grads, axis=0), 1e-6, 1e-7)
    assert reducer.residuals.get(params[0]) is None


def test_messages_have_a_quarter_of_the_bytes(world, make_reducer, monkeypatch):
    sent = {}
    exchange = means.Channel.exchange

    def count(self, tag, outgoing, incoming):
        sent[setting] += sum([array.nbytes for array in outgoing.values()])
        return exchange(self, tag, outgoing, incoming)

    monkeypatch.setattr(means.Channel, 'exchange', count)
    size = 256 * 2 * world.size
    for setting in None, 'bfloat16', 'int8':
        sent[setting] = 0
        ones = [numpy.ones(size, 'float32')]
        average(make_reducer(setting=setting), make_params(shapes=[(size,)]), ones)
    assert sent['bfloat16'] == sent[None] / 2
    assert sent['int8'] == sent[None] * 260 / 1024


@pytest.fixture
def int8_comm(comm, monkeypatch):
    """Communicator that sends messages, as between hosts."""
    monkeypatch.setattr(shared_memory, '_FOLDER', '/nowhere')
    comm.set_config('allreduce_grad_dtype', 'int8')
    return comm


class Sparse(chainer.Chain):
    """Links of which ranks may use different ones, and one without elements."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.used = L.Linear(3, 2, initialW=1)
            self.rare = L.Linear(3, 2, initialW=1)
            self.empty = chainer.Parameter(numpy.zeros((0, 3), 'float32'))


def test_missing_gradients(int8_comm):
    comm, model = int8_comm, Sparse()
    for step in range(3):
        model.cleargrads()
        links = [model.used, model.rare] if (step + comm.rank) % 2 else [model.used]
        F.sum(sum([link(numpy.full((1, 3), 0.3, 'f')) for link in links])).backward()
        comm.multi_node_mean_grad(model, zero_fill=True)
        count = len([i for i in range(comm.size) if (step + i) % 2])
        numpy.testing.assert_allclose(model.used.W.grad, numpy.full((2, 3), 0.3), 0.01)
        expected = numpy.full((2, 3), 0.3 * count / comm.size)
        numpy.testing.assert_allclose(model.rare.W.grad, expected, 0, 0.01)
        assert model.empty.grad.shape == (0, 3)


def train(comm, device, **options):
    """Returns the accuracy of a network and its parameters."""
    numpy.random.seed(0)
    model = L.Classifier(chainer.Sequential(L.Linear(64, 60), F.relu, L.Linear(60, 10)))
    model.to_device(device)
    optimizer = chainer.optimizers.MomentumSGD(0.05)
    multi = chainermn.create_multi_node_optimizer(optimizer, comm, **options).setup(model)
    data, test = map(chainer.dataset.concat_examples, chainer.datasets.get_digits())
    rng = numpy.random.RandomState(1)
    for _ in range(8):
        order = rng.permutation(len(data[0]))
        for start in range(0, len(order) - 119, 120):
            batch = order[start : start + 120][comm.rank :: comm.size]
            multi.update(model, *[model.device.send(array[batch]) for array in data])
    model(*map(model.device.send, test))
    params = {path: to_host(param.array) for path, param in model.namedparams()}
    for other in comm.allgather_obj(params):
        for path, array in other.items():
            numpy.testing.assert_array_equal(array, params[path])
    return float(model.accuracy.array), params


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('options', [{}, {'bucket_bytes': 0}, {'sharded': True}], ids=str)
def test_digits(int8_comm, options, device):
    """The accuracy is that of gradients in float32, and ranks stay equal to the bit."""
    accuracy, params = train(int8_comm, device, **options)
    int8_comm.set_config('allreduce_grad_dtype', None)
    expected, exact = train(int8_comm, device, **options)
    assert expected > 0.9
    assert abs(accuracy - expected) <= 0.005
    if int8_comm.size > 1:
        assert any([(params[path] != exact[path]).any() for path in params])


@pytest.mark.parametrize('factor', [1, numpy.inf])
@pytest.mark.filterwarnings('ignore:Non finite number')
def test_loss_scaling(int8_comm, factor):
    """All ranks leave out an update if the gradient of one of them overflows."""
    model = L.Linear(3, 1, nobias=True, initialW=1)
    optimizer = chainer.optimizers.SGD(0.5)
    multi = chainermn.create_multi_node_optimizer(optimizer, int8_comm).setup(model)
    multi.loss_scaling()
    for i in range(3):
        own = numpy.float32(factor if i == 2 and int8_comm.rank == int8_comm.size - 1 else 1)
        multi.update(lambda own: F.sum(model.W) * own, own)
    moved = 1.0 if factor == 1 else 0.5
    numpy.testing.assert_allclose(model.W.array, numpy.full((1, 3), 1 - moved), 0, 1e-5)


@pytest.mark.parametrize(
    'options, reason',
    [
        ({'double_buffering': True}, 'with double_buffering, gradients are sent before'),
        ({'sharded': 'gradients'}, 'gradients are divided, and their residuals'),
        ({'sharded': 'parameters'}, 'gradients are divided, and their residuals'),
    ],
)
def test_refused_optimizers(comm, options, reason):
    def make():
        return chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(), comm, **options)

    model = L.Linear(2, 1)
    multi = make().setup(model)
    comm.set_config('allreduce_grad_dtype', 'int8')
    message = f"allreduce_grad_dtype must not be 'int8' here: {reason}"
    with pytest.raises(ValueError, match=message):
        make()
    with pytest.raises(ValueError, match=message):
        for _ in range(2):  # the first one may only send parameters
            multi.update(lambda: F.sum(model(numpy.ones((1, 2), 'float32'))))


def test_refused_communicator(comm):
    nccl = chainermn.create_communicator('pure_nccl', comm.mpi_comm)
    with pytest.raises(ValueError, match="NCCL adds no numbers of 8 bits.*use 'non_cuda_aware'"):
        nccl.set_config('allreduce_grad_dtype', 'int8')
    assert nccl.get_config('allreduce_grad_dtype') is None
    nccl.finalize()


@pytest.mark.parametrize('size', [0, 1, 255, 256, 257, 1 << 15, (1 << 15) + 300])
def test_sizes(size):
    values = numpy.random.RandomState(size).normal(0, 10, size).astype('float32')
    message = numpy.empty(int8.count_bytes(size), 'uint8')
    left, result = numpy.empty_like(values), numpy.empty_like(values)
    int8.encode(values, message, left)
    int8.decode(message, result)
    numpy.testing.assert_array_equal(result, quantize(values))
    numpy.testing.assert_array_equal(left, values - result)


@pytest.mark.parametrize('value', [0, 1e-45, 1e-36, 1e-30, 3.4e38])
def test_extreme_numbers(value):
    """Those too small for a scale stay in the residual."""
    values = numpy.full(10, value, 'float32')
    message = numpy.empty(int8.count_bytes(10), 'uint8')
    left, result = numpy.empty_like(values), numpy.empty_like(values)
    int8.encode(values, message, left)
    int8.decode(message, result)
    if value < 1e-35:
        assert not result.any()
    numpy.testing.assert_allclose(result + left, values, 1e-6)
