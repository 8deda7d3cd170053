// The operations that files have: elementwise functions, reductions, products, updates.

#include <algorithm>
#include <functional>

#include "chainerx/capture/saved_kernel.h"
#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/optimizer.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/special.h"
#include "chainerx/ops/trigonometric.h"

namespace chainerx {
namespace {

using Positions = KnownPositions;

bool BroadcastsTo(const Shape& from, const Shape& to) {
    if (from.ndim() > to.ndim()) return false;
    int8_t skipped = static_cast<int8_t>(to.ndim() - from.ndim());
    for (int8_t d = 0; d < from.ndim(); ++d) {
        if (from[d] != 1 && from[d] != to[skipped + d]) return false;
    }
    return true;
}

template <class Op>
bool FitsOp(Positions& positions, const ElementwiseCall& call) {
    if (call.n_inputs != Op::kArity || !Contains(Op::kDtypes, call.dtype)) return false;
    if (call.out->dtype() != (Op::kBoolOut ? Dtype::kBool : call.dtype)) return false;
    for (int i = 0; i < call.n_inputs; ++i) {
        if (call.in[i] == nullptr) continue;
        positions.Reads(*call.in[i]);
        Dtype dtype = Op::kIsSelect && i == 0 ? Dtype::kBool : call.dtype;
        if (call.in[i]->dtype() != dtype || !BroadcastsTo(call.in[i]->shape(), call.out->shape())) return false;
    }
    return true;
}

bool FitsFill(Positions&, const Array& out, const Scalar&) { return static_cast<bool>(out); }

bool FitsCopy(Positions& positions, const Array& src, const Array& dst) {
    return src && dst && BroadcastsTo(src.shape(), dst.shape()) && positions.Reads(src);
}

bool FitsReduction(const Array& a, const Axes& axes, const Array& out) {
    if (!a || !out || !out.IsContiguous()) return false;
    bool is_sorted = std::adjacent_find(axes.begin(), axes.end(), std::greater_equal<int8_t>{}) == axes.end();
    bool has_axes = std::all_of(axes.begin(), axes.end(), [&a](int8_t axis) { return axis >= 0 && axis < a.ndim(); });
    if (!is_sorted || !has_axes) return false;
    // Kernels see the result as contiguous, with the axes of length one or without them.
    return out.shape() == ReduceShape(a.shape(), axes, false) || out.shape() == ReduceShape(a.shape(), axes, true);
}

bool FitsSame(Positions& positions, const Array& a, const Axes& axes, const Array& out) {
    return FitsReduction(a, axes, out) && a.dtype() == out.dtype() && !IsComplex(a.dtype()) && positions.Reads(a);
}

bool FitsScan(Positions& positions, const Array& a, int8_t axis, const Array& out) {
    if (!a || !out || !out.IsContiguous() || axis < 0 || axis >= a.ndim()) return false;
    return a.dtype() == out.dtype() && a.shape() == out.shape() && positions.Reads(a);
}

bool FitsLogSumExp(Positions& positions, const Array& a, const Axes& axes, const Array& out) {
    return FitsSame(positions, a, axes, out) && IsFloat(a.dtype());
}

bool FitsTest(Positions& positions, const Array& a, const Axes& axes, const Array& out) {
    return FitsReduction(a, axes, out) && out.dtype() == Dtype::kBool && !IsComplex(a.dtype()) && positions.Reads(a);
}

bool FitsSearch(Positions& positions, const Array& a, const Axes& axes, const Array& out) {
    return FitsReduction(a, axes, out) && out.dtype() == Dtype::kInt64 && !IsComplex(a.dtype()) && positions.Reads(a);
}

bool FitsMatmul(Positions& positions, const Array& a, const Array& b, double, const Array& out) {
    if (!a || !b || !out || !out.IsContiguous()) return false;
    int8_t n = out.ndim();
    if (n < 2 || a.ndim() != n || b.ndim() != n || a.dtype() != out.dtype() || b.dtype() != out.dtype()) return false;
    bool fits = a.shape()[n - 2] == out.shape()[n - 2] && a.shape()[n - 1] == b.shape()[n - 2] &&
                b.shape()[n - 1] == out.shape()[n - 1];
    auto has_batch = [&](const Shape& s) { return std::equal(s.begin(), s.end() - 2, out.shape().begin()); };
    return fits && has_batch(a.shape()) && has_batch(b.shape()) && positions.Reads(a) && positions.Reads(b);
}

template <const UpdateRule* kRule>
bool FitsUpdate(Positions&, const std::vector<double>& scalars, const std::vector<Array>& arrays) {
    auto width = static_cast<size_t>(kRule->width());
    if (scalars.size() != static_cast<size_t>(kRule->n_scalars)) return false;
    if (arrays.empty() || arrays.size() % width != 0) return false;
    size_t count = arrays.size() / width;
    for (size_t i = 0; i < arrays.size(); ++i) {
        if (arrays[i].dtype() != arrays[0].dtype() || arrays[i].shape() != arrays[i % count].shape()) return false;
    }
    return arrays[0].dtype() == Dtype::kFloat32 || arrays[0].dtype() == Dtype::kFloat64;
}

}  // namespace

void AddSavedOps(SavedKernels& kernels) {
#define CHAINERX_ADD_OP(Op) AddSavedKernel(kernels, ops::Op::kernel(), &FitsOp<ops::Op>);
    CHAINERX_ACTIVATION_OPS(CHAINERX_ADD_OP)
    CHAINERX_ARITHMETIC_OPS(CHAINERX_ADD_OP)
    CHAINERX_COMPARISON_OPS(CHAINERX_ADD_OP)
    CHAINERX_EXPLOG_OPS(CHAINERX_ADD_OP)
    CHAINERX_SPECIAL_OPS(CHAINERX_ADD_OP)
    CHAINERX_TRIGONOMETRIC_OPS(CHAINERX_ADD_OP)
#undef CHAINERX_ADD_OP
    AddSavedKernel(kernels, kFillKernel, &FitsFill);
    AddSavedKernel(kernels, kCopyKernel, &FitsCopy);
    for (const ReduceKernel* slot : {&kSumKernel, &kNansumKernel, &kProdKernel, &kAmaxKernel, &kAminKernel}) {
        AddSavedKernel(kernels, *slot, &FitsSame);
    }
    for (const ReduceKernel* slot : {&kAllKernel, &kAnyKernel}) AddSavedKernel(kernels, *slot, &FitsTest);
    for (const ReduceKernel* slot : {&kArgmaxKernel, &kArgminKernel}) AddSavedKernel(kernels, *slot, &FitsSearch);
    AddSavedKernel(kernels, kLogSumExpKernel, &FitsLogSumExp);
    for (const ScanKernel* slot : {&kCumsumKernel, &kCumprodKernel}) AddSavedKernel(kernels, *slot, &FitsScan);
    AddSavedKernel(kernels, kMatmulKernel, &FitsMatmul);
#define CHAINERX_ADD_UPDATE(Rule, name, n_states, n_scalars, doc) \
    AddSavedKernel(kernels, k##Rule##Update, &FitsUpdate<&k##Rule##Update>);
    CHAINERX_UPDATE_RULES(CHAINERX_ADD_UPDATE)
#undef CHAINERX_ADD_UPDATE
}

}  // namespace chainerx
