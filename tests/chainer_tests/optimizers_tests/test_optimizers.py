import copy
import pickle
import warnings

import numpy
import pytest

import chainer
from chainer import optimizers, testing
from chainer.serializers import npz

# Each reference computes one step in float64: (p, g, state, t, hyperparameters) -> p


def sgd(p, g, s, t, h):
    return p - h.lr * g


def momentum(p, g, s, t, h):
    s['v'] = h.momentum * s.get('v', 0) - h.lr * g
    return p + s['v']


def corrected_momentum(p, g, s, t, h):
    s['v'] = h.momentum * s.get('v', 0) - g
    return p + h.lr * s['v']


def nesterov(p, g, s, t, h):
    v = s.get('v', 0)
    s['v'] = h.momentum * v - h.lr * g
    return p - h.momentum * v + (1 + h.momentum) * s['v']


def ada_grad(p, g, s, t, h):
    s['h'] = s.get('h', 0) + g**2
    return p - h.lr * g / (s['h'] ** 0.5 + h.eps)


def ada_delta(p, g, s, t, h):
    s['a'] = h.rho * s.get('a', 0) + (1 - h.rho) * g**2
    dx = ((s.get('b', 0) + h.eps) / (s['a'] + h.eps)) ** 0.5 * g
    s['b'] = h.rho * s.get('b', 0) + (1 - h.rho) * dx**2
    return p - dx


def rmsprop(p, g, s, t, h):
    s['ms'] = h.alpha * s.get('ms', 0) + (1 - h.alpha) * g**2
    root = (s['ms'] + h.eps) ** 0.5 if h.eps_inside_sqrt else s['ms'] ** 0.5 + h.eps
    return p - h.lr * g / root


def rmsprop_graves(p, g, s, t, h):
    s['n'] = h.alpha * s.get('n', 0) + (1 - h.alpha) * g**2
    s['g'] = h.alpha * s.get('g', 0) + (1 - h.alpha) * g
    s['d'] = h.momentum * s.get('d', 0) - h.lr * g / (s['n'] - s['g'] ** 2 + h.eps) ** 0.5
    return p + s['d']


def smorms3(p, g, s, t, h):
    mem = s.get('mem', 1.0)
    r = 1 / (mem + 1)
    s['g'] = (1 - r) * s.get('g', 0) + r * g
    s['g2'] = (1 - r) * s.get('g2', 0) + r * g**2
    x = s['g'] ** 2 / (s['g2'] + h.eps)
    s['mem'] = 1 + mem * (1 - x)
    return p - g * numpy.minimum(x, h.lr) / (s['g2'] ** 0.5 + h.eps)


def adam(p, g, s, t, h):
    s['m'] = h.beta1 * s.get('m', 0) + (1 - h.beta1) * g
    s['v'] = h.beta2 * s.get('v', 0) + (1 - h.beta2) * g**2
    v = s['v']
    if h.amsgrad:
        v = s['vhat'] = numpy.maximum(s.get('vhat', 0), v)
    alpha_t = h.alpha * (1 - h.beta2**t) ** 0.5 / (1 - h.beta1**t)
    rate = alpha_t / (v**0.5 + h.eps)
    if h.adabound:
        rate = numpy.clip(
            rate, h.final_lr * (1 - 1 / (h.gamma * t + 1)), h.final_lr * (1 + 1 / (h.gamma * t))
        )
    return p - h.eta * (rate * s['m'] + h.weight_decay_rate * p)


def msvag(p, g, s, t, h):
    s['m'] = h.beta * s.get('m', 0) + (1 - h.beta) * g
    s['v'] = h.beta * s.get('v', 0) + (1 - h.beta) * g**2
    m, v = s['m'] / (1 - h.beta**t), s['v'] / (1 - h.beta**t)
    rho = (1 - h.beta) * (1 + h.beta**t) / ((1 + h.beta) * (1 - h.beta**t))
    if t > 1:
        m = m * m**2 / (m**2 + rho * (v - m**2) / (1 - rho))
    return p - h.eta * (h.lr * m + h.weight_decay_rate * p)


CASES = [
    (optimizers.SGD, {}, sgd),
    (optimizers.MomentumSGD, {}, momentum),
    (optimizers.CorrectedMomentumSGD, {}, corrected_momentum),
    (optimizers.NesterovAG, {}, nesterov),
    (optimizers.AdaGrad, {}, ada_grad),
    (optimizers.AdaDelta, {}, ada_delta),
    (optimizers.RMSprop, {}, rmsprop),
    (optimizers.RMSprop, {'eps_inside_sqrt': True, 'eps': 0.1}, rmsprop),
    (optimizers.RMSpropGraves, {}, rmsprop_graves),
    (optimizers.SMORMS3, {}, smorms3),
    (optimizers.Adam, {}, adam),
    (optimizers.Adam, {'eta': 0.5, 'weight_decay_rate': 0.1}, adam),
    (optimizers.AdamW, {'weight_decay_rate': 0.1}, adam),
    (optimizers.AMSGrad, {}, adam),
    (optimizers.AdaBound, {}, adam),
    (optimizers.AMSBound, {}, adam),
    (optimizers.MSVAG, {}, msvag),
    (optimizers.MSVAG, {'eta': 0.5, 'weight_decay_rate': 0.1}, msvag),
]
ids = [f'{c.__name__}-{i}' for i, (c, _, _) in enumerate(CASES)]
all_cases = pytest.mark.parametrize('make,kwargs,reference', CASES, ids=ids)

