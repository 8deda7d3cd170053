"""Kernels of cuDNN on the CUDA backend, held against the plain ones, and the choice between them.

They need a GPU, or the emulation that ``python tools/build.py --test`` builds and tests.
"""

import contextlib
import os
import threading
from pathlib import Path

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainerx
from chainer.backends import cuda
from chainer.warnings import PerformanceWarning
from tests.helpers.cudnn_stand_in import TOLERANCE, assert_equal_to_plain_and_native, emulated
from tests.helpers.devices import needs_devices
from tests.helpers.programs import run_python


@pytest.fixture
def workspace_size():
    before = cuda.get_max_workspace_size()
    yield cuda.set_max_workspace_size
    cuda.set_max_workspace_size(before)


def _conv(**options):
    return lambda x, w, b=None: chainerx.conv(x, w, b, **options)


def _transposed(**options):
    return lambda x, w, b=None: chainerx.conv_transpose(x, w, b, **options)


def _batch_norm(**options):
    def run(x, gamma, beta):
        mean, var = (chainerx.full(gamma.shape, v, gamma.dtype, gamma.device) for v in (0.25, 2))
        y = chainerx.batch_norm(x, gamma, beta, mean, var, **options)
        return y, mean, var

    return run


def _fixed_batch_norm(x, gamma, beta, mean, var):
    return chainerx.fixed_batch_norm(x, gamma, beta, mean, var * var + 0.1)


#: The function, the shapes of its inputs, and the functions of cuDNN that it and its gradients call.
CONV = {'ConvolutionForward', 'ConvolutionBackwardData', 'ConvolutionBackwardFilter'}
NORM = {'BatchNormalizationForwardTraining', 'BatchNormalizationBackward'}
POOL = {'PoolingForward', 'PoolingBackward'}
CASES = {
    'conv': (_conv(pad=1), [(2, 3, 5, 6), (4, 3, 3, 3), (4,)], CONV),
    'conv_bias_rows': (_conv(), [(3, 2, 3, 5), (3, 2, 1, 2), (3,)], CONV),
    'conv_bias_one': (_conv(), [(5, 2, 3), (7, 2, 3), (7,)], CONV),
    'conv_no_bias': (_conv(stride=(2, 1), pad=(1, 2)), [(2, 3, 6, 5), (2, 3, 3, 2)], CONV),
    'conv_one_by_one': (_conv(), [(1, 2, 3, 3), (2, 2, 1, 1), (2,)], CONV),
    'conv_groups': (_conv(groups=2, pad=1), [(2, 4, 4, 5), (6, 2, 3, 3)], CONV),
    'conv_depthwise': (_conv(groups=3), [(2, 3, 4, 4), (3, 1, 2, 2)], CONV),
    'conv_dilate': (_conv(dilate=2, pad=2), [(1, 2, 6, 7), (3, 2, 3, 2)], CONV),
    'conv_1d': (_conv(stride=2, pad=1), [(2, 3, 7), (4, 3, 3), (4,)], CONV),
    'conv_3d': (_conv(pad=(0, 1, 1)), [(1, 2, 3, 4, 3), (2, 2, 2, 3, 2), (2,)],
                CONV),
    'conv_rest': (_conv(stride=3), [(1, 2, 8, 7), (2, 2, 2, 3)], CONV),
    'conv_4d': (_conv(), [(1, 2, 2, 3, 2, 3), (2, 2, 2, 2, 1, 2)], set()),
    'conv_cover_all': (_conv(stride=2, cover_all=True), [(1, 2, 6), (3, 2, 3)], set()),
    'deconv': (_transposed(stride=2), [(2, 3, 3, 4), (3, 2, 2, 3), (2,)], CONV),
    'deconv_outsize': (_transposed(stride=2, outsize=(6, 8), groups=2),
                       [(1, 4, 3, 4), (4, 1, 1, 1)], CONV),
    'batch_norm': (_batch_norm(decay=0.8), [(4, 3, 2, 2), (3,), (3,)], NORM),
    'batch_norm_rows': (_batch_norm(), [(5, 3), (3,), (3,)], NORM),
    'batch_norm_axes': (_batch_norm(axis=(0, 1)), [(3, 2, 4), (4,), (4,)], NORM),
    'batch_norm_one': (_batch_norm(), [(1, 3), (3,), (3,)], set()),
    'fixed_batch_norm': (_fixed_batch_norm, [(2, 3, 2, 2), (3,), (3,), (3,), (3,)],
                         {'BatchNormalizationForwardInference'}),
    'average_pool': (lambda x: chainerx.average_pool(x, (3, 2), 2, 1), [(2, 3, 5, 6)], POOL),
    'average_pool_zero': (lambda x: chainerx.average_pool(x, 3, 2, 1, 'zero'), [(2, 3, 5, 6)],
                          POOL),
    'average_pool_1d': (lambda x: chainerx.average_pool(x, 2), [(2, 3, 7)], POOL),
    'average_pool_3d': (lambda x: chainerx.average_pool(x, 2), [(1, 2, 4, 2, 5)], POOL),
    'average_pool_in_padding': (lambda x: chainerx.average_pool(x, 2, 1, 2), [(1, 1, 3, 3)],
                                set()),
}  # fmt: skip


