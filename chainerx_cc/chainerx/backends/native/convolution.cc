// Convolution of arrays.

#include "chainerx/ops/convolution.h"

#include "chainerx/backends/native/kernel_family.h"
#include "chainerx/backends/native/kernels/conv.h"
#include "chainerx/backends/native/operands.h"
#include "chainerx/backends/native/window.h"
#include "chainerx/core/blocking.h"

namespace chainerx::native {
namespace {

// The number of multiplications above which the interpreter lock is released.
constexpr int64_t kBlocking = 262144;

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
        BlockingScope blocking{CountWork(s) > kBlocking};
        kernel(a.data<T>(), b.data<T>(), bias ? bias.data<T>() : nullptr, out.data<T>());
    });
    out.Finish();
}

void Conv(const WindowGeometry& g, const Array& x, const Array& w, const Array& b, const Array& y) {
    ConvShape s = MakeConvShape(g);
    Run(s, x, w, b, y, [&s](auto* x, auto* w, auto* b, auto* y) { ConvForward(s, x, w, b, y); });
}

void ConvData(const WindowGeometry& g, const Array& y, const Array& w, const Array& b, const Array& x) {
    ConvShape s = MakeConvShape(g);
    Run(s, y, w, b, x, [&s](auto* y, auto* w, auto* b, auto* x) { ConvBackwardData(s, y, w, b, x); });
}

void ConvWeight(const WindowGeometry& g, const Array& x, const Array& y, const Array& w) {
    ConvShape s = MakeConvShape(g);
    Run(s, x, y, Array{}, w, [&s](auto* x, auto* y, auto*, auto* w) { ConvBackwardWeight(s, x, y, w); });
}

}  // namespace

const KernelFamily g_convolution_kernels{[](Backend& backend) {
    kConvKernel.Register(backend, &Conv);
    kConvDataKernel.Register(backend, &ConvData);
    kConvWeightKernel.Register(backend, &ConvWeight);
}};

}  // namespace chainerx::native
