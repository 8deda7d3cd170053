#pragma once

// What the families of operators share. Their files are tables of operators; each reads its node and returns what the
// node does at each run.

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "chainerx/chainerx.h"
#include "chainerx_onnx/error.h"
#include "chainerx_onnx/kernel.h"
#include "chainerx_onnx/node.h"
#include "chainerx_onnx/registry.h"
#include "chainerx_onnx/tensor.h"

namespace chainerx::onnx {

// Integers that are an attribute in some opsets and an input in others. An input that is known at load is read then.
class IntsParameter {
public:
    // `name`: of the attribute and of the input.
    IntsParameter(const Node& node, const char* name) : input_{node.InputOf(name)} {
        if (const AttributeMessage* attribute = node.Peek(name)) {
            known_ = attribute->type == AttributeType::kInt ? std::vector{attribute->i} : node.Ints(name);
        } else if (input_ >= 0 && node.HasInput(input_)) {
            if (Array constant = node.Constant(input_)) known_ = ReadInts(constant);
        } else {
            input_ = -1;
        }
        is_given_ = known_ || input_ >= 0;
    }

    bool is_given() const { return is_given_; }
    bool is_known() const { return known_.has_value(); }
    // The values; none if they are not given.
    std::vector<int64_t> Read(const Inputs& in) const {
        if (known_) return *known_;
        return input_ >= 0 && in.Has(input_) ? ReadInts(in[input_]) : std::vector<int64_t>{};
    }
    // The only value.
    int64_t ReadOne(const Inputs& in, int64_t value = 0) const {
        if (!is_given_) return value;
        std::vector<int64_t> values = Read(in);
        if (values.size() != 1) throw ModelError{"expected one integer, not ", values.size()};
        return values[0];
    }

private:
    int input_;
    bool is_given_;
    std::optional<std::vector<int64_t>> known_;
};

// An axis, which may be negative. Raises ModelError if there is none.
inline int8_t CheckAxis(int64_t axis, int ndim) {
    if (axis < -ndim || axis >= ndim) throw ModelError{"there is no axis ", axis, " among ", ndim};
    return static_cast<int8_t>(axis < 0 ? axis + ndim : axis);
}

inline Axes CheckAxes(const std::vector<int64_t>& axes, int ndim) {
    Axes out;
    for (int64_t axis : axes) out.push_back(CheckAxis(axis, ndim));
    return out;
}

// The size of a part of a shape.
inline int64_t SizeOf(const Shape& shape, int begin, int end) {
    int64_t size = 1;
    for (int i = begin; i < end; ++i) size *= shape[i];
    return size;
}

inline std::vector<int64_t> ToVector(const Shape& shape) { return {shape.begin(), shape.end()}; }

// In the dtype, which rounds as a cast does.
inline Array Cast(const Array& x, Dtype dtype) { return AsType(x, dtype, false); }

// Elements of an axis: begin, begin + step, ... below (or above) end.
inline Array SliceAxis(const Array& x, int axis, int64_t begin, int64_t end, int64_t step = 1) {
    ArrayIndices indices(axis, Slice{});
    indices.push_back(Slice{begin, end, step});
    return At(x, indices);
}

// A function of the first input.
template <const auto& kFunction>
Kernel Unary(const Node&) {
    return [](const Inputs& in) { return kFunction(in[0]); };
}

// A function f(x, attributes...) of the first input and of attributes that are floating point numbers.
template <class F, class... Names>
Kernel WithFloats(const Node& node, F f, Names... names) {
    return [f, values = std::make_tuple(node.Float(names)...)](const Inputs& in) {
        return std::apply([&](auto... each) { return f(in[0], each...); }, values);
    };
}

// The element of an array with one element.
inline Scalar ReadScalar(const Array& a) { return AsScalar(a); }

// Elements of x at indices along an axis, in the shape of the indices (gathering.cc).
Array TakeAlong(const Array& x, const Array& indices, int axis);
// Their places in the flattened array of the given shape.
std::vector<int64_t> PlacesAlong(const Array& indices, const Shape& shape, int axis);

// b with ones behind its shape so that its axes are those of a from `axis` on: opsets below 7 align so.
struct LegacyBroadcast {
    explicit LegacyBroadcast(const Node& node) {
        if (node.opset() < 7 && node.Has("broadcast") && node.Flag("broadcast")) axis = node.OptionalInt("axis");
    }
    Array operator()(const Array& a, const Array& b) const {
        if (!axis) return b;
        int first = CheckAxis(*axis, a.ndim());
        Shape shape = b.shape();
        for (int i = first + b.ndim(); i < a.ndim(); ++i) shape.push_back(1);
        return Reshape(b, shape);
    }
    std::optional<int64_t> axis;
};

// A function of two inputs, which are aligned as opsets below 7 say.
template <const auto& kFunction>
Kernel Binary(const Node& node) {
    LegacyBroadcast align{node};
    if (!align.axis) return [](const Inputs& in) { return kFunction(in[0], in[1]); };
    return [align](const Inputs& in) { return kFunction(in[0], align(in[0], in[1])); };
}

}  // namespace chainerx::onnx
