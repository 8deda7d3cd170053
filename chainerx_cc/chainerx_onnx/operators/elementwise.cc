// Arithmetic and functions of each element.

#include <cmath>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

template <const auto& kFunction>
Kernel Unary(const Node& node) {
    node.Ignore({"consumed_inputs"});
    return [](const Inputs& in) { return kFunction(in[0]); };
}

// A function of floating point numbers; integers are rounded already.
template <const auto& kFunction>
Kernel Rounding(const Node& node) {
    node.Ignore({"consumed_inputs"});
    return [](const Inputs& in) { return IsFloat(in[0].dtype()) ? kFunction(in[0]) : in[0]; };
}

template <const auto& kFunction>
Kernel Binary(const Node& node) {
    LegacyBroadcast align{node};
    if (!align.axis) {
        return [](const Inputs& in) { return kFunction(in[0], in[1]); };
    }
    return [align](const Inputs& in) { return kFunction(in[0], align(in[0], in[1])); };
}

// Integers round towards zero.
Array Quotient(const Array& a, const Array& b) {
    if (IsFloat(a.dtype())) return a / b;
    return FloorDivide(a - Fmod(a, b), b);
}

Kernel Div(const Node& node) {
    LegacyBroadcast align{node};
    return [align](const Inputs& in) { return Quotient(in[0], align(in[0], in[1])); };
}

Kernel Pow(const Node& node) {
    LegacyBroadcast align{node};
    if (Array exponent = node.Constant(1); exponent && exponent.GetTotalSize() == 1 && exponent.ndim() == 0) {
        Scalar e = ReadScalar(exponent);
        return [e](const Inputs& in) {
            return IsFloat(in[0].dtype()) ? Power(in[0], e)
                                          : Cast(Power(Cast(in[0], Dtype::kFloat64), e), in[0].dtype());
        };
    }
    return [align](const Inputs& in) {
        Array a = in[0];
        Array b = align(a, in[1]);
        if (!IsFloat(a.dtype()) && IsFloat(b.dtype())) return Cast(Power(Cast(a, Dtype::kFloat64), b), a.dtype());
        return Power(a, Cast(b, a.dtype()));
    };
}

Kernel Mod(const Node& node) {
    bool fmod = node.Int("fmod", 0) != 0;
    return [fmod](const Inputs& in) { return fmod ? Fmod(in[0], in[1]) : Remainder(in[0], in[1]); };
}

template <const auto& kFunction>
Kernel Variadic(const Node& node) {
    node.Ignore({"consumed_inputs"});
    return [](const Inputs& in) {
        Array y = in[0];
        for (int i = 1; i < in.size(); ++i) y = kFunction(y, in[i]);
        return y;
    };
}

Kernel Mean(const Node& node) {
    node.Ignore({"consumed_inputs"});
    return [](const Inputs& in) {
        Array y = in[0];
        for (int i = 1; i < in.size(); ++i) y = y + in[i];
        return y / Scalar{in.size()};
    };
}

Kernel Clip(const Node& node) {
    node.Ignore({"consumed_inputs"});
    std::optional<double> least;
    std::optional<double> most;
    if (node.Has("min")) least = node.Float("min");
    if (node.Has("max")) most = node.Float("max");
    return [least, most](const Inputs& in) {
        Array y = in[0];
        if (least) y = Maximum(y, Scalar{*least});
        if (in.Has(1)) y = Maximum(y, in[1]);
        if (most) y = Minimum(y, Scalar{*most});
        if (in.Has(2)) y = Minimum(y, in[2]);
        return y;
    };
}

Kernel Atanh(const Node&) {
    return [](const Inputs& in) { return Scalar{0.5} * (Log1p(in[0]) - Log1p(Negative(in[0]))); };
}

Kernel Neg(const Node& node) {
    node.Ignore({"consumed_inputs"});
    return [](const Inputs& in) { return Negative(in[0]); };
}

Kernel BitShift(const Node& node) {
    bool left = node.Choice("direction", {"LEFT", "RIGHT"}) == 0;
    return [left](const Inputs& in) { return left ? LeftShift(in[0], in[1]) : RightShift(in[0], in[1]); };
}

Kernel IsInf(const Node& node) {
    bool negative = node.Int("detect_negative", 1) != 0;
    bool positive = node.Int("detect_positive", 1) != 0;
    return [negative, positive](const Inputs& in) {
        Array y = chainerx::IsInf(in[0]);
        if (!negative) y = LogicalAnd(y, Greater(in[0], Scalar{0.0}));
        if (!positive) y = LogicalAnd(y, Less(in[0], Scalar{0.0}));
        return y;
    };
}

const Operator kOperators[] = {
        {"Abs", 1, 1, Unary<Absolute>},
        {"Acos", 1, 1, Unary<Arccos>},
        {"Acosh", 1, 1, Unary<Arccosh>},
        {"Add", 2, 2, Binary<Add>},
        {"Asin", 1, 1, Unary<Arcsin>},
        {"Asinh", 1, 1, Unary<Arcsinh>},
        {"Atan", 1, 1, Unary<Arctan>},
        {"Atanh", 1, 1, Atanh},
        {"BitShift", 2, 2, BitShift},
        {"BitwiseAnd", 2, 2, Binary<BitwiseAnd>},
        {"BitwiseNot", 1, 1, Unary<Invert>},
        {"BitwiseOr", 2, 2, Binary<BitwiseOr>},
        {"BitwiseXor", 2, 2, Binary<BitwiseXor>},
        {"Ceil", 1, 1, Rounding<Ceil>},
        {"Clip", 1, 3, Clip},
        {"Cos", 1, 1, Unary<Cos>},
        {"Cosh", 1, 1, Unary<Cosh>},
        {"Div", 2, 2, Div},
        {"Erf", 1, 1, Unary<Erf>},
        {"Exp", 1, 1, Unary<Exp>},
        {"Floor", 1, 1, Rounding<Floor>},
        {"IsInf", 1, 1, IsInf},
        {"IsNaN", 1, 1, Unary<IsNan>},
        {"Log", 1, 1, Unary<Log>},
        {"Max", 1, kAnyNumber, Variadic<Maximum>},
        {"Mean", 1, kAnyNumber, Mean},
        {"Min", 1, kAnyNumber, Variadic<Minimum>},
        {"Mod", 2, 2, Mod},
        {"Mul", 2, 2, Binary<Multiply>},
        {"Neg", 1, 1, Neg},
        {"Pow", 2, 2, Pow},
        {"Reciprocal", 1, 1, Unary<Reciprocal>},
        {"Round", 1, 1, Rounding<Rint>},
        {"Sign", 1, 1, Unary<Sign>},
        {"Sin", 1, 1, Unary<Sin>},
        {"Sinh", 1, 1, Unary<Sinh>},
        {"Sqrt", 1, 1, Unary<Sqrt>},
        {"Sub", 2, 2, Binary<Subtract>},
        {"Sum", 1, kAnyNumber, Variadic<Add>},
        {"Tan", 1, 1, Unary<Tan>},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Elementwise)

}  // namespace chainerx::onnx
