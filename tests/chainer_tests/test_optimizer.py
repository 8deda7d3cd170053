import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import optimizer, testing
from chainer.serializers import npz
from tests.helpers.devices import CHX


@pytest.mark.parametrize('name', optimizer.__all__)
def test_public_place(name):
    # Files of pickled objects name it.
    assert getattr(optimizer, name).__module__ == 'chainer.optimizer'


class TestHyperparameter:
    def setup_method(self):
        self.parent = optimizer.Hyperparameter()
        self.parent.x, self.parent.y = 1, 2
        self.child = optimizer.Hyperparameter(self.parent)
        self.child.y, self.child.z = 3, 4

    def test_inheritance(self):
        assert (self.child.x, self.child.y, self.child.z) == (1, 3, 4)
        assert self.child.parent is self.parent
        self.parent.x = 5
        assert self.child.x == 5
        del self.child.y
        assert self.child.y == 2

    def test_get_dict(self):
        assert self.child.get_dict() == {'x': 1, 'y': 3, 'z': 4}
        assert self.parent.get_dict() == {'x': 1, 'y': 2}

    def test_repr(self):
        assert repr(self.child) == 'Hyperparameter(x=1, y=3, z=4)'

    def test_missing(self):
        with pytest.raises(AttributeError, match='w'):
            self.child.w


class CountingRule(chainer.UpdateRule):
    def __init__(self, parent_hyperparam=None):
        super().__init__(parent_hyperparam)
        self.calls = []

    def init_state(self, param):
        self.state['s'] = param.device.xp.zeros_like(param.array)

    def update_core_cpu(self, param):
        self.calls.append(('core', param.dtype))
        self.state['s'] += 1
        param.array[...] -= param.grad


class Counting(chainer.GradientMethod):
    def create_update_rule(self):
        return CountingRule(self.hyperparam)


def make_link(dtype='f'):
    link = chainer.Link()
    with link.init_scope():
        link.W = chainer.Parameter(numpy.ones((2,), dtype))
    return link


def setup(dtype='f'):
    link = make_link(dtype)
    opt = Counting().setup(link)
    link.W.grad = numpy.full((2,), 0.5, dtype)
    return link, opt, link.W.update_rule


class TestUpdateRule:
    def test_hooks(self):
        link, opt, rule = setup()

        def pre(rule, param):
            rule.calls.append('pre')

        def post(rule, param):
            rule.calls.append('post')

        post.timing = 'post'
        rule.add_hook(pre)
        rule.add_hook(post)
        link.W.update()
        assert rule.calls == ['pre', ('core', numpy.float32), 'post']
        with pytest.raises(KeyError, match='already exists'):
            rule.add_hook(pre, timing='post')
        rule.remove_hook('pre')
        rule.remove_hook('post')
        with pytest.raises(KeyError):
            rule.remove_hook('pre')

    def test_bad_hooks(self):
        rule = CountingRule()
        with pytest.raises(TypeError, match='callable'):
            rule.add_hook(3)
        with pytest.raises(ValueError, match='timing'):
            rule.add_hook(print, timing='later')
        with pytest.raises(ValueError, match='name'):
            rule.add_hook(type('Hook', (), {'__call__': print})())

    def test_disabled(self):
        link, opt, rule = setup()
        rule.enabled = False
        opt.update()
        assert rule.t == 0 and rule.calls == []

    def test_abstract(self):
        param = chainer.Parameter(numpy.ones(2, 'f'))
        param.update_rule = chainer.UpdateRule()
        with pytest.raises(NotImplementedError):
            param.update()

    def test_serialize_unused(self):
        target = npz.DictionarySerializer()
        CountingRule().serialize(target)
        assert set(target.target) == {'t'}
        rule = CountingRule()
        npz.NpzDeserializer(target.target).load(rule)
        assert rule.state is None

    def test_load_into_unused(self):
        rule = CountingRule()
        npz.NpzDeserializer({'t': numpy.asarray(3), 's': numpy.arange(2.0)}).load(rule)
        assert rule.t == 3
        testing.assert_allclose(rule.state['s'], [0, 1])
        with pytest.raises(KeyError, match='s'):
            npz.NpzDeserializer({'t': numpy.asarray(3)}).load(CountingRule())

    def test_load_disabled(self):
        rule = CountingRule()
        rule.enabled = False
        npz.NpzDeserializer({'t': numpy.asarray(3)}).load(rule)
        assert rule.t == 3 and rule.state is None

    def test_init_state_set_from_outside(self):
        rule = chainer.UpdateRule()
        rule.init_state = lambda param: rule.state.update(a=0, b=numpy.zeros(2))
        npz.NpzDeserializer({'t': 3, 'a': 7, 'b': [1, 2]}).load(rule)
        assert rule.state['a'] == 7
        testing.assert_allclose(rule.state['b'], [1, 2])

    def test_failed_load_leaves_optimizer(self, tmp_path):
        link, opt, rule = setup()
        opt.update()
        numpy.savez(tmp_path / 'f.npz', **{'t': 7, 'epoch': 8, 'W/t': 9, 'W/s': numpy.zeros(3)})
        with pytest.raises(ValueError, match='W/s'):
            npz.load_npz(tmp_path / 'f.npz', opt)
        assert (opt.t, opt.epoch, rule.t) == (1, 0, 1)


