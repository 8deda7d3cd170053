#pragma once

#include "chainerx/core/array.h"

namespace chainerx::cuda {

// Keys in ascending order, and the value that belongs to each; those of equal keys keep their order. Of dtype int64.
struct SortedPairs {
    // Sorts by the lowest `bits` bits of the keys, without a sign. Both arrays are contiguous.
    SortedPairs(const Array& keys, const Array& values, int bits);

    Array keys;
    Array values;
};

// The bits of numbers up to n, at least 1.
inline int CountBits(int64_t n) {
    int bits = 1;
    while (n >> bits != 0) ++bits;
    return bits;
}

}  // namespace chainerx::cuda
