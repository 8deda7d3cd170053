#pragma once

#include <algorithm>

#include "chainerx/backends/native/kernels/conv.h"
#include "chainerx/ops/window.h"

namespace chainerx::native {

static_assert(kMaxWindowDims <= kMaxSpatialDims);

inline ConvShape MakeConvShape(const WindowGeometry& g) {
    ConvShape s;
    s.ndim = g.ndim;
    s.batch = g.batch;
    s.groups = g.groups;
    s.in_channels = g.in_channels;
    s.out_channels = g.out_channels;
    std::copy_n(g.in, g.ndim, s.in);
    std::copy_n(g.kernel, g.ndim, s.kernel);
    std::copy_n(g.out, g.ndim, s.out);
    std::copy_n(g.stride, g.ndim, s.stride);
    std::copy_n(g.pad, g.ndim, s.pad);
    std::copy_n(g.dilation, g.ndim, s.dilation);
    return s;
}

}  // namespace chainerx::native
