// Constants, ranges and random numbers.

#include <cmath>

#include "chainerx_onnx/operators/common.h"
#include "chainerx_onnx/operators/key_table.h"

namespace chainerx::onnx {
namespace {

// An array that gives itself at each run.
Kernel Always(Value value) {
    return [value = std::move(value)](const Inputs&) { return value; };
}

Kernel Constant(const Node& node) {
    Device& device = node.device();
    if (node.Has("value")) return Always(node.TensorOrStrings("value"));
    if (node.Has("value_string")) return Always(Value::Of(Strings{Shape{}, {node.String("value_string")}}));
    if (node.Has("value_strings")) return Always(VectorOf(node.Strings("value_strings")));
    auto number = [&](const Scalar& x, Dtype dtype) { return Always(Full(Shape{}, x, dtype, device)); };
    if (node.Has("value_float")) return number(Scalar{node.Float("value_float")}, Dtype::kFloat32);
    if (node.Has("value_floats")) return Always(ToDevice(FloatsArray(node.Floats("value_floats")), device));
    if (node.Has("value_int")) return number(Scalar{node.Int("value_int")}, Dtype::kInt64);
    if (node.Has("value_ints")) return Always(ToDevice(IntsArray(node.Ints("value_ints")), device));
    if (node.Has("sparse_value")) return Always(node.SparseTensor("sparse_value"));
    throw ModelError{"it has no value"};
}

// Of the only element of a tensor, or of zeros.
Kernel ConstantOfShape(const Node& node) {
    Array value = node.Has("value") ? node.Tensor("value") : Zeros(Shape{1}, Dtype::kFloat32, node.device());
    if (value.GetTotalSize() != 1) throw ModelError{"its value has ", value.GetTotalSize(), " elements"};
    IntsParameter shape{node, "input"};
    return [shape, fill = AsScalar(value), dtype = value.dtype(), &device = node.device()](const Inputs& in) {
        return Full(CheckedShape(shape.Read(in), GetItemSize(dtype)), fill, dtype, device);
    };
}

Array EyeLike(const Array& x, const std::optional<Dtype>& dtype, int64_t k) {
    if (x.ndim() != 2) throw ModelError{"the shape is ", x.shape()};
    int64_t rows = x.shape()[0];
    int64_t columns = x.shape()[1];
    return Eye(rows, columns, std::min(std::max(k, -rows), columns), dtype.value_or(x.dtype()), x.device());
}

Array Range(const Array& start, const Array& limit, const Array& delta, Device& device) {
    Dtype dtype = start.dtype();
    Scalar first = AsScalar(start);
    Scalar step = AsScalar(delta);
    if (static_cast<double>(step) == 0) throw ModelError{"the step of the range is zero"};
    double span = static_cast<double>(AsScalar(limit)) - static_cast<double>(first);
    double count = std::ceil(span / static_cast<double>(step));
    if (!(count > 0)) return Empty(Shape{0}, dtype, device);
    if (count > 1e15) throw ModelError{"the range has ", count, " elements"};
    Array out = Empty(CheckedShape({static_cast<int64_t>(count)}, GetItemSize(dtype)), dtype, device);
    kArangeKernel(device, out, first, step);
    return out;
}

// Draws an array from a distribution with two parameters: low and high, or the mean and the scale.
using Draw = Array (*)(const Shape&, double, double, Dtype, Device&);

template <Draw kDraw>
Array Random(Device& device, const Ints& shape, const std::optional<Dtype>& dtype, double first, double second) {
    return kDraw(CheckedShape(shape, 8), first, second, dtype.value_or(Dtype::kFloat32), device);
}

template <Draw kDraw>
Array RandomLike(const Array& x, const std::optional<Dtype>& dtype, double first, double second) {
    return Random<kDraw>(x.device(), ToVector(x.shape()), dtype.value_or(x.dtype()), first, second);
}

Array Bernoulli(const Array& x, const std::optional<Dtype>& dtype) {
    Array random = RandomUniform(x.shape(), 0, 1, Dtype::kFloat64, x.device());
    return Cast(Less(random, Cast(x, Dtype::kFloat64)), dtype.value_or(x.dtype()));
}

// The largest of the log probabilities and Gumbel noise.
Array Multinomial(const Array& x, const std::optional<Dtype>& dtype, int64_t count) {
    if (x.ndim() != 2) throw ModelError{"the shape is ", x.shape()};
    Shape shape = CheckedShape({x.shape()[0], count, x.shape()[1]}, 8);
    Array noise = Negative(Log(Negative(Log(RandomUniform(shape, 1e-300, 1, Dtype::kFloat64, x.device())))));
    return Cast(ArgMax(ExpandDims(Cast(x, Dtype::kFloat64), 1) + noise, 2), dtype.value_or(Dtype::kInt32));
}

}  // namespace

const OperatorTable kGeneratorsOperators = {
        {"Bernoulli", Call<Bernoulli>, "dtype", Purity::kRandom},
        {"Constant", Constant, "", Purity::kPure, "", Operands::kValues},
        {"ConstantOfShape", ConstantOfShape},
        {"EyeLike", Call<EyeLike>, "dtype k"},
        {"Multinomial", Call<Multinomial>, "dtype sample_size", Purity::kRandom},
        {"RandomNormal", Call<Random<chainerx::RandomNormal>>, "shape dtype mean scale", Purity::kRandom},
        {"RandomNormalLike", Call<RandomLike<chainerx::RandomNormal>>, "dtype mean scale", Purity::kRandom},
        {"RandomUniform", Call<Random<chainerx::RandomUniform>>, "shape dtype low high", Purity::kRandom},
        {"RandomUniformLike", Call<RandomLike<chainerx::RandomUniform>>, "dtype low high", Purity::kRandom},
        {"Range", Call<Range>},
};

}  // namespace chainerx::onnx
