"""Plans in files: written by Python, run by C++ without the function, and hostile files."""

import random

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer.compilation import SavedPlan
from tests.helpers.compiled import array
from tests.helpers.saved_plans import (
    BATCH,
    bits,
    compiled_step,
    count_refused,
    digits,
    parameters_of,
    sealed,
)

pytestmark = pytest.mark.chainerx

OPTIMIZERS = {
    'sgd': lambda: chainer.optimizers.SGD(0.1),
    'momentum': lambda: chainer.optimizers.MomentumSGD(0.05),
    'adam': lambda: chainer.optimizers.Adam(0.005),
    'amsgrad': lambda: chainer.optimizers.Adam(
        0.005, amsgrad=True, weight_decay_rate=1e-3, eta=0.5
    ),
    'rmsprop': lambda: chainer.optimizers.RMSprop(0.002),
}


def mlp():
    return chainer.Sequential(L.Linear(64, 32), F.relu, L.Linear(32, 10))


class CNN(chainer.Chain):
    """A network of the layers that files have; those of normalization have fixed statistics."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.first = L.Convolution2D(1, 4, 3, pad=1)
            self.second = L.Convolution2D(4, 6, 3)
            self.norm = L.LayerNormalization(6)
            self.last = L.Linear(6, 10)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.first(x.reshape(len(x), 1, 8, 8))), 2)
        h = F.average_pooling_2d(F.leaky_relu(self.second(h)), 2)
        return self.last(self.norm(h.reshape(len(x), -1)))


class Words(chainer.Chain):
    """Embeddings, whose gradients go to the rows that the indices name."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(17, 8)
            self.last = L.Linear(None, 10)

    def forward(self, x):
        return self.last(self.embed((x * 16).astype('i')))


MODELS = {'mlp': mlp, 'cnn': CNN, 'words': Words}


def trainer_of(model, optimizer):
    """Returns the compiled step of a training from the same parameters each time."""
    np.random.seed(0)
    model = model()
    model(np.zeros((2, 64), 'f'))  # which makes lazy parameters
    model.to_device('native:0')
    return model, compiled_step(model, model, optimizer().setup(model))


def numbers(*shape):
    return array(np.random.default_rng(0).normal(size=shape), 'f')


@pytest.fixture(name='path')
def fixture_path(tmp_path):
    return tmp_path / 'step.plan'


@pytest.fixture(name='saved')
def fixture_saved(path):
    """A file of a training, and what runs of the plan take."""
    _, step = trainer_of(CNN, OPTIMIZERS['adam'])
    batches = digits()
    for batch in batches[:4]:
        step(*batch)
    step.save(path)
    return path, batches


@pytest.mark.parametrize('optimizer', OPTIMIZERS)
@pytest.mark.parametrize('model', MODELS)
def test_half_of_a_training_from_the_file_has_the_same_bits(model, optimizer, path):
    model, optimizer = MODELS[model], OPTIMIZERS[optimizer]
    batches = digits()
    all_python, step = trainer_of(model, optimizer)
    expected = [step(*batch) for batch in batches]
    assert step.replays

    half, step = trainer_of(model, optimizer)
    for batch in batches[:4]:
        step(*batch)
    assert step.replays
    step.save(path)
    plan = SavedPlan(path)
    assert bits(parameters_of(half)).items() <= bits(plan.arrays).items()
    for batch, result in zip(batches[4:6], expected[4:6]):
        loss, accuracy = plan(*batch)
        assert loss.tolist() == result['loss'].array.tolist()
        assert accuracy.tolist() == result['accuracy'].array.tolist()
    # A training goes on from what C++ has saved, too.
    plan.save(path)
    plan = SavedPlan(path)
    for batch in batches[6:]:
        plan(*batch)
    assert bits(parameters_of(all_python)).items() <= bits(plan.arrays).items()


def test_inference(path):
    model, _ = trainer_of(CNN, OPTIMIZERS['sgd'])

    @chainer.compile
    def infer(x):
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            return F.softmax(model(x))

    x, _ = digits()[0]
    expected = [infer(x) for _ in range(3)][-1].array
    infer.save(path)
    plan = SavedPlan(path)
    assert (plan.inputs, plan.outputs) == (['x'], ['result'])
    for given in (
        x,
        chainerx.to_numpy(x),
        chainer.Variable(x),
        np.asfortranarray(chainerx.to_numpy(x)),
    ):
        assert bits({'y': plan(given)[0]}) == bits({'y': expected})
    plan.arrays['last/b'][...] = 3
    assert not np.array_equal(chainerx.to_numpy(plan(x)[0]), chainerx.to_numpy(expected))


def test_names(saved):
    path, _ = saved
    plan = SavedPlan(path)
    assert (plan.inputs, plan.outputs) == (['x', 't'], ["result['loss']", "result['accuracy']"])
    names = {f'{name}{state}' for name in ('last/W', 'first/b') for state in ('', '/m', '/v')}
    assert names <= plan.arrays.keys()
    assert {'chainer.config', 'an update rule'} <= set(plan.guards)


