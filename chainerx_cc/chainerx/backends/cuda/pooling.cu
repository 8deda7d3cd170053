// Pooling: averages by cuDNN and, where it does not do it, by plain kernels, the reference: every thread computes one
// element, so sums have the same order each time.

#include "chainerx/backends/cuda/cudnn_kernels.h"
#include "chainerx/backends/cuda/launch.h"
#include "chainerx/backends/cuda/layout.h"
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

// The windows of a pooling x -> y over any number of axes.
class AnyWindows {
public:
    explicit AnyWindows(const WindowGeometry& g) : g_{g} {}

    // Calls f(k, position) for the elements x[k] in the window of an element of y; `position`: in the plane.
    template <class F>
    __device__ void ForInputs(int64_t output, F&& f) const {
        Element e{output, g_.OutSize()};
        for (int64_t tap = 0, taps = g_.KernelSize(); tap < taps; ++tap) {
            int64_t in = g_.InputOf(e.position, tap);
            if (in >= 0) f(e.plane * g_.InSize() + in, in);
        }
    }
    // Calls f(k, position) for the elements y[k] whose windows have an element of x; `position`: of that in its plane.
    template <class F>
    __device__ void ForOutputs(int64_t input, F&& f) const {
        Element e{input, g_.InSize()};
        for (int64_t tap = 0, taps = g_.KernelSize(); tap < taps; ++tap) {
            int64_t out = g_.OutputOf(e.position, tap);
            if (out >= 0) f(e.plane * g_.OutSize() + out, e.position);
        }
    }

private:
    WindowGeometry g_;
};

// The same in the same order, without slow divisions, for up to three axes and indices of 32 bits.
class SmallWindows {
public:
    static bool Fit(const WindowGeometry& g, const Array& x, const Array& y) {
        bool fit = g.ndim <= kAxes && x.GetTotalSize() <= kMaxIndex && y.GetTotalSize() <= kMaxIndex;
        for (int d = 0; fit && d < g.ndim; ++d) {
            fit = g.in[d] + 2 * g.pad[d] + g.kernel[d] * g.dilation[d] + g.stride[d] <= kMaxIndex;
        }
        return fit;
    }
    explicit SmallWindows(const WindowGeometry& g) {
        for (int d = 0; d < g.ndim; ++d) {
            Axis& axis = axes_[kAxes - g.ndim + d];
            axis.in = MakeDivider(g.in[d]);
            axis.out = MakeDivider(g.out[d]);
            axis.stride = MakeDivider(g.stride[d]);
            axis.kernel = static_cast<int>(g.kernel[d]);
            axis.pad = static_cast<int>(g.pad[d]);
            axis.dilation = static_cast<int>(g.dilation[d]);
        }
    }

    template <class F>
    __device__ void ForInputs(int64_t output, F&& f) const {
        int at[kAxes];
        int64_t plane = Split(output, &Axis::out, at) * Size(&Axis::in);
        ForTaps(
                [&](const Axis& axis, int d, int k) {
                    int i = at[d] * static_cast<int>(axis.stride.divisor()) + k * axis.dilation - axis.pad;
                    return i < static_cast<int>(axis.in.divisor()) ? i : -1;
                },
                &Axis::in, [&](int64_t position) { f(plane + position, position); });
    }
    template <class F>
    __device__ void ForOutputs(int64_t input, F&& f) const {
        int at[kAxes];
        int64_t plane = Split(input, &Axis::in, at);
        int64_t own = input - plane * Size(&Axis::in);
        plane *= Size(&Axis::out);
        ForTaps(
                [&](const Axis& axis, int d, int k) {
                    int moved = at[d] + axis.pad - k * axis.dilation;
                    if (moved < 0) return -1;
                    uint32_t out = axis.stride.Divide(static_cast<uint32_t>(moved));
                    bool exists =
                            out * axis.stride.divisor() == static_cast<uint32_t>(moved) && out < axis.out.divisor();
                    return exists ? static_cast<int>(out) : -1;
                },
                &Axis::out, [&](int64_t position) { f(plane + position, own); });
    }

private:
    static constexpr int kAxes = 3;
    struct Axis {
        Divider in;
        Divider out;
        Divider stride;
        int kernel{1};
        int pad{0};
        int dilation{1};
    };

