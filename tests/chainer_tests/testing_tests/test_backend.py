import sys
import unittest

import numpy
import pytest

import chainer
from chainer import testing
from chainer.backends import cuda
from chainer.testing import backend

configs = [
    {},
    {'use_ideep': 'never', 'autotune': True},
    {'use_cuda': True},
    {'use_chainerx': True, 'chainerx_device': 'native:0'},
]


def test_defaults():
    config = testing.BackendConfig({})
    assert config.device == chainer.get_device('@numpy')
    assert config.xp is numpy
    assert config.use_cuda is False
    assert config.use_chainerx is False
    assert config.use_cudnn == 'never'
    assert config.get_pytest_marks() == []


@pytest.mark.parametrize(
    'params,error',
    [
        ({'use_gpu': True}, ValueError),
        ({'use_cuda': True, 'use_chainerx': True}, ValueError),
        ([], TypeError),
    ],
)
def test_bad_params(params, error):
    with pytest.raises(error):
        testing.BackendConfig(params)


def test_context():
    config = testing.BackendConfig({'use_cudnn': 'always', 'autotune': True})
    before = chainer.config.use_cudnn, chainer.config.autotune
    with config:
        assert (chainer.config.use_cudnn, chainer.config.autotune) == ('always', True)
        with config:
            assert chainer.config.autotune is True
        assert chainer.config.autotune is True
    assert (chainer.config.use_cudnn, chainer.config.autotune) == before


def test_context_is_left_on_error():
    before = chainer.config.autotune
    with pytest.raises(ZeroDivisionError):
        with testing.BackendConfig({'autotune': not before}):
            raise ZeroDivisionError
    assert chainer.config.autotune == before


def test_get_array():
    x = numpy.arange(3)
    config = testing.BackendConfig({})
    assert config.get_array(None) is None
    numpy.testing.assert_array_equal(config.get_array(x), x)


def test_repr():
    config = testing.BackendConfig({'use_chainerx': True, 'chainerx_device': 'native:0'})
    assert repr(config) == (
        "<BackendConfig use_chainerx=True chainerx_device='native:0' use_cuda=False "
        "cuda_device=None use_cudnn='never' cudnn_deterministic=False autotune=False "
        "cudnn_fast_batch_normalization=False use_ideep='never'>"
    )


def test_func_str_distinguishes():
    params = configs + [
        {'use_cuda': True, 'cuda_device': 1},
        {'use_cuda': True, 'use_cudnn': 'always'},
        {'use_chainerx': True, 'chainerx_device': 'cuda:0'},
    ]
    names = [testing.BackendConfig(p).get_func_str() for p in params]
    assert len(set(names)) == len(names)
    assert names[0] == (
        'use_chainerx_false__chainerx_device_None__use_cuda_false__cuda_device_None'
        '__use_cudnn_never__cudnn_deterministic_false__autotune_false'
        '__cudnn_fast_batch_normalization_false__use_ideep_never'
    )


def test_marks():
    def marks(params):
        def f():
            pass

        for mark in testing.BackendConfig(params).get_pytest_marks():
            f = mark(f)
        return {m.name for m in f.pytestmark}

    assert marks({'use_cuda': True}) >= {'gpu'}
    assert marks({'use_cuda': True, 'cuda_device': 1}) >= {'gpu', 'multi_gpu'}
    assert marks({'use_cuda': True, 'use_cudnn': 'always'}) >= {'gpu', 'cudnn'}
    assert marks({'use_ideep': 'always'}) == {'ideep'}
    assert marks({'use_chainerx': True}) == {'chainerx'}
    assert marks({'use_chainerx': True, 'chainerx_device': 'cuda:0'}) >= {'chainerx', 'gpu'}


seen = []


@testing.inject_backend_tests(None, configs)
class TestUnittest(unittest.TestCase):
    def test_a(self, backend_config):
        seen.append(('unittest', backend_config.use_cuda))
        assert isinstance(backend_config, testing.BackendConfig)
        x = backend_config.get_array(numpy.ones(2))
        assert isinstance(x, backend_config.xp.ndarray)


@testing.inject_backend_tests(['test_a'], configs[:2])
class TestPlain:
    @pytest.fixture
    def one(self):
        return 1

    def test_a(self, backend_config, one):
        assert backend_config.xp is numpy
        assert one == 1

    def test_b(self):
        assert True is not None


@testing.inject_backend_tests(None, [{}, {'autotune': True}])
@testing.inject_backend_tests(None, [{'use_cudnn': 'always'}])
class TestTwice:
    def test_a(self, first, second):
        assert first.use_cudnn == 'always'
        assert second.use_cudnn == 'never'


@testing.inject_backend_tests(['test_a'], [{}])
@testing.inject_backend_tests(['test_a'], [{}, {}])
class TestTwiceByName:
    def test_a(self, first, second):
        assert first is not second


@testing.inject_backend_tests(['test_a'], [{}])
@testing.parameterize({'x': 1}, {'x': 2})
class TestInjectOverParameterize(unittest.TestCase):
    def test_a(self, backend_config):
        assert self.x in (1, 2)
        assert backend_config.xp is numpy


@testing.parameterize({'x': 1}, {'x': 2})
@testing.inject_backend_tests(['test_a'], [{}])
class TestParameterizeOverInject(unittest.TestCase):
    def test_a(self, backend_config):
        assert self.x in (1, 2)
        assert backend_config.xp is numpy


def find_tests(case):
    return [name for name in dir(case) if name.startswith('test') and callable(getattr(case, name))]


@pytest.mark.parametrize(
    'name,count', [('TestUnittest', 4), ('TestPlain', 3), ('TestTwice', 2), ('TestTwiceByName', 2)]
)
def test_count(name, count):
    assert len(find_tests(getattr(sys.modules[__name__], name))) == count


@pytest.mark.parametrize('prefix', ['TestInjectOver', 'TestParameterizeOver'])
def test_count_with_parameters(prefix):
    cases = [
        v
        for k, v in vars(sys.modules[__name__]).items()
        if k.startswith(prefix) and isinstance(v, type)
    ]
    assert [len(find_tests(case)) for case in cases] == [1, 1]


def test_inherited_methods():
    class Base:
        def test_a(self, backend_config):
            return backend_config

    @testing.inject_backend_tests(None, [{}])
    class Derived(Base):
        pass

    (name,) = find_tests(Derived)
    assert isinstance(getattr(Derived(), name)(), backend.BackendConfig)
    assert find_tests(Base) == ['test_a']


def test_missing_device_skips():
    @testing.inject_backend_tests(None, [{'use_cuda': True}])
    class Case:
        def test_a(self, backend_config):
            return 'ran'

    (name,) = find_tests(Case)
    if cuda.available:
        assert getattr(Case(), name)() == 'ran'
    else:
        with pytest.raises(unittest.SkipTest):
            getattr(Case(), name)()


@pytest.mark.parametrize(
    'names,params,error',
    [
        ('test_a', [{}], TypeError),
        (None, {}, TypeError),
        (None, [{'use_gpu': True}], ValueError),
    ],
)
def test_bad_arguments(names, params, error):
    with pytest.raises(error):
        testing.inject_backend_tests(names, params)


def test_unknown_method():
    with pytest.raises(AttributeError, match='test_b'):

        @testing.inject_backend_tests(['test_b'], [{}])
        class Case:
            pass
