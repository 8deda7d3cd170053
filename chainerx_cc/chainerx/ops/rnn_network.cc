#include "chainerx/ops/rnn_network.h"

#include <utility>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const FusedRnnSizesKernel kFusedRnnSizesKernel{"fused_rnn_sizes"};
const FusedRnnKernel kFusedRnnKernel{"fused_rnn"};
const FusedRnnGradKernel kFusedRnnGradKernel{"fused_rnn_grad"};

namespace internal {
namespace {

// Where layers have each of a cell's arrays, by their order there.
const std::vector<size_t>& GetGateOrder(RnnKind kind) {
    static const std::vector<size_t> lstm{2, 0, 1, 3};  // from i, f, a, o to a, i, f, o
    static const std::vector<size_t> gru{0, 1, 2};
    static const std::vector<size_t> simple{0};
    if (kind == RnnKind::kLstm) return lstm;
    return kind == RnnKind::kGru ? gru : simple;
}

// The arrays of all gates from the first one on, stacked as layers have them.
Array JoinGates(RnnKind kind, const std::vector<Array>& arrays, size_t first) {
    const std::vector<size_t>& order = GetGateOrder(kind);
    if (order.size() == 1) return arrays[first];
    std::vector<Array> parts;
    for (size_t k : order) parts.push_back(arrays[first + k]);
    return Concatenate(parts, 0);
}

// The inverse.
void SplitGates(RnnKind kind, const Array& joined, size_t first, std::vector<Array>* arrays) {
    const std::vector<size_t>& order = GetGateOrder(kind);
    std::vector<Array> parts = Split(joined, static_cast<int64_t>(order.size()), 0);
    for (size_t k = 0; k < order.size(); ++k) (*arrays)[first + order[k]] = parts[k];
}

std::vector<Array> SplitCells(const Array& states) {
    if (!states) return {};
    Shape shape{states.shape()[1], states.shape()[2]};
    std::vector<Array> cells = Split(states, states.shape()[0], 0);
    for (Array& cell : cells) cell = Reshape(cell, shape);
    return cells;
}

// Calls run(reverse, inputs) -> outputs for all cells.
template <class F>
LayerOutputs ForCells(const NetworkInputs& in, F&& run) {
    std::vector<Array> h0 = SplitCells(in.h0);
    std::vector<Array> c0 = SplitCells(in.c0);
    std::vector<Array> h_last;
    std::vector<Array> c_last;
    size_t gates = CountGates(in.kind);
    Array x = in.x;
    for (int64_t layer = 0; layer < in.layers; ++layer) {
        std::vector<Array> outputs;
        for (int64_t d = 0; d < in.directions; ++d) {
            int64_t cell = layer * in.directions + d;
            LayerInputs cell_in;
            cell_in.x = x;
            cell_in.h0 = h0[cell];
            if (in.c0) cell_in.c0 = c0[cell];
            cell_in.wx = JoinGates(in.kind, in.ws[cell], 0);
            cell_in.wh = JoinGates(in.kind, in.ws[cell], gates);
            cell_in.bx = JoinGates(in.kind, in.bs[cell], 0);
            cell_in.bh = JoinGates(in.kind, in.bs[cell], gates);
            if (in.kind != RnnKind::kGru) {
                cell_in.bx = cell_in.bx + cell_in.bh;
                cell_in.bh = Array{};
            }
            LayerOutputs out = run(d == 1, cell_in);
            outputs.push_back(out.y);
            h_last.push_back(out.h);
            if (in.c0) c_last.push_back(out.c);
        }
        x = in.directions == 1 ? outputs[0] : Concatenate(outputs, 1);
    }
    return {x, Stack(h_last, 0), in.c0 ? Stack(c_last, 0) : Array{}};
}

// The gradients of all inputs by operations that have gradients themselves.
NetworkInputs ComposeNetworkGrads(const NetworkInputs& in, Array gy, const Array& gh, const Array& gc) {
    std::vector<LayerInputs> cells;
    ForCells(in, [&](bool reverse, const LayerInputs& cell_in) {
        cells.push_back(cell_in);
        return RunLayer(in.kind, reverse, in.lengths, cell_in);
    });
    std::vector<Array> ghs = SplitCells(gh);
    std::vector<Array> gcs = SplitCells(gc);
    size_t gates = CountGates(in.kind);
    NetworkInputs grads = in;
    for (int64_t layer = in.layers - 1; layer >= 0; --layer) {
        std::vector<Array> gys = in.directions == 1 ? std::vector<Array>{gy} : Split(gy, in.directions, 1);
        for (int64_t d = 0; d < in.directions; ++d) {
            int64_t cell = layer * in.directions + d;
            LayerInputs g = ComposeLayerGrads(in.kind, d == 1, in.lengths, cells[cell], gys[d], ghs[cell],
                                              in.c0 ? gcs[cell] : Array{});
            gy = d == 0 ? g.x : gy + g.x;
            ghs[cell] = g.h0;
            if (in.c0) gcs[cell] = g.c0;
            SplitGates(in.kind, g.wx, 0, &grads.ws[cell]);
            SplitGates(in.kind, g.wh, gates, &grads.ws[cell]);
            SplitGates(in.kind, g.bx, 0, &grads.bs[cell]);
            SplitGates(in.kind, g.bh ? g.bh : g.bx, gates, &grads.bs[cell]);
        }
    }
    grads.x = gy;
    grads.h0 = Stack(ghs, 0);
    if (in.c0) grads.c0 = Stack(gcs, 0);
    return grads;
}

std::vector<Array> Flatten(const ArrayLists& lists) {
    std::vector<Array> all;
    for (const std::vector<Array>& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
}

// Calls f(array) for x, h0, c0 and the parameters, the order of gradients.
template <class Inputs, class F>
void ForInputs(Inputs& in, F&& f) {
    for (auto* a : {&in.x, &in.h0, &in.c0}) f(*a);
    for (auto& list : in.ws) {
        for (auto& a : list) f(a);
    }
    for (auto& list : in.bs) {
        for (auto& a : list) f(a);
    }
}

GraphMask GetRecordMask(const NetworkInputs& in) {
    GraphMask mask = 0;
    ForInputs(in, [&mask](const Array& a) { mask |= a ? internal::GetRecordMask(a) : 0; });
    return mask;
}

struct FusedBackward {
    std::vector<Saved> saved;
    NetworkInputs in;  // of which the arrays are in `saved`
    FusedRnn network;
    Saved y;  // outside graphs

    void operator()(BackwardContext& ctx) const {
        NetworkInputs inputs = in;
        size_t i = 0;
        ForInputs(inputs, [&](Array& a) {
            if (saved[i]) a = saved[i].Get();
            ++i;
        });
        GraphMask mask = GetRecordMask(inputs);
        for (size_t output = 0; output < ctx.output_count(); ++output) {
            if (ctx.HasGrad(output)) mask |= internal::GetRecordMask(ctx.grad(output));
        }
        NetworkInputs grads = mask != 0 ? ComposeNetworkGrads(inputs, ctx.GradOrZeros(0), ctx.GradOrZeros(1),
                                                              in.kind == RnnKind::kLstm ? ctx.GradOrZeros(2) : Array{})
                                        : Compute(inputs, ctx);
        i = 0;
        ForInputs(grads, [&](Array& a) {
            if (ctx.IsWanted(i)) ctx.SetGrad(i, std::move(a));
            ++i;
        });
    }

private:
    NetworkInputs Compute(const NetworkInputs& inputs, const BackwardContext& ctx) const {
        y.Get();
        auto grad = [&ctx](size_t output) {
            bool has = output < ctx.output_count() && ctx.HasGrad(output);
            return has ? KernelInput(ctx.grad(output)) : Array{};
        };
        NetworkInputs grads = inputs;
        ForInputs(grads, [](Array& a) {
            if (a) a = Empty(a.shape(), a.dtype(), a.device());
        });
        FusedRnnGrads kernel_grads{grad(0), grad(1), grad(2), grads.x, grads.h0, grads.c0};
        kFusedRnnGradKernel(inputs.x.device(), network, kernel_grads, Flatten(grads.ws), Flatten(grads.bs));
        return grads;
    }
};

Array MakeBytes(int64_t size, Device& device) { return Empty({size}, Dtype::kUInt8, device); }

}  // namespace

FusedRnn MakeFused(const NetworkInputs& in) {
    Array c0 = in.c0 ? KernelInput(in.c0) : Array{};
    FusedRnn network{in.kind, in.layers, in.directions, in.lengths, KernelInput(in.x), KernelInput(in.h0), c0, {},
                     {},      {}};
    // Steps without sequences have nothing to compute.
    while (!network.lengths.empty() && network.lengths.back() == 0) network.lengths.pop_back();
    return network;
}

LayerOutputs RunFused(const NetworkInputs& in, FusedRnn network, const FusedRnnSizes& sizes) {
    Device& device = in.x.device();
    GraphMask mask = GetRecordMask(in);
    network.y = Empty({in.x.shape()[0], in.directions * in.h0.shape()[2]}, in.x.dtype(), device);
    network.weights = MakeBytes(sizes.weights, device);
    if (mask != 0) network.reserve = MakeBytes(sizes.reserve, device);
    LayerOutputs out{network.y, EmptyLike(network.h0), in.c0 ? EmptyLike(network.c0) : Array{}};
    auto kernel_inputs = [](const ArrayLists& lists) {
        std::vector<Array> all = Flatten(lists);
        for (Array& a : all) a = KernelInput(a);
        return all;
    };
    kFusedRnnKernel(device, network, kernel_inputs(in.ws), kernel_inputs(in.bs), out.h, out.c);
    if (mask != 0) {
        FusedBackward backward;
        std::vector<const Array*> inputs;
        ForInputs(in, [&](const Array& a) {
            inputs.push_back(&a);
            backward.saved.push_back(a ? Saved{a} : Saved{});
        });
        backward.in = in;
        ForInputs(backward.in, [](Array& a) { a = Array{}; });
        network.y = network.y.AsDetached();
        backward.y = Saved{network.y};
        backward.network = std::move(network);
        if (out.c) {
            Record("rnn_network", mask, inputs, {&out.y, &out.h, &out.c}, std::move(backward));
        } else {
            Record("rnn_network", mask, inputs, {&out.y, &out.h}, std::move(backward));
        }
    }
    return out;
}

LayerOutputs RunLayers(const NetworkInputs& in) {
    return ForCells(in, [&in](bool reverse, const LayerInputs& cell_in) {
        return RunLayer(in.kind, reverse, in.lengths, cell_in);
    });
}

LayerOutputs RunNetwork(const NetworkInputs& in) {
    FusedRnnSizesKernel::Function* find_sizes = kFusedRnnSizesKernel.Find(in.x.device());
    if (find_sizes == nullptr) return RunLayers(in);
    FusedRnn network = MakeFused(in);
    std::optional<FusedRnnSizes> sizes = find_sizes(network);
    return sizes ? RunFused(in, std::move(network), *sizes) : RunLayers(in);
}

}  // namespace internal
}  // namespace chainerx
