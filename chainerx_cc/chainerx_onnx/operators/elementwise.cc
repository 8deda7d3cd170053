// Arithmetic, comparisons, logic and functions of each element.

#include <numeric>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

// A function of floating point numbers; integers are rounded already.
template <const auto& kFunction>
Array Rounded(const Array& x) {
    return IsFloat(x.dtype()) ? kFunction(x) : x;
}

// Integers round towards zero.
Array Quotient(const Array& a, const Array& b) {
    if (IsFloat(a.dtype())) return a / b;
    return FloorDivide(a - Fmod(a, b), b);
}

// A variadic operator; one input is the result.
template <const auto& kFunction>
Array Combined(const Arrays& xs) {
    return std::accumulate(xs.begin() + 1, xs.end(), xs[0], kFunction);
}

Array Mean(const Arrays& xs) { return Combined<Add>(xs) / Scalar{static_cast<int64_t>(xs.size())}; }

Kernel Pow(const Node& node) {
    LegacyBroadcast align{node};
    std::optional<Scalar> known;
    if (Array exponent = node.Constant(1); exponent && exponent.ndim() == 0) known = AsScalar(exponent);
    return [align, known](const Inputs& in) {
        bool is_wide = !IsFloat(in[0].dtype()) && (known || IsFloat(in[1].dtype()));
        Array base = is_wide ? Cast(in[0], Dtype::kFloat64) : in[0];
        Array y = known ? Power(base, *known) : Power(base, Cast(align(base, in[1]), base.dtype()));
        return Cast(y, in[0].dtype());
    };
}

Array Mod(const Array& a, const Array& b, bool fmod) { return fmod ? Fmod(a, b) : Remainder(a, b); }

// The limits are inputs from opset 11 on, attributes before.
Array Clip(const Array& x, const Array& least, const Array& most, const std::optional<double>& min,
           const std::optional<double>& max) {
    Array y = x;
    if (min) y = Maximum(y, Scalar{*min});
    if (least) y = Maximum(y, least);
    if (max) y = Minimum(y, Scalar{*max});
    if (most) y = Minimum(y, most);
    return y;
}

enum class Direction { kLeft, kRight };

Array BitShift(const Array& a, const Array& b, Direction direction) {
    return direction == Direction::kLeft ? LeftShift(a, b) : RightShift(a, b);
}

Array IsInf(const Array& x, bool negative, bool positive) {
    Array y = chainerx::IsInf(x);
    if (!negative) y = LogicalAnd(y, Greater(x, Scalar{0.0}));
    if (!positive) y = LogicalAnd(y, Less(x, Scalar{0.0}));
    return y;
}

Array WhereOf(const Array& condition, const Array& x, const Array& y) { return chainerx::Where(condition, x, y); }

}  // namespace

const OperatorTable kElementwiseOperators = {
        {"Abs", Unary<Absolute>},
        {"Acos", Unary<Arccos>},
        {"Acosh", Unary<Arccosh>},
        {"Add", Binary<Add>},
        {"And", Binary<LogicalAnd>},
        {"Asin", Unary<Arcsin>},
        {"Asinh", Unary<Arcsinh>},
        {"Atan", Unary<Arctan>},
        {"Atanh", Unary<Arctanh>},
        {"BitShift", Call<BitShift>, "direction"},
        {"BitwiseAnd", Binary<BitwiseAnd>},
        {"BitwiseNot", Unary<Invert>},
        {"BitwiseOr", Binary<BitwiseOr>},
        {"BitwiseXor", Binary<BitwiseXor>},
        {"Ceil", Call<Rounded<Ceil>>},
        {"Clip", Call<Clip>, "min max"},
        {"Cos", Unary<Cos>},
        {"Cosh", Unary<Cosh>},
        {"Div", Binary<Quotient>},
        {"Equal", Binary<Equal>, "", Purity::kPure, "", Operands::kCompared},
        {"Erf", Unary<Erf>},
        {"Exp", Unary<Exp>},
        {"Floor", Call<Rounded<Floor>>},
        {"Greater", Binary<Greater>},
        {"GreaterOrEqual", Binary<GreaterEqual>},
        {"IsInf", Call<IsInf>, "detect_negative detect_positive"},
        {"IsNaN", Unary<IsNan>},
        {"Less", Binary<Less>},
        {"LessOrEqual", Binary<LessEqual>},
        {"Log", Unary<Log>},
        {"Max", Call<Combined<Maximum>>},
        {"Mean", Call<Mean>},
        {"Min", Call<Combined<Minimum>>},
        {"Mod", Call<Mod>, "fmod"},
        {"Mul", Binary<Multiply>},
        {"Neg", Unary<Negative>},
        {"Not", Unary<LogicalNot>},
        {"Or", Binary<LogicalOr>},
        {"Pow", Pow},
        {"Reciprocal", Unary<Reciprocal>},
        {"Round", Call<Rounded<Rint>>},
        {"Sign", Unary<Sign>},
        {"Sin", Unary<Sin>},
        {"Sinh", Unary<Sinh>},
        {"Sqrt", Unary<Sqrt>},
        {"Sub", Binary<Subtract>},
        {"Sum", Call<Combined<Add>>},
        {"Tan", Unary<Tan>},
        {"Where", Call<WhereOf>, "", Purity::kPure, "", Operands::kMoved},
        {"Xor", Binary<LogicalXor>},
};

}  // namespace chainerx::onnx
