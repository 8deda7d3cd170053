// Attention without a library: matrix products around a kernel on the rows of the scores. The reference for that of
// cuDNN.

#include <utility>

#include "chainerx/backends/cuda/block_reduce.h"
#include "chainerx/backends/cuda/launch.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/attention.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/math.h"
#include "chainerx/ops/reduce_ops.h"

namespace chainerx::cuda {
namespace {

// Which keys the queries attend to; the pointers may be null. T is float or double.
template <class T>
struct ScoreMask {
    const bool* allowed;
    const T* bias;  // added to the scores
    bool causal;    // query i attends to keys 0, ..., i only

    __device__ bool Allows(int64_t query, int64_t key, int64_t k) const {
        return (!causal || key <= query) && (allowed == nullptr || allowed[k]);
    }
    __device__ T Add(T score, int64_t k) const { return bias == nullptr ? score : score + bias[k]; }
};

// Turns products of queries and keys into weights, one warp for each query. Writes log_sum, infinite for a query
// without keys, whose weights are zero.
template <class T>
__global__ void AttentionWeights(int64_t rows, int64_t queries, int64_t keys, T scale, ScoreMask<T> mask, T* scores,
                                 T* log_sum) {
    int64_t row = ThreadIndex() / kWarp;
    if (row >= rows) return;
    int64_t query = row % queries;
    unsigned lane = threadIdx.x % kWarp;
    T max = Lowest<T>();
    for (int64_t i = lane; i < keys; i += kWarp) {
        int64_t k = row * keys + i;
        T score = mask.Allows(query, i, k) ? mask.Add(scale * scores[k], k) : Lowest<T>();
        scores[k] = score;
        max = math::Max(max, score);
    }
    max = CombineWarp(MaxOp<T>{}, max);
    T shift = max - max == 0 ? max : T{0};
    T sum{0};
    for (int64_t i = lane; i < keys; i += kWarp) sum += math::Exp(scores[row * keys + i] - shift);
    sum = CombineWarp(SumOp<T>{}, sum);
    for (int64_t i = lane; i < keys; i += kWarp) {
        T& score = scores[row * keys + i];
        score = sum == 0 ? T{0} : math::Exp(score - shift) / sum;
    }
    if (lane == 0) log_sum[row] = sum == 0 ? -Lowest<T>() : shift + math::Log(sum);
}

// The same with log_sum given.
template <class T>
__global__ void AttentionWeightsAgain(int64_t n, int64_t queries, int64_t keys, T scale, ScoreMask<T> mask, T* scores,
                                      const T* log_sum) {
    int64_t k = ThreadIndex();
    if (k >= n) return;
    int64_t row = k / keys;
    bool allowed = mask.Allows(row % queries, k % keys, k);
    scores[k] = allowed ? math::Exp(mask.Add(scale * scores[k], k) - log_sum[row]) : T{0};
}

// g = scale w (g - sum(w g)) in place, with weights w.
template <class T>
__global__ void AttentionScoreGrad(int64_t rows, int64_t keys, T scale, const T* w, T* g) {
    int64_t row = ThreadIndex() / kWarp;
    if (row >= rows) return;
    unsigned lane = threadIdx.x % kWarp;
    T sum{0};
    for (int64_t i = lane; i < keys; i += kWarp) sum += w[row * keys + i] * g[row * keys + i];
    sum = CombineWarp(SumOp<T>{}, sum);
    for (int64_t i = lane; i < keys; i += kWarp) {
        int64_t k = row * keys + i;
        g[k] = scale * w[k] * (g[k] - sum);
    }
}

Array SwapLast(const Array& a) {
    Axes order;
    for (int8_t i = 0; i < a.ndim(); ++i) order.push_back(i);
    std::swap(order[a.ndim() - 1], order[a.ndim() - 2]);
    return Permuted(a, order);
}

Array Product(const Array& a, const Array& b) {
    Shape shape = a.shape();
    shape.back() = b.shape().back();
    Array out = Empty(shape, a.dtype(), a.device());
    kMatmulKernel(a.device(), a, b, 0.0, out);
    return out;
}

// The inputs in the dtype of the computation.
struct Operands {
    Array q, k, v, mask;

