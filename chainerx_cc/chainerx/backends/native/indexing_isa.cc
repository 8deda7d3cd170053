#include "chainerx/backends/native/indexing.h"

namespace chainerx::native::CHAINERX_ISA {

template <class T>
void WrapNegative(int64_t n, const T* in, int64_t length, T* out, bool* all_valid) {
    T any = 0;
#pragma GCC ivdep
    for (int64_t k = 0; k < n; ++k) {
        T i = in[k] + (in[k] < 0 ? length : 0);
        any |= i | (length - 1 - i);  // negative where one of them is
        out[k] = i;
    }
    *all_valid = any >= 0;
}

template void WrapNegative<int64_t>(int64_t, const int64_t*, int64_t, int64_t*, bool*);

}  // namespace chainerx::native::CHAINERX_ISA
