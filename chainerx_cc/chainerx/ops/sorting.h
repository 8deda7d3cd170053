#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/scalar.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/routine.h"

namespace chainerx {

// Over rows of contiguous x; both results have its shape. Not-a-number is last.
using SortKernel = KernelSlot<void(const Array& x, const Array& out)>;
extern const SortKernel kSortKernel;
extern const SortKernel kArgsortKernel;  // positions, int64; stable

// Along an axis, or of the flattened array without one.
// All sorts are stable, so `stable` changes nothing.
Array Sort(const Array& a, const std::optional<int64_t>& axis = -1, bool descending = false, bool stable = true);
Array Argsort(const Array& a, const std::optional<int64_t>& axis = -1, bool descending = false, bool stable = true);
enum class SearchSide { kLeft, kRight };
CHAINERX_ENUM_WORDS(SearchSide, "left", "right");
// Where elements have to be inserted into a sorted vector (or one that `sorter` sorts), so that it stays sorted: before
// or after those that are equal.
Array Searchsorted(const Array& a, const std::variant<Array, Scalar>& v, SearchSide side = SearchSide::kLeft,
                   const std::optional<Array>& sorter = std::nullopt);
// The distinct elements in ascending order. The tuple has the other results that are wanted behind them: the indices of
// their first occurrences, the indices from which they give the array again, and how often they occur.
std::variant<Array, ArrayTuple> Unique(const Array& a, bool return_index = false, bool return_inverse = false,
                                       bool return_counts = false, bool equal_nan = true);
// Rows of w (V, D) by number; the number `ignore_label` stands for zeros that no gradient reaches.
Array EmbedId(const Array& x, const Array& w, const std::optional<int64_t>& ignore_label = std::nullopt);

#define CHAINERX_SORTING_ROUTINES(X) \
    X(Sort)                          \
    X(Argsort)                       \
    X(Searchsorted)                  \
    X(Unique)                        \
    X(EmbedId)

CHAINERX_SORTING_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
