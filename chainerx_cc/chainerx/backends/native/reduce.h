#pragma once

// Loops of reductions and of searches for extremes.

#include <algorithm>
#include <cstdint>

#include "chainerx/backends/native/compute_type.h"
#include "chainerx/backends/native/kernels/isa.h"
#include "chainerx/backends/native/operands.h"
#include "chainerx/backends/native/reduce_ops.h"

namespace chainerx::native {

constexpr int64_t kGrain = 32768;

// The reduction as loops: for each of `outer` results, over `reduce` elements, for `inner` neighbouring results.
// The input lies in contiguous memory of the shape (outer, reduce, inner).
struct Layout {
    Array in;  // contiguous
    int64_t outer{1};
    int64_t reduce{1};
    int64_t inner{1};
};

// Brings the reduced axes next to each other. Most reductions are over leading or trailing axes and need no copy.
inline Layout MakeLayout(const Array& a, const Axes& axes) {
    Layout l;
    int8_t n = static_cast<int8_t>(axes.size());
    bool adjacent = n == 0 || axes[n - 1] - axes[0] == n - 1;
    if (adjacent) {
        l.in = Contiguous(a);
        int8_t first = n == 0 ? a.ndim() : axes[0];
        for (int8_t i = 0; i < a.ndim(); ++i) {
            (i < first ? l.outer : i < first + n ? l.reduce : l.inner) *= a.shape()[i];
        }
        return l;
    }
    Axes order;
    for (int8_t i = 0; i < a.ndim(); ++i) {
        if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
            order.push_back(i);
            l.outer *= a.shape()[i];
        }
    }
    for (int8_t i : axes) {
        order.push_back(i);
        l.reduce *= a.shape()[i];
    }
    l.in = Contiguous(Permuted(a, order));
    return l;
}

// Columns reduced together: their accumulators stay in the cache.
constexpr int64_t kWidth = 512;

// The loops. `T`: a Reduction.
//
// `rows` results, each over `n` contiguous elements.
CHAINERX_ISA_KERNEL(ReduceRows, (int64_t rows, int64_t n, const typename T::Element* p, typename T::Acc* out),
                    (rows, n, p, out))
// out[i] = reduction over r < n of p[r * stride + i] for inner <= kWidth columns.
CHAINERX_ISA_KERNEL(ReduceColumns,
                    (int64_t n, int64_t inner, const typename T::Element* p, int64_t stride, typename T::Acc* out),
                    (n, inner, p, stride, out))
// The same for the positions of extremes. As in NumPy, the first NaN is the extreme. In columns, n < 2^31.
CHAINERX_ISA_KERNEL(SearchRows, (int64_t rows, int64_t n, const typename T::Element* p, int64_t* out),
                    (rows, n, p, out))
CHAINERX_ISA_KERNEL(SearchColumns,
                    (int64_t n, int64_t inner, const typename T::Element* p, int64_t stride, int64_t* out),
                    (n, inner, p, stride, out))
// log(sum(exp(x))) of rows of elements of the type T.
CHAINERX_ISA_KERNEL(LogSumExpRows, (int64_t rows, int64_t n, const T* p, T* out), (rows, n, p, out))

}  // namespace chainerx::native
