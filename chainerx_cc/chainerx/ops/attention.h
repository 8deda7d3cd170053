#pragma once

#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/ops/routine.h"

namespace chainerx {

struct AttentionOptions {
    double scale;
    bool causal;
};
template <>
inline constexpr bool kIsKernelValue<AttentionOptions> = true;

// Arrays with the same leading dimensions: q (..., L, E), k (..., S, E), v (..., S, D), mask (..., L, S) or no array,
// out (..., L, D), contiguous. log_sum (..., L), of the dtype in which the kernel computes, is for the backward pass.
using AttentionKernel = KernelSlot<void(const Array& q, const Array& k, const Array& v, const Array& mask,
                                        const AttentionOptions& options, const Array& out, const Array& log_sum)>;
using AttentionGradKernel = KernelSlot<void(const Array& q, const Array& k, const Array& v, const Array& mask,
                                            const AttentionOptions& options, const Array& log_sum, const Array& gout,
                                            const Array& gq, const Array& gk, const Array& gv)>;
extern const AttentionKernel kAttentionKernel;
extern const AttentionGradKernel kAttentionGradKernel;

// softmax(scale q k^T + mask) v; leading dimensions are broadcast. A mask of booleans tells which keys a query attends
// to, one of numbers is added. A query that attends to no key gives zero. The scale is 1 / sqrt(E) unless given.
Array ScaledDotProductAttention(const Array& q, const Array& k, const Array& v,
                                const std::optional<Array>& mask = std::nullopt,
                                const std::optional<double>& scale = std::nullopt, bool causal = false);

#define CHAINERX_ATTENTION_ROUTINES(X) X(ScaledDotProductAttention)

CHAINERX_ATTENTION_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
