// Linear models of classical learning.

#include "chainerx_onnx/operators/common.h"
#include "chainerx_onnx/operators/scores.h"

namespace chainerx::onnx {
namespace {

// Products with rows of weights, plus intercepts.
class LinearScores {
public:
    LinearScores(const Node& node, int64_t count) : weights_{RowsOf(node, "coefficients", count)} {
        intercepts_ = node.FloatsOrNone("intercepts");
        if (intercepts_.empty()) intercepts_.assign(count, 0);
        if (static_cast<int64_t>(intercepts_.size()) != count) {
            throw ModelError{"its intercepts has ", intercepts_.size(), " values for ", count, " rows"};
        }
    }

    Scores operator()(const Array& x) const {
        Array features = FeatureMatrix(x);
        Array y = Cast(Matmul(features, Transpose(Cast(weights_, features.dtype()))), Dtype::kFloat64);
        y = AsContiguous(y);
        Scores out{y.shape()[0], y.shape()[1]};
        for (int64_t i = 0; i < out.rows; ++i) {
            for (int64_t j = 0; j < out.columns; ++j) {
                out.row(i)[j] = y.data<double>()[i * out.columns + j] + intercepts_[j];
            }
        }
        return out;
    }

private:
    Array weights_;
    std::vector<float> intercepts_;
};

Kernel LinearRegressor(const Node& node) {
    LinearScores scores{node, node.Int("targets")};
    PostTransform transform = TransformOf(node);
    Device* device = &node.device();
    return [scores, transform, device](const Inputs& in) { return Transformed(scores(in[0]), transform, *device); };
}

Kernel LinearClassifier(const Node& node) {
    int64_t count = std::max<int64_t>(static_cast<int64_t>(node.FloatsOrNone("intercepts").size()), 1);
    LinearScores scores{node, count};
    ClassLabels labels{node, "classlabels_ints"};
    if (labels.size() != 0 && labels.size() != std::max<int64_t>(count, 2)) {
        throw ModelError{"it has ", labels.size(), " labels for ", count, " scores"};
    }
    PostTransform transform = TransformOf(node);
    Device* device = &node.device();
    return [scores, labels, transform, device](const Inputs& in) -> Values {
        Scores y = scores(in[0]);
        Value label = labels.Of(y.columns > 1 ? Winners(y) : WinnersOfOne(y, 0), *device);
        bool is_pair = y.columns == 1 && labels.size() == 2;
        return {label, is_pair ? TransformedOfTwo(y, transform, true, *device)
                               : Transformed(std::move(y), transform, *device)};
    };
}

}  // namespace

const OperatorTable kLinearModelsOperators = {
        {"LinearClassifier", LinearClassifier, "", Purity::kPure, kLearning},
        {"LinearRegressor", LinearRegressor, "", Purity::kPure, kLearning},
};

}  // namespace chainerx::onnx
