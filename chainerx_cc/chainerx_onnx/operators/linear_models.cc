// Linear models and support vector machines.

#include <cmath>

#include "chainerx_onnx/operators/common.h"
#include "chainerx_onnx/operators/scores.h"

namespace chainerx::onnx {
namespace {

// Products with rows of weights, plus intercepts.
struct LinearScores {
    LinearScores(const Node& node, int64_t count)
        : weights{RowsOf(node, "coefficients", count)}, intercepts{FloatsArray(node.FloatsOrNone("intercepts"))} {
        if (intercepts.GetTotalSize() == 0) intercepts = Zeros(Shape{count}, Dtype::kFloat32, HostDevice());
        if (intercepts.GetTotalSize() != count) {
            throw ModelError{"its intercepts has ", intercepts.GetTotalSize(), " values for ", count, " rows"};
        }
        intercepts = Cast(intercepts, Dtype::kFloat64);
    }

    Scores operator()(const Array& x) const {
        Array features = FeatureMatrix(x);
        Array products = Matmul(features, Transpose(Cast(weights, features.dtype())));
        return Scores{Cast(products, Dtype::kFloat64) + intercepts};
    }

    Array weights;
    Array intercepts;
};

Kernel LinearRegressor(const Node& node) {
    LinearScores scores{node, node.Int("targets")};
    ScoreTransform transform{node};
    return [scores, transform](const Inputs& in) { return transform(scores(in[0])); };
}

Kernel LinearClassifier(const Node& node) {
    int64_t count = std::max<int64_t>(static_cast<int64_t>(node.FloatsOrNone("intercepts").size()), 1);
    LinearScores scores{node, count};
    ClassResult result{node, "classlabels_ints"};
    if (result.size() != 0 && result.size() != std::max<int64_t>(count, 2)) {
        throw ModelError{"it has ", result.size(), " labels for ", count, " scores"};
    }
    return [scores, result](const Inputs& in) {
        Scores y = scores(in[0]);
        if (y.columns == 1) return result.OfOne(WinnersOfOne(y, 0), y, true);
        Ints winners = Winners(y);
        return result.OfAll(winners, std::move(y));
    };
}

// -- support vector machines

enum class SvmKernel { kLinear, kPoly, kRbf, kSigmoid };

// The vectors of a node, and their kernel.
class VectorKernel {
public:
    VectorKernel(const Node& node, int64_t count)
        : vectors_{Cast(RowsOf(node, "support_vectors", count), Dtype::kFloat64)},
          kind_{static_cast<SvmKernel>(node.Choice("kernel_type"))} {
        std::vector<float> parameters = node.FloatsOrNone("kernel_params");
        parameters.resize(3);
        gamma_ = parameters[0];
        offset_ = parameters[1];
        degree_ = parameters[2];
    }

