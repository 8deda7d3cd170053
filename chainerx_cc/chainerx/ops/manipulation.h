#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/kernels.h"
#include "chainerx/core/scalar.h"
#include "chainerx/ops/op.h"

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
Array View(const Array& a);
// The same values outside all graphs (or those given).
Array AsGradStopped(const Array& a, bool copy = false);
Array AsGradStopped(const Array& a, const std::vector<BackpropId>& ids, bool copy = false);
Array ToDevice(const Array& a, Device& device);

Array Concatenate(const std::vector<Array>& arrays, const std::optional<int64_t>& axis = 0);
Array Stack(const std::vector<Array>& arrays, int64_t axis = 0);
std::vector<Array> Split(const Array& a, int64_t sections, int64_t axis = 0);
std::vector<Array> Split(const Array& a, const std::vector<int64_t>& indices, int64_t axis = 0);
Array Hstack(const std::vector<Array>& arrays);
Array Vstack(const std::vector<Array>& arrays);
Array Dstack(const std::vector<Array>& arrays);
Array Atleast2D(const Array& a);
Array Atleast3D(const Array& a);
Array Repeat(const Array& a, const std::vector<int64_t>& repeats, const std::optional<int64_t>& axis = std::nullopt);
Array Tile(const Array& a, const Shape& reps);
Array Roll(const Array& a, int64_t shift, const std::optional<int64_t>& axis = std::nullopt);

// How pad makes elements: of given values, or as copies of the element at the end, of those counted back from it
// (without or with itself), or of those at the other end.
enum class PadMode { kConstant, kEdge, kReflect, kSymmetric, kWrap };
// Before and after, for each axis.
using PadWidths = std::vector<std::array<int64_t, 2>>;
using PadValues = std::vector<std::array<Scalar, 2>>;
// No values stand for zeros.
Array Pad(const Array& a, const PadWidths& widths, PadMode mode = PadMode::kConstant, const PadValues& values = {});

// Elements at which two axes have one index, as the last axis; a view.
Array Diagonal(const Array& a, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1);
Array Diag(const Array& v, int64_t k = 0);
Array Diagflat(const Array& v, int64_t k = 0);
Array Tril(const Array& m, int64_t k = 0);
Array Triu(const Array& m, int64_t k = 0);
std::vector<Array> Meshgrid(const std::vector<Array>& arrays, bool ij_indexing = false);
// dst = src where the condition (if there is one) holds, in place.
void CopyTo(const Array& dst, const Array& src, const Array& where = Array{});

// X(function, name in Python, signature, method of ndarray, kernels); its documentation is
// python/docs/manipulation.h or joining.h
#define CHAINERX_MANIPULATION_OPS(X)                                   \
    X(Reshape, "reshape", "a, newshape", false, "")                    \
    X(Ravel, "ravel", "a", true, "")                                   \
    X(Transpose, "transpose", "a, axes=None", false, "")               \
    X(Squeeze, "squeeze", "a, axis=None", true, "")                    \
    X(ExpandDims, "expand_dims", "a, axis", false, "")                 \
    X(Swapaxes, "swapaxes", "a, axis1, axis2", true, "")               \
    X(Moveaxis, "moveaxis", "a, source, destination", false, "")       \
    X(Rollaxis, "rollaxis", "a, axis, start=0", false, "")             \
    X(Flip, "flip", "m, axis|axes=None", false, "")                    \
    X(Fliplr, "fliplr", "m", false, "")                                \
    X(Flipud, "flipud", "m", false, "")                                \
    X(BroadcastTo, "broadcast_to", "array, shape", false, "")          \
    X(Copy, "copy", "a", true, "copy")                                 \
    X(Concatenate, "concatenate", "arrays, axis=0", false, "copy")     \
    X(Stack, "stack", "arrays, axis=0", false, "copy")                 \
    X(Hstack, "hstack", "arrays", false, "copy")                       \
    X(Vstack, "vstack", "arrays", false, "copy")                       \
    X(Dstack, "dstack", "arrays", false, "copy")                       \
    X(Atleast2D, "atleast_2d", "a", false, "")                         \
    X(Atleast3D, "atleast_3d", "a", false, "")                         \
    X(Repeat, "repeat", "a, repeats, axis=None", true, "take")         \
    X(Tile, "tile", "A, reps", false, "")                              \
    X(Diagonal, "diagonal", "a, offset=0, axis1=0, axis2=1", true, "") \
    X(Tril, "tril", "m, k=0", false, "")                               \
    X(Triu, "triu", "m, k=0", false, "")

}  // namespace chainerx
