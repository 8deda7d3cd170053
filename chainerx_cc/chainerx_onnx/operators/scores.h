#pragma once

// What classical models share: the transforms of their scores, and the labels of classes. Scores are matrices of
// float64 in host memory, with a row for each of the features.

#include <cstdint>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {

// In the order of attribute_values.txt, and of the numbers that TreeEnsemble has for them.
enum class PostTransform { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

// Floats of an attribute as a matrix of `rows` rows, of float64 in host memory.
Array RowsOf(const Node& node, const char* name, int64_t rows);

// How a node transforms its scores.
struct ScoreTransform {
    explicit ScoreTransform(const Node& node) : ScoreTransform{node, node.Choice("post_transform")} {}
    ScoreTransform(const Node& node, int64_t number)
        : kind{static_cast<PostTransform>(number)}, device{&node.device()} {}

    // As float32. Single scores know no softmax.
    Array operator()(const Array& scores) const;
    // The same for the two classes of single scores, which are those of the second. The first has one less the score,
    // or the negative score.
    Array OfTwo(const Array& scores, bool sum_is_one) const;

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
    Values OfAll(const Array& winners, const Array& scores) const;
    // Of single scores, which are those of the second class if there are labels of two.
    Values OfOne(const Array& winners, const Array& scores, bool sum_is_one) const;

private:
    Value LabelsOf(const Array& winners) const;

    int64_t size_;
    Value labels_;
    ScoreTransform transform_;
};

// The first of the greatest in each row.
inline Array Winners(const Array& scores) { return ArgMax(scores, 1); }

// Of single scores, which are those of the second class of two, if they are above a threshold.
inline Array WinnersOfOne(const Array& scores, double threshold) {
    return Cast(Greater(Ravel(scores), Scalar{threshold}), Dtype::kInt64);
}

}  // namespace chainerx::onnx
