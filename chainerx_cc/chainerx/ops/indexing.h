#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/scalar.h"

namespace chainerx {

struct Slice {
    std::optional<int64_t> start;
    std::optional<int64_t> stop;
    std::optional<int64_t> step;
};
struct NewAxis {};
struct Ellipsis {};

// One item of an index expression: an integer, a slice, a new axis, the ellipsis, or an integer or boolean array.
using ArrayIndex = std::variant<int64_t, Slice, NewAxis, Ellipsis, Array>;
using ArrayIndices = std::vector<ArrayIndex>;

// NumPy's basic and advanced indexing. The result of basic indexing shares data.
Array At(const Array& a, const ArrayIndices& indices);
// a[indices] = value, in place.
void SetAt(const Array& a, const ArrayIndices& indices, const Array& value);

enum class IndexMode { kRaise, kWrap, kClip };

Array Take(const Array& a, const Array& indices, const std::optional<int64_t>& axis = std::nullopt,
           IndexMode mode = IndexMode::kRaise);
// A copy of `a` with `b` added at the positions that Take reads.
Array AddAt(const Array& a, const Array& indices, int64_t axis, const Array& b);
std::vector<Array> Nonzero(const Array& a);

// Kernels. `a` is seen as (outer, length, inner) and `out` as (outer, number of indices, inner); indices are int64 and
// in range.
struct TakeGeometry {
    int64_t outer;
    int64_t length;
    int64_t inner;
};
using TakeKernel = KernelSlot<void(const Array& a, const Array& indices, const TakeGeometry& g, const Array& out)>;
// out[:, indices, :] += b
using AddAtKernel = KernelSlot<void(const Array& out, const Array& indices, const TakeGeometry& g, const Array& b)>;
// out[:, indices, :] = b
using PutKernel = KernelSlot<void(const Array& out, const Array& indices, const TakeGeometry& g, const Array& b)>;
// Wraps or clips indices into [0, length), or raises IndexError.
using NormalizeIndicesKernel = KernelSlot<void(const Array& indices, int64_t length, IndexMode mode, const Array& out)>;
// out has shape (number of nonzero elements, ndim)
using NonzeroKernel = KernelSlot<Array(const Array& a)>;
extern const TakeKernel kTakeKernel;
extern const AddAtKernel kAddAtKernel;
extern const PutKernel kPutKernel;
extern const NormalizeIndicesKernel kNormalizeIndicesKernel;
extern const NonzeroKernel kNonzeroKernel;

}  // namespace chainerx
