"""``Variable.backward`` and ``chainer.grad``."""

import weakref

import numpy as np
import pytest

import chainer
from chainer import functions as F
from tests.chainer_tests.test_variable import _var


class TestBackward:
    def test_leaves_accumulate(self):
        x = _var(3)
        for expected in (2, 4):
            F.sum(x * 2).backward()
            np.testing.assert_array_equal(x.grad, [expected] * 3)

    def test_shared_subgraph(self):
        x = _var(3)
        y = x * 2
        F.sum(y * y + y).backward()
        np.testing.assert_allclose(x.grad, 8 * x.array + 2)

    def test_leaf_does_nothing(self):
        x = _var(3)
        x.backward()
        assert x.grad is None

    def test_intermediate_grad(self):
        for retain in (False, True):
            x = _var(3)
            y = x * 2
            z = F.sum(y)
            z.backward(retain_grad=retain)
            assert (y.grad is not None) is retain
            assert (z.grad is not None) is retain
            if retain:
                np.testing.assert_array_equal(z.grad, 1)
            np.testing.assert_array_equal(x.grad, [2, 2, 2])

    def test_non_scalar_without_gradient(self):
        y = _var(3) * 2
        with pytest.raises(ValueError, match=r'shape \(3,\)'):
            y.backward()

    def test_single_element_warns(self):
        x = _var(1)
        with pytest.warns(DeprecationWarning) as record:
            (x * 2).backward()
        assert record[0].filename == __file__
        np.testing.assert_array_equal(x.grad, [2])

    def test_loss_scale(self):
        x = _var(3)
        F.sum(x).backward(loss_scale=4)
        np.testing.assert_array_equal(x.grad, [4, 4, 4])

    def test_loss_scale_of_a_given_gradient(self):
        x = _var(3)
        y = F.sum(x)
        y.grad = np.array(3, np.float32)
        y.backward(loss_scale=4, retain_grad=True)
        assert type(y.grad) is np.ndarray
        np.testing.assert_array_equal(x.grad, [12, 12, 12])

    def test_requires_grad_false(self):
        x, w = _var(3, requires_grad=False), _var(3)
        y = F.sum(x * w)
        assert y.requires_grad
        y.backward()
        assert x.grad is None
        np.testing.assert_array_equal(w.grad, x.array)

    def test_double_backprop(self):
        x = _var(3, dtype=np.float64)
        F.sum(x**3).backward(enable_double_backprop=True)
        gx = x.grad_var
        np.testing.assert_allclose(gx.array, 3 * x.array**2)
        x.cleargrad()
        F.sum(gx).backward(enable_double_backprop=True)
        ggx = x.grad_var
        np.testing.assert_allclose(ggx.array, 6 * x.array)
        x.cleargrad()
        F.sum(ggx).backward()
        np.testing.assert_allclose(x.grad, [6, 6, 6])

    def test_no_double_backprop_by_default(self):
        x = _var(3)
        F.sum(x**2).backward()
        assert x.grad_var.creator is None

    def test_long_chain(self):
        x = _var(1)
        y = x
        for _ in range(20000):
            y = y + 1
        F.sum(y).backward()
        np.testing.assert_array_equal(x.grad, [1])

    def test_unchain(self):
        x = _var(3)
        y = x * 2
        y.unchain()
        F.sum(y * 3).backward()
        assert x.grad is None
        np.testing.assert_array_equal(y.grad, [3, 3, 3])

    def test_unchain_backward(self):
        x = _var(3)
        h = x * 2
        y = F.sum(h * 3)
        y.unchain_backward()
        assert y.creator is None and h.creator is None

    def test_arrays_are_released(self):
        x = _var(3)
        y = x + 1
        ref = weakref.ref(y.array)
        z = y + 1
        del y
        assert ref() is None
        z.grad = np.ones(3, np.float32)
        z.backward()
        np.testing.assert_array_equal(x.grad, [1, 1, 1])

    def test_backward_of_several_outputs(self):
        x = _var(3)
        h = x * 2
        y0, y1 = F.sum(h), F.sum(h * h)
        y0.grad = y1.grad = np.ones((), np.float32)
        chainer.backward([y0, y1])
        np.testing.assert_allclose(x.grad, 2 + 8 * x.array)
        assert y0.grad is None and y1.grad is None
        with pytest.raises(TypeError):
            chainer.backward(y0)
        x.cleargrad()
        y1.grad = np.ones((), np.float32)
        with pytest.warns(RuntimeWarning, match='without a gradient'):
            chainer.backward([y0, y1])
        np.testing.assert_allclose(x.grad, 8 * x.array)
        y0.grad = np.ones((), np.float32)
        x.cleargrad()
        with pytest.warns(RuntimeWarning, match='given twice'):
            chainer.backward([y0, y0])
        np.testing.assert_allclose(x.grad, 2)
        with pytest.raises(ValueError, match='grad_outputs mismatch'):
            chainer.backward([y0], [_var(2)])

    def test_backward_of_several_outputs_and_a_leaf(self):
        x, leaf = _var(3), _var(2)
        leaf.grad = np.ones(2, np.float32)
        chainer.backward([leaf, x * 2], [leaf, _var(3)])
        np.testing.assert_array_equal(x.grad, [2, 4, 6])
        np.testing.assert_array_equal(leaf.grad, leaf.array + 1)

    @pytest.mark.parametrize('double', [False, True])
    def test_nan_is_detected_in_debug_mode(self, double):
        x = chainer.Variable(np.array([0.0], np.float32))
        with chainer.using_config('debug', True):
            y = F.sum(x * 1)
            y.grad = np.array(np.nan, np.float32)
            with pytest.raises(RuntimeError, match='NaN is detected'):
                y.backward(enable_double_backprop=double)


