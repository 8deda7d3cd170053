"""Training steps under ``chainer.compile``, compared bit by bit with the same steps run eagerly."""

import copy

import numpy as np
import pytest
from helpers.compiled import DEVICE, Pair, array, state_of

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import optimizer_hooks as hooks, optimizers

pytestmark = pytest.mark.chainerx


class MLP(chainer.Chain):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = dropout
        with self.init_scope():
            self.l1 = L.Linear(4, 6)
            self.bn = L.BatchNormalization(6)
            self.l2 = L.Linear(6, 3)

    def forward(self, x):
        h = F.relu(self.bn(self.l1(x)))
        if self.dropout:
            h = F.dropout(h, self.dropout)
        return self.l2(h)


class Training:
    """A model with an optimizer."""

    def __init__(self, model, optimizer):
        self.model = model
        self.model.to_device(DEVICE)
        self.optimizer = optimizer.setup(self.model)

    def step(self, x, t):
        loss = F.softmax_cross_entropy(self.model(x), t)
        self.model.cleargrads()
        loss.backward()
        self.optimizer.update()
        return loss

    def state(self):
        return state_of(self.model, self.optimizer)


def batch(n=5, seed=0):
    rng = np.random.RandomState(seed)
    return array(rng.rand(n, 4), 'f'), array(rng.randint(0, 3, n), 'i')


OPTIMIZERS = [
    optimizers.AdaDelta, optimizers.AdaGrad, optimizers.Adam, optimizers.AdamW,
    optimizers.AMSGrad, optimizers.AdaBound, optimizers.AMSBound,
    optimizers.CorrectedMomentumSGD, optimizers.MomentumSGD, optimizers.MSVAG,
    optimizers.NesterovAG, optimizers.RMSprop, optimizers.RMSpropGraves, optimizers.SGD,
    optimizers.SMORMS3,
]  # fmt: skip


@pytest.mark.parametrize('optimizer', OPTIMIZERS, ids=lambda o: o.__name__)
def test_optimizers(optimizer):
    pair = Pair(lambda: Training(MLP(), optimizer()))
    for i in range(12):
        pair.run(*batch(seed=i))
    assert pair.function.replays >= 8


@pytest.mark.parametrize(
    'hook',
    [
        hooks.WeightDecay(0.1),
        hooks.GradientClipping(0.5),
        hooks.GradientHardClipping(-0.1, 0.1),
        hooks.Lasso(0.01),
        hooks.GradientLARS(),
    ],
    ids=lambda h: h.name,
)
def test_hooks_come_and_go(hook):
    pair = Pair(lambda: Training(MLP(), optimizers.MomentumSGD()))
    for i in range(18):
        for program in pair.programs:
            if i == 6:
                program.optimizer.add_hook(copy.deepcopy(hook))
            if i == 12:
                program.optimizer.remove_hook(hook.name)
        pair.run(*batch(seed=i))
    assert pair.function.replays >= 12


def test_shapes_change():
    pair = Pair(lambda: Training(MLP(), optimizers.Adam()))
    for i in range(30):
        pair.run(*batch(2 + i % 3, seed=i))
    assert pair.function.recordings == 3
    assert pair.function.replays >= 20


def test_least_recently_used_plan_goes():
    pair = Pair(lambda: Training(MLP(), optimizers.Adam()), max_plans=2)
    for n in 2, 2, 2, 3, 3, 2, 4, 4:
        pair.run(*batch(n))
    recordings = pair.function.recordings
    assert pair.run(*batch(2))
    assert not pair.run(*batch(3))
    assert pair.function.recordings == recordings + 1


def test_learning_rates_change():
    pair = Pair(lambda: Training(MLP(), optimizers.Adam()))
    for i in range(20):
        for program in pair.programs:
            program.optimizer.alpha = 0.1 / (i + 1)
        pair.run(*batch(seed=i))
    assert pair.function.replays >= 16


def test_modes_change():
    class Mode(Training):
        def step(self, x, t):
            if not chainer.config.train:
                with chainer.no_backprop_mode():
                    return self.model(x)
            return super().step(x, t)

    pair = Pair(lambda: Mode(MLP(dropout=0.4), optimizers.SGD(0.1)))
    for i in range(30):
        with chainer.using_config('train', i % 3 != 0):
            pair.run(*batch(seed=i))
    assert pair.function.replays >= 20
    assert pair.function.recordings == 2


def test_dropout_draws_the_same_numbers():
    pair = Pair(lambda: Training(MLP(dropout=0.5), optimizers.SGD(0.1)))
    for i in range(10):
        pair.run(*batch(seed=i))
    assert pair.function.replays >= 6


def test_accumulated_gradients():
    class Accumulating(Training):
        def step(self, x, t):
            F.softmax_cross_entropy(self.model(x), t).backward()

    pair = Pair(lambda: Accumulating(MLP(), optimizers.SGD()))
    for i in range(12):
        if i == 6:
            for program in pair.programs:
                program.model.cleargrads()
        pair.run(*batch(seed=i))
    assert pair.function.replays >= 6


