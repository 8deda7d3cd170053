#include "chainerx/ops/rnn_layer.h"

#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/rnn_cells.h"
#include "chainerx/ops/structured.h"
#include "chainerx/ops/trigonometric.h"

namespace chainerx {

const RnnLayerKernel kRnnLayerKernel{"rnn_layer"};
const RnnLayerGradKernel kRnnLayerGradKernel{"rnn_layer_grad"};

namespace internal {
namespace {

// The rest of the gradients from those of the gates, and the states before each step.
void FillWeights(const LayerInputs& in, const Array& gx_gates, const Array& gh_gates, const Array& h_prev,
                 LayerInputs* grads) {
    grads->x = Dot(gx_gates, in.wx);
    grads->wx = Dot(Transpose(gx_gates), in.x);
    grads->wh = Dot(Transpose(gh_gates), h_prev);
    grads->bx = Sum(gx_gates, Axes{0});
    if (in.bh) grads->bh = Sum(gh_gates, Axes{0});
}

// A layer in operations that have gradients themselves: the steps forward again, then backward.
struct ComposedLayer {
    RnnKind kind;
    bool reverse;
    const std::vector<int64_t>& lengths;

    LayerInputs ComposeGrads(const LayerInputs& in, const Array& gy_joined, const Array& gh_last,
                             const Array& gc_last) const {
        size_t steps = lengths.size();
        std::vector<int64_t> stops;
        int64_t total = 0;
        for (int64_t n : lengths) stops.push_back(total += n);
        stops.pop_back();
        std::vector<Array> x_gates = Split(Linear(in.x, in.wx, in.bx), stops, 0);
        std::vector<Array> gy = Split(gy_joined, stops, 0);
        std::vector<Array> h_prev(steps);
        std::vector<Array> c_prev(steps);
        std::vector<Array> h_gates(steps);
        Array h = in.h0;
        Array c = in.c0;
        for (size_t i = 0; i < steps; ++i) {
            size_t t = reverse ? steps - 1 - i : i;
            int64_t n = lengths[t];
            h_prev[t] = First(h, n);
            if (c) c_prev[t] = First(c, n);
            h_gates[t] = Linear(h_prev[t], in.wh, in.bh ? std::optional<Array>{in.bh} : std::nullopt);
            auto [next_h, next_c] = Step(x_gates[t], h_gates[t], h_prev[t], c_prev[t]);
            h = Replace(h, next_h);
            if (c) c = Replace(c, next_c);
        }
        std::vector<Array> gx_gates(steps);
        std::vector<Array> gh_gates(steps);
        LayerInputs grads;
        grads.h0 = gh_last;
        grads.c0 = gc_last;
        for (size_t i = 0; i < steps; ++i) {
            size_t t = reverse ? i : steps - 1 - i;
            int64_t n = lengths[t];
            Array gh = gy[t] + First(grads.h0, n);
            Array direct;
            Array gc;
            if (c) gc = First(grads.c0, n);
            StepGrad(x_gates[t], h_gates[t], h_prev[t], c_prev[t], gh, &gc, &gx_gates[t], &gh_gates[t], &direct);
            Array gh_prev = Dot(gh_gates[t], in.wh);
            grads.h0 = Replace(grads.h0, direct ? direct + gh_prev : gh_prev);
            if (c) grads.c0 = Replace(grads.c0, gc);
        }
        FillWeights(in, Concatenate(gx_gates, 0), Concatenate(gh_gates, 0), Concatenate(h_prev, 0), &grads);
        return grads;
    }

private:
    static Array First(const Array& a, int64_t n) {
        return n == a.shape()[0] ? a : Split(a, std::vector<int64_t>{n}, 0)[0];
    }
    // The first rows replaced: sequences that have ended keep what they had.
    static Array Replace(const Array& a, const Array& first) {
        int64_t n = first.shape()[0];
        return n == a.shape()[0] ? first : Concatenate({first, Split(a, std::vector<int64_t>{n}, 0)[1]}, 0);
    }

    struct GruGates {
        Array r;
        Array z;
        Array a;
        Array h_candidate;
    };
    static GruGates OpenGru(const Array& x_gates, const Array& h_gates) {
        std::vector<Array> x = Split(x_gates, 3, 1);
        std::vector<Array> s = Split(h_gates, 3, 1);
        Array r = Sigmoid(x[0] + s[0]);
        return {r, Sigmoid(x[1] + s[1]), Tanh(x[2] + r * s[2]), s[2]};
    }

    // New h and c.
    std::tuple<Array, Array> Step(const Array& x_gates, const Array& h_gates, const Array& h, const Array& c) const {
        switch (kind) {
            case RnnKind::kLstm: {
                auto [next_c, next_h] = LstmCell(c, x_gates + h_gates, Gates::kBlocks);
                return {next_h, next_c};
            }
            case RnnKind::kGru: {
                GruGates g = OpenGru(x_gates, h_gates);
                return {g.a + g.z * (h - g.a), Array{}};
            }
            case RnnKind::kTanh:
                return {Tanh(x_gates + h_gates), Array{}};
            default:
                return {Relu(x_gates + h_gates), Array{}};
        }
    }

