// Reductions, cumulative operators and orders.

#include <limits>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

using Reduction = Array (*)(const Array&, const Axes&, bool);

Array SumOf(const Array& x, const Axes& axes, bool keepdims) { return Sum(x, axes, keepdims); }
Array MeanOf(const Array& x, const Axes& axes, bool keepdims) { return Mean(x, axes, keepdims); }
Array ProdOf(const Array& x, const Axes& axes, bool keepdims) { return Prod(x, axes, keepdims); }
Array L1Of(const Array& x, const Axes& axes, bool keepdims) { return Sum(Absolute(x), axes, keepdims); }
Array SumSquareOf(const Array& x, const Axes& axes, bool keepdims) { return Sum(Square(x), axes, keepdims); }
Array L2Of(const Array& x, const Axes& axes, bool keepdims) { return Sqrt(SumSquareOf(x, axes, keepdims)); }
Array LogSumOf(const Array& x, const Axes& axes, bool keepdims) { return Log(Sum(x, axes, keepdims)); }
Array LogSumExpOf(const Array& x, const Axes& axes, bool keepdims) {
    Array y = IsFloat(x.dtype()) ? x : Cast(x, Dtype::kFloat64);
    return y.GetTotalSize() == 0 ? Log(Sum(y, axes, keepdims)) : LogSumExp(y, axes, keepdims);
}

// The largest or smallest element; of none, the least or greatest number.
template <bool kIsMax>
Array ExtremeOf(const Array& x, const Axes& axes, bool keepdims) {
    Shape shape = ReduceShape(x.shape(), axes, keepdims);
    if (x.GetTotalSize() != 0 || shape.GetTotalSize() == 0) {
        if (x.dtype() != Dtype::kBool) return kIsMax ? AMax(x, axes, keepdims) : AMin(x, axes, keepdims);
        return kIsMax ? Any(x, axes, keepdims) : All(x, axes, keepdims);
    }
    Scalar value = VisitDtype(x.dtype(), [](auto tag) -> Scalar {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_same_v<T, bool>) {
            return Scalar{!kIsMax};
        } else if constexpr (std::is_integral_v<T>) {
            return Scalar{kIsMax ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max()};
        } else {
            constexpr double kInfinity = std::numeric_limits<double>::infinity();
            return Scalar{kIsMax ? -kInfinity : kInfinity};
        }
    });
    return Full(shape, value, x.dtype(), x.device());
}

// `is_copy_of_one`: over no axes, the result is the input.
template <Reduction kReduce>
Kernel Reduce(const Node& node) {
    IntsParameter given{node, "axes"};
    bool keepdims = node.Flag("keepdims");
    bool is_noop = node.Flag("noop_with_empty_axes");
    return [given, keepdims, is_noop](const Inputs& in) {
        const Array& x = in[0];
        std::vector<int64_t> values = given.Read(in);
        Axes axes = NormalizeAxes(CheckAxes(values, x.ndim()), x.ndim());
        if (values.empty()) {
            if (!is_noop) axes = NormalizeAxes(std::nullopt, x.ndim());
        }
        return Cast(kReduce(x, axes, keepdims), x.dtype());
    };
}

template <bool kIsMax>
Kernel Arg(const Node& node) {
    int64_t axis = node.Int("axis");
    bool keepdims = node.Flag("keepdims");
    bool is_last = node.Flag("select_last_index");
    return [axis, keepdims, is_last](const Inputs& in) {
        Array x = in[0];
        int8_t at = CheckAxis(axis, x.ndim());
        if (is_last) x = Flip(x, Axes{at});
        Array y = kIsMax ? ArgMax(x, at) : ArgMin(x, at);
        if (is_last) y = Scalar{x.shape()[at] - 1} - y;
        return keepdims ? ExpandDims(y, at) : y;
    };
}

template <bool kIsSum>
Kernel Cumulative(const Node& node) {
    IntsParameter axis{node, "axis"};
    bool exclusive = node.Flag("exclusive");
    bool reverse = node.Flag("reverse");
    return [axis, exclusive, reverse](const Inputs& in) {
        Array x = in[0];
        int8_t at = CheckAxis(axis.ReadOne(in), x.ndim());
        if (reverse) x = Flip(x, Axes{at});
        if (exclusive && x.shape()[at] > 0) {
            Shape shape = x.shape();
            shape[at] = 1;
            Array first = Full(shape, Scalar{kIsSum ? 0 : 1}, x.dtype(), x.device());
            x = Concatenate({first, SliceAxis(x, at, 0, x.shape()[at] - 1)}, at);
        }
        Array y = Cast(kIsSum ? Cumsum(x, at) : Cumprod(x, at), in[0].dtype());
        return reverse ? Flip(y, Axes{at}) : y;
    };
}

Kernel TopK(const Node& node) {
    IntsParameter count{node, "k"};
    int64_t axis = node.Int("axis");
    bool largest = node.Flag("largest");
    return [=](const Inputs& in) -> Arrays {
        const Array& x = in[0];
        int8_t at = CheckAxis(axis, x.ndim());
        int64_t k = count.ReadOne(in);
        int64_t length = x.shape()[at];
        if (k < 0 || k > length) throw ModelError{"k is ", k, " for an axis of ", length};
        // A stable order, so that the first of equal elements comes first.
        Array order;
        if (largest) {
            order = Flip(Scalar{length - 1} - Argsort(Flip(x, Axes{at}), at), Axes{at});
        } else {
            order = Argsort(x, at);
        }
        order = AsContiguous(SliceAxis(order, at, 0, k));
        return {TakeAlong(x, order, at), order};
    };
}

const Operator kOperators[] = {
        {"ArgMax", Arg<true>},
        {"ArgMin", Arg<false>},
        {"CumProd", Cumulative<false>},
        {"CumSum", Cumulative<true>},
        {"ReduceL1", Reduce<L1Of>},
        {"ReduceL2", Reduce<L2Of>},
        {"ReduceLogSum", Reduce<LogSumOf>},
        {"ReduceLogSumExp", Reduce<LogSumExpOf>},
        {"ReduceMax", Reduce<ExtremeOf<true>>},
        {"ReduceMean", Reduce<MeanOf>},
        {"ReduceMin", Reduce<ExtremeOf<false>>},
        {"ReduceProd", Reduce<ProdOf>},
        {"ReduceSum", Reduce<SumOf>},
        {"ReduceSumSquare", Reduce<SumSquareOf>},
        {"TopK", TopK},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Reductions)

}  // namespace chainerx::onnx
