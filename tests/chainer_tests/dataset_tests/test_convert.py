import copy
import pickle

import numpy
import pytest

import chainer
import chainerx
from chainer import dataset
from chainer.backends import cuda
from chainer.dataset import convert
from tests.helpers.devices import CHX

DEVICES = [
    None,
    '@numpy',
    -1,
    pytest.param(CHX[1], marks=pytest.mark.chainerx),
    pytest.param('@cupy:0', marks=pytest.mark.gpu),
    pytest.param(0, marks=pytest.mark.gpu),
]


def check(actual, expected, device):
    if device is not None:
        expected_device = chainer.get_device(device)
        assert chainer.backend.get_device_from_array(actual) == expected_device
    actual = chainer.get_device('@numpy').send(actual)
    assert actual.dtype == expected.dtype
    numpy.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize('device', DEVICES)
class TestConcatExamples:
    def test_arrays(self, device):
        x = numpy.random.rand(3, 2, 4).astype('f')
        check(dataset.concat_examples(list(x), device), x, device)
        check(dataset.concat_examples(list(x), device=device), x, device)

    def test_tuples(self, device):
        x, y = numpy.random.rand(3, 2).astype('f'), numpy.arange(3, dtype='i')
        result = dataset.concat_examples(list(zip(x, y)), device)
        assert isinstance(result, tuple) and len(result) == 2
        check(result[0], x, device)
        check(result[1], y, device)

    def test_dicts(self, device):
        x = numpy.random.rand(3, 2).astype('f')
        result = dataset.concat_examples([{'x': row, 'i': i} for i, row in enumerate(x)], device)
        assert list(result) == ['x', 'i']
        check(result['x'], x, device)
        check(result['i'], numpy.arange(3), device)

    def test_padding(self, device):
        batch = [
            (numpy.ones((2, 3), 'f'), numpy.zeros(2, 'i')),
            (numpy.ones((3, 1), 'f'), numpy.zeros(1, 'i')),
        ]
        x, y = dataset.concat_examples(batch, device, padding=(0, -1))
        expected = numpy.zeros((2, 3, 3), 'f')
        expected[0, :2, :3] = expected[1, :3, :1] = 1
        check(x, expected, device)
        check(y, numpy.array([[0, 0], [0, -1]], 'i'), device)

    def test_padding_of_dicts(self, device):
        batch = [{'x': numpy.ones(2, 'f')}, {'x': numpy.ones(3, 'f')}]
        for padding in 7, {'x': 7}:
            result = dataset.concat_examples(batch, device, padding=padding)
            check(result['x'], numpy.array([[1, 1, 7], [1, 1, 1]], 'f'), device)


@pytest.mark.parametrize(
    'batch,dtype',
    [
        ([1, 2], 'int64'),
        ([1.5, 2], 'float64'),
        ([[1, 2], [3, 4]], 'int64'),
        ([numpy.float32(1)] * 2, 'float32'),
        ([True, False], 'bool'),
        ([numpy.array(1, 'f')] * 2, 'float32'),
    ],
)
def test_concat_builtin_types(batch, dtype):
    result = dataset.concat_examples(batch)
    assert result.dtype == dtype
    numpy.testing.assert_array_equal(result, numpy.array(batch))


def test_concat_empty():
    with pytest.raises(ValueError, match='batch is empty'):
        dataset.concat_examples([])


@pytest.mark.parametrize('batch', [['a', 'b'], [b'a'], [None], [{1}, {2}]])
@pytest.mark.parametrize('padding', [None, 0])
def test_concat_no_numbers(batch, padding):
    with pytest.raises(TypeError, match='examples must be arrays'):
        dataset.concat_examples(batch, padding=padding)
    with pytest.raises(TypeError, match='examples must be arrays'):
        dataset.concat_examples([(1, example) for example in batch], padding=padding)


def test_concat_different_shapes():
    with pytest.raises(ValueError):
        dataset.concat_examples([numpy.zeros(2), numpy.zeros(3)])


def test_concat_does_not_alias():
    x = [numpy.zeros(2)]
    dataset.concat_examples(x)[...] = 1
    assert x[0].sum() == 0


@pytest.mark.parametrize('device', DEVICES)
def test_to_device(device):
    x = numpy.arange(3, dtype='f')
    check(dataset.to_device(device, x), x, device)
    a, (b, c) = dataset.to_device(device, [x, (x, None)])
    check(a, x, device)
    check(b, x, device)
    assert c is None
    if device is None:
        assert dataset.to_device(device, x) is x


