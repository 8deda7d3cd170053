"""Calls of communicators, against what each rank knows of the others."""

import errno
import itertools
import mmap
import os

import numpy
import pytest

import chainer
import chainer.links as L
import chainermn
import chainerx
from chainermn import _messages
from chainermn._mpi import mpi
from chainermn.communicators import _communication_utility
from chainermn.means import dtypes, kernels, shared_memory
from chainerx import _internal

NAMES = ['naive', 'flat', 'non_cuda_aware', 'pure_nccl']
WIRES = ['float16', 'bfloat16', 'float32', 'float64']
DTYPES = ['bool', 'uint8', 'int32', 'int64', 'float16', 'float32', 'float64']
DEVICES = ['@numpy', pytest.param('native:0', marks=pytest.mark.chainerx)]


def made_by(rank, dtype='float32', shape=(2, 3)):
    return numpy.random.RandomState(rank).uniform(1, 9, shape).astype(dtype)


def assert_is(actual, expected, device='@numpy'):
    assert chainer.backend.get_device_from_array(actual) == chainer.get_device(device)
    actual = chainer.get_device('@numpy').send(actual)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    numpy.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    ('numbers', 'hosts'),
    [
        ([0, 0, 1, 1], [[0, 1], [2, 3]]),
        ([0, 1, 2, 0, 1, 2], [[0, 3], [1, 4], [2, 5]]),
        ([0, 0, 0], None),
        ([0, 1], None),
        ([0, 0, 1, 2, 2, 2], None),
        ([0], None),
    ],
)
def test_hosts_of_equally_many_ranks(numbers, hosts):
    class Comm:
        size = len(numbers)

        def Allgather(self, own, everywhere):
            everywhere[:] = numbers

    assert _communication_utility.find_hosts(Comm(), numbers[0]) == hosts


KINDS = [*itertools.product(DTYPES, [(2, 3)]), ('float32', ()), ('float32', (0, 2))]


@pytest.mark.parametrize('kind', KINDS, ids=str)
@pytest.mark.parametrize('device', DEVICES)
def test_collective_calls_on_arrays(comm, device, kind):
    send = chainer.get_device(device).send
    rank, size = comm.rank, comm.size
    root = size - 1
    x = send(made_by(rank, *kind))
    assert_is(comm.bcast(x if rank == root else None, root), made_by(root, *kind), device)
    gathered = comm.gather(x, root)
    assert (gathered is None) == (rank != root)
    for ys in [gathered or (), comm.allgather(x)]:
        for i, y in enumerate(ys):
            assert_is(y, made_by(i, *kind), device)
    xs = tuple([send(made_by(rank * 10 + i, *kind)) for i in range(size)])
    for i, y in enumerate(comm.alltoall(xs)):
        assert_is(y, made_by(i * 10 + rank, *kind), device)
    assert_is(
        comm.scatter(xs if rank == root else None, root), made_by(root * 10 + rank, *kind), device
    )


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('dtype', DTYPES[1:])
def test_allreduce(comm, device, dtype):
    x = chainer.get_device(device).send(made_by(comm.rank, dtype))
    wide = [
        made_by(i, dtype).astype('float32' if dtype == 'float16' else dtype)
        for i in range(comm.size)
    ]
    total = comm.allreduce(x)
    assert total is not x
    assert chainer.backend.get_device_from_array(total) == chainer.get_device(device)
    expected = sum(wide).astype(dtype)
    numpy.testing.assert_allclose(
        chainerx.to_numpy(total) if device != '@numpy' else total, expected, 1e-6
    )


def test_arrays_in_any_memory_order(comm):
    x = made_by(comm.rank).T
    assert_is(comm.allgather(x)[0], made_by(0).T)
    assert_is(comm.allgather(x[::2])[0], made_by(0).T[::2])


def test_shapes_may_differ(comm):
    for i, y in enumerate(comm.allgather(numpy.full(comm.rank, comm.rank))):
        assert_is(y, numpy.full(i, i))


@pytest.mark.parametrize('device', DEVICES)
def test_send(comm, device):
    send = chainer.get_device(device).send
    x = send(made_by(comm.rank))
    after, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    if comm.size == 1:
        return
    for data in x, (x, x[:1]):
        if comm.rank % 2:
            got = comm.recv(before, 3)
            comm.send(data, after, 3)
        else:
            comm.send(data, after, 3)
            got = comm.recv(before, 3)
        if isinstance(data, tuple):
            assert_is(got[1], made_by(before)[:1], device)
            got = got[0]
        assert_is(got, made_by(before), device)