    // The kernel of rows and vectors, (rows, vectors).
    Scores operator()(const Array& features) const {
        Array x = InHostMemory(features);
        int64_t width = vectors_.shape()[1];
        if (x.shape()[1] != width) throw ModelError{"there are ", x.shape()[1], " features, not ", width};
        Scores out{x.shape()[0], vectors_.shape()[0]};
        for (int64_t i = 0; i < out.rows; ++i) {
            for (int64_t j = 0; j < out.columns; ++j) {
                out.row(i)[j] = Of(x.data<double>() + i * width, vectors_.data<double>() + j * width, width);
            }
        }
        return out;
    }

private:
    double Of(const double* a, const double* b, int64_t n) const {
        double sum = 0;
        if (kind_ == SvmKernel::kRbf) {
            for (int64_t i = 0; i < n; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
            return std::exp(-gamma_ * sum);
        }
        for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
        if (kind_ == SvmKernel::kLinear) return sum;
        sum = gamma_ * sum + offset_;
        return kind_ == SvmKernel::kPoly ? std::pow(sum, degree_) : std::tanh(sum);
    }

    Array vectors_;
    SvmKernel kind_;
    double gamma_;
    double offset_;
    double degree_;
};

// Products of rows with rows of weights, plus the first `rho`.
Scores Products(const Scores& x, const Array& weights, double rho) {
    if (x.columns != weights.shape()[1])
        throw ModelError{"there are ", x.columns, " features, not ", weights.shape()[1]};
    Scores out{x.rows, weights.shape()[0]};
    const float* w = weights.data<float>();
    for (int64_t i = 0; i < x.rows; ++i) {
        for (int64_t j = 0; j < out.columns; ++j) {
            double sum = rho;
            for (int64_t k = 0; k < x.columns; ++k) sum += x.row(i)[k] * w[j * x.columns + k];
            out.row(i)[j] = sum;
        }
    }
    return out;
}

double FirstRho(const Node& node) {
    std::vector<float> rho = node.FloatsOrNone("rho");
    return rho.empty() ? 0 : rho[0];
}

Kernel SvmRegressor(const Node& node) {
    int64_t count = node.Int("n_supports");
    std::optional<VectorKernel> vectors;
    if (count > 0) vectors.emplace(node, count);
    Array weights = RowsOf(node, "coefficients", 1);
    double rho = FirstRho(node);
    bool is_one_class = node.Flag("one_class");
    ScoreTransform transform{node};
    return [vectors, weights, rho, is_one_class, transform](const Inputs& in) {
        Array x = FeatureMatrix(in[0]);
        Scores y = Products(vectors ? (*vectors)(x) : Scores{x}, weights, rho);
        if (is_one_class) {
            for (double& score : y.values) score = score > 0 ? 1 : -1;
        }
        return transform(std::move(y));
    };
}

// Probabilities p of classes for which pairs[j, i] p[i] is next to pairs[i, j] p[j]: the method of Wu, Lin and Weng
// (2004), with the iterations of other runtimes. `pairs` has count times count elements.
void Couple(const std::vector<double>& pairs, int64_t count, double* p) {
    std::vector<double> q(count * count);
    for (int64_t i = 0; i < count; ++i) {
        for (int64_t j = 0; j < count; ++j) {
            if (i == j) continue;
            q[i * count + j] = -pairs[j * count + i] * pairs[i * count + j];
            q[i * count + i] += pairs[j * count + i] * pairs[j * count + i];
        }
        p[i] = 1.0 / static_cast<double>(count);
    }
    std::vector<double> qp(count);
    for (int64_t round = 0; round < std::max<int64_t>(100, count); ++round) {
        double pqp = 0;
        for (int64_t i = 0; i < count; ++i) {
            qp[i] = 0;
            for (int64_t j = 0; j < count; ++j) qp[i] += q[i * count + j] * p[j];
            pqp += p[i] * qp[i];
        }
        double error = 0;
        for (double each : qp) error = std::max(error, std::abs(each - pqp));
        if (error < 0.005 / static_cast<double>(count)) return;
        for (int64_t t = 0; t < count; ++t) {
            double diagonal = q[t * count + t];
            double step = (pqp - qp[t]) / diagonal;
            p[t] += step;
            pqp = (pqp + step * (step * diagonal + 2 * qp[t])) / ((1 + step) * (1 + step));
            for (int64_t j = 0; j < count; ++j) {
                qp[j] = (qp[j] + step * q[t * count + j]) / (1 + step);
                p[j] /= 1 + step;
            }
        }
    }
}

// One classifier for each pair of classes.
class PairwiseSvm {
public:
    explicit PairwiseSvm(const Node& node)
        : sizes_{node.Ints("vectors_per_class")},
          vectors_{node, CountOf(sizes_)},
          weights_{RowsOf(node, "coefficients", count() - 1)},
          rho_{node.FloatsOrNone("rho")},
          prob_a_{node.FloatsOrNone("prob_a")},
          prob_b_{node.FloatsOrNone("prob_b")} {
        auto pairs = static_cast<size_t>(count() * (count() - 1) / 2);
        if (weights_.shape()[1] != CountOf(sizes_)) throw ModelError{"its coefficients do not fit to its vectors"};
        if (rho_.size() < pairs || (has_probabilities() && (prob_a_.size() < pairs || prob_b_.size() < pairs))) {
            throw ModelError{"its rho, prob_a or prob_b has less than ", pairs, " values"};
        }
    }

    int64_t count() const { return static_cast<int64_t>(sizes_.size()); }
    bool has_probabilities() const { return !prob_a_.empty(); }