def test_arguments_in_containers_and_of_numpy(path):
    @chainer.compile
    def combine(parts, scale, *, shift):
        scale = chainerx.array(scale, device='native:0')
        return [parts['a'] * scale, parts['b'][0] + shift]

    a, b, shift = numbers(2, 3), numbers(4), numbers(4)
    scale = np.arange(3, dtype='f')
    for _ in range(3):
        expected = combine({'a': a, 'b': (b,)}, scale, shift=shift)
    assert combine.replays, combine.report()
    combine.save(path)
    plan = SavedPlan(path)
    assert plan.inputs == ["parts['a']", "parts['b'][0]", 'shift', 'scale']
    assert plan.outputs == ['result[0]', 'result[1]']
    for y, z in zip(plan(a, b, shift, scale), expected):
        assert y.tolist() == z.tolist()


def test_random_numbers_of_chainerx(path):
    @chainer.compile
    def noisy(x):
        return chainerx.dropout(x, 0.5)

    x = numbers(50, 50)
    for _ in range(3):
        noisy(x)
    assert noisy.replays, noisy.report()
    noisy.save(path)
    plan = SavedPlan(path)
    chainerx.random.seed(5)
    expected = [noisy(x).tolist() for _ in range(2)]
    chainerx.random.seed(5)
    assert [plan(x)[0].tolist() for _ in range(2)] == expected


@pytest.mark.parametrize(
    ('given', 'text'),
    [
        ((), 'takes 2 inputs, 0 were given'),
        ((np.zeros((BATCH, 63), 'f'), np.zeros(BATCH, 'i')), 'the input x must be'),
        ((np.zeros((BATCH, 64), 'f'), np.zeros(BATCH, 'l')), 'the input t must be'),
    ],
)
def test_inputs_that_do_not_fit(saved, given, text):
    plan = SavedPlan(saved[0])
    before = bits(plan.arrays)
    with pytest.raises(ValueError, match=text):
        plan(*given)
    assert bits(plan.arrays) == before


def test_an_error_of_a_kernel_leaves_the_count_of_updates(saved):
    path, batches = saved
    plan, other = SavedPlan(path), SavedPlan(path)
    x, t = batches[4]
    with pytest.raises(IndexError, match='label 10 is out of range'):
        plan(x, t * 0 + 10)
    plan(x, t)
    other(x, t)
    assert bits(plan.arrays) == bits(other.arrays)


def test_the_same_array_for_two_inputs(path):
    @chainer.compile
    def add(x, y):
        return x * 2 + y

    for _ in range(3):
        add(numbers(3), numbers(3))
    add.save(path)
    x = numbers(3)
    assert SavedPlan(path)(x, x)[0].tolist() == (x * 3).tolist()


# -- what has no file


def sort(x):
    return chainerx.sort(x * 2)


class TestRefusals:
    def check(self, path, step, args, text):
        for _ in range(5):
            step(*args)
        assert step.replays, step.report()
        with pytest.raises(ValueError, match=text):
            step.save(path)
        assert not path.exists()

    def test_kernels(self, path):
        step = chainer.compile(sort)
        self.check(path, step, (numbers(4, 4),), "the kernel 'sort' is not one that files have")

    def test_arguments_of_kernels(self, path):
        """What could not be loaded is not written."""
        labels = array([0, 3, 1, 2], 'i')
        step = chainer.compile(lambda x: F.sum(F.select_item(F.log_softmax(x), labels)))
        self.check(path, step, (numbers(4, 4),), "'take': the kernel does not take these arguments")

    def test_random_numbers_of_numpy(self, path):
        step = chainer.compile(lambda x: chainerx.array(np.random.rand(4, 4).astype('f')) * x)
        self.check(path, step, (numbers(4, 4),), 'NumPy or CuPy draws')

    @pytest.mark.parametrize(
        ('change', 'text'),
        [
            (lambda opt: opt.add_hook(chainer.optimizer_hooks.GradientClipping(1)), 'GradientClip'),
            (lambda opt: opt.loss_scaling(), 'loss scale'),
        ],
    )
    def test_updates(self, path, change, text):
        def optimizer():
            class Setup:
                def setup(self, model):
                    opt = chainer.optimizers.Adam().setup(model)
                    change(opt)
                    return opt

            return Setup()

        _, step = trainer_of(mlp, optimizer)
        self.check(path, step, digits()[0], text)

    def test_rules_of_which_scalars_change(self, path):
        _, step = trainer_of(mlp, chainer.optimizers.MSVAG)
        self.check(path, step, digits()[0], 'scalars of .* change at each update')

    def test_loss_scales(self, path):
        model, _ = trainer_of(mlp, OPTIMIZERS['sgd'])
        optimizer = chainer.optimizers.SGD().setup(model)
        optimizer.set_loss_scale(64.0)

        @chainer.compile
        def step(x, t):
            optimizer.update(lambda: F.softmax_cross_entropy(model(x), t))

        self.check(path, step, digits()[0], 'an optimizer has a loss scale')

    def test_loss_scales_that_are_no_optimizers(self, path):
        model, _ = trainer_of(mlp, OPTIMIZERS['sgd'])

        @chainer.compile
        def step(x, t):
            model.cleargrads()
            F.softmax_cross_entropy(model(x), t).backward(loss_scale=3.0)

        self.check(path, step, digits()[0], 'arguments of its own')

    def test_gradients_of_earlier_calls(self, path):
        model, _ = trainer_of(mlp, OPTIMIZERS['sgd'])
        model.cleargrads()

        @chainer.compile
        def step(x, t):
            F.softmax_cross_entropy(model(x), t).backward()

        self.check(path, step, digits()[0], 'saved: it adds to gradients of earlier calls')

    def test_states_that_share_an_array(self, path):
        model = chainer.Chain()
        model.h = model.c = numbers(4)

        @chainer.compile
        def step(x):
            model.c = model.h = model.h * model.c * x
            return model.h + 1

        self.check(path, step, (numbers(4),), 'replace the array of the attribute')

    def test_plans(self, path):
        with pytest.raises(IndexError, match='there is no plan 0'):
            chainer.compile(sort).save(path)

    def test_folders(self, tmp_path, saved):
        plan = SavedPlan(saved[0])
        with pytest.raises(chainerx.ChainerxError, match='cannot be written'):
            plan.save(tmp_path / 'missing' / 'step.plan')


