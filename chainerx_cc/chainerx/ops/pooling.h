#pragma once

#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/ops/window.h"

namespace chainerx {

enum class PoolPadding {
    kZero,    // the padding counts as zeros
    kIgnore,  // averages are those of elements inside
};

// All arrays are contiguous. `index` (int64, as y): where in its channel of an image each maximum was found.
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

// X(function, name in Python, signature, method of ndarray, kernels); its documentation is python/docs/nn.h
#define CHAINERX_POOLING_OPS(X)                                                                              \
    X(MaxPool, "max_pool", "x, ksize, stride=None, pad=0, cover_all=False", false, "max_pool max_pool_grad") \
    X(AveragePool, "average_pool", "x, ksize, stride=None, pad=0, pad_mode='ignore'", false,                 \
      "average_pool average_pool_grad")

}  // namespace chainerx
