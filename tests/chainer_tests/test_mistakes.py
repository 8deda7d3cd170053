"""Common mistakes raise at once, and the message says what to do."""

import inspect
import warnings

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators, optimizers, serializers, testing, training
from chainer._core.names.elsewhere.arguments import ARGUMENTS
from chainer.dataset import concat_examples
from chainer.training import extensions

X = np.ones((4, 3), np.float32)


def _labels(*shape, dtype=np.int32):
    return np.zeros(shape, dtype)


def _using(name, value):
    with chainer.using_config(name, value):
        pass


def _set_dtype(value, func):
    chainer.config.dtype = value
    try:
        func()
    finally:
        del chainer.config.dtype


def _iterator():
    return iterators.SerialIterator([1, 2], 1)


def _trainer_with_log():
    trainer = testing.get_trainer_with_mock_updater()
    trainer.extend(extensions.LogReport())
    return trainer


def _stepped():
    trainer = testing.get_trainer_with_mock_updater()
    trainer.updater.update()
    trainer.observation = {'loss': 1}
    return trainer


def _exhaust(cls, **kwargs):
    iterator = cls([1, 2], 2, repeat=False, shuffle=False, **kwargs)
    assert iterator.next() == [1, 2]
    iterator.next()


MISTAKES = {
    'two axes to transpose': (
        lambda: chainer.Variable(np.ones((2, 3, 4))).transpose(1, 2),
        ValueError,
        r'transpose\(\) takes all 3 axes; F.swapaxes\(x, 1, 2\) exchanges two axes',
    ),
    'labels of PyTorch to ignore': (
        lambda: F.softmax_cross_entropy(X, np.array([0, 1, 2, -100])),
        IndexError,
        'less than 3, the number of classes, or ignore_label, which is -1, .* from -100 to 2$',
    ),
    # Configuration
    'text for a flag': (
        lambda: _using('train', 'False'),
        TypeError,
        "chainer.config.train must be True or False, but the text 'False' was given",
    ),
    'text for another flag': (lambda: _using('enable_backprop', 'no'), TypeError, "text 'no'"),
    'unknown dtype': (lambda: _using('dtype', 'float33'), TypeError, "mixed16, but 'float33' was"),
    'unknown dtype in the configuration': (
        lambda: _set_dtype('float33', lambda: L.Linear(3, 2)),
        TypeError,
        "chainer.config.dtype must be a dtype such as 'float32', but 'float33' was given",
    ),
    'unknown dtype of an initializer': (
        lambda: chainer.initializers.Normal(dtype='float33'),
        TypeError,
        "dtype must be a dtype such as 'float32', but 'float33' was given",
    ),
    'unknown dtype of an array': (
        lambda: chainer.initializers.generate_array(
            chainer.initializers.Zero(), (2,), np, dtype='float33'
        ),
        TypeError,
        "but 'float33' was given",
    ),
    # Arrays
    'labels that are floats': (
        lambda: F.softmax_cross_entropy(X, _labels(4, dtype=np.float64)),
        chainer.utils.type_check.InvalidType,
        r"(?s)'i' for labels, as t.astype\('int32'\).*t.dtype == float64, t.shape == \(4,\)",
    ),
    'lists of different lengths': (
        lambda: concat_examples([([1, 2], 0), ([1], 1)]),
        ValueError,
        r'example 0 has \(2,\) and example 1 has \(1,\): give padding=',
    ),
    'arrays of different lengths': (
        lambda: concat_examples([X[0], X[0], X[0, :2]]),
        ValueError,
        r'example 0 has \(3,\) and example 2 has \(2,\): give padding=',
    ),
    'arrays of different lengths in dictionaries': (
        lambda: concat_examples([{'x': X}, {'x': X[:2]}]),
        ValueError,
        'give padding=',
    ),
    # Training
    'name of an extension': (
        lambda: testing.get_trainer_with_mock_updater().extend('LogReport'),
        TypeError,
        r"extension must be .* such as extensions.LogReport\(\).*, but 'LogReport' was given",
    ),
    'class of extensions': (
        lambda: testing.get_trainer_with_mock_updater().extend(extensions.LogReport),
        TypeError,
        r'the class LogReport was given: call it, as in trainer.extend\(LogReport\(...\)\)',
    ),
    'no extension': (
        lambda: testing.get_trainer_with_mock_updater().extend(None),
        TypeError,
        'None was given',
    ),
    'exhausted iterator': (
        lambda: _exhaust(iterators.SerialIterator),
        StopIteration,
        r'repeat=False; reset\(\)',
    ),
    'exhausted iterator with threads': (
        lambda: _exhaust(iterators.MultithreadIterator),
        StopIteration,
        r'repeat=False; reset\(\)',
    ),
    'parameters for an optimizer': (
        lambda: optimizers.Adam(L.Linear(3, 2).params()),
        TypeError,
        r'alpha must be a number, but a generator was given.*optimizer.setup\(model\)',
    ),
    'model for an optimizer': (
        lambda: optimizers.SGD(L.Linear(3, 2)),
        TypeError,
        r'lr must be a number, but a Linear was given.*optimizer.setup\(model\)',
    ),
    'text for a trigger': (
        lambda: training.get_trigger('1 epoch'),
        TypeError,
        r"a trigger must be a pair such as \(1, 'epoch'\).* but '1 epoch' was given",
    ),
    'number for a trigger': (lambda: training.get_trigger(3), TypeError, 'but 3 was given'),
    'triple for a trigger': (
        lambda: training.get_trigger((1, 2, 3)),
        TypeError,
        r'\(1, 2, 3\) was',
    ),
    'optimizer without a model': (
        lambda: training.Trainer(training.StandardUpdater(_iterator(), optimizers.SGD())),
        RuntimeError,
        r"the optimizer 'main' has no model: call optimizer.setup\(model\) first",
    ),
    'optimizer for an iterator': (
        lambda: training.StandardUpdater(optimizers.SGD(), _iterator()),
        TypeError,
        'iterator must be an iterator, .* but a SGD was given',
    ),
    'dataset for an iterator': (
        lambda: training.StandardUpdater([1, 2], optimizers.SGD()),
        TypeError,
        'iterator must be an iterator, .* but a list was given',
    ),
    'model for an optimizer of an updater': (
        lambda: training.StandardUpdater(_iterator(), L.Linear(3, 2)),
        TypeError,
        'optimizer must be an optimizer, .* but a Linear was given',
    ),
    'generator for a dataset': (
        lambda: iterators.SerialIterator((i for i in range(3)), 2),
        TypeError,
        'dataset must have a length .* but a generator was given',
    ),
    'unknown extension': (
        lambda: _trainer_with_log().get_extension('Log'),
        ValueError,
        'extension Log not found: the trainer has LogReport',
    ),
    'value that nobody reports': (
        lambda: training.triggers.MinValueTrigger('val/loss', (1, 'iteration'))(_stepped()),
        KeyError,
        "'val/loss' has not been reported .*: the observation has loss. An Evaluator",
    ),
    'labels for a model without a loss': (
        lambda: L.Linear(3, 2)(X, _labels(4)),
        ValueError,
        r'must be an integer, but a ndarray was given. L.Classifier\(model\)',
    ),
    'loss for a function': (
        lambda: optimizers.SGD().setup(L.Linear(3, 2)).update(F.sum(X)),
        TypeError,
        r'lossfun must be a function, but a Variable was given.*loss.backward\(\)',
    ),
    'error in a loss function': (
        lambda: optimizers.SGD().setup(L.Linear(3, 2)).update(lambda: len(3)),
        TypeError,
        "object of type 'int' has no len",
    ),
    'list of links': (
        lambda: chainer.ChainList([L.Linear(3, 2)]),
        TypeError,
        r"<class 'list'> \(for a list of links, write ChainList\(\*links\)\)",
    ),
    'example without an axis for the batch': (
        lambda: L.Linear(3, 2)(X[0]),
        IndexError,
        r'(?s)x.ndim == 2.*in the link Linear. The first axis is that of the batch; x\[None\]',
    ),
    'image without an axis for the batch': (
        lambda: chainer.Sequential(L.Convolution2D(3, 2, 3))(np.ones((3, 8, 8), np.float32)),
        chainer.utils.type_check.InvalidType,
        r'(?s)in the link /0 \(Convolution2D\) of Sequential. The first axis is that of the batch',
    ),
    'generator for setup': (
        lambda: optimizers.SGD().setup(L.Linear(3, 2).params()),
        TypeError,
        'must be a link',
    ),
}


