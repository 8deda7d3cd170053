"""Plans with Fourier transforms: their kernels, also those of gradients, repeat with new numbers."""

import numpy as np
import pytest
from helpers.compiled import array, bits

import chainer
import chainer.functions as F
import chainerx
from tests.helpers.devices import IS_CUDA

if not chainerx.is_available() or IS_CUDA:
    pytest.skip('needs complex arrays of ChainerX', allow_module_level=True)


def power(y):
    return (chainerx.real(y) ** 2 + chainerx.imag(y) ** 3).sum()


def filtered(x):
    """Half the frequencies and back: complex numbers stay inside of the plan."""
    return chainerx.fft.irfft(chainerx.fft.rfft(x, n=12)[:, :4], n=9)


#: Functions of a real array of shape (4, 6).
STEPS = {
    'fft': lambda x: power(chainerx.fft.fft(x, norm='ortho')),
    'ifftn': lambda x: power(chainerx.fft.ifftn(x, s=(3, 8), axes=(1, 0))),
    'rfft': lambda x: power(chainerx.fft.rfft(x, axis=0)),
    'rfftn': lambda x: power(chainerx.fft.rfftn(x)),
    'hfft': lambda x: power(chainerx.fft.hfft(x)),
    'irfftn': lambda x: power(chainerx.fft.irfftn(x, axes=(1, 0))),
    'ihfft': lambda x: power(chainerx.fft.ihfft(x, n=7)),
    'filtered': lambda x: power(filtered(x)),
    'shifted': lambda x: power(chainerx.fft.ifftshift(x) * chainerx.fft.fftfreq(6)),
}


def _numbers(seed):
    return np.random.RandomState(seed).uniform(-1, 1, (4, 6)).astype('f')


@pytest.mark.parametrize('name', STEPS)
def test_plans_of_gradients(name):
    def step(x):
        v = x.as_grad_stopped().require_grad()
        loss = STEPS[name](v)
        (gx,) = chainerx.grad([loss], [v])
        return loss.as_grad_stopped(), gx

    compiled = chainer.compile(step)
    for seed in range(5):
        x = array(_numbers(seed))
        for a, b in zip(compiled(x), step(x), strict=True):
            assert bits(a) == bits(b)
    assert compiled.replays > 0, compiled.report()


@pytest.mark.parametrize('function', [F.fft, F.ifft])
def test_plans_of_functions(function):
    def step(x):
        v = chainer.Variable(x)
        real, imag = function((v, v * 0.5))
        loss = F.sum(real**3 + imag**2)
        (gx,) = chainer.grad([loss], [v])
        return loss.array, gx.array

    compiled = chainer.compile(step)
    for seed in range(5):
        x = array(_numbers(seed))
        for a, b in zip(compiled(x), step(x), strict=True):
            assert bits(a) == bits(b)
    assert compiled.replays > 0, compiled.report()
