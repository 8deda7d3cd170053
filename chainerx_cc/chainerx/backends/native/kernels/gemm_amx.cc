#include <cstdlib>
#include <cstring>
#include <vector>

#include "chainerx/backends/native/kernels/gemm_bf16.h"
#include "chainerx/backends/native/kernels/half.h"

#if defined(CHAINERX_HAS_AMX) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace chainerx::native {

bool IsAmxEnabled(uint32_t cpuid, uint32_t xcr0) {
    constexpr uint32_t kInstructions = 1U << 22 | 1U << 24;  // amx-bf16, amx-tile
    constexpr uint32_t kTiles = 1U << 17 | 1U << 18;         // their configuration and data
    return (cpuid & kInstructions) == kInstructions && (xcr0 & kTiles) == kTiles;
}

bool AreEqualOnIntegers(Bf16Product first, Bf16Product second) {
    constexpr int64_t n = 41;
    constexpr int64_t k = 70;
    constexpr int64_t kWidth = 3 * kAmxDepth;
    for (int64_t m : {19, 53}) {
        // Up to 8 bits, and so below 2^24 in sums
        uint32_t state = 1;
        auto draw = [&state] {
            state = state * 1664525 + 1013904223;
            return FloatToBfloat16(static_cast<float>(state >> 24) - 128);
        };
        std::vector<uint16_t> a(m * kWidth);
        std::vector<uint16_t> b(k * n);
        std::vector<uint16_t> c(m * n);
        for (int64_t i = 0; i < m * kWidth; ++i) a[i] = i % kWidth < k ? draw() : 0;
        for (uint16_t& v : b) v = draw();
        for (uint16_t& v : c) v = draw();
        std::vector<uint16_t> expected = c;
        first(m, n, k, a.data(), kWidth, {false, b.data(), n}, 1, c.data(), n);
        second(m, n, k, a.data(), kWidth, {false, b.data(), n}, 1, expected.data(), n);
        if (c != expected) return false;
    }
    return true;
}

#if defined(CHAINERX_HAS_AMX) && defined(__linux__)

namespace {

bool IsProcessorEnabled() {
    uint32_t eax, ebx, ecx, edx;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
    uint32_t xcr0, high;
    __asm__ volatile("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));  // exists, as AVX-512 does
    return IsAmxEnabled(edx, xcr0);
}

// Asks Linux to save tiles for all threads of this process, present and future. It refuses where a thread handles
// signals on a stack without room for them.
bool GetPermission() {
    constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
    constexpr int kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

Bf16Product GetAmxProduct() {
    static const Bf16Product product = [] {
        const char* name = std::getenv("CHAINERX_ISA");
        bool is_lowered = name != nullptr && std::strcmp(name, "bf16") == 0;
        bool has_amx = HasBf16() && !is_lowered && IsProcessorEnabled() && GetPermission() &&
                       AreEqualOnIntegers(bf16::MultiplyAmxBf16, bf16::MultiplyBf16);
        return has_amx ? bf16::MultiplyAmxBf16 : nullptr;
    }();
    return product;
}

#else

Bf16Product GetAmxProduct() { return nullptr; }

#endif

}  // namespace chainerx::native
