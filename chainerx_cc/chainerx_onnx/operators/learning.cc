// Losses, updates of optimizers, and the domain of classical learning.

#include <cmath>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

constexpr const char* kLearning = "ai.onnx.ml";
constexpr const char* kTraining = "ai.onnx.preview.training";

enum ReductionKind { kMean, kSum, kNone };

struct LossAttributes {
    explicit LossAttributes(const Node& node)
        : reduction{static_cast<ReductionKind>(node.Choice("reduction", {"mean", "sum", "none"}))},
          ignore{node.OptionalInt("ignore_index")} {}

    // The negative log likelihood of labels (N, ...) in log probabilities (N, C, ...).
    Array operator()(const Array& log_p, const Array& target, const std::optional<Array>& weight) const {
        Array labels = Cast(target, Dtype::kInt64);
        if (log_p.ndim() < 2 || labels.ndim() != log_p.ndim() - 1) {
            throw ModelError{"the shapes are ", log_p.shape(), " and ", target.shape()};
        }
        int64_t classes = log_p.shape()[1];
        Array counted;
        if (ignore) {
            counted = NotEqual(labels, Scalar{*ignore});
            labels = Where(counted, labels, Scalar{0});
        }
        Array loss = Negative(Squeeze(TakeAlong(log_p, ExpandDims(labels, 1), 1), Axes{1}));
        Array each;
        if (weight) {
            if (weight->GetTotalSize() != classes) throw ModelError{"the weights have the shape ", weight->shape()};
            each = Reshape(Take(*weight, Ravel(labels), 0), labels.shape());
        }
        if (counted) {
            Array mask = Cast(counted, log_p.dtype());
            each = each ? each * mask : mask;
        }
        if (each) loss = loss * each;
        switch (reduction) {
            case kNone:
                return loss;
            case kSum:
                return Sum(loss);
            default:
                return each ? Sum(loss) / Sum(each) : Mean(loss);
        }
    }

    ReductionKind reduction;
    std::optional<int64_t> ignore;
};

Kernel NegativeLogLikelihoodLoss(const Node& node) {
    LossAttributes loss{node};
    return [loss](const Inputs& in) { return loss(in[0], in[1], in.Optional(2)); };
}

Kernel SoftmaxCrossEntropyLoss(const Node& node) {
    LossAttributes loss{node};
    return [loss](const Inputs& in) -> Arrays {
        Array log_p = LogSoftmax(in[0], Axes{1});
        return {loss(log_p, in[1], in.Optional(2)), log_p};
    };
}

Kernel Binarizer(const Node& node) {
    double threshold = node.Float("threshold");
    return [threshold](const Inputs& in) { return Cast(Greater(in[0], Scalar{threshold}), in[0].dtype()); };
}

// Updates of some parameters, whose `kinds` arrays each stand kind by kind behind the rate and the number of the step.
template <class F>
Arrays UpdateAll(const Inputs& in, int kinds, F&& update) {
    Arrays tensors = in.From(2);
    if (tensors.size() % kinds != 0) throw ModelError{"it has ", tensors.size(), " arrays"};
    size_t n = tensors.size() / kinds;
    auto rate = static_cast<double>(ReadScalar(in[0]));
    auto t = static_cast<double>(ReadScalar(in[1]));
    Arrays out(n * (kinds - 1));
    for (size_t i = 0; i < n; ++i) {
        Arrays row;
        for (int k = 0; k < kinds; ++k) row.push_back(tensors[k * n + i]);
        Arrays ys = update(rate, t, row);
        for (int k = 0; k < kinds - 1; ++k) out[k * n + i] = Cast(ys[k], row[0].dtype());
    }
    return out;
}

Kernel Adagrad(const Node& node) {
    double decay = node.Float("decay_factor");
    double epsilon = node.Float("epsilon");
    double norm = node.Float("norm_coefficient");
    return [=](const Inputs& in) {
        return UpdateAll(in, 3, [&](double rate, double t, const Arrays& row) -> Arrays {
            Array g = Scalar{norm} * row[0] + row[1];
            Array h = row[2] + g * g;
            return {row[0] - Scalar{rate / (1 + t * decay)} * g / (Sqrt(h) + Scalar{epsilon}), h};
        });
    };
}

Kernel Momentum(const Node& node) {
    double alpha = node.Float("alpha");
    double beta = node.Float("beta");
    double norm = node.Float("norm_coefficient");
    bool is_nesterov = node.Choice("mode", {"standard", "nesterov"}) == 1;
    return [=](const Inputs& in) {
        return UpdateAll(in, 3, [&](double rate, double t, const Arrays& row) -> Arrays {
            Array g = Scalar{norm} * row[0] + row[1];
            Array m = Scalar{alpha} * row[2] + Scalar{t > 0 ? beta : 1.0} * g;
            return {row[0] - Scalar{rate} * (is_nesterov ? g + Scalar{alpha} * m : m), m};
        });
    };
}

Kernel Adam(const Node& node) {
    double alpha = node.Float("alpha");
    double beta = node.Float("beta");
    double epsilon = node.Float("epsilon");
    double norm = node.Float("norm_coefficient");
    double norm_post = node.Float("norm_coefficient_post");
    return [=](const Inputs& in) {
        return UpdateAll(in, 4, [&](double rate, double t, const Arrays& row) -> Arrays {
            if (t > 0) rate *= std::sqrt(1 - std::pow(beta, t)) / (1 - std::pow(alpha, t));
            Array g = Scalar{norm} * row[0] + row[1];
            Array m = Scalar{alpha} * row[2] + Scalar{1 - alpha} * g;
            Array s = Scalar{beta} * row[3] + Scalar{1 - beta} * g * g;
            return {Scalar{1 - norm_post} * (row[0] - Scalar{rate} * m / (Sqrt(s) + Scalar{epsilon})), m, s};
        });
    };
}

const Operator kOperators[] = {
        {"Adagrad", Adagrad, Purity::kPure, kTraining},           {"Adam", Adam, Purity::kPure, kTraining},
        {"Binarizer", Binarizer, Purity::kPure, kLearning},       {"Momentum", Momentum, Purity::kPure, kTraining},
        {"NegativeLogLikelihoodLoss", NegativeLogLikelihoodLoss}, {"SoftmaxCrossEntropyLoss", SoftmaxCrossEntropyLoss},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Learning)

}  // namespace chainerx::onnx
