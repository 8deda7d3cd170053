"""Extensions of the trainer on several ranks."""

import numpy
import pytest

import chainer
import chainer.links as L
import chainermn
import chainerx
from chainer import iterators, testing
from chainer.training import extensions


class Model(chainer.Chain):
    """Reports the mean of what it gets."""

    def forward(self, x):
        chainer.report({'mean': x.mean(), 'more': chainer.Variable(numpy.asarray(x.max()))}, self)


@pytest.mark.parametrize('lengths', [lambda n: n * 4, lambda n: n * 4 + 1, lambda n: 1])
def test_evaluator(comm, lengths):
    """No example counts twice, and ranks without examples take part."""
    total = lengths(comm.size)
    data = numpy.random.RandomState(0).uniform(0, 1, total).astype('float32')
    part = chainermn.scatter_dataset(data, comm, force_equal_length=False)
    iterator = iterators.SerialIterator(part, 100, repeat=False, shuffle=False)
    evaluator = extensions.Evaluator(iterator, Model())
    assert chainermn.create_multi_node_evaluator(evaluator, comm) is evaluator
    for _ in range(2):
        result = evaluator()
        assert result['main/mean'] == pytest.approx(data.mean(), rel=1e-6)
        assert comm.allgather_obj(result) == [result] * comm.size


def test_evaluator_of_batches(comm):
    part = numpy.full(2, comm.rank, 'float32')
    iterator = iterators.SerialIterator(part, 1, repeat=False, shuffle=False)
    evaluator = chainermn.create_multi_node_evaluator(extensions.Evaluator(iterator, Model()), comm)
    evaluator.name = 'test'
    reporter = chainer.Reporter()
    observation = {}
    reporter.add_observer('test/main', evaluator.get_target('main'))
    with reporter.scope(observation):
        evaluator()
    assert observation['test/main/more'] == (comm.size - 1) / 2


class Everything(chainermn.extensions.GenericMultiNodeEvaluator):
    def calc_local(self, x):
        assert not chainer.config.train and not chainer.config.enable_backprop
        return self.target(x)

    def aggregate(self, results):
        return {'all': [value for values in results for value in values]}


def test_generic_evaluator(comm):
    root = comm.size - 1
    iterator = iterators.SerialIterator(
        numpy.arange(comm.rank + 1) + 10 * comm.rank, 2, repeat=False, shuffle=False
    )
    evaluator = Everything(comm, iterator, lambda x: x.tolist(), root=root)
    evaluator.name = 'validation'
    for _ in range(2):
        observation = {}
        with chainer.Reporter().scope(observation):
            evaluator(None)
        expected = [10 * rank + i for rank in range(comm.size) for i in range(rank + 1)]
        assert observation == ({'validation/all': expected} if comm.rank == root else {})


@pytest.mark.parametrize(
    'methods, expected',
    [
        ({}, lambda values: values),
        ({'calc_local': lambda self, x: int(x[0])}, lambda values: values),
        ({'aggregate': lambda self, results: sum(results)}, sum),
        ({'aggregate': lambda self, results: None}, lambda values: None),
        ({'aggregate': lambda self, results: {'sum': sum(results)}}, lambda v: {'sum': sum(v)}),
    ],
)
def test_defaults_of_the_generic_evaluator(comm, methods, expected):
    """It calls the target, returns what the calls have returned, and reports a dict only."""
    kind = type('Own', (chainermn.extensions.GenericMultiNodeEvaluator,), methods)
    iterator = iterators.SerialIterator([comm.rank + 0.5, comm.rank + 10.5], 1, False, False)
    evaluator = kind(comm, iterator, lambda x: float(x[0]))
    values = [value for rank in range(comm.size) for value in (rank + 0.5, rank + 10.5)]
    if 'calc_local' in methods:
        values = [int(value) for value in values]
    result = None if comm.rank else expected(values)
    observation = {}
    with chainer.Reporter().scope(observation):
        assert evaluator(None) == result
    assert observation == (result if isinstance(result, dict) else {})


