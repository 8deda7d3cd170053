"""Variables and functions on ChainerX devices, native and in fallback."""

import copy
import pickle

import numpy as np
import pytest
from helpers.arrays import send as _send, to_numpy as _numpy, var as _var

import chainer
import chainerx
from chainer import backend, functions as F
from chainer.backends import cuda
from chainer.utils import type_check
from tests.helpers.devices import CHX, IS_CUDA, needs_devices

pytestmark = pytest.mark.chainerx
# What functions see that fall back
VIEW = cuda.ndarray if IS_CUDA else np.ndarray


class Cube(chainer.FunctionNode):
    """New-style function without a native path, with an array of its own for backward."""

    def forward(self, inputs):
        (x,) = inputs
        assert isinstance(x, VIEW)
        self.retain_inputs((0,))
        self.factor = backend.get_array_module(x).full(x.shape, 3, x.dtype)
        return (x**3,)

    def backward(self, indexes, gys):
        (x,) = self.get_retained_inputs()
        (gy,) = gys
        for array in x.array, gy.array, self.factor:
            assert isinstance(array, chainerx.ndarray)
        return (self.factor * x**2 * gy,)


class TwoOutputs(chainer.FunctionNode):
    def forward(self, inputs):
        x, y = inputs
        self.retain_inputs((0, 1))
        self.retain_outputs((0,))
        return np.exp(x), x * y

    def backward(self, indexes, gys):
        x, y = self.get_retained_inputs()
        (e,) = self.get_retained_outputs()
        g0, g1 = gys
        gx = 0 if g0 is None else g0 * e
        gxs = [gx if g1 is None else gx + g1 * y, None if g1 is None else g1 * x]
        return tuple([gxs[i] for i in indexes])


class OldSquare(chainer.Function):
    def forward(self, inputs):
        return (inputs[0] ** 2,)

    def backward(self, inputs, gys):
        return (2 * inputs[0] * gys[0],)


class TestVariable:
    def test_attributes(self):
        x = _var(np.ones((2, 3), np.float32), name='x')
        assert x.device == chainer.get_device(CHX[0])
        assert x.xp is chainerx and x.requires_grad and x.shape == (2, 3)
        assert isinstance(x.chx_array, chainerx.ndarray) and x.chx_array.is_backprop_required()
        assert not x.array.is_backprop_required()
        assert x.grad is None
        for name in ('node', 'creator', 'creator_node', 'rank', 'label'):
            with pytest.raises(RuntimeError, match='ChainerX'):
                getattr(x, name)
        with pytest.raises(ValueError):
            chainer.Variable(np.ones(2)).chx_array

    def test_users_array_stays_outside_the_graph(self):
        a = _send(np.ones(2, np.float32))
        chainer.Variable(a)
        assert not a.is_backprop_required()

    def test_integers_require_no_gradient(self):
        assert not _var(np.arange(3)).requires_grad

    def test_grad(self):
        x = _var(np.ones(2, np.float32))
        x.grad = _send(np.full(2, 3, np.float32))
        np.testing.assert_array_equal(_numpy(x.grad), [3, 3])
        x.cleargrad()
        assert x.grad is None
        for bad, error in (
            (np.ones(2, np.float32), TypeError),
            (_send(np.ones(3, np.float32)), ValueError),
            (_send(np.ones(2, np.float64)), TypeError),
        ):
            with pytest.raises(error):
                x.grad = bad

    def test_results_keep_no_gradients(self):
        x = _var(np.ones(2, np.float32))
        y = x * 2
        assert y.grad is None and y.grad_var is None
        y.grad = _send(np.array([1, 2], np.float32))
        y.backward()
        np.testing.assert_array_equal(_numpy(x.grad), [2, 4])
        z = x * 3
        F.sum(z).backward(retain_grad=True)
        np.testing.assert_array_equal(_numpy(z.grad), [1, 1])

    def test_moves_keep_gradients(self):
        x = chainer.Variable(np.array([1, 2], np.float32), grad=np.array([3, 4], np.float32))
        x.to_chx()
        assert x.device.name == 'native:0'
        np.testing.assert_array_equal(_numpy(x.grad), [3, 4])
        x.to_device(CHX[1])
        assert x.device.name == CHX[1]
        np.testing.assert_array_equal(_numpy(x.grad), [3, 4])
        x.from_chx()
        assert isinstance(x.array, VIEW)
        np.testing.assert_array_equal(_numpy(x.grad), [3, 4])

    def test_another_array_keeps_the_gradient(self):
        x = _var(np.array([1.0, 2.0]))
        F.sum(x * 3).backward()
        x.array = x.array - x.grad
        np.testing.assert_array_equal(_numpy(x.grad), [3, 3])
        F.sum(x * x).backward()
        np.testing.assert_array_equal(_numpy(x.grad), [3 - 4, 3 - 2])
        x.array = chainerx.ones(3)
        assert x.grad is None

    def test_text_and_copies(self):
        x = _var(np.array([1, 2], np.float32), name='x')
        assert repr(x) == 'variable x([1., 2.])'
        assert CHX[0] in x.debug_print()
        for y in (pickle.loads(pickle.dumps(x)), copy.copy(x)):
            assert y.device == x.device
            np.testing.assert_array_equal(_numpy(y), [1, 2])

    def test_copydata_and_addgrad_across_devices(self):
        x, y = _var(np.array([1, 2], np.float32)), chainer.Variable(np.zeros(2, np.float32))
        y.copydata(x)
        np.testing.assert_array_equal(y.array, [1, 2])
        y.grad = np.array([5, 6], np.float32)
        x.addgrad(y)
        x.addgrad(y)
        np.testing.assert_array_equal(_numpy(x.grad), [10, 12])

    def test_unchain(self):
        x = _var(np.ones(2, np.float32))
        y = x * 2
        y.unchain()
        assert not y.requires_grad
        assert x.requires_grad

    def test_unchain_backward(self):
        x = _var(np.array([1.0, 2.0]))
        h = x * x
        F.sum(Cube().apply((h * 3,))[0]).unchain_backward()
        F.sum(h * x).backward()
        np.testing.assert_allclose(_numpy(x.grad), [1, 4])


