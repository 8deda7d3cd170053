"""Kernels of ChainerX under functions of NumPy arrays: when they serve, and that nobody notices.

That they compute the right values and gradients is checked by ``helpers.functions.check_function``,
which checks every function that they serve with and without them.
"""

import copy
import gc
import multiprocessing
import pickle
import sys
import threading
import weakref

import numpy
import pytest
from helpers.programs import run_python

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import function_node
from chainer._core.engines import kernels
from chainer.functions._base import Operation
from chainer.functions.activation.relu import ReLU

pytestmark = pytest.mark.skipif(
    not chainerx.is_available(), reason='needs the compiled core of ChainerX'
)


@pytest.fixture(autouse=True)
def always():
    with chainer.using_config('use_native_kernels', 'always'):
        yield


def sample(*shape, dtype='f'):
    return numpy.random.RandomState(0).uniform(-1, 1, shape).astype(dtype)


def ran_on_kernel(y):
    return isinstance(y.creator_node._tape, kernels.KernelTape)


def softmax_of(x):
    e = numpy.exp(x.astype('d'))
    return e / e.sum(axis=1, keepdims=True)


# -- when they serve --------------------------------------------------------------------------


@pytest.mark.parametrize('setting, used', [('always', True), ('auto', True), ('never', False)])
def test_setting(setting, used):
    x = chainer.Variable(sample(20, 300))
    with chainer.using_config('use_native_kernels', setting):
        y = F.softmax(x)
    assert ran_on_kernel(y) is used
    numpy.testing.assert_allclose(y.array, softmax_of(x.array), 1e-5)


def test_auto_leaves_small_arrays_where_calls_cost_more():
    x = chainer.Variable(sample(1, 2, 4, 4))
    rois, indexes = numpy.array([[0, 0, 3, 3]], 'f'), numpy.array([0], 'i')
    for setting, used in ('auto', False), ('always', True):
        with chainer.using_config('use_native_kernels', setting):
            y = F.roi_average_align_2d(x, rois, indexes, 2, 1.0)
        assert ran_on_kernel(y) is used


def test_invalid_setting():
    with (
        chainer.using_config('use_native_kernels', True),
        pytest.raises(ValueError, match='use_native_kernels configuration: True'),
    ):
        F.relu(sample(3))


def test_environment_variable():
    code = 'import chainer; print(chainer.config.use_native_kernels)'
    assert run_python(code, CHAINER_USE_NATIVE_KERNELS='never').stdout == 'never\n'


def unaligned(x):
    buffer = numpy.zeros(x.nbytes + 1, numpy.uint8)
    y = buffer[1:].view(x.dtype).reshape(x.shape)
    y[...] = x
    return y


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


STRIDED = {
    'transposed': lambda x: x.T.copy().T,
    'strided': lambda x: numpy.repeat(x, 2, axis=1)[:, ::2],
    'part': lambda x: numpy.pad(x, 2)[2:-2, 2:-2],
    'overlapping': lambda x: numpy.lib.stride_tricks.as_strided(x.copy(), (3, 4), (4, 4)),
    'repeated': lambda x: numpy.lib.stride_tricks.as_strided(x.copy(), (3, 4), (0, 4)),
}


@pytest.mark.parametrize('kind', STRIDED)
def test_layouts(kind):
    array = STRIDED[kind](sample(4, 5))
    before, weight = array.copy(), sample(3, array.shape[1])
    x, w = chainer.Variable(array), chainer.Variable(weight)
    y = F.linear(x, w)
    assert ran_on_kernel(y) and y.array.flags.c_contiguous
    gy = y.grad = sample(*y.shape)
    y.backward()
    numpy.testing.assert_array_equal(array, before)
    numpy.testing.assert_allclose(y.array, before.dot(weight.T), 1e-5, 1e-6)
    numpy.testing.assert_allclose(x.grad, gy.dot(weight), 1e-5, 1e-6)
    numpy.testing.assert_allclose(w.grad, gy.T.dot(before), 1e-5, 1e-6)