def test_several_updates():
    class Twice(Training):
        def step(self, x, t):
            first = super().step(x, t)
            return first, super().step(x, t)

    pair = Pair(lambda: Twice(MLP(), optimizers.Adam()))
    for i in range(8):
        pair.run(*batch(seed=i))
    assert pair.function.replays >= 4


def test_update_with_a_loss_function():
    class WithLoss(Training):
        def step(self, x, t):
            self.optimizer.update(lambda: F.softmax_cross_entropy(self.model(x), t))

    pair = Pair(lambda: WithLoss(MLP(), optimizers.Adam()))
    for i in range(8):
        pair.run(*batch(seed=i))
    assert pair.function.replays >= 4


def test_swapped_parameters():
    pair = Pair(lambda: Training(MLP(), optimizers.SGD(0.1)))
    pair.settle(*batch())
    for program in pair.programs:
        program.model.l1.W.array = array(np.ones((6, 4)), 'f')
    assert not pair.run(*batch(seed=1))
    pair.settle(*batch(seed=2))
    for program in pair.programs:
        program.model.l1.W.array[...] = 3  # in place: the plan still fits
    assert pair.run(*batch(seed=3))
    for program in pair.programs:
        program.model.l2 = L.Linear(6, 3, initialW=0.5)
        program.model.l2.to_device(DEVICE)
    assert not pair.run(*batch(seed=1))


def test_saving_loading_and_moving(tmp_path):
    pair = Pair(lambda: Training(MLP(), optimizers.Adam()))
    pair.settle(*batch())
    path = str(tmp_path / 'model.npz')
    chainer.serializers.save_npz(path, pair.usual.model)
    pair.settle(*batch(seed=1))
    for program in pair.programs:
        chainer.serializers.load_npz(path, program.model)
    pair.settle(*batch(seed=2))
    for program in pair.programs:
        program.model.to_device('@numpy')
        program.model.to_device(DEVICE)
    pair.settle(*batch(seed=3))
    for program in pair.programs:
        program.optimizer.setup(program.model)
    pair.settle(*batch(seed=4))
    for program in pair.programs:
        program.model = program.model.copy('copy')
        program.optimizer.setup(program.model)
    pair.settle(*batch(seed=5))


def test_frozen_parameters():
    pair = Pair(lambda: Training(MLP(), optimizers.Adam()))
    pair.settle(*batch())
    for program in pair.programs:
        program.model.l1.disable_update()
    pair.settle(*batch(seed=1))
    for program in pair.programs:
        program.model.l1.enable_update()
    pair.settle(*batch(seed=2))


class Recurrent:
    """A model that keeps its state between the steps, with truncated backprop."""

    def __init__(self, link):
        np.random.seed(0)
        self.rnn = link
        self.model = chainer.Chain(rnn=link, out=L.Linear(4, 3))
        self.model.to_device(DEVICE)
        self.optimizer = optimizers.SGD(0.1).setup(self.model)

    def step(self, xs, t):
        for x in xs:
            h = self.rnn(x)
        loss = F.softmax_cross_entropy(self.model.out(h), t)
        self.model.cleargrads()
        loss.backward()
        loss.unchain_backward()
        self.optimizer.update()
        return loss

    def state(self):
        return state_of(self.model, self.optimizer)


@pytest.mark.parametrize(
    'make',
    [L.LSTM, L.StatefulGRU, L.StatefulPeepholeLSTM, L.StatefulZoneoutLSTM, L.StatefulMGU],
    ids=lambda make: make.__name__,
)
def test_stateful_recurrent_links(make):
    options = {'c_ratio': 0, 'h_ratio': 0} if make is L.StatefulZoneoutLSTM else {}
    pair = Pair(lambda: Recurrent(make(4, 4, **options)))
    for i in range(24):
        if i % 8 == 7:
            for program in pair.programs:
                program.rnn.reset_state()
        xs = [batch(seed=3 * i + j)[0] for j in range(2)]
        pair.run(xs, batch(seed=i)[1])
    if make is not L.StatefulZoneoutLSTM:
        assert pair.function.replays >= 10, pair.function.report()


def test_n_step_lstm():
    class NStep(Training):
        def step(self, xs, t):
            h, _, _ = self.model.rnn(None, None, xs)
            loss = F.softmax_cross_entropy(self.model.out(h[-1]), t)
            self.model.cleargrads()
            loss.backward()
            self.optimizer.update()
            return loss

    def make():
        model = chainer.Chain(rnn=L.NStepLSTM(2, 4, 4, 0), out=L.Linear(4, 3))
        return NStep(model, optimizers.SGD(0.1))

    pair = Pair(make)
    for i in range(10):
        xs = [array(np.random.RandomState(i).rand(n, 4), 'f') for n in (4, 3, 2)]
        pair.run(xs, batch(3, seed=i)[1])
    assert pair.function.replays >= 6


