// Arithmetic and functions of each element.

#include <cmath>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

// A function of floating point numbers; integers are rounded already.
template <const auto& kFunction>
Kernel Rounding(const Node& /*node*/) {
    return [](const Inputs& in) { return IsFloat(in[0].dtype()) ? kFunction(in[0]) : in[0]; };
}

// Integers round towards zero.
Array Quotient(const Array& a, const Array& b) {
    if (IsFloat(a.dtype())) return a / b;
    return FloorDivide(a - Fmod(a, b), b);
}

// A variadic operator; one input is the result.
template <const auto& kFunction>
Array Combined(const Inputs& in) {
    Array y = in[0];
    for (int i = 1; i < in.size(); ++i) y = kFunction(y, in[i]);
    return y;
}

template <const auto& kFunction>
Kernel Variadic(const Node&) {
    return [](const Inputs& in) { return Combined<kFunction>(in); };
}

Kernel Mean(const Node&) {
    return [](const Inputs& in) { return Combined<Add>(in) / Scalar{in.size()}; };
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
    bool fmod = node.Flag("fmod");
    return [fmod](const Inputs& in) { return fmod ? Fmod(in[0], in[1]) : Remainder(in[0], in[1]); };
}

Kernel Clip(const Node& node) {
    std::optional<double> least = node.OptionalFloat("min");
    std::optional<double> most = node.OptionalFloat("max");
    return [least, most](const Inputs& in) {
        Array y = in[0];
        if (least) y = Maximum(y, Scalar{*least});
        if (in.Has(1)) y = Maximum(y, in[1]);
        if (most) y = Minimum(y, Scalar{*most});
        if (in.Has(2)) y = Minimum(y, in[2]);
        return y;
    };
}

Array Atanh(const Array& x) { return Scalar{0.5} * (Log1p(x) - Log1p(Negative(x))); }

Kernel BitShift(const Node& node) {
    bool left = node.Choice("direction", {"LEFT", "RIGHT"}) == 0;
    return [left](const Inputs& in) { return left ? LeftShift(in[0], in[1]) : RightShift(in[0], in[1]); };
}

Kernel IsInf(const Node& node) {
    bool negative = node.Flag("detect_negative");
    bool positive = node.Flag("detect_positive");
    return [negative, positive](const Inputs& in) {
        Array y = chainerx::IsInf(in[0]);
        if (!negative) y = LogicalAnd(y, Greater(in[0], Scalar{0.0}));
        if (!positive) y = LogicalAnd(y, Less(in[0], Scalar{0.0}));
        return y;
    };
}

const Operator kOperators[] = {
        {"Abs", Unary<Absolute>},
        {"Acos", Unary<Arccos>},
        {"Acosh", Unary<Arccosh>},
        {"Add", Binary<Add>},
        {"Asin", Unary<Arcsin>},
        {"Asinh", Unary<Arcsinh>},
        {"Atan", Unary<Arctan>},
        {"Atanh", Unary<Atanh>},
        {"BitShift", BitShift},
        {"BitwiseAnd", Binary<BitwiseAnd>},
        {"BitwiseNot", Unary<Invert>},
        {"BitwiseOr", Binary<BitwiseOr>},
        {"BitwiseXor", Binary<BitwiseXor>},
        {"Ceil", Rounding<Ceil>},
        {"Clip", Clip},
        {"Cos", Unary<Cos>},
        {"Cosh", Unary<Cosh>},
        {"Div", Binary<Quotient>},
        {"Erf", Unary<Erf>},
        {"Exp", Unary<Exp>},
        {"Floor", Rounding<Floor>},
        {"IsInf", IsInf},
        {"IsNaN", Unary<IsNan>},
        {"Log", Unary<Log>},
        {"Max", Variadic<Maximum>},
        {"Mean", Mean},
        {"Min", Variadic<Minimum>},
        {"Mod", Mod},
        {"Mul", Binary<Multiply>},
        {"Neg", Unary<Negative>},
        {"Pow", Pow},
        {"Reciprocal", Unary<Reciprocal>},
        {"Round", Rounding<Rint>},
        {"Sign", Unary<Sign>},
        {"Sin", Unary<Sin>},
        {"Sinh", Unary<Sinh>},
        {"Sqrt", Unary<Sqrt>},
        {"Sub", Binary<Subtract>},
        {"Sum", Variadic<Add>},
        {"Tan", Unary<Tan>},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Elementwise)

}  // namespace chainerx::onnx
