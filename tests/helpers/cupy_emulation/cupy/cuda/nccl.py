"""NCCL: collective operations of processes, which send their buffers to each other over sockets."""

import ctypes
import os
import tempfile
import time
from multiprocessing import connection

import numpy

from cupy._api import MAJOR as _MAJOR
from cupy.cuda import _device

available = True
NCCL_SUM, NCCL_PROD, NCCL_MAX, NCCL_MIN, NCCL_AVG = range(5)
_OPERATIONS = [numpy.add, numpy.multiply, numpy.maximum, numpy.minimum]
NCCL_INT8 = NCCL_CHAR = 0
NCCL_UINT8 = 1
NCCL_INT32 = NCCL_INT = 2
NCCL_UINT32, NCCL_INT64, NCCL_UINT64 = 3, 4, 5
NCCL_FLOAT16 = NCCL_HALF = 6
NCCL_FLOAT32 = NCCL_FLOAT = 7
NCCL_FLOAT64 = NCCL_DOUBLE = 8
_DTYPES = 'b B i I q Q e f d'.split()
_ID_BYTES = 128


class NcclError(RuntimeError):
    def __init__(self, status):
        super().__init__(f'NCCL_ERROR_{status}')
        self.status = status


def get_version():
    return 22800


def get_build_version():
    return 22800


def get_unique_id():
    path = os.path.join(tempfile.mkdtemp(prefix='nccl'), 'socket').encode()
    value = path.ljust(_ID_BYTES, b'\0')
    # CuPy 13 gives a tuple of signed bytes.
    return value if _MAJOR >= 14 else tuple(numpy.frombuffer(value, 'b').tolist())


def groupStart():
    pass


def groupEnd():
    pass


def _connect(path):
    deadline = time.monotonic() + 30
    while True:
        try:
            return connection.Client(path)
        except (FileNotFoundError, ConnectionRefusedError):
            if time.monotonic() > deadline:
                raise NcclError(2) from None
            time.sleep(0.01)


class NcclCommunicator:
    def __init__(self, ndev, commId, rank, config=None):
        if not 0 <= rank < ndev:
            raise NcclError(4)
        self._size, self._rank, self._device = ndev, rank, _device.current()
        value = commId if isinstance(commId, bytes) else numpy.array(commId, 'b').tobytes()
        if len(value) != _ID_BYTES:
            raise ValueError(f'commId must have {_ID_BYTES} bytes, not {len(value)}')
        path = value.rstrip(b'\0').decode()
        if rank:
            self._root = _connect(path)
            self._root.send(rank)
            return
        with connection.Listener(path) as listener:
            by_rank = dict(reversed((c, c.recv())) for c in self._accept(listener))
        os.rmdir(os.path.dirname(path))
        self._others = [by_rank[i] for i in range(1, ndev)]

    def _accept(self, listener):
        return [listener.accept() for _ in range(self._size - 1)]

    def size(self):
        return self._size

    def rank_id(self):
        return self._rank

    def device_id(self):
        return self._device

    def destroy(self):
        pass

    abort = destroy

    def check_async_error(self):
        pass

    def _exchange(self, address, count, datatype):
        """Arrays of all processes; ranks send to the first, which sends all to each."""
        if _device.current() != self._device:
            raise NcclError(5)
        dtype = numpy.dtype(_DTYPES[datatype])
        own = ctypes.string_at(address, count * dtype.itemsize)
        if self._rank:
            self._root.send_bytes(own)
            parts = self._root.recv()
        else:
            parts = [own, *(c.recv_bytes() for c in self._others)]
            for c in self._others:
                c.send(parts)
        if len({len(part) for part in parts}) > 1:
            raise NcclError(5)
        return [numpy.frombuffer(part, dtype) for part in parts]

    def _reduced(self, parts, op):
        if op == NCCL_AVG:
            return sum(parts) / parts[0].dtype.type(len(parts))
        return _OPERATIONS[op].reduce(parts, axis=0, dtype=parts[0].dtype)

    @staticmethod
    def _store(address, array):
        ctypes.memmove(address, array.tobytes(), array.nbytes)

    def allReduce(self, sendbuf, recvbuf, count, datatype, op, stream):
        self._store(recvbuf, self._reduced(self._exchange(sendbuf, count, datatype), op))

    def reduce(self, sendbuf, recvbuf, count, datatype, op, root, stream):
        parts = self._exchange(sendbuf, count, datatype)
        if self._rank == root:
            self._store(recvbuf, self._reduced(parts, op))

    def broadcast(self, sendbuff, recvbuff, count, datatype, root, stream):
        self._store(recvbuff, self._exchange(sendbuff, count, datatype)[root])

    def bcast(self, buff, count, datatype, root, stream):
        self.broadcast(buff, buff, count, datatype, root, stream)

    def allGather(self, sendbuf, recvbuf, count, datatype, stream):
        self._store(recvbuf, numpy.concatenate(self._exchange(sendbuf, count, datatype)))

    def reduceScatter(self, sendbuf, recvbuf, recvcount, datatype, op, stream):
        parts = self._exchange(sendbuf, recvcount * self._size, datatype)
        start = recvcount * self._rank
        self._store(recvbuf, self._reduced(parts, op)[start : start + recvcount])
