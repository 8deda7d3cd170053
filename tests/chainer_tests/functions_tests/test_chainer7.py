"""What calls of functions give in Chainer 7: types, dtypes, creators, and errors of wrong calls."""

import itertools
import pickle
import warnings

import numpy as np
import pytest

import chainer
import chainerx
from chainer import functions as F
from chainer.utils import type_check
from tests.helpers.devices import CHX

InvalidType, InvalidAxis = type_check.InvalidType, type_check.InvalidAxis


def draw(*shape, seed=0, dtype='f'):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype(dtype)


X, X4, XD = draw(2, 3), draw(2, 3, 4, 4), draw(2, 3, dtype='d')
XI, EMPTY, T = np.zeros((2, 3), 'i'), np.zeros((0, 3), 'f'), np.array([0, 1], 'i')
W4 = draw(2, 3, 3, 3, seed=1)
D4 = draw(3, 2, 3, 3)
STATE, WS, BS = draw(1, 2, 3), [[draw(3, 3)] * 2], [[draw(3)] * 2]

ERRORS = [
    # An axis that is no int, or that the input lacks.
    (lambda: F.softmax(X, axis=True), TypeError),
    (lambda: F.softmax(X, axis='a'), TypeError),
    (lambda: F.log_softmax(X, axis=(0, 1)), TypeError),
    (lambda: F.softmax(X, axis=2), InvalidAxis),
    (lambda: F.softmax(XI), InvalidType),
    (lambda: F.log_softmax(X[0]), InvalidAxis),
    (lambda: F.separate(X, axis=True), TypeError),
    (lambda: F.separate(X, axis=-3), InvalidAxis),
    (lambda: F.normalize(X, axis=2), InvalidAxis),
    (lambda: F.normalize(X[0]), InvalidAxis),
    (lambda: F.normalize(X, axis=(0, 5)), InvalidAxis),
    (lambda: F.normalize(X, axis=[0]), TypeError),
    (lambda: F.repeat(X, 2, axis=2), InvalidAxis),
    (lambda: F.repeat(X, ()), InvalidType),
    (lambda: F.repeat(X, (1, 2, 3), axis=0), InvalidType),
    (lambda: F.sum(X, axis=2), InvalidAxis),
    (lambda: F.linear(X[0], X), InvalidAxis),
    (lambda: F.linear(X, X[0]), InvalidAxis),
    (lambda: F.group_normalization(X[0], 1, X[0], X[0]), InvalidAxis),
    (lambda: F.spatial_transformer_grid(X, (2, 2)), InvalidAxis),
    (lambda: F.softmax_cross_entropy(X, np.array(0, 'i')), InvalidAxis),
    (lambda: F.det(X[0]), IndexError),
    (lambda: F.det(1.0), AttributeError),
    (lambda: F.batch_normalization(X, X[0], X[0], axis='a'), TypeError),
    # Sequences of arrays, of one element or none, and an array in their place.
    (lambda: F.concat([X], axis=2), InvalidAxis),
    (lambda: F.concat([X[0]]), InvalidAxis),
    (lambda: F.concat([X], axis='a'), TypeError),
    (lambda: F.concat(X), ValueError),
    (lambda: F.stack(X), ValueError),
    (lambda: F.hstack(X), ValueError),
    (lambda: F.vstack(X), ValueError),
    (lambda: F.dstack(X), ValueError),
    (lambda: F.pad_sequence(X), ValueError),
    (lambda: F.transpose_sequence(X), ValueError),
    (lambda: F.broadcast(X, 1), TypeError),
    (lambda: F.argmax_crf1d(draw(3, 3), [draw(1, 3), X]), InvalidType),
    (lambda: F.n_step_rnn(1, 0.0, STATE, [], [], [X]), IndexError),
    (lambda: F.n_step_rnn(1, 0.0, STATE, WS, BS, []), IndexError),
    # Splits.
    (lambda: F.split_axis(X, np.array([1.0]), 1), TypeError),
    (lambda: F.split_axis(X, 'a', 1), TypeError),
    (lambda: F.split_axis(X, -1, 1), ValueError),
    (lambda: F.split_axis(X, 0, 1), ZeroDivisionError),
    (lambda: F.separate(EMPTY), ZeroDivisionError),
    (lambda: F.softmax(np.zeros((2, 0), 'f')), InvalidType),
    (lambda: F.log_softmax(np.zeros((2, 0), 'f')), InvalidType),
    (lambda: F.group_normalization(X, 0, X[0], X[0]), ZeroDivisionError),
    (lambda: F.group_normalization(X, -1, X[0], X[0]), ValueError),
    (lambda: F.where([[True]], X, X), InvalidType),
    (lambda: F.split_axis(X, 3, -3), IndexError),
    # Values of arguments.
    (lambda: F.clip(X, 1, 0), ValueError),
    (lambda: F.clip(X, X, X), ValueError),
    (lambda: F.softplus(X, beta=0), ZeroDivisionError),
    (lambda: F.classification_summary(X, T, label_num=-1), ValueError),
    (lambda: F.embed_id(T, X, ignore_label='a'), TypeError),
    (lambda: F.accuracy(X, T, ignore_label='a'), TypeError),
    (lambda: F.connectionist_temporal_classification([X], XI, -1), AssertionError),
    (lambda: F.connectionist_temporal_classification([X], XI, 5), AssertionError),
    (lambda: F.resize_images(X4, (2, 2), mode='x'), AssertionError),
    (lambda: F.copy(X, '@foo'), ValueError),
    (lambda: F.batch_normalization(X, X[0], X[0], running_mean=np.zeros(2, 'f')), ValueError),
    # Dtypes.
    (lambda: F.absolute(XI), InvalidType),
    (lambda: F.absolute(XI > 0), InvalidType),
    (lambda: F.where(X, X, X), InvalidType),
    (lambda: F.where(XI, X, X), InvalidType),
    (lambda: F.where(X > 0, X, XD), InvalidType),
    (lambda: F.arctan2(X, XI), InvalidType),
    (lambda: F.spatial_transformer_sampler(X4, draw(2, 2, 2, 2, dtype='d')), InvalidType),
    (lambda: F.convolution_2d(X4, W4, T), InvalidType),
    # Shapes.
    (lambda: F.batch_matmul(X, draw(2, 3, 3)), InvalidType),
    (lambda: F.batch_matmul(draw(2, 3, 3), draw(3, 3, 3)), ValueError),
    (lambda: F.average(X, axis=1, weights=draw(2)), InvalidType),
    (lambda: F.average(X, axis=(0, 1), weights=draw(3)), ValueError),
    (lambda: F.fmod(X, draw(4)), ValueError),
    (lambda: F.einsum('i', X), ValueError),
    (lambda: F.einsum('ij,jk', X, X), InvalidType),
    (lambda: F.tensordot(X, X, axes=3), ValueError),
    (lambda: F.depth2space(X4, 2), ValueError),
    (lambda: F.space2depth(X4, 3), ValueError),
    (lambda: F.reshape(EMPTY, (0, -1)), ValueError),
    (lambda: F.cholesky(EMPTY), np.linalg.LinAlgError),
    (
        lambda: F.discriminative_margin_based_clustering_loss(X4, T, 0.5, 1.5, 3),
        InvalidType,
    ),
    # Empty arrays.
    (lambda: F.mean(EMPTY), ZeroDivisionError),
    (lambda: F.mean(EMPTY, axis=0), ZeroDivisionError),
    (lambda: F.average(np.zeros((0, 0, 0), 'f')), ZeroDivisionError),
    # Windows.
    (lambda: F.convolution_2d(X4, draw(2, 3, 9, 9)), AssertionError),
    (lambda: F.convolution_2d(X4, W4, stride=-1), AssertionError),
    (lambda: F.convolution_2d(X4, W4, pad=-1), AssertionError),
    (lambda: F.convolution_2d(X4, W4, dilate=9), AssertionError),
    (lambda: F.convolution_2d(X4, W4, dilate=0), ValueError),
    (lambda: F.dilated_convolution_2d(X4, W4, dilate=0), ValueError),
    (lambda: F.convolution_nd(X4, W4, dilate=(1, 0)), ValueError),
    (lambda: F.deconvolution_2d(X4, D4, dilate=-1), ValueError),
    (lambda: F.convolution_2d(X4, W4, stride=(1, 1, 1)), ValueError),
    (lambda: F.convolution_2d(X4, W4, None, 'a'), ValueError),
    (lambda: F.convolution_nd(X4, W4, stride=(1,)), AssertionError),
    (lambda: F.deconvolution_2d(X4, D4, draw(3)), ValueError),
    (lambda: F.deconvolution_2d(X4, D4, pad=9), RuntimeError),
    (lambda: F.deconvolution_2d(X4, D4, stride=0), ValueError),
    (lambda: F.deconvolution_2d(X4, D4, groups=2), ValueError),
    (lambda: F.average_pooling_2d(X4, (2, 2, 2)), ValueError),
    (lambda: F.average_pooling_2d(X4, 'a'), ValueError),
    (lambda: F.average_pooling_nd(X4, (2,)), AssertionError),
    (lambda: F.max_pooling_2d(X4, (2, 2, 2)), AssertionError),
    (
        lambda: F.roi_max_pooling_2d(X4, draw(1, 4), np.zeros(1, 'i'), (2, 2, 2), 1.0),
        ValueError,
    ),
]


