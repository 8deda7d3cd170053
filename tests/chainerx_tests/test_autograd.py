"""Graphs and gradients."""

import gc
import weakref

import numpy as np
import pytest

import chainerx

equal = chainerx.testing.assert_array_equal


def leaf(*values, dtype='float64', **kwargs):
    return chainerx.array(values, dtype).require_grad(**kwargs)


# ---- requiring gradients


def test_require_grad():
    x = chainerx.array([1.0, 2.0])
    assert not x.is_grad_required() and not x.is_backprop_required()
    assert x.require_grad() is x
    assert x.is_grad_required() and x.is_backprop_required()
    assert x.require_grad() is x  # again
    y = x * 2
    assert not y.is_grad_required() and y.is_backprop_required()
    assert y._is_chained() and not x._is_chained()
    assert x.is_backprop_required(chainerx.anygraph)


@pytest.mark.parametrize('dtype', ['bool', 'int32', 'uint8'])
def test_only_floating_point_has_gradients(dtype):
    with pytest.raises(chainerx.DtypeError):
        chainerx.zeros(2, dtype).require_grad()


def test_integer_results_leave_the_graph():
    x = leaf(1.0, 2.0)
    for y in x > 0, x.astype('int32'), x.argmax(), chainerx.isnan(x), x == x:
        assert not y.is_backprop_required()


def test_grad_attribute():
    x = leaf(1.0, 2.0)
    assert x.grad is None and x.get_grad() is None
    x.grad = chainerx.array([3.0, 4.0])
    equal(x.grad, [3, 4])
    x.set_grad(chainerx.array([5.0, 6.0]))
    equal(x.get_grad(), [5, 6])
    x.cleargrad()
    assert x.grad is None
    x.grad = chainerx.ones(2, 'float64')
    x.grad = None
    assert x.grad is None


@pytest.mark.parametrize(
    'grad, error',
    [
        (chainerx.ones(3, 'float64'), chainerx.GradientError),
        (chainerx.ones(2, 'float32'), chainerx.GradientError),
        (chainerx.ones(2, 'float64', device='native:1'), chainerx.DeviceError),
        (np.ones(2), TypeError),
        (1.0, TypeError),
    ],
    ids=str,
)
def test_grad_that_does_not_fit(grad, error):
    x = leaf(1.0, 2.0)
    with pytest.raises(error):
        x.grad = grad
    assert x.grad is None


def test_grad_of_array_outside_graphs():
    x = chainerx.ones(2)
    for f in (lambda: x.grad, x.get_grad, x.cleargrad, lambda: x.set_grad(x)):
        with pytest.raises(chainerx.GradientError, match='require_grad'):
            f()


# ---- backward


def test_backward():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = (x * w + x).sum()
    y.backward()
    equal(x.grad, [4, 5])
    equal(w.grad, [1, 2])
    assert not x.grad.is_backprop_required()


def test_backward_accumulates():
    x = leaf(1.0, 2.0)
    (x * 3).sum().backward()
    (x * 4).sum().backward()
    equal(x.grad, [7, 7])


def test_backward_of_arrays_without_graph():
    x, c = leaf(1.0, 2.0), chainerx.ones(())
    c.backward()
    chainerx.backward(c)
    chainerx.backward([c, x.sum()])
    equal(x.grad, [1, 1])
    assert chainerx.grad([c], [c]) == [None]
    assert chainerx.grad([x.sum()], [c]) == [None]
    with pytest.raises(chainerx.GradientError):
        _ = c.grad


def test_grad_of_computed_array():
    x = leaf(1.0, 2.0)
    y = x * x
    for f in lambda: y.grad, y.get_grad:
        with pytest.raises(chainerx.ChainerxError, match='require_grad'):
            f()
    y.grad = chainerx.ones(2, 'float64')
    equal(y.grad, [1, 1])
    y = x * x
    y.require_grad()
    assert y.grad is None


def test_backward_of_non_scalar():
    x = leaf(1.0, 2.0)
    y = x * x
    y.grad = chainerx.array([1.0, 10.0])
    y.backward()
    equal(x.grad, [2, 40])