UNUSUAL = {
    'reversed': lambda x: x[::-1].copy()[::-1],
    'broadcast': lambda x: numpy.broadcast_to(x[:1], x.shape),
    'read-only': read_only,
    'unaligned': unaligned,
    'byte-swapped': lambda x: x.astype(x.dtype.newbyteorder()),
    'empty': lambda x: x[:0],
    'of many axes': lambda x: x.reshape(*[1] * 20, *x.shape),
    'long double': lambda x: x.astype(numpy.longdouble),
}


@pytest.mark.parametrize('kind', UNUSUAL)
def test_unusual_arrays_are_left_to_numpy(kind):
    array = UNUSUAL[kind](sample(4, 5))
    x = chainer.Variable(array)
    y = F.relu(x)
    assert not ran_on_kernel(y)
    y.grad = numpy.ones_like(y.array)
    y.backward()
    numpy.testing.assert_array_equal(y.array, numpy.maximum(array, 0))
    numpy.testing.assert_array_equal(x.grad, array > 0)
    assert y.dtype == x.grad.dtype == array.dtype


def test_mixed_dtypes_are_left_to_numpy():
    y = F.linear(chainer.Variable(sample(2, 3)), sample(4, 3, dtype='d'))
    assert not ran_on_kernel(y) and y.dtype == 'f'


@pytest.mark.parametrize(
    'layout', ['strided', 'transposed', 'reversed', 'broadcast', 'unaligned', 'byte-swapped']
)
def test_gradients_of_any_layout(layout):
    x, gy = sample(4, 5), {**STRIDED, **UNUSUAL}[layout](sample(4, 5))
    gxs = []
    for setting in 'never', 'always':
        with chainer.using_config('use_native_kernels', setting):
            y = F.sigmoid(chainer.Variable(x))
            node = y.creator_node
            gxs.append(node._tape.grad(node, (0,), (gy,), False, None)[0])
    numpy.testing.assert_allclose(gxs[1], gxs[0], 1e-6)


class Doubled(ReLU):
    """ReLU with NumPy code of its own."""

    def forward(self, inputs):
        return (2 * super().forward(inputs)[0],)


def test_a_subclass_with_numpy_code_of_its_own_is_not_passed_by():
    x = chainer.Variable(sample(3, 4))
    (y,) = Doubled().apply((x,))
    assert not ran_on_kernel(y)
    numpy.testing.assert_array_equal(y.array, 2 * numpy.maximum(x.array, 0))


def test_functions_with_kernels_have_a_way_to_chainerx():
    def subclasses(cls):
        for c in cls.__subclasses__():
            yield c
            yield from subclasses(c)

    for name in dir(F):  # modules are imported when they are used
        getattr(F, name)
    served = [c for c in subclasses(function_node.FunctionNode) if c._kernels.under_numpy]
    assert len(served) > 100
    for c in set(served) - {Operation}:
        assert c.forward_chainerx is not function_node.FunctionNode.forward_chainerx, c


# -- what comes out ---------------------------------------------------------------------------


@pytest.mark.parametrize('dtype', 'efd')
def test_arrays_are_plain_and_writable(dtype):
    x, W, b = (
        chainer.Variable(sample(*s, dtype=dtype)) for s in ((2, 3, 5, 5), (4, 3, 3, 3), (4,))
    )
    y = F.convolution_2d(x, W, b)
    y.grad = sample(*y.shape, dtype=dtype)
    y.backward()
    for array in y.array, x.grad, W.grad, b.grad:
        assert type(array) is numpy.ndarray and array.dtype == dtype
        assert array.flags.carray
    before = y.array.copy()
    y.array += 1
    numpy.testing.assert_array_equal(y.array, before + 1)


def test_memory_is_shared_and_freed():
    gc.collect()
    live = chainerx._core._live_array_count()
    x = sample(100, 100)
    ref = weakref.ref(x)
    y = F.gelu(chainer.Variable(x))
    del x
    gc.collect()
    assert ref() is not None  # the gradient needs it
    y.grad = numpy.ones_like(y.array)
    y.backward()
    array = y.array
    del y
    assert ref() is None
    assert chainerx._core._live_array_count() == live + 1
    del array
    assert chainerx._core._live_array_count() == live


