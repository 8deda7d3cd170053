// The layers that files have: convolutions, pooling, normalization, softmax and its loss, attention, recurrent cells,
// indexing, random numbers.

#include <algorithm>
#include <initializer_list>

#include "chainerx/capture/saved_kernel.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/attention.h"
#include "chainerx/ops/convolution.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/loss.h"
#include "chainerx/ops/normalization.h"
#include "chainerx/ops/pooling.h"
#include "chainerx/ops/random.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/rnn.h"

namespace chainerx {
namespace {

using Positions = KnownPositions;

bool Is(const Array& a, const Shape& shape, Dtype dtype) {
    return a && a.IsContiguous() && a.dtype() == dtype && a.shape() == shape;
}

bool IsFloatArray(const Array& a) { return a && a.IsContiguous() && IsFloat(a.dtype()); }

// ---------------------------------------------------------------- windows

bool AreAtLeastOne(std::initializer_list<const int64_t*> sizes, int count) {
    return std::all_of(sizes.begin(), sizes.end(), [count](const int64_t* s) {
        return std::all_of(s, s + count, [](int64_t size) { return size >= 1; });
    });
}

// Sizes from which kernels do not leave their arrays.
bool IsSound(const WindowGeometry& g) {
    if (g.ndim < 1 || !AreAtLeastOne({&g.batch, &g.groups, &g.in_channels, &g.out_channels}, 1)) return false;
    if (!AreAtLeastOne({g.in, g.kernel, g.out, g.stride, g.dilation}, g.ndim)) return false;
    for (int d = 0; d < g.ndim; ++d) {
        int64_t room = g.in[d] + 2 * g.pad[d] - (g.kernel[d] - 1) * g.dilation[d] - 1;
        if (g.out[d] > WindowGeometry::CountWindows(room, g.stride[d], true)) return false;
    }
    return g.in_channels % g.groups == 0 && g.out_channels % g.groups == 0;
}

bool FitsProduct(const WindowGeometry& g, const Array& x, const Array& w, const Array& y) {
    return IsSound(g) && IsFloatArray(x) && Is(x, g.InShape(), x.dtype()) && Is(w, g.WeightShape(), x.dtype()) &&
           Is(y, g.OutShape(g.out_channels), x.dtype());
}

bool FitsConv(Positions&, const WindowGeometry& g, const Array& x, const Array& w, const Array& b, const Array& y) {
    return FitsProduct(g, x, w, y) && (!b || Is(b, Shape{g.out_channels}, x.dtype()));
}

bool FitsConvData(Positions&, const WindowGeometry& g, const Array& y, const Array& w, const Array& b, const Array& x) {
    return FitsProduct(g, x, w, y) && (!b || Is(b, Shape{g.in_channels}, x.dtype()));
}

bool FitsConvWeight(Positions&, const WindowGeometry& g, const Array& x, const Array& y, const Array& w) {
    return FitsProduct(g, x, w, y);
}

bool FitsPool(const WindowGeometry& g, const Array& x, const Array& y) {
    return IsSound(g) && g.groups == 1 && g.out_channels == g.in_channels && IsFloatArray(x) &&
           Is(x, g.InShape(), x.dtype()) && Is(y, g.OutShape(g.in_channels), x.dtype());
}

Positions::Range PlacesIn(const WindowGeometry& g) { return {"max_pool", g.InSize(), 0}; }

bool FitsMaxPool(Positions& positions, const WindowGeometry& g, const Array& x, const Array& y, const Array& index) {
    if (!FitsPool(g, x, y)) return false;
    return !index || (Is(index, y.shape(), Dtype::kInt64) && positions.Finds(index, PlacesIn(g)));
}

bool FitsMaxPoolGrad(Positions& positions, const WindowGeometry& g, const Array& gy, const Array& index,
                     const Array& gx) {
    return FitsPool(g, gx, gy) && Is(index, gy.shape(), Dtype::kInt64) && positions.Uses(index, PlacesIn(g));
}

bool FitsAveragePool(Positions&, const WindowGeometry& g, PoolPadding, const Array& x, const Array& y) {
    return FitsPool(g, x, y);
}

bool FitsAveragePoolGrad(Positions&, const WindowGeometry& g, PoolPadding, const Array& gy, const Array& gx) {
    return FitsPool(g, gx, gy);
}

// ---------------------------------------------------------------- normalization

// For statistics of the shape given.
bool FitsNormGrad(const Shape& statistics, const Shape& parameters, const Array& x, const Array& gamma, const Array& gy,
                  const Array& mean, const Array& inv_std, const Array& gx, const Array& ggamma, const Array& gbeta) {
    if (!IsFloatArray(gamma) || !IsFloatArray(mean) || mean.dtype() != GetComputeDtype(mean.dtype())) return false;
    auto is_parameter = [&](const Array& a) { return Is(a, parameters, gamma.dtype()); };
    return Is(gy, x.shape(), x.dtype()) && Is(gx, x.shape(), x.dtype()) && is_parameter(gamma) &&
           is_parameter(ggamma) && is_parameter(gbeta) && Is(mean, statistics, mean.dtype()) &&
           Is(inv_std, statistics, mean.dtype());
}

// Running statistics may have the shape of several axes of channels.
bool AreRunning(const Array& mean, const Array& var, int64_t channels) {
    auto is_running = [channels](const Array& a) { return IsFloat(a.dtype()) && a.GetTotalSize() == channels; };
    return (!mean && !var) || (mean && var && is_running(mean) && is_running(var));
}

bool FitsBatchNorm(Positions&, const Array& x, const Array& gamma, const Array& beta, const Array& running_mean,
                   const Array& running_var, const BatchNormOptions&, const Array& y, const Array& mean,
                   const Array& inv_std) {
    if (!IsFloatArray(x) || x.ndim() != 3 || !Is(y, x.shape(), x.dtype())) return false;
    if (!IsFloatArray(mean) || mean.dtype() != GetComputeDtype(mean.dtype())) return false;
    Shape channels{x.shape()[1]};
    auto is_parameter = [&](const Array& a) { return IsFloatArray(a) && a.shape() == channels; };
    return is_parameter(gamma) && is_parameter(beta) && AreRunning(running_mean, running_var, channels[0]) &&
           Is(mean, channels, mean.dtype()) && Is(inv_std, channels, mean.dtype());
}

bool FitsBatchNormGrad(Positions&, const Array& x, const Array& gamma, const Array& gy, const Array& mean,
                       const Array& inv_std, const Array& gx, const Array& ggamma, const Array& gbeta) {
    if (!IsFloatArray(x) || x.ndim() != 3) return false;
    Shape channels{x.shape()[1]};
    return FitsNormGrad(channels, channels, x, gamma, gy, mean, inv_std, gx, ggamma, gbeta);
}

bool FitsFixedBatchNorm(Positions&, const Array& x, const Array& gamma, const Array& beta, const Array& mean,
                        const Array& var, double, const Array& y) {
    if (!IsFloatArray(x) || x.ndim() != 3 || !Is(y, x.shape(), x.dtype())) return false;
    auto is_parameter = [&](const Array& a) { return IsFloatArray(a) && a.shape() == Shape{x.shape()[1]}; };
    return is_parameter(gamma) && is_parameter(beta) && is_parameter(mean) && is_parameter(var);
}

bool FitsLayerNorm(Positions&, const Array& x, const Array& gamma, const Array& beta, double, const Array& y,
                   const Array& mean, const Array& inv_std) {
    if (!IsFloatArray(x) || x.ndim() != 2 || !Is(y, x.shape(), x.dtype()) || !IsFloatArray(gamma)) return false;
    if (!IsFloatArray(mean) || mean.dtype() != GetComputeDtype(mean.dtype())) return false;
    Shape rows{x.shape()[0]};
    Shape width{x.shape()[1]};
    return Is(gamma, width, gamma.dtype()) && Is(beta, width, gamma.dtype()) && Is(mean, rows, mean.dtype()) &&
           Is(inv_std, rows, mean.dtype());
}

bool FitsLayerNormGrad(Positions&, const Array& x, const Array& gamma, const Array& gy, const Array& mean,
                       const Array& inv_std, const Array& gx, const Array& ggamma, const Array& gbeta) {
    if (!IsFloatArray(x) || x.ndim() != 2) return false;
    return FitsNormGrad(Shape{x.shape()[0]}, Shape{x.shape()[1]}, x, gamma, gy, mean, inv_std, gx, ggamma, gbeta);
}

// ---------------------------------------------------------------- softmax

bool FitsSoftmax(Positions&, const Array& x, int8_t axis, const Array& y) {
    return IsFloatArray(x) && axis >= 0 && axis < x.ndim() && Is(y, x.shape(), x.dtype());
}

bool FitsSoftmaxGrad(Positions& positions, const Array& y, const Array& gy, int8_t axis, const Array& gx) {
    return FitsSoftmax(positions, y, axis, gx) && Is(gy, y.shape(), y.dtype());
}

// Losses, labels and the logarithms of sums.
bool FitsLabels(const Array& x, const Array& t, const Array& log_sum, const Array& loss) {
    if (!IsFloatArray(x) || x.ndim() < 2) return false;
    Shape shape = x.shape();
    shape.erase(1);
    return Is(t, shape, Dtype::kInt64) && Is(loss, shape, x.dtype()) && Is(log_sum, shape, GetComputeDtype(x.dtype()));
}

Positions::Range LabelsOf(const Array& x, int64_t ignore_label) { return {"label", x.shape()[1], ignore_label}; }

bool FitsCrossEntropy(Positions& positions, const Array& x, const Array& t, int64_t ignore_label, const Array& loss,
                      const Array& log_sum) {
    return FitsLabels(x, t, log_sum, loss) && positions.Finds(t, LabelsOf(x, ignore_label));
}

bool FitsCrossEntropyGrad(Positions& positions, const Array& x, const Array& t, int64_t ignore_label,
                          const Array& log_sum, const Array& gloss, const Array& gx) {
    return FitsLabels(x, t, log_sum, gloss) && Is(gx, x.shape(), x.dtype()) &&
           positions.Uses(t, LabelsOf(x, ignore_label));
}

// ---------------------------------------------------------------- attention

// Queries, keys and values, which need not be contiguous.
struct AttentionShapes {
    AttentionShapes(const Array& q, const Array& k, const Array& v) {
        if (!q || !k || !v || !IsFloat(q.dtype()) || q.ndim() < 2 || k.ndim() < 2 || v.ndim() < 2) return;
        query = q.shape();
        rows = query;
        rows.pop_back();
        result = rows;
        result.push_back(v.shape().back());
        scores = rows;
        scores.push_back(k.shape()[k.ndim() - 2]);
        Shape batch = rows;
        batch.pop_back();
        auto has_shape = [&batch](const Array& a, int64_t length, int64_t width) {
            Shape shape = batch;
            shape.push_back(length);
            shape.push_back(width);
            return a.shape() == shape;
        };
        fits = k.dtype() == q.dtype() && v.dtype() == q.dtype() && has_shape(k, scores.back(), query.back()) &&
               has_shape(v, scores.back(), result.back());
    }
    bool FitsMask(const Array& mask) const {
        return !mask || (mask.shape() == scores && (mask.dtype() == Dtype::kBool || IsFloat(mask.dtype())));
    }

