"""What every link does: shapes, gradients, saving, copying, moving, waiting for its input."""

import copy
import pickle

import numpy as np
import pytest
from helpers.functions import GPUS, devices, no_fallback

import chainer
import chainerx
from chainer import links as L
from tests.helpers.devices import CHX, IS_CUDA

_rng = np.random.RandomState(0)


def f(*shape):
    return _rng.uniform(-1, 1, shape).astype('f')


def i(*values):
    return np.array(values, 'i')


IMAGE = f(2, 4, 6, 5)
VECTOR = f(2, 4)
STATE = f(2, 3)
SEQUENCES = [f(2, 4), f(3, 4), f(1, 4)]

# Name: how to make the link with sizes and without (None: it cannot wait), inputs, output shapes.
# Outputs that are lists, and lists within, count one by one.
LINKS = {
    'BatchNormalization': (
        lambda: L.BatchNormalization(4),
        lambda: L.BatchNormalization(axis=(0, 2, 3)),
        (IMAGE,),
        [IMAGE.shape],
    ),
    'BatchRenormalization': (lambda: L.BatchRenormalization(4), None, (IMAGE,), [IMAGE.shape]),
    'Bias': (lambda: L.Bias(1, (4,)), None, (IMAGE,), [IMAGE.shape]),
    'Bilinear': (lambda: L.Bilinear(4, 3, 2), None, (VECTOR, STATE), [(2, 2)]),
    'BinaryHierarchicalSoftmax': (
        lambda: L.BinaryHierarchicalSoftmax(4, ((0, 1), 2)),
        None,
        (VECTOR, i(0, 2)),
        [()],
    ),
    'BlackOut': (lambda: L.BlackOut(4, [1, 2, 3], 2), None, (VECTOR, i(0, 2)), [()]),
    'CRF1d': (lambda: L.CRF1d(3), None, ([f(2, 3), f(1, 3)], [i(0, 1), i(2)]), [()]),
    'ChildSumTreeLSTM': (
        lambda: L.ChildSumTreeLSTM(4, 3),
        None,
        (STATE, None, STATE, STATE, VECTOR),
        [(2, 3), (2, 3)],
    ),
    'Convolution1D': (
        lambda: L.Convolution1D(4, 3, 2),
        lambda: L.Convolution1D(None, 3, 2),
        (f(2, 4, 5),),
        [(2, 3, 4)],
    ),
    'Convolution2D': (
        lambda: L.Convolution2D(4, 3, (3, 2), groups=1),
        lambda: L.Convolution2D(3, (3, 2)),
        (IMAGE,),
        [(2, 3, 4, 4)],
    ),
    'Convolution3D': (
        lambda: L.Convolution3D(4, 3, 2),
        lambda: L.Convolution3D(None, 3, 2),
        (f(2, 4, 3, 3, 3),),
        [(2, 3, 2, 2, 2)],
    ),
    'ConvolutionND': (
        lambda: L.ConvolutionND(2, 4, 3, 2),
        lambda: L.ConvolutionND(2, 3, 2),
        (IMAGE,),
        [(2, 3, 5, 4)],
    ),
    'Deconvolution1D': (
        lambda: L.Deconvolution1D(4, 3, 2),
        lambda: L.Deconvolution1D(None, 3, 2),
        (f(2, 4, 5),),
        [(2, 3, 6)],
    ),
    'Deconvolution2D': (
        lambda: L.Deconvolution2D(4, 3, 2, outsize=(7, 6)),
        lambda: L.Deconvolution2D(3, 2),
        (IMAGE,),
        [(2, 3, 7, 6)],
    ),
    'Deconvolution3D': (
        lambda: L.Deconvolution3D(4, 3, 2),
        lambda: L.Deconvolution3D(None, 3, 2),
        (f(2, 4, 3, 3, 3),),
        [(2, 3, 4, 4, 4)],
    ),
    'DeconvolutionND': (
        lambda: L.DeconvolutionND(2, 4, 3, 2),
        lambda: L.DeconvolutionND(2, 3, 2),
        (IMAGE,),
        [(2, 3, 7, 6)],
    ),
    'DecorrelatedBatchNormalization': (
        lambda: L.DecorrelatedBatchNormalization(4, 2),
        None,
        (f(9, 4),),
        [(9, 4)],
    ),
    'DeformableConvolution2D': (
        lambda: L.DeformableConvolution2D(4, 3, 2),
        lambda: L.DeformableConvolution2D(None, 3, 2),
        (IMAGE,),
        [(2, 3, 5, 4)],
    ),
    'DepthwiseConvolution2D': (
        lambda: L.DepthwiseConvolution2D(4, 2, 3),
        lambda: L.DepthwiseConvolution2D(None, 2, 3),
        (IMAGE,),
        [(2, 8, 4, 3)],
    ),
    'DilatedConvolution2D': (
        lambda: L.DilatedConvolution2D(4, 3, 2, dilate=2),
        lambda: L.DilatedConvolution2D(3, 2, dilate=2),
        (IMAGE,),
        [(2, 3, 4, 3)],
    ),
    'EmbedID': (lambda: L.EmbedID(3, 2), None, (i(1, 2),), [(2, 2)]),
    'GRU': (lambda: L.GRU(4, 3), None, (VECTOR,), [(2, 3)]),
    'GroupNormalization': (
        lambda: L.GroupNormalization(2, 4),
        lambda: L.GroupNormalization(2),
        (IMAGE,),
        [IMAGE.shape],
    ),
    'Highway': (lambda: L.Highway(4), None, (VECTOR,), [(2, 4)]),
    'Inception': (
        lambda: L.Inception(4, 1, 2, 3, 2, 1, 2),
        lambda: L.Inception(None, 1, 2, 3, 2, 1, 2),
        (IMAGE,),
        [(2, 7, 6, 5)],
    ),
    'InceptionBN': (
        lambda: L.InceptionBN(4, 1, 2, 3, 2, 1, 'max', 2),
        lambda: L.InceptionBN(None, 1, 2, 3, 2, 1, 'max', 2),
        (IMAGE,),
        [(2, 7, 6, 5)],
    ),
    'InceptionBN-stride': (
        lambda: L.InceptionBN(4, 0, 2, 3, 2, 1, 'avg', stride=2),
        None,
        (f(2, 4, 7, 5),),
        [(2, 8, 4, 3)],
    ),
    'LSTM': (lambda: L.LSTM(4, 3), lambda: L.LSTM(3), (VECTOR,), [(2, 3)]),
    'LayerNormalization': (
        lambda: L.LayerNormalization(4),
        lambda: L.LayerNormalization(),
        (VECTOR,),
        [(2, 4)],
    ),
    'Linear': (lambda: L.Linear(4, 3), lambda: L.Linear(3), (VECTOR,), [(2, 3)]),
    'LocalConvolution2D': (
        lambda: L.LocalConvolution2D(4, 3, (6, 5), 2, 2),
        lambda: L.LocalConvolution2D(None, 3, ksize=2, stride=2),
        (IMAGE,),
        [(2, 3, 3, 2)],
    ),
    'MLPConvolution2D': (
        lambda: L.MLPConvolution2D(4, (3, 2), 3),
        lambda: L.MLPConvolution2D((3, 2), 3),
        (IMAGE,),
        [(2, 2, 4, 3)],
    ),
    'Maxout': (lambda: L.Maxout(4, 3, 2), lambda: L.Maxout(None, 3, 2), (VECTOR,), [(2, 3)]),
    'MultiHeadAttention': (lambda: L.MultiHeadAttention(4, 2), None, (f(2, 3, 4),), [(2, 3, 4)]),
    'NStepBiGRU': (
        lambda: L.NStepBiGRU(2, 4, 3, 0),
        None,
        (None, SEQUENCES),
        [(4, 3, 3), (2, 6), (3, 6), (1, 6)],
    ),
    'NStepBiLSTM': (
        lambda: L.NStepBiLSTM(1, 4, 3, 0),
        None,
        (None, None, SEQUENCES),
        [(2, 3, 3), (2, 3, 3), (2, 6), (3, 6), (1, 6)],
    ),
    'NStepBiRNNReLU': (
        lambda: L.NStepBiRNNReLU(1, 4, 3, 0),
        None,
        (None, SEQUENCES),
        [(2, 3, 3), (2, 6), (3, 6), (1, 6)],
    ),
    'NStepBiRNNTanh': (
        lambda: L.NStepBiRNNTanh(1, 4, 3, 0),
        None,
        (None, SEQUENCES),
        [(2, 3, 3), (2, 6), (3, 6), (1, 6)],
    ),
    'NStepGRU': (
        lambda: L.NStepGRU(1, 4, 3, 0),
        None,
        (None, SEQUENCES),
        [(1, 3, 3), (2, 3), (3, 3), (1, 3)],
    ),
    'NStepLSTM': (
        lambda: L.NStepLSTM(2, 4, 3, 0),
        None,
        (None, None, SEQUENCES),
        [(2, 3, 3), (2, 3, 3), (2, 3), (3, 3), (1, 3)],
    ),
    'NStepRNNReLU': (
        lambda: L.NStepRNNReLU(1, 4, 3, 0),
        None,
        (None, SEQUENCES),
        [(1, 3, 3), (2, 3), (3, 3), (1, 3)],
    ),
    'NStepRNNTanh': (
        lambda: L.NStepRNNTanh(1, 4, 3, 0),
        None,
        (None, SEQUENCES),
        [(1, 3, 3), (2, 3), (3, 3), (1, 3)],
    ),
    'NaryTreeLSTM': (
        lambda: L.NaryTreeLSTM(4, 3),
        None,
        (STATE, None, STATE, STATE, VECTOR),
        [(2, 3), (2, 3)],
    ),
    'NegativeSampling': (
        lambda: L.NegativeSampling(4, [1, 2, 3], 2),
        None,
        (VECTOR, i(0, 2)),
        [()],
    ),
    'PReLU': (lambda: L.PReLU(), None, (VECTOR,), [(2, 4)]),
    'Parameter': (lambda: L.Parameter(STATE.copy()), None, (), [(2, 3)]),
    'RMSNormalization': (
        lambda: L.RMSNormalization(4),
        lambda: L.RMSNormalization(),
        (VECTOR,),
        [(2, 4)],
    ),
    'Scale': (lambda: L.Scale(1, (4,), bias_term=True), None, (IMAGE,), [IMAGE.shape]),
    'SimplifiedDropconnect': (
        lambda: L.SimplifiedDropconnect(4, 3),
        lambda: L.SimplifiedDropconnect(None, 3),
        (VECTOR,),
        [(2, 3)],
    ),
    'StatefulGRU': (
        lambda: L.StatefulGRU(4, 3),
        lambda: L.StatefulGRU(None, 3),
        (VECTOR,),
        [(2, 3)],
    ),
    'StatefulMGU': (lambda: L.StatefulMGU(4, 3), None, (VECTOR,), [(2, 3)]),
    'StatefulPeepholeLSTM': (lambda: L.StatefulPeepholeLSTM(4, 3), None, (VECTOR,), [(2, 3)]),
    'StatefulZoneoutLSTM': (lambda: L.StatefulZoneoutLSTM(4, 3, 0, 0), None, (VECTOR,), [(2, 3)]),
    'StatelessGRU': (lambda: L.StatelessGRU(4, 3), None, (STATE, VECTOR), [(2, 3)]),
    'StatelessLSTM': (
        lambda: L.StatelessLSTM(4, 3),
        lambda: L.StatelessLSTM(3),
        (STATE, STATE, VECTOR),
        [(2, 3), (2, 3)],
    ),
    'StatelessMGU': (lambda: L.StatelessMGU(4, 3), None, (STATE, VECTOR), [(2, 3)]),
    'Swish': (lambda: L.Swish((4,)), lambda: L.Swish(None), (VECTOR,), [(2, 4)]),
    'TransformerDecoderLayer': (
        lambda: L.TransformerDecoderLayer(4, 2, dropout=0, memory_size=3),
        None,
        (f(2, 3, 4), f(2, 5, 3)),
        [(2, 3, 4)],
    ),
    'TransformerEncoderLayer': (
        lambda: L.TransformerEncoderLayer(4, 2, dropout=0),
        None,
        (f(2, 3, 4),),
        [(2, 3, 4)],
    ),
}

