import copy
import pickle
import types
import warnings

import numpy
import pytest
from helpers.functions import GPUS
from helpers.update_rules import DEFAULTS, ROWS, all_rows

import chainer
from chainer import optimizers, testing
from chainer.serializers import npz


def make_link(dtype='f', shape=(2, 3), seed=0):
    rng = numpy.random.RandomState(seed)
    link = chainer.Link()
    with link.init_scope():
        link.W = chainer.Parameter(rng.uniform(-1, 1, shape).astype(dtype))
    return link


def set_grad(link, t):
    rng = numpy.random.RandomState(100 + t)
    W = link.W
    W.grad = numpy.asarray(rng.uniform(-1, 1, W.shape)).astype(W.dtype)
    return W.grad.astype('d')


def check_steps(row, link, tol):
    """Makes four steps, each against the formula in float64."""
    opt = row.make().setup(link)
    expected = [link.W.array.astype('d'), *row.states]
    for t in range(1, 5):
        g = set_grad(link, t)
        p, *states = expected
        expected = row.formula(p, g, *states, *row.scalars(opt.hyperparam, t))
        opt.update()
    assert opt.t == link.W.update_rule.t == 4
    got = [link.W.array, *link.W.update_rule.state.values()]
    for value, e in zip(got, expected, strict=True):
        testing.assert_allclose(value, e, atol=tol, rtol=tol)


def test_every_optimizer_has_a_row():
    assert {row.optimizer.__name__ for row in ROWS} == set(optimizers.__all__)


@pytest.mark.parametrize('kernels', ['always', 'never'])
@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
@all_rows
def test_values(row, dtype, kernels):
    link = make_link(dtype)
    array = link.W.array
    with chainer.using_config('use_native_kernels', kernels):
        check_steps(row, link, {'e': 2e-2, 'f': 1e-5, 'd': 1e-10}[dtype])
    assert link.W.array is array
    assert array.dtype == dtype


@pytest.mark.parametrize('kernels', ['always', 'never'])
@pytest.mark.parametrize('shape', [(), (0,), (1,)])
@all_rows
def test_shapes(row, shape, kernels):
    link = make_link('d', shape)
    with chainer.using_config('use_native_kernels', kernels):
        check_steps(row, link, 1e-10)
    assert link.W.shape == shape


@all_rows
def test_zero_gradients_leave_parameters(row):
    link = make_link()
    before = link.W.array.copy()
    opt = row.make().setup(link)
    opt.hyperparam.weight_decay_rate = 0
    link.cleargrads()
    for _ in range(2):
        opt.update()
    testing.assert_allclose(link.W.array, before)


@all_rows
@pytest.mark.parametrize('compress', [True, False])
def test_resume_is_bit_identical(row, compress, tmp_path):
    def train(link, opt, steps):
        for t in steps:
            set_grad(link, t)
            opt.update()

    link = make_link()
    opt = row.make().setup(link)
    train(link, opt, range(3))
    npz.save_npz(tmp_path / 'opt', opt, compress)
    npz.save_npz(tmp_path / 'link', link, compress)
    train(link, opt, range(3, 6))

    link2 = make_link(seed=1)
    opt2 = row.make().setup(link2)
    npz.load_npz(tmp_path / 'opt', opt2)
    npz.load_npz(tmp_path / 'link', link2)
    assert opt2.t == 3
    train(link2, opt2, range(3, 6))
    numpy.testing.assert_array_equal(link.W.array, link2.W.array)


@pytest.mark.parametrize('make,expected', DEFAULTS.items())
def test_hyperparameters(make, expected):
    opt = make()
    assert opt.hyperparam.get_dict() == expected
    for name, value in expected.items():
        assert getattr(opt, name) == value
        setattr(opt, name, 0.125)
        assert getattr(opt.hyperparam, name) == 0.125
    rule = type(make().setup(make_link()).create_update_rule())
    assert rule().hyperparam.get_dict() == expected
    name = next(iter(expected))
    assert getattr(rule(opt.hyperparam, **{name: 3}).hyperparam, name) == 3