HYPERPARAMETERS = {
    optimizers.SGD: {'lr': 0.01},
    optimizers.MomentumSGD: {'lr': 0.01, 'momentum': 0.9},
    optimizers.CorrectedMomentumSGD: {'lr': 0.01, 'momentum': 0.9},
    optimizers.NesterovAG: {'lr': 0.01, 'momentum': 0.9},
    optimizers.AdaGrad: {'lr': 0.001, 'eps': 1e-8},
    optimizers.AdaDelta: {'rho': 0.95, 'eps': 1e-6},
    optimizers.RMSprop: {'lr': 0.01, 'alpha': 0.99, 'eps': 1e-8, 'eps_inside_sqrt': False},
    optimizers.RMSpropGraves: {'lr': 1e-4, 'alpha': 0.95, 'momentum': 0.9, 'eps': 1e-4},
    optimizers.SMORMS3: {'lr': 0.001, 'eps': 1e-16},
    optimizers.MSVAG: {'lr': 0.1, 'beta': 0.9, 'eta': 1.0, 'weight_decay_rate': 0},
    optimizers.Adam: {
        'alpha': 0.001,
        'beta1': 0.9,
        'beta2': 0.999,
        'eps': 1e-8,
        'eta': 1.0,
        'weight_decay_rate': 0,
        'amsgrad': False,
        'adabound': False,
        'final_lr': 0.1,
        'gamma': 0.001,
    },
}


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


@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
@all_cases
def test_values(make, kwargs, reference, dtype):
    link = make_link(dtype)
    array = link.W.array
    opt = make(**kwargs).setup(link)
    expected, state = array.astype('d'), {}
    for t in range(1, 5):
        g = set_grad(link, t)
        expected = reference(expected, g, state, t, opt.hyperparam)
        opt.update()
    assert link.W.array is array
    assert array.dtype == dtype
    assert opt.t == link.W.update_rule.t == 4
    tol = {'e': 2e-2, 'f': 1e-5, 'd': 1e-10}[dtype]
    testing.assert_allclose(array, expected, atol=tol, rtol=tol)


@pytest.mark.parametrize('shape', [(), (0,), (1,)])
@all_cases
def test_shapes(make, kwargs, reference, shape):
    link = make_link('d', shape)
    opt = make(**kwargs).setup(link)
    expected, state = link.W.array.copy(), {}
    for t in (1, 2):
        expected = reference(expected, set_grad(link, t), state, t, opt.hyperparam)
        opt.update()
    assert link.W.shape == shape
    testing.assert_allclose(link.W.array, expected)


@all_cases
def test_zero_gradients_leave_parameters(make, kwargs, reference):
    link = make_link()
    before = link.W.array.copy()
    kwargs = {key: value for key, value in kwargs.items() if key != 'weight_decay_rate'}
    opt = make(**kwargs).setup(link)
    link.cleargrads()
    for _ in range(2):
        opt.update()
    testing.assert_allclose(link.W.array, before)


@all_cases
@pytest.mark.parametrize('compress', [True, False])
def test_resume_is_bit_identical(make, kwargs, reference, compress, tmp_path):
    def train(link, opt, steps):
        for t in steps:
            set_grad(link, t)
            opt.update()

    link = make_link()
    opt = make(**kwargs).setup(link)
    train(link, opt, range(3))
    npz.save_npz(tmp_path / 'opt', opt, compress)
    npz.save_npz(tmp_path / 'link', link, compress)
    train(link, opt, range(3, 6))

    link2 = make_link(seed=1)
    opt2 = make(**kwargs).setup(link2)
    npz.load_npz(tmp_path / 'opt', opt2)
    npz.load_npz(tmp_path / 'link', link2)
    assert opt2.t == 3
    train(link2, opt2, range(3, 6))
    numpy.testing.assert_array_equal(link.W.array, link2.W.array)


@pytest.mark.parametrize('make,expected', HYPERPARAMETERS.items())
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


@pytest.mark.gpu
@all_cases
def test_gpu_agrees(make, kwargs, reference):
    results = []
    for device in ('@numpy', '@cupy:0'):
        link = make_link()
        link.to_device(device)
        opt = make(**kwargs).setup(link)
        for t in range(3):
            rng = numpy.random.RandomState(t)
            link.W.grad = link.device.send(rng.uniform(-1, 1, link.W.shape).astype('f'))
            opt.update()
        results.append(chainer.get_device('@numpy').send(link.W.array))
    testing.assert_allclose(*results, atol=1e-5)
