#include "chainerx/backends/native/kernels/quantize.h"
#include "chainerx/backends/native/kernels/simd.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

constexpr int64_t kGrain = 1 << 15;

struct Range {
    float least;
    float most;
    bool has_nan;
};

Range RangeOf(int64_t n, const float* x) {
    using V = Vec<float>;
    constexpr int kSize = Simd<float>::kSize;
    constexpr int kChains = 4;
    V least[kChains] = {};
    V most[kChains] = {};
    typename LaneMask<float>::V has_nan{};
    auto add = [&](int chain, V v) __attribute__((always_inline)) {
        least[chain] = v < least[chain] ? v : least[chain];
        most[chain] = v > most[chain] ? v : most[chain];
        has_nan |= v != v;
    };
    int64_t i = 0;
    for (; i + kChains * kSize <= n; i += kChains * kSize) {
#pragma GCC unroll 4
        for (int c = 0; c < kChains; ++c) add(c, Load(x + i + c * kSize));
    }
    for (; i + kSize <= n; i += kSize) add(0, Load(x + i));
    if (i < n) add(0, LoadPartial(x + i, static_cast<int>(n - i)));
    Range range{0, 0, false};
    for (int lane = 0; lane < kSize; ++lane) {
        for (int c = 0; c < kChains; ++c) {
            range.least = least[c][lane] < range.least ? least[c][lane] : range.least;
            range.most = most[c][lane] > range.most ? most[c][lane] : range.most;
        }
        range.has_nan = range.has_nan || has_nan[lane] != 0;
    }
    return range;
}

// Bytes may share memory with anything, so the compiler vectorizes only with __restrict.
template <class T>
void QuantizePart(int64_t n, const float* __restrict x, float scale, int32_t zero, T* __restrict y) {
    // Adding this number rounds away what is below one, and leaves the integer in its last bits.
    constexpr float kMagic = 12582912.0F;  // 1.5 * 2^23
    constexpr int32_t kMagicBits = 0x4B400000;
    constexpr int32_t kLeast = std::is_signed_v<T> ? -128 : 0;
    auto least = static_cast<float>(kLeast - zero);
    auto most = static_cast<float>(kLeast + 255 - zero);
    for (int64_t i = 0; i < n; ++i) {
        float v = x[i] / scale;
        v = v > least ? v : least;
        v = v < most ? v : most;
        v += kMagic;
        int32_t bits;
        __builtin_memcpy(&bits, &v, sizeof(bits));
        y[i] = static_cast<T>(bits - kMagicBits + zero);
    }
}

template <class T>
void DequantizePart(int64_t n, const T* __restrict x, float scale, int32_t zero, float* __restrict y) {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i] - zero) * scale;
}

}  // namespace

template <>
void FindRange<float>(int64_t n, const float* x, float* out) {
    constexpr int kMaxParts = 64;
    Range ranges[kMaxParts];
    int64_t parts = n / kGrain < 1 ? 1 : n / kGrain < kMaxParts ? n / kGrain : kMaxParts;
    ParallelFor(parts, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            int64_t first = n / parts * i;
            int64_t last = i == parts - 1 ? n : n / parts * (i + 1);
            ranges[i] = RangeOf(last - first, x + first);
        }
    });
    out[0] = 0;
    out[1] = 0;
    for (int64_t i = 0; i < parts; ++i) {
        out[0] = ranges[i].least < out[0] ? ranges[i].least : out[0];
        out[1] = ranges[i].most > out[1] ? ranges[i].most : out[1];
    }
    for (int64_t i = 0; i < parts; ++i) {
        if (ranges[i].has_nan) {
            out[0] = __builtin_nanf("");
            out[1] = __builtin_nanf("");
        }
    }
}

template <class T>
void Quantize(int64_t n, const float* x, float scale, int32_t zero, T* y) {
    ParallelFor(n, kGrain,
                [=](int64_t begin, int64_t end) { QuantizePart(end - begin, x + begin, scale, zero, y + begin); });
}

template <class T>
void Dequantize(int64_t n, const T* x, float scale, int32_t zero, float* y) {
    ParallelFor(n, kGrain,
                [=](int64_t begin, int64_t end) { DequantizePart(end - begin, x + begin, scale, zero, y + begin); });
}

#define CHAINERX_INSTANTIATE(T)                                           \
    template void Quantize<T>(int64_t, const float*, float, int32_t, T*); \
    template void Dequantize<T>(int64_t, const T*, float, int32_t, float*);
CHAINERX_INSTANTIATE(int8_t)
CHAINERX_INSTANTIATE(uint8_t)
#undef CHAINERX_INSTANTIATE

}  // namespace chainerx::native::CHAINERX_ISA