class TestConverters:
    def test_decorator(self):
        @dataset.converter()
        def convert_batch(batch, device):
            """Doc."""
            return batch, device

        assert isinstance(convert_batch, dataset.Converter)
        assert convert_batch.__doc__ == 'Doc.'
        cpu = chainer.get_device('@numpy')
        for spec in -1, '@numpy', cpu:
            assert convert_batch([1], spec) == ([1], cpu)
            assert convert_batch([1], device=spec) == ([1], cpu)
        assert convert_batch([1], None) == ([1], None)
        assert convert._call_converter(convert_batch, [1], cpu) == ([1], cpu)

    def test_old_style(self):
        def old(batch, device=None):
            return device

        assert convert._call_converter(old, [], None) is None
        assert convert._call_converter(old, [], chainer.get_device('@numpy')) == -1

    @pytest.mark.gpu
    def test_old_style_gpu(self):
        assert (
            convert._call_converter(lambda batch, device: device, [], chainer.get_device('@cupy:0'))
            == 0
        )

    @pytest.mark.chainerx
    def test_old_style_chainerx(self):
        with pytest.raises(RuntimeError, match='converter'):
            convert._call_converter(lambda batch, device: device, [], chainer.get_device(CHX[0]))

    def test_no_callable(self):
        with pytest.raises(TypeError, match='callable'):
            dataset.converter()(3)

    def test_abstract(self):
        with pytest.raises(NotImplementedError):
            dataset.Converter()([], None)


class TestConcatWithAsyncTransfer:
    @pytest.mark.parametrize('copy', [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
    def test_copies(self, copy):
        convert = dataset.ConcatWithAsyncTransfer()
        for _ in range(2):
            convert = copy(convert)
            x, t = convert([(numpy.zeros(3), 0), (numpy.ones(3), 1)], -1)
            assert x.shape == (2, 3) and t.tolist() == [0, 1]

    def test_cpu(self):
        converter = dataset.ConcatWithAsyncTransfer()
        x = numpy.arange(6).reshape(3, 2)
        numpy.testing.assert_array_equal(converter(list(x)), x)
        numpy.testing.assert_array_equal(converter(list(x), -1), x)
        numpy.testing.assert_array_equal(converter([x[0], x[0, :1]], padding=9), [[0, 1], [0, 9]])

    def test_conveyor_cpu(self):
        conveyor = convert.Conveyor()
        x, y = numpy.zeros(1), numpy.zeros(2)
        conveyor.put(x)
        conveyor.put(y)
        assert conveyor.get() is x
        assert conveyor.get() is y
        with pytest.raises(TypeError, match='ndarray is expected'):
            conveyor.put([1])

    @pytest.mark.gpu
    def test_gpu(self):
        converter = dataset.ConcatWithAsyncTransfer()
        for i in range(3):
            x, y = numpy.full((2, 3), i, 'f'), numpy.arange(2)
            gx, gy = converter(list(zip(x, y)), 0)
            numpy.testing.assert_array_equal(gx.get(), x)
            numpy.testing.assert_array_equal(gy.get(), y)
        with pytest.raises(ValueError, match='device'):
            converter._send(x, 1)

    @pytest.mark.chainerx
    @pytest.mark.gpu
    def test_chainerx(self):
        device = chainer.get_device('cuda:0')
        converter = dataset.ConcatWithAsyncTransfer()
        for i in range(4):
            x, t = numpy.full((50, 300), i, 'f'), numpy.arange(50)
            with device.device.current_stream:
                batch = converter([{'x': v, 't': n} for v, n in zip(x, t)], device)
                y = batch['x'] * 2 + batch['t'][:, None].astype('f')
            assert y.device is device.device
            numpy.testing.assert_array_equal(
                chainer.get_device('@numpy').send(y), 2 * x + t[:, None]
            )

    @pytest.mark.chainerx
    @pytest.mark.multi_gpu(2)
    def test_second_device_of_chainerx(self):
        converter, x = dataset.ConcatWithAsyncTransfer(), numpy.zeros((3, 2), 'f')
        converter([x], 'cuda:0')
        with pytest.raises(ValueError, match='device must be the one of the first call, cuda:0'):
            converter([x], 'cuda:1')

    @pytest.mark.chainerx
    @pytest.mark.gpu
    @pytest.mark.parametrize('library', ['chainerx', 'cupy'])
    def test_chainerx_with_streams(self, library):
        def make():
            return chainerx.Stream('cuda:0') if library == 'chainerx' else cuda.Stream()

        copying, computing = make(), make()
        converter = dataset.ConcatWithAsyncTransfer(copying, computing)
        x = numpy.arange(6, dtype='f').reshape(3, 2)
        y = converter(list(x), 'cuda:0')
        stream = computing
        if library == 'cupy':
            stream = chainerx.Stream('cuda:0', computing.ptr, computing)
        with stream:
            numpy.testing.assert_array_equal(chainerx.to_numpy(y), x)

    @pytest.mark.multi_gpu(2)
    def test_gpu_that_is_not_current(self):
        waited = []

        class Stream:  # stands for the null stream, which each GPU has
            def wait_event(self, event):
                waited.append(cuda.Device().id)
                cuda.Stream.null.wait_event(event)

        converter = dataset.ConcatWithAsyncTransfer(compute_stream=Stream())
        for i in range(2):
            x = numpy.full((2, 3), i, 'f')
            gx = converter(list(x), 1)
            assert gx.device.id == 1
            numpy.testing.assert_array_equal(gx.get(), x)
        assert waited == [1, 1] and cuda.Device().id == 0
