"""Factorizations on the CUDA backend: by its kernels, by cuSOLVER, and on the host without that.

``test_linalg.py`` runs on the backend, too. They need a GPU, or the emulation that
``python tools/build.py --test`` builds and tests.
"""

import numpy as np
import pytest

import chainerx
from chainerx import linalg
from tests.helpers.cuda_emulation import copy_backend, is_emulated
from tests.helpers.devices import needs_devices
from tests.helpers.programs import run_python

TOLERANCE = {'float32': 2e-4, 'float64': 1e-10}


def _any(*shape):
    return np.random.default_rng(0).uniform(-1, 1, shape)


def _square(*shape):
    return _any(*shape) + np.eye(shape[-1]) * 2 * np.sqrt(shape[-1])


def _positive(*shape):
    a = _square(*shape)
    return a @ a.swapaxes(-1, -2) / shape[-1] + np.diag(np.arange(shape[-1]))


def _steps(a):
    """A view with the same elements that is contiguous in no direction."""
    whole = np.full((*a.shape[:-2], 2 * a.shape[-1], 2 * a.shape[-2]), np.nan, a.dtype)
    whole[..., ::2, ::2] = a.swapaxes(-1, -2)
    return chainerx.array(whole, device='cuda:0')[..., ::2, ::2].swapaxes(-1, -2)


#: How the device gets the matrices.
LAYOUTS = {
    'contiguous': lambda a: chainerx.array(a, device='cuda:0'),
    'steps': _steps,
}


def _get(ys):
    return [chainerx.to_numpy(y) for y in ys]


def _transposed(a):
    return a.swapaxes(-1, -2)


def _gram(rows):
    return rows @ _transposed(rows), np.broadcast_to(
        np.eye(rows.shape[-2]), (*rows.shape[:-1], rows.shape[-2])
    )


# Each gives pairs of an actual and an expected value: from the array and from NumPy's in float64.


def _solve(x, a):
    for columns in 1, 3, 70:
        b = _any(*a.shape[:-1], columns)
        y = linalg.solve(x, chainerx.array(b.astype(x.dtype), device='cuda:0'))
        yield chainerx.to_numpy(y), np.linalg.solve(a, b)


def _inv(x, a):
    yield chainerx.to_numpy(linalg.inv(x)), np.linalg.inv(a)


def _determinant(x, a):
    yield from zip(_get(linalg.slogdet(x)), np.linalg.slogdet(a), strict=True)


def _cholesky(x, a):
    upper = chainerx.array(np.triu(np.full(a.shape, 7, x.dtype), 1), device='cuda:0')
    yield chainerx.to_numpy(linalg.cholesky(x + upper)), np.linalg.cholesky(a)  # reads the lower


def _qr(x, a):
    for mode in 'reduced', 'complete', 'r', 'raw':
        expected = np.linalg.qr(a, mode)
        ys = _get(linalg.qr(x, mode)) if mode != 'r' else [chainerx.to_numpy(linalg.qr(x, mode))]
        yield from zip(ys, [expected] if mode == 'r' else expected, strict=True)


def _svd(x, a):
    values = np.linalg.svd(a, compute_uv=False)
    yield chainerx.to_numpy(linalg.svd(x, compute_uv=False)), values
    for full_matrices in True, False:
        u, s, vt = _get(linalg.svd(x, full_matrices))
        k = s.shape[-1]
        yield s, values
        yield _gram(_transposed(u))
        yield _gram(vt)
        yield (u[..., :k] * s[..., None, :]) @ vt[..., :k, :], a
    yield chainerx.to_numpy(linalg.pinv(x)), np.linalg.pinv(a)


def _eigh(x, a):
    for triangle, keep in ('L', chainerx.tril), ('U', chainerx.triu):
        values = np.linalg.eigvalsh(a)
        half = keep(x)
        yield chainerx.to_numpy(linalg.eigvalsh(half, triangle)), values
        w, v = _get(linalg.eigh(half, triangle))
        yield w, values
        yield _gram(_transposed(v))
        yield (v * w[..., None, :]) @ _transposed(v), a


#: Sides around the limits of the kernels for small matrices and of cuSOLVER's functions for batches.
SQUARES = [
    (1, 1),
    (3, 3),
    (32, 32),
    (33, 33),
    (2, 32, 32),
    (3, 33, 33),
    (2, 2, 5, 5),
    (2, 129, 129),
]
RECTANGLES = [
    (40, 3),
    (3, 40),
    (40, 33),
    (5, 6, 4),
    (5, 4, 6),
    (2, 35, 34),
    (2, 34, 35),
    (2, 131, 4),
]

