"""Micro-batches in the 1F1B schedule, against micro-batches one after the other and one process."""

import gc
import re
import weakref

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainermn
from chainer import reporter

DEVICES = ['@numpy', pytest.param('native:0', marks=pytest.mark.chainerx)]
N_EXAMPLES = 11


def linear(seed, n_in=5, n_out=5):
    rng = numpy.random.RandomState(seed)
    return L.Linear(n_in, n_out, initialW=rng.normal(0, 1, (n_out, n_in)).astype('float32'))


def neighbours(comm):
    """Ranks before and after this one in a chain over all ranks."""
    last = comm.size - 1
    return comm.rank - 1 if comm.rank else None, comm.rank + 1 if comm.rank < last else None


def make_chain(comm, *links):
    chain = chainermn.MultiNodeChainList(comm)
    source, dest = neighbours(comm)
    inside = [comm.rank] * (len(links) - 1)
    for link, *ranks in zip(links, [source, *inside], [*inside, dest]):
        chain.add_link(link, *ranks)
    return chain


def data(device='@numpy', n=N_EXAMPLES, width=5):
    rng = numpy.random.RandomState(0)
    x = rng.normal(0, 1, (n, width)).astype('float32')
    return [*map(chainer.get_device(device).send, (x, numpy.arange(n, dtype='int32') % width))]


def function(comm, chain):
    """Loss function and whether it takes inputs and labels."""
    is_first, is_last = comm.rank == 0, comm.rank == comm.size - 1

    def forward(x=None, t=None):
        y = chain(x) if is_first else chain()
        return F.softmax_cross_entropy(y, t) if is_last else y

    return forward, is_first, is_last


def arguments(comm, chain, device='@numpy', **options):
    x, t = data(device, **options)
    forward, is_first, is_last = function(comm, chain)
    return forward, {**({'x': x} if is_first else {}), **({'t': t} if is_last else {})}