@pytest.mark.filterwarnings('ignore:batch_matmul is deprecated')
@pytest.mark.parametrize('call, error', ERRORS)
def test_errors(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.chainerx
@pytest.mark.parametrize(
    'call, error',
    [
        (lambda x: F.mean(x[:0]), ZeroDivisionError),
        (lambda x: F.mean(x[:0], axis=0), ZeroDivisionError),
        (lambda x: F.split_axis(x, [5], 1), InvalidType),
        (lambda x: F.separate(x[0, 0]), InvalidType),
        (lambda x: F.where(x, x, x), InvalidType),
        (lambda x: F.clip(x, 1, 0), ValueError),
        (lambda x: F.concat(x), ValueError),
        (lambda x: F.softmax(x, axis=2), ValueError),
        (lambda x: F.linear(x[0], x), ValueError),
        (lambda x: F.batch_matmul(x, chainerx.ones((2, 3, 3), 'f')), InvalidType),
    ],
)
def test_errors_on_chainerx(call, error):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DeprecationWarning)
        with pytest.raises(error):
            call(chainerx.array(X))


def test_handlers_of_numpy_errors_catch_invalid_types():
    assert issubclass(InvalidType, ValueError) and issubclass(InvalidType, RuntimeError)
    for error in (InvalidType, IndexError, ValueError, np.exceptions.AxisError):
        with pytest.raises(error) as info:
            F.softmax(X, axis=2)
    assert info.value.expect == 'x.ndim > 2' and 'Softmax' in str(info.value)
    copied = pickle.loads(pickle.dumps(info.value))
    assert type(copied) is InvalidAxis and str(copied) == str(info.value)
    with pytest.raises(InvalidType) as info:
        F.linear(X, draw(4, 5))
    assert not isinstance(info.value, IndexError)