@pytest.mark.parametrize(
    'f, shapes',
    [
        (
            lambda h, c, *ps: F.n_step_lstm(1, 0.0, h, c, [ps[:8]], [ps[8:16]], ps[16:])[2],
            [(1, 2, 3)] * 2 + [(3, 3)] * 8 + [(3,)] * 8 + [(2, 3)] * 2,
        ),
        (F.lstm, [(2, 3), (2, 12)]),
        (F.lstm, [(3, 3), (2, 12)]),
        (F.linear, [(3, 2), (4, 2), (4,)]),
        (F.convolution_2d, [(1, 1, 3, 3), (1, 1, 1, 1), (1,)]),
        (lambda x, t: F.huber_loss(x, t, 1.0, reduce='no'), [(2, 3), (2, 3)]),
        (F.batch_normalization, [(4, 3), (3,), (3,)]),
    ],
)
def test_no_array_shares_memory_with_another(f, shapes):
    xs = [chainer.Variable(sample(*shape)) for shape in shapes]
    ys = f(*xs)
    ys = list(ys) if isinstance(ys, tuple) else [ys]
    gys = [chainer.Variable(sample(*y.shape)) for y in ys]
    arrays = [v.array for v in (*xs, *ys, *gys, *chainer.grad(ys, xs, gys))]
    for i, a in enumerate(arrays):
        for b in arrays[:i]:
            assert not numpy.shares_memory(a, b)


def test_output_of_relu_keeps_no_input():
    x = sample(10, 10)
    ref = weakref.ref(x)
    y = F.relu(chainer.Variable(x))
    del x
    assert ref() is None and ran_on_kernel(y)


def test_values_and_graph_can_be_copied():
    model = L.LSTM(3, 4)
    model(sample(2, 3))
    c, h = model.c.array, model.h.array
    other = copy.deepcopy(model)
    numpy.testing.assert_array_equal(other.h.array, h)
    other(sample(2, 3))
    assert model.c.array is c
    numpy.testing.assert_array_equal(
        pickle.loads(pickle.dumps(F.relu(sample(3, 4)).array)), numpy.maximum(sample(3, 4), 0)
    )


def test_retained_inputs_are_those_of_the_numpy_code():
    x = chainer.Variable(sample(3, 4))
    for f in F.relu, F.gelu, F.softmax:
        seen = []
        for setting in 'never', 'always':
            with chainer.using_config('use_native_kernels', setting):
                seen.append(f(x).creator_node.inputs[0]._data is None)
        assert seen[0] == seen[1], f


def test_probabilities_of_softmax_cross_entropy():
    x = chainer.Variable(sample(3, 4))
    loss = F.softmax_cross_entropy(x, numpy.array([0, 3, -1], 'i'))
    assert ran_on_kernel(loss)
    numpy.testing.assert_allclose(loss.creator.y, softmax_of(x.array), 1e-6)


def test_statistics_of_batch_normalization():
    x, gamma, beta = sample(8, 3), sample(3), sample(3)
    results = []
    for setting in 'never', 'always':
        mean, var = sample(3), sample(3) + 2
        with chainer.using_config('use_native_kernels', setting):
            y = F.batch_normalization(
                chainer.Variable(x), gamma, beta, running_mean=mean, running_var=var
            )
        assert ran_on_kernel(y) is (setting == 'always')
        results.append((y.array, mean, var, y.creator.mean, y.creator.inv_std))
    numpy.testing.assert_allclose(y.creator.mean, x.mean(axis=0), 1e-5, 1e-6)
    numpy.testing.assert_allclose(y.creator.inv_std, (x.var(axis=0) + 2e-5) ** -0.5, 1e-5)
    for actual, expected in zip(*results[::-1]):
        numpy.testing.assert_allclose(actual, expected, 1e-5, 1e-6)


@pytest.mark.parametrize('step, others, used', [(2, 1, True), (-2, 0, False)])
def test_statistics_change_in_place_in_any_layout(step, others, used):
    x, gamma, beta = sample(8, 3), sample(3), sample(3)
    mean, var = numpy.zeros(6, 'f'), numpy.ones(6, 'f')
    y = F.batch_normalization(
        chainer.Variable(x), gamma, beta, running_mean=mean[::step], running_var=var[::step]
    )
    assert ran_on_kernel(y) is used
    numpy.testing.assert_allclose(mean[::step], 0.1 * x.mean(axis=0), 1e-5)
    numpy.testing.assert_array_equal(mean[others::2], 0)
    numpy.testing.assert_array_equal(var[others::2], 1)