def grads(link):
    send = chainer.get_device('@numpy').send
    return {name: send(param.grad) for name, param in link.namedparams()}


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('n', [1, 2, 4, N_EXAMPLES])
@pytest.mark.parametrize('n_links', [1, 2])
def test_gradients(comm, n_links, n, device):
    def make_stages():
        return [[linear(10 * i + k) for k in range(n_links)] for i in range(comm.size)]

    chain = make_chain(comm, *make_stages()[comm.rank])
    chain.to_device(device)
    forward, kwargs = arguments(comm, chain, device)
    chain.cleargrads()
    loss = chain.run_1f1b(n, forward, **kwargs)
    actual = grads(chain)

    chain.cleargrads()
    sequential = 0
    for i in range(n):
        part = slice(N_EXAMPLES * i // n, N_EXAMPLES * (i + 1) // n)
        own = forward(**{key: x[part] for key, x in kwargs.items()})
        own *= (part.stop - part.start) / N_EXAMPLES
        own.backward()
        sequential += float(own.array)
    for name, grad in grads(chain).items():
        assert actual[name].tobytes() == grad.tobytes()
    numpy.testing.assert_allclose(float(loss), sequential, 1e-6)

    stages = make_stages()
    whole = chainer.Sequential(*[link for stage in stages for link in stage])
    whole.cleargrads()
    x, t = data()
    expected = F.softmax_cross_entropy(whole(x), t)
    expected.backward()
    for name, grad in grads(chainer.ChainList(*stages[comm.rank])).items():
        numpy.testing.assert_allclose(actual[name], grad, 1e-5, 1e-6)
    if comm.rank == comm.size - 1:
        assert loss.shape == () and loss.dtype == numpy.float32
        numpy.testing.assert_allclose(float(loss), float(expected.array), 1e-6)
    else:
        assert float(loss) == 0


class Tap(chainer.FunctionNode):
    """Identity that tells how many graphs there are, as each has one of it."""

    live: weakref.WeakSet = weakref.WeakSet()

    def forward(self, inputs):
        self.live.add(self)
        return tuple([x.copy() for x in inputs])

    def backward(self, indexes, gys):
        return gys


class Counter(chainer.Chain):
    def __init__(self, link):
        super().__init__()
        with self.init_scope():
            self.link = link
        self.counts = []

    def forward(self, x):
        (y,) = Tap().apply((self.link(x),))
        self.counts.append(len(Tap.live))
        return y


def test_live_graphs(comm):
    """A stage keeps as many graphs as there are stages from it on, and the last one only one."""
    link = Counter(linear(0))
    chain = make_chain(comm, link)
    forward, kwargs = arguments(comm, chain)
    chain.cleargrads()
    gc.collect()
    gc.disable()

    def report(**kwargs):
        loss = forward(**kwargs)
        reporter.report({'loss': loss, 'name': 'text'})
        return loss

    try:
        with reporter.Reporter() as own:
            chain.run_1f1b(N_EXAMPLES, report, **kwargs)
        n_left = len(Tap.live)
    finally:
        gc.enable()
    most = comm.size - comm.rank
    assert link.counts == [min(i, most) for i in range(1, N_EXAMPLES + 1)]
    assert n_left == 0 and own.observation['name'] == 'text'


def test_large_messages(comm):
    """Messages for which MPI waits until they are received, in both directions at once."""
    chain = make_chain(comm, linear(comm.rank, 400, 400))
    forward, kwargs = arguments(comm, chain, n=4 * 1000, width=400)
    chain.cleargrads()
    for _ in range(2):
        chain.run_1f1b(4, forward, **kwargs)
    assert numpy.isfinite(chain[0].W.grad).all()


@pytest.mark.parametrize('device', DEVICES)
def test_classifier_and_inputs(comm, device):
    """Reports are means over the batch, gradients reach the inputs, and lists are divided."""
    chain = make_chain(comm, linear(comm.rank))
    model = L.Classifier(chain)
    model.to_device(device)
    x, t = data(device)
    x = chainer.Variable(x)

    def forward(*args):
        if comm.rank < comm.size - 1:
            return chain(*args)
        y = chain(*args[:-1])
        assert isinstance(args[-1], list) and len(args[-1]) in (2, 3)
        t = model.device.send(numpy.array(args[-1], 'int32'))
        loss, accuracy = F.softmax_cross_entropy(y, t), F.accuracy(y, t)
        reporter.report({'loss': loss, 'accuracy': accuracy}, model)
        return loss

    inputs = [x] if comm.rank == 0 else []
    labels = [[*map(int, t)]] if comm.rank == comm.size - 1 else []
    own = reporter.Reporter()
    own.add_observer('main', model)
    observation = {}
    model.cleargrads()
    with own.scope(observation):
        loss = chain.run_1f1b(4, forward, *inputs, *labels)

    whole = chainer.Sequential(*[linear(i) for i in range(comm.size)])
    x_one, t = data()
    x_one = chainer.Variable(x_one)
    y_one = whole(x_one)
    F.softmax_cross_entropy(y_one, t).backward()
    send = chainer.get_device('@numpy').send
    if comm.rank == 0:
        numpy.testing.assert_allclose(send(x.grad), x_one.grad, 1e-5, 1e-6)
    if comm.rank == comm.size - 1:
        numpy.testing.assert_allclose(float(observation['main/loss']), float(loss), 1e-6)
        accuracy = float(F.accuracy(y_one, t).array)
        numpy.testing.assert_allclose(float(observation['main/accuracy']), accuracy, 1e-6)
    else:
        assert observation == {}


def test_chain_of_each_rank(comm):
    """Several chains of one stage; gradients are added to those that are there."""
    chain = chainermn.MultiNodeChainList(comm)
    chain.add_link(linear(comm.rank))
    x, t = data()
    model = L.Classifier(chain)
    chain.run_1f1b(3, model, x, t)
    once = grads(chain)
    chain.run_1f1b(3, model, x, t)
    for name, grad in grads(chain).items():
        numpy.testing.assert_allclose(grad, 2 * once[name], 1e-6, 1e-7)


def test_training(comm):
    """Sums of gradients of a plain loop, and the optimizer's update."""
    chain = make_chain(comm, linear(comm.rank))
    forward, kwargs = arguments(comm, chain)
    optimizer = chainer.optimizers.Adam(0.1).setup(chain)
    losses = []
    for _ in range(20):
        chain.cleargrads()
        losses.append(float(chain.run_1f1b(3, forward, **kwargs)))
        optimizer.update()
    if comm.rank == comm.size - 1:
        assert losses[-1] < losses[0] / 2


def chain_of(comm, links_of):
    chain = chainermn.MultiNodeChainList(comm)
    for ranks in links_of(comm.rank, comm.size):
        chain.add_link(linear(0), *ranks)
    return chain


NOT_LINEAR = {
    'to itself': lambda rank, size: [(None, rank)],
    'inputs to both': lambda rank, size: [(None, None), (None, None)],
    'to many': lambda rank, size: [(None, [*range(size), 0]), (0, None)],
    'no receiver': lambda rank, size: [(None, (rank + 1) % size)],
    'circle': lambda rank, size: [((rank - 1) % size, (rank + 1) % size)],
    'way back': lambda rank, size: (
        [(0, 0)] if rank else [(None, size - 1), (size - 1, None if size > 1 else 0)]
    ),
}


@pytest.mark.parametrize('links_of', NOT_LINEAR.values(), ids=NOT_LINEAR)
def test_other_graphs(comm, links_of):
    chain = chain_of(comm, links_of)
    with pytest.raises(ValueError, match='run_1f1b needs a linear chain.*without branches'):
        chain.run_1f1b(2, chain)


def test_errors(comm):
    x, t = data()
    chain = make_chain(comm, linear(0))
    with pytest.raises(ValueError, match='has no link on rank 0'):
        make_chain(comm).run_1f1b(1, chain)
    for n in (0, 12, 2.0, None):
        with pytest.raises(ValueError, match=f'from 1 to the 11 examples of the batch, not {n}'):
            chain.run_1f1b(n, chain, x)
    with pytest.raises(ValueError, match=re.escape(f'{[[10, 11]] * comm.size}')):
        chain.run_1f1b(2, chain, x, t=t[:10])
    if comm.size > 1:
        with pytest.raises(ValueError, match=re.escape('equal on all ranks, but is [1, 2')):
            chain.run_1f1b(comm.rank + 1, chain, x)
        with pytest.raises(ValueError, match='arguments of different lengths'):
            chain.run_1f1b(1, chain, x[comm.rank :])
    for value, text in (3, 'int'), ((x, t), 'tuple'), (x[0, 0], 'float32'), (None, 'NoneType'):
        with pytest.raises(TypeError, match=f'not {text}'):
            chain.run_1f1b(1, chain, value)
    with pytest.raises(TypeError, match='not ndarray without axes'):
        chain.run_1f1b(1, chain, numpy.array(0.0))


def test_a_failure_leaves_the_chain(comm):
    chain = make_chain(comm, linear(0))

    def fail():
        raise ArithmeticError('loss')

    with pytest.raises(ArithmeticError, match='loss'):
        chain.run_1f1b(2, fail)
    forward, kwargs = arguments(comm, chain)
    chain.cleargrads()
    forward(**kwargs).backward()  # as without a schedule
    assert numpy.isfinite(chain[0].W.grad).all()