class TestFp32Update:
    def test_master_copy_accumulates(self):
        link = make_link('e')
        opt = chainer.optimizers.SGD(lr=1)
        opt.use_fp32_update()
        opt.setup(link)
        for _ in range(8):
            link.W.grad = numpy.full((2,), 1e-4, 'e')  # below the resolution at one
            opt.update()
        assert link.W.dtype == numpy.float16
        testing.assert_allclose(link.W.update_rule._fp32_param.array, 1 - 8e-4, rtol=1e-6)
        assert link.W.array[0] == numpy.float16(1 - 8e-4)

    def test_after_setup_and_other_dtypes(self):
        link, opt, rule = setup('f')
        opt.use_fp32_update()
        opt.update()
        assert rule._fp32_param is None
        assert rule._use_fp32_update

    def test_resume(self, tmp_path):
        def make():
            link = make_link('e')
            opt = chainer.optimizers.Adam(alpha=1e-3)
            opt.use_fp32_update()
            return link, opt.setup(link)

        def step(link, opt):
            link.W.grad = numpy.full((2,), 0.3, 'e')
            opt.update()

        link, opt = make()
        step(link, opt)
        with chainer.using_config('exact_resume', 'always'):
            npz.save_npz(tmp_path / 'opt', opt)
        npz.save_npz(tmp_path / 'link', link)
        step(link, opt)
        link2, opt2 = make()
        npz.load_npz(tmp_path / 'opt', opt2)
        npz.load_npz(tmp_path / 'link', link2)
        step(link2, opt2)
        numpy.testing.assert_array_equal(
            link.W.update_rule._fp32_param.array, link2.W.update_rule._fp32_param.array
        )


