"""Linear functions with a bias on the CUDA backend, by cuBLASLt and without.

They need a GPU, or the emulation that ``python tools/build.py --test`` builds and tests.
"""

import os
from pathlib import Path

import numpy as np
import pytest

import chainer
import chainerx
from tests.helpers.cuda_emulation import copy_backend, count_launches, is_emulated
from tests.helpers.devices import needs_devices
from tests.helpers.programs import run_python

TOLERANCE = {'float16': 2e-3, 'bfloat16': 1e-2, 'float32': 1e-5, 'float64': 1e-12}
needs_emulation = pytest.mark.skipif(not is_emulated(), reason='needs the stand-in for cuBLASLt')


def _same(x, w, b):
    return x, w, b


def _broadcast_bias(x, w, b):
    module = np if isinstance(b, np.ndarray) else chainerx
    return x, w, module.broadcast_to(b, (5,))


#: Shapes of x, W and b, and what makes views of them.
CASES = {
    'plain': ((3, 4), (5, 4), 5, _same),
    'large': ((33, 70), (65, 70), 65, _same),
    'one_row': ((1, 7), (5, 7), 5, _same),
    'one_unit': ((6, 7), (1, 7), 1, _same),
    'one_input': ((6, 1), (5, 1), 5, _same),
    'one': ((1, 1), (1, 1), 1, _same),
    'x_transposed': ((4, 3), (5, 4), 5, lambda x, w, b: (x.T, w, b)),
    'w_transposed': ((3, 4), (4, 5), 5, lambda x, w, b: (x, w.T, b)),
    'both_transposed': ((4, 3), (4, 5), 5, lambda x, w, b: (x.T, w.T, b)),
    'parts': ((9, 9), (9, 9), 9, lambda x, w, b: (x[1:7, 2:9], w[1:6, 1:8], b[3:8])),
    'steps': ((6, 8), (10, 8), 10, lambda x, w, b: (x[::2, ::2], w[::2, ::2], b[::2])),
    'backwards': ((3, 4), (5, 4), 5, lambda x, w, b: (x[::-1], w[:, ::-1], b[::-1])),
    'broadcast_bias': ((3, 4), (5, 4), 1, _broadcast_bias),
    'no_rows': ((0, 4), (5, 4), 5, _same),
    'no_units': ((3, 4), (0, 4), 0, _same),
    'no_inputs': ((3, 0), (5, 0), 5, _same),
}  # fmt: skip


def _values(*shapes, seed=0):
    """Random numbers that all dtypes have."""
    rng = np.random.default_rng(seed)
    return [rng.integers(-16, 17, shape) / 8 for shape in shapes]


def _send(a, dtype, device='cuda:0'):
    return chainerx.array(a, 'float64', device=device).astype(dtype)


def _check(actual, expected, dtype):
    assert actual.dtype == dtype and actual.shape == expected.shape
    tolerance = TOLERANCE[dtype]
    actual = chainerx.to_numpy(actual.astype('float64'))
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize('dtype', TOLERANCE)
@pytest.mark.parametrize('case', CASES)
def test_values(case, dtype):
    *shapes, view = CASES[case]
    arrays = _values(*shapes)
    x, w, b = view(*arrays)
    actual = chainerx.linear(*view(*(_send(a, dtype) for a in arrays)))
    _check(actual, x @ w.T + b, dtype)


@pytest.mark.parametrize('dtypes', [('float16', 'float32', 'float64'), ('float64', 'float16', 'bfloat16'),
                                    ('float32', 'float32', 'int32')])  # fmt: skip
def test_mixed_dtypes(dtypes):
    x, w, b = _values((3, 4), (5, 4), 5)
    b = np.trunc(b)
    actual = chainerx.linear(*(_send(a, dtype) for a, dtype in zip((x, w, b), dtypes)))
    _check(actual, x @ w.T + b, actual.dtype.name)


def test_integers():
    x = chainerx.array([[1, 2], [3, 4]], 'int32', device='cuda:0')
    assert chainerx.linear(x, x, x[0]).tolist() == [[6, 13], [12, 27]]


def test_leading_axes_and_gradients():
    x, w, b = (_send(a, 'float64') for a in _values((2, 3, 4), (5, 4), 5))
    for a in (x, w, b):
        a.require_grad()
    chainerx.linear(x, w, b, n_batch_axes=2).sum().backward()
    _check(b.grad, np.full(5, 6.0), 'float64')
    _check(x.grad, np.broadcast_to(chainerx.to_numpy(w).sum(0), (2, 3, 4)), 'float64')
    _check(w.grad, np.broadcast_to(chainerx.to_numpy(x).sum((0, 1)), (5, 4)), 'float64')


