// Normalizations.

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

// A parameter of the channels in a shape that is broadcast with x (N, C, ...).
Array ByChannel(const Array& x, const Array& parameter) { return AsAxis(parameter, x.ndim() - 2); }

// In training, the statistics are those of the batch. They belong to channels if `is_spatial`, else to the elements.
Arrays BatchNormalization(const Array& x, const Array& scale, const Array& bias, const Array& mean, const Array& var,
                          const WantedOutputs& wanted, Opset opset, bool training_mode, bool is_test, bool is_spatial,
                          double epsilon, double momentum) {
    bool is_training = opset < 14 && wanted[1] ? opset >= 7 || !is_test : training_mode;
    Dtype dtype = x.dtype();
    Array gamma = Cast(scale, dtype);
    Array beta = Cast(bias, dtype);
    Axes axes = AxesBetween(1, x.ndim());
    if (!axes.empty()) axes[0] = 0;
    if (is_training) {
        if (axes.empty()) throw ModelError{"the shape is ", x.shape()};
        Array now = Mean(x, axes);
        Array centered = x - ByChannel(x, now);
        Array now_var = Mean(Square(centered), axes);
        Array y = centered / Sqrt(ByChannel(x, now_var) + Scalar{epsilon});
        auto running = [&](const Array& old, const Array& batch) {
            return Cast(old * Scalar{momentum} + Cast(batch, old.dtype()) * Scalar{1 - momentum}, old.dtype());
        };
        return {y * ByChannel(x, gamma) + ByChannel(x, beta), running(mean, now), running(var, now_var), now, now_var};
    }
    Array fixed_mean = Cast(mean, dtype);
    Array fixed_var = Cast(var, dtype);
    if (!is_spatial) return {(x - fixed_mean) * (gamma / Sqrt(fixed_var + Scalar{epsilon})) + beta};
    if (x.ndim() == 1) {
        Array column = Reshape(x, Shape{x.shape()[0], 1});
        return {Reshape(FixedBatchNorm(column, gamma, beta, fixed_mean, fixed_var, epsilon), x.shape())};
    }
    return {FixedBatchNorm(x, gamma, beta, fixed_mean, fixed_var, epsilon, axes)};
}

Array InstanceNormalization(const Array& x, const Array& scale, const Array& bias, double epsilon) {
    if (x.ndim() < 2) throw ModelError{"the shape is ", x.shape()};
    return GroupNorm(x, x.shape()[1], scale, bias, epsilon);
}

// Opsets below 21 have a scale and a bias for each group, not for each channel.
Array GroupNormalization(const Array& x, const Array& scale, const Array& bias, Opset opset, double epsilon,
                         int64_t groups) {
    if (opset >= 21) return GroupNorm(x, groups, scale, bias, epsilon);
    if (x.ndim() < 2 || x.shape()[1] % groups != 0) throw ModelError{"the shape is ", x.shape()};
    Ints each{x.shape()[1] / groups};
    return GroupNorm(x, groups, Repeat(scale, each, 0), Repeat(bias, each, 0), epsilon);
}

// Sums of half precision are float32 if the attribute `stash_type` says so.
Array Stashed(const Array& x, int64_t stash_type) {
    return stash_type == 1 && IsHalf(x.dtype()) ? Cast(x, Dtype::kFloat32) : x;
}

Arrays LayerNormalization(const Array& x, const Array& scale, const Array& bias, const WantedOutputs& wanted,
                          int8_t axis, double epsilon, int64_t stash_type) {
    Shape inner{x.shape().begin() + axis, x.shape().end()};
    if (!wanted[1] && !wanted[2] && bias && x.GetTotalSize() > 0 && scale.shape() == inner && bias.shape() == inner) {
        return {LayerNorm(x, scale, bias, epsilon)};
    }
    Array wide = Stashed(x, stash_type);
    Axes axes = AxesBetween(axis, x.ndim());
    Array mean = Mean(wide, axes, true);
    Array centered = wide - mean;
    Array inverse = Reciprocal(Sqrt(Mean(Square(centered), axes, true) + Scalar{epsilon}));
    Array y = Cast(centered * inverse, x.dtype()) * scale;
    return {bias ? y + bias : y, mean, inverse};
}

Array RmsNormalization(const Array& x, const Array& scale, int8_t axis, double epsilon, int64_t stash_type) {
    Array wide = Stashed(x, stash_type);
    Array y = wide / Sqrt(Mean(Square(wide), AxesBetween(axis, x.ndim()), true) + Scalar{epsilon});
    return Cast(Cast(y, x.dtype()) * scale, scale.dtype());
}

Array MeanVarianceNormalization(const Array& x, const Axes& given) {
    Axes axes = NormalizeAxes(given, x.ndim());
    return (x - Mean(x, axes, true)) / (Std(x, axes, true) + Scalar{1e-9});
}

Array LpNormalization(const Array& x, int8_t axis, int64_t p) {
    Array norm = p == 1 ? Sum(Absolute(x), Axes{axis}, true) : Sqrt(Sum(Square(x), Axes{axis}, true));
    // Rows of zeros stay zeros.
    return x / Where(Equal(norm, Scalar{0}), Scalar{1}, norm);
}

Array Lrn(const Array& x, int64_t size, double alpha, double beta, double bias) {
    if (x.ndim() < 2 || size < 1 || size > (1 << 20)) throw ModelError{"the shape is ", x.shape(), ", size ", size};
    Array squares = PadAxis(Square(x), 1, (size - 1) / 2, size / 2);
    Array total = SliceAxis(squares, 1, 0, x.shape()[1]);
    for (int64_t i = 1; i < size; ++i) total = total + SliceAxis(squares, 1, i, i + x.shape()[1]);
    return x / Power(Scalar{bias} + Scalar{alpha / static_cast<double>(size)} * total, Scalar{beta});
}

}  // namespace

const OperatorTable kNormalizationsOperators = {
        {"BatchNormalization", Call<BatchNormalization>, "training_mode is_test spatial epsilon momentum"},
        {"GroupNormalization", Call<GroupNormalization>, "epsilon num_groups"},
        {"InstanceNormalization", Call<InstanceNormalization>, "epsilon"},
        {"LRN", Call<Lrn>, "size alpha beta bias"},
        {"LayerNormalization", Call<LayerNormalization>, "axis epsilon stash_type"},
        {"LpNormalization", Call<LpNormalization>, "axis p"},
        {"MeanVarianceNormalization", Call<MeanVarianceNormalization>, "axes"},
        {"RMSNormalization", Call<RmsNormalization>, "axis epsilon stash_type"},
};

}  // namespace chainerx::onnx
