"""Exchange of arrays with PyTorch, and gradients of complex matrices beside its own."""

import numpy as np
import pytest
from chainerx_tests.complex_gradients import make, to_numpy

import chainerx
from chainerx import linalg

torch = pytest.importorskip('torch')
pytest.importorskip('ml_dtypes')

DTYPES = [
    *('bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'),
    *('bfloat16', 'float16', 'float32', 'float64', 'complex64', 'complex128'),
]


def _views(x):
    return x, x.T, x[1:, ::2], x[:0], x[0, 1]


@pytest.mark.parametrize('dtype', DTYPES)
def test_exchange(dtype):
    """Memory is shared, in any dtype and layout."""
    x = chainerx.array(np.arange(6).reshape(2, 3) % 2, dtype)
    for mine in _views(x):
        theirs = torch.from_dlpack(mine)
        assert theirs.dtype == getattr(torch, dtype)
        assert theirs.tolist() == mine.tolist()
        assert theirs.numel() == 0 or theirs.data_ptr() == mine.data_ptr + mine.offset
    for theirs in _views(torch.zeros((2, 3), dtype=getattr(torch, dtype))):
        mine = chainerx.from_dlpack(theirs)
        assert mine.dtype.name == dtype
        assert mine.shape == tuple(theirs.shape)
        if mine.size:
            assert theirs.data_ptr() == mine.data_ptr + mine.offset
            mine.fill(1)
            assert theirs.to(torch.bool).all()


def test_versioned_capsules():
    t = torch.ones(2, dtype=torch.complex64)
    assert 'versioned' in repr(t.__dlpack__(max_version=(1, 0)))
    copied = chainerx.from_dlpack(t, copy=True)
    copied.fill(3j)
    assert t.tolist() == [1, 1]
    assert torch.from_dlpack(chainerx.full(2, 1j)).tolist() == [1j, 1j]


@pytest.mark.parametrize(
    'tensor', [torch.ones(2, requires_grad=True), torch.full((2,), 1j).conj()], ids=['grad', 'conj']
)
def test_tensors_that_are_no_plain_memory(tensor):
    with pytest.raises(BufferError):
        chainerx.from_dlpack(tensor)


# ---------------------------------------------------------------- gradients


def _h(x):
    return chainerx.conj(x.swapaxes(-1, -2))


def _product(u, s, vh):
    """Of factors that have phases, something that has none."""
    return (u * s**3) @ vh


SQUARE, TALL, WIDE = (make(*s) + 2 * np.eye(*s) for s in ((3, 3), (4, 2), (2, 3)))
STACK = make(2, 2, 2) + 2 * np.eye(2)
T = torch.linalg
#: A function, that of PyTorch, and arrays.
CASES = {
    'matmul': (chainerx.matmul, torch.matmul, STACK, make(2, 3, seed=1)),
    'vecdot': (chainerx.vecdot, T.vecdot, SQUARE, make(3, 3, seed=1)),
    'solve': (linalg.solve, T.solve, SQUARE, make(3, 2, seed=1)),
    'inv': (linalg.inv, T.inv, STACK),
    'det': (linalg.det, T.det, SQUARE),
    'sign': (lambda a: linalg.slogdet(a)[0], lambda a: T.slogdet(a)[0], SQUARE),
    'logdet': (lambda a: linalg.slogdet(a)[1], lambda a: T.slogdet(a)[1], STACK),
    'cholesky': (lambda a: linalg.cholesky(a @ _h(a)), lambda a: T.cholesky(a @ a.mH), SQUARE),
    'eigvalsh': (lambda a: linalg.eigvalsh(a + _h(a)), lambda a: T.eigvalsh(a + a.mH), SQUARE),
    'eigenvectors': (
        lambda a: chainerx.absolute(linalg.eigh(a + _h(a))[1]) ** 2,
        lambda a: T.eigh(a + a.mH)[1].abs() ** 2,
        SQUARE,
    ),
    'svd': (
        lambda a: _product(*linalg.svd(a, False)),
        lambda a: _product(*T.svd(a, full_matrices=False)),
        TALL,
    ),
    'left': (
        lambda a: chainerx.absolute(linalg.svd(a, False)[0]) ** 2,
        lambda a: T.svd(a, full_matrices=False)[0].abs() ** 2,
        TALL,
    ),
    'right': (
        lambda a: chainerx.absolute(linalg.svd(a, False)[2]) ** 2,
        lambda a: T.svd(a, full_matrices=False)[2].abs() ** 2,
        WIDE,
    ),
    'svdvals': (linalg.svdvals, T.svdvals, WIDE),
    'pinv_tall': (linalg.pinv, T.pinv, TALL),
    'pinv_wide': (linalg.pinv, T.pinv, WIDE),
    'q': (lambda a: linalg.qr(a)[0], lambda a: T.qr(a)[0], TALL),
    'r': (lambda a: linalg.qr(a)[1], lambda a: T.qr(a)[1], WIDE),
    'nuclear': (lambda a: linalg.norm(a, 'nuc'), lambda a: T.matrix_norm(a, 'nuc'), TALL),
    'spectral': (lambda a: linalg.norm(a, 2), lambda a: T.matrix_norm(a, 2), SQUARE),
    'power': (lambda a: linalg.matrix_power(a, -2), lambda a: T.matrix_power(a, -2), SQUARE),
}


def _assert_same(mine, theirs):
    for x, t in zip(mine, theirs, strict=True):
        wanted = t.detach().resolve_conj().numpy()
        np.testing.assert_allclose(to_numpy(x), wanted, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize('name', CASES)
def test_gradients(name):
    """Both have the same convention, so gradients of both orders are the same numbers."""
    mine, theirs, *arrays = CASES[name]
    xs = [chainerx.array(a).require_grad() for a in arrays]
    ts = [torch.tensor(a, requires_grad=True) for a in arrays]
    y, t = mine(*xs), theirs(*ts)
    _assert_same([y], [t])
    gy = make(*y.shape, seed=9)
    gy = gy if y.dtype.kind == 'c' else gy.real
    y.set_grad(chainerx.array(gy))
    chainerx.backward(y, enable_double_backprop=True)
    grads = torch.autograd.grad(t, ts, torch.tensor(gy), create_graph=True)
    firsts = [x.grad for x in xs]
    _assert_same(firsts, grads)
    for x, g in zip(xs, firsts, strict=True):
        x.cleargrad()
        g.set_grad(chainerx.array(make(*g.shape, seed=20)))
    chainerx.backward(firsts)
    seeds = [torch.tensor(make(*a.shape, seed=20)) for a in arrays]
    _assert_same([x.grad for x in xs], torch.autograd.grad(grads, ts, seeds))
