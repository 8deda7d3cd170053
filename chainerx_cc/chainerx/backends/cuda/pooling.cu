// Pooling: averages by cuDNN and, where it does not do it, by plain kernels, the reference: every thread computes one
// element, so sums have the same order each time.

#include "chainerx/backends/cuda/cudnn_kernels.h"
#include "chainerx/backends/cuda/launch.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/convert.h"
#include "chainerx/ops/pooling.h"
#include "chainerx/ops/reduce_ops.h"

namespace chainerx::cuda {
namespace {

// An element of the planes (batch and channels) of an array.
struct Element {
    int64_t plane;
    int64_t position;
    __device__ Element(int64_t i, int64_t size) : plane{i / size}, position{i % size} {}
};

template <class T>
__global__ void MaxPoolElements(int64_t n, WindowGeometry g, const T* x, T* y, int64_t* index) {
    using C = typename ComputeType<T>::type;
    int64_t i = ThreadIndex();
    if (i >= n) return;
    Element e{i, g.OutSize()};
    const T* image = x + e.plane * g.InSize();
    C best = Lowest<C>();
    int64_t where = -1;
    for (int64_t tap = 0, taps = g.KernelSize(); tap < taps; ++tap) {
        int64_t in = g.InputOf(e.position, tap);
        if (in < 0) continue;
        C value = static_cast<C>(image[in]);
        // A NaN wins unless there is one.
        if (where < 0 || (!(value <= best) && best == best)) {
            best = value;
            where = in;
        }
    }
    y[i] = Convert<C, T>(best);
    if (index != nullptr) index[i] = where;
}

template <class T>
__global__ void MaxPoolGradElements(int64_t n, WindowGeometry g, const T* gy, const int64_t* index, T* gx) {
    using C = typename ComputeType<T>::type;
    int64_t i = ThreadIndex();
    if (i >= n) return;
    Element e{i, g.InSize()};
    int64_t first = e.plane * g.OutSize();
    C sum{0};
    for (int64_t tap = 0, taps = g.KernelSize(); tap < taps; ++tap) {
        int64_t out = g.OutputOf(e.position, tap);
        if (out >= 0 && index[first + out] == e.position) sum += static_cast<C>(gy[first + out]);
    }
    gx[i] = Convert<C, T>(sum);
}

__device__ int64_t Divisor(const WindowGeometry& g, PoolPadding padding, int64_t output) {
    return padding == PoolPadding::kZero ? g.KernelSize() : g.CountInside(output);
}

// y from x or, transposed, gx from gy.
template <bool kForward, class T>
__global__ void AveragePoolElements(int64_t n, WindowGeometry g, PoolPadding padding, const T* from, T* to) {
    using C = typename ComputeType<T>::type;
    int64_t i = ThreadIndex();
    if (i >= n) return;
    Element e{i, kForward ? g.OutSize() : g.InSize()};
    const T* image = from + e.plane * (kForward ? g.InSize() : g.OutSize());
    C sum{0};
    for (int64_t tap = 0, taps = g.KernelSize(); tap < taps; ++tap) {
        int64_t p = kForward ? g.InputOf(e.position, tap) : g.OutputOf(e.position, tap);
        if (p < 0) continue;
        sum += kForward ? static_cast<C>(image[p]) : static_cast<C>(image[p]) / static_cast<C>(Divisor(g, padding, p));
    }
    if constexpr (kForward) {
        int64_t divisor = Divisor(g, padding, e.position);
        sum = divisor == 0 ? C{0} : sum / static_cast<C>(divisor);
    }
    to[i] = Convert<C, T>(sum);
}

// Calls f(TypeTag<T>, n) for an array with n elements.
template <class F>
void ForElements(const Array& out, F&& f) {
    int64_t n = out.GetTotalSize();
    if (n != 0) VisitFloatDtype(out.dtype(), [&](auto tag) { f(tag, n); });
}

void MaxPool(const WindowGeometry& g, const Array& x, const Array& y, const Array& index) {
    ForElements(y, [&](auto tag, int64_t n) {
        using T = typename decltype(tag)::type;
        Launch("max_pool", y.device(), BlocksFor(n), kBlock, &MaxPoolElements<T>, n, g, x.data<T>(), y.data<T>(),
               index ? index.data<int64_t>() : nullptr);
    });
}

void MaxPoolGrad(const WindowGeometry& g, const Array& gy, const Array& index, const Array& gx) {
    ForElements(gx, [&](auto tag, int64_t n) {
        using T = typename decltype(tag)::type;
        Launch("max_pool", gx.device(), BlocksFor(n), kBlock, &MaxPoolGradElements<T>, n, g, gy.data<T>(),
               index.data<int64_t>(), gx.data<T>());
    });
}

template <bool kForward>
void AveragePool(const WindowGeometry& g, PoolPadding padding, const Array& from, const Array& to) {
    if (kForward ? CudnnAveragePool(g, padding, from, to) : CudnnAveragePoolGrad(g, padding, from, to)) return;
    ForElements(to, [&](auto tag, int64_t n) {
        using T = typename decltype(tag)::type;
        Launch("average_pool", to.device(), BlocksFor(n), kBlock, &AveragePoolElements<kForward, T>, n, g, padding,
               from.data<T>(), to.data<T>());
    });
}

}  // namespace

const CudaKernels g_pooling_kernels{[](Backend& backend) {
    kMaxPoolKernel.Register(backend, &MaxPool);
    kMaxPoolGradKernel.Register(backend, &MaxPoolGrad);
    kAveragePoolKernel.Register(backend, &AveragePool<true>);
    kAveragePoolGradKernel.Register(backend, &AveragePool<false>);
}};

}  // namespace chainerx::cuda
