#pragma once

// What classical models share: the transforms of their scores, and the labels of classes.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {

// In the order of attribute_values.txt, and of the numbers that TreeEnsemble has for them.
enum class PostTransform { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

// Floats of an attribute as a matrix of `rows` rows, in host memory.
Array RowsOf(const Node& node, const char* name, int64_t rows);

// One over one plus the exponential of -x.
double Logistic(double x);

// Scores (rows, columns) in host memory.
struct Scores {
    Scores(int64_t row_count, int64_t column_count)
        : rows{row_count}, columns{column_count}, values(row_count * column_count) {}
    explicit Scores(const Array& matrix) : Scores{matrix.shape()[0], matrix.shape()[1]} {
        std::copy_n(InHostMemory(matrix).data<double>(), values.size(), values.begin());
    }
    double* row(int64_t i) { return values.data() + i * columns; }
    const double* row(int64_t i) const { return values.data() + i * columns; }

    int64_t rows;
    int64_t columns;
    std::vector<double> values;
};

// How a node transforms its scores.
struct ScoreTransform {
    explicit ScoreTransform(const Node& node) : ScoreTransform{node, node.Choice("post_transform")} {}
    ScoreTransform(const Node& node, int64_t number)
        : kind{static_cast<PostTransform>(number)}, device{&node.device()} {}

    // As float32. Single scores know no softmax.
    Array operator()(Scores scores) const;
    // The same for the two classes of single scores, which are those of the second. The first has one less the score,
    // or the negative score.
    Array OfTwo(const Scores& scores, bool sum_is_one) const;

    PostTransform kind;
    Device* device;
};

// The features as a matrix in host memory, of float32 or float64; a vector is one row.
Array FeatureMatrix(const Array& x);

// What a classifier gives: the labels of classes, which may be none, and transformed scores.
class ClassResult {
public:
    // `integers`: the attribute of labels that are no strings.
    ClassResult(const Node& node, const char* integers);

    int64_t size() const { return size_; }  // the number of labels
    // Winners are numbers of classes, which are also their labels if there are none.
    Values OfAll(const Ints& winners, Scores scores) const;
    // Of single scores, which are those of the second class if there are labels of two.
    Values OfOne(const Ints& winners, const Scores& scores, bool sum_is_one) const;

private:
    Value LabelsOf(const Ints& winners) const;

    int64_t size_;
    Value labels_;
    ScoreTransform transform_;
};

// The first of the greatest in each row.
Ints Winners(const Scores& scores);

// Of single scores, which are those of the second class of two, if they are above a threshold.
Ints WinnersOfOne(const Scores& scores, double threshold);

}  // namespace chainerx::onnx
