// Pooling of arrays.

#include "chainerx/ops/pooling.h"

#include "chainerx/backends/native/kernels/pool.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/backends/native/window.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/operands.h"

namespace chainerx::native {
namespace {

// The number of elements above which the interpreter lock is released.
constexpr int64_t kPoolingBlocking = 32768;

// Runs `kernel(in, out)` on pointers.
template <class Kernel>
void Run(const Array& in_, const Array& out_, Kernel&& kernel) {
    Dtype dtype = GetComputeDtype(in_.dtype());
    Array in = Input(in_, dtype);
    Output out{out_, dtype};
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        BlockingScope blocking{in.GetTotalSize() + out_.GetTotalSize() > kPoolingBlocking};
        kernel(in.data<T>(), out.data<T>());
    });
    out.Finish();
}

void MaxPool(const WindowGeometry& g, const Array& x, const Array& y, const Array& index) {
    ConvShape s = MakeConvShape(g);
    Run(x, y, [&](auto* x, auto* y) { MaxPoolForward(s, x, y, index ? index.data<int64_t>() : nullptr); });
}

void MaxPoolGrad(const WindowGeometry& g, const Array& gy, const Array& index, const Array& gx) {
    ConvShape s = MakeConvShape(g);
    Run(gy, gx, [&](auto* gy, auto* gx) { MaxPoolBackward(s, gy, index.data<int64_t>(), gx); });
}

native::PoolPadding Convert(chainerx::PoolPadding padding) {
    return padding == chainerx::PoolPadding::kZero ? native::PoolPadding::kZero : native::PoolPadding::kIgnore;
}

void AveragePool(const WindowGeometry& g, chainerx::PoolPadding padding, const Array& x, const Array& y) {
    ConvShape s = MakeConvShape(g);
    Run(x, y, [&](auto* x, auto* y) { AveragePoolForward(s, Convert(padding), x, y); });
}

void AveragePoolGrad(const WindowGeometry& g, chainerx::PoolPadding padding, const Array& gy, const Array& gx) {
    ConvShape s = MakeConvShape(g);
    Run(gy, gx, [&](auto* gy, auto* gx) { AveragePoolBackward(s, Convert(padding), gy, gx); });
}

}  // namespace

const NativeKernels g_pooling_kernels{[](Backend& backend) {
    kMaxPoolKernel.Register(backend, &MaxPool);
    kMaxPoolGradKernel.Register(backend, &MaxPoolGrad);
    kAveragePoolKernel.Register(backend, &AveragePool);
    kAveragePoolGradKernel.Register(backend, &AveragePoolGrad);
}};

}  // namespace chainerx::native
