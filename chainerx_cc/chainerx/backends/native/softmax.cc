// Softmax, its logarithm, and the cross entropy of it.

#include "chainerx/backends/native/kernels/softmax.h"

#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/axis_sizes.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/loss.h"
#include "chainerx/ops/reduction.h"

namespace chainerx::native {
namespace {

// The number of elements above which the interpreter lock is released.
constexpr int64_t kSoftmaxBlocking = 8192;

// Calls `kernel(tag, sizes, x, y)` with pointers in the dtype of the computation.
template <class F>
void OnAxis(const Array& x_, int8_t axis, const Array& y_, F&& kernel) {
    if (x_.GetTotalSize() == 0) return;
    Dtype dtype = GetComputeDtype(x_.dtype());
    Array x = Input(x_, dtype);
    Output y{y_, dtype};
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        BlockingScope blocking{x.GetTotalSize() > kSoftmaxBlocking};
        kernel(tag, AxisSizes{x.shape(), axis}, x.data<T>(), y.template data<T>());
    });
    y.Finish();
}

void Softmax(const Array& x, int8_t axis, const Array& y) {
    OnAxis(x, axis, y,
           [](auto, const AxisSizes& s, auto* in, auto* out) { SoftmaxForward(s.outer, s.n, s.inner, in, out); });
}

void LogSoftmax(const Array& x, int8_t axis, const Array& y) {
    OnAxis(x, axis, y,
           [](auto, const AxisSizes& s, auto* in, auto* out) { LogSoftmaxForward(s.outer, s.n, s.inner, in, out); });
}

void SoftmaxGrad(const Array& y, const Array& gy_, int8_t axis, const Array& gx) {
    Array gy = Input(gy_, GetComputeDtype(gy_.dtype()));
    OnAxis(y, axis, gx, [&gy](auto tag, const AxisSizes& s, auto* out, auto* grad) {
        SoftmaxBackward(s.outer, s.n, s.inner, out, gy.data<typename decltype(tag)::type>(), grad);
    });
}

void LogSoftmaxGrad(const Array& y, const Array& gy_, int8_t axis, const Array& gx) {
    Array gy = Input(gy_, GetComputeDtype(gy_.dtype()));
    OnAxis(y, axis, gx, [&gy](auto tag, const AxisSizes& s, auto* out, auto* grad) {
        LogSoftmaxBackward(s.outer, s.n, s.inner, out, gy.data<typename decltype(tag)::type>(), grad);
    });
}

void CrossEntropy(const Array& x_, const Array& t, int64_t ignore_label, const Array& loss_, const Array& log_sum) {
    const auto* label = t.data<int64_t>();
    int64_t classes = x_.shape()[1];
    for (int64_t i = 0; i < t.GetTotalSize(); ++i) {
        if (label[i] != ignore_label && (label[i] < 0 || label[i] >= classes)) {
            throw IndexError{"softmax_cross_entropy: label ", label[i], " is out of range for ", classes, " classes"};
        }
    }
    if (classes == 0) return kFillKernel(loss_.device(), loss_, Scalar{0});
    Dtype dtype = log_sum.dtype();
    Array x = Input(x_, dtype);
    Output loss{loss_, dtype};
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        BlockingScope blocking{x.GetTotalSize() > kSoftmaxBlocking};
        AxisSizes s{x.shape(), 1};
        SoftmaxCrossEntropyForward<T>(s.outer, s.n, s.inner, x.data<T>(), label, ignore_label, loss.template data<T>(),
                                      log_sum.data<T>());
    });
    loss.Finish();
}

void CrossEntropyGrad(const Array& x, const Array& t, int64_t ignore_label, const Array& log_sum, const Array& gloss_,
                      const Array& gx) {
    Array gloss = Input(gloss_, log_sum.dtype());
    OnAxis(x, 1, gx, [&](auto tag, const AxisSizes& s, auto* in, auto* grad) {
        using T = typename decltype(tag)::type;
        SoftmaxCrossEntropyBackward<T>(s.outer, s.n, s.inner, in, t.data<int64_t>(), ignore_label, log_sum.data<T>(),
                                       gloss.data<T>(), grad);
    });
}

}  // namespace

const NativeKernels g_softmax_kernels{[](Backend& backend) {
    kSoftmaxKernel.Register(backend, &Softmax);
    kLogSoftmaxKernel.Register(backend, &LogSoftmax);
    kSoftmaxGradKernel.Register(backend, &SoftmaxGrad);
    kLogSoftmaxGradKernel.Register(backend, &LogSoftmaxGrad);
    kSoftmaxCrossEntropyKernel.Register(backend, &CrossEntropy);
    kSoftmaxCrossEntropyGradKernel.Register(backend, &CrossEntropyGrad);
}};

}  // namespace chainerx::native
