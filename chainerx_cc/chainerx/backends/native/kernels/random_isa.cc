#include "chainerx/backends/native/kernels/random.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/math/elementary.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

constexpr int64_t kChunk = kRandomChunk;
constexpr int64_t kGrainChunks = 32;

// Ten rounds on the counters of a chunk. The low word of the position does not overflow within a chunk.
CHAINERX_INLINE void Philox(uint64_t key, uint64_t position, uint32_t* w0, uint32_t* w1, uint32_t* w2, uint32_t* w3) {
    auto low = static_cast<uint32_t>(position);
    auto high = static_cast<uint32_t>(position >> 32);
    auto key_low = static_cast<uint32_t>(key);
    auto key_high = static_cast<uint32_t>(key >> 32);
#pragma GCC ivdep
    for (int64_t i = 0; i < kChunk; ++i) {
        uint32_t c0 = low + static_cast<uint32_t>(i);
        uint32_t c1 = high;
        uint32_t c2 = 0;
        uint32_t c3 = 0;
        uint32_t k0 = key_low;
        uint32_t k1 = key_high;
#pragma GCC unroll 10
        for (int round = 0; round < 10; ++round) {
            uint64_t p0 = uint64_t{0xD2511F53} * c0;
            uint64_t p1 = uint64_t{0xCD9E8D57} * c2;
            c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
            c1 = static_cast<uint32_t>(p1);
            c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
            c3 = static_cast<uint32_t>(p0);
            k0 += 0x9E3779B9U;
            k1 += 0xBB67AE85U;
        }
        w0[i] = c0;
        w1[i] = c1;
        w2[i] = c2;
        w3[i] = c3;
    }
}

// body(words, first element, number of elements) for the chunks of an array, in parallel. Of the words there are four
// rows of kChunk.
template <class F>
void ForChunks(int64_t n, int64_t per_counter, uint64_t key, uint64_t position, const F& body) {
    int64_t per_chunk = per_counter * kChunk;
    ParallelFor((n + per_chunk - 1) / per_chunk, kGrainChunks, [&](int64_t begin, int64_t end) {
        alignas(64) uint32_t words[4 * kChunk];
        for (int64_t i = begin; i < end; ++i) {
            Philox(key, position + static_cast<uint64_t>(i * kChunk), words, words + kChunk, words + 2 * kChunk,
                   words + 3 * kChunk);
            int64_t left = n - i * per_chunk;
            body(words, i * per_chunk, left < per_chunk ? left : per_chunk);
        }
    });
}

// The same for values that are made chunk by chunk: make(words, out).
template <class T, class F>
void Generate(int64_t n, uint64_t key, uint64_t position, T* out, const F& make) {
    constexpr int64_t kValues = kRandomPerCounter<T> * kChunk;
    ForChunks(n, kRandomPerCounter<T>, key, position, [&](const uint32_t* words, int64_t first, int64_t count) {
        if (count == kValues) {
            make(words, out + first);
            return;
        }
        alignas(64) T values[kValues];
        make(words, values);
        for (int64_t i = 0; i < count; ++i) {
            out[first + i] = values[i];
        }
    });
}

// In [0, 1), with 53 bits.
CHAINERX_INLINE double Uniform53(uint32_t a, uint32_t b) {
    return (static_cast<double>(static_cast<int32_t>(a >> 5)) * 67108864.0 +
            static_cast<double>(static_cast<int32_t>(b >> 6))) *
           0x1p-53;
}

CHAINERX_INLINE void MakeUniform(const uint32_t* words, float shift, float factor, float* out) {
#pragma GCC ivdep
    for (int64_t i = 0; i < 4 * kChunk; ++i) {
        out[i] = shift + factor * (static_cast<float>(static_cast<int32_t>(words[i] >> 8)) * 0x1p-24F);
    }
}

CHAINERX_INLINE void MakeUniform(const uint32_t* words, double shift, double factor, double* out) {
    for (int64_t half = 0; half < 2; ++half) {
        const uint32_t* w = words + 2 * half * kChunk;
#pragma GCC ivdep
        for (int64_t i = 0; i < kChunk; ++i) {
            out[half * kChunk + i] = shift + factor * Uniform53(w[i], w[kChunk + i]);
        }
    }
}

// A pair of normal numbers from a radius with u in (0, 1] and an angle in [-pi, pi].
template <class T>
CHAINERX_INLINE void BoxMuller(T u, T angle, T shift, T factor, T* a, T* b) {
    T radius = factor * math::Sqrt(T{-2} * math::Log(u));
    *a = shift + radius * math::CosBounded(angle);
    *b = shift + radius * math::SinBounded(angle);
}