def test_objects(comm, monkeypatch):
    monkeypatch.setattr(_messages, 'LIMIT', 96)  # as if the objects were large
    rank, size = comm.rank, comm.size

    def obj(i):
        return {'rank': i, 'data': numpy.arange(1000 * i), 'text': 'a' * i}

    def check(actual, i):
        assert actual['rank'] == i and actual['text'] == 'a' * i
        numpy.testing.assert_array_equal(actual['data'], numpy.arange(1000 * i))

    root = size - 1
    check(comm.bcast_obj(obj(rank), root=root), root)
    check(comm.bcast_obj(obj(rank), 7, root), root)
    gathered = comm.gather_obj(obj(rank), root)
    assert (gathered is None) == (rank != root)
    for objects in [gathered or (), comm.allgather_obj(obj(rank))]:
        for i, value in enumerate(objects):
            check(value, i)
    assert comm.allreduce_obj([rank]) == list(range(size))
    x = numpy.arange(1000) + rank
    numpy.testing.assert_array_equal(comm.allgather(x)[root], numpy.arange(1000) + root)
    numpy.testing.assert_array_equal(
        comm.allreduce(x), size * numpy.arange(1000) + sum(range(size))
    )
    if size > 1 and rank == 0:
        comm.send_obj(obj(3), 1, tag=5)
    elif rank == 1:
        status = mpi().Status()
        check(comm.recv_obj(mpi().ANY_SOURCE, status), 3)
        assert (status.Get_source(), status.Get_tag()) == (0, 5)


def test_exchange_of_objects(comm):
    """Small ones are complete at once; the rest of large ones comes later."""
    rank, ranks = comm.rank, range(comm.size)
    for size in (0, *range(215, 245), 10**5):
        sent = [[(i, j, 'x' * (size if i < j else 3)) for j in ranks] for i in ranks]
        received = _messages.exchange_objects(comm.arrays_comm, sent[rank])
        assert received == [row[rank] for row in sent]


def test_ranks_of_hosts(comm):
    assert (comm.intra_rank, comm.intra_size) == (comm.rank, comm.size)
    assert (comm.inter_rank, comm.inter_size) == (0, 1)


def test_bfloat16_has_one_name(comm):
    ml_dtypes = pytest.importorskip('ml_dtypes')
    for value in ('bfloat16', ml_dtypes.bfloat16, numpy.dtype(ml_dtypes.bfloat16)):
        comm.set_config('allreduce_grad_dtype', value)
        assert repr(comm.get_config('allreduce_grad_dtype')) == "'bfloat16'"


def test_dtype_in_a_scope(comm):
    """It is checked, and means of float16 are added in float32."""
    with comm.config_scope():
        comm.allreduce_grad_dtype = numpy.float16
        with pytest.raises(ValueError, match='must be int8, float16.*not int16'):
            comm.allreduce_grad_dtype = 'int16'
    assert comm.get_config('allreduce_grad_dtype') == numpy.float16
    assert comm.allreduce_grad_dtype is numpy.float16
    grad = numpy.dtype('float32')
    assert dtypes.dtypes_of(grad, comm.reducer.dtype) == (grad, 'float16')


def test_split(comm):
    comm.set_config('allreduce_grad_dtype', 'bfloat16')
    with comm.config_scope():
        comm.mine = 3
    part = comm.split(comm.rank % 2, -comm.rank)
    ranks = [i for i in range(comm.size) if i % 2 == comm.rank % 2][::-1]
    assert part.allgather_obj(comm.rank) == ranks
    assert part.get_config('allreduce_grad_dtype') == 'bfloat16'
    assert part.mine == part.get_config('mine') == 3


def make_model(rank, device='@numpy', dtype='float32'):
    model = chainer.Sequential(
        L.Linear(5, 300), L.Linear(300, 300), L.Linear(None, 2), L.Linear(2, 2)
    )
    rng = numpy.random.RandomState(rank)
    for param in model.params():
        if param.array is not None:
            param.array = rng.uniform(-1, 1, param.shape).astype(dtype)
            param.grad = rng.uniform(-1, 1, param.shape).astype(dtype)
    model[3].b.grad = None
    model.to_device(device)
    return model


def initialized(model):
    return {path: param for path, param in model.namedparams() if param.array is not None}


def to_numpy(array):
    return None if array is None else chainer.get_device('@numpy').send(array)


MEANS = [
    *itertools.product(['naive'], ['float16', 'float32', 'float64'], [None, *WIRES]),
    *itertools.product(NAMES[1:], ['float32'], [None, 'bfloat16']),
]