    Operands(const Array& q_, const Array& k_, const Array& v_, const Array& mask_, Dtype dtype)
        : q{Input(q_, dtype)}, k{Input(k_, dtype)}, v{Input(v_, dtype)} {
        if (mask_) mask = mask_.dtype() == Dtype::kBool ? Contiguous(mask_) : Input(mask_, dtype);
    }
    int64_t queries() const { return q.shape()[q.ndim() - 2]; }
    int64_t keys() const { return k.shape()[k.ndim() - 2]; }
    template <class T>
    ScoreMask<T> GetMask(bool causal) const {
        bool is_bool = mask && mask.dtype() == Dtype::kBool;
        return {is_bool ? mask.data<bool>() : nullptr, mask && !is_bool ? mask.data<T>() : nullptr, causal};
    }
};

void Attention(const Array& q, const Array& k, const Array& v, const Array& mask, const AttentionOptions& options,
               const Array& out_, const Array& log_sum) {
    Operands in{q, k, v, mask, log_sum.dtype()};
    int64_t rows = log_sum.GetTotalSize();
    if (rows == 0) return;
    Array scores = Product(in.q, SwapLast(in.k));
    VisitComputeDtype(log_sum.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        Launch("attention", q.device(), BlocksFor(rows * kWarp), kBlock, &AttentionWeights<T>, rows, in.queries(),
               in.keys(), static_cast<T>(options.scale), in.GetMask<T>(options.causal), scores.data<T>(),
               log_sum.data<T>());
    });
    Output out{out_, log_sum.dtype()};
    kMatmulKernel(q.device(), scores, in.v, 0.0, out.buffer());
    out.Finish();
}

void AttentionGrad(const Array& q, const Array& k, const Array& v, const Array& mask, const AttentionOptions& options,
                   const Array& log_sum, const Array& gout_, const Array& gq_, const Array& gk_, const Array& gv_) {
    Dtype dtype = log_sum.dtype();
    Device& device = q.device();
    Operands in{q, k, v, mask, dtype};
    Array gout = Input(gout_, dtype);
    int64_t rows = log_sum.GetTotalSize();
    Array weights = Product(in.q, SwapLast(in.k));
    Array grads = Product(gout, SwapLast(in.v));
    int64_t n = weights.GetTotalSize();
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if (n == 0) return;
        auto scale = static_cast<T>(options.scale);
        Launch("attention", device, BlocksFor(n), kBlock, &AttentionWeightsAgain<T>, n, in.queries(), in.keys(), scale,
               in.GetMask<T>(options.causal), weights.data<T>(), log_sum.data<T>());
        Output gv{gv_, dtype};
        kMatmulKernel(device, SwapLast(weights), gout, 0.0, gv.buffer());
        gv.Finish();
        Launch("attention", device, BlocksFor(rows * kWarp), kBlock, &AttentionScoreGrad<T>, rows, in.keys(), scale,
               weights.data<T>(), grads.data<T>());
    });
    if (n == 0) kFillKernel(device, gv_, Scalar{0});
    Output gq{gq_, dtype};
    Output gk{gk_, dtype};
    kMatmulKernel(device, grads, in.k, 0.0, gq.buffer());
    kMatmulKernel(device, SwapLast(grads), in.q, 0.0, gk.buffer());
    gq.Finish();
    gk.Finish();
}

}  // namespace

const CudaKernels g_attention_kernels{[](Backend& backend) {
    kAttentionKernel.Register(backend, &Attention);
    kAttentionGradKernel.Register(backend, &AttentionGrad);
}};

}  // namespace chainerx::cuda
