#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// Random numbers by Philox4x32-10: 128 random bits are a function of a key and a 128-bit counter, here the position. It
// passes BigCrush, vectorizes, and needs no state, so that any thread can compute any part of an array; a backward pass
// can regenerate the numbers of the forward pass instead of keeping them. See: Salmon et al., Parallel random numbers:
// as easy as 1, 2, 3, SC 2011.
//
// `position` must be a multiple of kRandomChunk, the number of counters that are processed together.
constexpr int64_t kRandomChunk = 64;

template <class T>
constexpr int64_t kRandomPerCounter = 16 / sizeof(T);  // values that a uniform or normal array takes from a counter

// The words of kRandomChunk counters: out[w * kRandomChunk + i] is word w of the counter position + i.
// T is uint32_t.
CHAINERX_ISA_KERNEL(RandomWords, (uint64_t key, uint64_t position, T* out), (key, position, out))

// shift + factor u with u in [0, 1), of 24 bits (float) or 53 (double).
CHAINERX_ISA_KERNEL(RandomUniform, (int64_t n, uint64_t key, uint64_t position, T shift, T factor, T* out),
                    (n, key, position, shift, factor, out))

// shift + factor z with z from the standard normal distribution (Box and Muller).
CHAINERX_ISA_KERNEL(RandomNormal, (int64_t n, uint64_t key, uint64_t position, T shift, T factor, T* out),
                    (n, key, position, shift, factor, out))

// Integers from low on, below low + range: the high word of the product of the range with 128 random bits, or with 64
// for a range below 2^32; that is uniform to within 2^-64 or 2^-32 of the probability of a value. T is int64_t.
CHAINERX_ISA_KERNEL(RandomIntegers, (int64_t n, uint64_t key, uint64_t position, T low, uint64_t range, T* out),
                    (n, key, position, low, range, out))

// y = 0 with the probability threshold / 2^32, else scale x. Four values from a counter for any T.
CHAINERX_ISA_KERNEL(RandomDropout,
                    (int64_t n, uint64_t key, uint64_t position, uint32_t threshold, T scale, const T* x, T* y),
                    (n, key, position, threshold, scale, x, y))

}  // namespace chainerx::native
