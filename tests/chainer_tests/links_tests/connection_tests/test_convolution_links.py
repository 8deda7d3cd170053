import numpy as np
import pytest

import chainer
from chainer import functions as F, links as L


def f(*shape):
    return np.random.uniform(-1, 1, shape).astype('f')


# Link, input, function of the input and the parameters.
VALUES = {
    'Convolution2D': (
        lambda **kw: L.Convolution2D(4, 6, 3, 2, 1, dilate=2, groups=2, **kw),
        (2, 4, 7, 7),
        lambda x, W, b: F.convolution_2d(x, W, b, 2, 1, dilate=2, groups=2),
    ),
    'ConvolutionND': (
        lambda **kw: L.ConvolutionND(2, 4, 6, 3, 2, 1, cover_all=True, dilate=2, groups=2, **kw),
        (2, 4, 8, 8),
        lambda x, W, b: F.convolution_nd(x, W, b, 2, 1, cover_all=True, dilate=2, groups=2),
    ),
    'Convolution1D': (
        lambda **kw: L.Convolution1D(4, 6, 3, 2, 1, dilate=2, groups=2, **kw),
        (2, 4, 8),
        lambda x, W, b: F.convolution_1d(x, W, b, 2, 1, dilate=2, groups=2),
    ),
    'Deconvolution2D': (
        lambda **kw: L.Deconvolution2D(4, 6, 3, 2, 1, outsize=(7, 7), dilate=2, groups=2, **kw),
        (2, 4, 3, 3),
        lambda x, W, b: F.deconvolution_2d(x, W, b, 2, 1, (7, 7), dilate=2, groups=2),
    ),
    'DeconvolutionND': (
        lambda **kw: L.DeconvolutionND(2, 4, 6, 3, 2, 1, dilate=2, groups=2, **kw),
        (2, 4, 3, 3),
        lambda x, W, b: F.deconvolution_nd(x, W, b, 2, 1, dilate=2, groups=2),
    ),
    'DilatedConvolution2D': (
        lambda **kw: L.DilatedConvolution2D(4, 6, 3, 2, 1, (2, 1), **kw),
        (2, 4, 7, 7),
        lambda x, W, b: F.dilated_convolution_2d(x, W, b, 2, 1, (2, 1)),
    ),
    'DepthwiseConvolution2D': (
        lambda **kw: L.DepthwiseConvolution2D(4, 2, 3, 2, 1, **kw),
        (2, 4, 7, 7),
        lambda x, W, b: F.depthwise_convolution_2d(x, W, b, 2, 1),
    ),
    'LocalConvolution2D': (
        lambda **kw: L.LocalConvolution2D(4, 6, 7, 3, 2, **kw),
        (2, 4, 7, 7),
        lambda x, W, b: F.local_convolution_2d(x, W, b, 2),
    ),
}


@pytest.mark.parametrize('nobias', [False, True])
@pytest.mark.parametrize('name', sorted(VALUES))
def test_values(name, nobias):
    make, shape, function = VALUES[name]
    link = make(nobias=nobias, initial_bias=chainer.initializers.Normal(1))
    assert (link.b is None) == nobias
    assert sorted(path for path, _ in link.namedparams()) == (['/W'] if nobias else ['/W', '/b'])
    x = f(*shape)
    np.testing.assert_array_equal(link(x).array, function(x, link.W, link.b).array)


@pytest.mark.parametrize('name', sorted(VALUES))
def test_initial_arrays(name):
    make, _, _ = VALUES[name]
    shapes = [p.shape for p in make().params()]
    W, b = (f(*shape) for shape in shapes)
    link = make(initialW=W, initial_bias=b)
    np.testing.assert_array_equal(link.W.array, W)
    np.testing.assert_array_equal(link.b.array, b)
    assert link.W.array is not W


def test_default_weights_are_lecun_normal():
    np.random.seed(0)
    link = L.Convolution2D(3, 4, 2)
    np.random.seed(0)
    expected = np.random.normal(0, np.sqrt(1 / 12), (4, 3, 2, 2)).astype('f')
    np.testing.assert_allclose(link.W.array, expected, rtol=1e-6)
    np.testing.assert_array_equal(link.b.array, np.zeros(4, 'f'))


