"""What a program may do wrong, or do at a bad moment, without the process ending or memory being read wrongly."""

import gc
import threading
import weakref

import numpy as np
import pytest
from helpers.programs import run_python

import chainerx
from chainerx import DimensionError

HUGE = [2**31, 2**32, 2**40, 2**61, 2**62, 2**63 - 1]


def test_contexts_may_end_before_their_devices_and_arrays():
    context = chainerx.Context()
    device = context.get_device('native:0')
    x = chainerx.ones(3, device=device).require_grad()
    y = x * 2
    scope, mode = chainerx.using_device(device), chainerx.no_backprop_mode(context)
    del context
    gc.collect()
    others = [chainerx.Context() for _ in range(3)]
    with mode, pytest.raises(chainerx.ContextError):
        scope.__enter__()
    assert device.context is not chainerx.get_default_context() and device.context not in others
    chainerx.testing.assert_array_equal(x + y, [3, 3, 3])
    for call in (
        lambda: y.sum().backward(),
        lambda: x.get_grad(),
        lambda: chainerx.zeros(2, device=device).require_grad(),
    ):
        with pytest.raises(chainerx.ChainerxError, match='graph has been released'):
            call()


def test_graphs_of_ended_contexts_are_free_again():
    for _ in range(100):
        chainerx.Context().get_device('native:0')


def test_scopes_can_be_derived_from():
    class Mode(chainerx.NoBackpropMode):
        pass

    with Mode():
        assert not chainerx.is_backprop_required()
    assert chainerx.is_backprop_required()


def test_modes_left_out_of_order():
    first, second = chainerx.no_backprop_mode(), chainerx.force_backprop_mode()
    first.__enter__()
    second.__enter__()
    first.__exit__()
    assert chainerx.is_backprop_required()
    second.__exit__()
    assert chainerx.is_backprop_required()


def test_mode_left_by_another_thread():
    seen = []

    def run(f):
        thread = threading.Thread(target=f)
        thread.start()
        thread.join()

    def leave(mode):
        mode.__exit__()
        seen.append(chainerx.is_backprop_required())

    def enter():
        mode = chainerx.no_backprop_mode()
        mode.__enter__()
        run(lambda: leave(mode))
        seen.append(
            chainerx.is_backprop_required()
        )  # the mode stays with the thread that entered it

    run(enter)
    assert seen == [True, False]
    assert chainerx.is_backprop_required()


def test_callback_of_a_weak_reference_asks_for_the_array():
    x = chainerx.zeros(3).require_grad()
    x.grad = chainerx.ones(3)
    kept = []
    grad = x.grad
    reference = weakref.ref(grad, lambda _: kept.append(x.grad))
    del grad
    assert reference() is None
    others = [chainerx.zeros(3) for _ in range(10)]
    chainerx.testing.assert_array_equal(kept[0], [1, 1, 1])
    assert kept[0] is x.grad and all(kept[0] is not other for other in others)


def test_setstate_leaves_views_alone():
    x, y = chainerx.ones(3), chainerx.zeros((1, 2))
    view = memoryview(x)
    x.__setstate__((y, 'native:1'))
    x.__setstate__((y, 'native:0'))
    assert x is not y and x.shape == (1, 2)
    x += 1
    chainerx.testing.assert_array_equal(y, [[0, 0]])
    assert view.shape == (3,) and view.tolist() == [1, 1, 1]


@pytest.mark.parametrize('state', [None, (), (1,), (1, 2, 3), (1, None, 2), chainerx.zeros(2)])
def test_wrong_state(state):
    x = chainerx.ones(3)
    with pytest.raises(TypeError, match='state'):
        x.__setstate__(state)
    chainerx.testing.assert_array_equal(x, [1, 1, 1])


class Index:
    def __init__(self, f):
        self.f = f

    def __index__(self):
        return self.f()


@pytest.mark.parametrize(
    'call',
    [
        lambda items: chainerx.zeros(items),
        lambda items: chainerx.zeros((2, 3)).reshape(items),
        lambda items: chainerx.split(chainerx.zeros(9), items),
        lambda items: chainerx.roll(chainerx.zeros(9), items, 0),
        lambda items: chainerx.sum(chainerx.zeros((1, 1)), items),
        lambda items: chainerx.zeros((2, 3)).transpose(items),
        lambda items: chainerx.tensordot(
            chainerx.zeros((2, 2)), chainerx.zeros((2, 2)), [items, [0]]
        ),
        lambda items: chainerx.einsum(chainerx.zeros((2, 2)), items),
        lambda items: chainerx.repeat(chainerx.zeros(2), items),
    ],
)
def test_lists_that_change_while_they_are_read(call):
    items = []

    def clear():
        items.clear()
        gc.collect(0)
        return 1

    items[:] = [Index(clear) for _ in range(9)]
    try:
        call(items)
    except chainerx.ChainerxError:  # what they say need not make sense
        pass
    assert items == []


