import abc
import os
import warnings

import numpy
import pytest

import chainer
from chainer import utils
from chainer.utils import argument, array, cache, error, imgproc, precision


@pytest.mark.parametrize(
    'x, dtype',
    [
        (numpy.float32(1), numpy.float32),
        (1.5, numpy.float64),
        (numpy.zeros((), 'e'), 'e'),
        (numpy.zeros(3, 'f'), 'f'),
        (2, numpy.int64),
    ],
)
def test_force_array(x, dtype):
    y = utils.force_array(x)
    assert (
        isinstance(y, numpy.ndarray) and y.dtype == dtype and y == numpy.asarray(x)
        if numpy.ndim(x) == 0
        else y is x
    )
    z = utils.force_array(x, numpy.float16)
    assert isinstance(z, numpy.ndarray) and z.dtype == numpy.float16


def test_force_type():
    x = numpy.zeros(3, 'f')
    assert utils.force_type(x.dtype, x) is x
    assert utils.force_type(numpy.dtype('e'), x).dtype == numpy.float16
    scalar = utils.force_type(numpy.dtype('e'), 1.5)
    assert type(scalar) is numpy.float16 and scalar == 1.5


def test_tempdir():
    with utils.tempdir(prefix='chainer-test-') as path:
        assert os.path.basename(path).startswith('chainer-test-')
        with open(os.path.join(path, 'file'), 'w'):
            pass
    assert not os.path.exists(path)
    with utils.tempdir(ignore_errors=True) as path:
        os.rmdir(path)
    with pytest.raises(FileNotFoundError):
        with utils.tempdir() as path:
            os.rmdir(path)


@pytest.mark.parametrize(
    'shape, to',
    [
        ((2, 3), (2, 3)),
        ((2, 3), (1, 3)),
        ((2, 3), (2, 1)),
        ((2, 3), (3,)),
        ((2, 3), ()),
        ((2, 3), (1, 1)),
        ((4, 2, 3), (2, 1)),
        ((4, 1, 3), (1, 1, 3)),
        ((0, 3), (1, 3)),
        ((), ()),
        ((2, 3), (1,)),
    ],
)
def test_sum_to(shape, to):
    x = numpy.random.randint(-9, 9, shape).astype('f')
    y = utils.sum_to(x, to)
    assert y.shape == to and y.dtype == x.dtype
    # Summing is the transpose of broadcasting.
    v = numpy.random.randint(-9, 9, to).astype('f')
    assert numpy.sum(y * v) == numpy.sum(x * numpy.broadcast_to(v, shape))


@pytest.mark.parametrize('to', [(2,), (4, 3), (1, 2, 3)])
def test_sum_to_bad(to):
    with pytest.raises(ValueError, match='cannot be broadcast'):
        utils.sum_to(numpy.zeros((2, 3)), to)


def test_array():
    x = numpy.zeros((2, 3, 4), 'e')
    assert array.as_vec(x).shape == (24,)
    assert array.as_mat(x).shape == (2, 12)
    assert array.as_vec(x[0, 0]).base is not None
    assert array.empty_like(x).shape == x.shape and array.empty_like(x).dtype == x.dtype
    assert array.size_of_shape(()) == 1 and utils.size_of_shape((2, 3, 4)) == 24


class TestArgument:
    def function(self, **kwargs):
        return argument.parse_kwargs(kwargs, ('a', 1), ('b', 2), old='old is gone')

    def test_parse(self):
        assert self.function() == (1, 2)
        assert self.function(b=3) == (1, 3)
        with pytest.raises(TypeError, match=r"function\(\) got unexpected keyword .* 'c'"):
            self.function(c=3)
        with pytest.raises(ValueError, match='old is gone'):
            self.function(old=3)

    def test_assert_kwargs_empty(self):
        argument.assert_kwargs_empty({})
        with pytest.raises(TypeError, match="test_assert_kwargs_empty.*'x', 'y'"):
            argument.assert_kwargs_empty({'y': 1, 'x': 1})

    def test_check_unexpected(self):
        argument.check_unexpected_kwargs({'a': 1}, b='message')
        with pytest.raises(ValueError, match='message'):
            argument.check_unexpected_kwargs({'b': 1}, b='message')


