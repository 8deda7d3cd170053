// Reductions, cumulative operators and orders.

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

using Reduction = Array (*)(const Array&, const OptionalAxes&, bool);

Array L1(const Array& x, const OptionalAxes& axes, bool keepdims) { return Sum(Absolute(x), axes, keepdims); }
Array SumSquare(const Array& x, const OptionalAxes& axes, bool keepdims) { return Sum(Square(x), axes, keepdims); }
Array L2(const Array& x, const OptionalAxes& axes, bool keepdims) { return Sqrt(SumSquare(x, axes, keepdims)); }
Array LogSum(const Array& x, const OptionalAxes& axes, bool keepdims) { return Log(Sum(x, axes, keepdims)); }
Array LogSumExpOf(const Array& x, const OptionalAxes& axes, bool keepdims) {
    Array y = IsFloat(x.dtype()) ? x : Cast(x, Dtype::kFloat64);
    return y.GetTotalSize() == 0 ? LogSum(y, axes, keepdims) : LogSumExp(y, axes, keepdims);
}

// The largest or smallest element; of none, the least or greatest number.
template <bool kIsMax>
Array ExtremeOf(const Array& x, const OptionalAxes& axes, bool keepdims) {
    Shape shape = ReduceShape(x.shape(), *axes, keepdims);
    if (x.GetTotalSize() != 0 || shape.GetTotalSize() == 0) {
        if (x.dtype() != Dtype::kBool) return kIsMax ? AMax(x, axes, keepdims) : AMin(x, axes, keepdims);
        return kIsMax ? Any(x, axes, keepdims) : All(x, axes, keepdims);
    }
    return Full(shape, LimitOf(x.dtype(), !kIsMax), x.dtype(), x.device());
}

// Over no axes, the result is that of all, or the input.
template <Reduction kReduce>
Array Reduce(const Array& x, const std::optional<Axes>& given, bool keepdims, bool is_noop) {
    bool is_whole = (!given || given->empty()) && !is_noop;
    Axes axes = NormalizeAxes(is_whole ? OptionalAxes{} : OptionalAxes{given.value_or(Axes{})}, x.ndim());
    return Cast(kReduce(x, axes, keepdims), x.dtype());
}

template <bool kIsMax>
Array Arg(const Array& input, int8_t axis, bool keepdims, bool is_last) {
    Array x = is_last ? Flip(input, Axes{axis}) : input;
    Array y = kIsMax ? ArgMax(x, axis) : ArgMin(x, axis);
    if (is_last) y = Scalar{x.shape()[axis] - 1} - y;
    return keepdims ? ExpandDims(y, axis) : y;
}

template <bool kIsSum>
Array Cumulative(const Array& input, int8_t axis, bool exclusive, bool reverse) {
    Array x = reverse ? Flip(input, Axes{axis}) : input;
    if (exclusive && x.shape()[axis] > 0) {
        Shape shape = x.shape();
        shape[axis] = 1;
        Array first = Full(shape, Scalar{kIsSum ? 0 : 1}, x.dtype(), x.device());
        x = Concatenate({first, SliceAxis(x, axis, 0, x.shape()[axis] - 1)}, axis);
    }
    Array y = Cast(kIsSum ? Cumsum(x, axis) : Cumprod(x, axis), x.dtype());
    return reverse ? Flip(y, Axes{axis}) : y;
}

Arrays TopK(const Array& x, int64_t k, int8_t axis, bool largest) {
    int64_t length = x.shape()[axis];
    if (k < 0 || k > length) throw ModelError{"k is ", k, " for an axis of ", length};
    // The order is stable, so that the first of equal elements comes first.
    Array order = AsContiguous(SliceAxis(Argsort(x, axis, largest), axis, 0, k));
    return {TakeAlong(x, order, axis), order};
}

}  // namespace

const OperatorTable kReductionsOperators = {
        {"ArgMax", Call<Arg<true>>, "axis keepdims select_last_index"},
        {"ArgMin", Call<Arg<false>>, "axis keepdims select_last_index"},
        {"CumProd", Call<Cumulative<false>>, "axis exclusive reverse"},
        {"CumSum", Call<Cumulative<true>>, "axis exclusive reverse"},
        {"ReduceL1", Call<Reduce<L1>>, "axes keepdims noop_with_empty_axes"},
        {"ReduceL2", Call<Reduce<L2>>, "axes keepdims noop_with_empty_axes"},
        {"ReduceLogSum", Call<Reduce<LogSum>>, "axes keepdims noop_with_empty_axes"},
        {"ReduceLogSumExp", Call<Reduce<LogSumExpOf>>, "axes keepdims noop_with_empty_axes"},
        {"ReduceMax", Call<Reduce<ExtremeOf<true>>>, "axes keepdims noop_with_empty_axes"},
        {"ReduceMean", Call<Reduce<chainerx::Mean>>, "axes keepdims noop_with_empty_axes"},
        {"ReduceMin", Call<Reduce<ExtremeOf<false>>>, "axes keepdims noop_with_empty_axes"},
        {"ReduceProd", Call<Reduce<chainerx::Prod>>, "axes keepdims noop_with_empty_axes"},
        {"ReduceSum", Call<Reduce<chainerx::Sum>>, "axes keepdims noop_with_empty_axes"},
        {"ReduceSumSquare", Call<Reduce<SumSquare>>, "axes keepdims noop_with_empty_axes"},
        {"TopK", Call<TopK>, "k axis largest"},
};

}  // namespace chainerx::onnx