@pytest.mark.parametrize('mistake', MISTAKES)
def test_mistake(mistake):
    func, kind, message = MISTAKES[mistake]
    with pytest.raises(kind, match=message):
        func()


@pytest.mark.parametrize('name', ['trian', 'debg', 'enable_backprob', 'use_cudn', 'Train'])
def test_misspelt_entry_warns(name):
    with pytest.warns(UserWarning, match=f"no entry '{name}', which .*: is '.*' meant"):
        _using(name, False)


@pytest.mark.parametrize('name', ['my_entry', 'pretraining', 'x', 'test', 'chainercv_augment'])
def test_entries_of_users_do_not_warn(name):
    with chainer.using_config(name, 'text'):
        assert getattr(chainer.config, name) == 'text'
    chainer.config.trains = 1  # similar, but known
    try:
        _using('trains', 2)
    finally:
        del chainer.config.trains
    other = chainer.configuration.LocalConfig(chainer.configuration.GlobalConfig())
    for name in 'train', 'trian':
        with chainer.using_config(name, 'no', other):
            assert getattr(other, name) == 'no'


@pytest.mark.parametrize('value', [1, 0, None, np.bool_(True), True])
def test_values_of_flags(value):
    with chainer.using_config('train', value):
        assert chainer.config.train is value