# -- results --------------------------------------------------------------------

EMBEDDING = draw(5, 4, seed=1)
SAMPLES = np.array([[1, 3], [0, 4]], 'i')
CREATORS = [
    (lambda: F.rsqrt(abs(X)), 'DivFromConstant', '1.0 / _'),
    (lambda: F.arctanh(X), 'Arctanh', 'Arctanh'),
    (lambda: F.add(X, X, X), 'MultiAdd', 'MultiAdd'),
    (lambda: F.concat([X]), 'Concat', 'Concat'),
    (lambda: F.gaussian_nll(X, X, X, 'no'), 'Sub', '_ - _'),
    (lambda: F.black_out(draw(2, 4), T, EMBEDDING, SAMPLES, 'no'), 'Neg', '__neg__'),
    (lambda: F.argmax_crf1d(draw(3, 3), [X, X[:1]])[0], 'Concat', 'Concat'),
    (
        lambda: F.simplified_dropconnect(X, draw(4, 3), train=False),
        'SimplifiedDropconnect',
        'SimplifiedDropconnect',
    ),
    (
        lambda: F.deformable_convolution_2d_sampler(X4, draw(2, 18, 2, 2), W4, draw(2)),
        'Add',
        '_ + _',
    ),
    (
        lambda: F.discriminative_margin_based_clustering_loss(
            X4, np.ones((2, 4, 4), 'i'), 0.5, 1.5, 2
        )[0],
        'MulConstant',
        '_ * 1.0',
    ),
]


