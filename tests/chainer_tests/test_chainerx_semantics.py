"""What backward, hooks, modes and errors do on ChainerX, as they do on NumPy."""

import weakref

import numpy as np
import pytest
from helpers.arrays import to_numpy as _numpy, var as _var

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from tests.helpers.devices import CHX, IS_CUDA, needs_devices

pytestmark = pytest.mark.chainerx


class Square(chainer.FunctionNode):
    """Falls back."""

    def forward(self, inputs):
        self.retain_inputs((0,))
        return (inputs[0] ** 2,)

    def backward(self, indexes, gys):
        (x,) = self.get_retained_inputs()
        return (2 * x * gys[0],)


class OldSquare(chainer.Function):
    def forward(self, inputs):
        return (inputs[0] ** 2,)

    def backward(self, inputs, gys):
        return (2 * inputs[0] * gys[0],)


class OldExp(chainer.Function):
    """Uses its output for the gradient."""

    def forward(self, inputs):
        self.retain_inputs(())
        self.retain_outputs((1,))
        return inputs[0] * 0, np.exp(inputs[0])

    def backward(self, inputs, gys):
        assert self.output_data[0] is None
        return (self.output_data[1] * gys[1],)


class ByGrad(Square):
    """Differentiates a graph that its backward makes."""

    def backward(self, indexes, gys):
        (x,) = self.get_retained_inputs()
        with chainer.force_backprop_mode():
            y = x * x
        return tuple(
            chainer.grad([y], [x], gys, enable_double_backprop=chainer.config.enable_backprop)
        )


def square(x):
    return Square().apply((x,))[0]


SQUARES = [F.square, square, lambda x: ByGrad().apply((x,))[0]]


class TestRetainGrad:
    @pytest.mark.parametrize('f', [F.square, square, lambda x: OldSquare()(x)])
    @pytest.mark.parametrize('double', [False, True])
    def test_backward(self, f, double):
        x = _var([1.0, 2.0])
        h = x * 3
        y = f(h)
        z = F.sum(y)
        z.backward(retain_grad=True, enable_double_backprop=double)
        np.testing.assert_allclose(_numpy(x.grad), [18, 36])
        np.testing.assert_allclose(_numpy(h.grad), [6, 12])
        np.testing.assert_allclose(_numpy(y.grad), [1, 1])

    def test_not_retained(self):
        x = _var([1.0, 2.0])
        h = x * 3
        F.sum(h * h).backward()
        assert h.grad is None

    def test_several_outputs(self):
        x = _var([1.0, 2.0])
        h = x * 3
        chainer.backward([F.sum(h), F.sum(h * h)], retain_grad=True)
        np.testing.assert_allclose(_numpy(h.grad), [7, 13])

    @pytest.mark.parametrize('device', ['@numpy', CHX[0]])
    def test_chainer_grad_leaves_leaves_alone(self, device):
        x, w = _var([1.0, 2.0], device), _var([3.0, 4.0], device)
        h = x * w
        (gx,) = chainer.grad([F.sum(h * h)], [x], retain_grad=True)
        np.testing.assert_array_equal(_numpy(gx), [18, 64])
        np.testing.assert_array_equal(_numpy(h.grad), [6, 16])
        assert x.grad is None and w.grad is None

    def test_grad_is_not_shared(self):
        x = _var([1.0, 2.0])
        h = x + 0
        F.sum(h).backward(retain_grad=True)
        h.grad[...] = 5
        np.testing.assert_allclose(_numpy(x.grad), [1, 1])


