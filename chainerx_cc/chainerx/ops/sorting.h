#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"

namespace chainerx {

// Over rows of contiguous x; both results have its shape. Not-a-number is last.
using SortKernel = KernelSlot<void(const Array& x, const Array& out)>;
extern const SortKernel kSortKernel;
extern const SortKernel kArgsortKernel;  // positions, int64; the order of equal elements stays

// Along an axis, or of the flattened array without one.
Array Sort(const Array& a, const std::optional<int64_t>& axis = -1);
Array Argsort(const Array& a, const std::optional<int64_t>& axis = -1);
// Rows of w (V, D) by number; the number `ignore_label` stands for zeros that no gradient reaches.
Array EmbedId(const Array& x, const Array& w, const std::optional<int64_t>& ignore_label = std::nullopt);

// X(function, name in Python, signature, method of ndarray, kernels); its documentation is python/docs/nn.h
#define CHAINERX_SORTING_OPS(X)                           \
    X(Sort, "sort", "a, axis=-1", false, "sort argsort")  \
    X(Argsort, "argsort", "a, axis=-1", false, "argsort") \
    X(EmbedId, "embed_id", "x, W, ignore_label=None", false, "take add_at normalize_indices")

}  // namespace chainerx