@pytest.fixture(params=['shared memory', 'messages'])
def way(request, monkeypatch):
    """How gradients travel on one host: messages are for those between hosts."""
    if request.param == 'messages':
        monkeypatch.setattr(shared_memory, '_FOLDER', '/nowhere')
    return request.param


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('name, dtype, wire', MEANS)
def test_means_of_gradients(comm, way, name, dtype, wire, device):
    comm = chainermn.create_communicator(name, comm.mpi_comm, allreduce_grad_dtype=wire)
    models = [initialized(make_model(i, dtype=dtype)) for i in range(comm.size)]
    tolerance = {'float16': 2e-3, 'bfloat16': 2e-2}.get(wire, 1e-6)
    tolerance = max(tolerance, 2e-3 if dtype == 'float16' else 0)
    for zero_fill in False, True:
        model = make_model(comm.rank, device, dtype)
        comm.multi_node_mean_grad(model, zero_fill)
        for path, param in initialized(model).items():
            grads = [m[path].grad for m in models]
            if grads[0] is None:
                assert (param.grad is None) != zero_fill
                assert not zero_fill or not to_numpy(param.grad).any()
                continue
            assert param.grad.dtype == dtype
            expected = numpy.mean([g.astype('float64') for g in grads], axis=0)
            numpy.testing.assert_allclose(to_numpy(param.grad), expected, tolerance, tolerance)
        all_grads = comm.allgather_obj({k: to_numpy(p.grad) for k, p in initialized(model).items()})
        for path, grad in all_grads[comm.rank].items():
            numpy.testing.assert_array_equal(grad, all_grads[0][path])  # the same bits


def test_float16_means_do_not_overflow(comm, way):
    model = L.Linear(2, 2, nobias=True)
    model.W.array = model.W.array.astype('float16')
    model.W.grad = numpy.full((2, 2), 60000, 'float16')
    comm.multi_node_mean_grad(model)
    assert (model.W.grad == 60000).all()


_SLOT_BYTES = 1 << 18
SPECS = [(5, numpy.dtype('float32')), (0, numpy.dtype('float64')), (70, numpy.dtype('float64'))]


def test_rows_are_shared(comm):
    files = set(os.listdir(shared_memory._FOLDER))
    rows = shared_memory.make_rows(comm.mpi_comm, SPECS)
    for i, of_size in enumerate(rows):
        assert [(row.size, row.dtype) for row in of_size] == [SPECS[i]] * comm.size
        of_size[comm.rank][...] = 10 * comm.rank + i
    comm.mpi_comm.Barrier()
    for i, of_size in enumerate(rows):
        for rank, row in enumerate(of_size):
            assert (row == 10 * rank + i).all()
    comm.mpi_comm.Barrier()
    assert not [f for f in set(os.listdir(shared_memory._FOLDER)) - files if 'chainermn' in f]


def test_rows_without_memory(comm, monkeypatch):
    """No rank gets rows if the memory is too small, or one of them does not see it."""

    def fail(*args):
        raise OSError(errno.ENOSPC, 'No space left on device')

    if comm.size == 1:
        pytest.skip('one rank shares with nobody')
    with monkeypatch.context() as context:
        context.setattr(os, 'posix_fallocate', fail)
        assert shared_memory.make_rows(comm.mpi_comm, SPECS) is None
    if comm.rank == 1:
        monkeypatch.setattr(mmap, 'mmap', fail)
    assert shared_memory.make_rows(comm.mpi_comm, SPECS) is None


@pytest.mark.parametrize('device', DEVICES)
def test_means_of_gradients_in_turn_use_the_same_memory(comm, device, monkeypatch):
    comm = chainermn.create_communicator('naive', comm.mpi_comm)
    calls = []
    make_rows = shared_memory.make_rows
    monkeypatch.setattr(shared_memory, 'make_rows', lambda *a: calls.append(a) or make_rows(*a))
    models = make_model(comm.rank, device), make_model(comm.rank + 1, device)
    for _ in range(3):
        for model in models:
            comm.multi_node_mean_grad(model)
    assert len(calls) == (0 if comm.size == 1 else 2)


def test_means_of_gradients_of_changing_models(comm, way):
    """A rank whose parameters are other objects than before does not wait for the others."""
    model = make_model(comm.rank)
    for step in range(4):
        if step == 1 + comm.rank:
            model = make_model(comm.rank)
        for param in initialized(model).values():
            param.grad = numpy.full_like(param.array, comm.rank + step)
        comm.multi_node_mean_grad(model)
        for param in initialized(model).values():
            assert (param.grad == (comm.size - 1) / 2 + step).all()


