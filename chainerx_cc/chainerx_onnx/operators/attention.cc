// Attention.

#include <cmath>
#include <limits>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

// (batch, sequence, heads * size) as (batch, heads, sequence, size).
Array SplitHeads(const Array& x, int64_t count) {
    if (x.ndim() == 4) return x;
    if (x.ndim() != 3 || count < 1 || x.shape()[2] % count != 0) {
        throw ModelError{count, " heads for the shape ", x.shape()};
    }
    const Shape& s = x.shape();
    return Transpose(Reshape(x, Shape{s[0], s[1], count, s[2] / count}), Axes{0, 2, 1, 3});
}

// Keys or values whose heads serve groups of the queries' heads.
Array RepeatHeads(const Array& x, int64_t heads) {
    Shape s = x.shape();
    if (s[1] == heads) return x;
    if (s[1] < 1 || heads % s[1] != 0) throw ModelError{heads, " heads of queries for ", s[1], " heads of keys"};
    Array wide = BroadcastTo(ExpandDims(x, 2), Shape{s[0], s[1], heads / s[1], s[2], s[3]});
    return Reshape(wide, Shape{s[0], heads, s[2], s[3]});
}

Array Steps(int64_t count, const Shape& shape, Device& device) {
    return Reshape(Arange(Scalar{0}, Scalar{count}, Scalar{1}, Dtype::kInt64, device), shape);
}

struct Visibility {
    bool causal;
    int64_t left;
    int64_t right;

    // Which keys the queries see by their places: an array to broadcast, or no array for all.
    Array operator()(int64_t rows, int64_t columns, int64_t past, const Array& lengths, Device& device) const {
        if (!causal && left < 0 && right < 0 && !lengths) return {};
        Array key = Steps(columns, Shape{1, 1, 1, columns}, device);
        Array place = Steps(rows, Shape{1, 1, rows, 1}, device);
        Array seen;
        auto also = [&seen](const Array& a) { seen = seen ? LogicalAnd(seen, a) : a; };
        if (lengths) {
            Array count = Reshape(Cast(lengths, Dtype::kInt64), Shape{lengths.GetTotalSize(), 1, 1, 1});
            also(Less(key, count));
            place = past > 0 ? place + Scalar{past} : place + count - Scalar{rows};
        } else {
            place = place + Scalar{past};
        }
        if (causal) also(LessEqual(key, place));
        if (left >= 0) also(GreaterEqual(key, place - Scalar{left}));
        if (right >= 0) also(LessEqual(key, place + Scalar{right}));
        return seen;
    }
};

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

Array HideWhereNot(const Array& scores, const Array& allowed) { return Where(allowed, scores, Scalar{kMinusInfinity}); }

// The softmax of the last axis, in which rows of minus infinity give zeros.
Array SafeSoftmax(const Array& scores) {
    auto last = static_cast<int8_t>(scores.ndim() - 1);
    Array dead = Equal(AMax(scores, Axes{last}, true), Scalar{kMinusInfinity});
    return Where(dead, Scalar{0}, Softmax(Where(dead, Scalar{0}, scores), Axes{last}));
}