@pytest.mark.parametrize('make,expected', DEFAULTS.items())
def test_arguments_are_the_hyperparameters(make, expected):
    """A rule takes those of its optimizer in the same order, each for its parameter alone."""
    rule_class = type(make().create_update_rule())
    parent = make().hyperparam
    values = {name: float(i) for i, name in enumerate(expected)}
    rule = rule_class(parent, *values.values())
    assert {name: getattr(rule.hyperparam, name) for name in expected} == values
    assert rule_class(**values).hyperparam.get_dict() == values
    assert make(*values.values()).hyperparam.get_dict() == values
    assert rule_class().hyperparam.get_dict() == expected
    assert rule_class(parent).hyperparam.__dict__.keys() == {'_parent'}


@pytest.mark.parametrize('convert', [copy.deepcopy, lambda opt: pickle.loads(pickle.dumps(opt))])
def test_copy(convert):
    link = make_link()
    opt = optimizers.Adam().setup(link)
    set_grad(link, 0)
    opt.update()
    other = convert(opt)
    set_grad(link, 1)
    set_grad(other.target, 1)
    opt.update()
    other.update()
    testing.assert_allclose(other.target.W.array, link.W.array)
    other.hyperparam.alpha = 5
    assert other.target.W.update_rule.hyperparam.alpha == 5
    assert opt.alpha == 0.001


@pytest.mark.parametrize('make', [optimizers.AdaGrad, optimizers.Adam, optimizers.RMSprop])
def test_eps_too_small(make):
    link = make_link()
    opt = make(eps=1e-60).setup(link)
    set_grad(link, 0)
    with pytest.raises(ValueError, match='eps of .* too small for float32'):
        opt.update()


class TestAdam:
    def test_alpha_t(self):
        link = make_link()
        opt = optimizers.Adam(alpha=0.5).setup(link)
        for obj in (opt, link.W.update_rule):
            with pytest.raises(RuntimeError, match='learning rate'):
                obj.alpha_t
        set_grad(link, 0)
        opt.update()
        expected = 0.5 * (1 - 0.999) ** 0.5 / (1 - 0.9)
        for obj in (opt, link.W.update_rule):
            testing.assert_allclose(obj.alpha_t, expected)
            with pytest.warns(DeprecationWarning, match='alpha_t'):
                testing.assert_allclose(obj.lr, expected)

    def test_bounds(self):
        link = make_link()
        opt = optimizers.AdaBound(gamma=0.5).setup(link)
        rule = link.W.update_rule
        with pytest.raises(RuntimeError, match='bounds'):
            rule.bounds
        set_grad(link, 0)
        opt.update()
        testing.assert_allclose(rule.bounds, (0.1 * (1 - 1 / 1.5), 0.1 * 3))
        opt.alpha *= 2
        testing.assert_allclose(rule.bounds, (0.2 * (1 - 1 / 1.5), 0.2 * 3))

    def test_state_names(self):
        for make, names in [
            (optimizers.Adam, 'm v'),
            (optimizers.AMSGrad, 'm v vhat'),
            (optimizers.AMSBound, 'm v vhat'),
        ]:
            link = make_link()
            opt = make().setup(link)
            set_grad(link, 0)
            opt.update()
            assert list(link.W.update_rule.state) == names.split()

    def test_per_parameter_switch(self):
        link = make_link()
        opt = optimizers.Adam().setup(link)
        link.W.update_rule.hyperparam.amsgrad = True
        set_grad(link, 0)
        opt.update()
        assert 'vhat' in link.W.update_rule.state


def test_per_parameter_hyperparameters():
    link = chainer.Chain(a=make_link(), b=make_link())
    opt = optimizers.SGD(lr=1).setup(link)
    link.a.W.update_rule.hyperparam.lr = 2
    before = link.a.W.array.copy()
    for child in link.children():
        child.W.grad = numpy.ones_like(child.W.array)
    opt.update()
    testing.assert_allclose(link.a.W.array, before - 2)
    testing.assert_allclose(link.b.W.array, before - 1)


def test_default_hyperparameters_do_not_leak():
    rule = optimizers.sgd.SGDRule(lr=5)
    assert rule.hyperparam.lr == 5
    assert optimizers.sgd.SGDRule().hyperparam.lr == 0.01


