#pragma once

#include <cstddef>
#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// Memory for arrays: 64-byte aligned, uninitialized, cached after use. Small blocks come from free lists of the calling
// thread, large ones from a shared cache. A block may be freed on any thread, with the size of its allocation.
// Allocate(0) gives a valid block. Throws std::bad_alloc when memory is exhausted.
void* Allocate(size_t bytes);
void Free(void* ptr, size_t bytes) noexcept;

// Returns cached blocks (the shared ones, those of the calling thread and scratch memory that no thread uses) to the
// system.
void ReleaseCachedMemory() noexcept;

// The same for memory that goes at the end of a scope, on the same thread. Large ones are parts of one block of the
// thread, which is kept: kernels of all sizes share it, where each size would keep a block of its own.
void* AllocateScratch(size_t bytes);
void FreeScratch(void* ptr, size_t bytes) noexcept;

// Bytes in allocated blocks, and bytes kept for reuse, of all threads. Large scratch memory is of the latter.
int64_t AllocatedBytes();
int64_t CachedBytes();

// Uninitialized elements of an object, such as packed weights. Members of this and the next class are always inlined
// because sources compiled for several instruction sets use them (see isa.h).
template <class T, void* (*kAllocate)(size_t) = &Allocate, void (*kFree)(void*, size_t) noexcept = &Free>
class Buffer {
public:
    CHAINERX_INLINE explicit Buffer(int64_t count)
        : bytes_{static_cast<size_t>(count) * sizeof(T)}, data_{static_cast<T*>(kAllocate(bytes_))} {}
    CHAINERX_INLINE ~Buffer() { kFree(data_, bytes_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    CHAINERX_INLINE T* data() const { return data_; }

private:
    size_t bytes_;
    T* data_;
};

// Those of a scope, for scratch space of kernels.
template <class T>
using Scratch = Buffer<T, &AllocateScratch, &FreeScratch>;

}  // namespace chainerx::native