@needs_devices(2)
def test_other_device():
    x, w, b = _values((3, 4), (5, 4), 5)
    for device in ('cuda:1', 'cuda:0', 'cuda:1'):
        y = chainerx.linear(*(_send(a, 'float32', device) for a in (x, w, b)))
        _check(y, x @ w.T + b, 'float32')


def test_in_a_stream():
    stream = chainerx.Stream('cuda:0')
    with stream:
        x = chainerx.ones((20, 30), 'float32', device='cuda:0') + 1
        y = chainerx.linear(x, x, x[:, 0])
        np.testing.assert_array_equal(chainerx.to_numpy(y), np.full((20, 20), 122, 'float32'))


def test_more_shapes_than_are_remembered():
    a = chainerx.ones((65, 65), 'float32', device='cuda:0')
    for units in range(1, 66):
        for inputs in range(1, 66):
            y = chainerx.linear(a[:2, :inputs], a[:units, :inputs], a[0, :units])
        assert y.tolist() == [[66.0] * units] * 2


@pytest.mark.parametrize('which', range(3))
def test_alignments(which):
    """Arrays of one shape may begin anywhere."""
    arrays = _values((3, 4), (5, 4), 5)
    x, w, b = arrays
    given = [_send(a, 'float32') for a in arrays]
    a = arrays[which]
    for offset in (64, 1, 2, 4, 0, 3):
        memory = np.zeros(a.size + offset)
        memory[offset:] = a.ravel()
        given[which] = _send(memory, 'float32')[offset:].reshape(a.shape)
        _check(chainerx.linear(*given), x @ w.T + b, 'float32')


def test_recorded():
    """A plan has the products with the arrays of each call, in one graph."""

    def step(x, w, b):
        h = chainer.functions.linear(x, w, b)
        return chainer.functions.linear(h + 1, w, b)

    compiled = chainer.compile(step)
    for seed in range(8):
        arrays = _values((6, 5), (5, 5), 5, seed=seed)
        x, w, b = arrays
        y = compiled(*(_send(a, 'float64') for a in arrays))
        _check(y.array, (x @ w.T + b + 1) @ w.T + b, 'float64')
    (plan,) = (recorded.plan for recorded in compiled._plans.in_order)
    assert plan.recorded_count == 1 and plan.submitted_count > 0


@needs_emulation
class TestLaunches:
    @pytest.mark.parametrize('dtype', TOLERANCE)
    def test_one(self, dtype):
        x, w, b = (_send(a, dtype) for a in _values((3, 4), (5, 4), 5))
        chainerx.linear(x, w, b)  # at first, it compares results
        assert count_launches(lambda: chainerx.linear(x, w, b)) == 1

    def test_bias_with_steps(self):
        x, w, b = (_send(a, 'float32') for a in _values((3, 4), (5, 4), 10))
        chainerx.linear(x, w, b[::2])
        assert count_launches(lambda: chainerx.linear(x, w, b[::2])) == 2

    def test_steps_of_gated_units(self):
        """The cell and a product with its bias."""
        h, w, b = (_send(a, 'float32') for a in _values((1, 3, 4), (4, 4), 4))
        xs = [h[0]] * 7

        def run(steps):
            chainerx.n_step_gru(1, h, [[w] * 6], [[b] * 6], xs[:steps])

        with chainer.using_config('use_cudnn', 'never'):
            run(7)
            more = count_launches(lambda: run(7)) - count_launches(lambda: run(4))
        assert more == 3 * 2


CAPTURE = """
    import ctypes
    import os
    import chainerx
    from tests.helpers.cuda_emulation import count_launches

    cuda = ctypes.CDLL(os.path.join(os.environ['CHAINERX_PATH'], 'libcuda_emulation.so'))
    stream = chainerx.Stream('cuda:0')
    x = chainerx.full((3, 4), 2, 'float32', device='cuda:0')
    w = chainerx.ones((5, 4), 'float32', device='cuda:0')
    b = chainerx.arange(5, dtype='float32', device='cuda:0')
    y = chainerx.zeros((3, 5), 'float32', device='cuda:0')
    if {is_known}:
        chainerx.linear(x, w, b)
    x.device.synchronize()

    graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cudaStreamBeginCapture(ctypes.c_void_p(stream.ptr), 2) == 0
    with stream:
        print(count_launches(lambda: y.__iadd__(chainerx.linear(x, w, b))))
    assert cuda.cudaStreamEndCapture(ctypes.c_void_p(stream.ptr), ctypes.byref(graph)) == 0
    assert cuda.cudaGraphInstantiate(ctypes.byref(executable), graph, ctypes.c_ulonglong(0)) == 0
    for i in range(3):
        assert y.tolist() == [[i * 8, i * 9, i * 10, i * 11, i * 12]] * 3
        assert cuda.cudaGraphLaunch(executable, ctypes.c_void_p(stream.ptr)) == 0
        stream.synchronize()
"""


