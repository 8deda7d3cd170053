import copy
import pickle

import numpy
import pytest

import chainer


@pytest.mark.parametrize(
    'config, args, kwargs, expected',
    [
        ('float32', (), {}, 'float32'),
        ('float64', (None,), {}, 'float64'),
        ('float64', ('float16',), {}, 'float16'),
        ('float32', (numpy.int32,), {}, 'int32'),
        (chainer.mixed16, (), {'map_mixed16': numpy.float32}, 'float32'),
        ('float32', (chainer.mixed16, 'float64'), {}, 'float64'),
        ('float32', (chainer.mixed16,), {}, 'float16'),
        (chainer.mixed16, (), {}, 'float16'),
    ],
)
def test_get_dtype(config, args, kwargs, expected):
    with chainer.using_config('dtype', config):
        dtype = chainer.get_dtype(*args, **kwargs)
    assert isinstance(dtype, numpy.dtype)
    assert dtype == expected


def test_mixed16():
    assert repr(chainer.mixed16) == str(chainer.mixed16) == "dtype('mixed16')"
    assert copy.deepcopy(chainer.mixed16) is copy.copy(chainer.mixed16) is chainer.mixed16
    assert pickle.loads(pickle.dumps(chainer.mixed16)) is chainer.mixed16