ALL = pytest.mark.parametrize('name', sorted(LINKS))
LAZY = pytest.mark.parametrize('name', sorted(n for n, row in LINKS.items() if row[1]))


def make(name, lazy=False):
    np.random.seed(1)
    link = LINKS[name][1 if lazy else 0]()
    if hasattr(link, 'sampler'):
        for param in link.params():
            param.array[...] = np.random.uniform(-1, 1, param.shape)
    return link


def flatten(values):
    if isinstance(values, (tuple, list)):
        return [v for value in values for v in flatten(value)]
    return [values]


def send(values, device):
    if isinstance(values, (tuple, list)):
        return [send(value, device) for value in values]
    return values if values is None else device.send(values)


def call(link, name, device='@numpy'):
    """Returns the output arrays of a link, on NumPy."""
    device = chainer.get_device(device)
    np.random.seed(2)
    with (
        chainer.using_config('train', False)
        if 'Dropconnect' in name
        else chainer.using_config('train', True)
    ):
        ys = flatten(link(*send(LINKS[name][2], device)))
    return [chainer.get_device('@numpy').send(y.array) for y in ys]


def assert_same(actual, expected, tolerance=0):
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected):
        assert a.dtype == e.dtype
        np.testing.assert_allclose(a, e, rtol=tolerance, atol=tolerance)