CHAINERX_INLINE void MakeNormal(const uint32_t* words, float shift, float factor, float* out) {
    for (int64_t half = 0; half < 2; ++half) {
        const uint32_t* w = words + 2 * half * kChunk;
        float* a = out + 2 * half * kChunk;
#pragma GCC ivdep
        for (int64_t i = 0; i < kChunk; ++i) {
            // All 32 bits, which tell small numbers, and so the tails, finely apart.
            float u = (static_cast<float>(w[i]) + 0.5F) * 0x1p-32F;
            float angle = static_cast<float>(static_cast<int32_t>(w[kChunk + i])) * (3.14159265358979324F * 0x1p-31F);
            BoxMuller(u, angle, shift, factor, a + i, a + kChunk + i);
        }
    }
}

CHAINERX_INLINE void MakeNormal(const uint32_t* words, double shift, double factor, double* out) {
#pragma GCC ivdep
    for (int64_t i = 0; i < kChunk; ++i) {
        double u = Uniform53(words[i], words[kChunk + i]) + 0x1p-54;
        double angle = (Uniform53(words[2 * kChunk + i], words[3 * kChunk + i]) - 0.5) * 6.283185307179586477;
        BoxMuller(u, angle, shift, factor, out + i, out + kChunk + i);
    }
}

}  // namespace

template <class T>
void RandomWords(uint64_t key, uint64_t position, T* out) {
    Philox(key, position, out, out + kChunk, out + 2 * kChunk, out + 3 * kChunk);
}

template <class T>
void RandomUniform(int64_t n, uint64_t key, uint64_t position, T shift, T factor, T* out) {
    Generate(n, key, position, out,
             [=](const uint32_t* words, T* values) { MakeUniform(words, shift, factor, values); });
}

template <class T>
void RandomNormal(int64_t n, uint64_t key, uint64_t position, T shift, T factor, T* out) {
    Generate(n, key, position, out,
             [=](const uint32_t* words, T* values) { MakeNormal(words, shift, factor, values); });
}

template <class T>
void RandomIntegers(int64_t n, uint64_t key, uint64_t position, T low, uint64_t range, T* out) {
    if (range >> 32 == 0) {
        // 64 random bits for each value, in products of 32 bits, which vectorize.
        auto factor = static_cast<uint32_t>(range);
        ForChunks(n, 2, key, position, [=](const uint32_t* words, int64_t first, int64_t count) {
            for (int64_t half = 0; half < 2; ++half) {
                const uint32_t* w = words + 2 * half * kChunk;
                T* values = out + first + half * kChunk;
                int64_t left = count - half * kChunk;
                int64_t size = left < kChunk ? left : kChunk;
#pragma GCC ivdep
                for (int64_t i = 0; i < size; ++i) {
                    uint64_t product = uint64_t{w[i]} * factor + (uint64_t{w[kChunk + i]} * factor >> 32);
                    values[i] = low + static_cast<T>(product >> 32);
                }
            }
        });
        return;
    }
    using Wide = unsigned __int128;
    ForChunks(n, 1, key, position, [=](const uint32_t* words, int64_t first, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
            uint64_t a = static_cast<uint64_t>(words[i]) << 32 | words[kChunk + i];
            uint64_t b = static_cast<uint64_t>(words[2 * kChunk + i]) << 32 | words[3 * kChunk + i];
            Wide product = static_cast<Wide>(a) * range + (static_cast<Wide>(b) * range >> 64);
            out[first + i] = static_cast<T>(static_cast<uint64_t>(low) + static_cast<uint64_t>(product >> 64));
        }
    });
}

template <class T>
void RandomDropout(int64_t n, uint64_t key, uint64_t position, uint32_t threshold, T scale, const T* x, T* y) {
    ForChunks(n, 4, key, position, [=](const uint32_t* words, int64_t first, int64_t count) {
        const T* in = x + first;
        T* out = y + first;
#pragma GCC ivdep
        for (int64_t i = 0; i < count; ++i) {
            T kept = in[i] * scale;
            out[i] = words[i] < threshold ? T{0} : kept;
        }
    });
}

#define CHAINERX_INSTANTIATE(T)                                            \
    template void RandomUniform<T>(int64_t, uint64_t, uint64_t, T, T, T*); \
    template void RandomNormal<T>(int64_t, uint64_t, uint64_t, T, T, T*);  \
    template void RandomDropout<T>(int64_t, uint64_t, uint64_t, uint32_t, T, const T*, T*);
CHAINERX_INSTANTIATE(float)
CHAINERX_INSTANTIATE(double)
#undef CHAINERX_INSTANTIATE
template void RandomWords<uint32_t>(uint64_t, uint64_t, uint32_t*);
template void RandomIntegers<int64_t>(int64_t, uint64_t, uint64_t, int64_t, uint64_t, int64_t*);

}  // namespace chainerx::native::CHAINERX_ISA