def _run(function, shapes, dtype, device):
    """Outputs and gradients as NumPy arrays."""
    random = np.random.default_rng(0)
    arrays = [random.uniform(-1, 1, shape).astype(dtype) for shape in shapes]
    xs = [chainerx.array(a, device=device).require_grad() for a in arrays]
    ys = function(*xs)
    ys = ys if isinstance(ys, tuple) else (ys,)
    y = ys[0]
    weights = chainerx.array(random.uniform(-1, 1, y.shape).astype(dtype), device=device)
    grads = chainerx.grad([(y * weights).sum()], xs)
    return [chainerx.to_numpy(a.as_grad_stopped()) for a in (*ys, *grads)]


@pytest.mark.parametrize('dtype', TOLERANCE)
@pytest.mark.parametrize('case', CASES)
def test_equal_to_the_plain_kernels(case, dtype):
    function, shapes, _ = CASES[case]
    assert_equal_to_plain_and_native(lambda device: _run(function, shapes, dtype, device), dtype)


@emulated
@pytest.mark.parametrize('case', CASES)
def test_calls(case, stand_in):
    function, shapes, expected = CASES[case]
    _run(function, shapes, 'float32', 'cuda:0')
    assert {name for name in stand_in.calls() if name in {*CONV, *NORM, *POOL,
            'BatchNormalizationForwardInference'}} == expected  # fmt: skip
    with chainer.using_config('use_cudnn', 'never'):
        _run(function, shapes, 'float32', 'cuda:0')
    assert stand_in.calls() == {}


@emulated
def test_integers(stand_in):
    x = chainerx.ones((1, 1, 3, 3), 'int32', device='cuda:0')
    assert chainerx.conv(x, x).tolist() == [[[[9]]]]
    assert stand_in.calls() == {}


@emulated
@pytest.mark.parametrize(
    'shape_x, shape_w', [((0, 2, 3, 3), (2, 2, 2, 2)), ((2, 0, 3, 3), (2, 0, 2, 2))]
)
def test_empty(shape_x, shape_w, stand_in):
    x, w = (chainerx.ones(s, 'float32', device='cuda:0') for s in (shape_x, shape_w))
    y = chainerx.conv(x, w)
    assert y.shape == (shape_x[0], 2, 2, 2) and float(abs(y).sum()) == 0
    assert stand_in.calls() == {}


def _convolve(length, dtype='float32'):
    """Convolutions of this length, each of which is new to the caches, and their gradients."""
    return _run(_conv(), [(1, 2, length, 2), (2, 2, 1, 1)], dtype, 'cuda:0')


