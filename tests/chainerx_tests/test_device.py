"""Devices, backends, contexts and the scopes that choose them."""

import copy
import gc
import pickle
import threading

import pytest

import chainerx


def test_get_device():
    device = chainerx.get_device('native:1')
    assert (device.name, device.index, device.backend.name) == ('native:1', 1, 'native')
    assert device is chainerx.get_device('native', 1) is chainerx.get_device(device)
    assert device is chainerx.get_device(device='native:1')
    with chainerx.using_device(device=device) as scope:
        assert scope.device is chainerx.get_default_device() is device
    assert chainerx.get_device('native').index == 0
    assert chainerx.get_device() is chainerx.get_default_device()
    assert device.context is chainerx.get_default_context()
    assert str(device) == repr(device) == 'native:1'
    assert device == chainerx.get_device('native:1') != chainerx.get_device('native:2')
    assert hash(device) == hash(chainerx.get_device('native:1'))
    assert device != 'native:1'
    device.synchronize()


@pytest.mark.parametrize(
    'name',
    [
        'native:99',
        'native:-1',
        'native:',
        'native:a',
        'nowhere',
        'nowhere:0',
        '',
        ':0',
        'native:0:0',
    ],
)
def test_unknown_devices(name):
    errors = chainerx.BackendError, chainerx.DeviceError, IndexError
    with pytest.raises(errors, match='(?i)device|backend'):
        chainerx.get_device(name)
    with pytest.raises(chainerx.ChainerxError):
        chainerx.zeros(2, device=name)


def test_missing_devices():
    for f in (
        lambda: chainerx.get_device('native:99'),
        lambda: chainerx.get_device('native', 99),
        lambda: chainerx.zeros(2, device='native:99'),
        lambda: chainerx.ones(2).to_device('native:99'),
        lambda: chainerx.using_device('native', 99),
        lambda: chainerx.set_default_device('native:99'),
    ):
        with pytest.raises(IndexError, match='99'):
            f()


def test_using_device_needs_one():
    with pytest.raises(TypeError, match='None'):
        chainerx.using_device(None)


@pytest.mark.parametrize('args', [(3,), (None, 3, 4), (1.5,), ('native', 'a')], ids=str)
def test_bad_device_arguments(args):
    with pytest.raises(TypeError):
        chainerx.get_device(*args)


def test_backend():
    backend = chainerx.get_backend('native')
    assert backend.name == 'native' and backend.get_device_count() >= 4
    assert backend.context is chainerx.get_default_context()
    assert backend.get_device(2) is chainerx.get_device('native:2')
    assert backend is chainerx.get_default_context().get_backend('native')
    with pytest.raises(IndexError):
        backend.get_device(1000)
    with pytest.raises(chainerx.BackendError):
        chainerx.get_backend('nowhere')