def test_initial_gradients_are_ones():
    x = leaf(1.0, 2.0)
    (x * x).backward()
    equal(x.grad, [2, 4])
    (gx,) = chainerx.grad([x * x, x.sum()], [x])
    equal(gx, [3, 5])
    x.cleargrad()
    (x * x).backward(loss_scale=8.0)
    equal(x.grad, [2, 4])


def test_backward_of_single_element():
    x = leaf(3.0)
    (x * x).backward()
    equal(x.grad, [6])


def test_backward_of_several_outputs():
    x = leaf(2.0)
    y, z = x * x, x * 5
    chainerx.backward([y, z])
    equal(x.grad, [9])
    w = leaf(2.0)
    chainerx.backward(w * w)
    equal(w.grad, [4])


def test_input_used_twice_and_diamond():
    x = leaf(3.0)
    y = x * x
    z = y * y + y * x
    z.backward()
    equal(x.grad, [4 * 27 + 3 * 9])


def test_released_graph():
    x = leaf(2.0)
    y = x * x
    z = y * x
    z.backward()
    with pytest.raises(chainerx.GradientError, match='released.*enable_double_backprop=True'):
        z.backward()
    equal(x.grad, [12])


def test_what_other_arrays_lead_to_is_kept():
    x = leaf(2.0)
    y = x * x
    z, w = y * x, y * y
    z.backward()
    w.backward()
    equal(x.grad, [12 + 32])
    y.backward()
    equal(x.grad, [12 + 32 + 4])
    with pytest.raises(chainerx.GradientError, match='released'):
        w.backward()


def test_an_array_that_backward_started_from_is_used_by_others():
    x = leaf(2.0)
    y = x * x
    z = y * 3
    y.backward()
    z.backward()
    equal(x.grad, [4 + 12])


def test_several_outputs_of_an_operation():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y, z = chainerx.split(x, 2)
    y.backward()
    equal(x.grad, [1, 1, 0, 0])
    (z * 5).backward()
    equal(x.grad, [1, 1, 5, 5])


def test_kept_graph():
    x = leaf(2.0)
    y = x * x * x
    y.backward(enable_double_backprop=True)
    y.backward(enable_double_backprop=True)
    equal(x.grad, [24])


def test_loss_scale():
    x = leaf(2.0)
    (x * x).backward(loss_scale=8.0)
    equal(x.grad, [4])
    y = leaf(2.0)
    chainerx.backward([y * y], loss_scale=0.5)
    equal(y.grad, [4])


@pytest.mark.parametrize('loss_scale, expected', [(None, 0), (2.0**13, 2**-24)])
def test_loss_scale_saves_small_gradients(loss_scale, expected):
    x = chainerx.array(1.0, 'float16').require_grad()
    # The product of the factors is the least number of float16, and a part of it is less.
    (x * 4.0 * 2.0**-13 * 2.0**-13).backward(loss_scale=loss_scale)
    assert float(x.grad) == expected


def test_double_backprop():
    x = leaf(2.0)
    y = x * x * x
    y.backward(enable_double_backprop=True)
    gx = x.grad
    assert gx.is_backprop_required()
    x.cleargrad()
    gx.backward()
    equal(x.grad, [12])


@pytest.mark.parametrize('by_grad', [False, True])
def test_gradients_of_one_array_get_their_own_gradients(by_grad):
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = x + w
    y.grad = gy = leaf(1.0, 1.0)
    if by_grad:
        gx, gw = chainerx.grad([y], [x, w], grad_outputs=[gy], enable_double_backprop=True)
    else:
        y.backward(enable_double_backprop=True)
        gx, gw = x.grad, w.grad
    assert gx is not gw
    gx.grad = chainerx.array([1.0, 2.0])
    gw.grad = chainerx.array([10.0, 20.0])
    chainerx.backward([gx, gw])
    equal(gy.grad, [11, 22])


def test_high_orders():
    x = leaf(1.5)
    y = chainerx.exp(x * 2)
    for order in range(1, 6):
        (y,) = chainerx.grad([y], [x], enable_double_backprop=True)
        chainerx.testing.assert_allclose(y, 2**order * np.exp([3.0]), rtol=1e-12)


