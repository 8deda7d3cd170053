// Constants, ranges and random numbers.

#include <cmath>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

// An array that gives itself at each run.
Kernel Always(Array value) {
    return [value = std::move(value)](const Inputs&) { return value; };
}

Array Vector(const std::vector<float>& values, Device& device) {
    return FromHost(Shape{static_cast<int64_t>(values.size())}, Dtype::kFloat32, values.data(), device);
}

Kernel Constant(const Node& node) {
    Device& device = node.device();
    if (node.Has("value")) return Always(node.Tensor("value"));
    if (node.Has("value_float"))
        return Always(Full(Shape{}, Scalar{node.Float("value_float")}, Dtype::kFloat32, device));
    if (node.Has("value_floats")) return Always(Vector(node.Floats("value_floats"), device));
    if (node.Has("value_int")) return Always(Full(Shape{}, Scalar{node.Int("value_int")}, Dtype::kInt64, device));
    if (node.Has("value_ints")) return Always(ToDevice(IntsArray(node.Ints("value_ints")), device));
    if (node.Has("sparse_value")) return Always(node.SparseTensor("sparse_value"));
    throw ModelError{"it has no value, or strings, which are not supported"};
}

Kernel ConstantOfShape(const Node& node) {
    IntsParameter wanted{node, "input"};
    Array value = node.Has("value") ? node.Tensor("value") : Zeros(Shape{1}, Dtype::kFloat32, node.device());
    if (value.GetTotalSize() != 1) throw ModelError{"its value has ", value.GetTotalSize(), " elements"};
    Scalar scalar = ReadScalar(value);
    Dtype dtype = value.dtype();
    Device* device = &node.device();
    return [wanted, scalar, dtype, device](const Inputs& in) {
        return Full(CheckedShape(wanted.Read(in), GetItemSize(dtype)), scalar, dtype, *device);
    };
}

Kernel EyeLike(const Node& node) {
    auto dtype = node.OptionalType("dtype");
    int64_t k = node.Int("k");
    return [dtype, k](const Inputs& in) {
        if (in[0].ndim() != 2) throw ModelError{"the shape is ", in[0].shape()};
        int64_t rows = in[0].shape()[0];
        int64_t columns = in[0].shape()[1];
        return Eye(rows, columns, std::min(std::max(k, -rows), columns), dtype.value_or(in[0].dtype()), in[0].device());
    };
}

Kernel Range(const Node& node) {
    Device* device = &node.device();
    return [device](const Inputs& in) {
        Dtype dtype = in[0].dtype();
        Scalar start = ReadScalar(in[0]);
        Scalar limit = ReadScalar(in[1]);
        Scalar delta = ReadScalar(in[2]);
        auto step = static_cast<double>(delta);
        if (step == 0) throw ModelError{"the step of the range is zero"};
        double count = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / step);
        if (!(count > 0)) return Empty(Shape{0}, dtype, *device);
        if (count > 1e15) throw ModelError{"the range has ", count, " elements"};
        auto n = static_cast<int64_t>(count);
        CheckedShape({n}, GetItemSize(dtype));
        Array out = Empty(Shape{n}, dtype, *device);
        kArangeKernel(*device, out, start, delta);
        return out;
    };
}

struct Distribution {
    bool is_normal;
    double first;   // low, or the mean
    double second;  // high, or the scale

    Array operator()(const Shape& shape, Dtype dtype, Device& device) const {
        CheckedShape(ToVector(shape), 8);
        return is_normal ? RandomNormal(shape, first, second, dtype, device)
                         : RandomUniform(shape, first, second, dtype, device);
    }
};

Distribution NormalOf(const Node& node) { return {true, node.Float("mean"), node.Float("scale")}; }
Distribution UniformOf(const Node& node) { return {false, node.Float("low"), node.Float("high")}; }

template <Distribution (*kDistribution)(const Node&)>
Kernel Random(const Node& node) {
    Distribution distribution = kDistribution(node);
    Dtype dtype = node.OptionalType("dtype").value_or(Dtype::kFloat32);
    Shape shape = CheckedShape(node.Ints("shape"), 8);
    Device* device = &node.device();
    return [=](const Inputs&) { return distribution(shape, dtype, *device); };
}

template <Distribution (*kDistribution)(const Node&)>
Kernel RandomLike(const Node& node) {
    Distribution distribution = kDistribution(node);
    auto dtype = node.OptionalType("dtype");
    return [=](const Inputs& in) { return distribution(in[0].shape(), dtype.value_or(in[0].dtype()), in[0].device()); };
}

Kernel Bernoulli(const Node& node) {
    auto dtype = node.OptionalType("dtype");
    return [dtype](const Inputs& in) {
        Array random = RandomUniform(in[0].shape(), 0, 1, Dtype::kFloat64, in[0].device());
        return Cast(Less(random, Cast(in[0], Dtype::kFloat64)), dtype.value_or(in[0].dtype()));
    };
}

Kernel Multinomial(const Node& node) {
    Dtype dtype = node.OptionalType("dtype").value_or(Dtype::kInt32);
    int64_t count = node.Int("sample_size");
    return [dtype, count](const Inputs& in) {
        // The largest of the log probabilities and Gumbel noise.
        const Array& x = in[0];
        if (x.ndim() != 2 || count < 0) throw ModelError{"the shape is ", x.shape()};
        Shape shape = CheckedShape({x.shape()[0], count, x.shape()[1]}, 8);
        Array noise = Negative(Log(Negative(Log(RandomUniform(shape, 1e-300, 1, Dtype::kFloat64, x.device())))));
        return Cast(ArgMax(ExpandDims(Cast(x, Dtype::kFloat64), 1) + noise, 2), dtype);
    };
}

const Operator kOperators[] = {
        {"Bernoulli", Bernoulli, Purity::kRandom},
        {"Constant", Constant},
        {"ConstantOfShape", ConstantOfShape},
        {"EyeLike", EyeLike},
        {"Multinomial", Multinomial, Purity::kRandom},
        {"RandomNormal", Random<NormalOf>, Purity::kRandom},
        {"RandomNormalLike", RandomLike<NormalOf>, Purity::kRandom},
        {"RandomUniform", Random<UniformOf>, Purity::kRandom},
        {"RandomUniformLike", RandomLike<UniformOf>, Purity::kRandom},
        {"Range", Range},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Generators)

}  // namespace chainerx::onnx
