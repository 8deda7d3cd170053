// Columns of features of classical models: scaled, filled, chosen and joined.

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

Array ArrayFeatureExtractor(const Array& x, const Array& indices) {
    if (x.ndim() == 0) throw ModelError{"the features have no dimension"};
    Array y = Take(x, Ravel(indices), x.ndim() - 1);
    return y.ndim() == 1 ? Reshape(y, Shape{1, y.GetTotalSize()}) : y;  // a vector is a row
}

Array Binarizer(const Array& x, double threshold) { return Cast(Greater(x, Scalar{threshold}), x.dtype()); }

// Floats of an attribute as a vector of a dtype.
Array Vector(const std::vector<float>& values, Dtype dtype, Device& device) {
    Array host = FromHost(Shape{static_cast<int64_t>(values.size())}, Dtype::kFloat32, values.data(), HostDevice());
    return ToDevice(Cast(host, dtype), device);
}

Array Scaler(const Array& x, const std::vector<float>& offset, const std::vector<float>& scale, Device& device) {
    Array y = Cast(x, Dtype::kFloat64);
    if (!offset.empty()) y = y - Vector(offset, Dtype::kFloat64, device);
    if (!scale.empty()) y = y * Vector(scale, Dtype::kFloat64, device);
    return Cast(y, Dtype::kFloat32);
}

enum class Norm { kMax, kL1, kL2 };

Array Normalizer(const Array& input, Norm norm) {
    if (input.ndim() == 0) throw ModelError{"the features have no dimension"};
    Array x = Cast(input, Dtype::kFloat32);
    if (x.GetTotalSize() == 0) return x;
    Axes last{static_cast<int8_t>(x.ndim() - 1)};
    Array size;
    if (norm == Norm::kMax) size = AMax(Absolute(x), last, true);
    if (norm == Norm::kL1) size = Sum(Absolute(x), last, true);
    if (norm == Norm::kL2) size = Sqrt(Sum(Square(x), last, true));
    return x / Where(Equal(size, Scalar{0}), OnesLike(size), size);
}

// What replaces a value, for floats and for integers.
struct Replacement {
    explicit Replacement(const Node& node)
        : replaced_float{node.Float("replaced_value_float")},
          replaced_integer{node.Int("replaced_value_int64")},
          floats{node.FloatsOrNone("imputed_value_floats")},
          integers{node.IntsOrNone("imputed_value_int64s")} {}
    double replaced_float;
    int64_t replaced_integer;
    std::vector<float> floats;
    Ints integers;
};

Array Imputer(const Array& x, const Replacement& by, Device& device) {
    bool is_float = IsFloat(x.dtype());
    if (is_float ? by.floats.empty() : by.integers.empty()) {
        throw ModelError{"there are no imputed values for ", x.dtype()};
    }
    Array values =
            is_float ? Vector(by.floats, x.dtype(), device) : ToDevice(Cast(IntsArray(by.integers), x.dtype()), device);
    Array missing = is_float && std::isnan(by.replaced_float) ? IsNan(x)
                    : is_float                                ? Equal(x, Scalar{by.replaced_float})
                                                              : Equal(x, Scalar{by.replaced_integer});
    return Where(missing, values, x);
}

// A matrix of so many columns: the first ones, or all and zeros.
Array Columns(const Array& x, int64_t size) {
    if (x.ndim() == 0) throw ModelError{"an input has no dimension"};
    int64_t rows = x.shape()[0];
    int64_t width = SizeOf(x.shape(), 1, x.ndim());
    if (size < 0) throw ModelError{"a number of columns is ", size};
    return PadAxis(Reshape(Cast(x, Dtype::kFloat32), Shape{rows, width}), 1, 0, size - width);
}

Array FeatureVectorizer(const Arrays& xs, const std::optional<Ints>& sizes) {
    if (sizes && sizes->size() != xs.size()) {
        throw ModelError{"it has ", xs.size(), " inputs and ", sizes->size(), " inputdimensions"};
    }
    Arrays parts;
    for (size_t i = 0; i < xs.size(); ++i) {
        parts.push_back(Columns(xs[i], sizes ? (*sizes)[i] : SizeOf(xs[i].shape(), 1, xs[i].ndim())));
    }
    return Concatenate(parts, 1);
}

}  // namespace

const OperatorTable kFeaturesOperators = {
        {"ArrayFeatureExtractor", Call<ArrayFeatureExtractor>, "", Purity::kPure, kLearning, Operands::kMoved},
        {"Binarizer", Call<Binarizer>, "threshold", Purity::kPure, kLearning},
        {"FeatureVectorizer", Call<FeatureVectorizer>, "inputdimensions", Purity::kPure, kLearning},
        {"Imputer", Call<Imputer>, "", Purity::kPure, kLearning},
        {"Normalizer", Call<Normalizer>, "norm", Purity::kPure, kLearning},
        {"Scaler", Call<Scaler>, "offset scale", Purity::kPure, kLearning},
};

}  // namespace chainerx::onnx