class TestBackward:
    def test_grad_of_several_elements(self):
        x = _var([1.0, 2.0])
        (gx,) = chainer.grad([x * x, F.sum(x)], [x], loss_scale=2)
        np.testing.assert_allclose(_numpy(gx), [3, 5])
        chainer.grad([x * x], [x], grad_inputs=[_var([0.5, 0.0])], set_grad=True)
        np.testing.assert_allclose(_numpy(x.grad), [2.5, 4])

    def test_output_data(self):
        x = _var([1.0, 2.0])
        F.sum(OldExp()(x)[1]).backward()
        np.testing.assert_allclose(_numpy(x.grad), np.exp([1, 2]))

    def test_accumulates_and_clears(self):
        x = _var([1.0, 2.0])
        for n in 1, 2:
            F.sum(square(x) + x * x).backward()
            np.testing.assert_allclose(_numpy(x.grad), [4 * n, 8 * n])
        x.cleargrad()
        assert x.grad is None

    @pytest.mark.parametrize('f', SQUARES)
    @pytest.mark.parametrize('device', ['@numpy', CHX[0]])
    def test_losses_share_a_graph(self, f, device):
        x = _var([1.0, 2.0], device)
        y = f(x)
        for loss in F.sum(y), F.sum(y * y), F.sum(x * y):
            loss.backward()
        np.testing.assert_allclose(_numpy(x.grad), [2 + 4 + 3, 4 + 32 + 12])

    @pytest.mark.parametrize('device', ['@numpy', CHX[0]])
    def test_sum_of_a_loss_after_its_own_backward(self, device):
        x = _var([1.0, 2.0], device)
        a, b = F.sum(x * x), F.sum(x)
        total = a + b
        a.backward()
        x.cleargrad()
        # The gradient that `a` has from before does not count again.
        total.backward()
        np.testing.assert_array_equal(_numpy(x.grad), [3, 5])

    def test_adversarial_networks_share_a_graph(self):
        def step(device):
            gen, dis = L.Linear(2, 3, initialW=0.5), L.Linear(3, 1, initialW=0.2)
            optimizers = []
            for link in gen, dis:
                link.to_device(device)
                optimizers.append(chainer.optimizers.Adam(0.1).setup(link))
            y = dis(F.tanh(gen(device.send(np.array([[1, 2], [-1, 0.5]], 'f')))))
            optimizers[1].update(lambda: F.mean(F.softplus(y)))
            # Through the discriminator that has changed meanwhile, as everywhere in Chainer.
            optimizers[0].update(lambda: F.mean(F.softplus(-y)))
            return [_numpy(p) for link in (gen, dis) for p in link.params()]

        for a, b in zip(*(step(chainer.get_device(d)) for d in ('@numpy', CHX[0]))):
            np.testing.assert_allclose(a, b, rtol=1e-5)

    def test_what_nothing_leads_to_is_freed(self):
        x = _var([1.0, 2.0])
        kept = Square()
        y = kept.apply((x * 3,))[0]
        freed = Square()
        loss = F.sum(freed.apply((y,))[0])
        refs = weakref.ref(kept), weakref.ref(freed)
        del kept, freed
        assert all(r() is not None for r in refs)
        loss.backward()
        assert refs[0]() is not None and refs[1]() is None

    def test_truncated_backpropagation_through_time(self):
        xs = np.random.RandomState(0).uniform(-1, 1, (8, 2, 3)).astype('f')

        def run(device):
            lstm = L.LSTM(3, 4, lateral_init=0.2, upward_init=0.3)
            lstm.to_device(device)
            for i, x in enumerate(xs):
                h = lstm(device.send(x))
                if i % 4 == 3:
                    # The cell of the last step takes no part in the loss.
                    loss = F.sum(h * h)
                    loss.backward()
                    loss.unchain_backward()
            return [_numpy(p.grad) for p in lstm.params()]

        for a, b in zip(*(run(chainer.get_device(d)) for d in ('@numpy', CHX[0]))):
            np.testing.assert_allclose(a, b, rtol=1e-5)

    @pytest.mark.parametrize('f', SQUARES)
    def test_loss_scale(self, f):
        x = _var([1.0, 2.0])
        F.sum(f(x)).backward(loss_scale=8)
        np.testing.assert_allclose(_numpy(x.grad), [2, 4])
        x.cleargrad()
        chainer.backward([F.sum(f(x))], loss_scale=8)
        np.testing.assert_allclose(_numpy(x.grad), [2, 4])

    @pytest.mark.parametrize('f', SQUARES)
    @pytest.mark.parametrize('g', SQUARES)
    def test_mixed_graphs(self, f, g):
        x = _var([0.5, 1.2])
        y = F.sin(f(x) * x) + g(x)
        (first,) = chainer.grad([F.sum(y)], [x], enable_double_backprop=True)
        (second,) = chainer.grad([F.sum(F.sin(first))], [x])
        a = _numpy(x)
        expected = np.cos(a**3) * 3 * a**2 + 2 * a
        np.testing.assert_allclose(_numpy(first), expected)
        slope = -np.sin(a**3) * 9 * a**4 + np.cos(a**3) * 6 * a + 2
        np.testing.assert_allclose(_numpy(second), np.cos(expected) * slope)

    @pytest.mark.parametrize('f', SQUARES)
    def test_gradient_through_its_own_output(self, f):
        x = _var([0.5, 1.2])
        (first,) = chainer.grad([F.sum(F.sin(f(x)))], [x], enable_double_backprop=True)
        (second,) = chainer.grad([F.sum(first)], [x])
        a = _numpy(x)
        np.testing.assert_allclose(_numpy(second), 2 * np.cos(a**2) - 4 * a**2 * np.sin(a**2))

    def test_backward_accumulate(self):
        class Accumulating(Square):
            def backward_accumulate(self, indexes, gys, gxs):
                assert gxs == (None,)
                return super().backward_accumulate(indexes, gys, gxs)

        x = _var([1.0, 2.0])
        F.sum(Accumulating().apply((x,))[0] + x).backward()
        np.testing.assert_allclose(_numpy(x.grad), [3, 5])

    def test_grad_arguments(self):
        x, y = _var([1.0, 2.0]), _var([3.0, 4.0])
        z = square(x) * y
        gx, gy = chainer.grad(
            [z], [x, y], [_var([1.0, 10.0])], [_var([5.0, 5.0]), None], set_grad=True, loss_scale=2
        )
        np.testing.assert_allclose(_numpy(gx), [11, 165])
        np.testing.assert_allclose(_numpy(gy), [1, 40])
        np.testing.assert_allclose(_numpy(y.grad), [1, 40])

    def test_grad_of_unrelated_input(self):
        x, y = _var([1.0]), _var([2.0])
        assert chainer.grad([F.sum(x)], [y]) == [None]

    def test_requires_grad(self):
        x = _var([1.0, 2.0], requires_grad=False)
        assert not (x * 2).requires_grad and not square(x).requires_grad
        y = _var([3.0, 4.0])
        F.sum(square(x) * y).backward()
        assert x.grad is None
        np.testing.assert_allclose(_numpy(y.grad), [1, 4])

    def test_unchained_part_gets_no_gradient(self):
        x = _var([1.0, 2.0])
        h = square(x)
        h.unchain()
        F.sum(h * x).backward()
        np.testing.assert_allclose(_numpy(x.grad), [1, 4])

    def test_output_that_is_none(self):
        class Optional(chainer.FunctionNode):
            def forward(self, inputs):
                return inputs[0] * 2, None

            def backward(self, indexes, gys):
                assert gys[1] is None
                return (gys[0] * 2,)

        x = _var([1.0, 2.0])
        y, nothing = Optional().apply((x,))
        assert nothing.array is None
        F.sum(y).backward()
        np.testing.assert_allclose(_numpy(x.grad), [2, 2])

    def test_forget_with_parameters(self):
        link = L.Linear(2, 2)
        link.to_device(CHX[0])
        x = _var(np.array([[1, 2]], np.float32))
        expected = []
        for f in link, lambda x: F.forget(link, x):
            link.cleargrads()
            x.cleargrad()
            F.sum(F.square(f(x))).backward()
            expected.append([_numpy(v.grad) for v in (x, link.W, link.b)])
        for a, b in zip(*expected):
            np.testing.assert_allclose(a, b, 1e-6)


