#pragma once

// The documentation of the memory of devices; see python/doc.h for the form.

namespace chainerx::python::docs {

constexpr const char* kMemoryStatistics = R"(
Tells how much memory the arrays of the device use.

``'used'`` are the bytes of arrays. ``'reserved'`` are those taken from the driver: for arrays, for work in progress
and for arrays to come; other libraries that allocate from the driver's pool count here, too. ``'peak_used'`` and
``'peak_reserved'`` are the largest values so far, ``'allocations'`` and ``'retries'`` count the blocks that were given
to arrays and those that first waited for the device and freed unused blocks. ``'limit'`` is what
:meth:`set_memory_limit` has set, or None.

Returns:
    dict: The numbers.

Raises:
    ~chainerx.NotImplementedError: If the device keeps no account, as those of the native backend.

>>> try:
...     print(chainerx.get_device('cuda:0').memory_statistics()['used'])
... except chainerx.BackendError:    # no GPU
...     pass
)";

constexpr const char* kResetMemoryPeaks = R"(
Resets the peaks and the counts of :meth:`memory_statistics`.

Raises:
    ~chainerx.NotImplementedError: If the device keeps no account, as those of the native backend.

>>> try:
...     chainerx.get_device('cuda:0').reset_memory_peaks()
... except chainerx.BackendError:    # no GPU
...     pass
)";

constexpr const char* kSetMemoryLimit = R"(
Limits the memory of the device's arrays.

An array for which there is no room raises ``MemoryError``. The limit also applies to the memory that is kept for new
arrays, the next time that something waits for the device.

Args:
    size (int or None): Number of bytes; None for no limit but the memory of the device.

Raises:
    ~chainerx.NotImplementedError: If the device keeps no account, as those of the native backend.
    ~chainerx.ValueError: If the size is negative.

>>> try:
...     chainerx.get_device('cuda:0').set_memory_limit(8 * 2**30)
... except chainerx.BackendError:    # no GPU
...     pass
)";

constexpr const char* kFreeUnusedBlocks = R"(
Waits for the device and gives memory that is kept for new arrays back to the driver or the operating system, so that
other programs can use it.

Devices of the native backend share what they keep, but for small blocks, which each thread keeps, and one block for the
scratch memory of kernels in each thread, which goes, too, if no kernel uses it. Devices that keep none do nothing.

>>> chainerx.get_device('native:0').free_unused_blocks()
)";

}  // namespace chainerx::python::docs
