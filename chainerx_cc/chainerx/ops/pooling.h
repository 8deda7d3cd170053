#pragma once

#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/window.h"

namespace chainerx {

enum class PoolPadding {
    kIgnore,  // averages are those of elements inside
    kZero,    // the padding counts as zeros
};
CHAINERX_ENUM_WORDS(PoolPadding, "ignore", "zero");

// All arrays are contiguous. `index` (int64, as y): where in its channel of an image each maximum was found. Without a
// gradient nobody needs it: max_pool then gets an array without a body.
using MaxPoolKernel = KernelSlot<void(const WindowGeometry& g, const Array& x, const Array& y, const Array& index)>;
using MaxPoolGradKernel =
        KernelSlot<void(const WindowGeometry& g, const Array& gy, const Array& index, const Array& gx)>;
using AveragePoolKernel =
        KernelSlot<void(const WindowGeometry& g, PoolPadding padding, const Array& x, const Array& y)>;
extern const MaxPoolKernel kMaxPoolKernel;
extern const MaxPoolGradKernel kMaxPoolGradKernel;
extern const AveragePoolKernel kAveragePoolKernel;
extern const AveragePoolKernel kAveragePoolGradKernel;  // gx from gy

// Over windows of x (N, C, d_1, ..., d_n). Without a stride, windows are side by side.
Array MaxPool(const Array& x, const PerAxis& ksize, const std::optional<PerAxis>& stride = std::nullopt,
              const PerAxis& pad = 0, bool cover_all = false);
Array AveragePool(const Array& x, const PerAxis& ksize, const std::optional<PerAxis>& stride = std::nullopt,
                  const PerAxis& pad = 0, PoolPadding padding = PoolPadding::kIgnore);

#define CHAINERX_POOLING_ROUTINES(X) \
    X(MaxPool)                       \
    X(AveragePool)

CHAINERX_POOLING_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