class TestGrad:
    def test_does_not_touch_variables(self):
        x, y = _var(2), _var(2)
        h = x * y
        gx, gh = chainer.grad([F.sum(h * 3)], [x, h])
        np.testing.assert_array_equal(gx.array, 3 * y.array)
        np.testing.assert_array_equal(gh.array, [3, 3])
        assert x.grad is None and y.grad is None and h.grad is None

    def test_unreachable(self):
        x, y = _var(2), _var(2)
        assert chainer.grad([F.sum(x)], [y]) == [None]

    def test_grad_outputs_and_inputs(self):
        x = _var(2)
        gy, g0 = _var(2), _var(2)
        (gx,) = chainer.grad([x * 2], [x], [gy], [g0])
        np.testing.assert_array_equal(gx.array, 2 * gy.array + g0.array)

    def test_set_and_retain(self):
        x = _var(2)
        h = x * 2
        chainer.grad([F.sum(h)], [x], set_grad=True, retain_grad=True)
        np.testing.assert_array_equal(x.grad, [2, 2])
        np.testing.assert_array_equal(h.grad, [1, 1])

    def test_higher_order(self):
        x = _var(2, dtype=np.float64)
        g = x**4
        for n, expected in enumerate((4 * x.array**3, 12 * x.array**2, 24 * x.array)):
            (g,) = chainer.grad([F.sum(g)], [x], enable_double_backprop=n < 2)
            np.testing.assert_allclose(g.array, expected)

    def test_loss_scale(self):
        x = _var(2)
        (gx,) = chainer.grad([F.sum(x)], [x], loss_scale=2)
        np.testing.assert_array_equal(gx.array, [2, 2])

    @pytest.mark.parametrize(
        'args',
        [
            (_var(1), [_var(1)]),
            ([_var(1)], _var(1)),
            ([1], [_var(1)]),
            ([_var(1)], [_var(1)], _var(1)),
        ],
    )
    def test_bad_arguments(self, args):
        with pytest.raises(TypeError):
            chainer.grad(*args)