@pytest.mark.parametrize('call, name, label', CREATORS, ids=[row[1] for row in CREATORS])
def test_creators(call, name, label):
    creator = call().creator
    assert (type(creator).__name__, creator.label) == (name, label)


def test_single_inputs():
    x = chainer.Variable(X)
    assert F.broadcast(x) is x and F.broadcast(X).array is X
    assert isinstance(F.broadcast(x, x), tuple)
    y = F.concat([x], axis=0)
    F.sum(y * y).backward()
    np.testing.assert_allclose(x.grad, 2 * X)


def test_zoneout_outside_training_gives_the_new_state():
    x = chainer.Variable(X)
    with chainer.using_config('train', False):
        assert F.zoneout(XD, x) is x


def test_sign_of_scalars_and_lists():
    assert F.sign(-2.0).array == -1
    assert F.sign([1.0, -3.0]).array.tolist() == [1, -1]


def test_det_ignores_axes_of_length_one():
    matrix = draw(3, 3)
    expected = np.linalg.det(matrix)
    np.testing.assert_allclose(F.det(matrix[:, :, None, None]).array, expected, rtol=1e-5)
    assert F.det(np.zeros((0, 0, 0), 'f')).array == 1


def test_discriminative_loss_counts_absent_instances():
    labels = np.array([[[0, 1, 1], [0, 0, 1]], [[1, 1, 0], [1, 0, 0]]], 'i')
    x = np.random.RandomState(0).uniform(-1, 1, (2, 2, 2, 3)).astype('f')
    losses = F.discriminative_margin_based_clustering_loss(x, labels, 0.5, 1.5, 2)
    np.testing.assert_allclose(
        [loss.array for loss in losses],
        [0.028127752244472504, 4.886241912841797, 0.0003960459434892982],
        rtol=1e-4,
    )


def test_argmax_crf1d_passes_gradients():
    cost, xs = chainer.Variable(draw(3, 3)), [draw(2, 3, seed=1), draw(1, 3, seed=2)]
    xs = [chainer.Variable(x) for x in xs]
    score, path = F.argmax_crf1d(cost, xs)
    F.sum(score).backward()
    expected = np.zeros((3, 3), 'f')
    expected[path[0][0], path[1][0]] = 1
    np.testing.assert_array_equal(cost.grad, expected)
    for x, labels in zip(xs, path):
        assert [np.flatnonzero(row).tolist() for row in x.grad] == [[i] for i in labels]


# -- mixed dtypes -----------------------------------------------------------------

COO = chainer.utils.to_coo(np.array([[0, 1, 2], [3, 0, 0]], 'f'))
CONV = draw(1, 2, 4, 4), draw(3, 2, 2, 2), draw(3)
LOCAL = draw(1, 2, 3, 3), draw(3, 2, 2, 2, 2, 2), draw(3, 2, 2)
# Functions, inputs, their dtypes and the dtype of the output.
MIXED = [
    (F.linear, [X, draw(4, 3)], 'fe', 'f'),
    (F.matmul, [X, X.T.copy()], 'ef', 'f'),
    (F.matmul, [X, X.T.copy()], 'fd', 'd'),
    (lambda a, b: F.einsum('ij,kj->ik', a, b), [X, X], 'ef', 'f'),
    (lambda a, b: F.einsum('ij,kj->ik', a, b), [X, X], 'df', 'd'),
    (lambda a, b: F.tensordot(a, b), [X, X], 'fd', 'd'),
    (F.arctan2, [X, abs(X) + 1], 'fd', 'd'),
    (F.arctan2, [X, abs(X) + 1], 'ef', 'f'),
    (F.convolution_2d, CONV, 'eff', 'e'),
    (F.convolution_2d, CONV, 'fdd', 'f'),
    (F.convolution_nd, CONV, 'fed', 'f'),
    (F.deconvolution_2d, (CONV[0], CONV[1].swapaxes(0, 1).copy(), CONV[2]), 'efd', 'e'),
    (F.deconvolution_nd, (CONV[0], CONV[1].swapaxes(0, 1).copy(), CONV[2]), 'ffe', 'f'),
    (F.local_convolution_2d, LOCAL, 'eff', 'e'),
    (F.local_convolution_2d, LOCAL, 'fde', 'f'),
    (lambda a, b: F.scatter_add(a, 0, b), [X, X[0]], 'fd', 'f'),
    (lambda v, b: F.sparse_matmul(_coo(v), b), [COO.data, draw(3, 2)], 'fe', 'f'),
    (lambda v, b: F.sparse_matmul(_coo(v), b), [COO.data, draw(3, 2)], 'fd', 'd'),
    (lambda v, a: F.sparse_matmul(a, _coo(v)), [COO.data, draw(4, 2)], 'ef', 'f'),
    (F.softmax_cross_entropy, [X, abs(XD)], 'fd', 'f'),
    (lambda x, t: F.softmax_cross_entropy(x, t, reduce='no'), [X, abs(XD)], 'fd', 'd'),
]


