"""Names outside of the API that programs and tests for Chainer 7 import."""

import importlib.util
import io

import numpy as np
import pytest

import chainer
from chainer import (
    _backprop_utils,
    _runtime_info,
    functions as F,
    gradient_check,
    initializers,
    utils,
)
from chainer.datasets import image_dataset
from chainer.functions.array import as_strided
from chainer.links.caffe import caffe_function
from chainer.serializers import hdf5
from chainer.utils import conv, conv_nd


@pytest.mark.parametrize(
    'module, name, package',
    [
        (image_dataset, 'available', 'PIL'),
        (hdf5, '_available', 'h5py'),
        (caffe_function, 'available', 'chainer'),
    ],
)
def test_available(module, name, package):
    assert getattr(module, name) is (importlib.util.find_spec(package) is not None)


def test_functions_elsewhere():
    assert conv_nd.get_conv_outsize is conv.get_conv_outsize
    assert conv_nd.get_deconv_outsize is conv.get_deconv_outsize
    assert caffe_function.caffe_pb.NetParameter().name == ''


def test_raise_from():
    cause = KeyError('a')
    with pytest.raises(ValueError, match='wrong') as info:
        utils._raise_from(ValueError, 'wrong', cause)
    assert info.value.__cause__ is cause
    assert "KeyError: 'a'" in str(info.value)


@pytest.mark.parametrize('like', [None, 3, np.ones(2), np.float32(1), initializers.One(), print])
def test_initializers(like):
    initializers._check_is_initializer_like(like)


@pytest.mark.parametrize('other', [[1.0], (), {}, object()])
def test_no_initializers(other):
    with pytest.raises(TypeError, match='initializer'):
        initializers._check_is_initializer_like(other)


def test_check_backward_with_params():
    x, w, b = [np.random.RandomState(i).uniform(-1, 1, (3, 4)).astype('f') for i in range(3)]
    gy = np.ones((3, 4), 'f')
    shapes = []

    def f(xs, params):
        shapes.append((len(xs), len(params)))
        return xs[0] * params[0] + params[1]

    gradient_check._check_backward_with_params(f, x, gy, (w, b), dtype='d', atol=1e-4)
    assert set(shapes) == {(1, 2)}
    t = np.ones((3, 4), 'i')
    gradient_check._check_backward_with_params(
        lambda xs, ps: ps[0] * 2 * F.cast(xs[1], 'd'),
        (x.astype('d'), t),
        gy.astype('d'),
        w.astype('d'),
    )

    class Wrong(chainer.FunctionNode):
        def forward(self, inputs):
            return (inputs[0] * 2,)

        def backward(self, indexes, gys):
            return (gys[0] * 3,)

    with pytest.raises(AssertionError, match='check_backward failed'):
        gradient_check._check_backward_with_params(
            lambda xs, ps: Wrong().apply(ps)[0] + xs[0], x, gy, w
        )


def test_stride_array():
    x = np.arange(6.0).reshape(2, 3)
    y = as_strided._stride_array(x, (2, 2), (1, 3), 1)
    np.testing.assert_array_equal(y, [[1, 4], [2, 5]])
    y[0, 0] = 9
    assert x[0, 1] == 9
    with pytest.raises(ValueError, match='outside of the memory'):
        as_strided._stride_array(x, (2, 2), (1, 3), 2 * 2)


def test_runtime_info():
    out = io.StringIO()
    _runtime_info.print_runtime_info(out)
    assert out.getvalue() == str(_runtime_info._get_runtime_info())
    assert np.__version__ in out.getvalue()


class Product(chainer.FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0, 1))
        return (inputs[0] * inputs[1],)

    def backward(self, indexes, gys):
        x, y = self.get_retained_inputs()
        return gys[0] * y, gys[0] * x


class Accumulating(Product):
    def backward_accumulate(self, indexes, gys, grads):
        gxs = self.backward(indexes, gys)
        return tuple(gxs[i] if g is None else gxs[i] + g for i, g in zip(indexes, grads))


@pytest.mark.parametrize('lazy', [False, True])
@pytest.mark.parametrize('cls', [Product, Accumulating])
@pytest.mark.parametrize('twice', [False, True])
def test_backprop_step(cls, twice, lazy):
    x = chainer.Variable(np.array([2.0, 3.0]))
    y = x if twice else chainer.Variable(np.array([5.0, 7.0]))
    (z,) = cls().apply((x, y))
    gz, before = chainer.Variable(np.array([1.0, 10.0])), chainer.Variable(np.array([0.5, 0.25]))
    grads = {x.node: [before], y.node: [before] if twice else []}
    if twice:
        grads[y.node] = grads[x.node]
    with chainer.using_config('lazy_grad_sum', lazy):
        _backprop_utils.backprop_step(z.creator, (0, 1), (gz,), grads, True)
    assert lazy or [len(grad) for grad in grads.values()] == [1] * len(grads)
    sums = {node: _backprop_utils._reduce(grad).array.tolist() for node, grad in grads.items()}
    assert sums[x.node] == ([4.5, 60.25] if twice else [5.5, 70.25])
    assert twice or sums[y.node] == [2.0, 30.0]
    assert _backprop_utils._reduce([]) is None


def test_backprop_step_finds_nan():
    x = chainer.Variable(np.array([2.0, np.nan]))
    (z,) = Product().apply((x, x))
    gz = chainer.Variable(np.ones(2))
    for is_debug in False, True:
        grads = {x.node: []}
        if is_debug:
            with pytest.raises(RuntimeError, match='NaN'):
                _backprop_utils.backprop_step(z.creator, (0,), (gz,), grads, is_debug)
        else:
            _backprop_utils.backprop_step(z.creator, (0,), (gz,), grads, is_debug)
            assert len(grads[x.node]) == 1
