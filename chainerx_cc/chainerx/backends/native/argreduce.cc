// Positions of extremes.

#include <algorithm>
#include <limits>

#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/backends/native/reduce.h"
#include "chainerx/core/blocking.h"
#include "chainerx/ops/reduction.h"

namespace chainerx::native {
namespace {

// (outer, inner, reduce)
Array Transposed(const ReduceLayout& l) {
    Shape shape{l.outer, l.reduce, l.inner};
    Array in = internal::MakeView(l.in, shape, Strides{shape, l.in.GetItemSize()}, l.in.offset());
    return Contiguous(Permuted(in, Axes{0, 2, 1}));
}

template <template <class> class Op>
void ArgReduce(const Array& a, const Axes& axes, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    ReduceLayout l = MakeReduceLayout(a, axes);
    VisitDtype(a.dtype(), [&](auto tag) {
        using T = typename ReduceElement<Op, typename decltype(tag)::type>::type;
        const T* in = l.in.template data<T>();
        auto* result = out.data<int64_t>();
        BlockingScope blocking{l.in.GetTotalSize() > kGrain};
        if (l.inner == 1 || l.reduce > std::numeric_limits<int32_t>::max()) {
            Array rows = l.inner == 1 ? l.in : Transposed(l);
            ParallelFor(l.outer * l.inner, std::max<int64_t>(1, kGrain / l.reduce), [&](int64_t begin, int64_t end) {
                SearchRows<Reduction<Op, T>>(end - begin, l.reduce, rows.template data<T>() + begin * l.reduce,
                                             result + begin);
            });
            return;
        }
        int64_t pieces = (l.inner + kWidth - 1) / kWidth;
        int64_t cost = l.reduce * std::min(l.inner, kWidth);
        ParallelFor(l.outer * pieces, std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
            for (int64_t k = begin; k < end; ++k) {
                int64_t o = k / pieces;
                int64_t i = k % pieces * kWidth;
                SearchColumns<Reduction<Op, T>>(l.reduce, std::min(kWidth, l.inner - i),
                                                in + o * l.reduce * l.inner + i, l.inner, result + o * l.inner + i);
            }
        });
    });
}

}  // namespace

const NativeKernels g_argreduce_kernels{[](Backend& backend) {
    kArgmaxKernel.Register(backend, &ArgReduce<MaxOp>);
    kArgminKernel.Register(backend, &ArgReduce<MinOp>);
}};

}  // namespace chainerx::native
