import gc
import weakref

import numpy as np
import pytest

import chainer
import chainerx
from chainer import functions as F
from chainer.utils import type_check


class Product(chainer.FunctionNode):
    """Product, written as users write functions."""

    def check_type_forward(self, in_types):
        type_check.expect_arguments(in_types, ('x', 'y'))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].shape == in_types[1].shape)

    def forward(self, inputs):
        self.retain_inputs((0, 1))
        x, y = inputs
        return (x * y,)

    def backward(self, indexes, gys):
        x, y = self.get_retained_inputs()
        (gy,) = gys
        return tuple([gy * (x if i else y) for i in indexes])


class Split(chainer.FunctionNode):
    def forward(self, inputs):
        (x,) = inputs
        self.retain_outputs((1,))
        return x * 2, x * 3

    def backward(self, indexes, gys):
        (y1,) = self.get_retained_outputs()
        g0, g1 = gys
        assert y1.array is not None
        total = 0
        if g0 is not None:
            total = total + g0 * 2
        if g1 is not None:
            total = total + g1 * 3
        return (total,)


class OldExp(chainer.Function):
    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() == 1)

    def forward(self, inputs):
        self.retain_inputs(())
        self.retain_outputs((0,))
        return (np.exp(inputs[0]),)

    def backward(self, inputs, grad_outputs):
        assert inputs == (None,)
        return (self.output_data[0] * grad_outputs[0],)


class OldProduct(chainer.Function):
    def forward_cpu(self, inputs):
        return (inputs[0] * inputs[1],)

    def backward_cpu(self, inputs, grad_outputs):
        return inputs[1] * grad_outputs[0], inputs[0] * grad_outputs[0]


def _vars(n, dtype=np.float32):
    rng = np.random.RandomState(0)
    return [chainer.Variable(rng.uniform(1, 2, 3).astype(dtype)) for _ in range(n)]


def test_graph_attributes():
    x, y = _vars(2)
    f = Product()
    (z,) = f.apply((x, y))
    assert z.creator is f and z.creator_node is f
    assert f.inputs == (x.node, y.node)
    assert f.outputs[0]() is z.node
    assert f.rank == 0 and z.rank == 1
    assert f.label == 'Product'
    assert x.node.data is x.array and z.node.data is z.array
    (z2,) = Product().apply((z, y))
    assert z2.creator.rank == 1


def test_nodes_have_the_arrays_of_living_variables():
    """Programs that walk the graph read them, also of functions that retain no input."""
    h = chainer.Variable(np.ones((2, 3), 'f')) * 2
    y = F.repeat(h, 2, axis=0)
    node = y.creator.inputs[0]
    assert node.data is h.array
    del h
    assert node.data is None and node.shape == (2, 3)
    x = chainer.Variable(np.ones(3, 'f'))
    y = F.exp(x)
    array, node = y.array, y.node
    graph = F.sum(y)
    del y
    assert node.data is array  # which exp retains
    assert graph.creator.inputs[0] is node


def test_gradients():
    x, y = _vars(2)
    F.sum(Product().apply((x, y))[0]).backward()
    np.testing.assert_array_equal(x.grad, y.array)
    np.testing.assert_array_equal(y.grad, x.array)


def test_type_check_message():
    (x,) = _vars(1)
    with pytest.raises(type_check.InvalidType) as e:
        Product().apply((x, np.zeros(2, np.float32)))
    assert 'Invalid operation is performed in: Product (Forward)' in str(e.value)
    with chainer.using_config('type_check', False), pytest.raises(ValueError):
        Product().apply((x, np.zeros(2, np.float32)))


def test_call_is_refused():
    with pytest.raises(RuntimeError, match='apply'):
        Product()(1)


def test_no_backprop_mode():
    x, y = _vars(2)
    with chainer.no_backprop_mode():
        z = x * y
        with chainer.force_backprop_mode():
            w = x * y
    assert z.creator is None and w.creator is not None
    assert chainer.config.enable_backprop


def test_retained_output_of_a_released_variable():
    (x,) = _vars(1)
    y0, _ = Split().apply((x,))
    F.sum(y0).backward()
    np.testing.assert_array_equal(x.grad, [2, 2, 2])
    x.cleargrad()
    y0, y1 = Split().apply((x,))
    F.sum(y0 + y1).backward()
    np.testing.assert_array_equal(x.grad, [5, 5, 5])


@pytest.mark.parametrize(
    'result, error', [(np.ones(3, np.float32), TypeError), (('a',), TypeError), (None, TypeError)]
)
def test_bad_forward(result, error):
    class Bad(chainer.FunctionNode):
        def forward(self, inputs):
            return result

    with pytest.raises(error, match='forward output must be a tuple'):
        Bad().apply(_vars(1))


