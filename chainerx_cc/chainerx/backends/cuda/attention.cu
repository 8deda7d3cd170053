// Attention that never holds the matrix of scores: a block of threads makes it tile by tile in registers and shared
// memory. The backward pass makes the tiles again. Each element is summed by one thread in a fixed order, so results
// are reproducible.
// T. Dao et al.: FlashAttention: fast and memory-efficient exact attention with IO-awareness (NeurIPS 2022).

#include <type_traits>

#include "chainerx/backends/cuda/attention_tiles.h"
#include "chainerx/backends/cuda/launch.h"
#include "chainerx/backends/cuda/layout.h"
#include "chainerx/backends/cuda/load_as.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/attention.h"
#include "chainerx/ops/math.h"
#include "chainerx/ops/reduce_ops.h"

namespace chainerx::cuda {
namespace {

// Which keys the queries attend to.
struct ScoreMask {
    const char* data;  // null: no mask
    Dtype dtype;       // bool, or that of numbers that are added to the scores
    int64_t row;       // strides in bytes
    int64_t column;
    bool causal;  // query i attends to keys 0, ..., i only

    // The masked score; the lowest one if the query does not attend to the key.
    template <class C>
    __device__ C Apply(C score, int64_t query, int64_t key) const {
        if (causal && key > query) return Lowest<C>();
        if (data == nullptr) return score;
        C value = LoadAs<C>(dtype, data + query * row + key * column);
        if (dtype != Dtype::kBool) return score + value;
        return value != 0 ? score : Lowest<C>();
    }
};

// The matrices of a batch.
template <class T>
struct Operands {
    using C = typename ComputeType<T>::type;

    Matrix<T> q;
    Matrix<T> k;
    Matrix<T> v;
    Matrix<T> gout;  // only in the backward pass
    ScoreMask mask;
    C scale;

    __device__ int64_t queries() const { return q.rows; }
    __device__ int64_t keys() const { return k.rows; }
    __device__ C Score(C product, int64_t query, int64_t key) const {
        if (query >= queries() || key >= keys()) return Lowest<C>();
        return mask.Apply(scale * product, query, key);
    }
};

template <class T>
struct Batches {
    Operands<T> first;  // its gout is contiguous, and so are those of all batches
    Layout<4> lead;     // of the batches of results, q, k and v
    Layout<2> masks;    // of the batches of results and the mask

    __device__ Operands<T> Get(int64_t batch) const {
        int64_t offsets[4];
        lead.GetOffsets(static_cast<uint32_t>(batch), offsets);
        Operands<T> out = first;
        out.q.data += offsets[1];
        out.k.data += offsets[2];
        out.v.data += offsets[3];
        if (out.mask.data != nullptr) {
            int64_t mask_offsets[2];
            masks.GetOffsets(static_cast<uint32_t>(batch), mask_offsets);
            out.mask.data += mask_offsets[1];
        }
        if (out.gout.data != nullptr) out.gout.data += batch * out.gout.rows * out.gout.columns * sizeof(T);
        return out;
    }
};

// The part of the result that a block makes: a tile of rows of a batch, and some columns.
struct Part {
    int64_t batch;
    int64_t row;
    int64_t column;

