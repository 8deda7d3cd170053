// Attention.

#include <cmath>

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

// Which keys the queries see by their places: an array to broadcast, or no array for all.
Array Visible(int64_t rows, int64_t columns, int64_t past, const Array& lengths, bool causal, int64_t left,
              int64_t right, Device& device) {
    if (!causal && left < 0 && right < 0 && !lengths) return {};
    Array key = Reshape(Steps(columns, 0, device), Shape{1, 1, 1, columns});
    Array place = Reshape(Steps(rows, 1, device), Shape{1, 1, rows, 1});
    Array seen;
    auto also = [&seen](const Array& a) { seen = seen ? LogicalAnd(seen, a) : a; };
    if (lengths) {
        Array count = AsAxis(Cast(lengths, Dtype::kInt64), 3);
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

Array HideWhereNot(const Array& scores, const Array& allowed) { return Where(allowed, scores, Scalar{-kInfinity}); }

// The softmax of the last axis, in which rows of minus infinity give zeros.
Array SafeSoftmax(const Array& scores) {
    Axes last{LastAxis(scores)};
    Array dead = Equal(AMax(scores, last, true), Scalar{-kInfinity});
    return Where(dead, Scalar{0}, Softmax(Where(dead, Scalar{0}, scores), last));
}

Arrays AttentionNode(const Array& q, const Array& k, const Array& v, const Array& given_mask, const Array& past_key,
                     const Array& past_value, const Array& lengths, const WantedOutputs& wanted, bool causal,
                     int64_t left, int64_t right, const std::optional<int64_t>& q_heads,
                     const std::optional<int64_t>& kv_heads, int64_t mode, const std::optional<double>& scale,
                     double softcap, const std::optional<Dtype>& precision) {
    bool is_flat = q.ndim() == 3;
    Array query = SplitHeads(q, q_heads.value_or(0));
    Array key = SplitHeads(k, kv_heads.value_or(0));
    Array value = SplitHeads(v, kv_heads.value_or(0));
    Dtype dtype = query.dtype();
    int64_t past = 0;
    if (past_key && past_value) {
        if (past_key.ndim() != 4) throw ModelError{"the past has the shape ", past_key.shape()};
        past = past_key.shape()[2];
        key = Concatenate({past_key, key}, 2);
        value = Concatenate({past_value, value}, 2);
    }
    int64_t heads = query.shape()[1];
    int64_t rows = query.shape()[2];
    double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.shape()[3])));
    Array keys = RepeatHeads(key, heads);
    Array values = RepeatHeads(value, heads);
    int64_t columns = keys.shape()[2];
    Array seen = Visible(rows, columns, past, lengths, causal, left, right, query.device());
    Array mask = given_mask;
    auto finish = [&](const Array& y) {
        if (!is_flat) return y;
        return Reshape(Transpose(y, Axes{0, 2, 1, 3}), Shape{y.shape()[0], rows, heads * y.shape()[3]});
    };
    if (mask && mask.ndim() == 0) throw ModelError{"its mask has no axes"};
    bool is_plain = !wanted[3] && softcap == 0 && !precision && dtype == Dtype::kFloat32 &&
                    (!mask || (!seen && mask.shape()[mask.ndim() - 1] == columns));
    if (is_plain && columns > 0) {
        std::optional<Array> allowed;
        bool is_triangle = seen && causal && left < 0 && right < 0 && !lengths && past == 0;
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
        Array inside = Less(Steps(columns, 0, mask.device()), Scalar{width});
        seen = seen ? LogicalAnd(seen, inside) : inside;
        mask = PadAxis(mask, mask.ndim() - 1, 0, columns - width);
    }
    if (mask) stages[2] = IsFloat(mask.dtype()) ? stages[2] + mask : HideWhereNot(stages[2], mask);
    if (seen) stages[2] = HideWhereNot(stages[2], seen);
    stages[3] = Cast(SafeSoftmax(Cast(stages[2], precision.value_or(dtype))), dtype);
    return {finish(Matmul(stages[3], values)), key, value, stages[mode]};
}

Array RotaryEmbedding(const Array& input, const Array& cos_cache, const Array& sin_cache, const Array& positions,
                      bool interleaved, const std::optional<int64_t>& heads, int64_t rotary) {
    bool is_flat = input.ndim() == 3;
    // (batch, sequence, heads, size)
    Array x = Transpose(is_flat ? SplitHeads(input, heads.value_or(0)) : input, Axes{0, 2, 1, 3});
    int64_t size = x.shape()[3];
    int64_t width = rotary == 0 ? size : rotary;
    if (width < 0 || width > size || width % 2 != 0) throw ModelError{"rotary_embedding_dim is ", rotary};
    int64_t half = width / 2;
    auto rows = [&](const Array& cache) {
        Array a = positions ? Take(cache, positions, 0) : cache;
        return ExpandDims(SliceAxis(a, a.ndim() - 1, 0, half), a.ndim() - 1);
    };
    Array cos = rows(cos_cache);
    Array sin = rows(sin_cache);
    Array turned = SliceAxis(x, 3, 0, width);
    Array a = interleaved ? SliceAxis(turned, 3, 0, width, 2) : SliceAxis(turned, 3, 0, half);
    Array b = interleaved ? SliceAxis(turned, 3, 1, width, 2) : SliceAxis(turned, 3, half, width);
    Array real = cos * a - sin * b;
    Array imaginary = sin * a + cos * b;
    Array y = interleaved ? Reshape(Stack({real, imaginary}, 4), turned.shape()) : Concatenate({real, imaginary}, 3);
    if (width < size) y = Concatenate({y, SliceAxis(x, 3, width, size)}, 3);
    return is_flat ? Reshape(y, input.shape()) : Transpose(y, Axes{0, 2, 1, 3});
}

}  // namespace

const OperatorTable kAttentionOperators = {
        {"Attention", Call<AttentionNode>,
         "is_causal left_window_size right_window_size q_num_heads kv_num_heads qk_matmul_output_mode scale softcap "
         "softmax_precision"},
        {"RotaryEmbedding", Call<RotaryEmbedding>, "interleaved num_heads rotary_embedding_dim"},
};

}  // namespace chainerx::onnx
