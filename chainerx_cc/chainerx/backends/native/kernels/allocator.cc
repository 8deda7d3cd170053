#include "chainerx/backends/native/kernels/allocator.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

#ifdef __linux__
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define CHAINERX_CACHE_BLOCKS 0  // the sanitizer checks every block
#else
#define CHAINERX_CACHE_BLOCKS 1
#endif

namespace chainerx::native {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{1} << 21;

// Size classes: 64, 128, 192, ..., 512, then eight per doubling, so that at most 1/8 of a block is unused.
constexpr int kStepBits = 3;
constexpr size_t kLinearLimit = kAlignment << kStepBits;  // 512
constexpr int kNumClasses = 8 + 8 * 40;
constexpr size_t kMaxSmall = size_t{1} << 16;
constexpr size_t kMaxBytes = size_t{1} << 47;
constexpr int kNumSmallClasses = 8 + 8 * 7;  // classes up to kMaxSmall

inline int SizeClass(size_t bytes) {
    if (bytes <= kLinearLimit) {
        return bytes == 0 ? 0 : static_cast<int>((bytes - 1) / kAlignment);
    }
    int log2 = 63 - __builtin_clzll(bytes - 1);                                         // >= 9
    int step = static_cast<int>((bytes - 1) >> (log2 - kStepBits)) - (1 << kStepBits);  // 0..7
    return 8 + ((log2 - 9) << kStepBits) + step;
}

inline size_t ClassBytes(int size_class) {
    if (size_class < 8) {
        return kAlignment * (size_class + 1);
    }
    int log2 = 9 + ((size_class - 8) >> kStepBits);
    size_t step = ((size_class - 8) & 7) + 1;
    return (size_t{1} << log2) + (step << (log2 - kStepBits));
}

class OutOfMemory : public std::bad_alloc {
public:
    explicit OutOfMemory(size_t bytes) {
        std::snprintf(text_, sizeof(text_), "cannot allocate %zu bytes of host memory", bytes);
    }
    const char* what() const noexcept override { return text_; }

private:
    char text_[64];  // more than the longest text
};

// A block, of which the first `used` bytes are wanted now: the rest takes no memory until then.
void* SystemAllocate(size_t bytes, size_t used) {
    size_t alignment = bytes >= 2 * kHugePage ? kHugePage : kAlignment;
    void* ptr = nullptr;
    if (posix_memalign(&ptr, alignment, bytes) != 0) {
        return nullptr;
    }
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (alignment == kHugePage) {
        size_t rounded = (used + kHugePage / 2) & ~(kHugePage - 1);
        madvise(ptr, std::min(rounded, bytes & ~(kHugePage - 1)), MADV_HUGEPAGE);  // fewer page faults; may be refused
    }
#endif
    return ptr;
}

// Frees a block whose pages go at once: blocks that grow step by step would leave holes that stay in memory.
void SystemFree(void* ptr, [[maybe_unused]] size_t bytes) noexcept {
#ifdef __linux__
    static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    auto begin = (reinterpret_cast<uintptr_t>(ptr) + page - 1) & ~(page - 1);
    auto end = (reinterpret_cast<uintptr_t>(ptr) + bytes) & ~(page - 1);
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
#endif
    std::free(ptr);
}

// A cached block holds the link of its free list in its first bytes.
struct Block {
    Block* next;
};

// Heads a block of scratch memory of so many bytes.
struct alignas(kAlignment) ScratchBlock {
    size_t bytes;
    char* data() { return reinterpret_cast<char*>(this + 1); }
};

// Counters are written by their owner only and read by anyone.
inline void Add(std::atomic<int64_t>& counter, int64_t value) {
    counter.store(counter.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}

// The scratch memory of a thread: a stack in one block. What does not fit has a block of its own, and when the stack is
// empty again, a block of the size of all takes the place of the one that was too small.
struct ScratchStack {
    std::atomic<ScratchBlock*> idle{nullptr};  // of an empty stack: whoever takes the block owns it
    ScratchBlock* block{nullptr};              // of another
    size_t top{0};
    size_t live{0};  // bytes, also of what does not fit
    size_t most{0};  // of them since the stack was empty
};

struct ThreadCache {
    Block* heads[kNumSmallClasses] = {};
    int32_t counts[kNumSmallClasses] = {};
    std::atomic<int64_t> allocated{0};  // bytes; negative where blocks of other threads are freed
    std::atomic<int64_t> cached{0};
    ScratchStack scratch;
    ThreadCache* next = nullptr;
    ThreadCache* previous = nullptr;
};

// The shared part. Never destroyed, so that arrays may be freed by static destructors.
class Central {
public:
    static Central& Get() {
        static Central* central = [] {
            auto* made = new Central{};
#ifdef __linux__
            pthread_atfork([] { Get().mutex_.lock(); }, [] { Get().mutex_.unlock(); }, [] { Get().mutex_.unlock(); });
#endif
            return made;
        }();
        return *central;
    }

    void* Allocate(int size_class, size_t used) {
        size_t bytes = ClassBytes(size_class);
        {
            std::lock_guard<std::mutex> lock{mutex_};
            if (Block* block = heads_[size_class]) {
                heads_[size_class] = block->next;
                cached_ -= static_cast<int64_t>(bytes);
                return block;
            }
        }
        return AllocateUncached(bytes, used);
    }

    void* AllocateUncached(size_t bytes, size_t used) {
        if (void* ptr = SystemAllocate(bytes, used)) {
            return ptr;
        }
        Release();
        if (void* ptr = SystemAllocate(bytes, used)) {
            return ptr;
        }
        throw OutOfMemory{bytes};
    }

    void* AllocateLarge(int size_class, size_t used) {
        void* ptr = Allocate(size_class, used);
        large_allocated_.fetch_add(static_cast<int64_t>(ClassBytes(size_class)), std::memory_order_relaxed);
        return ptr;
    }

    void FreeLarge(void* ptr, int size_class) noexcept {
        large_allocated_.fetch_sub(static_cast<int64_t>(ClassBytes(size_class)), std::memory_order_relaxed);
        Free(ptr, size_class);
    }

    void Free(void* ptr, int size_class) noexcept {
        auto bytes = static_cast<int64_t>(ClassBytes(size_class));
        {
            std::lock_guard<std::mutex> lock{mutex_};
            if (CHAINERX_CACHE_BLOCKS && cached_ + bytes <= CacheLimit()) {
                auto* block = static_cast<Block*>(ptr);
                block->next = heads_[size_class];
                heads_[size_class] = block;
                cached_ += bytes;
                return;
            }
        }
        std::free(ptr);
    }

    ScratchBlock* AllocateScratch(size_t bytes) {
        bytes += sizeof(ScratchBlock);
        auto* block = new (AllocateUncached(bytes, bytes)) ScratchBlock{bytes};
        scratch_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
        return block;
    }

    void FreeScratch(ScratchBlock* block) noexcept {
        if (block == nullptr) return;
        scratch_.fetch_sub(static_cast<int64_t>(block->bytes), std::memory_order_relaxed);
        SystemFree(block, block->bytes);
    }

    bool KeepsScratch() const { return scratch_.load(std::memory_order_relaxed) <= CacheLimit(); }

    void Release() noexcept {
        Block* released[kNumClasses];
        {
            std::lock_guard<std::mutex> lock{mutex_};
            for (ThreadCache* cache = caches_; cache != nullptr; cache = cache->next) {
                FreeScratch(cache->scratch.idle.exchange(nullptr));
            }
            std::copy(heads_, heads_ + kNumClasses, released);
            std::fill(heads_, heads_ + kNumClasses, nullptr);
            cached_ = 0;
        }
        for (Block* block : released) {
            while (block != nullptr) {
                Block* next = block->next;
                std::free(block);
                block = next;
            }
        }
    }

    void Register(ThreadCache* cache) {
        std::lock_guard<std::mutex> lock{mutex_};
        cache->next = caches_;
        if (caches_ != nullptr) {
            caches_->previous = cache;
        }
        caches_ = cache;
    }

    void Unregister(ThreadCache* cache) {
        std::lock_guard<std::mutex> lock{mutex_};
        (cache->previous != nullptr ? cache->previous->next : caches_) = cache->next;
        if (cache->next != nullptr) {
            cache->next->previous = cache->previous;
        }
        small_allocated_of_ended_threads_ += cache->allocated.load();
    }

    void AddSmallAllocated(int64_t bytes) {
        std::lock_guard<std::mutex> lock{mutex_};
        small_allocated_of_ended_threads_ += bytes;
    }

    int64_t AllocatedBytes() {
        std::lock_guard<std::mutex> lock{mutex_};
        int64_t total = small_allocated_of_ended_threads_ + large_allocated_.load();
        for (ThreadCache* cache = caches_; cache != nullptr; cache = cache->next) {
            total += cache->allocated.load(std::memory_order_relaxed);
        }
        return total;
    }

    int64_t CachedBytes() {
        std::lock_guard<std::mutex> lock{mutex_};
        int64_t total = cached_ + scratch_.load();
        for (ThreadCache* cache = caches_; cache != nullptr; cache = cache->next) {
            total += cache->cached.load(std::memory_order_relaxed);
        }
        return total;
    }

private:
    static constexpr int64_t kCacheAllowance = int64_t{256} << 20;

    // Beyond a fixed allowance, no more bytes than are in use, so that a cache at most doubles the footprint.
    int64_t CacheLimit() const { return std::max(kCacheAllowance, large_allocated_.load(std::memory_order_relaxed)); }

    std::mutex mutex_;
    Block* heads_[kNumClasses] = {};
    int64_t cached_{0};
    std::atomic<int64_t> large_allocated_{0};
    std::atomic<int64_t> scratch_{0};
    int64_t small_allocated_of_ended_threads_{0};
    ThreadCache* caches_{nullptr};
};

void FlushThreadCache(ThreadCache& cache, int size_class, int keep) noexcept {
    auto bytes = static_cast<int64_t>(ClassBytes(size_class));
    while (cache.counts[size_class] > keep) {
        Block* block = cache.heads[size_class];
        cache.heads[size_class] = block->next;
        --cache.counts[size_class];
        Add(cache.cached, -bytes);
        Central::Get().Free(block, size_class);
    }
}

#if defined(__GNUC__) && defined(__linux__)
__attribute__((tls_model("initial-exec")))
#endif
thread_local ThreadCache* t_cache = nullptr;
thread_local bool t_ended = false;

// Returns the thread's blocks to the central cache when the thread ends. Later frees go there directly.
struct ThreadCacheOwner {
    ~ThreadCacheOwner() {
        ThreadCache* cache = t_cache;
        t_cache = nullptr;
        t_ended = true;
        for (int size_class = 0; size_class < kNumSmallClasses; ++size_class) {
            FlushThreadCache(*cache, size_class, 0);
        }
        Central::Get().FreeScratch(cache->scratch.idle.exchange(nullptr));
        Central::Get().Unregister(cache);
        delete cache;
    }
};

ThreadCache* MakeThreadCache() {
    if (t_ended || !CHAINERX_CACHE_BLOCKS) {
        return nullptr;
    }
    auto* cache = new ThreadCache{};
    Central::Get().Register(cache);
    t_cache = cache;
    static thread_local ThreadCacheOwner owner;
    (void)owner;
    return cache;
}

void* AllocateSmallSlow(int size_class) {
    ThreadCache* cache = t_cache != nullptr ? t_cache : MakeThreadCache();
    auto bytes = static_cast<int64_t>(ClassBytes(size_class));
    void* ptr = Central::Get().Allocate(size_class, bytes);
    if (cache != nullptr) {
        Add(cache->allocated, bytes);
    } else {
        Central::Get().AddSmallAllocated(bytes);
    }
    return ptr;
}

// Takes the block of an empty stack, for `bytes` at least.
void TakeScratch(ScratchStack& stack, size_t bytes) {
    stack.block = nullptr;
    stack.top = stack.most = 0;
    ScratchBlock* block = stack.idle.exchange(nullptr, std::memory_order_acquire);
    if (block == nullptr || block->bytes < sizeof(ScratchBlock) + bytes) {
        Central::Get().FreeScratch(block);
        block = Central::Get().AllocateScratch(bytes);
    }
    stack.block = block;
}

// Keeps the block of a stack that is empty now. A new one takes no memory until it is used.
void KeepScratch(ScratchStack& stack) noexcept {
    ScratchBlock* block = stack.block;
    try {
        if (block->bytes < sizeof(ScratchBlock) + stack.most) {
            Central::Get().FreeScratch(block);
            block = nullptr;
            block = Central::Get().AllocateScratch(stack.most);
        }
    } catch (const OutOfMemory&) {
        return;  // the next use tries again
    }
    if (Central::Get().KeepsScratch()) {
        stack.idle.store(block, std::memory_order_release);
    } else {
        Central::Get().FreeScratch(block);
    }
}

}  // namespace

void* Allocate(size_t bytes) {
    if (bytes > kMaxSmall) {
        if (bytes > kMaxBytes) {
            throw OutOfMemory{bytes};
        }
        return Central::Get().AllocateLarge(SizeClass(bytes), bytes);
    }
    int size_class = SizeClass(bytes);
    ThreadCache* cache = t_cache;
    if (cache == nullptr || cache->heads[size_class] == nullptr) {
        return AllocateSmallSlow(size_class);
    }
    Block* block = cache->heads[size_class];
    cache->heads[size_class] = block->next;
    --cache->counts[size_class];
    auto size = static_cast<int64_t>(ClassBytes(size_class));
    Add(cache->cached, -size);
    Add(cache->allocated, size);
    return block;
}

void Free(void* ptr, size_t bytes) noexcept {
    if (ptr == nullptr) {
        return;
    }
    int size_class = SizeClass(bytes);
    if (bytes > kMaxSmall) {
        Central::Get().FreeLarge(ptr, size_class);
        return;
    }
    ThreadCache* cache = t_cache;
    if (cache == nullptr) {
        cache = MakeThreadCache();
    }
    auto size = static_cast<int64_t>(ClassBytes(size_class));
    if (cache == nullptr) {
        Central::Get().AddSmallAllocated(-size);
        Central::Get().Free(ptr, size_class);
        return;
    }
    auto* block = static_cast<Block*>(ptr);
    block->next = cache->heads[size_class];
    cache->heads[size_class] = block;
    Add(cache->cached, size);
    Add(cache->allocated, -size);
    // A thread that only frees must not hoard blocks: move half of a long list to the central cache.
    constexpr int kMaxCount = 128;
    constexpr int64_t kMaxListBytes = int64_t{1} << 19;
    int count = ++cache->counts[size_class];
    if (count > kMaxCount || count * size > kMaxListBytes) {
        FlushThreadCache(*cache, size_class, count / 2);
    }
}

void* AllocateScratch(size_t bytes) {
    if (bytes <= kMaxSmall || bytes > kMaxBytes) return Allocate(bytes);
    ThreadCache* cache = t_cache != nullptr ? t_cache : MakeThreadCache();
    if (cache == nullptr) return Allocate(bytes);
    ScratchStack& stack = cache->scratch;
    bytes = (bytes + kAlignment - 1) & ~(kAlignment - 1);
    if (stack.live == 0) TakeScratch(stack, bytes);
    char* data = stack.block->data() + stack.top;
    if (sizeof(ScratchBlock) + stack.top + bytes <= stack.block->bytes) {
        stack.top += bytes;
    } else {
        data = Central::Get().AllocateScratch(bytes)->data();
    }
    stack.live += bytes;
    stack.most = std::max(stack.most, stack.live);
    return data;
}

void FreeScratch(void* ptr, size_t bytes) noexcept {
    ThreadCache* cache = t_cache;
    if (bytes <= kMaxSmall || cache == nullptr) return Free(ptr, bytes);
    ScratchStack& stack = cache->scratch;
    bytes = (bytes + kAlignment - 1) & ~(kAlignment - 1);
    auto* data = static_cast<char*>(ptr);
    size_t end = static_cast<size_t>(data - stack.block->data()) + bytes;
    if (end == stack.top) {
        stack.top -= bytes;
    } else if (end > stack.top) {
        Central::Get().FreeScratch(reinterpret_cast<ScratchBlock*>(data) - 1);
    }  // else one below others
    stack.live -= bytes;
    if (stack.live == 0) KeepScratch(stack);
}

void ReleaseCachedMemory() noexcept {
    if (ThreadCache* cache = t_cache) {
        for (int size_class = 0; size_class < kNumSmallClasses; ++size_class) {
            FlushThreadCache(*cache, size_class, 0);
        }
    }
    int64_t bytes = CachedBytes();
    Central::Get().Release();
#ifdef __GLIBC__
    if (bytes > (int64_t{1} << 20)) malloc_trim(0);  // takes longer than all else
#endif
}

int64_t AllocatedBytes() { return Central::Get().AllocatedBytes(); }

int64_t CachedBytes() { return Central::Get().CachedBytes(); }

}  // namespace chainerx::native