def test_all_links_are_here():
    # These have tests of their own.
    others = {
        'Classifier',
        'TheanoFunction',
        'GoogLeNet',
        'BERT',
        'GPT2',
        'TorchvisionResNet',
        'TorchvisionVGG',
    }
    names = {
        name
        for name, value in [(name, getattr(L, name)) for name in dir(L)]
        if isinstance(value, type) and issubclass(value, chainer.Link)
    }
    names -= others | {name for name in names if name.endswith('Layers')}
    assert names == {name.partition('-')[0] for name in LINKS}


@ALL
def test_shapes_and_gradients(name):
    link = make(name)
    ys = flatten(link(*LINKS[name][2]))
    assert [y.shape for y in ys] == LINKS[name][3]
    assert all(y.dtype == np.float32 for y in ys)
    # Weights of outputs of the step before take part from the second step on.
    if hasattr(link, 'reset_state'):
        ys += flatten(link(*LINKS[name][2]))
    link.cleargrads()
    sum(chainer.functions.sum(y * y) for y in ys).backward()
    for path, param in link.namedparams():
        assert param.grad is not None, path
        assert param.grad.shape == param.shape
        assert np.isfinite(param.grad).all(), path


@pytest.mark.filterwarnings('ignore::RuntimeWarning')  # means of nothing
@pytest.mark.parametrize('device', devices())
@pytest.mark.parametrize(
    'name',
    sorted(
        name
        for name, row in LINKS.items()
        if row[2]
        and all(isinstance(x, np.ndarray) for x in row[2])
        and name != 'BlackOut'  # the mean of no losses
    ),
)
def test_empty_batch(name, device):
    link = make(name).to_device(device)
    xs = [x[:0] for x in LINKS[name][2]]
    ys = flatten(link(*send(xs, link.device)))
    assert [y.shape for y in ys] == [(0, *shape[1:]) if shape else () for shape in LINKS[name][3]]
    link.cleargrads()
    if name != 'DecorrelatedBatchNormalization':  # has no parameters
        sum(chainer.functions.sum(y * y) for y in ys).backward()
    for path, param in link.namedparams():
        assert param.grad is None or param.grad.shape == param.shape, path


