// Arrays made larger at their sides.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/data_watch.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"

namespace chainerx {
namespace {

// Before and after, for each axis.
using PadWidths = std::vector<std::array<int64_t, 2>>;
using PadValues = std::vector<std::array<Scalar, 2>>;

Shape PaddedShape(const Array& a, const PadWidths& widths) {
    constexpr int64_t kLongest = std::numeric_limits<int64_t>::max() / 4;
    Shape shape = a.shape();
    for (int8_t ax = 0; ax < a.ndim(); ++ax) {
        for (int64_t width : widths[ax]) {
            if (width < 0) throw DimensionError{"pad: widths must not be negative, one was ", width};
            if (width > kLongest) throw DimensionError{"pad: a width of ", width, " is too large"};
            shape[ax] += width;
        }
    }
    CheckShape(shape, GetItemSize(a.dtype()));
    return shape;
}

// Position in an axis of the length n which an element at i, perhaps outside of it, copies.
int64_t Source(PadMode mode, int64_t i, int64_t n) {
    if (mode == PadMode::kEdge) return std::min(std::max<int64_t>(i, 0), n - 1);
    // Reflections repeat after there and back, once or twice over the elements at the ends.
    int64_t period = mode == PadMode::kWrap ? n : mode == PadMode::kSymmetric ? 2 * n : std::max<int64_t>(2 * n - 2, 1);
    int64_t position = ((i % period) + period) % period;
    if (position < n) return position;
    return mode == PadMode::kSymmetric ? period - 1 - position : period - position;
}

Array PadConstant(const Array& a, const Shape& shape, const PadWidths& widths, const PadValues& values) {
    Array out = Empty(shape, a.dtype(), a.device());
    const Strides& strides = out.strides();
    int64_t begin = 0;
    for (int8_t ax = 0; ax < a.ndim(); ++ax) begin += widths[ax][0] * strides[ax];
    CopyData(a, internal::MakeView(out, a.shape(), strides, begin));
    // Each corner belongs to the last of its axes, as in NumPy.
    Shape slab = a.shape();
    for (int8_t ax = 0; ax < a.ndim(); ++ax) {
        begin -= widths[ax][0] * strides[ax];
        for (int side = 0; side < 2; ++side) {
            slab[ax] = widths[ax][side];
            int64_t offset = side == 0 ? 0 : (shape[ax] - slab[ax]) * strides[ax];
            if (slab.GetTotalSize() > 0) {
                Fill(internal::MakeView(out, slab, strides, begin + offset), values[ax][side]);
            }
        }
        slab[ax] = shape[ax];
    }
    if (GraphMask mask = internal::GetRecordMask(a)) {
        ArrayIndices inner;
        for (int8_t ax = 0; ax < a.ndim(); ++ax) {
            inner.push_back(Slice{widths[ax][0], widths[ax][0] + a.shape()[ax], std::nullopt});
        }
        auto backward = [inner](BackwardContext& ctx) { ctx.SetGrad(0, At(ctx.grad(), inner)); };
        auto* node = new FunctionObjectNode<decltype(backward)>{"pad", mask, std::move(backward)};
        IntrusivePtr<OpNode> guard{node};
        node->AddInput(a, mask);
        node->AddOutput(out);
    }
    return out;
}

Array PadCopying(const Array& a, const PadWidths& widths, PadMode mode) {
    Array out = a;
    for (int8_t ax = 0; ax < a.ndim(); ++ax) {
        const auto& [before, after] = widths[ax];
        if (before == 0 && after == 0) continue;
        int64_t length = a.shape()[ax];
        if (length == 0) {
            throw DimensionError{"pad: axis ", int{ax}, " of length 0 has no elements to copy, the array has shape ",
                                 a.shape()};
        }
        // The device goes first: it has an error at once for more memory than there is.
        Array indices = [&, n = before + length + after] {
            internal::UnwatchedScope unwatched;
            return Empty(Shape{n}, Dtype::kInt64, a.device());
        }();
        std::vector<int64_t> sources(indices.GetTotalSize());
        for (size_t i = 0; i < sources.size(); ++i) {
            sources[i] = Source(mode, static_cast<int64_t>(i) - before, length);
        }
        a.device().CopyFromHost(indices.raw_data(), sources.data(), indices.GetNBytes());
        out = Take(out, NoteData(indices), ax);
    }
    return out.body() == a.body() ? Copy(a) : out;
}

}  // namespace

CHAINERX_ROUTINE(Pad, "pad", "array, pad_width, mode='constant', constant_values=0", "copy take", R"(
An array made larger at its sides.

Differentiable any number of times.

Args:
    array (~chainerx.ndarray): Array of any dtype.
    pad_width (int, pair of int, or sequence of pairs): Number of elements before and after: one for all sides, a pair
        for all axes, or a pair for each axis.
    mode (str): The new elements: ``'constant'`` values; copies of the element at the ``'edge'``; copies of
        the elements seen in a mirror that stands on it (``'reflect'``) or behind it (``'symmetric'``); or those at
        the other end (``'wrap'``).
    constant_values (number, pair, or sequence of pairs): Values in mode ``'constant'``, in the forms of ``pad_width``.
        Corners get those of the last axis.

Returns:
    ~chainerx.ndarray: Padded array of the dtype of ``array``.

Raises:
    ValueError: If ``mode`` has no meaning, or the number of widths or values does not fit.
    TypeError: If a width is no integer.
    ~chainerx.DimensionError: If a width is negative, or the elements of an axis without any are to be copied.

>>> chainerx.pad(chainerx.array([1, 2, 3]), 2, mode='reflect')
array([3, 2, 1, 2, 3, 2, 1], shape=(7,), dtype=int64, device='native:0')
)");
Array Pad(const Array& a, const Sides<int64_t>& widths, PadMode mode, const Sides<Scalar>& values) {
    PadWidths all_widths = widths.Expand("pad_width", a.ndim());
    PadValues all_values = values.Expand("constant_values", a.ndim());
    Shape shape = PaddedShape(a, all_widths);
    if (mode != PadMode::kConstant) return PadCopying(a, all_widths, mode);
    return PadConstant(a, shape, all_widths, all_values);
}

}  // namespace chainerx