Kernel AttentionNode(const Node& node) {
    int64_t q_heads = node.OptionalInt("q_num_heads").value_or(0);
    int64_t kv_heads = node.OptionalInt("kv_num_heads").value_or(0);
    Visibility visible{node.Flag("is_causal"), node.Int("left_window_size"), node.Int("right_window_size")};
    int64_t mode = node.Int("qk_matmul_output_mode");
    std::optional<double> scale = node.OptionalFloat("scale");
    double softcap = node.Float("softcap");
    std::optional<Dtype> precision = node.OptionalType("softmax_precision");
    bool wants_scores = node.HasOutput(3);
    if (mode < 0 || mode > 3) throw ModelError{"its qk_matmul_output_mode is ", mode};
    return [=](const Inputs& in) -> Arrays {
        bool is_flat = in[0].ndim() == 3;
        Array query = SplitHeads(in[0], q_heads);
        Array key = SplitHeads(in[1], kv_heads);
        Array value = SplitHeads(in[2], kv_heads);
        Dtype dtype = query.dtype();
        int64_t past = 0;
        if (in.Has(4) && in.Has(5)) {
            if (in[4].ndim() != 4) throw ModelError{"the past has the shape ", in[4].shape()};
            past = in[4].shape()[2];
            key = Concatenate({in[4], key}, 2);
            value = Concatenate({in[5], value}, 2);
        }
        int64_t heads = query.shape()[1];
        int64_t rows = query.shape()[2];
        double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.shape()[3])));
        Array lengths = in.Has(6) ? in[6] : Array{};
        Array keys = RepeatHeads(key, heads);
        Array values = RepeatHeads(value, heads);
        int64_t columns = keys.shape()[2];
        Array seen = visible(rows, columns, past, lengths, query.device());
        Array mask = in.Has(3) ? in[3] : Array{};
        auto finish = [&](const Array& y4) {
            Array y = y4;
            if (is_flat) {
                y = Transpose(y, Axes{0, 2, 1, 3});
                y = Reshape(y, Shape{y.shape()[0], rows, y.shape()[2] * y.shape()[3]});
            }
            return y;
        };
        if (mask && mask.ndim() == 0) throw ModelError{"its mask has no axes"};
        bool is_plain = !wants_scores && softcap == 0 && !precision && dtype == Dtype::kFloat32 &&
                        (!mask || (!seen && mask.shape()[mask.ndim() - 1] == columns));
        if (is_plain && columns > 0) {
            std::optional<Array> allowed;
            bool is_triangle = seen && visible.causal && visible.left < 0 && visible.right < 0 && !lengths && past == 0;
            if (mask) allowed = mask;
            if (seen && !is_triangle) allowed = seen;
            return {finish(ScaledDotProductAttention(query, keys, values, allowed, factor, is_triangle)), key, value};
        }
        double root = std::sqrt(factor);
        Array stages[4];
        stages[0] = Matmul(query * Scalar{root}, Transpose(keys * Scalar{root}, Axes{0, 1, 3, 2}));
        stages[1] = softcap != 0 ? Scalar{softcap} * Tanh(stages[0] / Scalar{softcap}) : stages[0];
        stages[2] = stages[1];
        if (mask && mask.shape()[mask.ndim() - 1] < columns) {
            int64_t width = mask.shape()[mask.ndim() - 1];
            Array inside = Less(Steps(columns, Shape{1, 1, 1, columns}, mask.device()), Scalar{width});
            seen = seen ? LogicalAnd(seen, inside) : inside;
            std::vector<std::vector<int64_t>> widths(mask.ndim(), {0, 0});
            widths.back() = {0, columns - width};
            mask = Pad(mask, Sides<int64_t>{widths});
        }
        if (mask) stages[2] = IsFloat(mask.dtype()) ? stages[2] + mask : HideWhereNot(stages[2], mask);
        if (seen) stages[2] = HideWhereNot(stages[2], seen);
        stages[3] = Cast(SafeSoftmax(Cast(stages[2], precision.value_or(dtype))), dtype);
        return {finish(Matmul(stages[3], values)), key, value, stages[mode]};
    };
}

Kernel RotaryEmbedding(const Node& node) {
    bool interleaved = node.Flag("interleaved");
    int64_t heads = node.OptionalInt("num_heads").value_or(0);
    int64_t rotary = node.Int("rotary_embedding_dim");
    return [interleaved, heads, rotary](const Inputs& in) {
        bool is_flat = in[0].ndim() == 3;
        // (batch, sequence, heads, size)
        Array x = is_flat ? Transpose(SplitHeads(in[0], heads), Axes{0, 2, 1, 3}) : Transpose(in[0], Axes{0, 2, 1, 3});
        int64_t size = x.shape()[3];
        int64_t width = rotary == 0 ? size : rotary;
        if (width < 0 || width > size || width % 2 != 0) throw ModelError{"rotary_embedding_dim is ", rotary};
        Array cos = in[1];
        Array sin = in[2];
        if (in.Has(3)) {
            cos = Take(cos, in[3], 0);
            sin = Take(sin, in[3], 0);
        }
        cos = ExpandDims(SliceAxis(cos, cos.ndim() - 1, 0, width / 2), cos.ndim() - 1);
        sin = ExpandDims(SliceAxis(sin, sin.ndim() - 1, 0, width / 2), sin.ndim() - 1);
        Array turned = SliceAxis(x, 3, 0, width);
        int64_t half = width / 2;
        Array a = interleaved ? SliceAxis(turned, 3, 0, width, 2) : SliceAxis(turned, 3, 0, half);
        Array b = interleaved ? SliceAxis(turned, 3, 1, width, 2) : SliceAxis(turned, 3, half, width);
        Array real = cos * a - sin * b;
        Array imaginary = sin * a + cos * b;
        Array y =
                interleaved ? Reshape(Stack({real, imaginary}, 4), turned.shape()) : Concatenate({real, imaginary}, 3);
        if (width < size) y = Concatenate({y, SliceAxis(x, 3, width, size)}, 3);
        return is_flat ? Reshape(y, in[0].shape()) : Transpose(y, Axes{0, 2, 1, 3});
    };
}

const Operator kOperators[] = {
        {"Attention", AttentionNode},
        {"RotaryEmbedding", RotaryEmbedding},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Attention)

}  // namespace chainerx::onnx
