#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/kernels.h"
#include "chainerx/core/scalar.h"
#include "chainerx/ops/routine.h"

namespace chainerx {

// Shares data where possible. One length may be -1: it follows from the others.
Array Reshape(const Array& a, const Shape& shape);
Array Ravel(const Array& a);
Array Transpose(const Array& a, const OptionalAxes& axes = std::nullopt);
Array Squeeze(const Array& a, const OptionalAxes& axis = std::nullopt);
Array ExpandDims(const Array& a, int64_t axis);
Array Swapaxes(const Array& a, int64_t axis1, int64_t axis2);
Array Moveaxis(const Array& a, const Axes& source, const Axes& destination);
Array Rollaxis(const Array& a, int64_t axis, int64_t start = 0);
Array Flip(const Array& m, const OptionalAxes& axes = std::nullopt);
Array Fliplr(const Array& m);
Array Flipud(const Array& m);
Array BroadcastTo(const Array& array, const Shape& shape);
std::vector<Array> BroadcastArrays(const std::vector<Array>& arrays);
// Sums over dimensions in which an array of the shape would be broadcast.
Array SumTo(const Array& a, const Shape& shape);

Array AsType(const Array& a, Dtype dtype, bool copy = true);
Array Copy(const Array& a);
// A contiguous array with the same contents; the same array if it is contiguous.
Array AsContiguous(const Array& a);
namespace internal {
// What kernels read: the values of an array, contiguous and outside of graphs.
inline Array KernelInput(const Array& a) { return AsContiguous(a.AsDetached()); }
}  // namespace internal
Array View(const Array& a);
// The same values outside all graphs (or those given).
Array AsGradStopped(const Array& a, bool copy = false);
Array AsGradStopped(const Array& a, const std::vector<BackpropId>& ids, bool copy = false);
Array ToDevice(const Array& a, Device& device);
// The only element; waits for it. Raises DimensionError for another number of elements.
Scalar AsScalar(const Array& a);

Array Concatenate(const std::vector<Array>& arrays, const std::optional<int64_t>& axis = 0);
Array Stack(const std::vector<Array>& arrays, int64_t axis = 0);
// Into a number of equal parts, or before the given indices.
using Sections = std::variant<int64_t, std::vector<int64_t>>;
std::vector<Array> Split(const Array& a, const Sections& sections, int64_t axis = 0);
// The same, but parts may differ by one in their lengths.
std::vector<Array> ArraySplit(const Array& a, const Sections& sections, int64_t axis = 0);
std::vector<Array> Vsplit(const Array& a, const Sections& sections);
std::vector<Array> Hsplit(const Array& a, const Sections& sections);
std::vector<Array> Dsplit(const Array& a, const Sections& sections);
Array Hstack(const std::vector<Array>& arrays);
Array Vstack(const std::vector<Array>& arrays);
Array Dstack(const std::vector<Array>& arrays);
Array Atleast2D(const Array& a);
Array Atleast3D(const Array& a);
Array Repeat(const Array& a, const std::vector<int64_t>& repeats, const std::optional<int64_t>& axis = std::nullopt);
Array Tile(const Array& a, const Shape& reps);
// A shift for each axis, or one shift for all axes or one axis for all shifts. Without axes, shifts the flattened array
// by the sum.
Array Roll(const Array& a, const std::vector<int64_t>& shift,
           const std::optional<std::vector<int64_t>>& axis = std::nullopt);

// The elements that pad adds: given values, copies of the edge element, elements mirrored at the edge (without or with
// the edge element), or elements of the other end.
enum class PadMode { kConstant, kEdge, kReflect, kSymmetric, kWrap };
CHAINERX_ENUM_WORDS(PadMode, "constant", "edge", "reflect", "symmetric", "wrap");

// The widths or values of pad for the two sides of each axis, as in NumPy: one value, a value for each side, or a list
// of either with an item for each axis. A list of one item holds for all axes.
template <class T>
class Sides {
public:
    Sides(T all) : rows_{{all}} {}  // NOLINT(runtime/explicit)
    Sides(T before, T after) : rows_{{before, after}} {}
    Sides(std::vector<std::vector<T>> rows) : rows_{std::move(rows)} {}  // NOLINT(runtime/explicit)