class TestBackward:
    def test_native(self):
        x, y = _var(np.array([1.0, 2.0])), _var(np.array([3.0, 4.0]))
        z = F.sum(x * y + F.exp(x))
        z.backward()
        np.testing.assert_allclose(_numpy(x.grad), [3, 4] + np.exp([1, 2]))
        np.testing.assert_allclose(_numpy(y.grad), [1, 2])

    def test_double(self):
        x = _var(np.array([1.0, 2.0]))
        F.sum(x**3).backward(enable_double_backprop=True)
        gx = x.grad_var
        x.cleargrad()
        F.sum(gx).backward()
        np.testing.assert_allclose(_numpy(x.grad), [6, 12])

    def test_chainer_grad(self):
        x, y = _var(np.array([1.0, 2.0])), _var(np.array([3.0, 4.0]))
        z = x * x * y
        gx, gy = chainer.grad([z], [x, y], [_var(np.array([1.0, 10.0]))])
        np.testing.assert_allclose(_numpy(gx), [6, 160])
        np.testing.assert_allclose(_numpy(gy), [1, 40])
        assert x.grad is None

    def test_non_scalar_without_gradient(self):
        x = _var(np.array([1.0, 2.0]))
        y = x * 2
        y.backward()  # starts with ones, as in Chainer 7
        np.testing.assert_array_equal(_numpy(x.grad), [2, 2])
        (gx,) = chainer.grad([x * 2, x * 3], [x])
        np.testing.assert_allclose(_numpy(gx), [5, 5])

    def test_no_backprop_mode(self):
        x = _var(np.array([1.0, 2.0]))
        with chainer.no_backprop_mode():
            y, z = x * 2, Cube().apply((x,))[0]
            with chainer.force_backprop_mode():
                w = x * 2
        assert not y.requires_grad and not z.requires_grad and w.requires_grad
        with chainer.using_config('enable_backprop', False):
            assert not (x * 2).requires_grad

    def test_mixed_arrays(self):
        with pytest.raises(TypeError):
            F.matmul(_var(np.ones((2, 2))), np.ones((2, 2)))

    def test_type_error_is_chainers(self):
        with pytest.raises(type_check.InvalidType):
            _var(np.ones(2, np.float32)) + _var(np.ones(3, np.float32))

    @needs_devices(2)
    def test_different_devices(self):
        for f in (lambda x, y: x + y, lambda x, y: TwoOutputs().apply((x, y))[0]):
            with pytest.raises(chainerx.ChainerxError) as e:
                f(_var(np.ones(2)), _var(np.ones(2), CHX[1]))
            assert CHX[0] in str(e.value) and CHX[1] in str(e.value)