# -- gradients --------------------------------------------------------------------------------


def test_backward_can_run_again():
    x = chainer.Variable(sample(3, 4))
    y = F.sum(F.elu(x))
    y.backward()
    first = x.grad.copy()
    x.cleargrad()
    y.backward()
    numpy.testing.assert_array_equal(x.grad, first)


def test_inputs_without_gradient():
    x, W = sample(2, 3), chainer.Parameter(sample(4, 3))
    y = F.linear(x, W)
    y.grad = numpy.ones_like(y.array)
    y.backward()
    numpy.testing.assert_allclose(W.grad, numpy.tile(x.sum(axis=0), (4, 1)), 1e-6)


def test_an_input_given_twice():
    x = chainer.Variable(sample(3, 3, dtype='d'))
    y = F.sum(F.linear(x, x) * sample(3, 3, dtype='d'))
    y.backward()
    w = sample(3, 3, dtype='d')
    numpy.testing.assert_allclose(x.grad, (w + w.T) @ x.array, 1e-12)


def test_output_without_gradient():
    c, x = chainer.Variable(sample(2, 3)), chainer.Variable(sample(2, 12))
    grads = []
    for setting in 'never', 'always':
        with chainer.using_config('use_native_kernels', setting):
            grads.append(chainer.grad([F.lstm(c, x)[0]], [c, x]))
    for actual, expected in zip(*grads):
        numpy.testing.assert_allclose(actual.array, expected.array, 1e-5, 1e-6)


def test_variables_of_integers_get_no_gradient():
    x, t = chainer.Variable(sample(3, 4)), chainer.Variable(numpy.array([0, 1, 2], 'i'))
    loss = F.softmax_cross_entropy(x, t)
    loss.backward()
    assert x.grad is not None and t.grad is None


def test_gradients_of_third_order():
    x = chainer.Variable(numpy.array([[-0.7, 0.2, 1.1]]))
    y = F.sigmoid(x)
    s = y.array
    for _ in range(3):
        (y,) = chainer.grad([F.sum(y)], [x], enable_double_backprop=True)
    numpy.testing.assert_allclose(y.array, s * (1 - s) * (1 - 6 * s + 6 * s * s), 1e-7)


def test_double_backprop_is_recorded_in_no_backprop_mode():
    x = chainer.Variable(sample(3, 4, dtype='d'))
    y = F.sum(F.softplus(x))
    with chainer.no_backprop_mode():
        y.backward(enable_double_backprop=True)
    gx = x.grad_var
    assert gx.creator_node.label == 'SoftplusGrad'
    x.cleargrad()
    F.sum(gx).backward()
    s = 1 / (1 + numpy.exp(-x.array))
    numpy.testing.assert_allclose(x.grad, s * (1 - s), 1e-7)


def test_nothing_is_recorded_without_backprop():
    x = chainer.Variable(sample(3, 4))
    with chainer.no_backprop_mode():
        y = F.gelu(x)
    assert y.creator_node is None
    with (
        chainer.using_config('enable_backprop', True),
        chainer.no_backprop_mode(),
        chainer.force_backprop_mode(),
    ):
        assert ran_on_kernel(F.gelu(x))


def test_hooks_see_functions():
    calls = []

    class Hook(chainer.FunctionHook):
        def forward_postprocess(self, function, in_data):
            calls.append((function.label, in_data[0] is x.array))

        def backward_preprocess(self, function, in_data, out_grad):
            calls.append((function.label, in_data[0] is x.array, type(out_grad[0])))

    x = chainer.Variable(sample(3, 4))
    with Hook():
        y = F.gelu(x)
        y.grad = numpy.ones_like(y.array)
        y.backward()
    assert calls == [('GELU', True), ('GELU', True, numpy.ndarray)]


def test_debug_mode_finds_nan():
    with chainer.using_config('debug', True), pytest.raises(RuntimeError, match='NaN is detected'):
        F.relu(numpy.array([1, numpy.nan], 'f'))


