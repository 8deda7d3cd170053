"""Operators of ONNX that read or write at indices, and signals, in both loaders."""

import numpy as np
import pytest

onnx = pytest.importorskip('onnx')
from onnx import helper  # noqa: E402
from onnx_chainer_tests import loaders  # noqa: E402
from onnx_chainer_tests.helpers_of_import import any_output, info, model_of  # noqa: E402


def run(loader, op, *inputs, outputs=1, opset=20, **attributes):
    names = [f'x{i}' for i in range(len(inputs))]
    results = [f'y{i}' for i in range(outputs)]
    node = helper.make_node(op, names, results, **attributes)
    infos = [info(name, x.shape, x.dtype) for name, x in zip(names, inputs)]
    model = model_of([node], infos, [any_output(y) for y in results], opset=opset)
    return loader.load(model.SerializeToString())(*inputs)


NAN = np.nan
BIG = 2**60


@pytest.mark.parametrize(
    'x',
    [
        np.array([BIG + 1, BIG, BIG + 1, BIG + 2]),
        np.array([NAN, 2, NAN, 1, 2, NAN], 'f'),
        np.array([[0, 1], [0, 0], [0, 1]], 'i'),
        np.zeros(0, 'f'),
    ],
    ids=['integers beyond float64', 'nan', 'rows', 'nothing'],
)
@pytest.mark.parametrize('is_sorted', [0, 1])
def test_unique(loader, x, is_sorted):
    axis = {'axis': 0} if x.ndim > 1 else {}
    expected = np.unique(x, True, True, True, **axis)  # NumPy 1 keeps NaN apart along an axis
    order = np.arange(len(expected[0])) if is_sorted else np.argsort(expected[1])
    values, first, inverse, counts = run(loader, 'Unique', x, outputs=4, sorted=is_sorted, **axis)
    np.testing.assert_array_equal(values, expected[0][order])
    np.testing.assert_array_equal(first, expected[1][order])
    np.testing.assert_array_equal(inverse, np.argsort(order)[expected[2].ravel()])
    np.testing.assert_array_equal(counts, expected[3][order])


X = np.arange(24, dtype='f').reshape(2, 3, 4)


def test_elements_of_less_rows(loader):
    i = np.array([[[2, -4], [0, 3]]])
    (y,) = run(loader, 'GatherElements', X, i, axis=2)
    np.testing.assert_array_equal(y, np.take_along_axis(X[:1, :2], i, 2))


@pytest.mark.parametrize(
    ('i', 'batch_dims', 'expected'),
    [
        (np.array([[1, -1], [0, 2]]), 0, X[[1, 0], [2, 2]]),
        (np.array([[[1]], [[-3]]]), 1, np.stack([X[0, [1]], X[1, [0]]])),
        (np.zeros((0, 3), 'l'), 0, np.zeros(0, 'f')),
    ],
)
def test_blocks_at_points(loader, i, batch_dims, expected):
    (y,) = run(loader, 'GatherND', X, i, batch_dims=batch_dims)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize(
    ('op', 'i'),
    [
        ('GatherElements', np.full((2, 3, 4), 4)),
        ('GatherElements', np.zeros((3, 3, 4), 'l')),
        ('GatherElements', np.zeros((2, 3), 'l')),
        ('GatherND', np.array([[2, 0]])),
        ('GatherND', np.array([[0, -4]])),
        ('GatherND', np.zeros((1, 4), 'l')),
    ],
)
def test_no_such_place(loader, op, i):
    with pytest.raises(loader.error):
        run(loader, op, X, i, **({'axis': 2} if op == 'GatherElements' else {}))


@pytest.mark.parametrize('mode', ['linear', 'circular'])
@pytest.mark.parametrize('axis', [1, 2])
def test_steps_behind_those_of_a_row(loader, mode, axis):
    update = -1 - np.arange(2 * 3 * 4, dtype='f').reshape(2, 3, 4)
    update = update[:, :2] if axis == 1 else update[:, :, :2]
    begin = np.array([1, X.shape[axis] - 1 if mode == 'circular' else 0])
    expected = X.copy()
    for row, first in enumerate(begin):
        places = (first + np.arange(2)) % X.shape[axis]
        np.moveaxis(expected[row], axis - 1, 0)[places] = np.moveaxis(update[row], axis - 1, 0)
    (y,) = run(loader, 'TensorScatter', X, update, begin, opset=24, axis=axis, mode=mode)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize(
    ('begin', 'mode'),
    [
        ([0, 3], 'linear'),
        ([0, -1], 'linear'),
        ([-1, 0], 'circular'),
        ([0], 'linear'),
        ([0, 0, 0], 'circular'),
    ],
)
def test_no_room_for_steps(loader, begin, mode):
    with pytest.raises(loader.error):
        run(loader, 'TensorScatter', X, X[:, :1], np.array(begin), opset=24, axis=1, mode=mode)


def test_the_importer_names_wrong_places_to_write_at():
    importer = loaders.Importer()
    with pytest.raises(
        ValueError, match=r'write_indices must be 2 numbers from 0 on, not \[-1 +0\]'
    ):
        run(importer, 'TensorScatter', X, X[:, :1], np.array([-1, 0]), opset=24, axis=1)
    with pytest.raises(ValueError, match='go beyond the length 3'):
        run(importer, 'TensorScatter', X, X[:, :2], np.array([0, 2]), opset=24, axis=1)


@pytest.mark.parametrize(('least', 'chosen'), [(None, [2, 0, 1, 3]), (0.6, [2])])
def test_boxes_without_a_score_come_last(loader, least, chosen):
    boxes = np.array([[[0, i, 1, i + 0.5] for i in range(4)]], 'f')
    scores = np.array([[[0.5, NAN, 0.7, NAN]]], 'f')
    limits = [np.array([9]), np.array([0.5], 'f'), np.array([least or 0], 'f')]
    inputs = limits if least else limits[:2]
    (y,) = run(loader, 'NonMaxSuppression', boxes, scores, *inputs)
    np.testing.assert_array_equal(y, [[0, 0, i] for i in chosen])


def test_a_box_without_a_score_hides_none(loader):
    boxes = np.array([[[0, 0, 1, 1], [0, 0, 1, 1]]], 'f')
    scores = np.array([[[NAN, -np.inf]]], 'f')
    (y,) = run(loader, 'NonMaxSuppression', boxes, scores, np.array([2]), np.array([0.5], 'f'))
    np.testing.assert_array_equal(y, [[0, 0, 1]])


@pytest.mark.parametrize('parts', [1, 2])
@pytest.mark.parametrize('length', [5, 12, 16])
@pytest.mark.parametrize('inverse', [0, 1])
def test_fourier_transforms(loader, parts, length, inverse):
    x = np.random.RandomState(0).uniform(-1, 1, (2, 12, parts)).astype('f')
    numbers = x[..., 0] + 1j * x[..., 1] if parts == 2 else x[..., 0]
    expected = (np.fft.ifft if inverse else np.fft.fft)(numbers.astype('D'), length)
    (y,) = run(loader, 'DFT', x, np.array(length), np.array(1), inverse=inverse)
    np.testing.assert_allclose(y, np.stack([expected.real, expected.imag], -1), 1e-5, 1e-5)


def test_transforms_of_half(loader):
    x = np.random.RandomState(0).uniform(-1, 1, (2, 10, 1)).astype('f')
    (half,) = run(loader, 'DFT', x, np.array(10), np.array(1), onesided=1)
    expected = np.fft.rfft(x[..., 0].astype('d'))
    np.testing.assert_allclose(half, np.stack([expected.real, expected.imag], -1), 1e-5, 1e-5)
