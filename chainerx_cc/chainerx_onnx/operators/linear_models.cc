// Linear models and support vector machines.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "chainerx_onnx/operators/common.h"
#include "chainerx_onnx/operators/scores.h"

namespace chainerx::onnx {
namespace {

// Products with rows of weights, plus intercepts.
struct LinearScores {
    LinearScores(const Node& node, int64_t count)
        : weights{Transpose(Cast(RowsOf(node, "coefficients", count), Dtype::kFloat32))},
          intercepts{FloatsArray(node.FloatsOrNone("intercepts"))} {
        if (intercepts.GetTotalSize() == 0) intercepts = Zeros(Shape{count}, Dtype::kFloat32, HostDevice());
        if (intercepts.GetTotalSize() != count) {
            throw ModelError{"its intercepts has ", intercepts.GetTotalSize(), " values for ", count, " rows"};
        }
        intercepts = Cast(intercepts, Dtype::kFloat64);
    }

    Array operator()(const Array& x) const {
        Array features = FeatureMatrix(x);
        return Matmul(features, Cast(weights, features.dtype())) + intercepts;
    }

    Array weights;     // (features, count), of float32
    Array intercepts;  // of float64, as the scores
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
        Array y = scores(in[0]);
        return y.shape()[1] == 1 ? result.OfOne(WinnersOfOne(y, 0), y, true) : result.OfAll(Winners(y), y);
    };
}

// -- support vector machines

enum class SvmKernel { kLinear, kPoly, kRbf, kSigmoid };

// The vectors of a node, and their kernel.
class VectorKernel {
public:
    VectorKernel(const Node& node, int64_t count)
        : vectors_{RowsOf(node, "support_vectors", count)}, kind_{static_cast<SvmKernel>(node.Choice("kernel_type"))} {
        std::vector<float> parameters = node.FloatsOrNone("kernel_params");
        parameters.resize(3);
        gamma_ = Scalar{parameters[0]};
        offset_ = Scalar{parameters[1]};
        degree_ = Scalar{parameters[2]};
    }

    // The kernel of rows and vectors, (rows, vectors).
    Array operator()(const Array& features) const {
        Array x = Cast(features, Dtype::kFloat64);
        if (kind_ == SvmKernel::kRbf) return Exp(Negative(gamma_ * Distances(x)));
        Array products = Matmul(x, Transpose(vectors_));
        if (kind_ == SvmKernel::kLinear) return products;
        Array y = gamma_ * products + offset_;
        return kind_ == SvmKernel::kPoly ? Power(y, degree_) : Tanh(y);
    }

private:
    // Squares of the distances of rows and vectors, of differences: products of large numbers would leave few digits.
    Array Distances(const Array& x) const {
        int64_t width = vectors_.shape()[1];
        if (x.shape()[1] != width) throw ModelError{"there are ", x.shape()[1], " features, not ", width};
        Array out = EmptyInHostMemory(Shape{x.shape()[0], vectors_.shape()[0]});
        for (int64_t i = 0; i < x.shape()[0]; ++i) SetAt(out, {i}, Sum(Square(vectors_ - At(x, {i})), Axes{1}));
        return out;
    }

    Array vectors_;
    SvmKernel kind_;
    Scalar gamma_;
    Scalar offset_;
    Scalar degree_;
};

// Products of rows with rows of weights, plus a number.
Array Products(const Array& x, const Array& weights, double rho) {
    return Matmul(Cast(x, Dtype::kFloat64), Transpose(weights)) + Scalar{rho};
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
        Array y = Products(vectors ? (*vectors)(x) : x, weights, rho);
        return transform(is_one_class ? Scalar{2} * Cast(Greater(y, Scalar{0}), y.dtype()) - Scalar{1} : y);
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
        for (int64_t i = 0; i < count(); ++i) {
            for (int64_t j = i + 1; j < count(); ++j) pairs_.emplace_back(i, j);
        }
        size_t pairs = pairs_.size();
        if (weights_.shape()[1] != CountOf(sizes_)) throw ModelError{"its coefficients do not fit to its vectors"};
        if (rho_.size() < pairs || (has_probabilities() && (prob_a_.size() < pairs || prob_b_.size() < pairs))) {
            throw ModelError{"its rho, prob_a or prob_b has less than ", pairs, " values"};
        }
    }