# -- errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'f, shapes',
    [
        (lambda x, W: F.convolution_2d(x, W), [(1, 1, 2, 2), (1, 1, 3, 3)]),
        (lambda x, W: F.convolution_2d(x, W, groups=2), [(1, 4, 4, 4), (3, 2, 3, 3)]),
        (lambda x, W: F.deconvolution_2d(x, W, pad=3), [(1, 4, 1, 1), (4, 3, 3, 3)]),
        (lambda x, g, b: F.group_normalization(x, 3, g, b), [(1, 4, 2), (4,), (4,)]),
        (lambda x: F.softmax(x, axis=9), [(2, 3)]),
        (lambda x: F.softmax_cross_entropy(x, numpy.array([0, 3], 'i')), [(2, 3)]),
        (lambda x, W: F.linear(x, W), [(2, 3), (4, 4)]),
    ],
)
def test_errors_are_the_same(f, shapes):
    errors = []
    for setting in 'never', 'always':
        with chainer.using_config('use_native_kernels', setting), pytest.raises(Exception) as info:
            f(*[sample(*shape) for shape in shapes])
        errors.append((info.type, str(info.value)))
    assert errors[0] == errors[1]


# -- what must not be touched -----------------------------------------------------------------


def test_state_of_chainerx_does_not_matter():
    x = sample(4, 5)

    def gradient():
        v = chainer.Variable(x)
        y = F.sum(F.gelu(v) ** 2)
        y.backward()
        return v.grad

    expected = gradient()
    context = chainerx.Context()
    scopes = [
        chainerx.no_backprop_mode(),
        chainerx.using_device('native:1'),
        chainerx.ContextScope(context),
        chainerx.backprop_scope('other'),
    ]
    for scope in scopes:
        with scope:
            numpy.testing.assert_allclose(gradient(), expected, 1e-6)
    device = chainerx.get_default_device()
    gradient()
    assert chainerx.get_default_device() is device and chainerx.is_backprop_required()


def train():
    model = L.Linear(6, 5)
    model.W.array[...] = sample(5, 6)
    loss = F.softmax_cross_entropy(F.gelu(model(sample(40, 6))), numpy.arange(40, dtype='i') % 5)
    model.cleargrads()
    loss.backward()
    return model.W.grad


def test_threads():
    results = []

    def work():
        with chainer.using_config('use_native_kernels', 'always'):
            for _ in range(20):
                results.append(train())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 80
    for result in results:
        numpy.testing.assert_array_equal(result, results[0])


def _large(queue):
    queue.put(float(F.sum(F.softmax(sample(1000, 500))).array))


@pytest.mark.skipif(
    not hasattr(multiprocessing, 'get_context') or sys.platform == 'win32', reason='needs fork'
)
@pytest.mark.filterwarnings('ignore:.*fork.*:DeprecationWarning')
def test_forked_process():
    F.softmax(sample(1000, 500))
    context = multiprocessing.get_context('fork')
    queue = context.Queue()
    process = context.Process(target=_large, args=(queue,))
    process.start()
    assert abs(queue.get(timeout=60) - 1000) < 0.1
    process.join()


# -- optimizers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'name',
    [
        'SGD',
        'MomentumSGD',
        'NesterovAG',
        'Adam',
        'AdaDelta',
        'AdaGrad',
        'RMSprop',
        'RMSpropGraves',
        'SMORMS3',
        'CorrectedMomentumSGD',
        'MSVAG',
    ],
)
@pytest.mark.parametrize('dtype', 'efd')
def test_updates_have_the_same_bits(name, dtype):
    params = []
    for setting in 'never', 'always':
        param = chainer.Parameter(sample(70, 60, dtype=dtype))
        link = chainer.Link()
        with link.init_scope():
            link.param = param
        optimizer = getattr(chainer.optimizers, name)().setup(link)
        for k in range(3):
            param.grad = (sample(70, 60, dtype='d') * (k + 1)).astype(dtype)
            with chainer.using_config('use_native_kernels', setting):
                optimizer.update()
        params.append(param)
    numpy.testing.assert_array_equal(params[0].array, params[1].array)
    for key, value in params[0].update_rule.state.items():
        numpy.testing.assert_array_equal(value, params[1].update_rule.state[key])
