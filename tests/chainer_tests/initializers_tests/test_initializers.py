import math

import numpy
import pytest
from helpers.functions import GPUS

import chainer
from chainer import initializer as initializer_module, initializers as I, testing
from chainer.initializers import _random

DTYPES = [numpy.float16, numpy.float32, numpy.float64]
SHAPE = (4, 6, 3)
FAN_IN, FAN_OUT = 18, 12

# initializer, and the standard deviation of what it draws
RANDOM = [
    (I.Normal, 0.05),
    (I.LeCunNormal, math.sqrt(1 / FAN_IN)),
    (I.GlorotNormal, math.sqrt(2 / (FAN_IN + FAN_OUT))),
    (I.HeNormal, math.sqrt(2 / FAN_IN)),
    (lambda **kw: I.HeNormal(fan_option='fan_out', **kw), math.sqrt(2 / FAN_OUT)),
]
UNIFORM = [
    (I.Uniform, 0.05),
    (I.LeCunUniform, math.sqrt(3 / FAN_IN)),
    (I.GlorotUniform, math.sqrt(6 / (FAN_IN + FAN_OUT))),
    (I.HeUniform, math.sqrt(6 / FAN_IN)),
]


def test_get_fans():
    assert initializer_module.get_fans((4, 6)) == (6, 4)
    assert initializer_module.get_fans((4, 6, 5, 3)) == (90, 60)
    for shape in ((3,), (), [2, 3]):
        with pytest.raises(ValueError, match='shape'):
            initializer_module.get_fans(shape)


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('make,std', RANDOM)
def test_normal(make, std, dtype):
    numpy.random.seed(0)
    expected = numpy.random.normal(0, std, SHAPE).astype(dtype)
    numpy.random.seed(0)
    array = numpy.zeros(SHAPE, dtype)
    make()(array)
    testing.assert_allclose(array, expected, rtol=1e-3 if dtype == numpy.float16 else 1e-6)


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('make,bound', UNIFORM)
def test_uniform(make, bound, dtype):
    numpy.random.seed(0)
    expected = numpy.random.uniform(-bound, bound, SHAPE).astype(dtype)
    numpy.random.seed(0)
    array = numpy.zeros(SHAPE, dtype)
    make()(array)
    testing.assert_allclose(array, expected, rtol=1e-3 if dtype == numpy.float16 else 1e-6)


@pytest.mark.parametrize('make', [make for make, _ in RANDOM + UNIFORM] + [I.Orthogonal])
def test_scale_and_rng(make):
    state = numpy.random.get_state()[1].copy()
    one, two = numpy.zeros(SHAPE), numpy.zeros(SHAPE)
    make(scale=1, rng=numpy.random.RandomState(3))(one)
    make(scale=2, rng=numpy.random.RandomState(3))(two)
    testing.assert_allclose(two, 2 * one)
    assert one.std() > 0
    numpy.testing.assert_array_equal(numpy.random.get_state()[1], state)


@pytest.mark.parametrize('name', ['Normal', 'Uniform', 'LeCunNormal', 'GlorotUniform'])
def test_large_arrays_have_the_numbers_of_one_draw(name, monkeypatch):
    init = getattr(chainer.initializers, name)()
    arrays = []
    for block in 1 << 30, 1000:
        monkeypatch.setattr(_random, '_BLOCK', block)
        numpy.random.seed(0)
        arrays.append(numpy.empty((70, 33), numpy.float32))
        init(arrays[-1])
        arrays.append(numpy.random.rand(1))
    numpy.testing.assert_array_equal(arrays[0], arrays[2])
    assert arrays[1] == arrays[3]


@pytest.mark.parametrize(
    'make',
    [
        I.Normal,
        I.LeCunNormal,
        I.HeNormal,
        I.Uniform,
        I.HeUniform,
        I.Orthogonal,
        I.Zero,
        I.One,
        I.NaN,
        I.Identity,
        I.UpsamplingDeconvFilter,
    ],
)
def test_dtype_must_match(make):
    with pytest.raises(AssertionError, match='float64'):
        make(dtype=numpy.float32)(numpy.zeros((2, 2, 2)))


def test_unexpected_keyword():
    with pytest.raises(TypeError, match='seed'):
        I.Normal(seed=3)


def test_fan_option():
    with pytest.raises(ValueError, match='fan_option'):
        I.HeNormal(fan_option='fan')(numpy.zeros((2, 2)))


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('shape', [(), (0,), (2, 3)])
@pytest.mark.parametrize(
    'init,value',
    [
        (I.Zero(), 0),
        (I.One(), 1),
        (I.NaN(), numpy.nan),
        (I.Constant(2.5), 2.5),
        (I.Constant(numpy.float64(2.5)), 2.5),
        (I.Constant(numpy.asarray(2.5)), 2.5),
    ],
)
def test_constant(init, value, shape, dtype):
    array = numpy.zeros(shape, dtype)
    init(array)
    numpy.testing.assert_array_equal(array, numpy.full(shape, value, dtype))


def test_constant_array():
    array = numpy.zeros((2, 3), 'f')
    I.Constant(numpy.arange(6).reshape(2, 3))(array)
    testing.assert_allclose(array, [[0, 1, 2], [3, 4, 5]])
    I.Constant(numpy.arange(3))(array)
    testing.assert_allclose(array, [[0, 1, 2], [0, 1, 2]])


def test_non_contiguous():
    array = numpy.zeros((4, 6), 'f')[::2, ::3]
    I.Constant(3)(array)
    assert (array == 3).all()
    I.Normal()(array)
    assert (array != 3).all()


