// Cumulative sums and products.

#include <algorithm>

#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/axis_sizes.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/reduce_ops.h"
#include "chainerx/ops/reduction.h"

namespace chainerx::native {
namespace {

template <template <class> class Operation>
void Scan(const Array& a_, int8_t axis, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    Array a = Contiguous(a_);
    AxisSizes sizes{a.shape(), axis};
    int64_t n = sizes.n;
    int64_t inner = sizes.inner;
    VisitAnyDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using C = typename ComputeType<T>::type;
        using Op = Operation<C>;
        for (int64_t o = 0; o < sizes.outer; ++o) {
            const T* in = a.data<T>() + o * n * inner;
            T* result = out.data<T>() + o * n * inner;
            std::copy_n(in, inner, result);
            if (inner == 1) {
                auto sum = static_cast<C>(in[0]);
                for (int64_t i = 1; i < n; ++i) {
                    result[i] = static_cast<T>(Op::Combine(sum, static_cast<C>(in[i])));
                    sum = static_cast<C>(result[i]);
                }
                continue;
            }
            for (int64_t i = inner; i < n * inner; ++i) {
                result[i] = static_cast<T>(Op::Combine(static_cast<C>(result[i - inner]), static_cast<C>(in[i])));
            }
        }
    });
}

}  // namespace

const NativeKernels g_scan_kernels{[](Backend& backend) {
    kCumsumKernel.Register(backend, &Scan<SumOp>);
    kCumprodKernel.Register(backend, &Scan<ProdOp>);
}};

}  // namespace chainerx::native