@pytest.mark.parametrize(
    'result, error',
    [
        (lambda gy: gy, TypeError),
        (lambda gy: (gy, gy), ValueError),
        (lambda gy: (F.sum(gy),), ValueError),
        (lambda gy: (F.cast(gy, np.float64),), TypeError),
    ],
)
def test_bad_backward(result, error):
    class Bad(chainer.FunctionNode):
        def forward(self, inputs):
            return (inputs[0] * 2,)

        def backward(self, indexes, gys):
            return result(gys[0])

    (x,) = _vars(1)
    with pytest.raises(error, match='Bad'):
        F.sum(Bad().apply((x,))[0]).backward()


def test_target_indexes():
    seen = []

    class Spy(Product):
        def backward(self, indexes, gys):
            seen.append(indexes)
            return super().backward(indexes, gys)

    x, y = _vars(2)
    F.sum(Spy().apply((x.array, y))[0]).backward()
    assert seen == [(1,)]


def test_backward_accumulate():
    class Accumulate(Product):
        def backward_accumulate(self, indexes, gys, gxs):
            got.append([None if g is None else g.array.copy() for g in gxs])
            return super().backward_accumulate(indexes, gys, gxs)

    got = []
    x, y = _vars(2)
    (z,) = Accumulate().apply((x, y))
    x.grad = np.ones(3, np.float32)
    F.sum(z).backward()
    np.testing.assert_array_equal(got[0][0], [1, 1, 1])
    assert got[0][1] is None
    np.testing.assert_allclose(x.grad, 1 + y.array)
    np.testing.assert_allclose(y.grad, x.array)
    # The same input twice.
    x.cleargrad()
    F.sum(Accumulate().apply((x, x))[0]).backward()
    np.testing.assert_allclose(x.grad, 2 * x.array)


def test_function_without_forward():
    with pytest.raises(NotImplementedError):
        chainer.FunctionNode().apply(_vars(1))


def test_graph_is_freed_without_collector():
    (x,) = _vars(1)
    gc.disable()
    try:
        y = F.sum(x * x)
        ref = weakref.ref(y.creator)
        y.backward()
        del y
        assert ref() is None
    finally:
        gc.enable()


def test_unchain():
    x, y = _vars(2)
    (z,) = Product().apply((x, y))
    z.creator.unchain()
    assert z.creator is None


def test_hooks():
    class Hook(chainer.FunctionHook):
        name = 'hook'

        def __init__(self):
            self.calls = []

        def added(self, function):
            self.calls.append('added')

        def deleted(self, function):
            self.calls.append('deleted')

        def forward_preprocess(self, function, in_data):
            self.calls.append(('fpre', len(in_data)))

        def forward_postprocess(self, function, in_data):
            self.calls.append(('fpost', len(in_data)))

        def backward_preprocess(self, function, in_data, out_grad):
            self.calls.append(('bpre', out_grad[0].shape))

        def backward_postprocess(self, function, in_data, out_grad):
            self.calls.append(('bpost', out_grad[0].shape))

    expected = ['added', ('fpre', 2), ('fpost', 2), ('bpre', (3,)), ('bpost', (3,))]
    x, y = _vars(2)
    hook = Hook()
    f = Product()
    f.add_hook(hook)
    with pytest.raises(KeyError):
        f.add_hook(hook)
    (z,) = f.apply((x, y))
    z.grad = np.ones(3, np.float32)
    z.backward()
    assert hook.calls == expected
    f.delete_hook('hook')
    with pytest.raises(KeyError):
        f.delete_hook('hook')
    assert f.local_function_hooks == {}

    hook = Hook()
    with hook:
        (z,) = Product().apply((x, y))
        z.grad = np.ones(3, np.float32)
        z.backward()
    # Functions that compute the gradients and add them to earlier ones are seen as well.
    assert hook.calls[:4] == expected[:4]
    assert hook.calls[4:12] == [('fpre', 2), ('fpost', 2)] * 4
    assert hook.calls[12:] == [('bpost', (3,)), 'deleted']


def test_debug_mode():
    (x,) = _vars(1)
    with chainer.using_config('debug', True):
        y = x * 2
        assert y.creator.stack is not None
        with pytest.raises(RuntimeError, match='NaN is detected on forward'):
            x * float('nan')


def test_lazy_grad_sum():
    (x,) = _vars(1, np.float64)
    with chainer.using_config('lazy_grad_sum', True):
        F.sum(x * 1 + x * 2 + x * 3).backward(enable_double_backprop=True)
    np.testing.assert_allclose(x.grad, [6, 6, 6])