class TestModes:
    @pytest.mark.parametrize('f', SQUARES)
    def test_no_backprop_mode(self, f):
        x = _var([1.0, 2.0])
        with chainer.no_backprop_mode():
            assert not f(x).requires_grad
            with chainer.force_backprop_mode():
                assert f(x).requires_grad
        assert f(x).requires_grad

    def test_keep_graph_on_report(self):
        for keep in False, True:
            reporter = chainer.Reporter()
            loss = F.sum(_var([1.0, 2.0]) * 2)
            observation = {}
            with reporter.scope(observation), chainer.using_config('keep_graph_on_report', keep):
                chainer.report({'loss': loss})
            value = observation['loss']
            graph = isinstance(value, chainer.Variable) and value.requires_grad
            assert bool(graph) == keep
            assert float(_numpy(value)) == 6

    def test_debug_mode_finds_nan(self):
        with chainer.using_config('debug', True):
            for f in F.log, lambda x: x * 2.0, lambda x: x + x:
                with (
                    pytest.raises(RuntimeError, match='NaN is detected'),
                    np.errstate(all='ignore'),
                ):
                    f(_var([-1.0, np.nan]))


class TestHooks:
    class Record(chainer.FunctionHook):
        name = 'Record'

        def __init__(self):
            self.calls = []

        def forward_preprocess(self, function, in_data):
            self.calls.append(('forward', function.label, len(in_data)))

        def backward_preprocess(self, function, in_data, out_grad):
            assert all(isinstance(a, chainerx.ndarray) for a in (*in_data, *out_grad))
            self.calls.append(('backward', function.label, len(in_data)))

        def backward_postprocess(self, function, in_data, out_grad):
            self.calls.append(('done', function.label, len(out_grad)))

    def test_thread_hooks(self):
        x = _var([1.0, 2.0])
        with self.Record() as hook:
            F.sum(square(x * x + 1.0)).backward()
        assert hook.calls[:5] == [
            ('forward', '_ * _', 2),
            ('forward', '_ + 1.0', 1),
            ('forward', 'Square', 1),
            ('forward', 'Sum', 1),
            ('backward', 'Square', 1),
        ]
        # In between are the functions that the backward calls.
        assert hook.calls[-1] == ('done', 'Square', 1)
        assert [c[0] for c in hook.calls].count('backward') == 1

    def test_hook_of_one_function(self):
        hook = self.Record()
        func = Square()
        func.add_hook(hook)
        (y,) = func.apply((_var([1.0, 2.0]),))
        F.sum(y).backward()
        assert [c[0] for c in hook.calls] == ['forward', 'backward', 'done']

    def test_timer(self):
        hook = chainer.function_hooks.TimerHook()
        with hook:
            F.sum(square(_var([1.0, 2.0]))).backward()
        assert hook.summary()['Square']['occurrence'] == 2


