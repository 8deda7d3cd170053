import copy
import pickle

import numpy as np
import pytest

import chainer
from chainer import initializers


def _variable():
    return chainer.Variable(np.array([1, 2, 3], np.float32))


class TestParameter:
    @pytest.mark.parametrize(
        'initializer, dtype',
        [
            (None, np.float64),
            (0, np.float64),
            (np.float16(1), np.float64),
            (initializers.Normal(dtype=np.float16), np.float16),
        ],
    )
    def test_dtype_of_uninitialized(self, initializer, dtype):
        assert chainer.Parameter(initializer).dtype == dtype

    def test_gradient_of_uninitialized(self):
        p = chainer.Parameter()
        for clear in (None, p.zerograd):
            if clear is not None:
                with pytest.warns(DeprecationWarning):
                    clear()
            with pytest.raises(RuntimeError, match='not initialized'):
                p.grad  # noqa: B018
            q = pickle.loads(pickle.dumps(p))
            with pytest.raises(RuntimeError, match='not initialized'):
                q.grad  # noqa: B018
        p.initialize(2)
        np.testing.assert_array_equal(p.grad, [0, 0])
        p = chainer.Parameter()
        p.grad = None
        assert p.grad is None
        other = chainer.Parameter(1.0, (2,))
        other.addgrad(p)
        other.addgrad(chainer.Parameter())
        p.initialize(2)
        assert np.isnan(p.grad).all()

    def test_initializer_is_kept(self):
        array = np.array([1, 2], np.float32)
        p = chainer.Parameter(array)
        assert p.array is array and p.initializer is array
        p.initialize((3, 2))
        np.testing.assert_array_equal(p.array, [[1, 2]] * 3)
        with pytest.raises(ValueError, match='could not convert'):
            chainer.Parameter('foo', (2,))

    def test_uninitialized(self):
        p = chainer.Parameter(name='p')
        assert p.array is None and not p.is_initialized
        for name in ('shape', 'ndim', 'size'):
            with pytest.raises(AttributeError):
                getattr(p, name)
        with pytest.raises(RuntimeError, match='not initialized'):
            p.grad  # noqa: B018
        assert p.grad_var is None
        p.initialize((2, 3))
        assert p.shape == (2, 3) and p.dtype == np.float32
        assert np.isnan(p.array).all() and np.isnan(p.grad).all()

    def test_cleared_before_initialization(self):
        p = chainer.Parameter(1.0)
        p.cleargrad()
        p.initialize(2)
        np.testing.assert_array_equal(p.array, [1, 1])
        assert p.grad is None

    def test_array_initializer(self):
        a = np.ones(2, np.float64)
        p = chainer.Parameter(a)
        assert p.array is a and p.grad is None
        q = chainer.Parameter(a, 2)
        assert q.array is not a
        np.testing.assert_array_equal(q.array, a)

    def test_dtype(self):
        assert chainer.Parameter(chainer.initializers.Zero(np.float16)).dtype == np.float16
        p = chainer.Parameter(chainer.initializers.Zero(np.float16), (2,))
        assert p.dtype == p.grad.dtype == np.float16

    def test_copydata_initializes(self):
        p = chainer.Parameter()
        p.copydata(_variable())
        np.testing.assert_array_equal(p.array, [1, 2, 3])

    def test_copydata_initializes_source(self):
        source, target = chainer.Parameter(5), _variable()
        target.copydata(source)
        for p in source, target:
            np.testing.assert_array_equal(p.array, [5, 5, 5])

    def test_copydata_of_nothing(self):
        p = chainer.Parameter()
        p.copydata(chainer.Parameter())
        assert not p.is_initialized
        with pytest.raises(RuntimeError, match='without array'):
            _variable().copydata(chainer.Variable())

    @pytest.mark.parametrize('shape', [None, (2,)])
    def test_pickle_and_copy(self, shape):
        p = chainer.Parameter(3.0, shape, name='p')
        for q in (pickle.loads(pickle.dumps(p)), copy.deepcopy(p), copy.copy(p)):
            assert isinstance(q, chainer.Parameter) and q.name == 'p'
            if shape is None:
                q.initialize(2)
            np.testing.assert_array_equal(q.array, [3, 3])

    def test_update_without_rule(self):
        chainer.Parameter(1.0, (2,)).update()
