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

// Returns cached blocks (the shared ones and those of the calling thread) to the system.
void ReleaseCachedMemory() noexcept;

// Bytes in allocated blocks, and bytes kept for reuse, of all threads.
int64_t AllocatedBytes();
int64_t CachedBytes();

// A block that lives as long as a scope, for scratch space of kernels. Its members are always inlined because sources
// compiled for several instruction sets use it (see isa.h).
template <class T>
class Scratch {
public:
    CHAINERX_INLINE explicit Scratch(int64_t count)
        : bytes_{static_cast<size_t>(count) * sizeof(T)}, data_{static_cast<T*>(Allocate(bytes_))} {}
    CHAINERX_INLINE ~Scratch() { Free(data_, bytes_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    CHAINERX_INLINE T* data() const { return data_; }

private:
    size_t bytes_;
    T* data_;
};

}  // namespace chainerx::native
