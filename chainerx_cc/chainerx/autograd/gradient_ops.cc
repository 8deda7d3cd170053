#include "chainerx/autograd/gradient_ops.h"

#include <initializer_list>
#include <memory>
#include <typeinfo>
#include <utility>
#include <vector>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/kernel_watch.h"
#include "chainerx/core/kernels.h"

namespace chainerx::internal {
namespace {

// A linear operation: the gradients of all inputs are one function of the output gradient, and it keeps no values.
template <class F>
class LinearNode final : public OpNode {
public:
    LinearNode(const char* name, GraphMask mask, F&& f) : OpNode{name, mask}, f_{std::move(f)} {}

    void Backward(BackwardContext& ctx) override {
        for (size_t i = 0; i < edges().size(); ++i) {
            if (ctx.IsWanted(i)) ctx.SetGrad(i, f_(ctx.grad()));
        }
    }
    void ReleaseSaved() noexcept override {}

private:
    F f_;
};

template <class F>
void RecordLinear(const char* name, std::initializer_list<const Array*> inputs, const Array& out, F&& f) {
    GraphMask mask = 0;
    for (const Array* a : inputs) mask |= GetRecordMask(*a);
    if (mask == 0) return;
    IntrusivePtr<OpNode> node{new LinearNode<F>{name, mask, std::move(f)}};
    for (const Array* a : inputs) node->AddInput(*a, mask);
    node->AddOutput(out);
}

// Calls a kernel with two inputs, of which the caller has to set the second.
ElementwiseCall MakeCall(const Array& a, const Array& out) {
    static constexpr char kNoParameters = 0;
    ElementwiseCall call;
    call.op = &kNoParameters;
    call.n_inputs = 2;
    call.dtype = out.dtype();
    call.out = &out;
    call.in[0] = &a;
    return call;
}

void Multiply(const Array& grad, double factor, const Array& out) {
    ElementwiseCall call = MakeCall(grad, out);
    call.in[1] = nullptr;
    Scalar{factor}.Store(grad.dtype(), call.scalars[1]);
    kMultiplyKernel(grad.device(), call);
}

// A product with the loss scale or its inverse. The call keeps the scale itself, since a dynamic one differs from run
// to run of a plan.
class ScaleCall final : public KernelCall {
public:
    ScaleCall(const Array& grad, double loss_scale, LossFactor factor, const Array& out)
        : KernelCall{kMultiplyKernel},
          grad_{KeptArray(grad)},
          out_{KeptArray(out)},
          loss_scale_{loss_scale},
          factor_{factor} {}

    void Run() const override {
        UnwatchedScope unwatched;
        Multiply(grad_, FactorOf(loss_scale_.front(), factor_), out_);
    }
    void Accept(ArgumentVisitor& visitor) override {
        visitor.Visit(grad_);
        visitor.Visit(out_);
        visitor.Visit(loss_scale_);
    }
    static double FactorOf(double loss_scale, LossFactor factor) {
        return factor == LossFactor::kScale ? loss_scale : 1.0 / loss_scale;
    }

private:
    // Not an elementwise call to others, which would take the number out of it for good.
    const void* FindArgument(const std::type_info&) const override { return nullptr; }

    Array grad_;
    Array out_;
    std::vector<double> loss_scale_;
    LossFactor factor_;
};

}  // namespace

Array AddGrads(const Array& a, const Array& b) {
    CheckDevices(a, b);
    if (CHAINERX_UNLIKELY(a.dtype() != b.dtype())) {
        // Only gradients that the user supplies may differ.
        Dtype dtype = PromoteTypes(a.dtype(), b.dtype());
        return AddGrads(a.dtype() == dtype ? a : CopyGrad(a, dtype), b.dtype() == dtype ? b : CopyGrad(b, dtype));
    }
    Array out = Empty(a.shape(), a.dtype(), a.device());
    ElementwiseCall call = MakeCall(a, out);
    call.in[1] = &b;
    kAddKernel(a.device(), call);
    RecordLinear(kAddKernel.name(), {&a, &b}, out, [](const Array& gy) { return gy; });
    return out;
}

Array ScaleGrad(const Array& grad, double loss_scale, LossFactor factor) {
    if (CHAINERX_UNLIKELY(!IsInexact(grad.dtype()))) {
        return ScaleGrad(CopyGrad(grad, Dtype::kFloat64), loss_scale, factor);
    }
    Array out = Empty(grad.shape(), grad.dtype(), grad.device());
    {
        UnwatchedScope unwatched;
        if (KernelWatcher* watcher = unwatched.watcher()) {
            watcher->OnCall(std::make_unique<ScaleCall>(grad, loss_scale, factor, out));
        }
        Multiply(grad, ScaleCall::FactorOf(loss_scale, factor), out);
    }
    RecordLinear(kMultiplyKernel.name(), {&grad}, out,
                 [loss_scale, factor](const Array& gy) { return ScaleGrad(gy, loss_scale, factor); });
    return out;
}

Array CopyGrad(const Array& grad, Dtype dtype) {
    Array out = Empty(grad.shape(), dtype, grad.device());
    CopyData(grad, out);
    if (grad.dtype() == dtype) {
        RecordLinear("copy", {&grad}, out, [](const Array& gy) { return gy; });
    } else if (IsInexact(dtype)) {
        RecordLinear("astype", {&grad}, out, [from = grad.dtype()](const Array& gy) { return CopyGrad(gy, from); });
    }
    return out;
}

}  // namespace chainerx::internal
