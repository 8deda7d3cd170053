#include "chainerx/ops/attention.h"

#include <cmath>
#include <limits>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/matrices.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const AttentionKernel kAttentionKernel{"attention"};
const AttentionGradKernel kAttentionGradKernel{"attention_grad"};

namespace {

constexpr const char* kAttentionName = "scaled_dot_product_attention";

// Below all scores, but finite, so that a row without keys does not give NaN.
Scalar Lowest(Dtype dtype) {
    switch (dtype) {
        case Dtype::kFloat16:
            return Scalar{-6e4};
        case Dtype::kBfloat16:
        case Dtype::kFloat32:
            return Scalar{-1e38};
        default:
            return Scalar{-1e300};
    }
}

struct AttentionBackward {
    Saved q;
    Saved k;
    Saved v;
    Saved mask;  // or none
    Array log_sum;
    AttentionOptions options;

    void operator()(BackwardContext& ctx) const {
        const Array& qs = q.Get();
        const Array& ks = k.Get();
        const Array& vs = v.Get();
        Array ms = mask ? mask.Get() : Array{};
        const Array& gy = ctx.grad();
        Array grads[4];
        // The gradient of a mask is as large as the scores, so blocks would save no memory.
        if (ctx.IsWanted(3) || internal::GetRecordMask({&qs, &ks, &vs, &ms, &gy}) != 0) {
            Compose(qs, ks, vs, ms, gy, grads);
        } else {
            grads[0] = EmptyLike(qs);
            grads[1] = EmptyLike(ks);
            grads[2] = EmptyLike(vs);
            kAttentionGradKernel(qs.device(), qs, ks, vs, ms, options, log_sum, gy, grads[0], grads[1], grads[2]);
        }
        for (size_t i = 0; i < 4; ++i) {
            if (ctx.IsWanted(i)) ctx.SetGrad(i, grads[i]);
        }
    }

    // Written with differentiable operations.
    void Compose(const Array& qs, const Array& ks, const Array& vs, const Array& ms, const Array& gy,
                 Array* grads) const {
        Dtype dtype = qs.dtype();
        Array scores = Matmul(qs, matrices::T(ks)) * Scalar{options.scale};
        Array allowed;
        if (ms) {
            bool is_bias = IsFloat(ms.dtype());
            allowed = is_bias ? NotEqual(ms.AsDetached(), Scalar{-std::numeric_limits<double>::infinity()}) : ms;
            if (is_bias) scores = scores + Where(allowed, AsType(ms, dtype, false), Scalar{0});
        }
        if (options.causal) {
            int8_t n = scores.ndim();
            Array lower = Tri(scores.shape()[n - 2], scores.shape()[n - 1], 0, Dtype::kBool, qs.device());
            allowed = allowed ? LogicalAnd(allowed, lower) : BroadcastTo(lower, scores.shape());
        }
        Axes last{static_cast<int8_t>(scores.ndim() - 1)};
        Array weights = Softmax(allowed ? Where(allowed, scores, Lowest(dtype)) : scores, last);
        if (allowed) weights = Where(allowed, weights, Scalar{0});
        Array gweights = Matmul(gy, matrices::T(vs));
        Array gscores = weights * (gweights - Sum(weights * gweights, last, true));
        grads[0] = Matmul(gscores, ks) * Scalar{options.scale};
        grads[1] = Matmul(matrices::T(gscores), qs) * Scalar{options.scale};
        grads[2] = Matmul(matrices::T(weights), gy);
        if (ms && IsFloat(ms.dtype())) grads[3] = AsType(gscores, ms.dtype(), false);
    }
};

// All of one dtype and with the same leading dimensions.
Array Attend(const Array& q, const Array& k, const Array& v, const Array& mask, const AttentionOptions& options) {
    Shape shape = q.shape();
    Dtype compute = q.dtype() == Dtype::kFloat64 ? Dtype::kFloat64 : Dtype::kFloat32;
    Array log_sum = Empty(Shape(shape.begin(), shape.end() - 1), compute, q.device());
    shape.back() = v.shape().back();
    Array y = Empty(shape, q.dtype(), q.device());
    kAttentionKernel(q.device(), q, k, v, mask, options, y, log_sum);
    if (GraphMask record = internal::GetRecordMask({&q, &k, &v, &mask})) {
        internal::Record(
                kAttentionName, record, {&q, &k, &v, &mask}, {&y},
                AttentionBackward{Saved{q}, Saved{k}, Saved{v}, mask ? Saved{mask} : Saved{}, log_sum, options});
    }
    return y;
}

void CheckMatrices(const char* name, const Array& a) {
    if (!IsFloat(a.dtype())) {
        throw DtypeError{kAttentionName, ": ", name, " must be of a floating point dtype, not ", a.dtype()};
    }
    if (a.ndim() < 2) {
        throw DimensionError{kAttentionName, ": ", name, " must have at least 2 dimensions, has shape ", a.shape()};
    }
}

}  // namespace

