"""Gradients, parameters, arrays, sharded updates and pipelines on GPUs, on two ranks."""

import pytest
from helpers import mpi
from helpers.devices import IS_CUDA, needs_devices

CODE = """
import numpy
import chainer, chainermn
import chainer.links as L
import chainermn.functions as C
from chainer.backends.cuda import to_cpu
from chainermn._recorder import recorder

name, wire, module, n_devices = {name!r}, {wire!r}, {module!r}, {n_devices}
comm = chainermn.create_communicator(name, allreduce_grad_dtype=wire)
device = chainer.get_device(f'{{module}}:{{comm.rank % n_devices}}')
device.use()
is_there = device.is_array_supported

def make(rank):
    model = chainer.Sequential(L.Linear(5, 300), L.Linear(300, 3))
    rng = numpy.random.RandomState(rank)
    for param in model.params():
        param.array = rng.uniform(-1, 1, param.shape).astype('float32')
        param.grad = rng.uniform(-1, 1, param.shape).astype('float32')
    return model

model = make(comm.rank)
model.to_device(device)
models = [make(i) for i in range(comm.size)]
for _ in range(2):
    grads = [[p.grad for p in m.params()] for m in models]
    for param, expected in zip(model.params(), zip(*grads)):
        param.grad = device.send(expected[comm.rank])
    comm.multi_node_mean_grad(model)
    for param, expected in zip(model.params(), zip(*grads)):
        assert is_there(param.grad)
        tolerance = 1e-6 if wire is None else 1e-2
        numpy.testing.assert_allclose(to_cpu(param.grad), sum(expected) / 2, tolerance, tolerance)
    if name == 'pure_nccl':  # whose work is over, since the host has the gradients
        assert recorder.is_gpu_done() and recorder.call_on_gpu() is None
comm.bcast_data(model)
for param, first in zip(model.params(), models[0].params()):
    numpy.testing.assert_array_equal(to_cpu(param.array), first.array)
x = device.send(numpy.full(3, comm.rank, 'float32'))
assert is_there(comm.allreduce(x)) and (to_cpu(comm.allreduce(x)) == 1).all()
if module == '@cupy':  # ChainerX needs views of CuPy for it
    y = C.allgather(comm, x)[1]
    assert is_there(y.array) and (to_cpu(y.array) == 1).all()

x = device.send(numpy.random.RandomState(comm.rank).normal(0, 1, (4, 5)).astype('float32'))

def train(**options):
    model = make(comm.rank)
    model.to_device(device)
    adam = chainer.optimizers.Adam()
    optimizer = chainermn.create_multi_node_optimizer(adam, comm, **options).setup(model)
    for _ in range(3):
        optimizer.update(lambda: chainer.functions.sum(model(x) ** 2))
    arrays = comm.allgather_obj([to_cpu(param.array) for param in model.params()])
    for a, b in zip(*arrays):
        numpy.testing.assert_array_equal(a, b)
    return arrays[0]

train(local_steps=2, average_states=True)
divided = True if wire == 'int8' else 'gradients'
for a, b in zip(train(sharded=True), train(sharded=divided)):
    numpy.testing.assert_allclose(a, b, 1e-5 if wire is None else 1e-2, 1e-5)

def check_pipeline():
    stages = [L.Linear(5, 300), L.Linear(300, 3)]
    for stage in stages:
        stage.W.array[...] = numpy.random.RandomState(0).uniform(-1, 1, stage.W.shape)
        stage.cleargrads()
    inputs = numpy.random.RandomState(0).uniform(-1, 1, (6, 5)).astype('float32')
    expected = chainer.functions.mean(stages[1](stages[0](inputs)) ** 2)
    expected.backward()
    stage = stages[comm.rank]
    grad = stage.W.grad.copy()
    chain = chainermn.MultiNodeChainList(comm)
    chain.add_link(stage, *((None, 1) if comm.rank == 0 else (0, None)))
    chain.to_device(device)
    chain.cleargrads()
    if comm.rank == 0:
        chain.run_1f1b(3, chain, device.send(inputs))
    else:
        loss = chain.run_1f1b(3, lambda: chainer.functions.mean(chain() ** 2))
        assert is_there(loss)
        numpy.testing.assert_allclose(float(loss), float(expected.array), 1e-4)
    assert is_there(stage.W.grad)
    numpy.testing.assert_allclose(to_cpu(stage.W.grad), grad, 1e-4, 1e-5)

if module == '@cupy':  # so do functions
    check_pipeline()
comm.finalize()
"""


def run(name, wire, n_devices, module='@cupy'):
    if mpi.reason_to_skip() or mpi.mpiexec() is None:
        pytest.skip(mpi.reason_to_skip() or 'needs mpiexec')
    mpi.run_ranks(2, CODE.format(name=name, wire=wire, module=module, n_devices=n_devices))


@pytest.mark.gpu
@pytest.mark.parametrize('wire', [None, 'bfloat16', 'int8'])
@pytest.mark.parametrize('name', ['naive', 'non_cuda_aware'])
def test_ranks_share_a_gpu(name, wire):
    run(name, wire, 1)


@pytest.mark.nccl
@pytest.mark.multi_gpu(2)
@pytest.mark.parametrize('wire', [None, 'float16'])
def test_nccl(wire):
    run('pure_nccl', wire, 2)


@needs_devices(2)
@pytest.mark.skipif(not IS_CUDA, reason="needs ChainerX's backend 'cuda'")
@pytest.mark.parametrize('wire', [None, 'float16'])
@pytest.mark.parametrize('name', ['naive', 'non_cuda_aware', 'pure_nccl'])
def test_chainerx(name, wire):
    run(name, wire, 2, 'cuda')