CASES = [
    *[(f, _square, shape) for f in (_solve, _inv, _determinant) for shape in SQUARES],
    *[(f, _positive, shape) for f in (_cholesky, _eigh) for shape in SQUARES],
    *[(f, _square, (3, 3)) for f in (_qr, _svd)],
    *[(f, _any, shape) for f in (_qr, _svd) for shape in RECTANGLES],
]


@pytest.mark.parametrize('dtype', TOLERANCE)
@pytest.mark.parametrize('layout', LAYOUTS)
@pytest.mark.parametrize('f, make, shape', CASES, ids=lambda v: getattr(v, '__name__', str(v)))
def test_values(f, make, shape, layout, dtype):
    a = make(*shape).astype(dtype)
    x = LAYOUTS[layout](a)
    for actual, expected in f(x, a.astype('float64')):
        assert actual.dtype == dtype
        assert actual.shape == expected.shape
        scale = max(abs(expected).max(), 1)
        np.testing.assert_allclose(actual / scale, expected / scale, rtol=0, atol=TOLERANCE[dtype])
    np.testing.assert_array_equal(chainerx.to_numpy(x), a)  # unchanged


SINGULAR = 'Singular matrix'
ERRORS = {
    'solve': (lambda a: linalg.solve(a, a), 0, SINGULAR),
    'inv': (linalg.inv, 0, SINGULAR),
    'cholesky': (linalg.cholesky, -1, 'not positive definite'),
    'svd': (linalg.svd, np.nan, 'not finite'),
    'svd_values': (lambda a: linalg.svd(a, compute_uv=False), np.inf, 'not finite'),
    'eigh': (linalg.eigh, np.inf, 'not finite'),
    'eigvalsh': (linalg.eigvalsh, np.nan, 'not finite'),
}


@pytest.mark.parametrize(
    'shape', [(3, 3), (40, 40), (4, 3, 3), (3, 40, 40), (2, 130, 130)], ids=str
)
@pytest.mark.parametrize('name', ERRORS)
def test_errors(name, shape):
    f, value, message = ERRORS[name]
    a = _positive(*shape)
    a[(-1,) * (len(shape) - 2)][...] = np.diag(np.full(shape[-1], value))
    x = chainerx.array(a, 'float32', device='cuda:0')
    with pytest.raises(chainerx.ChainerxError, match=f'^{name.partition("_")[0][:3]}.*{message}'):
        f(x)
    x.device.synchronize()  # nothing is left to raise
    if value == 0:
        sign, logarithm = (chainerx.to_numpy(y).ravel()[-1] for y in linalg.slogdet(x))
        assert (sign, logarithm) == (0, -np.inf)


@pytest.mark.parametrize('n', [5, 40, 140])
def test_in_streams(n):
    a = _positive(n, n)
    results = []
    for _ in range(2):
        with chainerx.Stream('cuda:0'):
            x = chainerx.array(a, device='cuda:0') + 1 - 1
            results.append([linalg.inv(x), linalg.eigvalsh(x), linalg.qr(x, 'r')])
    chainerx.get_device('cuda:0').synchronize()
    for inverse, values, r in results:
        np.testing.assert_allclose(chainerx.to_numpy(inverse), np.linalg.inv(a), atol=1e-10)
        np.testing.assert_allclose(chainerx.to_numpy(values), np.linalg.eigvalsh(a), rtol=1e-10)
        np.testing.assert_allclose(chainerx.to_numpy(r), np.linalg.qr(a, 'r'), atol=1e-10)


@needs_devices(2)
def test_other_devices():
    x = chainerx.array(_positive(40, 40), device='cuda:1')
    np.testing.assert_allclose(chainerx.to_numpy(linalg.inv(x).dot(x)), np.eye(40), atol=1e-10)


def test_without_the_library():
    """The same results on the host."""
    program = f"""
        import sys
        import pytest
        sys.exit(pytest.main(['-q', '-x', '-k', 'steps-float32 or test_errors', {__file__!r}]))
    """
    assert ' passed' in run_python(program, CHAINERX_CUDA_LIBRARIES='never').stdout


@pytest.mark.skipif(not is_emulated(), reason='cannot hide the library')
@pytest.mark.parametrize(
    'f, n, needs', [('inv', 32, False), ('inv', 33, True), ('eigvalsh', 2, True)]
)
def test_missing_library(tmp_path, f, n, needs):
    program = f"""
        import chainerx
        print(float(chainerx.linalg.{f}(chainerx.eye({n}, device='cuda:0')).sum()))
    """
    path = copy_backend(tmp_path)
    assert run_python(program, CHAINERX_PATH=path).stdout == f'{n}.0\n'
    result = run_python(program, needs, CHAINERX_PATH=path, CHAINERX_CUDA_LIBRARIES='always')
    if needs:
        assert (
            'cuSOLVER cannot be loaded: "pip install nvidia-cusolver" installs it' in result.stderr
        )
