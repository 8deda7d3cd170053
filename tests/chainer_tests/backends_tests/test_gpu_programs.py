"""What programs for GPUs do: own kernels, a model over two GPUs, files that move between devices."""

import numpy
import pytest
from helpers.functions import GPUS

import chainer
from chainer import functions as F, links as L
from chainer.backends import cuda

to_numpy = chainer.get_device('@numpy').send


class MulAdd(chainer.FunctionNode):
    """``x * y + z`` with kernels of its own."""

    def forward_cpu(self, inputs):
        self.retain_inputs((0, 1))
        x, y, z = inputs
        return (x * y + z,)

    def forward_gpu(self, inputs):
        self.retain_inputs((0, 1))
        x, y, z = inputs
        kernel = cuda.elementwise('T x, T y, T z', 'T w', 'w = x * y + z', 'mul_add')
        return (kernel(x, y, z),)

    def backward(self, indexes, grad_outputs):
        (gw,) = grad_outputs
        x, y = self.get_retained_inputs()
        return gw * y, gw * x, gw


class Norm(chainer.FunctionNode):
    """Norms of rows, by a reduction kernel."""

    def forward(self, inputs):
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        (x,) = inputs
        if chainer.backend.get_array_module(x) is numpy:
            return (numpy.sqrt((x * x).sum(axis=1)),)
        kernel = cuda.reduce('T x', 'T y', 'x * x', 'a + b', 'y = sqrt(a)', '0', 'l2_norm')
        return (kernel(x, axis=1),)

    def backward(self, indexes, grad_outputs):
        (x,), (y,) = self.get_retained_inputs(), self.get_retained_outputs()
        return (x * F.broadcast_to(F.expand_dims(grad_outputs[0] / y, 1), x.shape),)