ITERATORS = [
    iterators.SerialIterator,
    iterators.MultithreadIterator,
    iterators.MultiprocessIterator,
]


@pytest.mark.parametrize('cls', ITERATORS)
class TestBatchSize:
    @pytest.mark.parametrize(
        'size, kind', [(-1, ValueError), (-3, ValueError), ('3', TypeError), (None, TypeError)]
    )
    def test_refused(self, cls, size, kind):
        with pytest.raises(kind, match=f'batch_size must be a positive integer, but {size!r} was'):
            cls([1, 2], size)

    @pytest.mark.parametrize('size', [0, 1.5])
    def test_warning(self, cls, size):
        """Chainer 7 makes such iterators."""
        with pytest.warns(UserWarning, match='batch_size must be a positive integer, but'):
            cls([1, 2], size).finalize()

    @pytest.mark.parametrize('size', [1, np.int64(2), True])
    def test_accepted(self, cls, size):
        cls([1, 2], size).finalize()


OPTIMIZERS = [getattr(optimizers, name) for name in optimizers.__all__]


def _numbers():
    """Returns every optimizer with each argument of its constructor."""
    return [(cls, name) for cls in OPTIMIZERS for name in inspect.signature(cls).parameters]


class TestHyperparameters:
    @pytest.mark.parametrize('cls, name', _numbers())
    def test_refused(self, cls, name):
        model = L.Linear(2, 1)
        for value in model, model.params(), list(model.params()), {}, (1, 2), abs, 1j, b'1':
            with pytest.raises(TypeError, match=f'^{name} must be a number, but .* was given'):
                cls(**{name: value})
        with pytest.warns(UserWarning, match=f"^{name} must be a number, but '0.1' was given"):
            cls(**{name: '0.1'})

    @pytest.mark.parametrize(
        'value', [1, 0.5, np.float32(0.5), np.array(0.5), chainer.Variable(np.array(0.5)), None]
    )
    @pytest.mark.parametrize('cls', OPTIMIZERS)
    def test_accepted(self, cls, value):
        names = [name for other, name in _numbers() if other is cls]
        optimizer = cls(**dict.fromkeys(names, value))
        assert all(getattr(optimizer.hyperparam, name) is value for name in names)

    def test_rules(self):
        rule = optimizers.Adam().setup(L.Linear(1, 1)).target.W.update_rule
        with pytest.raises(TypeError, match='beta1 must be a number, but a list was given'):
            type(rule)(beta1=[0.9])


