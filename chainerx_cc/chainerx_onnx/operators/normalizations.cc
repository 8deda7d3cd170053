// Normalizations.

#include <numeric>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

// A parameter of the channels in a shape that is broadcast with x (N, C, ...).
Array ByChannel(const Array& x, const Array& parameter) {
    Shape shape{1, parameter.GetTotalSize()};
    for (int i = 2; i < x.ndim(); ++i) shape.push_back(1);
    return Reshape(parameter, shape);
}

Axes AxesFrom(int first, int ndim) {
    Axes axes;
    for (int i = first; i < ndim; ++i) axes.push_back(static_cast<int8_t>(i));
    return axes;
}

struct Standardized {
    Array y;
    Array mean;
    Array inverse;
};

Standardized Standardize(const Array& x, const Axes& axes, double epsilon) {
    Array mean = Mean(x, axes, true);
    Array centered = x - mean;
    Array inverse = Reciprocal(Sqrt(Mean(Square(centered), axes, true) + Scalar{epsilon}));
    return {centered * inverse, mean, inverse};
}

Kernel BatchNormalization(const Node& node) {
    double epsilon = node.Float("epsilon");
    double momentum = node.Float("momentum");
    bool is_training = node.Flag("training_mode");
    bool is_spatial = node.Flag("spatial");
    if (node.opset() < 14 && node.HasOutput(1)) is_training = node.opset() >= 7 || !node.Flag("is_test");
    if (!is_training) {
        return [epsilon, is_spatial](const Inputs& in) {
            const Array& x = in[0];
            Array p[4];
            for (int i = 0; i < 4; ++i) p[i] = Cast(in[i + 1], x.dtype());
            if (!is_spatial) return (x - p[2]) * (p[0] / Sqrt(p[3] + Scalar{epsilon})) + p[1];
            if (x.ndim() == 1) {
                return Reshape(FixedBatchNorm(Reshape(x, Shape{x.shape()[0], 1}), p[0], p[1], p[2], p[3], epsilon),
                               x.shape());
            }
            Axes axes = AxesFrom(1, x.ndim());
            axes[0] = 0;
            return FixedBatchNorm(x, p[0], p[1], p[2], p[3], epsilon, axes);
        };
    }
    return [epsilon, momentum](const Inputs& in) -> Arrays {
        const Array& x = in[0];
        Axes axes = AxesFrom(1, x.ndim());
        if (axes.empty()) throw ModelError{"the shape is ", x.shape()};
        axes[0] = 0;
        Array mean = Mean(x, axes);
        Array var = Mean(Square(x - ByChannel(x, mean)), axes);
        Array y = (x - ByChannel(x, mean)) / Sqrt(ByChannel(x, var) + Scalar{epsilon});
        y = y * ByChannel(x, Cast(in[1], x.dtype())) + ByChannel(x, Cast(in[2], x.dtype()));
        auto running = [&](const Array& old, const Array& now) {
            return Cast(old * Scalar{momentum} + Cast(now, old.dtype()) * Scalar{1 - momentum}, old.dtype());
        };
        return {y, running(in[3], mean), running(in[4], var), mean, var};
    };
}

Kernel InstanceNormalization(const Node& node) {
    double epsilon = node.Float("epsilon");
    return [epsilon](const Inputs& in) {
        const Array& x = in[0];
        return Standardize(x, AxesFrom(2, x.ndim()), epsilon).y * ByChannel(x, in[1]) + ByChannel(x, in[2]);
    };
}

Kernel GroupNormalization(const Node& node) {
    double epsilon = node.Float("epsilon");
    int64_t groups = node.Int("num_groups");
    bool is_by_group = node.opset() < 21;
    return [epsilon, groups, is_by_group](const Inputs& in) {
        const Array& x = in[0];
        if (x.ndim() < 2 || groups < 1 || x.shape()[1] % groups != 0) throw ModelError{"the shape is ", x.shape()};
        Array grouped = Reshape(x, Shape{x.shape()[0], groups, x.shape()[1] / groups, SizeOf(x.shape(), 2, x.ndim())});
        Array y = Standardize(grouped, Axes{2, 3}, epsilon).y;
        if (is_by_group) return Reshape(y * ByChannel(y, in[1]) + ByChannel(y, in[2]), x.shape());
        return Reshape(y, x.shape()) * ByChannel(x, in[1]) + ByChannel(x, in[2]);
    };
}

