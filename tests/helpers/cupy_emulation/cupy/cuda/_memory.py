"""Memory: NumPy's, with pools that count what CuPy's would take from a device."""

import contextlib
import ctypes
import threading

import numpy

from cupy.cuda import _device
from cupy.cuda._device import Device


class BaseMemory:
    def __init__(self, ptr, size, device_id, owner=None):
        self.ptr, self.size, self.device_id, self._owner = ptr, size, device_id, owner

    @property
    def device(self):
        return Device(self.device_id)

    def __int__(self):
        return self.ptr


class Memory(BaseMemory):
    def __init__(self, size):
        buffer = numpy.empty(size, 'u1')
        super().__init__(buffer.ctypes.data, size, _device.current(), buffer)


class UnownedMemory(BaseMemory):
    def __init__(self, ptr, size, owner, device_id=-1):
        super().__init__(ptr, size, _device.current() if device_id < 0 else device_id, owner)


class _Block(BaseMemory):
    """Memory that counts in a pool as long as it exists."""

    _pool = None

    def __del__(self):
        if self._pool is not None:
            self._pool._release(self)


class MemoryPointer:
    def __init__(self, mem, offset):
        self.mem = mem
        self._offset = offset

    ptr = property(lambda self: self.mem.ptr + self._offset)
    device_id = property(lambda self: self.mem.device_id)
    device = property(lambda self: self.mem.device)

    def __int__(self):
        return self.ptr

    def __add__(self, offset):
        return MemoryPointer(self.mem, self._offset + offset)

    def __sub__(self, offset):
        return self + -offset

    def copy_from_device(self, src, size):
        ctypes.memmove(self.ptr, src.ptr, size)

    def copy_from_host(self, mem, size):
        ctypes.memmove(self.ptr, int(getattr(mem, 'value', mem)), size)

    def copy_to_host(self, mem, size):
        ctypes.memmove(int(getattr(mem, 'value', mem)), self.ptr, size)

    def memset(self, value, size):
        ctypes.memset(self.ptr, value, size)

    def copy_from_device_async(self, src, size, stream=None):
        self.copy_from_device(src, size)

    def copy_from_host_async(self, mem, size, stream=None):
        self.copy_from_host(mem, size)

    def copy_to_host_async(self, mem, size, stream=None):
        self.copy_to_host(mem, size)

    def memset_async(self, value, size, stream=None):
        self.memset(value, size)


class _Hooks(threading.local):
    def __init__(self):
        self.active = {}


_hooks = _Hooks()


class MemoryHook:
    name = 'MemoryHook'

    def __enter__(self):
        if self.name in _hooks.active:
            raise KeyError(f'memory hook {self.name} already exists')
        _hooks.active[self.name] = self
        return self

    def __exit__(self, *args):
        del _hooks.active[self.name]


for _event in 'alloc', 'malloc', 'free':
    for _when in 'preprocess', 'postprocess':
        setattr(MemoryHook, f'{_event}_{_when}', lambda self, **kwargs: None)


@contextlib.contextmanager
def _hooked(event, after=None, **facts):
    """Calls the hooks before and after an event; ``after`` has what is known only then."""
    after = {} if after is None else after
    for hook in list(_hooks.active.values()):
        getattr(hook, f'{event}_preprocess')(**facts)
    yield
    for hook in list(_hooks.active.values()):
        getattr(hook, f'{event}_postprocess')(**facts, **after)


class OutOfMemoryError(MemoryError):
    pass


class MemoryPool:
    """Pool of blocks that are multiples of 512 bytes, for each device."""

    def __init__(self, allocator=None):
        self._lock = threading.RLock()
        self._used, self._free, self._limit = {}, {}, {}

    def malloc(self, size):
        buffer = numpy.empty(size, 'u1')
        return MemoryPointer(self._take(buffer, buffer.ctypes.data, size), 0)

    def _take(self, owner, ptr, size):
        """Counts memory that exists already."""
        device = _device.current()
        mem_size = -(-size // 512) * 512
        block = _Block(ptr, size, device, owner)
        if not size:
            return block
        facts = {'device_id': device, 'mem_size': mem_size}
        with (
            self._lock,
            _hooked('malloc', {'mem_ptr': ptr, 'pmem_id': id(block)}, size=size, **facts),
        ):
            free = self._free.setdefault(device, [])
            if mem_size in free:
                free.remove(mem_size)
            else:
                if 0 < self.get_limit() < self.total_bytes() + mem_size:
                    raise OutOfMemoryError(
                        f'Out of memory allocating {mem_size:,} bytes (allocated so far: '
                        f'{self.total_bytes():,} bytes, limit set to: {self.get_limit():,} bytes).'
                    )
                with _hooked('alloc', {'mem_ptr': ptr}, **facts):
                    pass
            self._used[device] = self._used.get(device, 0) + mem_size
        block._pool = self
        return block

    def _release(self, block):
        mem_size = -(-block.size // 512) * 512
        facts = {'device_id': block.device_id, 'mem_size': mem_size, 'mem_ptr': block.ptr}
        with self._lock, _hooked('free', pmem_id=id(block), **facts):
            self._used[block.device_id] -= mem_size
            self._free[block.device_id].append(mem_size)

    def free_all_blocks(self, stream=None):
        self._free[_device.current()] = []

    def n_free_blocks(self):
        return len(self._free.get(_device.current(), ()))

    def used_bytes(self):
        return self._used.get(_device.current(), 0)

    def free_bytes(self):
        return sum(self._free.get(_device.current(), ()))

    def total_bytes(self):
        return self.used_bytes() + self.free_bytes()

    def get_limit(self):
        return self._limit.get(_device.current(), 0)

    def set_limit(self, size=None, fraction=None):
        if size is None:
            size = int(Device().mem_info[1] * (fraction or 0))
        self._limit[_device.current()] = size


default_pool = MemoryPool()
_allocator = default_pool.malloc


def set_allocator(allocator=None):
    global _allocator
    _allocator = allocator or (lambda size: MemoryPointer(Memory(size), 0))


def get_allocator():
    return _allocator


def alloc(size):
    return _allocator(size)


@contextlib.contextmanager
def using_allocator(allocator=None):
    previous = _allocator
    set_allocator(allocator)
    try:
        yield
    finally:
        set_allocator(previous)


def address(array):
    return array.__array_interface__['data'][0]


def memory_of(array):
    """Memory object of a new NumPy array, counted by the current allocator if that is a pool."""
    pool = getattr(_allocator, '__self__', None)
    if isinstance(pool, MemoryPool):
        return pool._take(array, address(array), array.nbytes)
    return BaseMemory(address(array), array.nbytes, _device.current(), array)


def alloc_pinned_memory(size):
    _device.initialize()
    memory = (ctypes.c_char * size)()  # has the buffer protocol, as CuPy's object
    return memory


class PinnedMemoryPool:
    def __init__(self, allocator=None):
        pass

    def malloc(self, size):
        return alloc_pinned_memory(size)

    def free_all_blocks(self):
        pass

    def n_free_blocks(self):
        return 0


default_pinned_pool = PinnedMemoryPool()
