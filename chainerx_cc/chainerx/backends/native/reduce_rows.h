#pragma once

// The reduction of a row. For *_isa.cc sources only.

#include <cstdint>
#include <type_traits>

#include "chainerx/ops/reduce_ops.h"

namespace chainerx::native::CHAINERX_ISA {

constexpr int kLanes = 32;    // independent accumulators
constexpr int kBlock = 1024;  // elements added naively within a block; blocks are joined pairwise

template <class R>
struct RowReduce {
    using T = typename R::Element;
    using C = typename R::C;
    using O = typename R::Op;
    using Acc = typename R::Acc;

    // The reduction of at most kBlock elements.
    CHAINERX_INLINE static Acc Block(const T* p, int64_t n) {
        if constexpr (IsExtreme<O>::value && std::is_floating_point_v<C>) {
            return ExtremeBlock(p, n);
        } else {
            return PlainBlock(p, n);
        }
    }

    CHAINERX_INLINE static Acc PlainBlock(const T* p, int64_t n) {
        Acc tail = O::kInit;
        for (int64_t i = n - n % kLanes; i < n; ++i) tail = O::Combine(tail, O::Map(static_cast<C>(p[i])));
        if (n < kLanes) return tail;
        Acc lane[kLanes];  // Filled by the first elements: to clear memory takes as long as to add a short row.
        for (int j = 0; j < kLanes; ++j) lane[j] = O::Combine(O::kInit, O::Map(static_cast<C>(p[j])));
        for (int64_t i = kLanes; i + kLanes <= n; i += kLanes) {
            for (int j = 0; j < kLanes; ++j) lane[j] = O::Combine(lane[j], O::Map(static_cast<C>(p[i + j])));
        }
        Fold<kLanes / 2>(lane);
        return O::Combine(lane[0], tail);
    }
    // Pairwise. The compiler knows the widths, so that lanes stay in registers.
    template <int kHalf>
    CHAINERX_INLINE static void Fold(Acc* lane) {
        for (int j = 0; j < kHalf; ++j) lane[j] = O::Combine(lane[j], lane[j + kHalf]);
        if constexpr (kHalf > 1) Fold<kHalf / 2>(lane);
    }

    // One comparison instead of two: products with zero tell whether all were finite; if not, the block is repeated.
    CHAINERX_INLINE static Acc ExtremeBlock(const T* p, int64_t n) {
        Acc lane[kLanes];
        C zero[kLanes] = {};
        for (int j = 0; j < kLanes; ++j) lane[j] = O::kInit;
        int64_t i = 0;
        for (; i + kLanes <= n; i += kLanes) {
            for (int j = 0; j < kLanes; ++j) {
                C v = static_cast<C>(p[i + j]);
                lane[j] = O::Keep(lane[j], v);
                zero[j] += v * C{0};
            }
        }
        for (; i < n; ++i) {
            C v = static_cast<C>(p[i]);
            lane[0] = O::Keep(lane[0], v);
            zero[0] += v * C{0};
        }
        for (int width = kLanes / 2; width > 0; width /= 2) {
            for (int j = 0; j < width; ++j) {
                lane[j] = O::Keep(lane[j], lane[j + width]);
                zero[j] += zero[j + width];
            }
        }
        return zero[0] == C{0} ? lane[0] : BlockWithNonfinite(p, n);
    }
    // Seldom, so not a part of each loop.
    __attribute__((noinline)) static Acc BlockWithNonfinite(const T* p, int64_t n) { return PlainBlock(p, n); }

    // Pairwise over blocks, if results are rounded: a binary counter of partial results.
    CHAINERX_INLINE static Acc Row(const T* p, int64_t n) {
        if constexpr (std::is_integral_v<Acc>) return PlainBlock(p, n);
        if (n <= kBlock) return Block(p, n);
        Acc partial[48];
        int depth = 0;
        uint64_t count = 0;
        for (int64_t i = 0; i < n; i += kBlock) {
            Acc v = Block(p + i, n - i < kBlock ? n - i : kBlock);
            for (uint64_t c = count++; (c & 1) != 0; c >>= 1) v = O::Combine(partial[--depth], v);
            partial[depth++] = v;
        }
        Acc v = partial[--depth];
        while (depth > 0) v = O::Combine(partial[--depth], v);
        return v;
    }
};

}  // namespace chainerx::native::CHAINERX_ISA
