// Losses, and updates of optimizers.

#include <cmath>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

constexpr const char* kTraining = "ai.onnx.preview.training";

enum class LossReduction { kMean, kSum, kNone };

// The negative log likelihood of labels (N, ...) in log probabilities (N, C, ...).
Array NegativeLogLikelihoodLoss(const Array& log_p, const Array& target, const Array& weight, LossReduction reduction,
                                const std::optional<int64_t>& ignore) {
    Array labels = Cast(target, Dtype::kInt64);
    if (log_p.ndim() < 2 || labels.ndim() != log_p.ndim() - 1) {
        throw ModelError{"the shapes are ", log_p.shape(), " and ", target.shape()};
    }
    Array counted;
    if (ignore) {
        counted = NotEqual(labels, Scalar{*ignore});
        labels = Where(counted, labels, Scalar{0});
    }
    Array loss = Negative(Squeeze(TakeAlong(log_p, ExpandDims(labels, 1), 1), Axes{1}));
    Array each;
    if (weight) {
        if (weight.GetTotalSize() != log_p.shape()[1]) throw ModelError{"the weights have the shape ", weight.shape()};
        each = Take(weight, labels, 0);
    }
    if (counted) {
        Array mask = Cast(counted, log_p.dtype());
        each = each ? each * mask : mask;
    }
    if (each) loss = loss * each;
    if (reduction == LossReduction::kNone) return loss;
    if (reduction == LossReduction::kSum) return Sum(loss);
    return each ? Sum(loss) / Sum(each) : Mean(loss);
}

Arrays SoftmaxCrossEntropyLoss(const Array& scores, const Array& target, const Array& weight, LossReduction reduction,
                               const std::optional<int64_t>& ignore) {
    Array log_p = LogSoftmax(scores, Axes{1});
    return {NegativeLogLikelihoodLoss(log_p, target, weight, reduction, ignore), log_p};
}

// Updates of some parameters, whose `kinds` arrays each stand kind by kind behind the rate and the number of the step,
// by update(parameter and its other arrays, gradient with the part of the norm).
template <class F>
Arrays UpdateAll(const Arrays& tensors, int kinds, double norm, F&& update) {
    if (tensors.size() % kinds != 0) throw ModelError{"it has ", tensors.size(), " arrays"};
    size_t n = tensors.size() / kinds;
    Arrays out(n * (kinds - 1));
    for (size_t i = 0; i < n; ++i) {
        Arrays row;
        for (int k = 0; k < kinds; ++k) row.push_back(tensors[k * n + i]);
        Arrays ys = update(row, Scalar{norm} * row[0] + row[1]);
        for (int k = 0; k < kinds - 1; ++k) out[k * n + i] = Cast(ys[k], row[0].dtype());
    }
    return out;
}

Arrays Adagrad(const Array& rate, const Array& t, const Arrays& tensors, double decay, double epsilon, double norm) {
    Scalar step{static_cast<double>(AsScalar(rate)) / (1 + static_cast<double>(AsScalar(t)) * decay)};
    return UpdateAll(tensors, 3, norm, [&](const Arrays& row, const Array& g) -> Arrays {
        Array h = row[2] + g * g;
        return {row[0] - step * g / (Sqrt(h) + Scalar{epsilon}), h};
    });
}

enum class MomentumMode { kStandard, kNesterov };

Arrays Momentum(const Array& rate, const Array& t, const Arrays& tensors, double alpha, double beta, MomentumMode mode,
                double norm) {
    bool is_nesterov = mode == MomentumMode::kNesterov;
    Scalar share{static_cast<double>(AsScalar(t)) > 0 ? beta : 1.0};
    return UpdateAll(tensors, 3, norm, [&](const Arrays& row, const Array& g) -> Arrays {
        Array m = Scalar{alpha} * row[2] + share * g;
        return {row[0] - AsScalar(rate) * (is_nesterov ? g + Scalar{alpha} * m : m), m};
    });
}

Arrays Adam(const Array& rate, const Array& count, const Arrays& tensors, double alpha, double beta, double epsilon,
            double norm, double norm_post) {
    auto t = static_cast<double>(AsScalar(count));
    auto step = static_cast<double>(AsScalar(rate));
    if (t > 0) step *= std::sqrt(1 - std::pow(beta, t)) / (1 - std::pow(alpha, t));
    return UpdateAll(tensors, 4, norm, [&](const Arrays& row, const Array& g) -> Arrays {
        Array m = Scalar{alpha} * row[2] + Scalar{1 - alpha} * g;
        Array s = Scalar{beta} * row[3] + Scalar{1 - beta} * g * g;
        return {Scalar{1 - norm_post} * (row[0] - Scalar{step} * m / (Sqrt(s) + Scalar{epsilon})), m, s};
    });
}

}  // namespace

const OperatorTable kLearningOperators = {
        {"Adagrad", Call<Adagrad>, "decay_factor epsilon norm_coefficient", Purity::kPure, kTraining},
        {"Adam", Call<Adam>, "alpha beta epsilon norm_coefficient norm_coefficient_post", Purity::kPure, kTraining},
        {"Momentum", Call<Momentum>, "alpha beta mode norm_coefficient", Purity::kPure, kTraining},
        {"NegativeLogLikelihoodLoss", Call<NegativeLogLikelihoodLoss>, "reduction ignore_index"},
        {"SoftmaxCrossEntropyLoss", Call<SoftmaxCrossEntropyLoss>, "reduction ignore_index"},
};

}  // namespace chainerx::onnx