def test_reports():
    class Reporting(Training):
        def __init__(self):
            super().__init__(L.Classifier(MLP()), optimizers.SGD(0.1))
            self.reporter = chainer.Reporter()
            self.reporter.add_observer('main', self.model)
            self.observed = []

        def step(self, x, t):
            self.optimizer.update(self.model, x, t)

        def state(self):
            observation, self.reporter.observation = self.reporter.observation, {}
            return state_of(self.model, self.optimizer) | {
                key: float(value.array) for key, value in observation.items()
            }

    pair = Pair(Reporting)
    step, function = pair.usual.step, pair.function

    class Within:
        def __init__(self, program, call):
            self.program, self.call = program, call

        def __call__(self, x, t):
            with self.program.reporter:
                return self.call(x, t)

    for i in range(10):
        for program, call in ((pair.usual, step), (pair.compiled, function)):
            Within(program, call)(*batch(seed=i))
        a, b = (program.state() for program in pair.programs)
        assert a == b
        assert {'main/loss', 'main/accuracy'} <= a.keys()
    assert function.replays >= 6
    function(*batch())  # without a reporter
    assert function.replays >= 6


def test_exceptions():
    pair = Pair(lambda: Training(MLP(), optimizers.SGD(0.1)))
    pair.settle(*batch())
    x, _ = batch()
    for wrong in (array([0, 1, 2, 0, 1, 2], 'i'), array([0.5] * 5, 'f'), None):
        pair.run(x, wrong)
        assert issubclass(pair.outcome[0], Exception)
    pair.settle(*batch(seed=1))


def test_results_are_new_arrays():
    pair = Pair(lambda: Training(MLP(), optimizers.SGD(0.1)))
    pair.settle(*batch())
    function = pair.function
    losses = [function(*batch(seed=i)) for i in range(3)]
    values = [float(loss.array) for loss in losses]
    grads = [pair.compiled.model.l1.W.grad]
    function(*batch(seed=9))
    assert [float(loss.array) for loss in losses] == values
    assert pair.compiled.model.l1.W.grad is not grads[0]


def test_results_are_new_variables():
    kept = chainer.Variable(array([1, 2], 'f'), requires_grad=False)

    @chainer.compile
    def function(x):
        return x + 1, kept

    results = [function(array([3, 4], 'f'))[1] for _ in range(6)][-3:]
    assert function.replays >= 3
    assert len({*map(id, results), id(kept)}) == 4
    for result in results:
        np.testing.assert_array_equal(chainerx.to_numpy(result.array), [1, 2])


def test_inference():
    class Inference(Training):
        def step(self, x, *, scale=1.0):
            with chainer.using_config('train', False), chainer.no_backprop_mode():
                y = F.softmax(self.model(x)) * scale
                return {'y': y, 'parts': (y.array, [F.argmax(y, axis=1)]), 'n': len(x)}

    pair = Pair(lambda: Inference(MLP(), optimizers.SGD()))
    for i in range(20):
        pair.run(batch(2 + i % 2, seed=i)[0], scale=1.0 + i % 4 // 2)
    assert pair.function.replays >= 10
    assert pair.function.recordings == 4


def test_strides_of_inputs():
    class Sums(Training):
        def step(self, x):
            return F.sum(x * 2, axis=0)

    pair = Pair(lambda: Sums(MLP(), optimizers.SGD()))
    x = array(np.arange(24).reshape(4, 6), 'f')
    for view in (x, x[::2], x[:, ::3], x[1:3], x.T, x[:0], x[2]) * 3:
        pair.run(view)
    assert pair.function.replays >= 8


def test_arguments_that_share_memory():
    class InPlace(Training):
        def step(self, x, y):
            x += 1
            return y * 2

    pair = Pair(lambda: InPlace(MLP(), optimizers.SGD()))
    for _ in range(4):
        pair.run(array([1, 2], 'f'), array([3, 4], 'f'))
    x = array([1, 2], 'f')
    y = chainerx.to_numpy(pair.function(x, x))
    np.testing.assert_array_equal(y, [4, 6])
    np.testing.assert_array_equal(chainerx.to_numpy(x), [2, 3])


def test_parameter_as_an_argument():
    class Update(Training):
        def step(self, w):
            w *= 2
            return F.sum(self.model.l1.W)

    pair = Pair(lambda: Update(MLP(), optimizers.SGD()))
    for _ in range(5):
        for program in pair.programs:
            assert program.model.l1.W.array is not None
        results = [
            step(program.model.l1.W.array)
            for program, step in zip(pair.programs, (pair.usual.step, pair.function))
        ]
        assert float(results[0].array) == float(results[1].array)


@pytest.mark.parametrize('dropout', [0.0, 0.5])
def test_check(dropout):
    pair = Pair(lambda: Training(MLP(dropout), optimizers.Adam()), check=True)
    for i in range(8):
        pair.run(*batch(seed=i))
    assert pair.function.replays >= 4


def test_check_finds_a_difference():
    training = Training(MLP(), optimizers.Adam())
    function = chainer.compile(training.step, check=True)
    for _ in range(4):
        function(*batch())
    plan = function._plans.in_order[0]
    plan.run = lambda inputs: 0
    with pytest.raises(RuntimeError, match='the result differs'):
        function(*batch())
