"""Links with ``chainer.config.dtype`` of ``chainer.mixed16`` and ``'mixed_bfloat16'``."""

import numpy as np
import pytest
from helpers.functions import devices

import chainer
from chainer import functions as F, links as L, optimizers

_rng = np.random.RandomState(0)
X = _rng.uniform(-1, 1, (4, 6)).astype('e')
H = _rng.uniform(-1, 1, (4, 3)).astype('e')
IMAGE = _rng.uniform(-1, 1, (2, 4, 6, 6)).astype('e')
T = np.array([0, 1, 2, 1], 'i')
STEPS = [X[:3], X[:2]]
TREE = L.BinaryHierarchicalSoftmax.create_huffman_tree({0: 1, 1: 2, 2: 3})

# name of the link -> arguments of the link, arguments of the call
LINKS = {
    'Linear': ((6, 3), (X,)),
    'Bias': ((1, (6,)), (X,)),
    'Scale': ((1, (6,), True), (X,)),
    'Bilinear': ((6, 6, 2), (X, X)),
    'Convolution1D': ((4, 2, 3), (IMAGE[..., 0],)),
    'Convolution2D': ((4, 2, 3), (IMAGE,)),
    'Convolution3D': ((4, 2, 1), (IMAGE[..., None],)),
    'ConvolutionND': ((2, 4, 2, 3), (IMAGE,)),
    'Deconvolution2D': ((4, 2, 3), (IMAGE,)),
    'DeconvolutionND': ((2, 4, 2, 3), (IMAGE,)),
    'DepthwiseConvolution2D': ((4, 2, 3), (IMAGE,)),
    'DilatedConvolution2D': ((4, 2, 2), (IMAGE,)),
    'LocalConvolution2D': ((4, 2, (6, 6), 3), (IMAGE,)),
    'DeformableConvolution2D': ((4, 2, 3), (IMAGE,)),
    'EmbedID': ((3, 2), (T,)),
    'Highway': ((6,), (X,)),
    'Inception': ((4, 2, 2, 2, 2, 2, 2), (IMAGE,)),
    'InceptionBN': ((4, 2, 2, 2, 2, 2, 'max', 2), (IMAGE,)),
    'MLPConvolution2D': ((4, (3, 2), 3), (IMAGE,)),
    'ChildSumTreeLSTM': ((6, 3), (H, H, X)),
    'NaryTreeLSTM': ((6, 3, 1), (H, H, X)),
    'LSTM': ((6, 3), (X,)),
    'StatelessLSTM': ((6, 3), (H, H, X)),
    'StatefulPeepholeLSTM': ((6, 3), (X,)),
    'StatefulZoneoutLSTM': ((6, 3), (X,)),
    'StatefulGRU': ((6, 3), (X,)),
    'StatelessGRU': ((6, 3), (H, X)),
    'StatefulMGU': ((6, 3), (X,)),
    'StatelessMGU': ((6, 3), (H, X)),
    'NStepLSTM': ((2, 6, 3, 0.0), (None, None, STEPS)),
    'NStepBiLSTM': ((1, 6, 3, 0.0), (None, None, STEPS)),
    'NStepGRU': ((1, 6, 3, 0.0), (None, STEPS)),
    'NStepBiGRU': ((1, 6, 3, 0.0), (None, STEPS)),
    'NStepRNNTanh': ((1, 6, 3, 0.0), (None, STEPS)),
    'NStepBiRNNReLU': ((1, 6, 3, 0.0), (None, STEPS)),
    'SimplifiedDropconnect': ((6, 3), (X,)),
    'Maxout': ((6, 3, 2), (X,)),
    'PReLU': (((6,),), (X,)),
    'Swish': (((6,),), (X,)),
    'BatchNormalization': ((6,), (X,)),
    'BatchRenormalization': ((6,), (X,)),
    'GroupNormalization': ((2, 4), (IMAGE,)),
    'LayerNormalization': ((6,), (X,)),
    'RMSNormalization': ((6,), (X,)),
    'BinaryHierarchicalSoftmax': ((6, TREE), (X, T)),
    'BlackOut': ((6, [1, 2, 3], 2), (X, T)),
    'CRF1d': ((3,), ([H, H[:2]], [T, T[:2]])),
    'NegativeSampling': ((6, [1, 2, 3], 2), (X, T)),
}


DTYPES = [
    chainer.mixed16,
    pytest.param('mixed_bfloat16', marks=pytest.mark.chainerx),  # products need its kernels
]


def _cast(inputs, dtype):
    """The inputs, those of float16 in another dtype."""
    if isinstance(inputs, (tuple, list)):
        return type(inputs)([_cast(x, dtype) for x in inputs])
    return inputs.astype(dtype) if getattr(inputs, 'dtype', None) == np.float16 else inputs


def _flat(ys):
    if isinstance(ys, (tuple, list)):
        return [y for part in ys for y in _flat(part)]
    return [ys]


@pytest.mark.parametrize('dtype', DTYPES, ids=str)
@pytest.mark.parametrize('device', devices())
@pytest.mark.parametrize('name', LINKS)
def test_link(name, device, dtype):
    args, inputs = LINKS[name]
    device = chainer.get_device(device)
    with chainer.using_config('dtype', dtype):
        link = getattr(L, name)(*args)
        link.to_device(device)
        half = chainer.get_dtype()
        inputs = device.send(_cast(inputs, half))
        # The second call has the state of the first.
        ys = [_flat(link(*inputs)) for _ in range(2)]
        link.cleargrads()
        sum([F.sum(y) for y in ys[1]]).backward()
    assert {y.dtype for y in ys[1]} == {half}
    for path, param in link.namedparams():
        # Batch and group normalization keep their parameters in float32.
        normalizes = path.endswith(('gamma', 'beta')) and name.startswith(
            ('Batch', 'InceptionBN', 'Group')
        )
        assert param.dtype == ('f' if normalizes else half), path
        assert param.grad is not None and param.grad.dtype == param.dtype, path


@pytest.mark.parametrize('device', devices())
@pytest.mark.parametrize('make', [optimizers.SGD, optimizers.MomentumSGD, optimizers.Adam])
def test_training(make, device):
    """Updates below the resolution of float16 are kept in the float32 copies."""
    with chainer.using_config('dtype', chainer.mixed16):
        np.random.seed(0)
        model = L.Classifier(
            chainer.Sequential(L.Linear(6, 8), L.BatchNormalization(8), F.relu, L.Linear(8, 3))
        )
        device = chainer.get_device(device)
        model.to_device(device)
        optimizer = make(1e-7).setup(model)
        optimizer.use_fp32_update()
        optimizer.loss_scaling(scale=16.0)
        optimizer.update(model, *device.send((X, T)))
    W = model.predictor[0].W
    assert model.loss.dtype == W.dtype == np.float16
    master = W.update_rule._fp32_param.array
    assert master.dtype == np.float32
    # The step is below the resolution of float16: the parameter itself cannot show it.
    step = device.send(W.array).astype('f') - master
    assert 0 < float(abs(step).max()) < 1e-5