class Caller(chainer.Chain):
    """Calls a function that has no hints of its own, as a model does."""

    def forward(self, function, *args, **kwargs):
        return function(*args, **kwargs)


def _call(owner):
    """Returns a class or function of the table of arguments, and arguments for it."""
    if owner in optimizers.__all__:
        return getattr(optimizers, owner), ()
    if hasattr(iterators, owner):
        return getattr(iterators, owner), ([1], 1)
    if hasattr(F, owner):
        x = np.ones((1, 1, 3, 3), np.float32)
        function = getattr(F, owner)
        parameters = inspect.signature(function).parameters.values()
        if any(p.kind == p.VAR_KEYWORD for p in parameters):
            return function, (x, x) if 'convolution' in owner else (x,)
        return Caller(), (function, x)
    if owner == 'vmap':
        return Caller(), (chainer.vmap, F.sum)
    if owner in ('BERT', 'GPT2'):
        link = getattr(L, owner)
        return Caller(), (lambda **kwargs: link.forward(None, **kwargs),)
    if owner.endswith('ConvolutionND') or owner == 'DeconvolutionND':
        return getattr(L, owner), (2, 3, 4, 3)
    if owner.startswith('NStep'):
        return getattr(L, owner), (1, 3, 4, 0.5)
    return getattr(L, owner), (3, 4, 3) if 'convolution' in owner.lower() else (3, 4)


@pytest.mark.parametrize(
    'owner, row',
    [(owner, row) for row in ARGUMENTS for owner in row.owner.split()],
    ids=lambda x: x if isinstance(x, str) else x.theirs,
)
def test_argument_of_other_libraries(owner, row):
    func, args = _call(owner)
    with pytest.raises(TypeError, match=f"unexpected .*{row.theirs}'.*; in Chainer: ") as info:
        func(*args, **{row.theirs: 1})
    assert str(info.value).count(f'; in Chainer: {row.ours}') == 1
    if isinstance(func, Caller) and hasattr(F, owner) and row.ours.endswith('='):
        assert row.ours[:-1] in inspect.signature(getattr(F, owner)).parameters


def test_unknown_arguments_have_no_hint():
    for owner in {owner for row in ARGUMENTS for owner in row.owner.split()}:
        func, args = _call(owner)
        with pytest.raises(TypeError, match='unexpected .*no_such_thing[^;]*$'):
            func(*args, no_such_thing=1)


def test_arguments_of_users_come_first():
    class Layer(L.Linear):
        def __init__(self, n, bias=True):
            super().__init__(n, n, nobias=not bias)

    assert Layer(2, bias=False).b is None
    assert L.Linear(2, 3, nobias=True).b is None


@pytest.mark.parametrize('loss, warns', [(np.nan, True), (1.0, False), (np.inf, False)])
def test_loss_of_nan_warns_once(tmp_path, loss, warns):
    trainer = testing.get_trainer_with_mock_updater((6, 'iteration'), iter_per_epoch=1)
    trainer.out = str(tmp_path)

    @training.make_extension(priority=training.PRIORITY_WRITER)
    def report(trainer):
        # Other values may be NaN, for example the precision of a class that no example has.
        value = loss if trainer.updater.iteration > 2 else 0.5
        chainer.report({'main/loss': np.float32(value), 'precision': np.nan})

    trainer.extend(report)
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        trainer.run()
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == warns
    if warns:
        assert messages[0].startswith('main/loss is NaN')
        assert 'FailOnNonNumber' in messages[0]