CHAINERX_ROUTINE(ScaledDotProductAttention, "scaled_dot_product_attention",
                 "q, k, v, mask=None, scale=None, causal=False", "attention attention_grad", R"(
Attention :math:`\mathrm{softmax}(s \, q k^\top + m) \, v` of queries to keys and values.

The matrix of weights is not kept. A query that attends to no key gives zero. Differentiable any number of times with
respect to ``q``, ``k`` and ``v``.

Args:
    q (~chainerx.ndarray): Queries of shape :math:`(..., L, E)`.
    k (~chainerx.ndarray): Keys of shape :math:`(..., S, E)`.
    v (~chainerx.ndarray): Values of shape :math:`(..., S, D)`.
    mask (~chainerx.ndarray or None): Array that broadcasts to :math:`(..., L, S)`: booleans, true where a query
        attends to a key, or numbers :math:`m` that are added.
    scale (float or None): Factor :math:`s`; :math:`1 / \sqrt{E}` unless given.
    causal (bool): Whether a query attends to keys up to its own position only.

Returns:
    ~chainerx.ndarray: Array of shape :math:`(..., L, D)`.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.

See: Vaswani et al., Attention is all you need, NIPS 2017.

>>> q = chainerx.zeros((2, 3))
>>> v = chainerx.array([[1.], [3.]], 'float32')
>>> chainerx.scaled_dot_product_attention(q, q, v, causal=True)
array([[1.],
       [2.]], shape=(2, 1), dtype=float32, device='native:0')
)");
Array ScaledDotProductAttention(const Array& q, const Array& k, const Array& v, const std::optional<Array>& mask,
                                const std::optional<double>& scale, bool causal) {
    CheckMatrices("q", q);
    CheckMatrices("k", k);
    CheckMatrices("v", v);
    CheckDevices(q, k);
    CheckDevices(q, v);
    int64_t width = q.shape().back();
    int64_t keys = k.shape()[k.ndim() - 2];
    if (k.shape().back() != width || v.shape()[v.ndim() - 2] != keys) {
        throw DimensionError{kAttentionName, ": q, k and v of shapes ",
                             q.shape(),      ", ",
                             k.shape(),      " and ",
                             v.shape(),      " do not match (..., L, E), (..., S, E) and (..., S, D)"};
    }
    Dtype dtype = PromoteTypes(PromoteTypes(q.dtype(), k.dtype()), v.dtype());
    Shape lead = BroadcastShapes(BroadcastShapes(matrices::Lead(q), matrices::Lead(k)), matrices::Lead(v));
    auto expand = [&](const Array& a, Dtype to) {
        Shape shape = lead;
        shape.push_back(a.shape()[a.ndim() - 2]);
        shape.push_back(a.shape().back());
        Array same = a.dtype() == to ? a : AsType(a, to);
        return same.shape() == shape ? same : BroadcastTo(same, shape);
    };
    Array m;
    if (mask.has_value()) {
        CheckDevices(q, *mask);
        if (mask->dtype() != Dtype::kBool && !IsFloat(mask->dtype())) {
            throw DtypeError{kAttentionName, ": mask must be of dtype bool or floating point, not ", mask->dtype()};
        }
        Shape shape = lead;
        shape.push_back(q.shape()[q.ndim() - 2]);
        shape.push_back(keys);
        m = mask->shape() == shape ? *mask : BroadcastTo(*mask, shape);
    }
    double factor = scale.value_or(1 / std::sqrt(static_cast<double>(std::max<int64_t>(width, 1))));
    return Attend(expand(q, dtype), expand(k, dtype), expand(v, dtype), m, {factor, causal});
}

}  // namespace chainerx
