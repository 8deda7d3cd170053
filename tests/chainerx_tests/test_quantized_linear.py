"""Products with packed integers of all dtypes, shapes, blocks and zero points, against NumPy."""

import itertools

import numpy as np
import pytest

import chainerx
from chainerx import _core

SIZES = [
    (7, 64, 32),
    (50, 33, 16),
    (3, 5, 100),
    (2, 9, 1),
    (65, 130, 3),
    (131, 96, 24),
    (0, 4, 2),
    (4, 0, 2),
]
DTYPES = ['int2', 'uint2', 'int4', 'uint4', 'int8', 'uint8']


def pack(q, bits):
    """Integers of rows in bytes, the first ones in the lowest bits."""
    per_byte = 8 // bits
    q = np.pad(q, ((0, 0), (0, -q.shape[1] % per_byte))).astype(np.uint8) & np.uint8(2**bits - 1)
    parts = [q[:, i::per_byte] << (bits * i) for i in range(per_byte)]
    return np.bitwise_or.reduce(np.array(parts, np.uint8), 0)


class Weight:
    """Integers, scales and zero points, and the numbers that they mean."""

    def __init__(self, n, k, block, dtype, zero):
        random = np.random.RandomState(n + k)
        bits = int(dtype.lstrip('uint'))
        middle = 2 ** (bits - 1)
        low = 0 if dtype[0] == 'u' else -middle
        q = random.randint(low, low + 2 * middle, (n, k))
        blocks = -(-k // block)
        scale = random.uniform(0.1, 1, (n, blocks)).astype('f')
        zeros = {
            None: None,
            'int': random.randint(low, low + 2 * middle, (n, blocks)),
            'float': random.uniform(-1, 1, (n, blocks)).astype('f'),
        }[zero]
        spread = np.full((n, blocks), low + middle) if zeros is None else zeros
        spread, scales = (np.repeat(a, block, 1)[:, :k] for a in (spread, scale))
        self.numbers = (q - spread) * scales.astype('d')
        packed = pack(q, bits)
        packed = packed.view('int8') if dtype == 'int8' else packed
        self.arrays = [None if a is None else chainerx.array(a) for a in (packed, scale, zeros)]
        self.options = {'dtype': dtype, 'block_size': block}


def check(y, x, W, b=0):
    expected = x.astype('d') @ W.T + b
    y = chainerx.to_numpy(y)
    assert y.shape == expected.shape and y.dtype == x.dtype
    tolerance = {'e': 5e-3, 'f': 1e-5, 'd': 1e-13}[x.dtype.char]
    bound = tolerance * (1 + abs(x.astype('d')) @ (abs(W.T) + 2) + abs(expected))
    assert (abs(y - expected) <= bound).all()


@pytest.mark.parametrize('zero', [None, 'int', 'float'])
@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('char', 'efd')
def test_products(dtype, zero, char):
    for (n, k, block), rows in itertools.product(SIZES, [(), (1,), (0,), (2, 1), (3, 5)]):
        weight = Weight(n, k, block, dtype, zero)
        x = np.random.RandomState(0).normal(size=(*rows, k)).astype(char)
        y = chainerx.quantized_linear(chainerx.array(x), *weight.arrays, **weight.options)
        check(y, x, weight.numbers)


def test_padded_rows_bias_and_strides():
    weight = Weight(10, 40, 32, 'int4', None)
    w, scale, _ = (None if a is None else chainerx.to_numpy(a) for a in weight.arrays)
    padded = np.pad(w, ((0, 0), (0, 12)), constant_values=0x77)
    x = np.random.RandomState(0).normal(size=(2, 80)).astype('f')[:, ::2]
    b = np.arange(10, dtype='f')
    xs = [chainerx.array(np.repeat(a, 2, 1))[:, ::2] for a in (x, padded, scale)]
    y = chainerx.quantized_linear(*xs, b=chainerx.array(b))
    check(y, x, weight.numbers, b)


def test_gradients():
    weight = Weight(5, 12, 4, 'uint4', 'int')
    x, b, gy = (
        chainerx.array(np.random.RandomState(i).normal(size=shape))
        for i, shape in enumerate([(2, 3, 12), (5,), (2, 3, 5)])
    )

    def f(xs):
        return (chainerx.quantized_linear(xs[0], *weight.arrays, xs[1], **weight.options),)

    eps = [chainerx.full(a.shape, 1e-4) for a in (x, b)]
    for a in x, b:
        a.require_grad()
    chainerx.check_backward(f, [x, b], [gy], eps, atol=1e-6, rtol=1e-5)
    y = f([x * x, b])[0]
    chainerx.backward(y, enable_double_backprop=True)
    first = 2 * weight.numbers.sum(0)
    gx = x.grad
    expected = chainerx.to_numpy(x.as_grad_stopped()) * first
    np.testing.assert_allclose(chainerx.to_numpy(gx.as_grad_stopped()), expected, rtol=1e-10)
    x.cleargrad()
    chainerx.backward(gx)
    expected = np.broadcast_to(first, x.shape)
    np.testing.assert_allclose(chainerx.to_numpy(x.grad.as_grad_stopped()), expected, rtol=1e-10)


def test_gradients_of_float32_use_the_decoded_weight():
    weight = Weight(50, 33, 16, 'int4', 'float')
    x = chainerx.array(np.ones((4, 33), 'f')).require_grad()
    chainerx.backward(chainerx.quantized_linear(x, *weight.arrays, **weight.options).sum())
    expected = np.tile(weight.numbers.sum(0), (4, 1))
    np.testing.assert_allclose(chainerx.to_numpy(x.grad), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize('rows', [1, 9])
def test_number_of_threads_does_not_change_results(rows):
    weight = Weight(517, 256, 32, 'int4', 'int')
    x = chainerx.array(np.random.RandomState(0).normal(size=(rows, 256)).astype('f'))
    before = _core._get_num_threads()
    results = []
    try:
        for n in 1, 2, 3, 4:
            _core._set_num_threads(n)
            y = chainerx.quantized_linear(x, *weight.arrays, **weight.options)
            results.append(chainerx.to_numpy(y).tobytes())
    finally:
        _core._set_num_threads(before)
    assert len(set(results)) == 1