class TestOptimizer:
    def test_setup(self):
        link, opt, rule = setup()
        opt.update()
        opt.new_epoch()
        assert (opt.t, opt.epoch) == (1, 1)
        assert opt.setup(link) is opt
        assert opt.target is link
        assert (opt.t, opt.epoch) == (0, 0)
        assert link.W.update_rule is not rule
        with pytest.raises(TypeError, match='link'):
            opt.setup(link.W)

    def test_new_epoch(self):
        opt = Counting()
        with pytest.raises(RuntimeError):
            opt.new_epoch(auto=True)
        opt.use_auto_new_epoch = True
        opt.new_epoch(auto=True)
        assert opt.epoch == 1
        with pytest.raises(RuntimeError):
            opt.new_epoch()

    def test_before_setup(self):
        opt = Counting()
        for call in (
            opt.update,
            lambda: opt.add_hook(print),
            lambda: opt.remove_hook('x'),
            opt.call_hooks,
            lambda: opt.serialize(npz.DictionarySerializer()),
        ):
            with pytest.raises(RuntimeError):
                call()
        with pytest.raises(RuntimeError):
            npz.NpzDeserializer({'t': 3, 'epoch': 1}).load(opt)
        assert opt.t == 0

    def test_hooks(self):
        link, opt, rule = setup()
        calls = []

        def whole(opt):
            calls.append(opt)

        class Each:
            name = 'each'
            call_for_each_param = True
            timing = 'post'

            def __call__(self, rule, param):
                calls.append((rule, param))

        opt.add_hook(whole)
        opt.add_hook(Each())
        opt.update()
        assert calls == [opt, (rule, link.W)] or (
            calls[0] is opt and calls[1][0] is rule and calls[1][1] is link.W
        )
        with pytest.raises(KeyError):
            opt.add_hook(whole)
        opt.remove_hook('whole')
        opt.remove_hook('each')
        opt.update()
        assert len(calls) == 2
        with pytest.raises(ValueError, match='timing'):
            opt.call_hooks('later')

    def test_update_with_loss(self):
        link = make_link()
        opt = chainer.optimizers.SGD(lr=1).setup(link)
        link.W.grad = numpy.full((2,), numpy.nan, 'f')
        opt.update(
            lambda x, scale: scale * chainer.functions.sum(link.W * x),
            numpy.arange(2, dtype='f'),
            scale=2,
        )
        testing.assert_allclose(link.W.array, [1, -1])

    def test_use_cleargrads(self):
        opt = Counting()
        with pytest.warns(DeprecationWarning):
            opt.use_cleargrads(False)
        assert not opt._use_cleargrads

    def test_reallocate_cleared_grads(self):
        link, opt, rule = setup()
        link.add_param('late')
        link.late.cleargrad()
        link.cleargrads()
        opt.reallocate_cleared_grads()
        testing.assert_allclose(link.W.grad, 0)
        assert link.late.grad is None

    def test_parameter_without_rule(self):
        link, opt, rule = setup()
        link.add_param('late', (2,), initializer=3)
        opt.update()
        testing.assert_allclose(link.late.array, 3)
        assert opt.t == 1

    def test_serialize(self):
        link, opt, rule = setup()
        opt.update()
        opt.epoch = 4
        target = npz.serialize(opt)
        assert sorted(target) == ['W/s', 'W/t', 'epoch', 't']
        link2, opt2, rule2 = setup()
        npz.NpzDeserializer(target).load(opt2)
        assert (opt2.t, opt2.epoch, rule2.t) == (1, 4, 1)
        testing.assert_allclose(rule2.state['s'], 1)