def test_deformable_convolution():
    link = L.DeformableConvolution2D(2, 3, 3, 2, 1)
    x = f(2, 2, 5, 5)
    # Without offsets it is a convolution.
    link.offset_conv.W.array[...] = 0
    np.testing.assert_allclose(
        link(x).array,
        F.convolution_2d(x, link.deform_conv.W, link.deform_conv.b, 2, 1).array,
        atol=1e-5,
    )
    assert link.offset_conv.W.shape == (18, 2, 3, 3)
    assert sorted(
        path
        for path, _ in L.DeformableConvolution2D(
            2, 3, 3, offset_nobias=True, deform_nobias=True
        ).namedparams()
    ) == ['/deform_conv/W', '/offset_conv/W']


def test_mlp_convolution():
    link = L.MLPConvolution2D(2, (3, 4), 3, activation=F.tanh, bias_init=1)
    x = f(2, 2, 5, 5)
    np.testing.assert_array_equal(link(x).array, link[1](F.tanh(link[0](x))).array)
    assert [p.shape for p in link.params()] == [(3, 2, 3, 3), (3,), (4, 3, 1, 1), (4,)]
    assert (link[1].b.array == 1).all()


def test_inception():
    link = L.Inception(2, 1, 2, 3, 2, 1, 2, bias_init=0.1)
    x = f(2, 2, 5, 5)
    relu = F.relu
    expected = relu(
        F.concat(
            [
                link.conv1(x),
                link.conv3(relu(link.proj3(x))),
                link.conv5(relu(link.proj5(x))),
                link.projp(F.max_pooling_2d(x, 3, 1, 1)),
            ]
        )
    )
    np.testing.assert_array_equal(link(x).array, expected.array)


def test_inception_bn():
    link = L.InceptionBN(2, 1, 2, 3, 2, 1, 'avg', 2)
    x = f(4, 2, 5, 5)
    relu = F.relu

    def bn(h):
        size = h.shape[1]
        return relu(F.batch_normalization(h, np.ones(size, 'f'), np.zeros(size, 'f')))

    h33 = bn(link.conv33a(bn(link.proj33(x))))
    expected = F.concat(
        [
            bn(link.conv1(x)),
            bn(link.conv3(bn(link.proj3(x)))),
            bn(link.conv33b(h33)),
            bn(link.poolp(F.average_pooling_2d(x, 3, 1, 1))),
        ]
    )
    np.testing.assert_allclose(link(x).array, expected.array, atol=1e-6)


FROM_PARAMS = {
    'Convolution2D': (L.Convolution2D, (6, 2, 3, 2), {'stride': 2, 'groups': 2}, (1, 4, 5, 5)),
    'ConvolutionND': (L.ConvolutionND, (6, 4, 3, 2), {'cover_all': True}, (1, 4, 5, 5)),
    'Convolution1D': (L.Convolution1D, (6, 2, 3), {'pad': 1, 'groups': 2}, (1, 4, 5)),
    'Convolution3D': (L.Convolution3D, (6, 4, 1, 2, 2), {'dilate': 2}, (1, 4, 5, 5, 5)),
}


@pytest.mark.parametrize('bias', [False, True])
@pytest.mark.parametrize('name', sorted(FROM_PARAMS))
def test_from_params(name, bias):
    cls, shape, kwargs, x_shape = FROM_PARAMS[name]
    W = chainer.Parameter(f(*shape))
    b = f(6) if bias else None
    link = cls.from_params(W, b, **kwargs)
    assert type(link) is cls
    np.testing.assert_array_equal(link.W.array, W.array)
    assert link.b is None if b is None else (link.b.array == b).all()
    x = f(*x_shape)
    function = F.convolution_2d if cls is L.Convolution2D else F.convolution_nd
    np.testing.assert_array_equal(link(x).array, function(x, W, b, **kwargs).array)


def test_prints():
    assert str(L.Convolution2D(3, 4, 5, 2, 1)) == (
        'Convolution2D(in_channels=3, out_channels=4, ksize=5, stride=(2, 2), pad=(1, 1), '
        'nobias=False, dilate=(1, 1), groups=1)'
    )
    assert 'in_channels=None, out_channels=4, ksize=3' in str(L.Convolution2D(4, 3, nobias=True))
    assert L.Convolution2D(4, 3).stride == (1, 1)