    // Gives the scores of pairs, or the probabilities of classes, and fills votes (rows, classes).
    Scores operator()(const Array& x, Scores* votes) const {
        Scores products = vectors_(x);
        *votes = Scores{products.rows, count()};
        Scores pairs{products.rows, count() * (count() - 1) / 2};
        for (int64_t i = 0; i < pairs.rows; ++i) ScorePairs(products.row(i), pairs.row(i), votes->row(i));
        if (!has_probabilities()) return pairs;
        Scores out{pairs.rows, count()};
        for (int64_t i = 0; i < out.rows; ++i) Couple(ProbabilitiesOf(pairs.row(i)), count(), out.row(i));
        return out;
    }

private:
    static int64_t CountOf(const Ints& sizes) {
        if (sizes.size() < 2) throw ModelError{"it has ", sizes.size(), " classes"};
        return std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
    }

    void ScorePairs(const double* products, double* scores, double* votes) const {
        const float* w = weights_.data<float>();
        int64_t width = weights_.shape()[1];
        auto add = [&](int64_t row, int64_t begin, int64_t size, double* sum) {
            for (int64_t k = begin; k < begin + size; ++k) *sum += w[row * width + k] * products[k];
        };
        int64_t number = 0;
        int64_t begin_i = 0;
        for (int64_t i = 0; i < count(); ++i) {
            int64_t begin_j = begin_i + sizes_[i];
            for (int64_t j = i + 1; j < count(); ++j) {
                double score = rho_[number];
                add(j - 1, begin_i, sizes_[i], &score);
                add(i, begin_j, sizes_[j], &score);
                scores[number++] = score;
                votes[score > 0 ? i : j] += 1;
                begin_j += sizes_[j];
            }
            begin_i += sizes_[i];
        }
    }

    std::vector<double> ProbabilitiesOf(const double* scores) const {
        std::vector<double> pairs(count() * count());
        int64_t number = 0;
        for (int64_t i = 0; i < count(); ++i) {
            for (int64_t j = i + 1; j < count(); ++j, ++number) {
                double p = 1 - Logistic(scores[number] * prob_a_[number] + prob_b_[number]);
                p = std::min(std::max(p, 1e-7), 1 - 1e-7);
                pairs[i * count() + j] = p;
                pairs[j * count() + i] = 1 - p;
            }
        }
        return pairs;
    }

    Ints sizes_;
    VectorKernel vectors_;
    Array weights_;
    std::vector<float> rho_;
    std::vector<float> prob_a_;
    std::vector<float> prob_b_;
};

Kernel SvmClassifier(const Node& node) {
    ClassResult result{node, "classlabels_ints"};
    if (!node.IntsOrNone("vectors_per_class").empty()) {
        PairwiseSvm svm{node};
        if (result.size() != svm.count()) {
            throw ModelError{"it has ", result.size(), " labels for ", svm.count(), " classes"};
        }
        return [svm, result](const Inputs& in) {
            Scores votes{0, 0};
            Scores scores = svm(FeatureMatrix(in[0]), &votes);
            Ints winners = Winners(votes);
            return scores.columns > 1 ? result.OfAll(winners, std::move(scores)) : result.OfOne(winners, scores, false);
        };
    }
    Array weights = RowsOf(node, "coefficients", std::max<int64_t>(result.size(), 1));
    double rho = FirstRho(node);
    const float* w = weights.data<float>();
    bool is_positive = std::all_of(w, w + weights.GetTotalSize(), [](float each) { return each >= 0; });
    double threshold = is_positive && result.size() == 2 ? 0.5 : 0;
    return [weights, rho, threshold, result](const Inputs& in) {
        Scores scores = Products(Scores{FeatureMatrix(in[0])}, weights, rho);
        if (scores.columns == 1) return result.OfOne(WinnersOfOne(scores, threshold), scores, false);
        Ints winners = Winners(scores);
        return result.OfAll(winners, std::move(scores));
    };
}

}  // namespace

const OperatorTable kLinearModelsOperators = {
        {"LinearClassifier", LinearClassifier, "", Purity::kPure, kLearning},
        {"LinearRegressor", LinearRegressor, "", Purity::kPure, kLearning},
        {"SVMClassifier", SvmClassifier, "", Purity::kPure, kLearning},
        {"SVMRegressor", SvmRegressor, "", Purity::kPure, kLearning},
};

}  // namespace chainerx::onnx
