#pragma once

// Loops of reductions and of searches for extremes.

#include <cstdint>
#include <type_traits>

#include "chainerx/backends/native/kernels/isa.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/ops/reduce_layout.h"
#include "chainerx/ops/reduce_ops.h"

namespace chainerx::native {

constexpr int64_t kGrain = 32768;

// Columns reduced together: their accumulators stay in the cache.
constexpr int64_t kWidth = 512;

// The elements whose loops a reduction has for those of type T. Booleans are read as integers.
template <template <class> class Op, class T>
struct ReduceElement {
    using Number = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    using type = std::conditional_t<IsExtreme<Op<float>>::value, Number, typename Unsigned<Number>::type>;
};

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
