// Convolution of arrays.

#include "chainerx/ops/convolution.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>

#include "chainerx/backends/native/convolution_bf16.h"
#include "chainerx/backends/native/convolution_bias.h"
#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/conv.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/backends/native/window.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/packed_convolution.h"

namespace chainerx::native {
namespace {

// The number of multiplications above which the interpreter lock is released.
constexpr int64_t kConvolutionBlocking = 262144;

int64_t CountWork(const ConvShape& s) {
    return s.batch * s.out_channels * (s.in_channels / s.groups) * SpatialSize(s.kernel, s.ndim) *
           SpatialSize(s.out, s.ndim);
}

// Runs `kernel(TypeTag<T>, a, b, bias, out)` on pointers.
template <class Kernel>
void Run(const ConvShape& s, const Array& a_, const Array& b_, const Array& bias_, const Array& out_, Kernel&& kernel) {
    Dtype dtype = GetComputeDtype(out_.dtype());
    Array a = Input(a_, dtype);
    Array b = Input(b_, dtype);
    Array bias = bias_ ? Input(bias_, dtype) : bias_;
    Output out{out_, dtype};
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        BlockingScope blocking{CountWork(s) > kConvolutionBlocking};
        kernel(a.data<T>(), b.data<T>(), bias ? bias.data<T>() : nullptr, out.data<T>());
    });
    out.Finish();
}

// Calls `visit` with the offsets in x, w and y of the factors of every product.
template <class Visit>
void VisitProducts(const WindowGeometry& g, Visit&& visit) {
    int64_t in = g.InSize();
    int64_t taps = g.KernelSize();
    int64_t out = g.OutSize();
    int64_t group_in = g.in_channels / g.groups;
    int64_t group_out = g.out_channels / g.groups;
    for (int64_t p = 0; p < out; ++p) {
        for (int64_t q = 0; q < taps; ++q) {
            int64_t i = g.InputOf(p, q);
            if (i < 0) continue;
            for (int64_t n = 0; n < g.batch; ++n) {
                for (int64_t o = 0; o < g.out_channels; ++o) {
                    for (int64_t c = 0; c < group_in; ++c) {
                        visit((n * g.in_channels + o / group_out * group_in + c) * in + i,
                              (o * group_in + c) * taps + q, (n * g.out_channels + o) * out + p);
                    }
                }
            }
        }
    }
}

// Integers, which wrap around: product by product into x or y.
void RunInteger(const WindowGeometry& g, const Array& x, const Array& w, const Array& y, const Array& bias,
                bool into_x) {
    FillBias(bias, into_x ? x : y);
    BlockingScope blocking{CountWork(MakeConvShape(g)) > kConvolutionBlocking};
    VisitDtype(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_integral_v<T>) {
            VisitProducts(
                    g, [xs = x.data<T>(), ws = w.data<T>(), ys = y.data<T>(), into_x](int64_t i, int64_t j, int64_t k) {
                        T& sum = into_x ? xs[i] : ys[k];
                        T factor = into_x ? ys[k] : xs[i];
                        sum = static_cast<T>(static_cast<uint64_t>(sum) +
                                             static_cast<uint64_t>(factor) * static_cast<uint64_t>(ws[j]));
                    });
        }
    });
}

void Conv(const WindowGeometry& g, const Array& x, const Array& w, const Array& b, const Array& y) {
    if (IsInteger(y.dtype())) return RunInteger(g, x, w, y, b, false);
    if (ConvBf16(g, x, w, b, y)) return;
    ConvShape s = MakeConvShape(g);
    Run(s, x, w, b, y, [&s](auto* x, auto* w, auto* b, auto* y) { ConvForward(s, x, w, b, y); });
}

void ConvData(const WindowGeometry& g, const Array& y, const Array& w, const Array& b, const Array& x) {
    if (IsInteger(x.dtype())) return RunInteger(g, x, w, y, b, true);
    if (ConvDataBf16(g, y, w, b, x)) return;
    ConvShape s = MakeConvShape(g);
    Run(s, y, w, b, x, [&s](auto* y, auto* w, auto* b, auto* x) { ConvBackwardData(s, y, w, b, x); });
}

void ConvWeight(const WindowGeometry& g, const Array& x, const Array& y, const Array& w) {
    if (ConvWeightBf16(g, x, y, w)) return;
    ConvShape s = MakeConvShape(g);
    Run(s, x, y, Array{}, w, [&s](auto* x, auto* y, auto*, auto* w) { ConvBackwardWeight(s, x, y, w); });
}

template <class T>
class NativeFilters final : public PackedFilters {
public:
    NativeFilters(const Array& w, int64_t groups) {
        ConvShape s{};
        s.ndim = w.ndim() - 2;
        s.groups = groups;
        s.in_channels = w.shape()[1] * groups;
        s.out_channels = w.shape()[0];
        std::copy_n(w.shape().begin() + 2, s.ndim, s.kernel);
        int64_t size;
        GetPackedSize<T>(s, &size);
        packed_.emplace(size);
        BlockingScope blocking{size > kConvolutionBlocking};
        PackConvWeights<T>(s, w.data<T>(), packed_->data());
    }

    void Run(const WindowGeometry& g, const Array& x, const ConvEpilogue& epilogue, const Array& y) const override {
        ConvShape s = MakeConvShape(g);
        auto data = [](const Array& a) { return a ? a.data<T>() : nullptr; };
        BlockingScope blocking{CountWork(s) > kConvolutionBlocking};
        ConvForwardPacked<T>(s, x.data<T>(), packed_->data(), data(epilogue.bias), data(epilogue.addend),
                             epilogue.use_relu, static_cast<T>(epilogue.most), y.data<T>());
    }

private:
    std::optional<Buffer<T>> packed_;
};

std::unique_ptr<PackedFilters> PackFilters(const Array& w, int64_t groups) {
    if (w.GetTotalSize() == 0) return nullptr;
    if (w.dtype() == Dtype::kFloat32) return std::make_unique<NativeFilters<float>>(w, groups);
    if (w.dtype() == Dtype::kFloat64) return std::make_unique<NativeFilters<double>>(w, groups);
    return nullptr;
}

}  // namespace

const NativeKernels g_convolution_kernels{[](Backend& backend) {
    kConvKernel.Register(backend, &Conv);
    kConvDataKernel.Register(backend, &ConvData);
    kConvWeightKernel.Register(backend, &ConvWeight);
    kPackFiltersKernel.Register(backend, &PackFilters);
}};

}  // namespace chainerx::native