def test_weight_may_be_a_variable():
    link = L.Convolution2D(3, 4, 3)
    x = f(2, 3, 5, 5)
    expected = link(x).array
    W = link.W
    del link.W
    link.W = chainer.Variable(W.array)
    np.testing.assert_array_equal(link(x).array, expected)


@pytest.mark.parametrize(
    'make, error, match',
    [
        (lambda: L.Convolution2D(3, 4, 3, groups=2), ValueError, 'input channels.*divisible'),
        (lambda: L.Convolution2D(4, 3, 3, groups=2), ValueError, 'output channels.*divisible'),
        (lambda: L.Convolution2D(4, 3, 3, groups=0), ValueError, 'groups'),
        (lambda: L.ConvolutionND(2, 3, 4, 3, groups=2), ValueError, 'divisible'),
        (lambda: L.Deconvolution2D(3, 4, 3, groups=2), ValueError, 'input channels.*divisible'),
        (lambda: L.DeconvolutionND(2, 4, 3, 3, groups=2), ValueError, 'output channels.*divisible'),
        (lambda: L.Convolution2D(3, 4, 3, deterministic=True), ValueError, 'cudnn_deterministic'),
        (lambda: L.Deconvolution2D(3, 4, 3, deterministic=True), ValueError, 'cudnn_deterministic'),
        (lambda: L.Convolution2D(3, 4, 3, dilation=2), TypeError, 'dilation'),
        (lambda: L.Convolution2D(3, 4, 3, initialW=[1]), TypeError, 'initializer'),
        (lambda: L.MLPConvolution2D(3, (4,), 3, wscale=2), ValueError, 'conv_init'),
        (lambda: L.MLPConvolution2D(3, (4,), 3, 1, 0, F.relu, 1), TypeError, 'by name'),
        (lambda: L.MLPConvolution2D(3, (), 3), AssertionError, 'out_channels'),
        (lambda: L.Convolution2D(3, 4, (2, 2, 2)), ValueError, 'ksize'),
        (lambda: L.Convolution2D(3, 4, 2, dilate=(1,)), ValueError, 'dilate'),
        (lambda: L.LocalConvolution2D(3, 4, 5), TypeError, 'ksize'),
        (lambda: L.LocalConvolution2D(3, 4, 5, 2, pad=1), TypeError, 'pad'),
        (lambda: L.InceptionBN(3, 0, 1, 1, 1, 1, 'min'), NotImplementedError, 'pooltype'),
        (lambda: L.InceptionBN(3, 1, 1, 1, 1, 1, 'max', 1, stride=2), AssertionError, 'out1'),
        (lambda: L.Bilinear(2, 3, 4, initial_bias=(1, 2)), ValueError, 'three'),
        (lambda: L.Bilinear(2, 3, 4, initialW=f(2)), AssertionError, 'shape'),
        (
            lambda: L.Convolution2D(3, 4, 3)(f(1, 2, 5, 5)),
            chainer.utils.type_check.InvalidType,
            'Expect',
        ),
    ],
)
def test_errors(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_embed_id():
    link = L.EmbedID(4, 2, ignore_label=-1)
    y = link(np.array([[3, -1]], 'i')).array
    np.testing.assert_array_equal(y[0, 0], link.W.array[3])
    np.testing.assert_array_equal(y[0, 1], 0)
    other = L.EmbedID.from_params(link.W, ignore_label=-1)
    np.testing.assert_array_equal(other.W.array, link.W.array)
    assert other.ignore_label == -1


@pytest.mark.parametrize('name', ['Convolution2D', 'Deconvolution2D', 'DepthwiseConvolution2D'])
def test_gradients(name):
    make, shape, _ = VALUES[name]
    with chainer.using_config('dtype', np.dtype('d')):
        link = make()
    chainer.gradient_check.check_backward(
        link,
        f(*shape).astype('d'),
        f(*link(f(*shape).astype('d')).shape).astype('d'),
        params=(link.W, link.b),
        dtype='d',
        atol=1e-4,
        rtol=1e-4,
    )