    __device__ Part(int64_t rows, int64_t columns, int size, int width) {
        int64_t slices = SlicesOf(columns, width);
        int64_t tiles = (rows + size - 1) / size;
        int64_t block = blockIdx.x;
        column = block % slices * width;
        row = block / slices % tiles * size;
        batch = block / slices / tiles;
    }
    // A result without columns has a block, too, since it has sums of rows.
    CHAINERX_HOST_DEVICE static int64_t SlicesOf(int64_t columns, int width) {
        return columns <= width ? 1 : (columns + width - 1) / width;
    }
};

// Calls f(index, i, value) for the elements of the thread, in its rows i, that exist in a contiguous result.
template <class C, int kCount, class F>
__device__ void ForResults(const Part& part, int64_t rows, int64_t columns, const C (&values)[Tile<C>::kMicro][kCount],
                           const F& f) {
#pragma unroll
    for (int i = 0; i < Tile<C>::kMicro; ++i) {
        int64_t row = part.row + Tile<C>::Row(i);
#pragma unroll
        for (int c = 0; c < kCount; ++c) {
            int64_t column = part.column + OutColumn<C>(c);
            if (row < rows && column < columns) f((part.batch * rows + row) * columns + column, i, values[i][c]);
        }
    }
}

// The keys that queries of a tile attend to, or the queries that attend to keys of a tile.
template <bool of_queries, int kSize, class T>
__device__ void FindOthers(const Operands<T>& in, int64_t row, int64_t* begin, int64_t* end) {
    bool causal = in.mask.causal;
    *begin = !of_queries && causal ? row : 0;
    *end = of_queries ? in.keys() : in.queries();
    if (of_queries && causal && row + kSize < *end) *end = row + kSize;
}

// Weights of rows so far: exp(score - max) / sum. The results so far are to be scaled.
template <class C>
struct RunningRow {
    C max;
    C sum;

    __device__ static C Shift(C max) { return max - max == 0 ? max : C{0}; }

    // Turns the thread's scores of a tile into weights; returns the factor of results so far.
    template <int kCount>
    __device__ C Add(C (&scores)[kCount]) {
        C top = max;
#pragma unroll
        for (int j = 0; j < kCount; ++j) top = math::Max(top, scores[j]);
        top = CombineSide(MaxOp<C>{}, top);
        C shift = Shift(top);
        C factor = math::Exp(max - shift);
        C part{0};
#pragma unroll
        for (int j = 0; j < kCount; ++j) {
            scores[j] = math::Exp(scores[j] - shift);
            part += scores[j];
        }
        max = top;
        sum = sum * factor + CombineSide(SumOp<C>{}, part);
        return factor;
    }
    // Infinite for a query without keys, whose weights are zero.
    __device__ C LogSum() const { return sum == 0 ? -Lowest<C>() : Shift(max) + math::Log(sum); }
};

// The kernels of tiles take as many registers as they need: one block may fill a multiprocessor.
template <int kCount, class T, class C>
__global__ void __launch_bounds__(kBlock, 1)
        AttentionForward(const __grid_constant__ Batches<T> batches, T* out, C* log_sum) {
    using S = Tile<C>;
    __shared__ typename S::Shared shared;
    Part part{batches.first.queries(), batches.first.v.columns, S::kSize, kCount * kSide};
    Operands<T> in = batches.Get(part.batch);
    C sums[S::kMicro][kCount] = {};
    RunningRow<C> rows[S::kMicro];
#pragma unroll
    for (int i = 0; i < S::kMicro; ++i) rows[i] = {Lowest<C>(), C{0}};
    int64_t begin;
    int64_t end;
    FindOthers<true, S::kSize>(in, part.row, &begin, &end);
    for (int64_t key = begin; key < end; key += S::kSize) {
        C scores[S::kMicro][S::kMicro] = {};
        AddProducts(in.q, part.row, in.k, key, shared.operands, scores);
#pragma unroll
        for (int i = 0; i < S::kMicro; ++i) {
#pragma unroll
            for (int j = 0; j < S::kMicro; ++j) {
                scores[i][j] = in.Score(scores[i][j], part.row + S::Row(i), key + S::Column(j));
            }
            C factor = rows[i].Add(scores[i]);
#pragma unroll
            for (int j = 0; j < S::kMicro; ++j) {
                shared.weights[S::Row(i) * S::kWeightRow + S::Column(j)] = scores[i][j];
            }
#pragma unroll
            for (int c = 0; c < kCount; ++c) sums[i][c] *= factor;
        }
        AddWeighted(shared, in.v, key, part.column, sums);
    }
    ForResults(part, in.queries(), in.v.columns, sums,
               [&](int64_t k, int i, C sum) { out[k] = static_cast<T>(rows[i].sum == 0 ? C{0} : sum / rows[i].sum); });
    if (part.column != 0 || threadIdx.x % kSide != 0) return;
#pragma unroll
    for (int i = 0; i < S::kMicro; ++i) {
        int64_t row = part.row + S::Row(i);
        if (row < in.queries()) log_sum[part.batch * in.queries() + row] = rows[i].LogSum();
    }
}

// The tiles of the backward pass, whose rows are queries or keys: weights, and gradients of weights if they are wanted.
template <bool of_queries, bool with_grads, class T, class C = typename ComputeType<T>::type>
struct BackwardTile {
    using S = Tile<C>;
    C weights[S::kMicro][S::kMicro];
    C grads[S::kMicro][S::kMicro];