class Twice(chainer.FunctionNode):
    """``2 x``, by a raw kernel, for each block its shared memory."""

    _code = """
    extern "C" __global__ void twice(const float* x, float* y, int n, float rate) {
        extern __shared__ float part[];
        int i = blockDim.x * blockIdx.x + threadIdx.x;
        part[threadIdx.x] = i < n ? x[i] : 0;
        __syncthreads();
        if (i < n) y[i] = rate * part[threadIdx.x];
    }
    """

    def forward_cpu(self, inputs):
        return (2 * inputs[0],)

    def forward_gpu(self, inputs):
        (x,) = inputs
        x = cuda.cupy.ascontiguousarray(x)
        y = cuda.cupy.empty_like(x)
        kernel = cuda.raw(self._code, 'twice')
        arguments = x, y, numpy.int32(x.size), numpy.float32(2)
        kernel((-(-x.size // 32),), (32,), arguments, shared_mem=32 * 4)
        return (y,)

    def backward(self, indexes, grad_outputs):
        return (2 * grad_outputs[0],)


@pytest.mark.parametrize('device', GPUS)
@pytest.mark.parametrize(
    'function, shapes',
    [(MulAdd, [(3, 5)] * 3), (MulAdd, [(), (), ()]), (Norm, [(4, 50)]), (Twice, [(7, 11)])],
)
def test_own_kernels(function, shapes, device):
    rng = numpy.random.RandomState(0)
    xs = [rng.uniform(-1, 1, shape).astype('f') for shape in shapes]
    results = []
    for spec in '@numpy', device:
        variables = [chainer.Variable(chainer.get_device(spec).send(x)) for x in xs]
        (y,) = function().apply(variables)
        gxs = chainer.grad([F.sum(y * y)], variables)
        results.append([to_numpy(v.array) for v in (y, *gxs)])
    for actual, expected in zip(*results):
        numpy.testing.assert_allclose(actual, expected, 1e-5, 1e-6)


@pytest.mark.gpu
def test_kernel_errors():
    kernel = cuda.elementwise('T x, T y', 'T z', 'z = x + y', 'same_types')
    x = cuda.cupy.ones(3, 'f')
    with pytest.raises(TypeError):
        kernel(x, numpy.ones(3, 'f'))
    with pytest.raises(TypeError):
        kernel(x, x.astype('d'))
    with pytest.raises(Exception, match='nonsense'):
        cuda.elementwise('T x', 'T y', 'y = nonsense', 'wrong')(x)


class TwoGpus(chainer.Chain):
    """Two branches on two GPUs, whose sum the first one has."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.first, self.second, self.last = L.Linear(4, 5), L.Linear(4, 5), L.Linear(5, 2)

    def spread(self, devices):
        self.first.to_device(devices[0])
        self.second.to_device(devices[1])
        self.last.to_device(devices[0])
        return self

    def forward(self, x):
        here = self.first(x)
        there = self.second(F.copy(x, self.second.device))
        # The input of the branches gets gradients from both GPUs.
        return self.last(F.relu(here) + F.copy(F.tanh(there), self.first.device))


@pytest.mark.multi_gpu(2)
@pytest.mark.parametrize('hook', [None, chainer.optimizer_hooks.GradientClipping(0.5)])
def test_model_over_two_gpus(hook):
    x = numpy.random.RandomState(0).uniform(-1, 1, (6, 4)).astype('f')
    results = []
    for devices in ('@numpy', '@numpy'), ('@cupy:0', '@cupy:1'):
        numpy.random.seed(0)
        model = TwoGpus().spread(devices)
        optimizer = chainer.optimizers.Adam().setup(model)
        if hook is not None:
            optimizer.add_hook(hook)
        model.first.W.update_rule.add_hook(chainer.optimizer_hooks.WeightDecay(0.1))
        for _ in range(3):
            v = chainer.Variable(model.first.device.send(x))
            h = F.sin(v)
            loss = F.sum(model(h) ** 2)
            model.cleargrads()
            loss.backward()
            optimizer.update()
        assert [p.device.name for p in model.second.params()] == [devices[1]] * 2
        results.append([to_numpy(a) for a in (v.grad, *[p.array for p in model.params()])])
    for actual, expected in zip(*results):
        numpy.testing.assert_allclose(actual, expected, 1e-4, 1e-5)


@pytest.mark.parametrize('saved_on', ['@numpy', *GPUS])
@pytest.mark.parametrize('loaded_on', ['@numpy', *GPUS])
def test_files_move_between_devices(tmp_path, saved_on, loaded_on):
    def trained(device, steps):
        numpy.random.seed(0)
        model = chainer.Sequential(L.Linear(3, 4), L.BatchNormalization(4)).to_device(device)
        optimizer = chainer.optimizers.MomentumSGD().setup(model)
        for t in range(steps):
            x = numpy.random.RandomState(t).uniform(-1, 1, (5, 3)).astype('f')
            optimizer.update(lambda x=x: F.sum(model(model.device.send(x)) ** 2 * x[:, :1].sum()))
        return model, optimizer

    model, optimizer = trained(saved_on, 3)
    for suffix, save, load in [
        ('npz', chainer.serializers.save_npz, chainer.serializers.load_npz),
        ('h5', chainer.serializers.save_hdf5, chainer.serializers.load_hdf5),
    ]:
        if suffix == 'h5':
            pytest.importorskip('h5py')
        path = tmp_path / suffix
        save(path, optimizer)
        save(tmp_path / f'model_{suffix}', model)
        other, other_optimizer = trained(loaded_on, 1)
        load(path, other_optimizer)
        load(tmp_path / f'model_{suffix}', other)
        for (name, p), (_, q) in zip(sorted(other.namedparams()), sorted(model.namedparams())):
            assert p.device.name == loaded_on
            numpy.testing.assert_array_equal(to_numpy(p.array), to_numpy(q.array), name)
            for key, state in p.update_rule.state.items():
                expected = q.update_rule.state[key]
                numpy.testing.assert_array_equal(to_numpy(state), to_numpy(expected))
        assert chainer.backend.get_device_from_array(other[1].avg_mean).name == loaded_on
        y = other(other.device.send(numpy.ones((2, 3), 'f')))
        other.cleargrads()
        F.sum(y).backward()
        other_optimizer.update()


@pytest.mark.parametrize('device', GPUS)
def test_dispatch_and_copies(device):
    device = chainer.get_device(device)
    x = device.send(numpy.arange(3, dtype='f'))
    assert chainer.backend.get_array_module(x, numpy.zeros(1)) is cuda.cupy
    assert cuda.get_device_from_array(x) == device.device
    v = chainer.Variable(x)
    assert v.xp is cuda.cupy and v.device == device
    with cuda.get_device_from_id(device.device.id):
        numpy.testing.assert_array_equal(to_numpy(abs(-v).array), [0, 1, 2])
    v.to_cpu()
    assert v.device.name == '@numpy'
    v.to_gpu(device.device.id)
    assert v.device == device
    assert cuda.copy(x).device == x.device
    assert cuda.copy(x, out_device=0).device.id == 0
    out = cuda.to_gpu(numpy.zeros(3, 'f'), device=0)
    assert cuda.copy(x, out=out, stream=cuda.Stream.null) is out
    numpy.testing.assert_array_equal(to_numpy(out), [0, 1, 2])


@pytest.mark.gpu
def test_cudnn_is_what_cupy_has():
    try:
        import cupy.cudnn  # noqa: F401
    except ImportError:
        with chainer.using_config('use_native_kernels', 'auto'):
            assert not cuda.cudnn_enabled
            for level in '==always', '>=auto':
                with chainer.using_config('use_cudnn', 'always'):
                    assert not chainer.should_use_cudnn(level)
    else:
        assert cuda.cudnn_enabled
