#pragma once

#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/window.h"

namespace chainerx {

// The three contractions of a convolution. All arrays are contiguous and of one floating point dtype; `b` may be no
// array.
using ConvKernel =
        KernelSlot<void(const WindowGeometry& g, const Array& x, const Array& w, const Array& b, const Array& y)>;
using ConvDataKernel =
        KernelSlot<void(const WindowGeometry& g, const Array& y, const Array& w, const Array& b, const Array& x)>;
using ConvWeightKernel = KernelSlot<void(const WindowGeometry& g, const Array& x, const Array& y, const Array& w)>;
extern const ConvKernel kConvKernel;              // y from x and w, plus b for each output channel
extern const ConvDataKernel kConvDataKernel;      // the adjoint: x from y and w, plus b for each input channel
extern const ConvWeightKernel kConvWeightKernel;  // w from x and y

// x (N, C, d_1, ..., d_n), w (O, C / groups, k_1, ..., k_n), b (O)
Array Conv(const Array& x, const Array& w, const std::optional<Array>& b = std::nullopt, const PerAxis& stride = 1,
           const PerAxis& pad = 0, bool cover_all = false, int64_t groups = 1, const PerAxis& dilate = 1);
// x (N, C, d_1, ..., d_n), w (C, O / groups, k_1, ..., k_n), b (O). `outsize`: the spatial sizes of the result.
Array ConvTranspose(const Array& x, const Array& w, const std::optional<Array>& b = std::nullopt,
                    const PerAxis& stride = 1, const PerAxis& pad = 0,
                    const std::optional<PerAxis>& outsize = std::nullopt, int64_t groups = 1,
                    const PerAxis& dilate = 1);

#define CHAINERX_CONVOLUTION_ROUTINES(X) \
    X(Conv)                              \
    X(ConvTranspose)

CHAINERX_CONVOLUTION_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
