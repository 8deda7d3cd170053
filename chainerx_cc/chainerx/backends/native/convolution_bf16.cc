#include "chainerx/backends/native/convolution_bf16.h"

#include <algorithm>
#include <cstdint>

#include "chainerx/backends/native/convolution_bias.h"
#include "chainerx/backends/native/kernels/gemm_bf16.h"
#include "chainerx/backends/native/kernels/im2col.h"
#include "chainerx/backends/native/window.h"
#include "chainerx/core/kernels.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/manipulation.h"

namespace chainerx::native {
namespace {

// Bytes of windows that are written out at a time, which stay in the cache.
constexpr int64_t kWindowBytes = 1 << 21;
// With fewer channels, writing the windows out takes longer than it saves.
constexpr int64_t kMinChannels = 16;

bool CanMultiply(const WindowGeometry& g, const Array& a) {
    return a.dtype() == Dtype::kBfloat16 && HasBf16() && g.groups == 1 && g.batch * g.in_channels * g.OutSize() != 0;
}

// Whether each output is a sum over the channels of one pixel.
bool IsPointwise(const WindowGeometry& g) {
    for (int d = 0; d < g.ndim; ++d) {
        if (g.kernel[d] != 1 || g.pad[d] != 0 || (g.out[d] - 1) * g.stride[d] >= g.in[d]) return false;
    }
    return true;
}

// Whether Winograd's algorithm in float32 is faster.
bool IsWinograd(const WindowGeometry& g) {
    auto is = [&g](const int64_t* values, int64_t value) {
        return std::all_of(values, values + g.ndim, [value](int64_t v) { return v == value; });
    };
    return g.ndim == 2 && is(g.kernel, 3) && is(g.stride, 1) && is(g.dilation, 1) && g.in_channels >= 32 &&
           g.out_channels >= 32;
}

// A view of the pixels of `x` that a pointwise convolution reads.
Array PixelsOf(const Array& x, const WindowGeometry& g) {
    Shape shape{x.shape()[0], x.shape()[1]};
    Strides strides{x.strides()[0], x.strides()[1]};
    for (int d = 0; d < g.ndim; ++d) {
        shape.push_back(g.out[d]);
        strides.push_back(x.strides()[2 + d] * g.stride[d]);
    }
    return internal::MakeView(x, shape, strides, x.offset());
}

// Views of contiguous arrays: a matrix for each image, with a row for each channel, and the weights for all images.
Array ImageMatrices(const Array& a, int64_t channels, int64_t size) {
    int64_t item = a.GetItemSize();
    int64_t batch = a.shape()[0];
    return internal::MakeView(a, {batch, channels, size}, Strides{channels * size * item, size * item, item},
                              a.offset());
}
Array WeightMatrices(const Array& w, int64_t rows, int64_t columns, int64_t batch, bool transposes) {
    int64_t item = w.GetItemSize();
    if (transposes) {
        return internal::MakeView(w, {batch, columns, rows}, Strides{0, item, columns * item}, w.offset());
    }
    return internal::MakeView(w, {batch, rows, columns}, Strides{0, columns * item, item}, w.offset());
}

// The channels of all images as the rows of one matrix.
Array ChannelMatrix(const Array& a, int64_t channels, int64_t size) {
    Axes order{1, 0};
    for (int8_t d = 2; d < a.ndim(); ++d) order.push_back(d);
    Array rows = Contiguous(Permuted(a, order));
    int64_t item = rows.GetItemSize();
    return internal::MakeView(rows, {channels, size}, Strides{size * item, item}, rows.offset());
}

// out = a b, plus what it holds if there is a bias
void Multiply(const Array& a, const Array& b, bool has_bias, const Array& out) {
    kMatmulKernel(out.device(), a, b, has_bias ? 1.0 : 0.0, out);
}

// Writes windows out, of some images at a time.
void ConvWindows(const WindowGeometry& g, const Array& x, const Array& w, bool has_bias, const Array& y) {
    int64_t taps = g.in_channels * g.KernelSize();
    int64_t image = g.in_channels * g.InSize();
    int64_t step = std::min(g.batch, std::max<int64_t>(1, kWindowBytes / (taps * g.OutSize() * 2)));
    Array windows = Empty({step, taps, g.OutSize()}, Dtype::kBfloat16, y.device());
    Array matrices = ImageMatrices(y, g.out_channels, g.OutSize());
    for (int64_t i = 0; i < g.batch; i += step) {
        int64_t count = std::min(step, g.batch - i);
        ConvShape s = MakeConvShape(g);
        s.batch = count;
        Im2Col(s, uint16_t{0}, reinterpret_cast<const uint16_t*>(x.raw_data()) + i * image,
               reinterpret_cast<uint16_t*>(windows.raw_data()));
        auto part = [count](const Array& a, int64_t first) {
            return internal::MakeView(a, {count, a.shape()[1], a.shape()[2]}, a.strides(),
                                      a.offset() + first * a.strides()[0]);
        };
        Multiply(WeightMatrices(w, g.out_channels, taps, count, false), part(windows, 0), has_bias, part(matrices, i));
    }
}

}  // namespace

bool ConvBf16(const WindowGeometry& g, const Array& x, const Array& w, const Array& b, const Array& y) {
    bool is_pointwise = IsPointwise(g);
    if (!CanMultiply(g, y) || !y.IsContiguous()) return false;
    if (!is_pointwise && (IsWinograd(g) || g.in_channels < kMinChannels)) return false;
    Array weights = Contiguous(w);
    if (b) FillBias(b, y);
    if (!is_pointwise) {
        ConvWindows(g, Contiguous(x), weights, static_cast<bool>(b), y);
        return true;
    }
    Multiply(WeightMatrices(weights, g.out_channels, g.in_channels, g.batch, false),
             ImageMatrices(Contiguous(PixelsOf(x, g)), g.in_channels, g.OutSize()), static_cast<bool>(b),
             ImageMatrices(y, g.out_channels, g.OutSize()));
    return true;
}

bool ConvDataBf16(const WindowGeometry& g, const Array& y, const Array& w, const Array& b, const Array& x) {
    if (!CanMultiply(g, x) || !IsPointwise(g) || g.out_channels == 0) return false;
    Array pixels = PixelsOf(x, g);
    bool is_direct = x.IsContiguous() && g.OutSize() == g.InSize();
    if (b || !is_direct) FillBias(b, x);  // pixels that no output reads have only that
    Output out{pixels, Dtype::kBfloat16};
    if (b && !is_direct) CopyData(pixels, out.buffer());
    Multiply(WeightMatrices(Contiguous(w), g.out_channels, g.in_channels, g.batch, true),
             ImageMatrices(Contiguous(y), g.out_channels, g.OutSize()), static_cast<bool>(b),
             ImageMatrices(out.buffer(), g.in_channels, g.OutSize()));
    out.Finish();
    return true;
}

bool ConvWeightBf16(const WindowGeometry& g, const Array& x, const Array& y, const Array& w) {
    if (!CanMultiply(g, w) || !IsPointwise(g) || !w.IsContiguous() || g.out_channels == 0) return false;
    int64_t size = g.batch * g.OutSize();
    Array a = ChannelMatrix(y, g.out_channels, size);
    Array b = ChannelMatrix(PixelsOf(x, g), g.in_channels, size);
    int64_t item = w.GetItemSize();
    Multiply(a, Permuted(b, {1, 0}), false,
             internal::MakeView(w, {g.out_channels, g.in_channels}, Strides{g.in_channels * item, item}, w.offset()));
    return true;
}

}  // namespace chainerx::native
