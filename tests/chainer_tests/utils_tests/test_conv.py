import itertools

import numpy
import pytest

from chainer.utils import conv, conv_nd


def reference_im2col(img, ksize, stride, pad, pval, cover_all, dilate, outs=None):
    n, c, *dims = img.shape
    if outs is None:
        outs = [
            conv.get_conv_outsize(*row, cover_all, d)
            for *row, d in zip(dims, ksize, stride, pad, dilate)
        ]
    col = numpy.full((n, c, *ksize, *outs), pval, img.dtype)
    for k in itertools.product(*map(range, ksize)):
        for o in itertools.product(*map(range, outs)):
            at = [oi * s - p + ki * d for oi, s, p, ki, d in zip(o, stride, pad, k, dilate)]
            if all(0 <= a < dim for a, dim in zip(at, dims)):
                col[(slice(None), slice(None), *k, *o)] = img[(slice(None), slice(None), *at)]
    return col


CASES = [
    # dims, ksize, stride, pad, cover_all, dilate
    ((7,), (3,), (1,), (0,), False, (1,)),
    ((7,), (3,), (2,), (1,), True, (1,)),
    ((5, 6), (3, 3), (1, 1), (1, 1), False, (1, 1)),
    ((5, 6), (2, 3), (2, 1), (0, 2), False, (1, 1)),
    ((5, 6), (2, 3), (2, 3), (1, 0), True, (1, 1)),
    ((7, 8), (3, 2), (2, 1), (2, 1), False, (2, 3)),
    ((7, 8), (3, 2), (3, 2), (2, 0), True, (2, 1)),
    ((4, 4), (1, 1), (1, 1), (0, 0), False, (1, 1)),
    ((9, 9), (2, 2), (4, 4), (0, 0), False, (1, 1)),
    ((2, 2), (3, 3), (1, 1), (4, 4), False, (1, 1)),
    ((3, 4, 5), (2, 2, 3), (1, 2, 1), (1, 0, 1), True, (1, 2, 1)),
]


@pytest.mark.parametrize('dims, ksize, stride, pad, cover_all, dilate', CASES)
@pytest.mark.parametrize(
    'dtype, pval', [(numpy.float16, 0), (numpy.float32, -numpy.inf), (numpy.int32, 0)]
)
def test_im2col_nd(dims, ksize, stride, pad, cover_all, dilate, dtype, pval):
    img = numpy.random.randint(1, 100, (2, 3, *dims)).astype(dtype)
    expected = reference_im2col(img, ksize, stride, pad, pval, cover_all, dilate)
    # Also images that are not contiguous.
    for x in (img, numpy.asfortranarray(img)):
        col = conv_nd.im2col_nd_cpu(x, ksize, stride, pad, pval, cover_all, dilate)
        assert col.dtype == dtype and col.flags.c_contiguous and col.flags.owndata
        numpy.testing.assert_array_equal(col, expected)
        if len(dims) == 2:
            col = conv.im2col_cpu(x, *ksize, *stride, *pad, pval, cover_all, *dilate)
            numpy.testing.assert_array_equal(col, expected)
    if pval == 0:
        for f in (conv_nd.im2col_nd, conv_nd.im2col_nd_gpu):
            numpy.testing.assert_array_equal(
                f(img, ksize, stride, pad, cover_all, dilate), expected
            )
        if len(dims) == 2:
            numpy.testing.assert_array_equal(
                conv.im2col(img, *ksize, *stride, *pad, cover_all, *dilate), expected
            )


@pytest.mark.parametrize('dims, ksize, stride, pad, cover_all, dilate', CASES)
def test_col2im_is_the_transpose(dims, ksize, stride, pad, cover_all, dilate):
    img = numpy.random.randint(-9, 9, (2, 3, *dims)).astype('d')
    col = conv_nd.im2col_nd(img, ksize, stride, pad, cover_all, dilate)
    gcol = numpy.random.randint(-9, 9, col.shape).astype('d')
    gimg = conv_nd.col2im_nd(gcol, stride, pad, dims, dilate)
    assert gimg.shape == img.shape and gimg.dtype == img.dtype
    assert numpy.vdot(gcol, col) == numpy.vdot(gimg, img)
    if len(dims) == 2:
        for f in (conv.col2im, conv.col2im_cpu, conv.col2im_gpu):
            numpy.testing.assert_array_equal(f(gcol, *stride, *pad, *dims, *dilate), gimg)


def test_col2im_of_larger_image():
    # Deconvolution may ask for rows and columns that no patch reaches.
    col = numpy.ones((1, 1, 2, 2, 3, 3), 'f')
    img = conv.col2im(col, 2, 2, 0, 0, 8, 7)
    expected = numpy.zeros((1, 1, 8, 7), 'f')
    expected[:, :, :6, :6] = 1
    numpy.testing.assert_array_equal(img, expected)


def test_im2col_with_given_size():
    img = numpy.random.rand(1, 2, 5, 5).astype('f')
    col = conv.im2col(img, 3, 3, 2, 2, 1, 1, out_h=4, out_w=2)
    expected = reference_im2col(img, (3, 3), (2, 2), (1, 1), 0, False, (1, 1), (4, 2))
    numpy.testing.assert_array_equal(col, expected)


def test_empty_batch():
    col = conv.im2col(numpy.zeros((0, 2, 5, 5), 'f'), 3, 3, 1, 1, 1, 1)
    assert col.shape == (0, 2, 3, 3, 5, 5)
    assert conv.col2im(col, 1, 1, 1, 1, 5, 5).shape == (0, 2, 5, 5)


def test_no_output():
    with pytest.raises(AssertionError, match='should be positive'):
        conv.im2col(numpy.zeros((1, 1, 2, 2), 'f'), 3, 3, 1, 1, 0, 0)


@pytest.mark.parametrize(
    'args, conv_size, deconv_size',
    [
        ((7, 3, 2, 1, False, 1), 4, 13),
        ((7, 3, 2, 1, True, 1), 4, 12),
        ((8, 3, 2, 1, True, 1), 5, 14),
        ((10, 3, 1, 0, False, 2), 6, 14),
        ((10, 3, 3, 1, True, 2), 4, 28),
    ],
)
def test_outsize(args, conv_size, deconv_size):
    assert conv.get_conv_outsize(*args) == conv_size
    assert conv.get_deconv_outsize(*args) == deconv_size


def test_as_tuple():
    assert conv_nd.as_tuple(1, 3) == (1, 1, 1)
    assert conv_nd.as_tuple([1, 2], 2) == (1, 2)
    with pytest.raises(AssertionError):
        conv_nd.as_tuple((1, 2), 3)


@pytest.mark.gpu
@pytest.mark.parametrize('dims, ksize, stride, pad, cover_all, dilate', CASES)
def test_gpu(dims, ksize, stride, pad, cover_all, dilate):
    from chainer.backends import cuda

    img = numpy.random.rand(2, 3, *dims).astype('f')
    col = conv_nd.im2col_nd(img, ksize, stride, pad, cover_all, dilate)
    gpu_col = conv_nd.im2col_nd(cuda.to_gpu(img), ksize, stride, pad, cover_all, dilate)
    numpy.testing.assert_array_equal(cuda.to_cpu(gpu_col), col)
    numpy.testing.assert_allclose(
        cuda.to_cpu(conv_nd.col2im_nd(gpu_col, stride, pad, dims, dilate)),
        conv_nd.col2im_nd(col, stride, pad, dims, dilate),
        rtol=1e-5,
    )
