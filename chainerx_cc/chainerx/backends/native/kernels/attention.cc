#include "chainerx/backends/native/kernels/attention.h"

#include <algorithm>
#include <memory>

#include "chainerx/backends/native/kernels/gemm.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native {
namespace {

// Queries whose scores are computed together: those of a block fit into the second-level cache. Causal blocks are
// shorter, for the keys that they leave out.
template <class T>
int64_t BlockRows(const AttentionSizes& s) {
    constexpr int64_t kCacheBytes = 1 << 18;
    int64_t rows = kCacheBytes / static_cast<int64_t>(sizeof(T)) / std::max<int64_t>(s.keys, 1) / 16 * 16;
    return std::min(std::max<int64_t>(rows, 16), s.causal ? int64_t{64} : std::max<int64_t>(s.queries, 1));
}

// A block of queries of one matrix.
struct Block {
    int64_t b;
    int64_t begin;
    AttentionRows rows;  // rows.n: keys that any of the queries attends to

    Block(const AttentionSizes& s, int64_t b, int64_t begin, int64_t size) : b{b}, begin{begin} {
        int64_t count = std::min(size, s.queries - begin);
        rows = {count, s.causal ? std::min(s.keys, begin + count) : s.keys, s.causal ? begin : -1};
    }
};

template <class T>
const bool* Allowed(const AttentionMask<T>& mask, const Block& block) {
    const auto& m = mask.allowed;
    return m.data == nullptr ? nullptr : m.At(block.b) + block.begin * m.row;
}

template <class T>
const T* Bias(const AttentionMask<T>& mask, const Block& block) {
    const auto& m = mask.bias;
    return m.data == nullptr ? nullptr : m.At(block.b) + block.begin * m.row;
}

template <class T>
int64_t MaskRow(const AttentionMask<T>& mask) {
    return mask.bias.data == nullptr ? mask.allowed.row : mask.bias.row;
}

template <class T>
void Scores(const AttentionSizes& s, const Block& block, const MatrixStack<const T>& q, const MatrixStack<const T>& k,
            T* out) {
    Gemm<T>(false, true, block.rows.rows, block.rows.n, s.width, static_cast<T>(s.scale),
            q.At(block.b) + block.begin * q.row, q.row, k.At(block.b), k.row, T{0}, out, block.rows.n);
}

int64_t Grain(int64_t work) { return std::max<int64_t>(1, (1 << 17) / std::max<int64_t>(work, 1)); }

}  // namespace

template <class T>
void AttentionForward(const AttentionSizes& s, const MatrixStack<const T>& q, const MatrixStack<const T>& k,
                      const MatrixStack<const T>& v, const AttentionMask<T>& mask, T* y, T* log_sum) {
    int64_t size = BlockRows<T>(s);
    int64_t blocks = (s.queries + size - 1) / size;
    int64_t work = std::min(size, s.queries) * s.keys * (s.width + s.value_width);
    ParallelFor(s.batch * blocks, Grain(work), [&](int64_t begin, int64_t end) {
        std::unique_ptr<T[]> scores{new T[size * s.keys]};
        for (int64_t i = begin; i < end; ++i) {
            Block block{s, i / blocks, i % blocks * size, size};
            const AttentionRows& r = block.rows;
            int64_t row = block.b * s.queries + block.begin;
            Scores(s, block, q, k, scores.get());
            AttentionWeights(r, Allowed(mask, block), Bias(mask, block), MaskRow(mask), scores.get(), log_sum + row);
            Gemm<T>(false, false, r.rows, s.value_width, r.n, T{1}, scores.get(), r.n, v.At(block.b), v.row, T{0},
                    y + row * s.value_width, s.value_width);
        }
    });
}

template <class T>
void AttentionBackward(const AttentionSizes& s, const MatrixStack<const T>& q, const MatrixStack<const T>& k,
                       const MatrixStack<const T>& v, const AttentionMask<T>& mask, const T* log_sum,
                       const MatrixStack<const T>& gy, T* gq, T* gk, T* gv) {
    int64_t size = BlockRows<T>(s);
    int64_t work = s.queries * s.keys * (3 * s.width + 2 * s.value_width);
    ParallelFor(s.batch, Grain(work), [&](int64_t first, int64_t last) {
        std::unique_ptr<T[]> scratch{new T[2 * size * s.keys]};
        T* weights = scratch.get();
        T* grads = weights + size * s.keys;
        std::fill(gk + first * s.keys * s.width, gk + last * s.keys * s.width, T{0});
        std::fill(gv + first * s.keys * s.value_width, gv + last * s.keys * s.value_width, T{0});
        for (int64_t b = first; b < last; ++b) {
            for (int64_t begin = 0; begin < s.queries; begin += size) {
                Block block{s, b, begin, size};
                const AttentionRows& r = block.rows;
                int64_t row = b * s.queries + begin;
                const T* gy_rows = gy.At(b) + begin * gy.row;
                Scores(s, block, q, k, weights);
                AttentionWeightsAgain(r, Allowed(mask, block), Bias(mask, block), MaskRow(mask), weights,
                                      log_sum + row);
                Gemm<T>(true, false, r.n, s.value_width, r.rows, T{1}, weights, r.n, gy_rows, gy.row, T{1},
                        gv + b * s.keys * s.value_width, s.value_width);
                Gemm<T>(false, true, r.rows, r.n, s.value_width, T{1}, gy_rows, gy.row, v.At(b), v.row, T{0}, grads,
                        r.n);
                AttentionScoreGrad(r, static_cast<T>(s.scale), weights, grads);
                Gemm<T>(false, false, r.rows, s.width, r.n, T{1}, grads, r.n, k.At(b), k.row, T{0}, gq + row * s.width,
                        s.width);
                Gemm<T>(true, false, r.n, s.width, r.rows, T{1}, grads, r.n, q.At(b) + begin * q.row, q.row, T{1},
                        gk + b * s.keys * s.width, s.width);
            }
        }
    });
}

#define CHAINERX_INSTANTIATE(T)                                                                                        \
    template void AttentionForward<T>(const AttentionSizes&, const MatrixStack<const T>&, const MatrixStack<const T>&, \
                                      const MatrixStack<const T>&, const AttentionMask<T>&, T*, T*);                   \
    template void AttentionBackward<T>(const AttentionSizes&, const MatrixStack<const T>&,                             \
                                       const MatrixStack<const T>&, const MatrixStack<const T>&,                       \
                                       const AttentionMask<T>&, const T*, const MatrixStack<const T>&, T*, T*, T*);
CHAINERX_INSTANTIATE(float)
CHAINERX_INSTANTIATE(double)
#undef CHAINERX_INSTANTIATE

}  // namespace chainerx::native