@LAZY
def test_waits_for_input(name):
    link = make(name, lazy=True)
    assert any(not p.is_initialized for p in link.params())
    eager = make(name)
    # The first step does without the weights of some gates of recurrent links.
    for _ in range(2 if hasattr(link, 'reset_state') else 1):
        ys = flatten(link(*LINKS[name][2]))
    assert [y.shape for y in ys] == LINKS[name][3]
    assert {path: p.shape for path, p in link.namedparams()} == {
        path: p.shape for path, p in eager.namedparams()
    }


@ALL
def test_saves_and_loads(name):
    link = make(name)
    call(link, name)  # so that running averages are not the initial ones
    data = chainer.serializers.npz.serialize(link)
    data = {key: value.copy() for key, value in data.items()}
    np.random.seed(3)
    other = LINKS[name][0]()
    chainer.serializers.NpzDeserializer(data).load(other)
    if hasattr(link, 'reset_state'):
        link.reset_state()
    if hasattr(link, 'sampler'):
        other.sampler = link.sampler
    assert_same(call(other, name), call(link, name))


@LAZY
def test_loads_before_first_input(name):
    link = make(name)
    call(link, name)
    data = chainer.serializers.npz.serialize(link)
    lazy = make(name, lazy=True)
    chainer.serializers.NpzDeserializer({key: value.copy() for key, value in data.items()}).load(
        lazy
    )
    if hasattr(link, 'reset_state'):
        link.reset_state()
    assert_same(call(lazy, name), call(link, name))


