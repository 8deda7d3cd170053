#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/scalar.h"
#include "chainerx/ops/routine.h"

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
CHAINERX_ENUM_WORDS(IndexMode, "raise", "wrap", "clip");

// Integers that choose elements: an array on the device of the elements, or values that are moved to it.
class Indices {
public:
    Indices(const Array& array) : array_{array} {}  // NOLINT(runtime/explicit)
    Indices(const std::vector<int64_t>& values);    // NOLINT(runtime/explicit)
    // The values of an array in host memory.
    static Indices OfValues(const Array& array);

    Array On(Device& device) const;

private:
    Array array_;
    bool is_movable_{false};
};

// Elements by their indices along an axis. Indices out of range raise an error unless there is another mode.
Array Take(const Array& a, const Indices& indices, const std::optional<int64_t>& axis = std::nullopt,
           const std::optional<IndexMode>& mode = std::nullopt);
// For each row along an axis the elements at its own indices. The other axes broadcast.
Array TakeAlongAxis(const Array& a, const Indices& indices, int64_t axis = -1);
// A copy of `a` with `b` added at the positions that Take reads.
Array AddAt(const Array& a, const Array& indices, const Array& b, int64_t axis = 0);

// Arrays that are an index together.
class ArrayTuple : public std::vector<Array> {
public:
    using std::vector<Array>::vector;
};
// The positions along each dimension.
ArrayTuple Nonzero(const Array& a);
// The same as a matrix with a row for each element, and of the flattened array.
Array Argwhere(const Array& a);
Array Flatnonzero(const Array& a);

// Kernels. `a` is seen as (outer, length, inner) and `out` as (outer, number of indices, inner); indices are int64 and
// in range.
struct TakeGeometry {
    int64_t outer;
    int64_t length;
    int64_t inner;
};
template <>
inline constexpr bool kIsKernelValue<TakeGeometry> = true;
using TakeKernel = KernelSlot<void(const Array& a, const Array& indices, const TakeGeometry& g, const Array& out)>;
// out[:, indices, :] += b
using AddAtKernel = KernelSlot<void(const Array& out, const Array& indices, const TakeGeometry& g, const Array& b)>;
// out += AddAt(zeros, indices, b), for positions that the indices name.
using AddSumsAtKernel = KernelSlot<void(const Array& out, const Array& indices, const TakeGeometry& g, const Array& b)>;
// out[:, indices, :] = b
using PutKernel = KernelSlot<void(const Array& out, const Array& indices, const TakeGeometry& g, const Array& b)>;
// Wraps or clips indices into [0, length), or raises IndexError.
using NormalizeIndicesKernel = KernelSlot<void(const Array& indices, int64_t length, IndexMode mode, const Array& out)>;
// out has shape (number of nonzero elements, ndim)
using NonzeroKernel = KernelSlot<Array(const Array& a)>;
extern const TakeKernel kTakeKernel;
extern const AddAtKernel kAddAtKernel;
extern const AddSumsAtKernel kAddSumsAtKernel;
extern const PutKernel kPutKernel;
extern const NormalizeIndicesKernel kNormalizeIndicesKernel;
extern const NonzeroKernel kNonzeroKernel;

#define CHAINERX_INDEXING_ROUTINES(X) \
    X(Nonzero)                        \
    X(Argwhere)                       \
    X(Flatnonzero)                    \
    X(Take)                           \
    X(TakeAlongAxis)                  \
    X(AddAt)

CHAINERX_INDEXING_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
