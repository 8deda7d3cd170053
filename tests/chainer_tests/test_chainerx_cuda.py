"""ChainerX's CUDA devices beside CuPy's: one memory, two modules."""

import gc
import weakref

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import serializers
from chainer._core.engines import cupy_views, kernels
from chainer.backends import cuda
from chainer.functions.activation.relu import ReLU
from tests.helpers.programs import run_python

pytestmark = [pytest.mark.chainerx, pytest.mark.gpu]
_host = chainer.get_device('@numpy').send


def _on_cupy(array, device=0):
    return chainer.get_device(f'@cupy:{device}').send(np.asarray(array))


@pytest.mark.parametrize('view', [lambda x: x, lambda x: x.T, lambda x: x[1:, ::2]])
def test_to_chx_shares_memory(view):
    x = view(_on_cupy(np.arange(12, dtype='f').reshape(3, 4)))
    y = chainer.backend.to_chx(x)
    assert y.device.name == 'cuda:0'
    np.testing.assert_array_equal(_host(y), _host(x))
    y += 1
    np.testing.assert_array_equal(_host(y), _host(x))
    z = chainer.backend.from_chx(y)
    assert z.data.ptr == x.data.ptr and z.strides == x.strides


def test_views_keep_the_memory():
    x = chainer.backend.from_chx(chainerx.array([1.0, 2.0], device='cuda:0'))
    y = chainer.backend.to_chx(_on_cupy([3.0, 4.0]))
    chainerx.zeros((2,), device='cuda:0')
    assert x.tolist() == [1, 2] and y.tolist() == [3, 4]


@pytest.mark.multi_gpu(2)
def test_of_another_device():
    x = _on_cupy([1.0, 2.0], 1)
    y = chainer.backend.to_chx(x)
    assert y.device.name == 'cuda:1' and chainer.backend.from_chx(y).device.id == 1
    assert chainer.get_device('cuda:0').send(x).device.name == 'cuda:0'
    assert chainer.get_device('@cupy:0').send(y).device.id == 0


@pytest.mark.parametrize(
    'names', [('@cupy:0', 'cuda:0'), ('native:0', 'cuda:0', '@numpy', '@cupy:0')]
)
def test_links_move(names):
    link = L.Linear(3, 2)
    W = link.W.array.copy()
    for name in names:
        link.to_device(name)
        assert link.W.device == chainer.get_device(name)
        np.testing.assert_array_equal(_host(link.W.array), W)
        y = link(link.device.send(np.ones((1, 3), 'f')))
        np.testing.assert_allclose(_host(y.array)[0], W.sum(1), rtol=1e-6)


def _train(model, optimizer):
    send = model.device.send
    optimizer.update(model, send(np.eye(3, dtype='f')), send(np.array([0, 1, 1], 'i')))


@pytest.mark.parametrize('saved', ['cuda:0', '@cupy:0', '@numpy', 'native:0'])
@pytest.mark.parametrize('loaded', ['cuda:0', '@cupy:0', '@numpy'])
def test_snapshots_cross_devices(saved, loaded, tmp_path):
    losses = []
    for name in saved, loaded:
        model = L.Classifier(L.Linear(3, 2, initialW=np.eye(2, 3, dtype='f'))).to_device(saved)
        optimizer = chainer.optimizers.Adam(0.1).setup(model)
        _train(model, optimizer)
        serializers.save_npz(tmp_path / 'model', model)
        serializers.save_npz(tmp_path / 'state', optimizer)
        model = L.Classifier(L.Linear(3, 2)).to_device(name)
        optimizer = chainer.optimizers.Adam(0.1).setup(model)
        serializers.load_npz(tmp_path / 'model', model)
        serializers.load_npz(tmp_path / 'state', optimizer)
        _train(model, optimizer)
        assert model.predictor.W.device == chainer.get_device(name)
        losses.append(float(model.loss.array))
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_fallback_sees_views():
    seen = []

    class Double(chainer.FunctionNode):
        def forward_gpu(self, inputs):
            (x,) = inputs
            assert isinstance(x, cuda.ndarray)
            seen.append(x.data.ptr)
            return (x * 2,)

        def backward(self, indexes, gys):
            return (gys[0] * 2,)

    x = chainer.Variable(chainerx.array([1.0, 2.0], device='cuda:0'))
    (y,) = Double().apply((x,))
    assert y.device.name == 'cuda:0' and seen == [x.array.data_ptr]
    F.sum(y).backward()
    assert _host(x.grad).tolist() == [2, 2]


def test_fallback_works_in_the_current_stream():
    seen = []

    class Look(chainer.FunctionNode):
        def forward(self, inputs):
            seen.append(cuda.cupy.cuda.get_current_stream().ptr)
            return (inputs[0] * 2,)

    x = chainerx.array([1.0, 2.0], device='cuda:0')
    stream = chainerx.Stream('cuda:0')
    Look().apply((x,))
    with stream:
        Look().apply((x,))
    with cuda.Stream() as own:
        Look().apply((x,))
        assert cuda.cupy.cuda.get_current_stream() == own
    assert seen == [0, stream.ptr, 0]
    assert cuda.cupy.cuda.get_current_stream().ptr == 0