def _coo(data):
    matrix = chainer.utils.CooMatrix(chainer.as_array(data), COO.row, COO.col, COO.shape, COO.order)
    matrix.data = chainer.as_variable(data)
    return matrix


@pytest.mark.parametrize('device', ['@numpy', pytest.param(CHX[0], marks=pytest.mark.chainerx)])
@pytest.mark.parametrize('f, inputs, dtypes, expected', MIXED)
def test_mixed_dtypes(f, inputs, dtypes, expected, device):
    device = chainer.get_device(device)
    xs = [
        chainer.Variable(device.send(chainer.as_array(x).astype(d))) for x, d in zip(inputs, dtypes)
    ]
    y = f(*xs)
    assert y.dtype == expected
    reference = f(*[chainer.as_array(x).astype('d') for x in inputs])
    actual = chainer.get_device('@numpy').send(y.array)
    np.testing.assert_allclose(actual, reference.array, 2e-2, 2e-2)
    F.sum(y).backward()
    for x, dtype in zip(xs, dtypes):
        assert x.grad is None or x.grad.dtype == dtype


def _second_gradients(f, xs):
    """Of the sum of all squared gradients."""
    xs = [x for x in xs if x.requires_grad]
    y = f(*xs)
    gy = chainer.Variable(_filled_like(y.array))
    gxs = [g for g in chainer.grad([y], xs, [gy], enable_double_backprop=True) if g is not None]
    total = sum([F.sum(F.cast(g, 'd') ** 2) for g in gxs])
    return chainer.grad([total], [*xs, gy])


def _filled_like(array):
    device = chainer.backend.get_device_from_array(array)
    return device.send(np.linspace(-1, 1, array.size).reshape(array.shape).astype(array.dtype))


@pytest.mark.parametrize('device', ['@numpy', pytest.param(CHX[0], marks=pytest.mark.chainerx)])
@pytest.mark.parametrize('f, inputs', {id(row[0]): row[:2] for row in MIXED}.values())
def test_second_gradients_of_mixed_dtypes(f, inputs, device):
    device = chainer.get_device(device)
    inputs = [chainer.as_array(x) for x in inputs]
    expected = _second_gradients(f, [chainer.Variable(x.astype('d')) for x in inputs])
    for dtypes in itertools.product('efd', repeat=len(inputs)):
        xs = [chainer.Variable(device.send(x.astype(d))) for x, d in zip(inputs, dtypes)]
        for g, e, x in zip(_second_gradients(f, xs), expected, [*xs, None]):
            if g is None or e is None:
                assert g is e
                continue
            assert x is None or g.dtype == x.dtype
            actual = chainer.get_device('@numpy').send(g.array)
            np.testing.assert_allclose(actual, e.array, 0.05, 0.05, err_msg=dtypes)


def test_copy_of_integers_from_chainerx():
    if not chainerx.is_available():
        pytest.skip('ChainerX is not built')
    for dst in ('@numpy', -1):
        y = F.copy(chainer.Variable(chainerx.arange(3)), dst)
        assert chainer.get_device('@numpy').send(y.array).tolist() == [0, 1, 2]


def test_contrastive_of_equal_points_in_float16():
    x0, x1 = [chainer.Variable(np.ones((2, 3), 'e')) for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        F.contrastive(x0, x1, T).backward()
    assert not x0.grad.any() and not x1.grad.any()