class TestMoves:
    def test_link(self):
        link = L.Linear(2, 2)
        link.W.grad = np.full((2, 2), 3, np.float32)
        link.b.grad = np.full(2, 4, np.float32)
        for move, device in (
            (link.to_chx, 'native:0'),
            (lambda: link.to_device(CHX[1]), CHX[1]),
            (link.from_chx, CHX[1].replace('cuda', '@cupy') if IS_CUDA else '@numpy'),
        ):
            move()
            assert link.W.device == chainer.get_device(device)
            np.testing.assert_array_equal(_numpy(link.W.grad), np.full((2, 2), 3))
            np.testing.assert_array_equal(_numpy(link.b.grad), [4, 4])

    def test_from_chx_shares_memory(self):
        x = _var([1.0, 2.0])
        array = x.array
        x.from_chx()
        x.array[0] = 7
        assert float(array[0]) == 7


class TestErrors:
    def _raises_and_leaves_no_trace(self, call, error):
        state = (
            chainer.config.enable_backprop,
            chainerx.is_backprop_required(),
            chainer.get_device(CHX[0]),
            chainerx.get_default_device(),
        )
        with pytest.raises(error):
            call()
        assert state == (
            chainer.config.enable_backprop,
            chainerx.is_backprop_required(),
            chainer.get_device(CHX[0]),
            chainerx.get_default_device(),
        )
        x = _var([1.0, 2.0])
        F.sum(square(x) * x).backward()
        np.testing.assert_allclose(_numpy(x.grad), [3, 12])

    # Without a graph no backward runs.
    @pytest.mark.parametrize(
        'where, mode',
        [
            (where, mode)
            for where in ('forward', 'backward', 'forward_chainerx')
            for mode in (chainer.no_backprop_mode, chainer.force_backprop_mode)
            if (where, mode) != ('backward', chainer.no_backprop_mode)
        ],
    )
    def test_exception(self, where, mode):
        def fail(*args):
            raise KeyError('failed')

        Bad = type('Bad', (Square,), {where: fail})
        x = _var([1.0, 2.0], CHX[1])

        def call():
            with chainer.using_device(CHX[1]), mode():
                F.sum(Bad().apply((x,))[0]).backward()

        self._raises_and_leaves_no_trace(call, KeyError)
        assert x.grad is None

    def test_exception_in_double_backward(self):
        class Bad(Square):
            def backward(self, indexes, gys):
                return Fails().apply((self.get_retained_inputs()[0] * gys[0],))

        class Fails(Square):
            def backward(self, indexes, gys):
                raise KeyError

        x = _var([1.0, 2.0])
        (gx,) = chainer.grad([F.sum(Bad().apply((x,))[0])], [x], enable_double_backprop=True)
        self._raises_and_leaves_no_trace(lambda: F.sum(gx).backward(), KeyError)

    def test_failed_backward_can_be_repeated(self):
        failing = [True]

        class Flaky(Square):
            def backward(self, indexes, gys):
                if failing[0]:
                    raise KeyError
                return super().backward(indexes, gys)

        x = _var([1.0, 2.0])
        loss = F.sum(Flaky().apply((x,))[0])
        with pytest.raises(KeyError):
            loss.backward(enable_double_backprop=True)
        failing[0] = False
        loss.backward()
        np.testing.assert_allclose(_numpy(x.grad), [2, 4])

    @needs_devices(2)
    @pytest.mark.parametrize(
        'f, name',
        [
            (lambda x, y: x + y, r'_ \+ _'),
            (lambda x, y: x * y, r'_ \* _'),
            (lambda x, y: F.linear(x, y), 'LinearFunction'),
            (lambda x, y: F.concat((x, y)), 'Concat'),
            (lambda x, y: Square().apply((x, y))[0], 'Square'),
            (lambda x, y: OldSquare()(x, y), 'OldSquare'),
        ],
    )
    def test_mixed_devices(self, f, name):
        a = np.ones((2, 2), np.float32)
        with pytest.raises(chainerx.DeviceError, match=f'{name}: .*{CHX[0]}, {CHX[1]}'):
            f(_var(a), _var(a, CHX[1]))
        for x, y in ((_var(a), a), (a, _var(a))):
            with pytest.raises(TypeError, match=r'(?s)\(' + name + r'\).*Devices: ') as e:
                f(chainer.as_variable(x), chainer.as_variable(y))
            assert CHX[0] in str(e.value) and '@numpy' in str(e.value)

    @needs_devices(2)
    def test_mixed_devices_in_links(self):
        a = np.ones((2, 3), np.float32)
        link = L.Linear(3, 2)
        link.to_device(CHX[0])
        with pytest.raises(chainerx.DeviceError, match=f'LinearFunction: .*{CHX[0]}, {CHX[1]}'):
            link(_var(a, CHX[1]))
        with pytest.raises(TypeError, match=rf'(?s)\(LinearFunction\).*@numpy, {CHX[0]}'):
            link(a)