def test_identity():
    array = numpy.ones((3, 3), 'f')
    I.Identity(scale=2)(array)
    testing.assert_allclose(array, 2 * numpy.eye(3))
    for shape in ((2, 3), (2,), (2, 2, 2)):
        with pytest.raises(ValueError, match='square'):
            I.Identity()(numpy.zeros(shape))


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('shape', [(), (1,), (4,), (3, 4), (4, 3), (3, 3), (2, 4, 3), (7, 2, 1)])
def test_orthogonal(shape, dtype):
    array = numpy.zeros(shape, dtype)
    I.Orthogonal(scale=2.0)(array)
    m = array.astype('d').reshape(len(array), -1) if shape else array.reshape(1, 1).astype('d')
    gram = m @ m.T if m.shape[0] <= m.shape[1] else m.T @ m
    atol = 2e-2 if dtype == numpy.float16 else 1e-5
    testing.assert_allclose(gram, 4 * numpy.eye(len(gram)), atol=atol)


@pytest.mark.parametrize(
    'mode,shape',
    [
        ('embedding', (2, 3)),
        ('projection', (3, 2)),
        ('basis', (2, 3)),
        ('basis', (3, 2)),
        ('auto', (0, 2)),
    ],
)
def test_orthogonal_shape_errors(mode, shape):
    with pytest.raises(ValueError, match='shape'):
        I.Orthogonal(mode=mode)(numpy.zeros(shape))


def test_orthogonal_mode():
    with pytest.raises(ValueError, match='mode'):
        I.Orthogonal(mode='other')
    for mode in ('embedding', 'projection', 'basis'):
        I.Orthogonal(mode=mode)(numpy.zeros((2, 2)))


def test_upsampling():
    array = numpy.ones((2, 2, 4, 3), 'f')
    I.UpsamplingDeconvFilter()(array)
    expected = numpy.outer([0.25, 0.75, 0.75, 0.25], [0.5, 1, 0.5])
    testing.assert_allclose(array[0, 0], expected)
    testing.assert_allclose(array[1, 1], expected)
    testing.assert_allclose(array[0, 1], 0)
    depthwise = numpy.ones((2, 1, 4, 3), 'f')
    I.UpsamplingDeconvFilter()(depthwise)
    testing.assert_allclose(depthwise[:, 0], numpy.stack([expected] * 2))


def test_downsampling():
    array = numpy.zeros((3, 3, 4), 'd')
    I.DownsamplingConvFilter()(array)
    testing.assert_allclose(array.sum(axis=(1, 2)), 1)


def test_sampling_errors():
    with pytest.raises(ValueError, match='interpolation'):
        I.UpsamplingDeconvFilter('cubic')
    for cls in I.UpsamplingDeconvFilter, I.DownsamplingConvFilter:
        assert vars(cls()) == {'dtype': None}
        for shape in (), (2,), (2, 2):
            with pytest.raises(ValueError, match='shape'):
                cls()(numpy.zeros(shape))
        for shape in (2, 3), (0, 3), (2, 3, 4):
            with pytest.raises(AssertionError, match='shape'):
                cls()(numpy.zeros(shape))


class TestGenerateArray:
    def test_dtypes(self):
        assert I.generate_array(I.Zero(), 3, numpy).dtype == numpy.float32
        assert I.generate_array(I.Zero('d'), (), numpy).dtype == numpy.float64
        assert I.generate_array(I.Zero(), (2,), numpy, dtype='e').dtype == numpy.float16
        with chainer.using_config('dtype', numpy.float64):
            assert I.generate_array(I.Zero(), 3, numpy).dtype == numpy.float64
        with chainer.using_config('dtype', chainer.mixed16):
            assert I.generate_array(I.Zero(), 3, numpy).dtype == numpy.float16

    def test_plain_function(self):
        def init(array):
            array[...] = 7

        testing.assert_allclose(I.generate_array(init, (2,), numpy), [7, 7])

    def test_errors(self):
        with pytest.raises(ValueError, match='dtype'):
            I.generate_array(I.Zero('d'), 3, numpy, dtype='f')

    def test_device(self):
        assert I.generate_array(I.One(), 2, numpy, device='@numpy').tolist() == [1, 1]


def test_get_initializer():
    assert isinstance(I._get_initializer(None), I.LeCunNormal)
    for value in (3, 3.0, numpy.float32(3), numpy.arange(3)):
        assert I._get_initializer(value).fill_value is value
    init = I.Zero()
    assert I._get_initializer(init) is init
    with pytest.raises(TypeError, match='initializer'):
        I._get_initializer([1, 2])


@pytest.mark.parametrize('device', GPUS)
@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize(
    'make, shape',
    [
        *[(make, SHAPE) for make, _ in RANDOM + UNIFORM],
        (I.Orthogonal, (4, 6)),
        (I.Identity, (4, 4)),
        (lambda: I.Constant(numpy.arange(3)), SHAPE),
        (I.One, SHAPE),
        (I.NaN, SHAPE),
        (I.DownsamplingConvFilter, (2, 2, 4, 4)),
        (I.UpsamplingDeconvFilter, (2, 2, 4, 4)),
    ],
)
def test_gpu(make, shape, dtype, device):
    device = chainer.get_device(device)
    array = I.generate_array(make(), shape, device.xp, dtype, device)
    assert array.shape == shape and array.dtype == dtype and array.device == device.device
    param = chainer.Parameter(make())
    param.to_device(device)
    param.initialize(shape)
    assert param.device == device
    expected = I.generate_array(make(), shape, numpy, dtype)
    if make in (I.Orthogonal, *[make for make, _ in RANDOM + UNIFORM]):
        assert 0.2 < array.get().std() / expected.std() < 5
    else:
        numpy.testing.assert_array_equal(array.get(), expected)