@emulated
class TestEngines:
    """The stand-in has engines with these numbers, from the fastest by its own account.

    7 makes no plans, and 6 compiles. 5 has float16 as factors and 4 TF32. 2 takes 64 MiB, the bits
    of 1 differ each time, and 0 is there if the others do not fit. When measured, the last is the
    fastest.
    """

    @pytest.mark.parametrize(
        'length, settings, size, engine',
        [
            (101, {}, 2**23, 1),
            (102, {'cudnn_deterministic': True}, 2**23, 0),
            (103, {}, 2**26, 2),
            (104, {}, 0, 0),
            (105, {'autotune': True}, 2**23, 0),
            (106, {'autotune': True, 'cudnn_deterministic': True}, 2**26, 0),
        ],
    )
    def test_choice(self, length, settings, size, engine, stand_in, workspace_size):
        workspace_size(size)
        before = {name: getattr(chainer.config, name) for name in settings}
        try:
            for name, value in settings.items():
                setattr(chainer.config, name, value)
            first = _convolve(length)
            calls = stand_in.calls()
            again = _convolve(length)
        finally:
            for name, value in before.items():
                setattr(chainer.config, name, value)
        memory = {0: 0, 1: 2**16, 2: 2**26}[engine]
        for name in CONV:
            assert 'Heuristics' + name in calls
            assert calls[name] == {'engine': engine, 'workspace': memory}
        # The second time nothing is asked or measured.
        assert not [name for name in stand_in.calls() if name.startswith('Heuristics')]
        for a, b in zip(first, again):
            np.testing.assert_array_equal(a, b)

    def test_memory_that_is_not_free(self, stand_in):
        device = chainerx.get_device('cuda:0')
        device.free_unused_blocks()
        device.set_memory_limit(device.memory_statistics()['used'] + 2**24)
        try:
            _convolve(113)
        finally:
            device.set_memory_limit(None)
        assert stand_in.calls()['ConvolutionForward']['workspace'] == 2**16

    def test_settings_are_those_of_the_thread(self, stand_in):
        def run():
            chainer.config.use_cudnn = 'never'
            _convolve(107)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        assert stand_in.calls() == {}
        _convolve(107)
        assert 'ConvolutionForward' in stand_in.calls()

    @pytest.mark.parametrize(
        'dtype, mode, engine',
        [
            ('float32', 'float32', 2),
            ('float32', 'tf32', 4),
            ('float32', 'bfloat16', 4),
            ('float32', 'float16', 5),
            ('float16', 'float32', 5),
            ('float64', 'tf32', 5),
        ],
    )
    def test_compute_mode(self, dtype, mode, engine, stand_in):
        chainerx.set_compute_mode(mode)
        try:
            _convolve(108, dtype)
            calls = stand_in.calls()
        finally:
            chainerx.set_compute_mode('float32')
        for name in CONV:
            assert calls[name]['engine'] == engine

    @pytest.mark.parametrize('dtype', TOLERANCE)
    def test_addresses_of_any_alignment(self, dtype, stand_in):
        """The stand-in refuses those that are less aligned than their descriptors say."""
        x = chainerx.arange(19, dtype=dtype, device='cuda:0')
        w = chainerx.ones((1, 1, 3, 3), dtype, device='cuda:0')
        for start in 0, 1, 2, 0:
            y = chainerx.conv(x[start : start + 16].reshape(1, 1, 4, 4), w)
            assert y.tolist() == [[[[9 * (5 + start + i + 4 * j) for i in (0, 1)] for j in (0, 1)]]]
        assert 'ConvolutionForward' in stand_in.calls()

    def test_recorded_as_a_graph(self, stand_in):
        w = chainerx.ones((2, 2, 1, 1), 'float32', device='cuda:0')

        def convolve_thrice(x):
            return chainerx.conv(chainerx.conv(chainerx.conv(x, w), w), w)

        compiled = chainer.compile(convolve_thrice)
        for value in range(6):
            stand_in.calls()
            x = chainerx.full((1, 2, 3, 115), value, 'float32', device='cuda:0')
            np.testing.assert_array_equal(chainerx.to_numpy(compiled(x)), 8 * value)
        assert 'ConvolutionForward' not in stand_in.calls()

    def test_streams_take_turns(self, stand_in):
        def convolve(factor):
            x = chainerx.ones((1, 1, 3, 3), 'float32', device='cuda:0')
            return float(chainerx.conv(x * factor, x))

        stream = chainerx.Stream('cuda:0')
        for _ in range(2):
            with stream:
                assert convolve(2) == 18
            assert convolve(3) == 27
        assert 'ConvolutionForward' in stand_in.calls()


