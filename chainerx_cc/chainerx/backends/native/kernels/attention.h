#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// A stack of matrices whose rows are contiguous: matrix b begins at data + offsets[b], its rows `row` elements apart.
template <class T>
struct MatrixStack {
    T* data;
    const int64_t* offsets;
    int64_t row;
    T* At(int64_t b) const { return data + offsets[b]; }
};

// The mask of the scores of queries and keys; both pointers are null if there is no mask.
template <class T>
struct AttentionMask {
    MatrixStack<const bool> allowed;  // false: the query does not attend to the key
    MatrixStack<const T> bias;        // added to the score
};

struct AttentionSizes {
    int64_t batch;
    int64_t queries;
    int64_t keys;
    int64_t width;        // of queries and keys
    int64_t value_width;  // of values and outputs
    double scale;
    bool causal;  // query i attends to keys 0, ..., i only
};

// y = softmax(scale q k^T + mask) v for q (batch, queries, width), k (batch, keys, width) and v (batch, keys,
// value_width). y is contiguous, and zero for a query that attends to no key. The backward pass needs log_sum (batch,
// queries), the logarithm of the sum of exp(scores), infinite for a query without keys. Only the scores of a block of
// queries are in memory at a time.
template <class T>
void AttentionForward(const AttentionSizes& sizes, const MatrixStack<const T>& q, const MatrixStack<const T>& k,
                      const MatrixStack<const T>& v, const AttentionMask<T>& mask, T* y, T* log_sum);

// The gradients gq, gk and gv, contiguous, from the gradient of y.
template <class T>
void AttentionBackward(const AttentionSizes& sizes, const MatrixStack<const T>& q, const MatrixStack<const T>& k,
                       const MatrixStack<const T>& v, const AttentionMask<T>& mask, const T* log_sum,
                       const MatrixStack<const T>& gy, T* gq, T* gk, T* gv);

// ---------------------------------------------------------------- parts, on `rows` rows of n scores

// Row i of a causal block has 1 + first + i keys; first < 0: all have n.
struct AttentionRows {
    int64_t rows;
    int64_t n;
    int64_t first;
};

// Turns scores into weights. `allowed` and `bias` (either may be null) have rows mask_row elements apart.
CHAINERX_ISA_KERNEL(AttentionWeights,
                    (const AttentionRows& r, const bool* allowed, const T* bias, int64_t mask_row, T* scores,
                     T* log_sum),
                    (r, allowed, bias, mask_row, scores, log_sum))

// The same with log_sum given.
CHAINERX_ISA_KERNEL(AttentionWeightsAgain,
                    (const AttentionRows& r, const bool* allowed, const T* bias, int64_t mask_row, T* scores,
                     const T* log_sum),
                    (r, allowed, bias, mask_row, scores, log_sum))

// g = scale w (g - sum(w g)) in place, with weights w: from the gradient of the weights to the gradient of the scores.
CHAINERX_ISA_KERNEL(AttentionScoreGrad, (const AttentionRows& r, T scale, const T* w, T* g), (r, scale, w, g))

}  // namespace chainerx::native