def test_intermediate_gradients_are_not_kept():
    x = leaf(2.0)
    y = x * x
    z = y * 3
    z.backward()
    with pytest.raises(chainerx.ChainerxError, match='require_grad'):
        _ = y.grad
    equal(x.grad, [12])


def test_gradient_of_required_intermediate_is_kept():
    x = leaf(2.0)
    y = (x * x).require_grad()
    (y * 3).backward()
    equal(y.grad, [3])
    equal(x.grad, [12])


def test_constant_inputs_cost_nothing():
    x, c = leaf(2.0), chainerx.array([5.0])
    (x * c).backward()
    equal(x.grad, [5])
    with pytest.raises(chainerx.GradientError):
        c.grad


def test_value_changed_after_use():
    x = leaf(2.0, 3.0)
    c = chainerx.array([1.0, 1.0])
    y = (x * c).sum()
    c += 1
    with pytest.raises(chainerx.GradientError, match='changed in place'):
        y.backward()


def test_in_place_in_graph_is_refused():
    x = leaf(1.0, 2.0)
    y = x * 2
    for array in x, y:
        with pytest.raises(chainerx.ChainerxError):
            array += 1
    equal(x, [1, 2])
    c = chainerx.ones(2, 'float64')
    with pytest.raises(chainerx.ChainerxError):
        c += y
    equal(c, [1, 1])


@pytest.mark.slow
def test_long_chain():
    x = leaf(0.0)
    y = x
    for _ in range(100_000):
        y = y + 1
    y.backward()
    equal(x.grad, [1])


@pytest.mark.parametrize('intermediate', [False, True])
def test_gradient_that_depends_on_its_own_array_is_freed(intermediate):
    before = chainerx._core._live_array_count()
    x = leaf(2.0)
    y = x
    if intermediate:
        y = (x * 2).require_grad()
    (y * y * y).backward(enable_double_backprop=True)
    assert y.grad.is_backprop_required()
    del x, y
    assert chainerx._core._live_array_count() == before


def test_long_chain_is_freed():
    y = leaf(0.0)
    for _ in range(100_000):
        y = y + 1
    before = chainerx._core._live_array_count()
    del y
    assert chainerx._core._live_array_count() <= before


def test_intermediate_memory_is_freed():
    x = chainerx.ones((100, 100), 'float32').require_grad()
    before = chainerx._core._live_array_count()
    y = x
    for _ in range(20):
        y = y + 1  # needs none of its inputs for backward
    assert chainerx._core._live_array_count() == before + 1
    z = chainerx.exp(y).sum()
    del y
    z.backward()
    after = chainerx._core._live_array_count()
    assert after <= before + 2  # z and the gradient


# ---- grad


def test_grad():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = (x * w).sum()
    gx, gw = chainerx.grad([y], [x, w])
    equal(gx, [3, 4])
    equal(gw, [1, 2])
    assert x.grad is None and w.grad is None


def test_grad_takes_single_arrays():
    x = leaf(2.0)
    (gx,) = chainerx.grad(x * x, x)
    equal(gx, [4])


def test_grad_of_intermediate():
    x = leaf(2.0)
    y = x * x
    z = y * y
    gy, gx = chainerx.grad([z], [y, x])
    equal(gy, [8])
    equal(gx, [32])


def test_grad_outputs():
    x = leaf(1.0, 2.0)
    y, z = x * x, x * 3
    (gx,) = chainerx.grad(
        [y, z], [x], grad_outputs=[chainerx.array([1.0, 10.0]), chainerx.array([100.0, 100.0])]
    )
    equal(gx, [302, 340])
    for bad in [chainerx.ones(3, 'float64')], [chainerx.ones(2, 'float64')] * 3:
        with pytest.raises((chainerx.ChainerxError, ValueError)):
            chainerx.grad([y], [x], grad_outputs=bad)


def test_grad_set_grad():
    x = leaf(2.0)
    chainerx.grad([x * x], [x], set_grad=True)
    equal(x.grad, [4])


