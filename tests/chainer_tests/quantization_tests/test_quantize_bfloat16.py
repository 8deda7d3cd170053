"""Models in bfloat16, which are quantized as those of the same numbers in float32."""

import numpy as np
import pytest

import chainer
from chainer import functions as F, links as L, quantization

ml_dtypes = pytest.importorskip('ml_dtypes')
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


@pytest.fixture
def models():
    """A model in bfloat16, and one of the same numbers in float32."""
    model = chainer.Sequential(L.Linear(3, 8), F.relu, L.Linear(8, 2))
    half = model.copy('init')
    for param, other in zip(half.params(), model.params()):
        param.array = param.array.astype(BFLOAT16)
        other.array = param.array.astype('f')
    return half, model


X = np.random.RandomState(0).rand(6, 3).astype(BFLOAT16)


@pytest.mark.parametrize(
    'observer',
    [
        quantization.MinMax,
        quantization.MovingAverageMinMax,
        quantization.Percentile,
        quantization.Entropy,
    ],
)
def test_calibrate(models, observer):
    half, single = [
        quantization.calibrate(model, [x], observer) for model, x in zip(models, [X, X.astype('f')])
    ]
    assert half.keys() == single.keys() == {'/0', '/1'}
    assert half['/0'].inputs == single['/0'].inputs
    np.testing.assert_allclose(half['/1'].inputs[0], single['/1'].inputs[0], 2e-2)


@pytest.mark.parametrize('bits', [8, 4])
def test_weights(models, bits):
    half, single = models
    quantized = quantization.quantize(half, bits=bits)
    for link, other in ((quantized[i], single[i]) for i in (0, 2)):
        assert link.W.dtype == link.W_scale.dtype == BFLOAT16
        most = 2 ** (bits - 1) - 1
        scale = abs(other.W.array).max(axis=1) / most
        np.testing.assert_allclose(link.W_scale.astype('f').ravel(), scale, 4e-3)
        steps = np.rint(other.W.array / link.W_scale.astype('f').reshape(-1, 1))
        if bits == 8:
            np.testing.assert_array_equal(link.W_quantized, np.clip(steps, -128, 127))
        error = abs(link.W.array.astype('f') - other.W.array)
        assert (error <= 0.52 * scale.reshape(-1, 1) + 4e-3 * abs(other.W.array)).all()


def test_activations_and_training(models):
    half, single = models
    ranges = quantization.calibrate(half, [X])
    quantized = quantization.quantize(half, ranges)
    assert quantized[0].input_0_scale.dtype == BFLOAT16
    trained = quantization.prepare(half, ranges)
    expected = single(X.astype('f')).array
    for model in quantized, trained, quantization.convert(trained):
        with chainer.using_config('train', False):
            y = model(X)
        assert y.dtype == BFLOAT16
        np.testing.assert_allclose(y.array.astype('f'), expected, atol=0.05)