def test_communicators_can_be_made_again_and_again(comm):
    for _ in range(300):
        other = chainermn.create_communicator('naive', comm.mpi_comm)
        other.finalize()
    other.finalize()


def test_dummy_sends_nothing(comm):
    model = make_model(comm.rank)
    dummy = chainermn.create_communicator('dummy', comm.mpi_comm)
    dummy.multi_node_mean_grad(model)
    for path, param in initialized(make_model(comm.rank)).items():
        if param.grad is not None:
            numpy.testing.assert_array_equal(initialized(model)[path].grad, param.grad)


@pytest.mark.parametrize('device', DEVICES)
def test_bcast_data(comm, device):
    model = make_model(comm.rank, device)
    model[0].W.array = model[0].W.array.T.copy().T  # another order in memory
    comm.bcast_data(model)
    for path, first in initialized(make_model(0)).items():
        numpy.testing.assert_array_equal(to_numpy(initialized(model)[path].array), first.array)


def test_bcast_data_of_other_models(comm):
    if comm.size > 1:
        model = L.Linear(2, 3 if comm.rank == 1 else 2)
        with pytest.raises(ValueError, match=r'parameter /W is .*shape \((2|3), 2\).* on rank'):
            comm.bcast_data(model)


def test_deprecated_names(comm):
    model = make_model(0)
    with pytest.warns(DeprecationWarning, match='multi_node_mean_grad'):
        comm.allreduce_grad(model)
    with pytest.warns(DeprecationWarning, match='bcast_data'):
        comm.broadcast_data(model)
    with pytest.warns(DeprecationWarning, match='batched_copy'):
        comm.set_config('batched_copy', False)
    for name in 'hierarchical', 'two_dimensional', 'single_node':
        with pytest.warns(DeprecationWarning, match='pure_nccl'):
            chainermn.create_communicator(name, comm.mpi_comm)


@pytest.mark.parametrize(
    'call, error, message',
    [
        (lambda c: c.set_config('other'), ValueError, "unknown config: 'other'"),
        (lambda c: c.get_config('other'), ValueError, "unknown config: 'other'"),
        (lambda c: c.set_config('allreduce_grad_dtype', 'int16'), ValueError, 'must be int8.*not int16'),
        (lambda c: c.allreduce([1]), TypeError, 'allreduce: x must be an array .* not list'),
        (lambda c: c.allreduce(numpy.array([True])), TypeError, 'dtype bool'),
        (lambda c: c.allgather(numpy.array(['a'])), TypeError, 'of numbers, not of dtype <U1'),
        (lambda c: c.bcast((numpy.ones(2),), c.rank), TypeError, 'bcast: x must be an array .* not tuple'),
        (lambda c: c.alltoall(()), ValueError, 'one array for each of . ranks, not 0'),
        (lambda c: c.alltoall(3), TypeError, 'xs must be a tuple, not int'),
        (lambda c: c.scatter((), c.rank), ValueError, 'one array for each'),
        (lambda c: c.bcast(numpy.ones(2), 9), ValueError, 'root must be a rank from 0 to . not 9|root must be a rank'),
        (lambda c: c.send(numpy.ones(2), -1), ValueError, 'dest must be a rank'),
        (lambda c: c.recv(9), ValueError, 'source must be a rank'),
        (lambda c: chainermn.create_communicator('other'), ValueError, "Unrecognized communicator: 'other'"),
        (lambda c: chainermn.create_communicator('naive', other=1), TypeError, 'other'),
    ],
)  # fmt: skip
def test_bad_arguments(comm, call, error, message):
    with pytest.raises(error, match=message):
        call(comm)


@pytest.fixture(params=['core', 'numpy'])
def loops(request, monkeypatch):
    """Which loops compute: compiled ones, or NumPy's where there are none."""
    if request.param == 'numpy':
        monkeypatch.setattr(kernels, 'HAS_CORE', False)
    elif not kernels.HAS_CORE:
        pytest.skip('ChainerX is not built')