    // Before and after, for each axis. Raises ValueError with the name if the counts do not fit.
    std::vector<std::array<T, 2>> Expand(const char* name, int8_t ndim) const {
        CheckCount(name, ndim, rows_.size(), ndim);
        std::vector<std::array<T, 2>> out;
        // The only row is checked even if there are no axes.
        for (int8_t i = 0; i < std::max<int8_t>(ndim, 1); ++i) {
            const std::vector<T>& row = rows_[rows_.size() == 1 ? 0 : i];
            CheckCount(name, ndim, row.size(), 2);
            out.push_back({row.front(), row.back()});
        }
        out.resize(ndim, {T{0}, T{0}});
        return out;
    }

private:
    static void CheckCount(const char* name, int8_t ndim, size_t count, size_t expected) {
        if (count == 1 || count == expected) return;
        throw ValueError{name,    " must be a number, a pair or a pair for each of ", int{ndim}, " axes, not ", count,
                         " items"};
    }

    std::vector<std::vector<T>> rows_;
};

Array Pad(const Array& a, const Sides<int64_t>& widths, PadMode mode = PadMode::kConstant,
          const Sides<Scalar>& values = Scalar{0});

// Elements at which two axes have one index, as the last axis; a view.
Array Diagonal(const Array& a, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1);
// A matrix with a given diagonal, or the diagonal of a matrix; on the device of v unless another is given.
Array Diag(const Array& v, int64_t k = 0, Device* device = nullptr);
Array Diagflat(const Array& v, int64_t k = 0, Device* device = nullptr);
Array Tril(const Array& m, int64_t k = 0);
Array Triu(const Array& m, int64_t k = 0);

// Whether the first two axes of coordinate arrays are exchanged, as for points (x, y) in a picture.
enum class MeshIndexing { kXy, kIj };
CHAINERX_ENUM_WORDS(MeshIndexing, "xy", "ij");
std::vector<Array> Meshgrid(const std::vector<Array>& xi, MeshIndexing indexing = MeshIndexing::kXy);

// Which conversions of dtypes are allowed: none, those that keep every value, those to the same kind or a higher one,
// or all of them.
enum class Casting { kNo, kEquiv, kSafe, kSameKind, kUnsafe };
CHAINERX_ENUM_WORDS(Casting, "no", "equiv", "safe", "same_kind", "unsafe");
// dst = src where the condition holds, in place.
void CopyTo(const Array& dst, const std::variant<Array, Scalar>& src, Casting casting = Casting::kNo,
            const std::variant<Array, bool>& where = true);

#define CHAINERX_MANIPULATION_ROUTINES(X) \
    X(Reshape)                            \
    X(Ravel)                              \
    X(Transpose)                          \
    X(Squeeze)                            \
    X(ExpandDims)                         \
    X(Swapaxes)                           \
    X(Moveaxis)                           \
    X(Rollaxis)                           \
    X(Flip)                               \
    X(Fliplr)                             \
    X(Flipud)                             \
    X(BroadcastTo)                        \
    X(Copy)                               \
    X(Concatenate)                        \
    X(Stack)                              \
    X(Hstack)                             \
    X(Vstack)                             \
    X(Dstack)                             \
    X(Atleast2D)                          \
    X(Atleast3D)                          \
    X(Repeat)                             \
    X(Tile)                               \
    X(Diagonal)                           \
    X(Tril)                               \
    X(Triu)                               \
    X(Roll)                               \
    X(Pad)                                \
    X(Diag)                               \
    X(Diagflat)                           \
    X(Split)                              \
    X(ArraySplit)                         \
    X(Vsplit)                             \
    X(Hsplit)                             \
    X(Dsplit)                             \
    X(Meshgrid)                           \
    X(CopyTo)

CHAINERX_MANIPULATION_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
