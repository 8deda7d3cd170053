"""Matrix products on the CUDA backend, by cuBLAS and without.

They need a GPU, or the emulation that ``python tools/build.py --test`` builds and tests.
"""

import os
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

import chainerx
from tests.helpers.cuda_emulation import copy_backend, is_emulated
from tests.helpers.programs import run_python

TOLERANCE = {'float16': 2e-3, 'float32': 1e-5, 'float64': 1e-12}


def _random(shape, dtype, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


#: Shapes of the factors and what makes views of them.
CASES = {
    'square': ((8, 8), (8, 8), lambda a, b: (a, b)),
    'row': ((1, 7), (7, 5), lambda a, b: (a, b)),
    'column': ((6, 7), (7, 1), lambda a, b: (a, b)),
    'one': ((1, 1), (1, 1), lambda a, b: (a, b)),
    'inner_1': ((6, 1), (1, 5), lambda a, b: (a, b)),
    'transposed_first': ((7, 6), (7, 5), lambda a, b: (a.T, b)),
    'transposed_second': ((6, 7), (5, 7), lambda a, b: (a, b.T)),
    'both_transposed': ((7, 6), (5, 7), lambda a, b: (a.T, b.T)),
    'part': ((9, 9), (9, 9), lambda a, b: (a[1:7, 2:9], b[1:8, 3:8])),
    'steps': ((8, 14), (14, 10), lambda a, b: (a[::2, ::2], b[::2, ::2])),
    'backwards': ((6, 7), (7, 5), lambda a, b: (a[::-1], b[:, ::-1])),
    'stack': ((3, 4, 5), (3, 5, 6), lambda a, b: (a, b)),
    'broadcast': ((3, 4, 5), (5, 6), lambda a, b: (a, b)),
    'broadcast_first': ((1, 4, 5), (3, 5, 6), lambda a, b: (a, b)),
    'two_axes': ((2, 3, 4, 5), (2, 3, 5, 6), lambda a, b: (a, b)),
    'axes_apart': (
        (2, 4, 3, 5),
        (2, 5, 3, 6),
        lambda a, b: (a.transpose(0, 2, 1, 3), b.transpose(0, 2, 1, 3)),
    ),
    'axes_broadcast': ((2, 1, 4, 5), (1, 3, 5, 6), lambda a, b: (a, b)),
}


@pytest.mark.parametrize('dtype', TOLERANCE)
@pytest.mark.parametrize('case', CASES)
def test_products(case, dtype):
    shape_a, shape_b, view = CASES[case]
    a, b = _random(shape_a, dtype, 0), _random(shape_b, dtype, 1)
    x, y = view(chainerx.array(a, device='cuda:0'), chainerx.array(b, device='cuda:0'))
    expected = np.matmul(*(v.astype('float64') for v in view(a, b)))
    actual = chainerx.matmul(x, y)
    assert actual.dtype == dtype
    tolerance = TOLERANCE[dtype]
    np.testing.assert_allclose(
        chainerx.to_numpy(actual), expected, rtol=tolerance, atol=10 * tolerance
    )


@pytest.mark.parametrize(
    'shape_a, shape_b', [((0, 3), (3, 2)), ((2, 0), (0, 3)), ((0, 2, 3), (0, 3, 2))]
)
def test_empty(shape_a, shape_b):
    x, y = (chainerx.ones(s, 'float32', device='cuda:0') for s in (shape_a, shape_b))
    expected = np.matmul(np.ones(shape_a), np.ones(shape_b))
    np.testing.assert_array_equal(chainerx.to_numpy(chainerx.matmul(x, y)), expected)


def test_integers():
    x = chainerx.array([[1, 2], [3, 4]], 'int32', device='cuda:0')
    assert chainerx.dot(x, x).tolist() == [[7, 10], [15, 22]]


def test_bias_is_added():
    x, w, b = (
        chainerx.array(_random(s, 'float32', 0), device='cuda:0') for s in ((3, 4), (5, 4), 5)
    )
    expected = chainerx.to_numpy(x) @ chainerx.to_numpy(w).T + chainerx.to_numpy(b)
    np.testing.assert_allclose(chainerx.to_numpy(chainerx.linear(x, w, b)), expected, atol=1e-5)


def test_in_a_stream():
    stream = chainerx.Stream('cuda:0')
    with stream:
        x = chainerx.ones((20, 30), 'float32', device='cuda:0')
        y = chainerx.dot(x + 1, x.T)
        np.testing.assert_array_equal(chainerx.to_numpy(y), np.full((20, 20), 60, 'float32'))


@pytest.fixture
def compute_mode():
    yield chainerx.set_compute_mode
    chainerx.set_compute_mode('float32')


@pytest.mark.parametrize(
    'mode, kept, lost',
    [('float32', 2.0**-20, 2.0**-40), ('tf32', 2.0**-9, 2.0**-13), ('float16', 2.0**-9, 2.0**-13),
     ('bfloat16', 2.0**-6, 2.0**-10)],
)  # fmt: skip
def test_compute_mode(compute_mode, mode, kept, lost):
    compute_mode(mode)
    assert chainerx.get_compute_mode() == mode
    # Factors that differ from 1 in a bit that the mode keeps, and in one that it rounds away.
    x = chainerx.array(np.full((16, 16), 1 + kept, 'float32'), device='cuda:0')
    one = chainerx.eye(16, dtype='float32', device='cuda:0')
    assert (chainerx.to_numpy(chainerx.dot(x, one)) == np.float32(1 + kept)).all()
    if mode == 'float32' or is_emulated():  # the modes allow a GPU to round
        x = chainerx.array(np.full((16, 16), 1 + lost, 'float32'), device='cuda:0')
        assert (chainerx.to_numpy(chainerx.dot(x, one)) == 1).all()
    # Other dtypes do not follow it.
    x = chainerx.array(np.full((16, 16), 1 + 2.0**-40), device='cuda:0')
    assert (chainerx.to_numpy(chainerx.dot(x, one.astype('float64'))) == 1 + 2.0**-40).all()


def test_unknown_compute_modes():
    with pytest.raises(ValueError, match=r"mode must be 'float32', .* not 'float8'"):
        chainerx.set_compute_mode('float8')
    result = run_python(
        'import chainerx; chainerx.get_compute_mode()', status=1, CHAINERX_COMPUTE_MODE='x'
    )
    assert "the environment variable CHAINERX_COMPUTE_MODE must be 'float32'" in result.stderr


def test_compute_mode_of_the_environment():
    code = 'import chainerx; print(chainerx.get_compute_mode())'
    assert run_python(code, CHAINERX_COMPUTE_MODE='tf32').stdout == 'tf32\n'


PRODUCT = """
    import chainerx
    chainerx.set_compute_mode('bfloat16')
    x = chainerx.full((16, 16), 1 + 2 ** -10, 'float32', device='cuda:0')
    y = chainerx.dot(x, chainerx.eye(16, dtype='float32', device='cuda:0'))
    print('rounded' if float(y[0, 0]) == 1 else 'exact')
"""


class TestLibrary:
    @pytest.mark.skipif(not is_emulated(), reason='a GPU need not round')
    @pytest.mark.parametrize('use, expected', [('never', 'exact'), ('always', 'rounded')])
    def test_use(self, use, expected):
        """Only cuBLAS rounds."""
        assert run_python(PRODUCT, CHAINERX_CUDA_LIBRARIES=use).stdout == expected + '\n'

    def test_unknown_use(self):
        result = run_python(PRODUCT, status=1, CHAINERX_CUDA_LIBRARIES='perhaps')
        assert (
            "CHAINERX_CUDA_LIBRARIES must be 'auto', 'always' or 'never', not 'perhaps'"
            in result.stderr
        )

    @pytest.mark.skipif(not is_emulated(), reason='cannot hide the library')
    def test_missing(self, tmp_path):
        paths = {'CHAINERX_PATH': copy_backend(tmp_path)}
        assert run_python(PRODUCT, CHAINERX_CUDA_LIBRARIES='auto', **paths).stdout == 'exact\n'
        result = run_python(PRODUCT, status=1, CHAINERX_CUDA_LIBRARIES='always', **paths)
        assert 'cuBLAS cannot be loaded: "pip install nvidia-cublas" installs it' in result.stderr
        assert 'libcublas.so.13' in result.stderr

    @pytest.mark.skipif(not is_emulated(), reason='cannot hide the library')
    def test_in_a_folder_of_packages(self, tmp_path):
        path = copy_backend(tmp_path)
        packages = tmp_path / 'packages'
        packages.mkdir()
        (packages / 'nvidia').symlink_to(Path(os.environ['CHAINERX_PATH']).resolve() / 'nvidia')
        code = f'import sys; sys.path.append({str(packages)!r})\n' + dedent(PRODUCT)
        result = run_python(code, CHAINERX_CUDA_LIBRARIES='always', CHAINERX_PATH=path)
        assert result.stdout == 'rounded\n'