class ClassOfLink(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.kind = dict
            self.layer = L.Linear


def test_class_of_a_link_warns():
    """Chainer 7 takes classes as layers: they are callable."""
    with pytest.warns(UserWarning, match=r'layer is the class Linear, not a link: call it, as in'):
        ClassOfLink()
    with pytest.warns(UserWarning, match=r'layer of Sequential is the class Linear, not a link'):
        model = chainer.Sequential(L.Linear, int)
    assert len(model) == 2


class TestMissingValue:
    def test_snapshot_as_a_model(self, tmp_path):
        path = str(tmp_path / 'snapshot')
        model = L.Classifier(L.Linear(3, 2))
        iterator = iterators.SerialIterator([(X[0], np.int32(0))], 1)
        updater = training.StandardUpdater(iterator, optimizers.SGD().setup(model))
        trainer = training.Trainer(updater, (1, 'iteration'), out=str(tmp_path))
        trainer.extend(extensions.snapshot(filename='snapshot'), trigger=(1, 'iteration'))
        trainer.run()
        with pytest.raises(KeyError, match="Use path='updater/model:main/' to load that part"):
            serializers.load_npz(path, model)
        serializers.load_npz(path, model, path='updater/model:main/')

    def test_npz(self, tmp_path):
        path = str(tmp_path / 'model.npz')
        model = L.Linear(3, 2)
        serializers.save_npz(path, chainer.Sequential(model))
        with pytest.raises(KeyError, match='not found') as info:
            serializers.load_npz(path, model)
        message = info.value.args[0]
        for part in f'{path} has 0/W, 0/b.', "path='0/'", 'strict=False':
            assert part in message
        serializers.load_npz(path, model, path='0/')
        serializers.load_npz(path, L.Bias(), strict=False)
        with pytest.raises(KeyError, match=r"'beta' is not .*0/W, 0/b. Use strict=False"):
            serializers.load_npz(path, L.BatchNormalization(2))

    def test_many_names(self):
        values = {str(i): np.zeros(1) for i in range(100)}
        with pytest.raises(KeyError, match='has 0, 1, 10, 11, .* and 92 more'):
            serializers.NpzDeserializer(values).load(L.Bias(1, (1,)))
        with pytest.raises(KeyError, match='has nothing'):
            serializers.NpzDeserializer({}).load(L.Bias(1, (1,)))

    def test_hdf5(self, tmp_path):
        pytest.importorskip('h5py')
        path = str(tmp_path / 'model.h5')
        model = L.Linear(3, 2)
        serializers.save_hdf5(path, model)
        for other, name in (chainer.Sequential(model), '/0'), (L.BatchNormalization(2), '/beta'):
            with pytest.raises(KeyError, match=f"'{name}.*not found") as info:
                serializers.load_hdf5(path, other)
            assert f'{path} has /W, /b. Use ' in info.value.args[0]
            assert 'strict=False' in info.value.args[0]


@pytest.mark.parametrize('move_model', [True, False])
def test_data_on_another_device(move_model):
    chainerx = pytest.importorskip('chainerx')
    if not chainerx.is_available():
        pytest.skip('ChainerX is not built')
    model = L.Linear(3, 2)
    if move_model:
        model.to_device('native:0')
    with pytest.raises(TypeError, match='incompatible array types') as info:
        model(X if move_model else chainerx.array(X))
    for remedy in 'model.xp', 'model.device.send(x)', 'model.to_device(device)':
        assert remedy in str(info.value)
    if move_model:
        model(model.device.send(X))
