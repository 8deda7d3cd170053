#include "chainerx_onnx/operators/scores.h"

#include "chainerx_onnx/operators/key_table.h"

namespace chainerx::onnx {
namespace {

constexpr double kPi = 3.14159265358979323846;

// The softmax of rows in which scores of zero stay small.
Array SoftmaxZero(const Array& x) {
    Array greatest = AMax(x, Axes{1}, true);
    Array is_zero = LessEqual(Absolute(x), Scalar{1e-7});
    Array y = Where(is_zero, x * Exp(Negative(greatest)), Exp(x - greatest));
    Array sum = Sum(y, Axes{1}, true);
    return Where(Equal(sum, Scalar{0}), Scalar{0.5}, y / sum);
}

// The quantile of the normal distribution, by the approximation that other runtimes have.
Array Probit(const Array& p) {
    Array x = Scalar{2} * p - Scalar{1};
    Array log = Log((Scalar{1} - x) * (Scalar{1} + x));
    Array half = Scalar{2 / (kPi * 0.147)} + log / Scalar{2};
    Array y = Sqrt(Scalar{2} * (Sqrt(Square(half) - log / Scalar{0.147}) - half));
    return Where(Equal(Absolute(x), Scalar{1}), Scalar{0}, Sign(x) * y);
}

Array Transform(const Array& x, PostTransform kind) {
    if (kind == PostTransform::kLogistic) return Sigmoid(x);
    if (kind == PostTransform::kProbit) return Probit(x);
    if (kind == PostTransform::kNone || x.shape()[1] <= 1) return x;
    return kind == PostTransform::kSoftmax ? Softmax(x, Axes{1}) : SoftmaxZero(x);
}

}  // namespace

Array RowsOf(const Node& node, const char* name, int64_t rows) {
    Array values = Cast(FloatsArray(node.FloatsOrNone(name)), Dtype::kFloat64);
    int64_t n = values.GetTotalSize();
    if (rows < 1 || n == 0 || n % rows != 0) throw ModelError{"its ", name, " has ", n, " values for ", rows, " rows"};
    return Reshape(values, Shape{rows, n / rows});
}

Array ScoreTransform::operator()(const Array& scores) const {
    return ToDevice(Cast(Transform(scores, kind), Dtype::kFloat32), *device);
}

Array ScoreTransform::OfTwo(const Array& scores, bool sum_is_one) const {
    bool is_logistic = kind == PostTransform::kLogistic;
    Array first = sum_is_one && !is_logistic ? Scalar{1} - scores : Negative(scores);
    ScoreTransform transform = *this;
    // As ONNX Runtime has it, there is no softmax of a score and what follows from it.
    if (!is_logistic && kind != PostTransform::kProbit) transform.kind = PostTransform::kNone;
    return transform(Concatenate({first, scores}, 1));
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

Value ClassResult::LabelsOf(const Array& winners) const {
    if (size_ == 0) return ToDevice(winners, *transform_.device);
    Ints places = ReadInts(winners);
    for (int64_t winner : places) {
        if (winner >= size_) throw ModelError{"there are ", size_, " labels, and the class ", winner, " wins"};
    }
    return ItemsAt(labels_, places, winners.shape(), BlankOf(labels_), *transform_.device);
}

Values ClassResult::OfAll(const Array& winners, const Array& scores) const {
    return {LabelsOf(winners), transform_(scores)};
}

Values ClassResult::OfOne(const Array& winners, const Array& scores, bool sum_is_one) const {
    if (size_ == 2) return {LabelsOf(winners), transform_.OfTwo(scores, sum_is_one)};
    return {ToDevice(winners, *transform_.device), transform_(scores)};
}

}  // namespace chainerx::onnx