def run(comm, folder, n, *entries, observe):
    trainer = testing.get_trainer_with_mock_updater((n, 'iteration'), iter_per_epoch=2)
    trainer.out = f'{folder}/{comm.rank}'
    original = trainer.updater.update

    def update():
        original()
        chainer.report(observe(trainer.updater.iteration))

    trainer.updater.update = update
    seen = []
    for entry in entries:
        trainer.extend(entry, trigger=(1, 'iteration'))
    trainer.extend(lambda t: seen.append(dict(t.observation)), name='see', trigger=(1, 'iteration'))
    trainer.run()
    return seen


def test_observation_aggregator(comm, folder):
    aggregator = chainermn.extensions.ObservationAggregator(
        comm, 'x', 'y', comm_trigger=(2, 'iteration')
    )
    largest = chainermn.extensions.ObservationAggregator(
        comm, 'x', aggregator=lambda values: max(map(max, values))
    )
    seen = run(
        comm, folder, 4, aggregator, largest, observe=lambda i: {'x': float(10 * comm.rank + i)}
    )
    ranks = range(comm.size)
    assert [o.get('y') for o in seen] == [
        None, numpy.mean([10 * r + i for r in ranks for i in (1, 2)]),
        None, numpy.mean([10 * r + i for r in ranks for i in (3, 4)]),
    ]  # fmt: skip
    assert [o['x'] for o in seen] == [10 * (comm.size - 1) + i for i in (1, 2, 3, 4)]


@pytest.mark.parametrize('dtype, mean_dtype', [('f', 'f'), ('d', 'd'), ('e', 'e'), ('i', 'd')])
@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
def test_observation_aggregator_of_variables(comm, dtype, mean_dtype, device):
    """The mean of variables is a variable, and an own function gets variables."""
    if device == 'native:0' and not chainerx.is_available():
        pytest.skip('needs ChainerX')
    device = chainer.get_device(device)
    trainer = testing.get_trainer_with_mock_updater()
    aggregators = [
        chainermn.extensions.ObservationAggregator(
            comm, 'x', 'mean', comm_trigger=(2, 'iteration')
        ),
        chainermn.extensions.ObservationAggregator(
            comm,
            'x',
            'sum',
            comm_trigger=(2, 'iteration'),
            aggregator=lambda parts: sum([sum(part) for part in parts]),
        ),
    ]
    expected = [rank + i for rank in range(comm.size) for i in (1, 2)]
    for i in 1, 2:
        trainer.updater.update()
        x = device.send(numpy.array(comm.rank + i, dtype))
        trainer.observation = {'x': chainer.Variable(x, requires_grad=False)}
        for aggregator in aggregators:
            aggregator(trainer)
    mean, total = trainer.observation['mean'], trainer.observation['sum']
    assert isinstance(mean, chainer.Variable) and isinstance(total, chainer.Variable)
    assert mean.array == numpy.mean(expected) and mean.dtype == mean_dtype
    assert total.array == sum(expected)
    summary = chainer.DictSummary()  # that of LogReport
    summary.add(trainer.observation)
    assert summary.compute_mean()['mean'] == numpy.mean(expected)


def test_early_stopping(comm):
    trainer = testing.get_trainer_with_mock_updater()
    trigger = chainermn.extensions.MultiNodeEarlyStoppingTrigger(
        comm, check_trigger=(1, 'iteration'), monitor='x', patience=2, max_trigger=(9, 'iteration')
    )
    assert trigger.get_training_length() == (9, 'iteration')
    answers = []
    # Only the mean over the ranks gets worse after the second one.
    for value in 3, 2, 4, 5:
        trainer.updater.update()
        own = value * comm.size if comm.rank == 0 else 0
        trainer.observation = {'x': own}
        answers.append(trigger(trainer))
        assert trainer.observation['x_aggregated'] == value
    assert answers == [False, False, False, True]


def test_allreduce_persistent(comm):
    model = chainer.Sequential(L.BatchNormalization(2), L.Linear(2, 2))
    model[0].avg_mean[...] = comm.rank
    model[0].N = comm.rank
    chainermn.extensions.AllreducePersistent(model, comm)()
    assert (model[0].avg_mean == (comm.size - 1) / 2).all() and (model[0].avg_var == 1).all()
    assert model[0].N == comm.rank
