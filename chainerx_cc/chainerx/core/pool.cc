#include "chainerx/core/pool.h"

#include <cstdint>
#include <cstdlib>
#include <new>

namespace chainerx::internal {
namespace {

constexpr size_t kGranule = 64;
constexpr size_t kClasses = 16;  // blocks up to 1 KiB
constexpr uint32_t kMaxKept = 1024;

struct Block {
    Block* next;
};

// Trivially constructible and destructible, so it stays usable while other thread-local objects are destroyed.
struct FreeLists {
    Block* head[kClasses];
    uint32_t count[kClasses];
    bool closed;
};

thread_local FreeLists t_lists;

struct Closer {
    ~Closer() {
        t_lists.closed = true;
        for (Block*& head : t_lists.head) {
            while (head != nullptr) {
                Block* next = head->next;
                std::free(head);
                head = next;
            }
        }
    }
    void Touch() const {}
};

thread_local Closer t_closer;

void* SystemAllocate(size_t cls) {
    t_closer.Touch();
    void* p = std::aligned_alloc(kGranule, (cls + 1) * kGranule);
    if (p == nullptr) throw std::bad_alloc{};
    return p;
}

}  // namespace

void* PoolAllocate(size_t bytes) {
    size_t cls = (bytes - 1) / kGranule;
    if (cls >= kClasses) return ::operator new(bytes);
    FreeLists& lists = t_lists;
    if (Block* block = lists.head[cls]) {
        lists.head[cls] = block->next;
        --lists.count[cls];
        return block;
    }
    return SystemAllocate(cls);
}

void PoolFree(void* p, size_t bytes) noexcept {
    if (p == nullptr) return;
    size_t cls = (bytes - 1) / kGranule;
    if (cls >= kClasses) return ::operator delete(p);
    FreeLists& lists = t_lists;
    if (lists.closed || lists.count[cls] >= kMaxKept) return std::free(p);
    auto* block = static_cast<Block*>(p);
    block->next = lists.head[cls];
    lists.head[cls] = block;
    ++lists.count[cls];
}

}  // namespace chainerx::internal