def test_errors_of_arguments_come_through():
    def fail():
        raise KeyError('own')

    for call in (
        lambda i: chainerx.zeros(i),
        lambda i: chainerx.zeros([i]),
        lambda i: chainerx.zeros(3)[i],
        lambda i: chainerx.zeros(3)[i:],
        lambda i: chainerx.split(chainerx.zeros(3), [i]),
        lambda i: chainerx.sum(chainerx.zeros(3), axis=i),
    ):
        with pytest.raises(KeyError, match='own'):
            call(Index(fail))


def test_text_that_has_no_encoding():
    x = chainerx.zeros(2)
    for call in (
        lambda s: chainerx.get_device(s),
        lambda s: chainerx.zeros(2, device=s),
        lambda s: x.to_device(s, 0),
        lambda s: chainerx.einsum(s, x),
        lambda s: chainerx.copyto(x, x, s),
        lambda s: x.astype(s),
    ):
        with pytest.raises(UnicodeEncodeError):
            call('\udc80')
    with pytest.raises(chainerx.DeviceError):
        chainerx.get_device('native:0\0')

    class Odd:
        def __repr__(self):
            return '\udc80'

    with pytest.raises(chainerx.DtypeError, match='udc80'):
        chainerx.zeros(2, Odd())


@pytest.mark.parametrize('value', [np.datetime64('2000'), np.str_('1'), np.void(b'abc')])
def test_numpy_scalars_that_are_no_numbers(value):
    x = chainerx.ones(2)
    for call in (lambda: x + value, lambda: chainerx.full(2, value), lambda: x.fill(value)):
        with pytest.raises(TypeError):
            call()
    with pytest.raises((chainerx.DtypeError, ValueError)):
        chainerx.array(value)


@pytest.mark.parametrize('n', HUGE)
@pytest.mark.parametrize(
    'call',
    [
        lambda n: chainerx.zeros((n, n)),
        lambda n: chainerx.empty((n, 0, n)),
        lambda n: chainerx.zeros(0).reshape(n, n, 4),
        lambda n: chainerx.zeros(0).reshape(n, n, -1),
        lambda n: chainerx.broadcast_to(chainerx.zeros(1), (n, n)),
        lambda n: chainerx.broadcast_to(chainerx.zeros((1, 0)), (n, n, 0)),
        lambda n: chainerx.tile(chainerx.zeros(2), (n, n)),
        lambda n: chainerx.tile(chainerx.zeros(0), (n, n)),
        lambda n: chainerx.diag(chainerx.zeros(2), n),
        lambda n: chainerx.eye(n),
        lambda n: chainerx.tri(n, n),
        lambda n: chainerx.random.uniform(size=(n, n)),
    ],
)
def test_sizes_that_overflow(call, n):
    with pytest.raises((DimensionError, MemoryError, ValueError)):  # the last from NumPy
        call(n)


def test_sums_of_sizes_that_overflow():
    x = chainerx.broadcast_to(chainerx.zeros(1, 'int8'), 2**62)
    assert x.nbytes == 2**62
    for n in 2, 3, 4:
        with pytest.raises((DimensionError, MemoryError)):
            chainerx.concatenate([x] * n)
    for call in (
        lambda: chainerx.tile(x, 4),
        lambda: chainerx.stack([x] * 4),
        lambda: x + chainerx.zeros((4, 1), 'int8'),
        lambda: chainerx.diag(x[:2], 2**63 - 1),
        lambda: chainerx.pad(x[:2], (0, 2**58), mode='wrap'),
    ):
        with pytest.raises((DimensionError, MemoryError)):
            call()


def test_numbers_at_the_ends_of_their_range():
    x = chainerx.arange(5)
    low, high = -(2**63), 2**63 - 1
    for key in (
        slice(2**70),
        slice(-(2**70), None),
        slice(None, None, 2**70),
        slice(None, None, -(2**70)),
        slice(high, low, low),
        slice(low, high, high),
        slice(3, low, -1),
        slice(0, 0, low),
    ):
        chainerx.testing.assert_array_equal(x[key], np.arange(5)[key])
    matrix = chainerx.ones((2, 3))
    for k in low, high, -4, 4:
        assert chainerx.diagonal(matrix, k).shape == (0,)
        for name in 'tril', 'triu', 'trace':
            reference = getattr(np, name)(np.ones((2, 3)), max(min(k, 9), -9))
            chainerx.testing.assert_array_equal(getattr(chainerx, name)(matrix, k), reference)
        for name in 'eye', 'tri':
            reference = getattr(np, name)(2, 3, max(min(k, 9), -9))
            chainerx.testing.assert_array_equal(getattr(chainerx, name)(2, 3, k), reference)
    chainerx.testing.assert_array_equal(
        chainerx.roll(x, [high] * 3), np.roll(np.arange(5), 3 * high % 5)
    )
    for call in (
        lambda: x[2**63],
        lambda: chainerx.zeros(2**63),
        lambda: chainerx.zeros((1, -(2**64))),
    ):
        with pytest.raises(OverflowError, match='index|shape'):
            call()


