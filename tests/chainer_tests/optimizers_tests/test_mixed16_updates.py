"""Training of mixed16 models."""

import warnings

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L


def _model():
    model = chainer.Sequential(L.Linear(4, 8), F.relu, L.Linear(8, 1))
    for i, param in enumerate(model.params()):
        param.array[...] = np.random.RandomState(i).normal(0, 0.5, param.shape)
    return model


@pytest.mark.parametrize('optimizer', [chainer.optimizers.AdamW, chainer.optimizers.Adam])
def test_training_stays_finite(optimizer):
    with chainer.using_config('dtype', chainer.mixed16):
        model = _model()
        optimizer = optimizer(1e-3).setup(model)
        x = np.random.RandomState(0).normal(size=(16, 4)).astype(np.float16)
        losses = []
        for _ in range(50):
            loss = F.mean(model(x) ** 2)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            losses.append(float(loss))
    assert model[0].W.dtype == np.float16
    assert np.isfinite(losses).all() and losses[-1] < losses[0]


@pytest.mark.parametrize(
    ('dtype', 'flag', 'expected'),
    [
        (chainer.mixed16, None, True),
        (chainer.mixed16, True, True),
        (chainer.mixed16, False, False),
        (np.float16, None, False),
        (np.float16, True, True),
        (np.float32, None, False),
    ],
)
@pytest.mark.parametrize('is_late', [False, True])
def test_who_uses_master_copies(dtype, flag, expected, is_late):
    with chainer.using_config('dtype', dtype):
        model = _model()
        optimizer = chainer.optimizers.SGD()
        if flag is not None and not is_late:
            optimizer.use_fp32_update(flag)
        optimizer.setup(model)
        if flag is not None and is_late:
            optimizer.use_fp32_update(flag)
    assert {p.update_rule._use_fp32_update for p in model.params()} == {expected}


def test_skipped_updates_warn_once():
    model = L.Linear(2, 2)
    optimizer = chainer.optimizers.SGD().setup(model)
    optimizer.loss_scaling()
    before = model.W.array.copy()
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter('always')
        for _ in range(3):
            for param in model.params():
                param.grad = np.full_like(param.array, np.inf)
            optimizer.update()
    assert len(record) == 1
    assert 'Non finite number found in param.grad of /W (iteration: 0, loss_scale: ' in str(
        record[0].message
    )
    assert 'This update is skipped' in str(record[0].message)
    np.testing.assert_array_equal(model.W.array, before)
    assert optimizer.t == 0