# -- files from anywhere


@pytest.fixture(name='small')
def fixture_small(path):
    """The bytes of a small file of a training, and inputs of it."""
    np.random.seed(0)
    model = chainer.Sequential(
        L.Convolution2D(1, 2, 2), F.relu, lambda x: F.max_pooling_2d(x, 2), L.Linear(2, 3)
    )
    model.to_device('native:0')
    optimizer = chainer.optimizers.Adam().setup(model)
    x, t = numbers(2, 1, 3, 3), chainerx.array(np.array([0, 2], 'i'), device='native:0')

    @chainer.compile
    def step(x, t):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    for _ in range(4):
        step(x, t)
    assert step.replays, step.report()
    step.save(path)
    return path.read_bytes(), (x, t)


def test_400_damaged_files(small, path):
    data, _ = small
    rng = random.Random(0)
    files = [data[: rng.randrange(len(data))] for _ in range(100)]
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(rng.choice((1, 1, 2, 8))):
            damaged[rng.randrange(len(data))] ^= rng.randrange(1, 256)
        files.append(bytes(damaged))
    for damaged in files:
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match='is no plan that can be loaded'):
            SavedPlan(path)


def test_hostile_files_are_refused_or_run(small, path):
    data, inputs = small
    count = 1500
    assert 500 < count_refused(path, data, inputs, count) < count


@pytest.mark.parametrize(
    ('body', 'text'),
    [
        (b'', 'it ends too early'),
        (b'\xff' * 11, 'more than 64 bits'),
        (b'\x00\xff\xff\xff\xff\x7f', 'it ends too early'),
        (b'\x00\x01\x03\x00', 'there is no 3 among 3'),
        (b'\x00\x01\x02\xff\xff\x03', 'it ends too early'),
        (b'\x00\x01\x00\x08\x00\x00\x00\x00\x00\x01\x04evil', "there is no kernel 'evil'"),
        (
            b'\x00\x01\x00\x08\x00\x00\x00\x00\x00\x01\x04fill\x02',
            "in a call of 'fill': there is no 2",
        ),
        (b'\x00\x00\x00\x00\x00\x00\x00\x00\x00x', 'it does not end where it should'),
    ],
)
def test_wrong_bodies(path, body, text):
    path.write_bytes(sealed(body))
    with pytest.raises(ValueError, match=text):
        SavedPlan(path)


def test_other_files(tmp_path):
    with pytest.raises(chainerx.ChainerxError, match='cannot be read'):
        SavedPlan(tmp_path / 'missing')
    with pytest.raises(chainerx.ChainerxError, match='cannot be read'):
        SavedPlan(tmp_path)
    (tmp_path / 'text').write_text('ChainerX plan 3\n')
    with pytest.raises(ValueError, match='does not begin like one'):
        SavedPlan(tmp_path / 'text')


#: Kernels without such a test. Those whose results are objects of C++ are in no plan either.
OTHERS = set(
    (
        'add_sums_at arange argsort cholesky complex_absolute '
        'decode_rows dequantize eigh fourier inverse matmul_sum nonzero '
        'pack_blocks pack_filters pack_integer_filters pack_integers pack_recurrent pack_weights '
        'parallel_for qr quantize quantize_dynamically quantized_linear random_integers random_normal '
        'random_uniform rnn_layer rnn_layer_grad slogdet solve sort svd tree_lstm tree_lstm_grad'
    ).split()
)


def test_kernels_that_files_have(saved):
    """Each has a test of its arguments, without which a file could make it leave its arrays."""
    names = SavedPlan(saved[0])._plan.kernels
    assert len(set(names)) == len(names)
    present = {name for name, is_there in chainerx._core._kernels('native') if is_there}
    assert present - set(names) <= OTHERS
    assert OTHERS.isdisjoint(names)
    assert set(names) <= present