    // The tile with the first row `row` and the first column `column`. `log_sum`: of the batch.
    __device__ void Make(const Operands<T>& in, int64_t row, int64_t column, const C* log_sum, C* operands) {
#pragma unroll
        for (int i = 0; i < S::kMicro; ++i) {
#pragma unroll
            for (int j = 0; j < S::kMicro; ++j) weights[i][j] = grads[i][j] = 0;
        }
        AddProducts(of_queries ? in.q : in.k, row, of_queries ? in.k : in.q, column, operands, weights);
        if constexpr (with_grads) {
            AddProducts(of_queries ? in.gout : in.v, row, of_queries ? in.v : in.gout, column, operands, grads);
        }
#pragma unroll
        for (int i = 0; i < S::kMicro; ++i) {
#pragma unroll
            for (int j = 0; j < S::kMicro; ++j) {
                int64_t query = Query(row, column, i, j);
                int64_t key = of_queries ? column + S::Column(j) : row + S::Row(i);
                C score = in.Score(weights[i][j], query, key);
                weights[i][j] = score == Lowest<C>() ? C{0} : math::Exp(score - log_sum[query]);
            }
        }
    }
    __device__ static int64_t Query(int64_t row, int64_t column, int i, int j) {
        return of_queries ? row + S::Row(i) : column + S::Column(j);
    }
};

// Sums of weights times their gradients, for each query.
template <class T, class C>
__global__ void __launch_bounds__(kBlock, 1)
        AttentionRowSums(const __grid_constant__ Batches<T> batches, const C* log_sum, C* row_sums) {
    using S = Tile<C>;
    __shared__ typename S::Shared shared;
    Part part{batches.first.queries(), 0, S::kSize, 1};
    Operands<T> in = batches.Get(part.batch);
    log_sum += part.batch * in.queries();
    C sums[S::kMicro] = {};
    int64_t begin;
    int64_t end;
    FindOthers<true, S::kSize>(in, part.row, &begin, &end);
    for (int64_t key = begin; key < end; key += S::kSize) {
        BackwardTile<true, true, T> tile;
        tile.Make(in, part.row, key, log_sum, shared.operands);
#pragma unroll
        for (int i = 0; i < S::kMicro; ++i) {
#pragma unroll
            for (int j = 0; j < S::kMicro; ++j) sums[i] += tile.weights[i][j] * tile.grads[i][j];
        }
    }
#pragma unroll
    for (int i = 0; i < S::kMicro; ++i) {
        C sum = CombineSide(SumOp<C>{}, sums[i]);
        int64_t row = part.row + S::Row(i);
        if (threadIdx.x % kSide == 0 && row < in.queries()) row_sums[part.batch * in.queries() + row] = sum;
    }
}

enum class Wanted { kQueryGrad, kKeyGrad, kValueGrad };

// A gradient: weights, or gradients of scores, times rows of another matrix. Its rows are queries or keys, and it sums
// over the others.
template <Wanted wanted, int kCount, class T, class C>
__global__ void __launch_bounds__(kBlock, 1)
        AttentionBackward(const __grid_constant__ Batches<T> batches, const C* log_sum, const C* row_sums, T* grad) {
    using S = Tile<C>;
    constexpr bool kOfQueries = wanted == Wanted::kQueryGrad;
    constexpr bool kOfValues = wanted == Wanted::kValueGrad;
    __shared__ typename S::Shared shared;
    int64_t rows = kOfQueries ? batches.first.queries() : batches.first.keys();
    int64_t columns = kOfValues ? batches.first.v.columns : batches.first.k.columns;
    Part part{rows, columns, S::kSize, kCount * kSide};
    Operands<T> in = batches.Get(part.batch);
    log_sum += part.batch * in.queries();
    row_sums += part.batch * in.queries();
    C sums[S::kMicro][kCount] = {};
    int64_t begin;
    int64_t end;
    FindOthers<kOfQueries, S::kSize>(in, part.row, &begin, &end);
    for (int64_t other = begin; other < end; other += S::kSize) {
        BackwardTile<kOfQueries, !kOfValues, T> tile;
        tile.Make(in, part.row, other, log_sum, shared.operands);
#pragma unroll
        for (int i = 0; i < S::kMicro; ++i) {
#pragma unroll
            for (int j = 0; j < S::kMicro; ++j) {
                C w = tile.weights[i][j];
                if constexpr (!kOfValues) {
                    int64_t query = tile.Query(part.row, other, i, j);
                    w = query < in.queries() ? in.scale * w * (tile.grads[i][j] - row_sums[query]) : C{0};
                }
                shared.weights[S::Row(i) * S::kWeightRow + S::Column(j)] = w;
            }
        }
        AddWeighted(shared, kOfValues ? in.gout : (kOfQueries ? in.k : in.q), other, part.column, sums);
    }
    ForResults(part, rows, columns, sums, [&](int64_t k, int, C sum) { grad[k] = static_cast<T>(sum); });
}

template <class T>
Matrix<T> LastMatrix(const Array& a) {
    int n = a.ndim();
    return {a.raw_data(), a.shape()[n - 2], a.shape()[n - 1], a.strides()[n - 2], a.strides()[n - 1]};
}

template <class S>
S Lead(const S& all) {
    return S(all.begin(), all.end() - 2);
}

// Results are contiguous. Nests have the order of their first operand, so that it comes first.
LoopNest LeadNest(const Array& q, const Array& k, const Array& v) {
    Shape shape = Lead(q.shape());
    Strides strides[] = {Strides{shape, 1}, Lead(q.strides()), Lead(k.strides()), Lead(v.strides())};
    return LoopNest{shape, 4, strides};
}

LoopNest MaskNest(const Array& q, const Array& mask) {
    Shape shape = Lead(q.shape());
    Strides strides[] = {Strides{shape, 1}, Lead((mask ? mask : q).strides())};
    return LoopNest{shape, 2, strides};
}

template <class T>
Batches<T> MakeBatches(const Array& q, const Array& k, const Array& v, const Array& mask,
                       const AttentionOptions& options) {
    ScoreMask m{nullptr, Dtype::kBool, 0, 0, options.causal};
    if (mask) {
        int n = mask.ndim();
        m = {mask.raw_data(), mask.dtype(), mask.strides()[n - 2], mask.strides()[n - 1], options.causal};
    }
    using C = typename ComputeType<T>::type;
    Operands<T> first{LastMatrix<T>(q), LastMatrix<T>(k), LastMatrix<T>(v), {}, m, static_cast<C>(options.scale)};
    return {first, Layout<4>{LeadNest(q, k, v)}, Layout<2>{MaskNest(q, mask)}};
}

template <int N>
using Count = std::integral_constant<int, N>;

template <class C>
int64_t TilesOf(int64_t rows) {
    return (rows + Tile<C>::kSize - 1) / Tile<C>::kSize;
}

// Calls f(count, grid) with the number of columns of a thread for a result of so many columns.
template <class C, class F>
void VisitCount(int64_t batch, int64_t rows, int64_t columns, F&& f) {
    auto visit = [&](auto count) {
        f(count, BlocksFor(batch * TilesOf<C>(rows) * Part::SlicesOf(columns, count * kSide), 1));
    };
    if constexpr (sizeof(C) == 4) {
        if (columns > 4 * kSide) return visit(Count<8>{});
    }
    visit(Count<4>{});
}

int64_t Batch(const Array& log_sum) {
    int64_t queries = log_sum.shape().back();
    return queries == 0 ? 0 : log_sum.GetTotalSize() / queries;
}

void Attention(const Array& q, const Array& k, const Array& v, const Array& mask, const AttentionOptions& options,
               const Array& out, const Array& log_sum) {
    if (log_sum.GetTotalSize() == 0) return;
    VisitFloatDtype(q.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using C = typename ComputeType<T>::type;
        VisitCount<C>(Batch(log_sum), log_sum.shape().back(), v.shape().back(), [&](auto count, dim3 grid) {
            Launch("attention", q.device(), grid, kBlock, &AttentionForward<count(), T, C>,
                   MakeBatches<T>(q, k, v, mask, options), out.data<T>(), log_sum.data<C>());
        });
    });
}

template <Wanted wanted, class T, class C>
void LaunchBackward(const Batches<T>& in, const Array& log_sum, const Array& row_sums, const Array& grad) {
    int64_t rows = grad.shape()[grad.ndim() - 2];
    int64_t columns = grad.shape().back();
    if (grad.GetTotalSize() == 0) return;
    VisitCount<C>(grad.GetTotalSize() / rows / columns, rows, columns, [&](auto count, dim3 grid) {
        Launch("attention", grad.device(), grid, kBlock, &AttentionBackward<wanted, count(), T, C>, in,
               log_sum.data<C>(), row_sums.data<C>(), grad.data<T>());
    });
}

void AttentionGrad(const Array& q, const Array& k, const Array& v, const Array& mask, const AttentionOptions& options,
                   const Array& log_sum, const Array& gout_, const Array& gq_, const Array& gk_, const Array& gv_) {
    // Layouts have no axes without elements.
    if (gq_.GetTotalSize() == 0 && gk_.GetTotalSize() == 0 && gv_.GetTotalSize() == 0) return;
    Dtype dtype = q.dtype();
    Array gout = Input(gout_, dtype);
    Output gq{gq_, dtype};
    Output gk{gk_, dtype};
    Output gv{gv_, dtype};
    Array row_sums = Empty(log_sum.shape(), log_sum.dtype(), q.device());
    VisitFloatDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        using C = typename ComputeType<T>::type;
        Batches<T> in = MakeBatches<T>(q, k, v, mask, options);
        in.first.gout = LastMatrix<T>(gout);
        if (log_sum.GetTotalSize() != 0) {
            dim3 grid = BlocksFor(Batch(log_sum) * TilesOf<C>(log_sum.shape().back()), 1);
            Launch("attention", q.device(), grid, kBlock, &AttentionRowSums<T, C>, in, log_sum.data<C>(),
                   row_sums.data<C>());
        }
        LaunchBackward<Wanted::kQueryGrad, T, C>(in, log_sum, row_sums, gq.buffer());
        LaunchBackward<Wanted::kKeyGrad, T, C>(in, log_sum, row_sums, gk.buffer());
        LaunchBackward<Wanted::kValueGrad, T, C>(in, log_sum, row_sums, gv.buffer());
    });
    gq.Finish();
    gk.Finish();
    gv.Finish();
}

}  // namespace

const CudaKernels g_attention_kernels{[](Backend& backend) {
    kAttentionKernel.Register(backend, &Attention);
    kAttentionGradKernel.Register(backend, &AttentionGrad);
}};

}  // namespace chainerx::cuda