def test_cached_property():
    class C:
        count = 0

        @cache.cached_property
        def value(self):
            """Documentation."""
            self.count += 1
            return self.count

    a, b = C(), C()
    assert (a.value, a.value, b.value) == (1, 1, 1)
    assert C.value.__doc__ == 'Documentation.'


def test_error_text():
    x = numpy.zeros((2, 3), 'f')
    assert error._format_array_props((x, None)) == '(2, 3):float32, None'
    assert error._format_array_props(['a']) == "no shape and dtype:<class 'str'>"


def test_experimental(monkeypatch):
    monkeypatch.setattr(chainer, 'disable_experimental_feature_warning', False)
    with pytest.warns(FutureWarning, match='my.feature is experimental. The interface can change'):
        utils.experimental('my.feature')
    monkeypatch.setattr(chainer, 'disable_experimental_feature_warning', True)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        utils.experimental('my.feature')


def test_nondeterministic():
    with chainer.using_config('warn_nondeterministic', True):
        with pytest.warns(UserWarning, match='(?i)potentially non-deterministic.*my_function'):
            utils.nondeterministic('my_function')
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        utils.nondeterministic('my_function')


class TestFinal:
    def make(self, **kwargs):
        class Base(utils.enable_final(base=(dict,), meta_base=(abc.ABCMeta,))):
            @utils.final
            def strict(self):
                return 1

            @utils.final(action=DeprecationWarning)
            def deprecated(self):
                return 2

            def free(self):
                return 3

        return Base

    def test_base(self):
        base = self.make()
        assert issubclass(base, dict) and isinstance(base, abc.ABCMeta)
        assert (base().strict(), base().deprecated()) == (1, 2)
        # Overriding something else is fine, also far below.
        type('Derived', (type('Middle', (base,), {}),), {'free': lambda self: 4})

    def test_override(self):
        middle = type('Middle', (self.make(),), {})
        with pytest.raises(TypeError, match="'strict'.*Derived"):
            type('Derived', (middle,), {'strict': lambda self: 4})
        with pytest.warns(DeprecationWarning, match="'deprecated'.*Derived"):
            derived = type('Derived', (middle,), {'deprecated': lambda self: 4})
        assert derived().deprecated() == 4

    def test_bad(self):
        for args, kwargs in (((1,), {}), ((), {'action': 1}), ((), {'unknown': TypeError})):
            with pytest.raises(TypeError):
                utils.final(*args, **kwargs)


def test_oversample():
    images = [numpy.random.rand(3, 5, 7), numpy.random.rand(3, 5, 7)]
    crops = imgproc.oversample(images, (3, 4))
    assert crops.shape == (20, 3, 3, 4) and crops.dtype == numpy.float64
    image = images[1]
    for i, (y, x) in enumerate([(0, 0), (0, 3), (2, 0), (2, 3), (1, 1)]):
        expected = image[:, y : y + 3, x : x + 4]
        numpy.testing.assert_array_equal(crops[10 + i], expected)
        numpy.testing.assert_array_equal(crops[15 + i], expected[..., ::-1])
    with pytest.raises(ValueError, match='crop_dims'):
        imgproc.oversample(images, (6, 4))
    with pytest.raises(ValueError, match='empty'):
        imgproc.oversample([], (3, 4))


@pytest.mark.parametrize('dtype, computed', [('e', 'f'), ('f', 'f'), ('d', 'd')])
def test_mixed_precision(dtype, computed):
    class C:
        @precision._fp16_mixed_precision_helper
        def f(self, inputs):
            x, none, i = inputs
            assert x.dtype == computed and none is None and i.dtype == numpy.int32
            return x * 2, None, i

    y, none, i = C().f((numpy.ones(3, dtype), None, numpy.ones(3, numpy.int32)))
    assert y.dtype == dtype and none is None and i.dtype == numpy.int32


def test_collections_abc():
    assert isinstance([], utils.collections_abc.Iterable)
