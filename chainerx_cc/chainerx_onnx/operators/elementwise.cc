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
    if (Array exponent = node.Constant(1); exponent && exponent.GetTotalSize() == 1 && exponent.ndim() == 0) {
        Scalar e = AsScalar(exponent);
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
