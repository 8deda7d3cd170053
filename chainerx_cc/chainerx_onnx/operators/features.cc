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

Array Scaler(const Array& x, const std::vector<float>& offset, const std::vector<float>& scale, Device& device) {
    Array y = Cast(x, Dtype::kFloat64);
    if (!offset.empty()) y = y - ToDevice(FloatsArray(offset), device);
    if (!scale.empty()) y = y * ToDevice(FloatsArray(scale), device);
    return Cast(y, Dtype::kFloat32);
}

enum class Norm { kMax, kL1, kL2 };

Array Normalizer(const Array& input, Norm norm) {
    if (input.ndim() == 0) throw ModelError{"the features have no dimension"};
    Array x = Cast(input, Dtype::kFloat32);
    if (x.GetTotalSize() == 0) return x;
    Axes last{LastAxis(x)};
    Array size;
    if (norm == Norm::kMax) size = AMax(Absolute(x), last, true);
    if (norm == Norm::kL1) size = Sum(Absolute(x), last, true);
    if (norm == Norm::kL2) size = Sqrt(Sum(Square(x), last, true));
    return x / Where(Equal(size, Scalar{0}), OnesLike(size), size);
}

Array Imputer(const Array& x, double replaced_float, int64_t replaced_integer, const std::vector<float>& floats,
              const std::optional<Ints>& integers, Device& device) {
    bool is_float = IsFloat(x.dtype());
    Array values = is_float ? FloatsArray(floats) : IntsArray(integers.value_or(Ints{}));
    if (values.GetTotalSize() == 0) throw ModelError{"there are no imputed values for ", x.dtype()};
    Scalar replaced = is_float ? Scalar{replaced_float} : Scalar{replaced_integer};
    Array missing = is_float && std::isnan(replaced_float) ? IsNan(x) : Equal(x, replaced);
    return Where(missing, ToDevice(Cast(values, x.dtype()), device), x);
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
        {"Imputer", Call<Imputer>,
         "replaced_value_float replaced_value_int64 imputed_value_floats imputed_value_int64s", Purity::kPure,
         kLearning},
        {"Normalizer", Call<Normalizer>, "norm", Purity::kPure, kLearning},
        {"Scaler", Call<Scaler>, "offset scale", Purity::kPure, kLearning},
};

}  // namespace chainerx::onnx
