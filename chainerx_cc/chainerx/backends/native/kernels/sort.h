#pragma once

#include <cstdint>

namespace chainerx::native {

// float16 and bfloat16, as their bits
struct Half {
    uint16_t bits;
};
struct BrainHalf {
    uint16_t bits;
};

// Sorts each row of x (rows, n) into y, ascending, NaN last; x may be y. For bool (as uint8_t), the integer
// types, Half, BrainHalf, float and double.
template <class T>
void SortRows(int64_t rows, int64_t n, const T* x, T* y);

// The positions that sort each row of x (rows, n), stably; index is (rows, n). Zeros of either sign are equal.
template <class T>
void ArgsortRows(int64_t rows, int64_t n, const T* x, int64_t* index);

}  // namespace chainerx::native
