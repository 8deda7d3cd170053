// Convolution by cuDNN and, where it does not do it, by plain kernels, the reference: every thread computes one element
// of the result, so sums have the same order each time.

#include <type_traits>

#include "chainerx/backends/cuda/cudnn_kernels.h"
#include "chainerx/backends/cuda/launch.h"
#include "chainerx/backends/cuda/pack.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/convert.h"
#include "chainerx/ops/convolution.h"

namespace chainerx::cuda {
namespace {

// The type of sums; integers wrap around.
template <class T>
using SumOf = std::conditional_t<std::is_integral_v<T>, uint64_t, typename ComputeType<T>::type>;

template <class T>
__device__ SumOf<T> Product(T a, T b) {
    return static_cast<SumOf<T>>(a) * static_cast<SumOf<T>>(b);
}

template <class T>
__device__ T Finish(SumOf<T> sum) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(sum);
    } else {
        return Convert<SumOf<T>, T>(sum);
    }
}

// y from x or, transposed, x from y.
template <bool kForward, class T>
__global__ void ConvElements(int64_t n, WindowGeometry g, const T* from, const T* w, const T* b, T* to) {
    int64_t i = ThreadIndex();
    if (i >= n) return;
    int64_t from_size = kForward ? g.InSize() : g.OutSize();
    int64_t from_channels = kForward ? g.in_channels : g.out_channels;
    int64_t to_size = kForward ? g.OutSize() : g.InSize();
    int64_t to_channels = kForward ? g.out_channels : g.in_channels;
    int64_t taps = g.KernelSize();
    int64_t position = i % to_size;
    int64_t channel = i / to_size % to_channels;
    int64_t image = i / to_size / to_channels;
    // In the group of the channel
    int64_t terms = from_channels / g.groups;
    int64_t results = to_channels / g.groups;
    int64_t first = channel / results * terms;
    const T* values = from + (image * from_channels + first) * from_size;
    const T* ws = w + (kForward ? channel * terms : first * results + channel % results) * taps;
    int64_t step = kForward ? taps : results * taps;
    SumOf<T> sum = b == nullptr ? SumOf<T>{} : static_cast<SumOf<T>>(b[channel]);
    for (int64_t tap = 0; tap < taps; ++tap) {
        int64_t p = kForward ? g.InputOf(position, tap) : g.OutputOf(position, tap);
        if (p < 0) continue;
        for (int64_t k = 0; k < terms; ++k) sum += Product<T>(values[k * from_size + p], ws[k * step + tap]);
    }
    to[i] = Finish<T>(sum);
}

template <class T>
__global__ void ConvWeightElements(int64_t n, WindowGeometry g, const T* x, const T* y, T* w) {
    int64_t i = ThreadIndex();
    if (i >= n) return;
    int64_t out = g.OutSize();
    int64_t in = g.InSize();
    int64_t taps = g.KernelSize();
    int64_t channels = g.in_channels / g.groups;
    int64_t tap = i % taps;
    int64_t c = i / taps % channels;
    int64_t o = i / taps / channels;
    int64_t channel = o / (g.out_channels / g.groups) * channels + c;
    SumOf<T> sum{};
    for (int64_t image = 0; image < g.batch; ++image) {
        const T* xs = x + (image * g.in_channels + channel) * in;
        const T* ys = y + (image * g.out_channels + o) * out;
        for (int64_t position = 0; position < out; ++position) {
            int64_t p = g.InputOf(position, tap);
            if (p >= 0) sum += Product<T>(xs[p], ys[position]);
        }
    }
    w[i] = Finish<T>(sum);
}

// Calls f(TypeTag<T>, n) for an array with n elements.
template <class F>
void ForElements(const Array& out, F&& f) {
    int64_t n = out.GetTotalSize();
    if (n == 0) return;
    VisitDtype(out.dtype(), [&](auto tag) {
        if constexpr (!std::is_same_v<typename decltype(tag)::type, bool>) f(tag, n);
    });
}

template <bool kForward>
void ConvByElements(const char* what, const WindowGeometry& g, const Array& from, const Array& w, const Array& b,
                    const Array& to) {
    ForElements(to, [&](auto tag, int64_t n) {
        using T = typename decltype(tag)::type;
        Launch(what, to.device(), BlocksFor(n), kBlock, &ConvElements<kForward, T>, n, g, DataOrNull<T>(from),
               DataOrNull<T>(w), DataOrNull<T>(b), to.data<T>());
    });
}

// Adds b to y (batch, channels, plane), of at most 2^31 elements, in place. A thread has 16 bytes.
template <class T>
__global__ void AddBiasElements(uint32_t n, uint32_t channels, uint32_t plane, bool is_aligned, const T* b, T* y) {
    constexpr uint32_t kCount = 16 / sizeof(T);
    uint32_t first = (blockIdx.x * blockDim.x + threadIdx.x) * kCount;
    if (first >= n) return;
    int count = static_cast<int>(n - first < kCount ? n - first : kCount);
    bool is_whole = is_aligned && count == kCount;
    Pack<T, kCount> pack = LoadPack<kCount>(y + first, count, is_whole);
    uint32_t channel = first / plane % channels;
    uint32_t left = plane - first % plane;
#pragma unroll
    for (uint32_t j = 0; j < kCount; ++j) {
        if (left == 0) {
            left = plane;
            channel = channel + 1 == channels ? 0 : channel + 1;
        }
        --left;
        pack.values[j] = Finish<T>(static_cast<SumOf<T>>(pack.values[j]) + static_cast<SumOf<T>>(b[channel]));
    }
    StorePack(pack, y + first, count, is_whole);
}

void AddBias(const char* what, const Array& b, const Array& y) {
    int64_t channels = y.shape()[1];
    int64_t plane = y.GetTotalSize() / y.shape()[0] / channels;
    bool is_aligned = reinterpret_cast<uintptr_t>(y.raw_data()) % 16 == 0;
    VisitFloatDtype(y.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        constexpr int64_t kCount = 16 / sizeof(T);
        int64_t n = y.GetTotalSize();
        Launch(what, y.device(), BlocksFor((n + kCount - 1) / kCount), kBlock, &AddBiasElements<T>, n, channels, plane,
               is_aligned, b.data<T>(), y.data<T>());
    });
}

void Conv(const WindowGeometry& g, const Array& x, const Array& w, const Array& b, const Array& y) {
    if (!CudnnConv(g, x, w, y)) {
        ConvByElements<true>("conv", g, x, w, b, y);
    } else if (b) {
        AddBias("conv", b, y);
    }
}

void ConvData(const WindowGeometry& g, const Array& y, const Array& w, const Array& b, const Array& x) {
    if (!CudnnConvData(g, y, w, x)) {
        ConvByElements<false>("conv_transpose", g, y, w, b, x);
    } else if (b) {
        AddBias("conv_transpose", b, x);
    }
}

void ConvWeight(const WindowGeometry& g, const Array& x, const Array& y, const Array& w) {
    if (CudnnConvWeight(g, x, y, w)) return;
    ForElements(w, [&](auto tag, int64_t n) {
        using T = typename decltype(tag)::type;
        Launch("conv", w.device(), BlocksFor(n), kBlock, &ConvWeightElements<T>, n, g, DataOrNull<T>(x),
               DataOrNull<T>(y), w.data<T>());
    });
}

}  // namespace

const CudaKernels g_convolution_kernels{[](Backend& backend) {
    kConvKernel.Register(backend, &Conv);
    kConvDataKernel.Register(backend, &ConvData);
    kConvWeightKernel.Register(backend, &ConvWeight);
}};

}  // namespace chainerx::cuda