@pytest.mark.parametrize('f', [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
def test_copies_of_a_device(f):
    device = chainerx.get_device('native:1')
    assert f(device) is device


def test_using_device():
    before = chainerx.get_default_device()
    scope = chainerx.using_device('native:1')
    assert scope.device.name == 'native:1'
    assert chainerx.get_default_device() is before
    with scope as entered:
        assert entered.device.name == 'native:1'
        assert chainerx.zeros(2).device.name == 'native:1'
        assert chainerx.zeros(2, device='native:2').device.name == 'native:2'
        with chainerx.using_device('native', 3):
            assert chainerx.arange(3).device.name == 'native:3'
        assert chainerx.array([1]).device.name == 'native:1'
    assert chainerx.get_default_device() is before


def test_using_device_is_left_after_an_error():
    before = chainerx.get_default_device()
    with pytest.raises(KeyError):
        with chainerx.using_device('native:1'):
            raise KeyError
    assert chainerx.get_default_device() is before


def test_set_default_device():
    before = chainerx.get_default_device()
    try:
        chainerx.set_default_device('native:2')
        assert chainerx.get_default_device().name == 'native:2'
        chainerx.set_default_device(before)
        assert chainerx.get_default_device() is before
        with pytest.raises(TypeError):
            chainerx.set_default_device(3)
    finally:
        chainerx.set_default_device(before)


def test_default_device_belongs_to_thread():
    seen = []
    with chainerx.using_device('native:1'):
        thread = threading.Thread(target=lambda: seen.append(chainerx.get_default_device().name))
        thread.start()
        thread.join()
    assert seen == ['native:0']


def test_scope_cannot_be_entered_twice():
    scope = chainerx.using_device('native:1')
    with scope:
        with pytest.raises(chainerx.ChainerxError):
            scope.__enter__()


def test_to_device():
    x = chainerx.arange(6).reshape(2, 3)
    for args in ('native:1',), ('native', 1), (chainerx.get_device('native:1'),):
        y = x[:, ::-1].to_device(*args)
        assert y.device.name == 'native:1'
        chainerx.testing.assert_array_equal(y, [[2, 1, 0], [5, 4, 3]])
        y[0, 0] = 9
        assert int(x[0, 2]) == 2
    assert x.to_device('native:0').device is x.device
    with pytest.raises(chainerx.ChainerxError):
        x.to_device('nowhere')
    with pytest.raises(TypeError):
        x.to_device(1.5)


@pytest.mark.parametrize(
    'f',
    [
        lambda a, b: a + b,
        lambda a, b: chainerx.dot(a, b),
        lambda a, b: chainerx.concatenate([a, b]),
        lambda a, b: chainerx.linear(a, b),
        lambda a, b: a[b > 0],
        lambda a, b: chainerx.where(a > 0, a, b),
        lambda a, b: chainerx.copyto(a, b),
    ],
)
def test_arrays_on_different_devices(f):
    a, b = chainerx.ones((2, 2)), chainerx.ones((2, 2), device='native:1')
    with pytest.raises(chainerx.DeviceError, match='native:[01].*native:[01].*to_device'):
        f(a, b)


def test_contexts():
    default = chainerx.get_default_context()
    assert default is chainerx.get_global_default_context()
    context = chainerx.Context()
    assert context is not default
    with chainerx.context_scope(context):
        assert chainerx.get_default_context() is context
        assert chainerx.get_device('native:0').context is context
        x = chainerx.ones(2)
        assert x.device.context is context
        assert x.require_grad().is_grad_required()
        chainerx.testing.assert_array_equal(x + 1, [2, 2])
        del x
    assert chainerx.get_default_context() is default
    assert chainerx.get_device(
        'native:0',
    ) != context.get_device('native:0')


def test_devices_outlive_the_object_of_their_context():
    device = chainerx.Context().get_device('native:1')
    x = chainerx.ones(2, device=device)
    assert device.context is not chainerx.get_default_context()
    assert x.device is device and device.name == 'native:1'
    chainerx.testing.assert_array_equal(x + 1, [2, 2])


def test_set_default_context():
    default = chainerx.get_default_context()
    context = chainerx.Context()
    try:
        chainerx.set_default_context(context)
        assert chainerx.get_default_context() is context
    finally:
        chainerx.set_default_context(default)
    assert chainerx.get_default_context() is default
    with pytest.raises(TypeError):
        chainerx.set_default_context('native')


def test_context_outlives_its_name():
    # Nobody keeps the context but what was made in it.
    device = chainerx.Context().get_device('native:1')
    array = chainerx.ones((2,), device=device)
    backprop_id = chainerx.Context().make_backprop_id('inner')
    gc.collect()
    assert device.context.get_device('native:1') is device
    assert (array + 1).tolist() == [2, 2]
    assert backprop_id.name == 'inner'
    chainerx.set_default_context(chainerx.Context())
    try:
        gc.collect()
        assert chainerx.zeros((2,)).device.context is not chainerx.get_global_default_context()
    finally:
        chainerx.set_default_context(None)


@pytest.mark.parametrize('wrong', [chainerx.anygraph, 'native', 1])
def test_is_backprop_required_refuses(wrong):
    with pytest.raises(TypeError, match='context must be chainerx.Context'):
        chainerx.is_backprop_required(wrong)


def test_arrays_of_different_contexts():
    context = chainerx.Context()
    a, b = chainerx.ones(2), chainerx.ones(2, device=context.get_device('native:0'))
    with pytest.raises(chainerx.ChainerxError):
        a + b
    del b
