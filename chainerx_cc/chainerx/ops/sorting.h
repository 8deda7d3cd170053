#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/ops/routine.h"

namespace chainerx {

// Over rows of contiguous x; both results have its shape. Not-a-number is last.
using SortKernel = KernelSlot<void(const Array& x, const Array& out)>;
extern const SortKernel kSortKernel;
extern const SortKernel kArgsortKernel;  // positions, int64; stable

// Along an axis, or of the flattened array without one.
Array Sort(const Array& a, const std::optional<int64_t>& axis = -1);
Array Argsort(const Array& a, const std::optional<int64_t>& axis = -1);
// Rows of w (V, D) by number; the number `ignore_label` stands for zeros that no gradient reaches.
Array EmbedId(const Array& x, const Array& w, const std::optional<int64_t>& ignore_label = std::nullopt);

#define CHAINERX_SORTING_ROUTINES(X) \
    X(Sort)                          \
    X(Argsort)                       \
    X(EmbedId)

CHAINERX_SORTING_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