class TestOldStyle:
    def test_gradient(self):
        x, y = _vars(2)
        f = OldProduct()
        z = f(x, y)
        assert z.creator is f
        assert isinstance(z.creator_node, chainer.FunctionAdapter)
        assert f.inputs == (x.node, y.node) and f.rank == 0
        F.sum(z).backward()
        np.testing.assert_array_equal(x.grad, y.array)
        np.testing.assert_array_equal(y.grad, x.array)

    def test_retained_output(self):
        (x,) = _vars(1)
        F.sum(OldExp()(x)).backward()
        np.testing.assert_allclose(x.grad, np.exp(x.array))

    def test_called_twice(self):
        f = OldProduct()
        x, y = _vars(2)
        a = f(x, y)
        b = f(x, x)
        F.sum(a + b).backward()
        np.testing.assert_allclose(x.grad, y.array + 2 * x.array, rtol=1e-6)

    def test_double_backprop_raises(self):
        (x,) = _vars(1)
        F.sum(OldExp()(x)).backward(enable_double_backprop=True)
        gx = x.grad_var
        np.testing.assert_allclose(gx.array, np.exp(x.array))
        with pytest.raises(RuntimeError, match='OldExp is an old-style'):
            F.sum(gx).backward()

    def test_type_check(self):
        with pytest.raises(type_check.InvalidType, match='OldExp'):
            OldExp()(*_vars(2))


class _WrongFunction(chainer.Function):
    label = 'dummy_function'

    def __init__(self, gradient):
        self.gradient = gradient

    def forward(self, inputs):
        return (inputs[0].copy(),)

    def backward(self, inputs, grad_outputs):
        return (self.gradient,)


class _WrongFunctionNode(chainer.FunctionNode):
    label = 'dummy_function'

    def __init__(self, gradient):
        self.gradient = gradient

    def __call__(self, x):
        return self.apply((x,))[0]

    def forward(self, inputs):
        return (inputs[0].copy(),)

    def backward(self, target_input_indexes, grad_outputs):
        return (self.gradient,)


@pytest.mark.parametrize('debug', [False, True])
@pytest.mark.parametrize('function', [_WrongFunction, _WrongFunctionNode])
@pytest.mark.parametrize(
    'gradient, error, match',
    [
        (1, TypeError, r"dummy_function \(Backward\): gradient of input 0 is of <class 'int'>"),
        (np.ones((), 'i'), TypeError, 'dummy_function.* dtype int32, expected.* dtype float32'),
        (np.ones(2, 'f'), ValueError, r'dummy_function.* shape \(2,\).*expected.* shape \(\)'),
    ],
)
def test_gradient_that_does_not_fit(gradient, error, match, function, debug):
    x = chainer.Variable(np.ones((), 'f'))
    with chainer.using_config('debug', debug):
        y = function(gradient)(x)
        with pytest.raises(error, match=match) as e:
            y.backward()
    # In debug mode the message tells where the function was called.
    assert ('in test_gradient_that_does_not_fit' in str(e.value)) is debug
    assert x.grad is None


@pytest.mark.chainerx
@pytest.mark.parametrize('function', [_WrongFunction, _WrongFunctionNode])
@pytest.mark.parametrize('gradient', [1, np.ones(2, 'f')])
def test_gradient_that_does_not_fit_on_chainerx(gradient, function):
    x = chainer.Variable(chainerx.ones((), 'f'))
    match = r'dummy_function \(Backward\): gradient of input 0 is of'
    with pytest.raises((TypeError, chainerx.ChainerxError), match=match):
        function(gradient)(x).backward()
    assert x.grad is None


@pytest.mark.chainerx
@pytest.mark.parametrize('double', [False, True])
@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
def test_backward_that_returns_arrays(device, double):
    x = chainer.Variable(chainer.get_device(device).send(np.ones((), 'f')))
    _WrongFunctionNode(np.array(3, 'f'))(x).backward(enable_double_backprop=double)
    assert float(x.grad) == 3 and isinstance(x.grad, type(x.array))


def test_a_method_named_gradients_is_the_users_own():
    class Named(Product):
        def gradients(self):
            return None

    class Rectified(F.activation.relu.ReLU):
        def backward(self, indexes, gys):
            return (gys[0] * 7,)

    x, y = _vars(2)
    F.sum(Named().apply((x, y))[0]).backward()
    np.testing.assert_allclose(x.grad, y.array)
    x.cleargrad()
    F.sum(Rectified().apply((x,))[0]).backward()
    np.testing.assert_allclose(x.grad, np.full_like(x.array, 7))


def test_output_data_of_a_repeated_call():
    class Twice(chainer.FunctionNode):
        def forward(self, inputs):
            self.retain_outputs((0,))
            return inputs[0] * 2, inputs[0] * 3

    func = Twice()
    for get in func.get_retained_inputs, func.get_retained_outputs:
        with pytest.raises(ValueError, match='not in a graph'):
            get()
    x = chainer.Variable(np.array([1, 2], np.float32))
    for _ in range(2):
        func.apply((x,))
    y, other = func.output_data
    np.testing.assert_array_equal(y, [2, 4])
    assert other is None
