"""Several graphs, arrays that stop gradients, modes and scopes."""

import threading

import pytest

import chainerx
from tests.chainerx_tests.test_autograd import leaf

equal = chainerx.testing.assert_array_equal


# ---- stopping gradients


def test_as_grad_stopped():
    x = leaf(1.0, 2.0)
    y = x.as_grad_stopped()
    assert not y.is_backprop_required() and y.data_ptr == x.data_ptr
    z = (x * 2).as_grad_stopped(copy=True)
    assert not z.is_backprop_required()
    assert x.as_grad_stopped(True).data_ptr != x.data_ptr
    (x * x.as_grad_stopped()).sum().backward()
    equal(x.grad, [1, 2])


@pytest.mark.parametrize('ids', [[None], [1], 'default'])
def test_as_grad_stopped_bad_ids(ids):
    with pytest.raises(TypeError, match='backprop_ids must be chainerx.BackpropId or None, not'):
        chainerx.ones(2).as_grad_stopped(ids)


def test_as_grad_stopped_for_one_graph():
    with chainerx.backprop_scope('a') as a, chainerx.backprop_scope('b') as b:
        x = chainerx.ones(2).require_grad(a).require_grad(b)
        for y in (
            x.as_grad_stopped([a]),
            x.as_grad_stopped(backprop_ids=[a], copy=True),
            x.as_grad_stopped([a], True),
        ):
            assert not y.is_backprop_required(a) and y.is_backprop_required(b)
        assert not x.as_grad_stopped().is_backprop_required(chainerx.anygraph)
        del x, y


# ---- several graphs


def test_two_graphs():
    with chainerx.backprop_scope('outer') as outer, chainerx.backprop_scope('inner') as inner:
        x = leaf(2.0, backprop_id=outer)
        w = leaf(3.0, backprop_id=inner)
        y = x * w * w
        y.backward(inner)
        equal(w.get_grad(inner), [12])
        with pytest.raises(chainerx.GradientError):
            w.get_grad(outer)
        assert x.get_grad(outer) is None
        y.backward(outer)
        equal(x.get_grad(outer), [9])
        del x, w, y


def test_gradient_in_one_graph_is_differentiable_in_another():
    with chainerx.backprop_scope('outer') as outer, chainerx.backprop_scope('inner') as inner:
        x = leaf(2.0).require_grad(outer).require_grad(inner)
        y = x * x * x
        (gx,) = chainerx.grad([y], [x], inner)
        assert gx.is_backprop_required(outer) and not gx.is_backprop_required(inner)
        (ggx,) = chainerx.grad([gx], [x], outer)
        equal(ggx, [12])
        del x, y, gx, ggx


def test_backprop_scope_ends_graphs():
    with chainerx.backprop_scope('a') as a:
        x = chainerx.ones(2).require_grad(a)
        assert a.name == 'a' and a.context is chainerx.get_default_context()
        assert 'a' in repr(a)
    with pytest.raises(chainerx.ChainerxError):
        x.is_backprop_required(a)
    with pytest.raises(chainerx.ChainerxError):
        chainerx.ones(2).require_grad(a)


def test_backward_in_outer_graph_first():
    with chainerx.backprop_scope('outer') as outer:
        with chainerx.backprop_scope('inner') as inner:
            x = leaf(2.0, backprop_id=outer).require_grad(inner)
            y = x * x
            y.backward(outer)
            y.backward(inner)
            equal(x.get_grad(outer), [4])
            equal(x.get_grad(inner), [4])
            del x, y


@pytest.mark.parametrize('name', [3, None], ids=repr)
def test_bad_names_of_graphs(name):
    with pytest.raises(TypeError):
        with chainerx.backprop_scope(name):
            pass


def test_bad_backprop_ids():
    x = leaf(1.0)
    for f in x.is_grad_required, x.get_grad, x.require_grad, x.backward, x.cleargrad:
        with pytest.raises(TypeError):
            f('default')


def test_context_makes_and_releases_ids():
    context = chainerx.Context()
    backprop_id = context.make_backprop_id('graph')
    assert backprop_id.context is context
    context._check_valid_backprop_id(backprop_id)
    context.release_backprop_id(backprop_id)
    with pytest.raises(chainerx.ChainerxError):
        context._check_valid_backprop_id(backprop_id)
    with pytest.raises(chainerx.ChainerxError):
        context.release_backprop_id(backprop_id)
    with pytest.raises(chainerx.ChainerxError):
        chainerx.ones(2).require_grad(backprop_id)


# ---- modes


def test_no_backprop_mode():
    x = leaf(2.0)
    assert chainerx.is_backprop_required()
    with chainerx.no_backprop_mode():
        assert not chainerx.is_backprop_required()
        assert not (x * 2).is_backprop_required()
        assert not x.is_backprop_required()
        assert x.is_grad_required()
        with chainerx.force_backprop_mode():
            assert chainerx.is_backprop_required()
            y = x * x
        assert not chainerx.is_backprop_required()
    assert x.is_backprop_required()
    y.backward()
    equal(x.grad, [4])


def test_modes_of_one_graph():
    with chainerx.backprop_scope('a') as a, chainerx.backprop_scope('b') as b:
        x = chainerx.ones(1).require_grad(a).require_grad(b)
        with chainerx.no_backprop_mode(a):
            assert not chainerx.is_backprop_required(a) and chainerx.is_backprop_required(b)
            y = x * 2
            assert not y.is_backprop_required(a) and y.is_backprop_required(b)
        with chainerx.no_backprop_mode([a, b]), chainerx.force_backprop_mode([b]):
            y = x * 2
            assert not y.is_backprop_required(a) and y.is_backprop_required(b)
        with chainerx.no_backprop_mode(chainerx.get_default_context()):
            assert not (x * 2).is_backprop_required(chainerx.anygraph)
        del x, y


def test_mode_is_left_after_an_error():
    with pytest.raises(KeyError):
        with chainerx.no_backprop_mode():
            raise KeyError
    assert chainerx.is_backprop_required()


def test_modes_belong_to_threads():
    seen = []
    with chainerx.no_backprop_mode():
        thread = threading.Thread(target=lambda: seen.append(chainerx.is_backprop_required()))
        thread.start()
        thread.join()
    assert seen == [True]