    static Divider MakeDivider(int64_t divisor) { return Divider{static_cast<uint32_t>(divisor)}; }
    __device__ int64_t Size(Divider Axis::*size) const {
        return static_cast<int64_t>((axes_[0].*size).divisor()) * (axes_[1].*size).divisor() *
               (axes_[2].*size).divisor();
    }
    // The plane of an element of an array with planes of a size, and its place in the plane.
    __device__ int64_t Split(int64_t element, Divider Axis::*size, int* at) const {
        auto rest = static_cast<uint32_t>(element);
#pragma unroll
        for (int d = kAxes - 1; d >= 0; --d) {
            const Divider& divider = axes_[d].*size;
            uint32_t quotient = divider.Divide(rest);
            at[d] = static_cast<int>(rest - quotient * divider.divisor());
            rest = quotient;
        }
        return rest;
    }
    // Calls f(position) for the elements of a window: `find(axis, d, k)` gives the place along an axis, or one below 0.
    template <class Find, class F>
    __device__ void ForTaps(Find&& find, Divider Axis::*size, F&& f) const {
        for (int a = 0; a < axes_[0].kernel; ++a) {
            int i = find(axes_[0], 0, a);
            if (i < 0) continue;
            for (int b = 0; b < axes_[1].kernel; ++b) {
                int j = find(axes_[1], 1, b);
                if (j < 0) continue;
                int row = (i * static_cast<int>((axes_[1].*size).divisor()) + j) *
                          static_cast<int>((axes_[2].*size).divisor());
                for (int c = 0; c < axes_[2].kernel; ++c) {
                    int k = find(axes_[2], 2, c);
                    if (k >= 0) f(row + k);
                }
            }
        }
    }

    Axis axes_[kAxes];
};

template <class Windows, class T>
__global__ void MaxPoolElements(int64_t n, const __grid_constant__ Windows windows, const T* x, T* y, int64_t* index) {
    using C = typename ComputeType<T>::type;
    int64_t i = ThreadIndex();
    if (i >= n) return;
    C best = Lowest<C>();
    int64_t where = -1;
    windows.ForInputs(i, [&](int64_t k, int64_t position) {
        C value = static_cast<C>(x[k]);
        // A NaN wins unless there is one.
        if (where < 0 || (!(value <= best) && best == best)) {
            best = value;
            where = position;
        }
    });
    y[i] = Convert<C, T>(best);
    if (index != nullptr) index[i] = where;
}

template <class Windows, class T>
__global__ void MaxPoolGradElements(int64_t n, const __grid_constant__ Windows windows, const T* gy,
                                    const int64_t* index, T* gx) {
    using C = typename ComputeType<T>::type;
    int64_t i = ThreadIndex();
    if (i >= n) return;
    C sum{0};
    windows.ForOutputs(i, [&](int64_t k, int64_t position) {
        if (index[k] == position) sum += static_cast<C>(gy[k]);
    });
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

// Calls f(windows, TypeTag<T>, n) for the elements of an array; y is the output.
template <class F>
void ForWindows(const WindowGeometry& g, const Array& x, const Array& y, const Array& out, F&& f) {
    ForElements(out, [&](auto tag, int64_t n) {
        if (SmallWindows::Fit(g, x, y)) {
            f(SmallWindows{g}, tag, n);
        } else {
            f(AnyWindows{g}, tag, n);
        }
    });
}

void MaxPool(const WindowGeometry& g, const Array& x, const Array& y, const Array& index) {
    ForWindows(g, x, y, y, [&](auto windows, auto tag, int64_t n) {
        using T = typename decltype(tag)::type;
        Launch("max_pool", y.device(), BlocksFor(n), kBlock, &MaxPoolElements<decltype(windows), T>, n, windows,
               x.data<T>(), y.data<T>(), index ? index.data<int64_t>() : nullptr);
    });
}

void MaxPoolGrad(const WindowGeometry& g, const Array& gy, const Array& index, const Array& gx) {
    ForWindows(g, gx, gy, gx, [&](auto windows, auto tag, int64_t n) {
        using T = typename decltype(tag)::type;
        Launch("max_pool", gx.device(), BlocksFor(n), kBlock, &MaxPoolGradElements<decltype(windows), T>, n, windows,
               gy.data<T>(), index.data<int64_t>(), gx.data<T>());
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
