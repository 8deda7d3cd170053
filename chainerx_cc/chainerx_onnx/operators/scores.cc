#include "chainerx_onnx/operators/scores.h"

#include <algorithm>
#include <cmath>

#include "chainerx_onnx/operators/key_table.h"

namespace chainerx::onnx {
namespace {

void Softmax(double* row, int64_t n, bool keep_zeros) {
    if (n == 0) return;
    double greatest = *std::max_element(row, row + n);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
        bool is_zero = keep_zeros && std::abs(row[i]) <= 1e-7;
        row[i] = is_zero ? row[i] * std::exp(-greatest) : std::exp(row[i] - greatest);
        sum += row[i];
    }
    for (int64_t i = 0; i < n; ++i) row[i] = keep_zeros && sum == 0 ? 0.5 : row[i] / sum;
}

// The quantile of the normal distribution, by the approximation that other runtimes have.
double Probit(double p) {
    constexpr double kPi = 3.14159265358979323846;
    double x = 2 * p - 1;
    if (std::abs(x) == 1) return 0;
    double log = std::log((1 - x) * (1 + x));
    double half = 2 / (kPi * 0.147) + log / 2;
    double y = std::sqrt(2.0) * std::sqrt(std::sqrt(half * half - log / 0.147) - half);
    return x < 0 ? -y : x == 0 ? 0 : y;
}

void Transform(double* row, int64_t n, PostTransform transform) {
    switch (transform) {
        case PostTransform::kNone:
            return;
        case PostTransform::kSoftmax:
        case PostTransform::kSoftmaxZero:
            if (n > 1) Softmax(row, n, transform == PostTransform::kSoftmaxZero);
            return;
        case PostTransform::kLogistic:
            std::transform(row, row + n, row, Logistic);
            return;
        case PostTransform::kProbit:
            std::transform(row, row + n, row, Probit);
            return;
    }
}

}  // namespace

Array RowsOf(const Node& node, const char* name, int64_t rows) {
    Array values = FloatsArray(node.FloatsOrNone(name));
    int64_t n = values.GetTotalSize();
    if (rows < 1 || n == 0 || n % rows != 0) throw ModelError{"its ", name, " has ", n, " values for ", rows, " rows"};
    return Reshape(values, Shape{rows, n / rows});
}

double Logistic(double x) {
    double small = std::exp(-std::abs(x));
    return (x < 0 ? small : 1) / (1 + small);
}

Array ScoreTransform::operator()(Scores scores) const {
    Array out = Empty(CheckedShape({scores.rows, scores.columns}, sizeof(float)), Dtype::kFloat32, HostDevice());
    for (int64_t i = 0; i < scores.rows; ++i) Transform(scores.row(i), scores.columns, kind);
    std::copy(scores.values.begin(), scores.values.end(), out.data<float>());
    return ToDevice(out, *device);
}

Array ScoreTransform::OfTwo(const Scores& scores, bool sum_is_one) const {
    Scores both{scores.rows, 2};
    bool is_logistic = kind == PostTransform::kLogistic;
    for (int64_t i = 0; i < scores.rows; ++i) {
        double score = scores.row(i)[0];
        both.row(i)[0] = sum_is_one && !is_logistic ? 1 - score : -score;
        both.row(i)[1] = score;
    }
    ScoreTransform transform = *this;
    // As ONNX Runtime has it, there is no softmax of a score and what follows from it.
    if (!is_logistic && kind != PostTransform::kProbit) transform.kind = PostTransform::kNone;
    return transform(std::move(both));
}

Array FeatureMatrix(const Array& x) {
    if (x.ndim() != 1 && x.ndim() != 2) throw ModelError{"the features have the shape ", x.shape()};
    Array host = InHostMemory(x, x.dtype() == Dtype::kFloat64 ? Dtype::kFloat64 : Dtype::kFloat32);
    return host.ndim() == 2 ? host : Reshape(host, Shape{1, host.GetTotalSize()});
}

ClassResult::ClassResult(const Node& node, const char* integers)
    : labels_{StringsOrInts(node, "classlabels_strings", integers)}, transform_{node} {
    size_ = ShapeOfElements(labels_).GetTotalSize();
}

Value ClassResult::LabelsOf(const Ints& winners) const {
    if (size_ == 0) return ToDevice(IntsArray(winners), *transform_.device);
    for (int64_t winner : winners) {
        if (winner >= size_) throw ModelError{"there are ", size_, " labels, and the class ", winner, " wins"};
    }
    Shape shape{static_cast<int64_t>(winners.size())};
    return ItemsAt(labels_, winners, shape, BlankOf(labels_), *transform_.device);
}

Values ClassResult::OfAll(const Ints& winners, Scores scores) const {
    return {LabelsOf(winners), transform_(std::move(scores))};
}

Values ClassResult::OfOne(const Ints& winners, const Scores& scores, bool sum_is_one) const {
    if (size_ == 2) return {LabelsOf(winners), transform_.OfTwo(scores, sum_is_one)};
    return {ToDevice(IntsArray(winners), *transform_.device), transform_(scores)};
}

Ints Winners(const Scores& scores) {
    Ints out;
    for (int64_t i = 0; i < scores.rows; ++i) {
        const double* row = scores.row(i);
        out.push_back(std::max_element(row, row + scores.columns) - row);
    }
    return out;
}

Ints WinnersOfOne(const Scores& scores, double threshold) {
    Ints out;
    for (int64_t i = 0; i < scores.rows; ++i) out.push_back(scores.row(i)[0] > threshold ? 1 : 0);
    return out;
}

}  // namespace chainerx::onnx