    // Gradients of gates, of c (in place of that of the new one), and of h where it does not come through gates.
    void StepGrad(const Array& x_gates, const Array& h_gates, const Array& h, const Array& c, const Array& gh,
                  Array* gc, Array* gx_gates, Array* gh_gates, Array* direct) const {
        switch (kind) {
            case RnnKind::kLstm: {
                std::vector<Array> g = Split(x_gates + h_gates, 4, 1);
                LstmParts grads = GetLstmGrads({{g[0]}, {g[1]}, {g[2]}, {c}, g[3]}, *gc, gh);
                *gx_gates = Concatenate({grads.a[0], grads.i[0], grads.f[0], grads.o}, 1);
                *gh_gates = *gx_gates;
                *gc = grads.c[0];
                return;
            }
            case RnnKind::kGru: {
                GruGates g = OpenGru(x_gates, h_gates);
                Array ga = gh * (Scalar{1} - g.z) * (Scalar{1} - Square(g.a));
                Array gz = gh * (h - g.a) * SigmoidSlope(g.z);
                Array gr = ga * g.h_candidate * SigmoidSlope(g.r);
                *gx_gates = Concatenate({gr, gz, ga}, 1);
                *gh_gates = Concatenate({gr, gz, ga * g.r}, 1);
                *direct = gh * g.z;
                return;
            }
            case RnnKind::kTanh:
                *gx_gates = gh * (Scalar{1} - Square(Tanh(x_gates + h_gates)));
                *gh_gates = *gx_gates;
                return;
            default:
                *gx_gates = gh * AsType(Greater((x_gates + h_gates).AsDetached(), Scalar{0}), gh.dtype());
                *gh_gates = *gx_gates;
                return;
        }
    }
};

struct LayerBackward {
    Saved saved[LayerInputs::kCount];
    Saved y;         // outside graphs
    RnnLayer layer;  // with what the forward pass computed

    void operator()(BackwardContext& ctx) const {
        LayerInputs in;
        GraphMask mask = GetRecordMask({&ctx.grad(0), &ctx.grad(1), Grad(ctx, 2)});
        in.ForEach([&](size_t i, Array* a) {
            if (saved[i]) *a = saved[i].Get();
            if (*a) mask |= GetRecordMask(*a);
        });
        LayerInputs grads = mask != 0 ? Compose(in, ctx) : Compute(in, ctx);
        grads.ForEach([&](size_t i, Array* g) {
            if (ctx.IsWanted(i)) ctx.SetGrad(i, *g);
        });
    }

private:
    static const Array* Grad(const BackwardContext& ctx, size_t i) {
        return i < ctx.output_count() ? &ctx.grad(i) : nullptr;
    }

    LayerInputs Compute(const LayerInputs& in, BackwardContext& ctx) const {
        LayerInputs grads;
        grads.h0 = Copy(ctx.GradOrZeros(1).AsDetached());
        if (in.c0) grads.c0 = Copy(ctx.GradOrZeros(2).AsDetached());
        Array gx_gates = EmptyLike(layer.x_gates);
        Array gh_gates = layer.h_gates ? EmptyLike(layer.h_gates) : gx_gates;
        Array h_prev = EmptyLike(y.Get());
        kRnnLayerGradKernel(h_prev.device(), layer, ctx.HasGrad(0) ? KernelInput(ctx.grad(0)) : Array{}, grads.h0,
                            grads.c0, gx_gates, gh_gates, h_prev);
        FillWeights(in, gx_gates, gh_gates, h_prev, &grads);
        return grads;
    }

    LayerInputs Compose(const LayerInputs& in, BackwardContext& ctx) const {
        return ComposeLayerGrads(layer.kind, layer.reverse, layer.lengths, in, ctx.GradOrZeros(0), ctx.GradOrZeros(1),
                                 in.c0 ? ctx.GradOrZeros(2) : Array{});
    }
};

}  // namespace

LayerInputs ComposeLayerGrads(RnnKind kind, bool reverse, const std::vector<int64_t>& lengths, const LayerInputs& in,
                              const Array& gy, const Array& gh, const Array& gc) {
    return ComposedLayer{kind, reverse, lengths}.ComposeGrads(in, gy, gh, gc);
}

LayerOutputs RunLayer(RnnKind kind, bool reverse, const std::vector<int64_t>& lengths, LayerInputs in) {
    RnnLayer layer;
    layer.kind = kind;
    layer.lengths = lengths;
    layer.reverse = reverse;
    layer.wh = KernelInput(in.wh);
    layer.h0 = KernelInput(in.h0);
    layer.x_gates = Linear(in.x.AsDetached(), in.wx.AsDetached(), in.bx.AsDetached());
    const Shape& shape = in.h0.shape();
    layer.y = Empty({in.x.shape()[0], shape[1]}, in.x.dtype(), in.x.device());
    LayerOutputs out;
    out.y = layer.y;
    out.h = EmptyLike(layer.h0);
    if (kind == RnnKind::kLstm) {
        layer.c0 = KernelInput(in.c0);
        layer.cells = EmptyLike(layer.y);
        out.c = EmptyLike(layer.c0);
    }
    if (kind == RnnKind::kGru) {
        layer.bh = KernelInput(in.bh);
        layer.h_gates = EmptyLike(layer.x_gates);
    }
    kRnnLayerKernel(in.x.device(), layer, out.h, out.c);
    GraphMask mask = 0;
    in.ForEach([&mask](size_t, Array* a) { mask |= *a ? GetRecordMask(*a) : 0; });
    if (mask != 0) {
        LayerBackward backward;
        in.ForEach([&backward](size_t i, Array* a) {
            if (*a) backward.saved[i] = Saved{*a};
        });
        layer.y = layer.y.AsDetached();
        backward.y = Saved{layer.y};
        backward.layer = std::move(layer);
        std::vector<const Array*> inputs;
        in.ForEach([&inputs](size_t, Array* a) { inputs.push_back(a); });
        if (out.c) {
            Record("rnn_layer", mask, inputs, {&out.y, &out.h, &out.c}, std::move(backward));
        } else {
            Record("rnn_layer", mask, inputs, {&out.y, &out.h}, std::move(backward));
        }
    }
    return out;
}

}  // namespace internal
}  // namespace chainerx
