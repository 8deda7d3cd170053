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
    index[i] = where;
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

template <class T>
__global__ void AveragePoolElements(int64_t n, WindowGeometry g, PoolPadding padding, const T* x, T* y) {
    using C = typename ComputeType<T>::type;
    int64_t i = ThreadIndex();
    if (i >= n) return;
    Element e{i, g.OutSize()};
    const T* image = x + e.plane * g.InSize();
    C sum{0};
    for (int64_t tap = 0, taps = g.KernelSize(); tap < taps; ++tap) {
        int64_t in = g.InputOf(e.position, tap);
        if (in >= 0) sum += static_cast<C>(image[in]);
    }
    int64_t divisor = Divisor(g, padding, e.position);
    y[i] = Convert<C, T>(divisor == 0 ? C{0} : sum / static_cast<C>(divisor));
}

template <class T>
__global__ void AveragePoolGradElements(int64_t n, WindowGeometry g, PoolPadding padding, const T* gy, T* gx) {
    using C = typename ComputeType<T>::type;
    int64_t i = ThreadIndex();
    if (i >= n) return;
    Element e{i, g.InSize()};
    const T* grads = gy + e.plane * g.OutSize();
    C sum{0};
    for (int64_t tap = 0, taps = g.KernelSize(); tap < taps; ++tap) {
        int64_t out = g.OutputOf(e.position, tap);
        if (out >= 0) sum += static_cast<C>(grads[out]) / static_cast<C>(Divisor(g, padding, out));
    }
    gx[i] = Convert<C, T>(sum);
}

// Launches `kernel<T>` with a thread for each element of `out`.
#define CHAINERX_LAUNCH_POOL(what, out, kernel, ...)                                                   \
    VisitFloatDtype((out).dtype(), [&](auto tag) {                                                     \
        using T = typename decltype(tag)::type;                                                        \
        int64_t n = (out).GetTotalSize();                                                              \
        if (n != 0) Launch(what, (out).device(), BlocksFor(n), kBlock, &kernel<T>, n, g, __VA_ARGS__); \
    })

void MaxPool(const WindowGeometry& g, const Array& x, const Array& y, const Array& index) {
    CHAINERX_LAUNCH_POOL("max_pool", y, MaxPoolElements, x.data<T>(), y.data<T>(), index.data<int64_t>());
}

void MaxPoolGrad(const WindowGeometry& g, const Array& gy, const Array& index, const Array& gx) {
    CHAINERX_LAUNCH_POOL("max_pool", gx, MaxPoolGradElements, gy.data<T>(), index.data<int64_t>(), gx.data<T>());
}

void AveragePool(const WindowGeometry& g, PoolPadding padding, const Array& x, const Array& y) {
    if (CudnnAveragePool(g, padding, x, y)) return;
    CHAINERX_LAUNCH_POOL("average_pool", y, AveragePoolElements, padding, x.data<T>(), y.data<T>());
}

void AveragePoolGrad(const WindowGeometry& g, PoolPadding padding, const Array& gy, const Array& gx) {
    if (CudnnAveragePoolGrad(g, padding, gy, gx)) return;
    CHAINERX_LAUNCH_POOL("average_pool", gx, AveragePoolGradElements, padding, gy.data<T>(), gx.data<T>());
}

}  // namespace

const CudaKernels g_pooling_kernels{[](Backend& backend) {
    kMaxPoolKernel.Register(backend, &MaxPool);
    kMaxPoolGradKernel.Register(backend, &MaxPoolGrad);
    kAveragePoolKernel.Register(backend, &AveragePool);
    kAveragePoolGradKernel.Register(backend, &AveragePoolGrad);
}};

}  // namespace chainerx::cuda
