#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "chainerx/core/loop_nest.h"
#include "chainerx/core/macro.h"

namespace chainerx::cuda {

// Division by a number that is known before a kernel starts: a product and a shift.
// T. Granlund, P. L. Montgomery: Division by invariant integers using multiplication (1994).
class Divider {
public:
    Divider() = default;
    explicit Divider(uint32_t divisor) : divisor_{divisor} {
        while (shift_ < 32 && (uint64_t{1} << shift_) < divisor) ++shift_;
        uint64_t one = 1;
        multiplier_ = static_cast<uint32_t>((one << 32) * ((one << shift_) - divisor) / divisor + 1);
    }

    // n < 2^31
    CHAINERX_HOST_DEVICE uint32_t Divide(uint32_t n) const {
        auto high = static_cast<uint32_t>(uint64_t{n} * multiplier_ >> 32);
        return (high + n) >> shift_;
    }
    CHAINERX_HOST_DEVICE uint32_t divisor() const { return divisor_; }

private:
    uint32_t divisor_{1};
    uint32_t multiplier_{1};
    uint32_t shift_{0};
};

// Elements that one launch over views covers; 32-bit indices divide faster.
constexpr int64_t kMaxIndex = (int64_t{1} << 31) - 1;

// Distances in bytes of the elements of N operands, by the index of the element.
template <int N>
struct Layout {
    int ndim;                   // at least 1
    Divider lengths[kMaxNdim];  // outermost first
    int64_t strides[kMaxNdim][N];

    explicit Layout(const LoopNest& nest) : ndim{nest.ndim} {
        for (int d = 0; d < ndim; ++d) {
            lengths[d] = Divider{static_cast<uint32_t>(nest.lengths[d])};
            for (int k = 0; k < N; ++k) strides[d][k] = nest.strides[d][k];
        }
    }

    __device__ void GetOffsets(uint32_t index, int64_t* offsets) const {
#pragma unroll
        for (int k = 0; k < N; ++k) offsets[k] = 0;
        for (int d = ndim - 1; d > 0; --d) {
            uint32_t rest = lengths[d].Divide(index);
            uint32_t i = index - rest * lengths[d].divisor();
            for (int k = 0; k < N; ++k) offsets[k] += i * strides[d][k];
            index = rest;
        }
        for (int k = 0; k < N; ++k) offsets[k] += index * strides[0][k];
    }
};

// Calls f(nest, data) for parts with at most kMaxIndex elements.
template <class F>
void ForParts(const LoopNest& nest, char* const* data, F&& f) {
    if (nest.size <= kMaxIndex) {
        f(nest, data);
        return;
    }
    int d = 0;
    while (nest.lengths[d] == 1) ++d;
    int64_t half = nest.lengths[d] / 2;
    LoopNest part = nest;
    char* p[LoopNest::kMaxOperands];
    for (int k = 0; k < nest.n_operands; ++k) p[k] = data[k];
    for (int64_t length : {half, nest.lengths[d] - half}) {
        part.lengths[d] = length;
        part.size = nest.size / nest.lengths[d] * length;
        ForParts(part, p, f);
        for (int k = 0; k < nest.n_operands; ++k) p[k] += length * nest.strides[d][k];
    }
}

}  // namespace chainerx::cuda