def test_compute_mode_rounds():
    def product(mode, value):
        chainerx.set_compute_mode(mode)
        try:
            x = chainerx.full((1, 8, 4, 4), value, 'float32', device='cuda:0')
            return float(chainerx.conv(x, chainerx.ones_like(x))[0, 0, 0, 0]) / 128
        finally:
            chainerx.set_compute_mode('float32')

    assert product('float32', 1 + 2**-13) == pytest.approx(1 + 2**-13, abs=1e-6)
    assert product('tf32', 1 + 2**-9) == pytest.approx(1 + 2**-9, abs=1e-6)
    if 'cuda_emulation' in os.environ.get('CHAINERX_PATH', ''):  # a GPU need not round
        assert product('tf32', 1 + 2**-13) == 1


@emulated
@pytest.mark.parametrize('fast, mode', [(False, 1), (True, 2)])
def test_fast_batch_normalization(fast, mode, stand_in):
    function, shapes, _ = CASES['batch_norm']
    with chainer.using_config('cudnn_fast_batch_normalization', fast):
        _run(function, shapes, 'float32', 'cuda:0')
    calls = stand_in.calls()
    assert {calls[name]['mode'] for name in NORM} == {mode}


@emulated
class TestErrors:
    @pytest.mark.parametrize(
        'function, case, op',
        [
            ('HeuristicsConvolutionForward', 'conv_one_by_one', 'conv'),
            ('ConvolutionForward', 'conv', 'conv'),
            ('ConvolutionBackwardData', 'deconv', 'conv_transpose'),
            ('ConvolutionBackwardFilter', 'conv', 'conv'),
            ('BatchNormalizationForwardTraining', 'batch_norm', 'batch_norm'),
            ('BatchNormalizationBackward', 'batch_norm', 'batch_norm'),
            ('BatchNormalizationForwardInference', 'fixed_batch_norm', 'fixed_batch_norm'),
            ('PoolingForward', 'average_pool', 'average_pool'),
            ('PoolingBackward', 'average_pool', 'average_pool'),
            ('CreateTensorDescriptor', 'average_pool', 'average_pool'),
        ],
    )
    def test_errors_name_the_operation(self, function, case, op, stand_in):
        run, shapes, _ = CASES[case]
        is_asked = function.startswith('Heuristics')
        if is_asked:
            shapes = [(1, 2, 109, 3), *shapes[1:]]  # is in no cache
        stand_in.fail(function, 2000)
        where = ' for the end of CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR' if is_asked else ''
        message = f'cuDNN error in {op}: CUDNN_STATUS_BAD_PARAM{where}; of the emulation'
        with pytest.raises(chainerx.DeviceError, match=message):
            _run(run, shapes, 'float32', 'cuda:0')

    @pytest.mark.parametrize(
        'function, where',
        [
            ('BackendCreateDescriptor', 'the creation of CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR'),
            (
                'BackendSetAttribute',
                'CUDNN_ATTR_CONVOLUTION_COMP_TYPE of CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR',
            ),
            ('BackendFinalize', 'the end of CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR'),
            (
                'BackendGetAttribute',
                'CUDNN_ATTR_ENGINEHEUR_RESULTS of CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR',
            ),
        ],
    )
    def test_errors_of_graphs_name_the_attribute(self, function, where, stand_in):
        stand_in.fail(function, 2000)
        message = f'cuDNN error in conv: CUDNN_STATUS_BAD_PARAM for {where}; of the emulation'
        with pytest.raises(chainerx.DeviceError, match=message):
            _convolve(114)

    @pytest.mark.parametrize('status', [3000, 3002])
    @pytest.mark.parametrize(
        'function, case',
        [
            ('HeuristicsConvolutionForward', 'conv_one_by_one'),
            ('ConvolutionForward', 'conv'),
            ('BatchNormalizationForwardTraining', 'batch_norm'),
            ('BatchNormalizationBackward', 'batch_norm'),
            ('PoolingForward', 'average_pool'),
        ],
    )
    def test_what_is_not_supported_takes_the_plain_kernel(self, function, case, status, stand_in):
        run, shapes, _ = CASES[case]
        if function.startswith('Heuristics'):
            shapes = [(1, 2, status - 2800, 3), *shapes[1:]]
        stand_in.fail(function, status)
        warns = function.startswith('Heuristics')
        with pytest.warns(PerformanceWarning) if warns else contextlib.nullcontext():
            results = _run(run, shapes, 'float32', 'cuda:0')
        assert function in stand_in.calls()
        with chainer.using_config('use_cudnn', 'never'):
            plain = _run(run, shapes, 'float32', 'cuda:0')
        for result, reference in zip(results, plain):
            np.testing.assert_allclose(result, reference, rtol=1e-5, atol=1e-5)

    def test_a_plain_kernel_for_want_of_an_algorithm_is_told_once(self, stand_in):
        stand_in.fail('HeuristicsConvolutionForward', 3000)
        x, w = (chainerx.ones((1, 2, n, 2), 'float32', device='cuda:0') for n in (112, 1))
        message = r'no algorithm .* in float32 .* \(1, 2, 112, 2\) and \(1, 2, 1, 2\) .* 268435456'
        with pytest.warns(PerformanceWarning, match=message) as record:
            chainerx.conv(x, w)
        assert len(record) == 1
        assert float(chainerx.conv(x, w).sum()) == 448  # a warning would be an error

    def test_wrong_configuration(self):
        with chainer.using_config('use_cudnn', 'sometimes'):
            with pytest.raises(ValueError, match=r"invalid use_cudnn configuration: 'sometimes'"):
                _convolve(111)


