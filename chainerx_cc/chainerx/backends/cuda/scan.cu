// Cumulative sums and products.

#include <type_traits>

#include "chainerx/backends/cuda/launch.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/convert.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/reduce_ops.h"
#include "chainerx/ops/reduction.h"

namespace chainerx::cuda {
namespace {

// One thread for each row, in the order of the native backend, whose rounding it thus has.
template <template <class> class Operation, class T>
__global__ void ScanRows(int64_t rows, int64_t n, int64_t inner, const T* in, T* out) {
    using C = typename ComputeType<T>::type;
    int64_t row = ThreadIndex();
    if (row >= rows) return;
    int64_t first = row / inner * n * inner + row % inner;
    C sum = static_cast<C>(in[first]);
    out[first] = in[first];
    for (int64_t i = 1; i < n; ++i) {
        out[first + i * inner] = Convert<C, T>(Operation<C>::Combine(sum, static_cast<C>(in[first + i * inner])));
        sum = static_cast<C>(out[first + i * inner]);
    }
}

template <template <class> class Operation>
void Scan(const Array& a_, int8_t axis, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    Array a = Contiguous(a_);
    int64_t inner = 1;
    for (int i = axis + 1; i < a.ndim(); ++i) inner *= a.shape()[i];
    int64_t n = a.shape()[axis];
    int64_t rows = a.GetTotalSize() / n;
    VisitDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (!std::is_same_v<T, bool>) {
            Launch("cumulative sum or product", out.device(), BlocksFor(rows), kBlock, &ScanRows<Operation, T>, rows, n,
                   inner, a.data<T>(), out.data<T>());
        }
    });
}

}  // namespace

const CudaKernels g_scan_kernels{[](Backend& backend) {
    kCumsumKernel.Register(backend, &Scan<SumOp>);
    kCumprodKernel.Register(backend, &Scan<ProdOp>);
}};

}  // namespace chainerx::cuda