def test_grad_retain_grad():
    x = leaf(2.0)
    y = x * x
    z = y * 3
    chainerx.grad([z], [x], retain_grad=True)
    equal(y.grad, [3])


def test_grad_loss_scale():
    x = leaf(2.0)
    (gx,) = chainerx.grad([x * x], [x], loss_scale=4.0)
    equal(gx, [4])


def test_unreachable_gradient_is_none():
    x, w = leaf(2.0), leaf(3.0)
    gx, gw = chainerx.grad([x * x], [x, w])
    equal(gx, [4])
    assert gw is None


def test_output_is_input():
    x = leaf(2.0)
    (gx,) = chainerx.grad([x], [x])
    equal(gx, [1])


# ---- across devices


def test_to_device_is_differentiable():
    x = leaf(1.0, 2.0)
    y = x.to_device('native:1')
    assert y.device.name == 'native:1' and y.is_backprop_required()
    (y * chainerx.array([3.0, 4.0], device='native:1')).sum().backward()
    assert x.grad.device is x.device
    equal(x.grad, [3, 4])


def test_astype_is_differentiable():
    x = leaf(1.0, 2.0)
    y = x.astype('float32')
    (y * 2).sum().backward()
    assert x.grad.dtype == 'float64'
    equal(x.grad, [2, 2])


# ---- gradient checks


def test_check_backward_finds_wrong_gradients():
    def wrong(xs):
        (x,) = xs
        return [x * x.as_grad_stopped()]

    x, gy, eps = leaf(1.0, 2.0), chainerx.ones(2, 'float64'), chainerx.full(2, 1e-3)
    with pytest.raises(chainerx.GradientCheckError):
        chainerx.check_backward(wrong, [x], [gy], [eps])
    chainerx.check_backward(lambda xs: [xs[0] * xs[0]], [x], [gy], [eps])


def test_check_double_backward_finds_wrong_gradients():
    def wrong(xs):
        (x,) = xs
        return [x * x * x.as_grad_stopped()]

    x, gy, eps = leaf(1.0, 2.0), leaf(1.0, 1.0), chainerx.full(2, 1e-3)
    ggx = chainerx.ones(2, 'float64')
    with pytest.raises(chainerx.GradientCheckError):
        chainerx.check_double_backward(wrong, [x], [gy], [ggx], [eps, eps])
    chainerx.check_double_backward(
        lambda xs: [xs[0] * xs[0] * xs[0]], [x], [gy], [ggx], [eps, eps], atol=1e-4
    )


def test_check_backward_passes_errors_on():
    def fails(xs):
        raise KeyError('inside')

    x = leaf(1.0)
    with pytest.raises(KeyError, match='inside'):
        chainerx.check_backward(fails, [x], [x], [x])


# ---- lifetime


def test_graph_is_freed_with_its_output():
    x = leaf(1.0)
    y = x * 2
    ref = weakref.ref(y)
    z = chainerx.exp(y)
    del y
    assert ref() is None
    z.backward()
    equal(x.grad, 2 * np.exp([2.0]))


@pytest.mark.parametrize(
    'f',
    [
        lambda h: 1 / h,
        lambda h: h / (h + 1),
        lambda h: h**h,
        lambda h: (h * h).prod(),
        chainerx.log,
    ],
)
def test_cycle_through_retained_grads(f):
    """Operations behind gradients keep arrays alive, but not their gradients."""
    gc.collect()
    before = chainerx._core._live_array_count()
    x = leaf(0.5)
    h = x * 2
    y = f(h)
    (y * y).backward(retain_grad=True, enable_double_backprop=True)
    (expected,) = chainerx.grad([y * y], [h])
    equal(h.grad, expected)
    (h.grad * h.grad).backward()
    del x, h, y, expected
    assert chainerx._core._live_array_count() == before


def test_cycle_through_grad():
    gc.collect()
    before = chainerx._core._live_array_count()
    x = leaf(1.0)
    y = x * x
    y.backward(enable_double_backprop=True)
    x.cleargrad()
    del x, y
    gc.collect()
    assert chainerx._core._live_array_count() == before
