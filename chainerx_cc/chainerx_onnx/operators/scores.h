#pragma once

// What classical models share: the transforms of their scores, and the labels of classes.

#include <cstdint>
#include <vector>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {

// In the order of attribute_values.txt, and of the numbers that TreeEnsemble has for them.
enum class PostTransform { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

// That of a node's attribute of this name.
PostTransform TransformOf(const Node& node);

// Floats of an attribute as a matrix of `rows` rows, in host memory.
Array RowsOf(const Node& node, const char* name, int64_t rows);

// One over one plus the exponential of -x.
double Logistic(double x);

// Scores (rows, columns) in host memory.
struct Scores {
    Scores(int64_t row_count, int64_t column_count)
        : rows{row_count}, columns{column_count}, values(row_count * column_count) {}
    double* row(int64_t i) { return values.data() + i * columns; }
    const double* row(int64_t i) const { return values.data() + i * columns; }

    int64_t rows;
    int64_t columns;
    std::vector<double> values;
};

// As float32, after a transform. Single scores know no softmax.
Array Transformed(Scores scores, PostTransform transform, Device& device);

// The same for the two classes of single scores, which are those of the second. The first has one less the score, or
// the negative score.
Array TransformedOfTwo(const Scores& scores, PostTransform transform, bool sum_is_one, Device& device);

// The features as a matrix in host memory, of float32 or float64; a vector is one row.
Array FeatureMatrix(const Array& x);

// The labels of classes, which may be none.
class ClassLabels {
public:
    // `integers`: the attribute of labels that are no strings.
    ClassLabels(const Node& node, const char* integers);

    int64_t size() const { return size_; }
    // Those of winners by number; the numbers themselves if there are no labels.
    Value Of(const Ints& winners, Device& device) const;

private:
    int64_t size_;
    Value labels_;
};

// The first of the greatest in each row.
Ints Winners(const Scores& scores);

// Of single scores, which are those of the second class of two, if they are above a threshold.
Ints WinnersOfOne(const Scores& scores, double threshold);

}  // namespace chainerx::onnx
