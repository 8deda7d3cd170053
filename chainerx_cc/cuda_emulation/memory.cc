#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

namespace cuda_emulation {
namespace {

constexpr size_t kReserved = size_t{4} << 30;  // addresses of each device
constexpr size_t kAlignment = 512;
constexpr size_t kPage = 4096;
// Of freed memory, so much may stay in use as filled pages.
constexpr size_t kMostFilled = size_t{16} << 20;

size_t GetEnvironment(const char* name, size_t value) {
    const char* text = std::getenv(name);
    return text == nullptr ? value : std::strtoull(text, nullptr, 10);
}

// First-fit allocation, with free neighbours joined.
struct Device {
    std::map<char*, size_t> free;
    std::map<char*, size_t> used;
    size_t used_bytes{0};
    size_t reserved{0};
    size_t peak_reserved{0};
    size_t reached{0};  // bytes from the first address on that have been in use
    size_t filled{0};   // bytes of freed memory that were filled since all free pages were returned
};

struct Memory {
    Memory() {
        int protection = IsMemoryShared() ? PROT_READ | PROT_WRITE : PROT_NONE;
        void* p =
                mmap(nullptr, kReserved * kMaxDevices, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) std::abort();
        base = static_cast<char*>(p);
        total = std::min(GetEnvironment("CHAINERX_CUDA_EMULATION_BYTES", size_t{2} << 30), kReserved);
        for (int i = 0; i < kMaxDevices; ++i) devices[i].free[base + i * kReserved] = total;
    }

    std::recursive_mutex mutex;
    char* base;
    size_t total;
    int open{0};
    Device devices[kMaxDevices];
};

Memory& GetMemory() {
    static auto* memory = new Memory;  // never freed: arrays may live longer than static objects
    return *memory;
}

// Protecting memory takes time for each page in use.
void ReturnPages(char* begin, char* end) {
    auto first = (reinterpret_cast<uintptr_t>(begin) + kPage - 1) / kPage * kPage;
    auto last = reinterpret_cast<uintptr_t>(end) / kPage * kPage;
    if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

void Protect(int protection) {
    if (IsMemoryShared()) return;
    Memory& m = GetMemory();
    for (int i = 0; i < kMaxDevices; ++i) {
        size_t bytes = (m.devices[i].reached + kPage - 1) / kPage * kPage;
        if (bytes != 0) mprotect(m.base + i * kReserved, bytes, protection);
    }
}

}  // namespace

int DeviceCount() {
    static const auto count = static_cast<int>(GetEnvironment("CHAINERX_CUDA_EMULATION_DEVICES", 4));
    return std::clamp(count, 0, kMaxDevices);
}

bool IsMemoryShared() {
    static const bool is_shared = GetEnvironment("CHAINERX_CUDA_EMULATION_SHARED", 0) != 0;
    return is_shared;
}

void* AllocateMemory(int device, size_t bytes) {
    Memory& m = GetMemory();
    std::lock_guard<std::recursive_mutex> lock{m.mutex};
    Device& d = m.devices[device];
    if (bytes > m.total) return nullptr;
    size_t rounded = std::max<size_t>((bytes + kAlignment - 1) / kAlignment, 1) * kAlignment;
    for (auto it = d.free.begin(); it != d.free.end(); ++it) {
        auto [p, length] = *it;
        if (length < rounded) continue;
        d.free.erase(it);
        if (length > rounded) d.free[p + rounded] = length - rounded;
        d.used[p] = rounded;
        d.used_bytes += rounded;
        d.reserved = std::max(d.reserved, d.used_bytes);
        d.peak_reserved = std::max(d.peak_reserved, d.reserved);
        d.reached = std::max(d.reached, static_cast<size_t>(p + rounded - (m.base + device * kReserved)));
        return p;
    }
    return nullptr;
}

void FreeMemory(void* pointer) {
    Memory& m = GetMemory();
    std::lock_guard<std::recursive_mutex> lock{m.mutex};
    auto* p = static_cast<char*>(pointer);
    Device& d = m.devices[DeviceOf(p)];
    auto block = d.used.find(p);
    if (block == d.used.end()) std::abort();  // freed twice
    size_t length = block->second;
    d.used.erase(block);
    d.used_bytes -= length;
    {
        MemoryAccess access;
        std::memset(p, 0xff, std::min(length, kPage));
        d.filled += std::min(length, kPage);
    }
    ReturnPages(p + kPage, p + length);
    auto next = d.free.lower_bound(p);
    if (next != d.free.end() && p + length == next->first) {
        length += next->second;
        next = d.free.erase(next);
    }
    if (next != d.free.begin() && std::prev(next)->first + std::prev(next)->second == p) {
        std::prev(next)->second += length;
    } else {
        d.free[p] = length;
    }
    if (d.filled > kMostFilled) {
        for (auto [begin, bytes] : d.free) ReturnPages(begin, begin + bytes);
        d.filled = 0;
    }
}

MemoryUse GetMemoryUse(int device) {
    Memory& m = GetMemory();
    std::lock_guard<std::recursive_mutex> lock{m.mutex};
    const Device& d = m.devices[device];
    return {m.total, d.used_bytes, d.reserved, d.peak_reserved};
}

void TrimMemory(int device) {
    Memory& m = GetMemory();
    std::lock_guard<std::recursive_mutex> lock{m.mutex};
    m.devices[device].reserved = m.devices[device].used_bytes;
}

void ResetPeakMemory(int device) {
    Memory& m = GetMemory();
    std::lock_guard<std::recursive_mutex> lock{m.mutex};
    m.devices[device].peak_reserved = m.devices[device].reserved;
}

int DeviceOf(const void* pointer) {
    const auto* p = static_cast<const char*>(pointer);
    const char* base = GetMemory().base;
    if (p < base || p >= base + kReserved * kMaxDevices) return -1;
    return static_cast<int>(static_cast<size_t>(p - base) / kReserved);
}

MemoryAccess::MemoryAccess() {
    Memory& m = GetMemory();
    std::lock_guard<std::recursive_mutex> lock{m.mutex};
    if (m.open++ == 0) Protect(PROT_READ | PROT_WRITE);
}

MemoryAccess::~MemoryAccess() {
    Memory& m = GetMemory();
    std::lock_guard<std::recursive_mutex> lock{m.mutex};
    if (--m.open == 0) Protect(PROT_NONE);
}

}  // namespace cuda_emulation