class TestFallback:
    def _check(self, f, arrays, expected, gradients, device=CHX[0]):
        xs = [_var(a, device) for a in arrays]
        y = f(*xs)
        assert y.device.name == device
        np.testing.assert_allclose(_numpy(y), expected)
        F.sum(y).backward()
        for x, g in zip(xs, gradients):
            assert x.device.name == device
            np.testing.assert_allclose(_numpy(x.grad), g)

    @pytest.mark.parametrize('device', [CHX[0], CHX[1]])
    def test_gradient(self, device):
        x = np.array([1.0, 2.0])
        self._check(lambda x: Cube().apply((x,))[0], [x], x**3, [3 * x**2], device)
        self._check(lambda x: Cube().apply((x * 2,))[0] * x, [x], 8 * x**4, [32 * x**3], device)

    def test_old_style(self):
        x = np.array([1.0, 2.0])
        self._check(lambda x: OldSquare()(x), [x], x**2, [2 * x])

    def test_old_style_double_backprop_raises(self):
        x = _var(np.array([1.0, 2.0]))
        F.sum(OldSquare()(x)).backward(enable_double_backprop=True)
        gx = x.grad_var
        np.testing.assert_allclose(_numpy(gx), [2, 4])
        with pytest.raises(RuntimeError, match='OldSquare is an old-style'):
            F.sum(gx).backward()

    @pytest.mark.parametrize('old_style', [False, True])
    @pytest.mark.parametrize('position', [None, 0, 1])
    def test_attributes_and_none(self, old_style, position):
        inside = VIEW if old_style else chainerx.ndarray

        def forward(self, inputs):
            arrays = [x for x in inputs if x is not None]
            self.retain_inputs(range(len(inputs)))
            self.retain_outputs((0,))
            self.mask = arrays[0] > 0
            for array in (*arrays, self.scale, self.mask):
                assert isinstance(array, VIEW)
            return (arrays[0] * self.scale * self.mask,)

        def gradient(self, y, gy):
            for array in (*self.output_data, y, gy, self.scale, self.mask):
                assert isinstance(array, inside)
            return y / self.scale * 0 + gy * self.scale * self.mask

        if old_style:

            class Function(chainer.Function):
                def backward(self, inputs, gys):
                    assert [x is None for x in inputs] == [x is None for x in xs]
                    (y,) = self.output_data
                    return tuple([None if x is None else gradient(self, y, gys[0]) for x in inputs])
        else:

            class Function(chainer.FunctionNode):
                def backward(self, indexes, gys):
                    retained = self.get_retained_inputs()
                    assert [x.array is None for x in retained] == [x is None for x in xs]
                    assert indexes == (int(position == 0),)
                    (y,) = self.get_retained_outputs()
                    gx = gradient(self, y.array, gys[0].array)
                    return (chainer.Variable(gx, requires_grad=False),)

        Function.forward = forward
        func = Function()
        scale = func.scale = _send(np.array([2.0, 3.0]))
        xs = [_var(np.array([1.0, -1.0]))]
        if position is not None:
            xs.insert(position, None)
        y = func(*xs) if old_style else func.apply(xs)[0]
        assert func.scale is scale and isinstance(func.mask, chainerx.ndarray)
        np.testing.assert_array_equal(_numpy(y), [2, 0])
        F.sum(y).backward()
        np.testing.assert_array_equal(_numpy(xs[position == 0].grad), [2, 0])

    def test_several_outputs(self):
        x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
        self._check(lambda x, y: TwoOutputs().apply((x, y))[0], [x, y], np.exp(x), [np.exp(x)])
        self._check(
            lambda x, y: sum(TwoOutputs().apply((x, y))),
            [x, y],
            np.exp(x) + x * y,
            [np.exp(x) + y, x],
        )

    def test_higher_order(self):
        x = _var(np.array([1.0, 2.0]))
        (g,) = Cube().apply((x,))
        for n, expected in enumerate((3 * _numpy(x) ** 2, 6 * _numpy(x), np.full(2, 6.0))):
            (g,) = chainer.grad([F.sum(g)], [x], enable_double_backprop=n < 2)
            np.testing.assert_allclose(_numpy(g), expected)

    def test_gradient_check(self):
        rng = np.random.RandomState(0)
        x, y, gy, gz, ggx, ggy = [_send(rng.uniform(0.5, 1.5, 3)) for _ in range(6)]

        def f(x, y):
            return TwoOutputs().apply((Cube().apply((x,))[0], y * x))

        chainer.gradient_check.check_backward(f, (x, y), (gy, gz), atol=1e-4, rtol=1e-4)
        chainer.gradient_check.check_double_backward(
            f, (x, y), (gy, gz), (ggx, ggy), atol=1e-4, rtol=1e-4
        )

    def test_exception_leaves_modes(self):
        class Bad(Cube):
            def backward(self, indexes, gys):
                raise KeyError('bad')

        x = _var(np.array([1.0, 2.0]))
        y = F.sum(Bad().apply((x,))[0])
        with pytest.raises(KeyError, match='bad'):
            y.backward()
        assert chainer.config.enable_backprop
        assert (x * 2).requires_grad

    def test_hooks_see_functions(self):
        class Hook(chainer.FunctionHook):
            labels = []

            def forward_postprocess(self, function, in_data):
                self.labels.append(function.label)

        with Hook():
            Cube().apply((_var(np.ones(2)) * 2,))
        assert Hook.labels == ['_ * 2', 'Cube']