def test_subclass_of_a_rule():
    class Negative(optimizers.momentum_sgd.MomentumSGDRule):
        def update_core_cpu(self, param):
            assert set(self.state) == {'v'}
            param.data += self.hyperparam.lr * param.grad

    class Opt(optimizers.MomentumSGD):
        def create_update_rule(self):
            return Negative(self.hyperparam)

    link = make_link()
    before = link.W.array.copy()
    opt = Opt(lr=1).setup(link)
    g = set_grad(link, 0)
    opt.update()
    testing.assert_allclose(link.W.array, before + g)


def test_no_warnings_from_plain_use():
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        link = make_link()
        optimizers.Adam().setup(link).update(lambda: chainer.functions.sum(link.W * link.W))


class Array(numpy.lib.mixins.NDArrayOperatorsMixin):
    """An array of another library, which NumPy's functions hand over to it as they do to CuPy."""

    def __init__(self, values):
        self.values = values

    dtype = property(lambda self: self.values.dtype)
    ndim = property(lambda self: self.values.ndim)

    def astype(self, dtype):
        return Array(self.values.astype(dtype))

    def reshape(self, *shape):
        return Array(self.values.reshape(*shape))

    def __setitem__(self, key, value):
        self.values[key] = value.values

    def __array__(self, *args, **kwargs):
        raise TypeError('implicit conversion to a NumPy array')

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        assert method == '__call__'
        return self._call(ufunc, inputs, {**kwargs, **({'out': out[0]} if out else {})})

    def __array_function__(self, func, types, args, kwargs):
        assert func.__name__ in ('empty_like', 'where', 'clip')  # as CuPy has them
        return self._call(func, args, kwargs)

    @staticmethod
    def _call(func, args, kwargs):
        def unwrap(value):
            assert isinstance(value, (Array, float, int))
            return value.values if isinstance(value, Array) else value

        result = func(*map(unwrap, args), **{name: unwrap(v) for name, v in kwargs.items()})
        return kwargs['out'] if 'out' in kwargs else Array(result)


@pytest.mark.parametrize('shape', [(2, 3), ()])
@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
@all_rows
def test_steps_of_arrays_of_another_library(row, dtype, shape):
    link, other = make_link(dtype, shape), make_link(dtype, shape)
    for target in link, other:
        row.make().setup(target)
    for t in range(3):
        set_grad(link, t)
        set_grad(other, t)
        with chainer.using_config('use_native_kernels', 'never'):
            link.W.update()
        rule = other.W.update_rule
        rule.t += 1
        rule._prepare(other.W)
        state = rule._state
        rule._state = {name: Array(value) for name, value in state.items()}
        param = types.SimpleNamespace(array=Array(other.W.array), grad=Array(other.W.grad))
        rule.update_core_gpu(param)
        rule._state = state
    arrays, others = [
        [target.W.array, *target.W.update_rule.state.values()] for target in (link, other)
    ]
    for a, b in zip(arrays, others, strict=True):
        numpy.testing.assert_array_equal(a, b)


@pytest.mark.parametrize('dtype, scale', [('f', None), ('f', 4.0), ('e', None), ('e', 4.0)])
@pytest.mark.parametrize('device', GPUS)
@all_rows
def test_gpu_agrees(row, device, dtype, scale):
    results = []
    for spec in ('@numpy', device):
        link = make_link(dtype)
        link.to_device(spec)
        opt = row.make().setup(link)
        if dtype == 'e':
            opt.use_fp32_update()
        if scale is not None:
            opt.set_loss_scale(scale)
        for t in range(3):
            rng = numpy.random.RandomState(t)
            target = link.device.send(rng.uniform(-1, 1, link.W.shape).astype(dtype))
            opt.update(lambda W, t: chainer.functions.sum(W * W * t), link.W, target)
        assert all(
            chainer.backend.get_device_from_array(x) == link.device
            for x in link.W.update_rule.state.values()
            if isinstance(x, link.xp.ndarray)
        )
        results.append(chainer.get_device('@numpy').send(link.W.array))
    testing.assert_allclose(*results, atol={'e': 1e-3, 'f': 1e-5}[dtype])
