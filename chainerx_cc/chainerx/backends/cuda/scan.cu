// Cumulative sums and products.

#include <type_traits>

#include "chainerx/backends/cuda/launch.h"
#include "chainerx/core/axis_sizes.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/convert.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/reduce_ops.h"
#include "chainerx/ops/reduction.h"

namespace chainerx::cuda {
namespace {

// One thread for each row, in the order of the native backend, whose rounding it thus has. Rows are those of an array
// (outer, n, inner) along its middle axis.
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

// Elements that a thread of a block combines by itself.
constexpr int kRun = 8;

// One block for each row: it goes through the row in parts, in which each thread combines a run of elements.
template <template <class> class Operation, class T>
__global__ void ScanRowsByBlocks(int64_t n, int64_t inner, const T* in, T* out) {
    using C = typename ComputeType<T>::type;
    __shared__ C totals[2][kBlock];
    int64_t row = blockIdx.x;
    int64_t first = row / inner * n * inner + row % inner;
    C before = Operation<C>::kInit;  // the combination of all earlier parts
    for (int64_t begin = 0; begin < n; begin += kBlock * kRun) {
        C run[kRun];
        C sum = Operation<C>::kInit;
        for (int k = 0; k < kRun; ++k) {
            int64_t i = begin + threadIdx.x * kRun + k;
            if (i < n) sum = Operation<C>::Combine(sum, static_cast<C>(in[first + i * inner]));
            run[k] = sum;
        }
        // The combinations of the runs of this thread and more and more threads before it.
        int from = 0;
        totals[from][threadIdx.x] = sum;
        for (unsigned distance = 1; distance < kBlock; distance *= 2, from = 1 - from) {
            __syncthreads();
            C total = totals[from][threadIdx.x];
            if (threadIdx.x >= distance) total = Operation<C>::Combine(totals[from][threadIdx.x - distance], total);
            totals[1 - from][threadIdx.x] = total;
        }
        __syncthreads();
        C start = threadIdx.x == 0 ? before : Operation<C>::Combine(before, totals[from][threadIdx.x - 1]);
        before = Operation<C>::Combine(before, totals[from][kBlock - 1]);
        for (int k = 0; k < kRun; ++k) {
            int64_t i = begin + threadIdx.x * kRun + k;
            if (i < n) out[first + i * inner] = Convert<C, T>(Operation<C>::Combine(start, run[k]));
        }
        __syncthreads();  // before the next part
    }
}

// Shorter rows are not worth a block, and more rows keep a GPU busy with a thread for each.
constexpr int64_t kLongRow = 256;
constexpr int64_t kManyRows = 1 << 14;

template <template <class> class Operation>
void Scan(const Array& a_, int8_t axis, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    Array a = Contiguous(a_);
    AxisSizes sizes{a.shape(), axis};
    int64_t n = sizes.n;
    int64_t inner = sizes.inner;
    int64_t rows = sizes.rows();
    VisitDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (!std::is_same_v<T, bool>) {
            constexpr const char* kWhat = "cumulative sum or product";
            if (n >= kLongRow && rows < kManyRows) {
                Launch(kWhat, out.device(), dim3(static_cast<unsigned>(rows)), kBlock, &ScanRowsByBlocks<Operation, T>,
                       n, inner, a.data<T>(), out.data<T>());
            } else {
                Launch(kWhat, out.device(), BlocksFor(rows), kBlock, &ScanRows<Operation, T>, rows, n, inner,
                       a.data<T>(), out.data<T>());
            }
        }
    });
}

}  // namespace

const CudaKernels g_scan_kernels{[](Backend& backend) {
    kCumsumKernel.Register(backend, &Scan<SumOp>);
    kCumprodKernel.Register(backend, &Scan<ProdOp>);
}};

}  // namespace chainerx::cuda