@pytest.mark.parametrize('args', [(np.nan,), (0, np.inf), (1e300,), (0, 1, 5e-324)])
def test_ranges_without_a_size(args):
    with pytest.raises(chainerx.ChainerxError, match='arange'):
        chainerx.arange(*args)


def test_huge_groups_and_kernels():
    x, none = chainerx.zeros((1, 0, 3, 3)), chainerx.zeros((0, 4, 1, 1))
    with pytest.raises(DimensionError, match='groups'):
        chainerx.conv(x, none, groups=2**62)
    kernel = chainerx.broadcast_to(chainerx.zeros(1), (1, 1, 2**40))
    with pytest.raises(DimensionError, match='kernel'):
        chainerx.conv(chainerx.zeros((1, 1, 3)), kernel, dilate=2**31 - 1)


@pytest.mark.parametrize('stride, pad', [(2**31 - 1, 2**31 - 1), (7, 7), (7, 6), (3, 2)])
def test_transposed_convolution_of_strides_beyond_the_output(stride, pad):
    # Positions of the output are few; those between them, which the stride skips, may be many.
    x, w = np.arange(18.0).reshape(1, 2, 3, 3), np.arange(8.0).reshape(2, 1, 2, 2) + 1
    y = chainerx.conv_transpose(chainerx.array(x), chainerx.array(w), stride=stride, pad=pad)
    full = np.zeros((2 * min(stride, 9) + 2,) * 2)  # with strides of 9 and more nothing overlaps
    s, p = min(stride, 9), min(pad, 9)
    for i, j in np.ndindex(3, 3):
        full[i * s : i * s + 2, j * s : j * s + 2] += np.tensordot(x[0, :, i, j], w[:, 0], 1)
    chainerx.testing.assert_allclose(y, full[None, None, p : len(full) - p, p : len(full) - p])


def test_memory_that_is_not_aligned():
    values = np.zeros(17, 'u1')[1:].view('f8')
    assert not values.flags.aligned
    values[...] = 3
    chainerx.testing.assert_array_equal(chainerx.array(values), [3, 3])
    with pytest.raises(BufferError):
        chainerx.from_dlpack(values)


def test_gradient_checks_of_arrays_that_do_not_fit():
    x, ones, eps = (
        (lambda: chainerx.ones(3, 'float64').require_grad()),
        chainerx.ones(3, 'float64'),
        [chainerx.ones(3)],
    )

    def check(function, grad=ones, eps=eps):
        chainerx.check_backward(function, [x()], [grad], eps)

    with pytest.raises(DimensionError, match='eps'):
        check(lambda xs: xs, eps=[chainerx.ones(2)])
    with pytest.raises(DimensionError, match='grad_outputs'):
        check(lambda xs: (chainerx.ones(4),))
    sizes = iter([3, 4, 5])
    with pytest.raises(chainerx.GradientCheckError, match='size'):
        check(lambda xs: (chainerx.zeros(next(sizes), 'float64'),))
    outputs = iter([1, 2, 3])
    with pytest.raises(chainerx.GradientCheckError, match='outputs'):
        check(lambda xs: xs * next(outputs))


def test_matrices_without_memory_for_their_buffer():
    # OpenBLAS would end the process.
    code = """
import resource
import numpy as np
import chainerx

values = np.random.RandomState(0).randint(-9, 9, (200, 200)).astype('f')
x = chainerx.array(values)
kept = chainerx.ones((8, 200, 200), 'float32')  # the memory of later arrays
del kept
pages = int(open('/proc/self/statm').read().split()[0])
limit = pages * resource.getpagesize() + (8 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
expected = (values.astype('i') @ values.astype('i')).tolist()
assert x.dot(x).tolist() == expected
for f in chainerx.linalg.svd, chainerx.linalg.inv, chainerx.linalg.qr:
    try:
        f(x)
    except MemoryError:
        pass
    else:
        raise AssertionError(f)
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
assert chainerx.linalg.svd(x)[1].shape == (200,)
assert x.dot(x).tolist() == expected
print('survives')
"""
    assert run_python(code, OPENBLAS_NUM_THREADS='1').stdout == 'survives\n'  # also of NumPy


def test_user_code_changes_lists_of_arrays():
    class Shortens:
        def __bool__(self):
            arrays.clear()
            return True

    class Raises:
        def __bool__(self):
            raise KeyError

    for flag, error in (Shortens(), ValueError), (Raises(), KeyError):
        arrays = [np.ones(3, 'f'), np.ones(3, 'f')]
        with pytest.raises(error):
            chainerx._core._numpy_views(arrays, [flag, True])