@pytest.mark.skipif(not kernels.HAS_CORE, reason='ChainerX is not built')
@pytest.mark.parametrize('wire', dtypes.HALVES)
def test_halves_do_not_depend_on_kernels(wire, monkeypatch):
    bits = numpy.random.RandomState(0).randint(2**32, size=100003, dtype='uint32')
    bits[:50000] = bits[:50000] % 2**27 + (100 << 23)  # many in the range of float16
    values = bits.view('float32')

    def convert():
        with numpy.errstate(all='ignore'):
            halves = kernels.encode(values, wire)
            return halves, kernels.decode(halves, wire)

    halves, floats = convert()
    monkeypatch.setattr(kernels, 'HAS_CORE', False)
    for actual, expected in zip((halves, floats), convert()):
        if wire == 'float16':
            actual, expected = (x[~numpy.isnan(values)] for x in (actual, expected))
        assert actual.tobytes() == expected.tobytes()


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize('n', [1, 2, 3])
def test_mean_of_arrays(n, dtype, loops):
    arrays = numpy.random.RandomState(0).normal(size=(n, 70001)).astype(dtype)
    total = arrays[0].copy()
    for array in arrays[1:]:
        total += array
    total *= total.dtype.type(1 / n)
    result = numpy.empty_like(total)
    kernels.mean([*arrays], [arrays[0], result])
    numpy.testing.assert_array_equal(result, total)
    numpy.testing.assert_array_equal(arrays[0], total)


@pytest.mark.skipif(not kernels.HAS_CORE, reason='ChainerX is not built')
def test_kernels_check_arrays():
    floats, halves = numpy.zeros(4, 'f'), numpy.zeros(4, 'uint16')
    with pytest.raises(ValueError, match='halves must have elements of 2 bytes, not 4'):
        _internal.to_half(floats, floats, True)
    with pytest.raises(ValueError, match='numbers of elements differ: 4 and 3'):
        _internal.from_half(halves, floats[:3], True)
    with pytest.raises(ValueError, match='not C-contiguous'):
        _internal.mean([floats[::2]], [floats[::2]])
    with pytest.raises(ValueError, match='sources must have an item'):
        _internal.mean([], [floats])


@pytest.mark.skipif(not kernels.HAS_CORE, reason='ChainerX is not built')
def test_places():
    def ones(*shape):
        return chainerx.ones(shape, 'float32', device='native:0')

    def address(array):
        return array.data_ptr + array.offset

    n = _SLOT_BYTES // 4
    memory = [ones(n), ones(n), ones(8)]
    addresses = [address(array) for array in memory]
    places = _internal.Places(memory)
    before = ones(n)
    with places:
        first, second, third = ones(n), ones(2, n // 2), ones(n)
        assert [address(first), address(second)] == addresses[:2]
        assert address(third) not in addresses  # no place is free
        assert address(ones(8)) not in addresses  # too small
        assert address(ones(n + 1)) not in addresses
        view = first[1:]
        view[...] = 2
        del first, third
        assert address(ones(n)) not in addresses  # the view is still there
        del view
        with pytest.raises(chainerx.ChainerxError), places:
            raise chainerx.ChainerxError
    assert address(ones(n)) not in addresses
    other_memory = ones(n)
    other = _internal.Places([other_memory])
    with places:
        with other:
            assert address(ones(n)) == address(other_memory)
            with other:
                pass
            assert address(ones(n)) == address(other_memory)
        again = ones(n)
    assert address(again) == addresses[0]
    assert float(memory[0].sum()) == n
    del places, memory
    assert float(again.sum()) == float(second.sum()) == float(before.sum()) == n
    with pytest.raises(chainerx.ChainerxError, match='an array is a part of another one'):
        _internal.Places([before[1:]])
    with pytest.raises(TypeError, match='arrays'):
        _internal.Places([numpy.ones(n)])


@pytest.mark.parametrize('wire', dtypes.HALVES)
def test_halves(wire, loops):
    values = numpy.random.RandomState(0).normal(0, 100, 10000).astype('float32')
    values[:4] = numpy.inf, -numpy.inf, 0, numpy.nan
    values[4] = numpy.array(0x7FFFFFFF, 'uint32').view('float32')
    values[5] = numpy.array(0x7F800001, 'uint32').view('float32')
    with numpy.errstate(invalid='ignore'):
        rounded = kernels.decode(kernels.encode(values, wire), wire)
    numpy.testing.assert_array_equal(rounded[:3], values[:3])
    assert numpy.isnan(rounded[3:6]).all()
    error = abs(rounded[6:] - values[6:]) / abs(values[6:])
    assert error.max() <= (2.0**-11 if wire == 'float16' else 2.0**-8)
    # To the nearest: no representable number is closer.
    if wire == 'bfloat16':
        bits = kernels.encode(values[6:], wire)
        for step in 1, -1:
            other = kernels.decode((bits.astype('int32') + step).astype('uint16'), wire)
            assert (abs(other - values[6:]) >= abs(rounded[6:] - values[6:])).all()
