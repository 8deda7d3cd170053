#pragma once

#include <cstdint>

#include "chainerx/core/kernels.h"
#include "chainerx/core/shape.h"

namespace chainerx {

// Loops over views: dimensions that can be merged are merged, and the longest runs go innermost.
struct LoopNest {
    static constexpr int kMaxOperands = kMaxElementwiseInputs + 1;

    LoopNest(const Shape& shape, int n_operands, const Strides* strides);

    int n_operands;
    int ndim{0};
    int64_t size;
    int64_t lengths[kMaxNdim];  // outermost first
    int64_t strides[kMaxNdim][kMaxOperands];

    // Calls f(n, pointers) for the rows among [begin, end) of the outer iterations.
    template <class F>
    void ForRows(char* const* data, int64_t begin, int64_t end, F&& f) const {
        int64_t index[kMaxNdim];
        char* p[kMaxOperands];
        for (int k = 0; k < n_operands; ++k) p[k] = data[k];
        int64_t rest = begin;
        for (int d = ndim - 2; d >= 0; --d) {
            index[d] = rest % lengths[d];
            rest /= lengths[d];
            for (int k = 0; k < n_operands; ++k) p[k] += index[d] * strides[d][k];
        }
        for (int64_t i = begin; i < end; ++i) {
            f(lengths[ndim - 1], p);
            for (int d = ndim - 2; d >= 0; --d) {
                for (int k = 0; k < n_operands; ++k) p[k] += strides[d][k];
                if (++index[d] < lengths[d]) break;
                for (int k = 0; k < n_operands; ++k) p[k] -= lengths[d] * strides[d][k];
                index[d] = 0;
            }
        }
    }
    int64_t OuterSize() const {
        int64_t n = 1;
        for (int d = 0; d < ndim - 1; ++d) n *= lengths[d];
        return n;
    }
};

}  // namespace chainerx
