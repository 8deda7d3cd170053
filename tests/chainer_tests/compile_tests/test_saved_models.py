"""What plans in files can have: a training goes on from the file to the same bits."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import optimizer_hooks as hooks, optimizers
from chainer.compilation import SavedPlan
from tests.helpers.compiled import array
from tests.helpers.saved_plans import bits, compiled_step, count_refused

pytestmark = pytest.mark.chainerx


class Model(chainer.Chain):
    """A convolution, some layers that are given, and a linear one."""

    def __init__(self, apply, **links):
        super().__init__()
        self.apply = apply
        with self.init_scope():
            self.first = L.Convolution2D(2, 4, 3, pad=1)
            for name, child in links.items():
                setattr(self, name, child)
            self.last = L.Linear(None, 3)

    def forward(self, x):
        return self.last(self.apply(self, self.first(x)))


class Block(chainer.Chain):
    """A residual block."""

    def __init__(self, n_in, n_out, stride=1):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(n_in, n_out, 3, stride, 1, nobias=True)
            self.bn1 = L.BatchNormalization(n_out)
            self.conv2 = L.Convolution2D(n_out, n_out, 3, 1, 1, nobias=True)
            self.bn2 = L.BatchNormalization(n_out)
            if stride != 1:
                self.conv3 = L.Convolution2D(n_in, n_out, 1, stride, nobias=True)
                self.bn3 = L.BatchNormalization(n_out)

    def forward(self, x):
        h = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(h + (self.bn3(self.conv3(x)) if hasattr(self, 'bn3') else x))


class Words(chainer.Chain):
    """Embeddings, some layers that are given, and a linear one."""

    def __init__(self, apply, **links):
        super().__init__()
        self.apply = apply
        with self.init_scope():
            self.embed = L.EmbedID(7, 4, ignore_label=-1)
            for name, child in links.items():
                setattr(self, name, child)
            self.last = L.Linear(4, 3)

    def forward(self, x):
        return self.last(self.apply(self, self.embed((x * 7).astype('i')[:, 0, :3, 0])))


def run_lstm(model, h):
    model.lstm.reset_state()
    for i in range(3):
        y = model.lstm(h[:, i])
    return y


def attend(model, h):
    return F.sum(F.scaled_dot_product_attention(h, h, h), axis=1)


def norm(*args, **kwargs):
    """Returns a model with batch normalization."""
    return lambda: Model(lambda m, h: m.norm(h), norm=L.BatchNormalization(*args, **kwargs))


def layer(function):
    return lambda: Model(lambda m, h: function(h))


#: All of these can be saved.
MODELS = {
    'resnet': lambda: Model(
        lambda m, h: F.mean(m.b(m.a(h)), axis=(2, 3)), a=Block(4, 4), b=Block(4, 6, 2)
    ),
    'batch normalization': norm(4),
    'without gamma': norm(4, use_gamma=False),
    'without beta': norm(4, use_beta=False, decay=0.5, eps=1e-3),
    'channels of several axes': norm(axis=0),
    'the last axes': norm(axis=(0, 1)),
    'float64 statistics': norm(4, dtype='d'),
    'batch renormalization': lambda: Model(lambda m, h: m.norm(h), norm=L.BatchRenormalization(4)),
    'group normalization': lambda: Model(lambda m, h: m.norm(h), norm=L.GroupNormalization(2, 4)),
    'local response normalization': layer(F.local_response_normalization),
    'normalize': layer(F.normalize),
    'max pooling': layer(lambda h: F.max_pooling_2d(h, 3, 2, 1)),
    'average pooling': layer(lambda h: F.average_pooling_2d(h, 3, 2, 1)),
    'unpooling': layer(lambda h: F.unpooling_2d(h, 2)),
    'resize': layer(lambda h: F.resize_images(h, (3, 4))),
    'deconvolution': lambda: Model(lambda m, h: m.d(h), d=L.Deconvolution2D(4, 2, 3)),
    'depthwise': lambda: Model(lambda m, h: m.d(h), d=L.Convolution2D(4, 4, 3, groups=4)),
    'prelu': lambda: Model(lambda m, h: m.p(h), p=L.PReLU()),
    'dropout of ChainerX': layer(
        lambda h: chainer.as_variable(h) * chainerx.dropout(h.array * 0 + 1, 0.5)
    ),
    'parts': layer(lambda h: F.concat([*F.split_axis(h, 2, 1), h[:, ::2]])),
    'pad': layer(lambda h: F.pad(h, [(0, 0), (0, 0), (1, 1), (1, 1)], 'constant')),
    'maxout': layer(lambda h: F.maxout(h, 2)),
    'cumsum': layer(lambda h: F.cumsum(h, 1)),
    'cumprod': layer(lambda h: h * chainerx.cumprod(h.array, 2)),
    'embeddings': lambda: Words(lambda m, h: F.sum(h, axis=1)),
    'lstm': lambda: Words(run_lstm, lstm=L.LSTM(4, 4)),
    'gru': lambda: Words(run_lstm, lstm=L.StatefulGRU(4, 4)),
    'peephole lstm': lambda: Words(run_lstm, lstm=L.StatefulPeepholeLSTM(4, 4)),
    'attention': lambda: Words(attend),
}
OPTIMIZERS = {
    name: getattr(optimizers, name)
    for name in (
        'AdaBound AdaDelta AdaGrad Adam AdamW AMSBound AMSGrad CorrectedMomentumSGD MomentumSGD '
        'NesterovAG RMSprop RMSpropGraves SGD SMORMS3'
    ).split()
}
HOOKS = {
    'WeightDecay': lambda: hooks.WeightDecay(0.01),
    'Lasso': lambda: hooks.Lasso(0.01),
    'GradientHardClipping': lambda: hooks.GradientHardClipping(-0.1, 0.1),
    'GradientLARS': hooks.GradientLARS,
}
#: What can not, and what the error says.
REFUSED = {
    'NumPy draws': (layer(F.dropout), None, 'NumPy or CuPy draws its random numbers'),
    'eigh': (
        lambda: Model(lambda m, h: m.norm(h), norm=L.DecorrelatedBatchNormalization(4, groups=2)),
        None,
        "the kernel 'eigh' is not one that files have",
    ),
    'rnn_layer': (
        lambda: Words(lambda m, h: m.lstm(None, None, [*h])[0][0], lstm=L.NStepLSTM(1, 4, 4, 0)),
        None,
        "the kernel 'rnn_layer' is not one that files have",
    ),
    'sort': (
        layer(lambda h: h * chainerx.sort(h.array)),
        None,
        "the kernel 'sort' is not one that files have",
    ),
    'take': (
        layer(lambda h: F.get_item(h, (slice(None), [0, 1, 2], [1, 2, 3]))),
        None,
        "in a call of 'take': the kernel does not take these arguments",
    ),
    'GradientClipping': (
        layer(F.relu),
        lambda: hooks.GradientClipping(1),
        'Python reads or draws numbers in GradientClipping',
    ),
    'GradientNoise': (
        layer(F.relu),
        lambda: hooks.GradientNoise(0.1),
        'Python reads or draws numbers in GradientNoise',
    ),
}


def batches(count=6, size=4):
    rng = np.random.default_rng(0)
    return [
        (array(rng.random((size, 2, 6, 6)), 'f'), array(rng.integers(3, size=size), 'i'))
        for _ in range(count)
    ]


def trainer_of(make, optimizer=lambda: optimizers.MomentumSGD(0.05), hook=None):
    """Returns a model and its compiled step, the same each time."""
    np.random.seed(0)
    chainerx.random.seed(0)
    model = make()
    model.to_device('native:0')
    model(batches(1)[0][0])  # which makes lazy parameters, and changes statistics
    opt = optimizer().setup(model)
    if hook is not None:
        opt.add_hook(hook())
    return model, compiled_step(model, model, opt)


def arrays_of(model):
    """Returns parameters and persistent arrays by name."""
    found = {name[1:]: param.array for name, param in model.namedparams()}
    for path, part in model.namedlinks():
        for name in part._persistent:
            if isinstance(vars(part)[name], chainerx.ndarray):
                found[f'{path}/{name}'.lstrip('/')] = vars(part)[name]
    return found


def check_half(path, make, **options):
    """Half of a training in Python, half from the file, as all in Python."""
    data = batches()
    all_python, step = trainer_of(make, **options)
    expected = [step(*batch)['loss'].array.tolist() for batch in data]
    assert step.replays, step.report()

    _, step = trainer_of(make, **options)
    for batch in data[:3]:
        step(*batch)
    assert step.replays, step.report()
    step.save(path)
    plan = SavedPlan(path)
    results = [plan(*batch)[0].tolist() for batch in data[3:5]]
    plan.save(path)
    plan = SavedPlan(path)
    results.append(plan(*data[5])[0].tolist())
    assert results == expected[3:]
    known = bits(plan.arrays)
    final = bits(arrays_of(all_python))
    # Arrays that no kernel uses are in no file.
    assert {name for name in final if name in known} >= {name for name in final if 'bn' in name}
    assert {n: v for n, v in final.items() if n in known}.items() <= known.items()
    return plan


@pytest.fixture(name='path')
def fixture_path(tmp_path):
    return tmp_path / 'step.plan'


@pytest.mark.parametrize('model', MODELS)
def test_models(model, path):
    check_half(path, MODELS[model])


def test_running_statistics_are_in_the_file(path):
    plan = check_half(path, MODELS['resnet'])
    names = {f'{b}/bn{i}/{s}' for b in 'ab' for i in (1, 2) for s in ('avg_mean', 'avg_var')}
    assert names <= plan.arrays.keys()
    assert plan.arrays['a/bn1/avg_var'].tolist() != [1, 1, 1, 1]


@pytest.mark.parametrize('optimizer', OPTIMIZERS)
def test_optimizers(optimizer, path):
    check_half(path, MODELS['batch normalization'], optimizer=OPTIMIZERS[optimizer])


def test_all_optimizers_are_in_the_table():
    names = {
        name
        for name, kind in vars(optimizers).items()
        if isinstance(kind, type) and issubclass(kind, chainer.Optimizer)
    }
    # In all of these, scalars change at each update in a way that C++ does not know.
    assert names - OPTIMIZERS.keys() <= {'MSVAG'}


@pytest.mark.parametrize('hook', HOOKS)
def test_hooks(hook, path):
    check_half(path, MODELS['batch normalization'], hook=HOOKS[hook])


@pytest.mark.parametrize('name', REFUSED)
def test_refusals_name_what_it_is(name, path):
    make, hook, text = REFUSED[name]
    _, step = trainer_of(make, hook=hook)
    for batch in batches(4):
        step(*batch)
    assert step.replays, step.report()
    with pytest.raises(ValueError, match=rf'step cannot be saved: .*{text}'):
        step.save(path)
    assert not path.exists()


def test_inference_with_running_statistics(path):
    model, step = trainer_of(MODELS['resnet'])
    data = batches()
    for batch in data:
        step(*batch)

    @chainer.compile
    def infer(x):
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            return model(x)

    x = data[0][0]
    expected = [infer(x) for _ in range(3)][-1].array
    infer.save(path)
    plan = SavedPlan(path)
    before = bits(plan.arrays)
    assert bits({'y': plan(x)[0]}) == bits({'y': expected})
    assert bits(plan.arrays) == before


# -- states that go from run to run


class Sentences(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.lstm = L.LSTM(5, 4)
            self.last = L.Linear(4, 3)

    def forward(self, x):
        return self.last(self.lstm(x))


def sentences(count=8):
    rng = np.random.default_rng(0)
    return [
        (array(rng.random((2, 5)), 'f'), array(rng.integers(3, size=2), 'i')) for _ in range(count)
    ]


def bptt():
    """Returns a recurrent model and the compiled step of a truncated backward pass."""
    np.random.seed(0)
    model = Sentences()
    model.to_device('native:0')
    return model, compiled_step(model, model, optimizers.Adam(0.01).setup(model), unchain=True)


def test_states_of_recurrent_links(path):
    data = sentences()
    model, step = bptt()
    expected = [step(*batch)['loss'].array.tolist() for batch in data]
    assert step.replays, step.report()
    _, step = bptt()
    for batch in data[:5]:
        step(*batch)
    step.save(path)
    plan = SavedPlan(path)
    assert plan.inputs == ['x', 't']
    results = [plan(*batch)[0].tolist() for batch in data[5:7]]
    plan.save(path)
    plan = SavedPlan(path)
    results.append(plan(*data[7])[0].tolist())
    assert results == expected[5:]
    final = {**arrays_of(model), 'lstm/h': model.lstm.h.array, 'lstm/c': model.lstm.c.array}
    assert bits(final).items() <= bits(plan.arrays).items()
    with pytest.raises(ValueError, match='takes 2 inputs, 4 were given'):
        plan(*data[0], *data[0])


def test_states_may_be_changed_and_outputs_kept(path):
    model = chainer.Chain()
    model.a, model.b = array([1, 2], 'f'), array([3, 4], 'f')

    @chainer.compile
    def step(x):
        model.a, model.b = model.b * 1, model.a + x
        return model.a, model.b

    x = array([1, 1], 'f')
    for _ in range(5):
        step(x)
    assert step.replays, step.report()
    step.save(path)
    plan = SavedPlan(path)
    kept = plan(x)
    texts = [y.tolist() for y in kept]
    for _ in range(3):
        expected = [y.tolist() for y in step(x)]
    plan(x)
    assert [y.tolist() for y in plan(x)] == expected
    assert [y.tolist() for y in kept] == texts
    plan.arrays['a'][...] = 5
    assert plan(x)[1].tolist() == [6, 6]


def test_states_without_an_array_now(path):
    model, step = bptt()
    for batch in sentences(5):
        step(*batch)
    number = len(step._plans.in_order) - 1
    model.lstm.reset_state()
    with pytest.raises(ValueError, match='replace the array of the attribute'):
        step.save(path, plan=number)
    model.lstm.h = chainer.Variable(array(np.zeros((3, 4)), 'f'))
    model.lstm.c = chainer.Variable(array(np.zeros((3, 4)), 'f'))
    with pytest.raises(chainerx.ChainerxError, match='has another form now'):
        step.save(path, plan=number)
    assert not path.exists()


# -- files from anywhere


def norm_and_state():
    """Returns a step with batch normalization, attention, and the state of an LSTM."""
    np.random.seed(0)
    model = chainer.Chain()
    with model.init_scope():
        model.norm = L.BatchNormalization(5)
        model.lstm = L.LSTM(5, 2)
    model.to_device('native:0')

    def predict(x):
        h = model.lstm(model.norm(x))[None]
        return F.cumsum(F.scaled_dot_product_attention(h, h, h)[0], axis=1)

    return compiled_step(predict, model, optimizers.AdaBound(0.01).setup(model), unchain=True)


def test_hostile_files_with_these_are_refused_or_run(path):
    step = norm_and_state()
    x, t = sentences(1)[0]
    for _ in range(6):
        step(x, t % 2)
    assert step.replays, step.report()
    step.save(path)
    count = 600
    assert count / 4 < count_refused(path, path.read_bytes(), (x, t % 2), count) < count