Kernel LayerNormalization(const Node& node) {
    double epsilon = node.Float("epsilon");
    int64_t axis = node.Int("axis");
    bool is_wide = node.Int("stash_type") == 1;
    bool has_statistics = node.HasOutput(1) || node.HasOutput(2);
    return [=](const Inputs& in) -> Arrays {
        const Array& x = in[0];
        int8_t first = CheckAxis(axis, x.ndim());
        if (!has_statistics && in.Has(2) && x.GetTotalSize() > 0) {
            Shape inner{x.shape().begin() + first, x.shape().end()};
            if (in[1].shape() == inner && in[2].shape() == inner) return {LayerNorm(x, in[1], in[2], epsilon)};
        }
        Dtype dtype = is_wide && IsHalf(x.dtype()) ? Dtype::kFloat32 : x.dtype();
        Standardized s = Standardize(Cast(x, dtype), AxesFrom(first, x.ndim()), epsilon);
        Array y = Cast(s.y, x.dtype()) * in[1];
        if (in.Has(2)) y = y + in[2];
        return {y, s.mean, s.inverse};
    };
}

Kernel RmsNormalization(const Node& node) {
    double epsilon = node.Float("epsilon");
    int64_t axis = node.Int("axis");
    bool is_wide = node.Int("stash_type") == 1;
    return [=](const Inputs& in) {
        const Array& x = in[0];
        Axes axes = AxesFrom(CheckAxis(axis, x.ndim()), x.ndim());
        Array wide = Cast(x, is_wide && IsHalf(x.dtype()) ? Dtype::kFloat32 : x.dtype());
        Array y = wide / Sqrt(Mean(Square(wide), axes, true) + Scalar{epsilon});
        return Cast(Cast(y, x.dtype()) * in[1], in[1].dtype());
    };
}

Kernel MeanVarianceNormalization(const Node& node) {
    std::vector<int64_t> given = node.Ints("axes");
    return [given](const Inputs& in) {
        const Array& x = in[0];
        Axes axes = NormalizeAxes(CheckAxes(given, x.ndim()), x.ndim());
        Array centered = x - Mean(x, axes, true);
        return centered / (Sqrt(Mean(Square(centered), axes, true)) + Scalar{1e-9});
    };
}

Kernel LpNormalization(const Node& node) {
    int64_t axis = node.Int("axis");
    int64_t p = node.Int("p");
    return [axis, p](const Inputs& in) {
        const Array& x = in[0];
        Axes axes{CheckAxis(axis, x.ndim())};
        Array norm = p == 1 ? Sum(Absolute(x), axes, true) : Sqrt(Sum(Square(x), axes, true));
        // Rows of zeros stay zeros.
        return x / chainerx::Where(Equal(norm, Scalar{0}), Scalar{1}, norm);
    };
}

Kernel Lrn(const Node& node) {
    int64_t size = node.Int("size");
    double alpha = node.Float("alpha");
    double beta = node.Float("beta");
    double bias = node.Float("bias");
    return [=](const Inputs& in) {
        const Array& x = in[0];
        if (x.ndim() < 2 || size < 1 || size > (1 << 20)) throw ModelError{"the shape is ", x.shape(), ", size ", size};
        Array squares = PadAxis(Square(x), 1, (size - 1) / 2, size / 2);
        Array total = SliceAxis(squares, 1, 0, x.shape()[1]);
        for (int64_t i = 1; i < size; ++i) total = total + SliceAxis(squares, 1, i, i + x.shape()[1]);
        return x / Power(Scalar{bias} + Scalar{alpha / static_cast<double>(size)} * total, Scalar{beta});
    };
}

const Operator kOperators[] = {
        {"BatchNormalization", BatchNormalization},
        {"GroupNormalization", GroupNormalization},
        {"InstanceNormalization", InstanceNormalization},
        {"LRN", Lrn},
        {"LayerNormalization", LayerNormalization},
        {"LpNormalization", LpNormalization},
        {"MeanVarianceNormalization", MeanVarianceNormalization},
        {"RMSNormalization", RmsNormalization},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Normalizations)

}  // namespace chainerx::onnx