@needs_emulation
@pytest.mark.parametrize('is_known, launches', [(True, 2), (False, 3)])
def test_in_a_stream_that_another_library_records(is_known, launches):
    """There it waits for nothing, so it does not find out what the library gives."""
    assert run_python(CAPTURE.format(is_known=is_known)).stdout == f'{launches}\n'


@pytest.fixture
def compute_mode():
    yield chainerx.set_compute_mode
    chainerx.set_compute_mode('float32')


@needs_emulation
@pytest.mark.parametrize('mode, lost', [('float32', 2.0**-30), ('tf32', 2.0**-13), ('float16', 2.0**-13),
                                        ('bfloat16', 2.0**-10)])  # fmt: skip
def test_compute_mode(compute_mode, mode, lost):
    compute_mode(mode)
    x = chainerx.array(np.full((4, 4), 1 + lost, 'float32'), device='cuda:0')
    b = chainerx.full(4, 2, 'float32', device='cuda:0')
    y = chainerx.linear(x, chainerx.eye(4, dtype='float32', device='cuda:0'), b)
    assert (chainerx.to_numpy(y) == 3).all()


PROGRAM = """
    import warnings
    import chainer
    import chainerx
    from tests.helpers.cuda_emulation import count_launches

    x = chainerx.full((3, 4), 2, 'float32', device='cuda:0')
    w, b = chainerx.ones((5, 4), 'float32', device='cuda:0'), chainerx.arange(5, device='cuda:0')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        for dtype in ('float32', 'float64'):
            for _ in range(2):
                y = chainerx.linear(x.astype(dtype), w.astype(dtype), b.astype(dtype))
                assert y.tolist() == [[8, 9, 10, 11, 12]] * 3
    b = b.astype('float32')
    print(count_launches(lambda: chainerx.linear(x, w, b)), len(caught))
    for warning in caught:
        assert warning.category is chainer.warnings.PerformanceWarning
        print(warning.message)
"""


@needs_emulation
class TestLibrary:
    def test_use(self):
        assert run_python(PROGRAM).stdout == '1 0\n'
        assert run_python(PROGRAM, CHAINERX_CUDA_LIBRARIES='never').stdout == '2 0\n'

    def test_without_algorithms(self):
        result = run_python(PROGRAM, CHAINERX_CUDA_EMULATION_CUBLASLT='without')
        assert result.stdout == '2 0\n'

    @pytest.mark.parametrize('kind', ['wrong', 'failing'])
    def test_one_that_computes_something_else(self, kind):
        result = run_python(PROGRAM, CHAINERX_CUDA_EMULATION_CUBLASLT=kind)
        count, *messages = result.stdout.splitlines()
        assert count == '2 2'
        for message, dtype in zip(messages, ('float32', 'float64'), strict=True):
            assert message == (
                f'cuBLASLt does not add a bias to products in {dtype} as cuBLAS does; '
                'linear functions do it in two steps'
            )

    def test_missing(self, tmp_path):
        """There is cuBLAS alone."""
        path = copy_backend(tmp_path)
        libraries = tmp_path / 'path' / 'nvidia' / 'cu13' / 'lib'
        libraries.mkdir(parents=True)
        emulation = Path(os.environ['CHAINERX_PATH']).resolve()
        name = 'libcublas.so.13'
        (libraries / name).symlink_to(emulation / 'nvidia' / 'cu13' / 'lib' / name)
        variables = {'CHAINERX_PATH': path, 'CHAINERX_CUDA_LIBRARIES': 'auto'}
        assert run_python(PROGRAM, **variables).stdout == '2 0\n'
        variables['CHAINERX_CUDA_LIBRARIES'] = 'always'
        result = run_python(PROGRAM, status=1, **variables)
        assert 'cuBLASLt cannot be loaded: "pip install nvidia-cublas"' in result.stderr