def test_in_a_stream():
    x = np.random.default_rng(0).standard_normal((2, 3, 5, 5)).astype('float32')
    stream = chainerx.Stream('cuda:0')
    with stream:
        y = chainerx.average_pool(chainerx.array(x, device='cuda:0') * 2, 2)
        result = chainerx.to_numpy(y)
    np.testing.assert_allclose(result, F.average_pooling_2d(x * 2, 2).array, rtol=1e-5)


@emulated
@needs_devices(2)
def test_other_devices():
    x = chainerx.ones((1, 2, 3, 3), 'float32', device='cuda:1')
    assert chainerx.conv(x, x).tolist() == [[[[18]]]]


VERSION = """
    import chainerx
    from chainer.backends import cuda

    x = chainerx.ones((1, 2, 3, 3), 'float32', device='cuda:0')
    print(float(chainerx.conv(x, x)[0, 0, 0, 0]), chainerx._core._get_dnn_version())
    print(cuda.get_max_workspace_size())
"""


@emulated
class TestLibrary:
    def test_found(self):
        result = run_python(VERSION, CHAINERX_CUDA_EMULATION_CUDNN='91002')
        assert result.stdout == '18.0 91002\n268435456\n'

    def test_not_wanted(self):
        assert run_python(VERSION, CHAINERX_CUDA_LIBRARIES='never').stdout == '18.0 0\n0\n'

    @pytest.mark.parametrize('version', ['8907', '100000'])
    def test_wrong_version(self, version):
        result = run_python(VERSION, CHAINERX_CUDA_EMULATION_CUDNN=version)
        assert result.stdout == '18.0 0\n0\n'
        result = run_python(
            VERSION,
            status=1,
            CHAINERX_CUDA_EMULATION_CUDNN=version,
            CHAINERX_CUDA_LIBRARIES='always',
        )
        assert f'its version is {version}, not 9xxxx' in result.stderr
        assert '"pip install nvidia-cudnn-cu13" installs it' in result.stderr

    def test_missing(self, tmp_path):
        build = Path(os.environ['CHAINERX_PATH']).resolve()
        (tmp_path / 'path' / 'backends').mkdir(parents=True)
        (tmp_path / 'path' / 'backends' / 'cuda.so').write_bytes(
            (build / 'backends' / 'cuda.so').read_bytes()
        )
        (tmp_path / 'path' / 'libcuda_emulation.so').symlink_to(build / 'libcuda_emulation.so')
        path = {'CHAINERX_PATH': str(tmp_path / 'path')}
        assert run_python(VERSION, **path).stdout == '18.0 0\n0\n'
        result = run_python(VERSION, status=1, CHAINERX_CUDA_LIBRARIES='always', **path)
        assert 'cuDNN cannot be loaded: "pip install nvidia-cudnn-cu13"' in result.stderr
        assert 'libcudnn.so.9' in result.stderr
