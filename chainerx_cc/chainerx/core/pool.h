#pragma once

#include <cstddef>

namespace chainerx::internal {

// Memory for small objects (array bodies, graph nodes) from per-thread free lists.
void* PoolAllocate(size_t bytes);
void PoolFree(void* p, size_t bytes) noexcept;

// Base for classes whose objects live in the pool.
struct Pooled {
    static void* operator new(size_t bytes) { return PoolAllocate(bytes); }
    static void operator delete(void* p, size_t bytes) noexcept { PoolFree(p, bytes); }
};

}  // namespace chainerx::internal
