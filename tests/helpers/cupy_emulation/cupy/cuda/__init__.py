"""Devices, streams and memory."""

from cupy.cuda import _memory, nvtx as nvtx, runtime as runtime
from cupy.cuda._device import Device as Device
from cupy.cuda._memory import (
    BaseMemory as BaseMemory,
    Memory as Memory,
    MemoryHook as MemoryHook,
    MemoryPointer as MemoryPointer,
    MemoryPool as MemoryPool,
    PinnedMemoryPool as PinnedMemoryPool,
    UnownedMemory as UnownedMemory,
    alloc as alloc,
    alloc_pinned_memory as alloc_pinned_memory,
    get_allocator as get_allocator,
    set_allocator as set_allocator,
    using_allocator as using_allocator,
)
from cupy.cuda._stream import (
    Event as Event,
    ExternalStream as ExternalStream,
    Stream as Stream,
    get_current_stream as get_current_stream,
    get_elapsed_time as get_elapsed_time,
)


def is_available():
    return runtime.getDeviceCount() > 0


def get_device_id():
    return runtime.getDevice()