class TestLossScaling:
    def make(self, dtype='f'):
        link = make_link(dtype)
        return link, chainer.optimizers.SGD(lr=1).setup(link)

    def test_static(self):
        link, opt = self.make()
        opt.set_loss_scale(8)
        seen = []
        opt.add_hook(lambda opt: seen.append(link.W.grad.copy()), name='see')
        opt.update(lambda: chainer.functions.sum(link.W) / 4)
        testing.assert_allclose(seen[0], 2)
        testing.assert_allclose(link.W.array, 0.75)

    @pytest.mark.parametrize('device', ['@numpy', CHX[0]])
    def test_every_device(self, device):
        if device != '@numpy' and not chainerx.is_available():
            pytest.skip('needs ChainerX')
        link, opt = self.make()
        link.to_device(device)
        opt.set_loss_scale(8)
        opt.update(lambda: chainer.functions.sum(link.W) / 4)
        link.to_device('@numpy')
        testing.assert_allclose(link.W.array, 0.75)

    def test_manual_backward(self):
        link, opt = self.make()
        opt.set_loss_scale(8)
        for expected in (0.75, 0.5):
            link.cleargrads()
            (chainer.functions.sum(link.W) / 4).backward(loss_scale=8)
            opt.update()
            testing.assert_allclose(link.W.array, expected)

    def test_not_applied_twice(self):
        link, opt = self.make()
        opt.set_loss_scale(8)
        opt.update(lambda: chainer.functions.sum(link.W) / 4)
        opt.update()  # the same gradient, which is no longer scaled
        testing.assert_allclose(link.W.array, 0.5)

    def test_small_gradients_survive_in_float16(self):
        link, opt = self.make('e')
        opt.use_fp32_update()
        opt.set_loss_scale(1024)
        tiny = numpy.float16(2e-8)
        assert tiny == 0
        opt.update(lambda: chainer.functions.sum(link.W) * numpy.float16(1e-3))
        testing.assert_allclose(link.W.update_rule._fp32_param.array, 1 - 1e-3, rtol=1e-5)

    @pytest.mark.parametrize('kwargs', [{'scale': 0}, {'scale': -1}, {'interval': 0}])
    def test_bad_arguments(self, kwargs):
        with pytest.raises(ValueError):
            chainer.optimizers.SGD().loss_scaling(**kwargs)

    def test_dynamic(self):
        link, opt = self.make()
        opt.loss_scaling(interval=2)
        for expected in (2, 4):
            opt.update(lambda: chainer.functions.sum(link.W))
            assert opt._loss_scale == expected
        before = link.W.array.copy()
        with pytest.warns(UserWarning, match='Non finite'):
            opt.update(lambda: chainer.functions.sum(link.W) * numpy.float32(numpy.inf))
        assert not opt.is_safe_to_update()
        numpy.testing.assert_array_equal(link.W.array, before)
        assert opt.t == 2
        assert opt._loss_scale == 2
        for _ in range(2):
            opt.update(lambda: chainer.functions.sum(link.W))
        testing.assert_allclose(opt._loss_scale, 4)

    def test_dynamic_is_bounded_and_resumes(self):
        link, opt = self.make()
        opt.loss_scaling()
        for _ in range(20):
            opt.update_loss_scale()
        assert opt._loss_scale == 65504
        link2, opt2 = self.make()
        opt2.loss_scaling()
        with chainer.using_config('exact_resume', 'always'):
            npz.NpzDeserializer(npz.serialize(opt)).load(opt2)
        assert opt2._loss_scale == 65504


@pytest.mark.parametrize('optimizer', [chainer.optimizers.SGD, chainer.optimizers.Adam])
def test_uninitialized_parameters_stay_so(optimizer):
    model = chainer.Sequential(L.Linear(3, 2), F.exp, _Unused())
    optimizer = optimizer().setup(model)
    before = model[0].W.array.copy()
    optimizer.update(lambda: F.sum(model(numpy.ones((1, 3), numpy.float32))))
    assert (model[0].W.array != before).any()
    assert model[2].linear.W.array is None
    other = optimizer.__class__().setup(L.Linear(None, 2))
    with pytest.raises(RuntimeError, match='not initialized'):
        other.update()
    other.target.disable_update()
    other.update()
    other.target.enable_update()
    other.target.cleargrads()
    other.update()


@pytest.mark.parametrize('fp32', [False, True])
@pytest.mark.parametrize('dtype', ['e', 'f'])
def test_updates_before_initialization_count(dtype, fp32):
    with chainer.using_config('dtype', numpy.dtype(dtype)):
        model = chainer.Sequential(L.Linear(3, 2), L.Linear(None, 2))
    optimizer = chainer.optimizers.Adam()
    optimizer.use_fp32_update(fp32)
    optimizer.setup(model)
    x = numpy.ones((1, 3), dtype)
    for _ in range(2):
        optimizer.update(lambda: F.sum(model[0](x)))
    assert model[1].W.update_rule.t == 2
    assert model[1].W.update_rule.state is None
    before = model[0].W.array.copy()
    optimizer.update(lambda: F.sum(model(x)))
    assert (model[0].W.array != before).any()
    assert {param.update_rule.t for param in model.params()} == {3}
    # The correction of Adam's bias is that of the third update.
    rate = 1e-3 * (1 - 0.999**3) ** 0.5 / (1 - 0.9**3)
    assert model[1].W.update_rule.alpha_t == pytest.approx(rate)


class _Unused(chainer.Chain):
    """Passes its input on; its link is never called."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.linear = L.Linear(None, 2)

    def forward(self, x):
        return x
