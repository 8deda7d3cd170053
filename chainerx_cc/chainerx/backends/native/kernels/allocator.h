#pragma once

#include <cstddef>
#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// Memory for arrays: 64-byte aligned, uninitialized, cached after use. Small blocks come from free lists of
// the calling thread, large ones from a shared cache. A block may be freed on any thread, with the size it
// was asked for with. Allocate(0) gives a valid block. Throws std::bad_alloc when memory is exhausted.
void* Allocate(size_t bytes);
void Free(void* ptr, size_t bytes) noexcept;

// Gives cached blocks (the shared ones and those of the calling thread) back to the system.
void ReleaseCachedMemory() noexcept;

// Bytes in blocks now handed out, and bytes kept for reuse, over all threads.
int64_t AllocatedBytes();
int64_t CachedBytes();

// A block for the time of a scope: scratch space of kernels. Its members are always inlined because it is
// used in sources compiled for several instruction sets (see isa.h).
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