    int64_t count() const { return static_cast<int64_t>(sizes_.size()); }
    bool has_probabilities() const { return !prob_a_.empty(); }

    // Gives the scores of pairs, or the probabilities of classes, and fills votes (rows, classes).
    Array operator()(const Array& x, Array* votes) const {
        Array products = vectors_(x);
        int64_t rows = products.shape()[0];
        int64_t others = count() - 1;
        Array pairs = EmptyInHostMemory(Shape{rows, static_cast<int64_t>(pairs_.size())});
        Array classes = EmptyInHostMemory(Shape{rows, count()});
        *votes = Zeros(Shape{rows, count()}, Dtype::kFloat64, HostDevice());
        for (int64_t row = 0; row < rows; ++row) {
            double* scores = pairs.data<double>() + row * pairs.shape()[1];
            std::vector<double> sums = SumsOf(products.data<double>() + row * products.shape()[1]);
            for (size_t k = 0; k < pairs_.size(); ++k) {
                auto [i, j] = pairs_[k];
                scores[k] = rho_[k] + sums[i * others + j - 1] + sums[j * others + i];
                votes->data<double>()[row * count() + (scores[k] > 0 ? i : j)] += 1;
            }
            if (has_probabilities()) Couple(ProbabilitiesOf(scores), count(), classes.data<double>() + row * count());
        }
        return has_probabilities() ? classes : pairs;
    }

private:
    static int64_t CountOf(const Ints& sizes) {
        if (sizes.size() < 2) throw ModelError{"it has ", sizes.size(), " classes"};
        return std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
    }

    // What the vectors of each class add to its pair with each of the others.
    std::vector<double> SumsOf(const double* products) const {
        int64_t width = weights_.shape()[1];
        std::vector<double> out;
        int64_t begin = 0;
        for (int64_t size : sizes_) {
            const double* w = weights_.data<double>() + begin;
            for (int64_t j = 1; j < count(); ++j, w += width) {
                out.push_back(std::inner_product(w, w + size, products + begin, 0.0));
            }
            begin += size;
        }
        return out;
    }

    std::vector<double> ProbabilitiesOf(const double* scores) const {
        std::vector<double> out(count() * count());
        for (size_t k = 0; k < pairs_.size(); ++k) {
            auto [i, j] = pairs_[k];
            double p = 1 - 1 / (1 + std::exp(-(scores[k] * prob_a_[k] + prob_b_[k])));
            p = std::clamp(p, 1e-7, 1 - 1e-7);
            out[i * count() + j] = p;
            out[j * count() + i] = 1 - p;
        }
        return out;
    }

    Ints sizes_;
    VectorKernel vectors_;
    Array weights_;  // of the vectors in pairs with the other classes, (classes - 1, vectors)
    std::vector<std::pair<int64_t, int64_t>> pairs_;
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
            Array votes;
            Array scores = svm(FeatureMatrix(in[0]), &votes);
            Array winners = Winners(votes);
            return scores.shape()[1] > 1 ? result.OfAll(winners, scores) : result.OfOne(winners, scores, false);
        };
    }
    Array weights = RowsOf(node, "coefficients", std::max<int64_t>(result.size(), 1));
    double rho = FirstRho(node);
    bool is_positive = static_cast<bool>(AsScalar(All(GreaterEqual(weights, Scalar{0}))));
    double threshold = is_positive && result.size() == 2 ? 0.5 : 0;
    return [weights, rho, threshold, result](const Inputs& in) {
        Array y = Products(FeatureMatrix(in[0]), weights, rho);
        return y.shape()[1] == 1 ? result.OfOne(WinnersOfOne(y, threshold), y, false) : result.OfAll(Winners(y), y);
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
