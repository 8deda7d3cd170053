#pragma once

#include <limits>
#include <memory>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/ops/window.h"

namespace chainerx {

// What follows a convolution of integers in the same pass: y = clip((sum + offset) scale + bias, least, most) as
// float32, and with a zero point as bytes, y / y_scale rounded half to even, plus the zero point, within the limits of
// its dtype. Arrays are on the device of the convolution; those for each channel of the output are (O).
struct IntegerConvEpilogue {
    Array scale;   // float32 (O)
    Array bias;    // float32 (O), or no array
    Array offset;  // int32 (O), or no array
    float least{-std::numeric_limits<float>::infinity()};
    float most{std::numeric_limits<float>::infinity()};
    Array y_scale;  // float32, one element
    Array y_zero;   // int8 or uint8, one element; or no array
};

// Weights of a convolution of integers in the layout in which a backend is fastest.
class PackedIntegerFilters {
public:
    virtual ~PackedIntegerFilters() = default;
    // y from contiguous x: int32 sums that wrap around, or what the epilogue gives, which is null otherwise. x_zero:
    // int32 of one element, or no array.
    virtual void Run(const WindowGeometry& g, const Array& x, const Array& x_zero, const IntegerConvEpilogue* epilogue,
                     const Array& y) const = 0;
};

// Packs contiguous weights (O, C / groups, k_1, ..., k_n) of 8 bits, of which it keeps no reference, with their zero
// points: int32, one element or (O); no array for zero. Sizes of the geometry that depend on images do not matter.
// Backends need not have it.
using PackIntegerFiltersKernel = KernelSlot<std::unique_ptr<PackedIntegerFilters>(
        const WindowGeometry& g, const Array& w, const Array& w_zeros)>;
extern const PackIntegerFiltersKernel kPackIntegerFiltersKernel;

// The convolution of x - x_zero (N, C, l_1, ..., l_n) with w - w_zero (O, C / groups, k_1, ..., k_n), int8 or uint8.
// Its weights are prepared once for many calls; the device must have the kernel. It ignores graphs, and may run on
// several threads at a time.
class IntegerConvolution {
public:
    // w_zero: of the dtype of w; one element or (O). Later changes of both have no effect.
    IntegerConvolution(const Array& w, const std::optional<Array>& w_zero, const PerAxis& stride = 1,
                       const PerAxis& dilate = 1, int64_t groups = 1);

    // As int32 with sums that wrap around, or what an epilogue gives. x_zero: of the dtype of x, one element. Padding
    // before and behind each dimension may be negative, which cuts.
    Array operator()(const Array& x, const std::optional<Array>& x_zero, const PerAxis& pad, const PerAxis& end_pad,
                     const IntegerConvEpilogue* epilogue = nullptr) const;

private:
    void CheckEpilogue(const IntegerConvEpilogue& epilogue) const;

    WindowGeometry geometry_;  // without sizes of images
    Device* device_;
    std::shared_ptr<const PackedIntegerFilters> packed_;
};

// Such a convolution with weights for one call.
Array IntegerConv(const Array& x, const Array& w, const std::optional<Array>& x_zero,
                  const std::optional<Array>& w_zero, const PerAxis& stride, const PerAxis& pad, const PerAxis& end_pad,
                  const PerAxis& dilate, int64_t groups);

}  // namespace chainerx