    bool fits{false};
    Shape query;
    Shape rows;
    Shape result;
    Shape scores;
};

bool FitsAttention(Positions&, const Array& q, const Array& k, const Array& v, const Array& mask,
                   const AttentionOptions&, const Array& out, const Array& log_sum) {
    AttentionShapes shapes{q, k, v};
    return shapes.fits && shapes.FitsMask(mask) && Is(out, shapes.result, q.dtype()) &&
           Is(log_sum, shapes.rows, GetComputeDtype(q.dtype()));
}

bool FitsAttentionGrad(Positions&, const Array& q, const Array& k, const Array& v, const Array& mask,
                       const AttentionOptions&, const Array& log_sum, const Array& gout, const Array& gq,
                       const Array& gk, const Array& gv) {
    AttentionShapes shapes{q, k, v};
    return shapes.fits && shapes.FitsMask(mask) && Is(log_sum, shapes.rows, GetComputeDtype(q.dtype())) && gout &&
           gout.dtype() == q.dtype() && gout.shape() == shapes.result && Is(gq, q.shape(), q.dtype()) &&
           Is(gk, k.shape(), q.dtype()) && Is(gv, v.shape(), q.dtype());
}

// ---------------------------------------------------------------- recurrent cells

// Whether states are (batch, units), and gates (batch, 4 units).
bool FitsCell(const Array& c, std::initializer_list<const Array*> states, std::initializer_list<const Array*> gates) {
    if (!IsFloatArray(c) || c.ndim() != 2) return false;
    Shape wide{c.shape()[0], 4 * c.shape()[1]};
    auto have = [&c](std::initializer_list<const Array*> arrays, const Shape& shape) {
        return std::all_of(arrays.begin(), arrays.end(), [&](const Array* a) { return Is(*a, shape, c.dtype()); });
    };
    return have(states, c.shape()) && have(gates, wide);
}

bool FitsLstm(Positions&, const Array& c_prev, const Array& x, Gates, const Array& c, const Array& h) {
    return FitsCell(c, {&c_prev, &h}, {&x});
}

bool FitsLstmGrad(Positions&, const Array& c_prev, const Array& x, Gates, const Array& c, const Array& gc,
                  const Array& gh, const Array& gc_prev, const Array& gx) {
    // Gradients that are no arrays are zero.
    return FitsCell(c, {&c_prev, gc ? &gc : &c, gh ? &gh : &c, &gc_prev}, {&x, &gx});
}

// ---------------------------------------------------------------- indexing

bool FitsNormalizeIndices(Positions& positions, const Array& indices, int64_t length, IndexMode, const Array& out) {
    if (!indices || length < 1 || !out) return false;
    return Is(indices, indices.shape(), Dtype::kInt64) && out.IsContiguous() && out.dtype() == Dtype::kInt64 &&
           out.GetTotalSize() == indices.GetTotalSize() && positions.Finds(out, {"index", length, 0});
}

// `all`: the array with all positions; `part`: that with those that the indices name.
bool FitsTakeGeometry(Positions& positions, const Array& all, const Array& indices, const TakeGeometry& g,
                      const Array& part) {
    if (!all || !part || !indices || !all.IsContiguous() || all.dtype() != part.dtype()) return false;
    auto has_size = [&g](const Array& a, int64_t length) {
        int64_t size;
        return !__builtin_mul_overflow(g.outer, length, &size) && !__builtin_mul_overflow(size, g.inner, &size) &&
               a.GetTotalSize() == size;
    };
    return part.IsContiguous() && has_size(all, g.length) && has_size(part, indices.GetTotalSize()) &&
           Is(indices, indices.shape(), Dtype::kInt64) && positions.Uses(indices, {"index", g.length, 0});
}

bool FitsTake(Positions& positions, const Array& a, const Array& indices, const TakeGeometry& g, const Array& out) {
    return FitsTakeGeometry(positions, a, indices, g, out);
}

bool FitsAddAt(Positions& positions, const Array& out, const Array& indices, const TakeGeometry& g, const Array& b) {
    return FitsTakeGeometry(positions, out, indices, g, b);
}

// ---------------------------------------------------------------- random numbers

bool FitsDropout(Positions&, const RandomStream&, double ratio, const Array& x, const Array& y) {
    return ratio >= 0 && ratio < 1 && IsFloatArray(x) && Is(y, x.shape(), x.dtype());
}

}  // namespace

void AddSavedLayers(SavedKernels& kernels) {
    AddSavedKernel(kernels, kConvKernel, &FitsConv);
    AddSavedKernel(kernels, kConvDataKernel, &FitsConvData);
    AddSavedKernel(kernels, kConvWeightKernel, &FitsConvWeight);
    AddSavedKernel(kernels, kMaxPoolKernel, &FitsMaxPool);
    AddSavedKernel(kernels, kMaxPoolGradKernel, &FitsMaxPoolGrad);
    AddSavedKernel(kernels, kAveragePoolKernel, &FitsAveragePool);
    AddSavedKernel(kernels, kAveragePoolGradKernel, &FitsAveragePoolGrad);
    AddSavedKernel(kernels, kBatchNormKernel, &FitsBatchNorm);
    AddSavedKernel(kernels, kBatchNormGradKernel, &FitsBatchNormGrad);
    AddSavedKernel(kernels, kFixedBatchNormKernel, &FitsFixedBatchNorm);
    AddSavedKernel(kernels, kLayerNormKernel, &FitsLayerNorm);
    AddSavedKernel(kernels, kLayerNormGradKernel, &FitsLayerNormGrad);
    for (const SoftmaxKernel* slot : {&kSoftmaxKernel, &kLogSoftmaxKernel}) {
        AddSavedKernel(kernels, *slot, &FitsSoftmax);
    }
    for (const SoftmaxGradKernel* slot : {&kSoftmaxGradKernel, &kLogSoftmaxGradKernel}) {
        AddSavedKernel(kernels, *slot, &FitsSoftmaxGrad);
    }
    AddSavedKernel(kernels, kSoftmaxCrossEntropyKernel, &FitsCrossEntropy);
    AddSavedKernel(kernels, kSoftmaxCrossEntropyGradKernel, &FitsCrossEntropyGrad);
    AddSavedKernel(kernels, kAttentionKernel, &FitsAttention);
    AddSavedKernel(kernels, kAttentionGradKernel, &FitsAttentionGrad);
    AddSavedKernel(kernels, kLstmKernel, &FitsLstm);
    AddSavedKernel(kernels, kLstmGradKernel, &FitsLstmGrad);
    AddSavedKernel(kernels, kNormalizeIndicesKernel, &FitsNormalizeIndices);
    AddSavedKernel(kernels, kTakeKernel, &FitsTake);
    for (const AddAtKernel* slot : {&kAddAtKernel, &kPutKernel}) AddSavedKernel(kernels, *slot, &FitsAddAt);
    AddSavedKernel(kernels, kDropoutKernel, &FitsDropout);
}

}  // namespace chainerx