@ALL
def test_copies(name):
    link = make(name)
    copies = [pickle.loads(pickle.dumps(link)), copy.deepcopy(link), link.copy('copy')]
    shared = link.copy('share')
    assert [p.array is q.array for p, q in zip(link.params(), shared.params())] == [True] * len(
        list(link.params())
    )
    expected = call(make(name), name)
    for other in copies:
        assert_same(call(other, name), expected)
        for p, q in zip(link.params(), other.params()):
            assert p is not q and not np.may_share_memory(p.array, q.array)
    assert {path: p.shape for path, p in link.copy('init').namedparams()} == {
        path: p.shape for path, p in link.namedparams()
    }


@ALL
def test_prints(name):
    assert str(make(name)).startswith(name.partition('-')[0] + '(')


@pytest.mark.chainerx
@ALL
def test_chainerx(name):
    expected = call(make(name), name)
    link = make(name).to_device(CHX[0])
    with no_fallback():
        actual = call(link, name, CHX[0])
    draws = hasattr(link, 'sampler') or name == 'SimplifiedDropconnect'
    if not (IS_CUDA and draws):
        assert_same(actual, expected, 1e-4)
    device = chainer.get_device(CHX[0])
    for value in vars(link).values():
        if isinstance(value, (chainer.Variable, np.ndarray, chainerx.ndarray)):
            assert (
                value.device
                if isinstance(value, chainer.Variable)
                else chainer.backend.get_device_from_array(value)
            ) == device
    link.to_device('@numpy')
    if hasattr(link, 'reset_state'):
        assert all(
            getattr(link, s).device == chainer.get_device('@numpy') for s in link._state_names
        )


@pytest.mark.parametrize('device', GPUS)
@ALL
def test_gpu(name, device):
    results = []
    for spec in '@numpy', device:
        link = make(name).to_device(spec)
        np.random.seed(2)
        with chainer.using_config('train', 'Dropconnect' not in name):
            ys = flatten(link(*send(LINKS[name][2], link.device)))
        link.cleargrads()
        sum(chainer.functions.sum(y * y) for y in ys if y.dtype.kind == 'f').backward()
        params = [p for _, p in sorted(link.namedparams())]
        assert all(v.device == link.device for v in [*ys, *params])
        assert all(p.grad is None or p.grad_var.device == link.device for p in params)
        results.append([*[y.array for y in ys], *[p.grad for p in params if p.grad is not None]])
    expected, actual = [chainer.get_device('@numpy').send(arrays) for arrays in results]
    if hasattr(link, 'sampler') or name == 'SimplifiedDropconnect':  # draws others
        assert [a.shape for a in actual] == [a.shape for a in expected]
    else:
        assert_same(actual, expected, 1e-4)


@pytest.mark.parametrize('device', GPUS)
@LAZY
def test_waits_on_gpu(name, device):
    device = chainer.get_device(device)
    link = make(name, lazy=True).to_device(device)
    for _ in range(2 if hasattr(link, 'reset_state') else 1):
        ys = flatten(link(*send(LINKS[name][2], device)))
    assert [y.shape for y in ys] == LINKS[name][3]
    assert all(p.device == device for p in link.params())


@pytest.mark.chainerx
@LAZY
def test_waits_on_chainerx(name):
    link = make(name, lazy=True).to_device(CHX[0])
    for _ in range(2 if hasattr(link, 'reset_state') else 1):
        ys = flatten(link(*send(LINKS[name][2], chainer.get_device(CHX[0]))))
    assert [y.shape for y in ys] == LINKS[name][3]
    assert all(isinstance(p.array, chainerx.ndarray) for p in link.params())