@pytest.mark.parametrize('double', [False, True])
def test_kernels_run_in_the_stream_of_cupy(double, monkeypatch):
    seen = []
    device = chainerx.get_device('cuda:0')

    def noting(f):
        def call(*args):
            seen.append(device.current_stream.ptr)
            return f(*args)

        return call

    monkeypatch.setattr(ReLU, 'forward_chainerx', noting(ReLU.forward_chainerx))
    note = noting(cupy_views.gradients)
    monkeypatch.setattr(cupy_views, 'gradients', note)
    monkeypatch.setattr(kernels.CupyTape, '_gradients', staticmethod(note))
    stream = cuda.Stream()
    x = chainer.Variable(_on_cupy([-1.0, 2.0]))
    with stream, chainer.using_config('use_native_kernels', 'always'):
        y = F.relu(x)
        (gx,) = chainer.grad([y], [x], enable_double_backprop=double)
    assert seen == [stream.ptr] * 2
    assert device.current_stream.ptr == 0
    assert _host(y.array).tolist() == [0, 2] and _host(gx.array).tolist() == [0, 1]


_rng = np.random.RandomState(0)


def _gradients(f, arrays, device):
    """Output of a function and gradients of its arrays, and of the norm of those, in NumPy."""
    xs = [chainer.Variable(chainer.get_device(device).send(x)) for x in arrays]
    y = f(*xs)
    gxs = chainer.grad([F.sum(y * y)], xs, enable_double_backprop=True)
    ggxs = chainer.grad([sum(F.sum(gx * gx) for gx in gxs)], xs)
    return [_host(x.array) for x in (y, *gxs, *ggxs)]


_ALLOWED = np.array([[True, False, True], [False, True, True]])


@pytest.mark.parametrize(
    'options',
    [{}, {'is_causal': True}, {'scale': 0.3}, {'mask': _ALLOWED}, {'mask': _ALLOWED.astype('f')}],
    ids=['plain', 'causal', 'scale', 'boolean', 'added'],
)
def test_attention_on_kernels(options):
    arrays = [_rng.uniform(-1, 1, (4, n, 5)).astype('f') for n in (2, 3, 3)]

    def attend(*xs):
        send = xs[0].device.send
        given = {k: send(v) if k == 'mask' else v for k, v in options.items()}
        y = F.scaled_dot_product_attention(*xs, **given)
        assert y.xp is np or y.creator.label == 'scaled_dot_product_attention'
        return y

    results = [_gradients(attend, arrays, device) for device in ('@cupy:0', '@numpy')]
    for result, expected in zip(*results):
        np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    'view', [lambda x: x.T, lambda x: x[:, ::2], lambda x: x[::-1], lambda x: x[1:]]
)
def test_kernels_take_views(view):
    a, b = [_rng.uniform(-1, 1, (4, 4)).astype('f') for _ in range(2)]

    x = _on_cupy(a)
    b = b[: len(view(a))]
    y = F.matmul(view(x), _on_cupy(b), transa=True)
    np.testing.assert_allclose(_host(y.array), view(a).T @ b, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(_host(x), a)


@pytest.mark.multi_gpu(2)
@pytest.mark.parametrize('setting', ['auto', 'never'])
@pytest.mark.parametrize('make', [chainer.optimizers.SGD, chainer.optimizers.Adam])
def test_updates_on_another_device(make, setting):
    def train(device):
        model = chainer.Sequential(L.Linear(3, 4, initialW=0.1), L.Linear(4, 2, initialW=0.2))
        model.to_device(device)
        opt = make().setup(model)
        x = model.device.send(np.arange(6, dtype='f').reshape(2, 3))
        with chainer.using_config('use_native_kernels', setting):
            for _ in range(3):
                opt.update(lambda: F.sum(model(x) ** 2))
        assert cuda.Device().id == 0
        return [_host(param.array) for param in model.params()]

    for result, expected in zip(train('@cupy:1'), train('@numpy')):
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-6)


def test_streams_of_cupy_live_as_long_as_arrays():
    x = _on_cupy([1.0, 2.0])
    stream = cuda.Stream()
    alive = weakref.ref(stream)
    with chainer.using_config('use_native_kernels', 'always'):
        with stream:
            y = F.relu(x).array
        with cuda.Stream():  # CuPy forgets the other one
            pass
    del stream
    gc.collect()
    assert alive() is not None
    del y
    gc.collect()
    assert alive() is None


def test_views_know_the_other_stream():
    with cuda.Stream() as stream:
        x = chainer.backend.from_chx(chainerx.array([1.0, 2.0], device='cuda:0'))
        y = chainer.backend.to_chx(x)
        assert y.device.current_stream.ptr == 0 != stream.ptr
    assert y.data_ptr == x.data.ptr
    assert y.tolist() == [1, 2]


@pytest.mark.multi_gpu(2)
@pytest.mark.parametrize('index', [0, 1])
def test_dlpack(index):
    cupy = cuda.cupy
    x = _on_cupy(np.arange(6, dtype='f').reshape(2, 3), index)
    y = chainerx.from_dlpack(x)
    assert y.device.name == f'cuda:{index}' and y.data_ptr == x.data.ptr
    z = cupy.from_dlpack(y)
    assert z.device.id == index and z.data.ptr == x.data.ptr
    w = y._to_cupy() if hasattr(y, '_to_cupy') else chainerx._core._to_cupy(y)
    assert type(w) is cupy.ndarray and w.data.ptr == x.data.ptr
    y += 1
    assert _host(z).tolist() == _host(w).tolist() == [[1, 2, 3], [4, 5, 6]]
    del x, y, z
    assert _host(w).tolist() == [[1, 2, 3], [4, 5, 6]]


def test_fallback_without_cupy():
    done = run_python("""
        import sys
        sys.modules['cupy'] = None
        import chainer.functions as F
        import chainerx
        x = chainerx.ones((2, 2), 'float32', device='cuda:0')
        assert F.rrelu(x).device.name == 'cuda:0'
        try:
            F.fft((x, x))
        except RuntimeError as error:
            print(error)
    """)
    assert done.stdout.startswith(
        'FFT does not run natively on cuda:0 (devices without complex numbers) and cannot fall back: '
    )
    assert 'install a CuPy' in done.stdout
